//! The configuration of locks by name, as data: each lock names its switches once, and from that come their list, their
//! defaults, what a lock does with them, and what people and scenario files are told before one is built.
//!
//! In reading order:
//!
//! | file | holds |
//! |---|---|
//! | `switch` | [`Switch`] and [`Switches`]: what each may be, and what was chosen |
//! | `choice` | [`Choice`]: a switch of a few words |
//! | `schema` | [`LockConfig`] and [`Form`]: a lock names its switches, with defaults and meanings |
//! | `facts` | [`Facts`]: what a lock can do and sends once they are set |
//! | `discovery` | [`MasterDiscovery`]: how a driver finds a master behind Sentinels |
//! | `drivers` | [`DriverDefaults`]: a driver by its name, as defaults of switches |
//! | `descriptor` | [`Descriptor`]: all of it, of one kind of lock |
//! | `profile` | [`Profile`]: a library, as switches that are fixed, and its flaws |
//!
//! Knows no lock, no node and no environment: what builds locks is in `registry`.

mod choice;
mod descriptor;
mod discovery;
mod drivers;
mod facts;
mod profile;
mod schema;
mod switch;

pub use choice::Choice;
pub use descriptor::{Descriptor, Nodes};
pub use discovery::MasterDiscovery;
pub use drivers::DriverDefaults;
pub use facts::{Facts, Sends};
pub use profile::{Flaw, Newest, Profile, Remedy};
pub(crate) use schema::{FENCING, word_of};
pub use schema::{Form, LockConfig, RenewEvery};
pub use switch::{Kind, Most, Ratio, Switch, SwitchError, Switches, Unfit, Value};
