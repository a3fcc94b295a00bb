//! A deterministic world for distributed programs: hosts with three clocks each, a network, disks, and faults.
//!
//! Code under test is ordinary async Rust. It talks to the world through its [`Host`] handle: reads clocks, sleeps,
//! connects, listens, writes files. Every run is a pure function of its seed and its planned faults, down to a hash
//! over all events.
//!
//! A client reads its clock, is paused before its next step, and goes on as if no time had passed:
//!
//! ```
//! use doublehold_sim::{
//!     Budget, DelayLaw, Fault, HostSpec, LinkSpec, Occurrence, Pattern, PlannedFault, Seed, Trigger, World,
//! };
//! use std::time::Duration;
//!
//! let mut world = World::new(Seed(1), LinkSpec::lossless(DelayLaw::Fixed(Duration::from_millis(1))));
//! let client = world.add_host(HostSpec::new("client").essential(), |host| async move {
//!     let read = host.monotonic().await;
//!     let now = host.clocks().monotonic;
//!     assert_eq!(now, read.after(Duration::from_secs(10)));
//! });
//! let read = Occurrence { pattern: Pattern::ClockRead { host: client }, nth: 1 };
//! world.plan(PlannedFault {
//!     trigger: Trigger::On { occurrences: vec![read], offset: Duration::ZERO, each: false },
//!     faults: vec![Fault::Pause { host: client }],
//!     lasting: Some(Duration::from_secs(10)),
//! });
//! assert_eq!(world.run(Budget::default()).ended.to_string(), "10.000000000");
//! ```
//!
//! # Map, in reading order
//!
//! - [`World`]: hosts, links and faults put together, and what a run came to.
//! - [`Host`]: what code on a host can do, and where a pause can strike. `kernel_host`: what it comes to in this world.
//!   `seam`, `host_like`: what a world of another simulator, and its hosts, implement.
//! - [`WorldObserver`]: what only the code that watches a run can know.
//! - [`Fault`], [`Trigger`]: what can be done to the world, and when.
//! - [`Clocks`]: wall, monotonic and boot time as arithmetic over true time.
//! - `kernel`: the event loop, within a [`Budget`]. `queue`: what will happen, and what can run. [`ExternalTimers`]:
//!   what else may be due.
//! - `host_state`, `life`, `timer`, `fsync`, `net`, `disk`: one concern of a host each. `apply`: where faults change
//!   them.
//! - `fault_book`: which planned faults have struck. `memory`: what of a run is kept, counted. `slots`: slabs with
//!   typed keys.
//! - [`DelayLaw`], [`Stream`], [`Probability`]: randomness, from one seed by labelled streams.
//! - [`Event`], [`TraceHash`]: the account of a run. [`Capture`]: what a picture of it needs besides.
//!
//! # What a stopped host means
//!
//! | fault | code | clocks | sockets |
//! |---|---|---|---|
//! | [`Fault::Pause`] | stops at its next step; timers fire late, in order, at resume | all run | keep buffering |
//! | [`Fault::Suspend`] | stops | monotonic stands still | nothing is delivered until resume |
//! | [`Fault::Crash`] | gone | run | what was sent is delivered, then the end, or a reset where input was unread |
//! | [`Fault::LosePower`] | gone | gone | silence; what was sent and has not left is lost |
//!
//! Written file data survives all but the last, which takes what was not fsynced.
//!
//! # What is not modelled
//!
//! Code takes no time of its own (a server may sleep for the time a command takes), bandwidth is unlimited, and
//! machines never come back with another address. The kernel has never heard of Redis or of locks.
//!
//! Decision: "Both worlds share the code for clocks, fault times, host lives and disks" (docs/decisions/engines.md).

mod apply;
mod budget;
mod capture;
mod clock;
mod delay;
mod disk;
mod either;
mod external_timers;
mod fault;
mod fault_book;
mod fsync;
mod host;
mod host_like;
mod host_state;
mod kernel;
mod kernel_host;
mod life;
mod memory;
mod net;
mod normal;
mod observer;
mod queue;
mod random;
mod seam;
mod slots;
mod stream;
mod time;
mod timer;
mod trace;
mod trace_hash;
mod world;

/// The parts of this world that a world of another simulator shares: the account of a run, the moments of planned
/// faults, the lives of hosts, and their disks. Code on hosts needs none of them.
pub mod parts {
    pub use crate::disk::Disk;
    pub use crate::fault_book::{FaultBook, Matched};
    pub use crate::life::{Gate, Life, LifeNumber};
    pub use crate::trace::Trace;
    pub use crate::trace_hash::digest;
}

pub use budget::{Budget, Outcome};
pub use capture::Capture;
pub use clock::{ClockKind, Clocks, RatePpb, Readings};
pub use delay::DelayLaw;
pub use external_timers::{ExternalTimers, TaskIsReady};
pub use fault::{Fault, Occurrence, Pattern, PlannedFault, Struck, Trigger};
pub use host::{Boot, DeadlinePassed, Host};
pub use host_like::{BoxFuture, HostLike, IncomingLike, StreamLike};
pub use net::{ConnectError, CopyOf, LinkSpec};
pub use observer::WorldObserver;
pub use random::{Probability, ProbabilityError, Seed, Stream};
pub use seam::{ObserverLike, Then, WorldLike};
pub use stream::{Incoming, SimStream};
pub use time::{BootTime, MonotonicTime, SimTime, WallTime};
pub use trace::{ConnectionId, End, Event, HostId, Keep, Record};
pub use trace_hash::TraceHash;
pub use world::{HostSpec, Run, World};
