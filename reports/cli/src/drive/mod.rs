//! `doublehold drive`: somebody's own test of a lock, run once in calm and once under each of the built-in tries.
//!
//! The test is a command. It is told where served nodes are, takes the lock with several clients, and tells of it by
//! words. In calm it shows which requests its clients send: these are the steps at which the tries strike.
//!
//! | | |
//! |---|---|
//! | the tries, from what was seen in calm | `tries` |
//! | one run of the command, and its end | `child` |
//! | the served nodes under it, and the verdicts | `stage` |
//!
//! Not here: faults of the clients' own machines, such as a pause between a check and a write.

pub(crate) mod child;
pub(crate) mod stage;
pub(crate) mod tries;
