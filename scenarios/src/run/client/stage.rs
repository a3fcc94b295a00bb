//! The two doors to whatever executes a run. What is around a lock (a client's program, the resource, the recorder)
//! names only these, so that another engine needs an implementation of each and nothing else.
//!
//! [`Stage`] is for code whose faults are the subject: it offers what a real client's machine offers. [`Witness`] is
//! for whoever judges: it knows what no client can, and changes nothing.
//!
//! Neither says how time passes, or which faults there are.

use std::time::Duration;

use doublehold_history::{ClockKind, Reading, TrueNs};
use doublehold_lockimpl::{Env, MonotonicTime};

use crate::model::scenario::{DelayLaw, HostIndex};
use crate::run::keys::attribution::ConnectionNumber;

/// A client's host, as the program on it sees it: what its lock sees, and what only a program needs.
pub(crate) trait Stage: Env {
    /// How many processes of this host died before this one.
    fn restarts(&self) -> u32;

    /// Waits until the scenario starts this client. Fails when it is told something else: with what it was told.
    fn start(&self) -> impl Future<Output = Result<(), String>> + Send;

    /// Says where the program is, so that a fault can wait for it. A pause may strike here.
    fn mark(&self, label: &'static str) -> impl Future<Output = ()> + Send;

    /// What the monotonic clock shows, where no pause is to strike: how long to sleep is not what a scenario is about.
    fn now(&self) -> MonotonicTime;

    /// Ends the run: what follows would be evidence of nothing.
    fn halt(&self);

    /// Ends what locks have started beside their callers, such as watchdogs: their process is gone.
    fn end_tasks(&self);

    /// Lets connections in the hands of code under test read what has arrived, where that is to come before timers.
    fn catch_up(&self);

    /// Lets connections in the hands of code under test write what that code has asked for.
    fn flush(&self);

    /// Draws a duration.
    fn draw(&self, law: &DelayLaw) -> Duration;
}

/// What is done when a clock that was waited for shows its time.
pub(crate) type Then = Box<dyn FnOnce() + Send>;

/// What whoever judges may know of the world.
pub(crate) trait Witness: Send + Sync {
    /// True time.
    fn now(&self) -> TrueNs;

    /// What the clocks of a host show.
    fn reading(&self, host: HostIndex) -> Reading;

    /// Of a connection that was opened to send something a second time: the connection that carried it first, and how
    /// many bytes that had carried before.
    fn copy_of(&self, connection: ConnectionNumber) -> Option<(ConnectionNumber, u64)>;

    /// Does `then` once a host's clock shows at least `reading_ns`, whatever the host's process does meanwhile.
    fn when(&self, host: HostIndex, clock: ClockKind, reading_ns: i64, then: Then);

    /// So many bytes more are recorded: what a run keeps is bounded.
    fn keeps(&self, bytes: u64);
}
