//! Locks of one's own under test, and the seam between a search and its engine.
//!
//! One binary, since each links all that a run needs.

mod beside;
mod own_beside;
mod own_counter;
mod own_endless;
mod own_forms;
mod own_lock;
mod own_lock_several;
mod own_nondeterminism;
mod own_regressions;
mod own_service;
mod own_state;
mod own_tokio_time;
mod own_votes;
mod own_watchdog;
mod own_weather;
mod own_white_box;
mod own_world;
mod own_wrong_release;
mod property;
mod second_engine;
