//! Scripts: Lua 5.1 as Redis embeds it.
//!
//! One sandboxed Lua state per thread serves every node on it: a state per node would cost tens of microseconds, and
//! one for each run as much. Nothing a script does outlives it (`prelude.lua`), a script that needs much memory gets a
//! state of its own (`run`), and which scripts a node knows is the node's own business. `SCRIPTS.md` says what that
//! promises, and which known holes of Redis' scripts are closed how.
//!
//! While a script runs, its node's [`Core`] lies in a thread-local, where the script's commands find it; the caller's
//! place holds an empty one that nobody looks at. That way no closure is made per run.
//!
//! Limits (`limits`): instructions or time (an overrunning script is stopped for good and then counts as running until
//! it is killed), memory, depth and time of pattern matching. Not there: the debugger.

mod arguments;
mod bits;
mod call;
mod callback;
mod caller;
mod calls;
mod charge;
mod complaints;
mod convert;
mod digest;
mod error;
mod guarded;
mod host;
mod interpreter;
mod json;
mod library;
mod limits;
mod msgpack;
mod native_scripts;
mod pattern;
mod random;
mod run;
mod run_native;
mod script;
mod structs;
mod under_way;
mod walk;

pub(crate) use call::Call;
pub(crate) use digest::digest;
pub(crate) use json::Settings as JsonSettings;
pub(crate) use native_scripts::NativeBuffers;
pub use native_scripts::runs_natively;
pub(crate) use run::{compile, run};
pub(crate) use script::{Declared, Script};
