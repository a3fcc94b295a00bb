//! Scenario files, and what their runs come to.
//!
//! One binary, since each links all that a run needs.

mod attribution;
mod awake;
mod catalogue;
mod connections;
mod contrast;
mod detail;
mod determinism;
mod drivers;
mod exclusion;
mod failover;
mod failovers;
mod family;
mod format;
mod format_hints;
mod format_page;
mod format_refusals;
mod format_refusals_guards;
mod keys;
mod keyword_effects;
mod large;
mod memory;
mod native_scripts;
mod orders;
mod own_locks;
mod plans;
mod prepared;
mod programs;
mod reentrant;
mod runner;
mod sentinels;
mod services;
mod several;
mod steps;
mod subject;
mod suspension;
mod thread_ends;
mod threads;
mod waits;
mod weather;
mod white_box;
mod written;
