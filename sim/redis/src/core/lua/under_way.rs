//! The script under way on this thread: where the functions that it calls find its node and its limits.

use std::cell::RefCell;

use super::caller::Caller;
use super::calls::Calls;
use super::json::Settings as JsonSettings;
use super::limits::Limits;
use super::random::Random;
use crate::core::Core;
use crate::resp::{OwnedArgs, Protocol};

thread_local! {
    static RUN: RefCell<Option<Run>> = const { RefCell::new(None) };
}

/// What the script under way on this thread works with.
pub(super) struct Run {
    pub(super) core: Core,
    pub(super) caller: Caller,
    pub(super) random: Random,
    pub(super) limits: Limits,
    pub(super) calls: Calls,
    /// What `cjson` was told before.
    json: JsonSettings,
    /// The command being built, and its reply; kept for their memory.
    pub(super) args: OwnedArgs,
    pub(super) out: Vec<u8>,
}

impl Run {
    pub(super) fn new(core: Core, caller: Caller) -> Run {
        Run {
            caller,
            random: Random::from_seed(0),
            limits: Limits::new(core.config()),
            calls: Calls::default(),
            json: core.json,
            args: OwnedArgs::default(),
            out: Vec::new(),
            core,
        }
    }

    /// Puts back what a script sees when it starts, but not what its commands did: those are not executed again.
    pub(super) fn begin_again(&mut self) {
        self.random = Random::from_seed(0);
        self.caller.session.protocol = Protocol::Two;
        self.limits.begin_again();
        self.calls.begin_again();
        self.core.json = self.json;
    }
}

/// Gives `use_run` the run under way on this thread; `None` outside of one.
pub(super) fn with_run<R>(use_run: impl FnOnce(&mut Run) -> R) -> Option<R> {
    RUN.with(|run| run.try_borrow_mut().ok()?.as_mut().map(use_run))
}

/// Makes this the run under way on this thread.
pub(super) fn begin(run: Run) {
    RUN.set(Some(run));
}

/// Takes the run under way from this thread.
pub(super) fn end() -> Option<Run> {
    RUN.take()
}
