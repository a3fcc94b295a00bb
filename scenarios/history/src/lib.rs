//! What clients and resource did in a run, and the checks that read it.
//!
//! A [`History`] is the account of one run: who was granted which lock when, what was read and written under
//! it, how it ended. The checks are pure functions from a history to a [`Verdict`]: it *holds*, it is
//! *violated* because of these events, or it is *inconclusive* because of this. Six [`Predicate`]s are judged
//! and never merged, for the people who argue about locks argue about different ones.
//!
//! ```
//! use doublehold_history::{judge, ClientId, CallId, Header, History, LockId, Predicate, Reading, TrueNs, EventKind};
//!
//! let mut history = History::new(Header::new("example", 7, &["c1", "c2"], &["stock"]));
//! for (at, client, grant) in [(2_000_000_000, ClientId(0), CallId(1)), (12_031_000_000, ClientId(1), CallId(2))] {
//!     let reading = Reading { wall_ns: 0, monotonic_ns: at, boot_ns: at };
//!     history.push(
//!         TrueNs(at),
//!         EventKind::Granted {
//!             client, grant, lock: LockId(0), token: "2a".into(),
//!             fencing: None, deadline: None, reading: Some(reading), within: None,
//!         },
//!     );
//! }
//! history.push(TrueNs(18_843_000_000), EventKind::ReleaseCalled { client: ClientId(0), grant: CallId(1) });
//!
//! let verdicts = judge(&history);
//! let overlap = &verdicts.get(Predicate::P1).evidence()[0];
//! assert_eq!(
//!     overlap.sentence(history.header()),
//!     r#"c1 and c2 both held "stock" for 6.812 s of true time, from 12.031 s to 18.843 s; c2's monotonic clock read 12.031 s when it began"#,
//! );
//! ```
//!
//! # Map, in reading order
//!
//! - `event`, `ids`, `clock`, `history`: what a history says; `jsonl`: how it is read from and written to a file
//! - `verdict`: what a check says; `sentences`: how evidence reads as a sentence
//! - `claims`: when a client believed in its grant, and when it was entitled to
//! - `overlap`: P1 and P2; `stale_effect`: P3; `transactions`, `components`, `anomaly`: P4; `wrong_release`: WR;
//!   `waits`, `liveness`: LV
//! - `judge`: all of them, and what a run that ended badly can still say
//! - `losses`: who lost a lock, and when its own code heard of that
//! - `figures`: waits, recovery and duration, for rates
//! - `resource`: the thing a lock protects, with its checks of fencing numbers and versions
//!
//! Nothing here knows how a run is made: a history of a real system, written down in this form, is judged the
//! same.

mod anomaly;
mod claims;
mod clock;
mod components;
mod event;
mod figures;
mod history;
mod ids;
mod jsonl;
mod judge;
mod liveness;
mod losses;
mod overlap;
mod resource;
mod sentences;
mod stale_effect;
mod transactions;
mod verdict;
mod waits;
mod wrong_release;

pub use anomaly::data_anomaly;
pub use claims::{Claim, Span, claims};
pub use clock::{ClockKind, Deadline, Reading};
pub use event::{
    CallId, ClientId, Event, EventKind, KeyEnd, KeyOp, LockId, NodeId, ObjectId, ReleaseOutcome, RunOutcome,
    TrueNs, instant,
};
pub use figures::{Figures, WorkCounts, figures};
pub use history::{Bounds, Header, History};
pub use jsonl::HistoryError;
pub use judge::{Overall, Verdicts, check, judge};
pub use liveness::liveness;
pub use losses::{Heard, LostLock, losses};
pub use overlap::{claim_overlap, valid_overlap};
pub use resource::{
    Content, FencingCheck, LockAnswer, NoAnswer, NumberSource, ReadRequest, Refusal, Resource, ResourceRules,
    WriteRequest,
};
pub use stale_effect::stale_effect;
pub use verdict::{
    Anomaly, ClockSpan, Cycle, Dependency, Evidence, LongWait, LostWrite, Overlap, Predicate, StaleWrite,
    Step, UnknownPredicate, Verdict, WaitEnd, Waited, WrongKey,
};
pub use wrong_release::wrong_release;
