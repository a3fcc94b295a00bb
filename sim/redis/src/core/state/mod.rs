//! The data that a node holds beside its keys: what a [`Core`](super::Core) is made of.
//!
//! Types and what they do with their own fields; what commands and the node do with them stands in the files of that
//! behaviour, which import from here and are imported by nothing here.

mod blocked;
mod client;
mod key_events;
mod overrun;
mod pause;
mod scripts;
mod statistics;
mod tracking;

pub use blocked::Unblocked;
pub(crate) use blocked::{Blocked, BlockedRequest, Waiter};
pub(crate) use client::Client;
pub(crate) use key_events::Class;
pub use key_events::KeyEvents;
pub(crate) use overrun::{Overrun, OverrunState, SuspendedTransaction};
pub(crate) use pause::{Pause, Paused};
pub(crate) use scripts::Scripts;
pub(crate) use statistics::{Calls, Stats};
pub(crate) use tracking::{Options, Tracked, Tracking};
