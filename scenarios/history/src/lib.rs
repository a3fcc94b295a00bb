//! What clients and resource did in a run, and the checks that read it.

mod anomaly;
mod claims;
mod components;
mod event;
mod history;
mod jsonl;
mod judge;
mod liveness;
mod overlap;
mod resource;
mod stale_effect;
mod transactions;
mod verdict;
mod words;
mod wrong_release;

pub use anomaly::data_anomaly;
pub use claims::{Claim, Span, claims};
pub use event::{
    ClientId, ClockKind, Deadline, Event, GrantId, KeyOp, LockId, NodeId, ObjectId, Reading, ReleaseOutcome,
    RunOutcome, TrueNs, What,
};
pub use history::{Bounds, Header, History};
pub use jsonl::HistoryError;
pub use judge::{Verdicts, check, judge};
pub use liveness::liveness;
pub use overlap::{claim_overlap, valid_overlap};
pub use resource::{Content, FencingCheck, ReadRequest, Refusal, Resource, ResourceRules, WriteRequest};
pub use stale_effect::stale_effect;
pub use verdict::{
    Anomaly, ClockSpan, Cycle, Dependency, Evidence, Overlap, Predicate, StaleWrite, Step, UnknownPredicate,
    Verdict, WaitEnd, Waited, WrongKey,
};
pub use words::duration;
pub use wrong_release::wrong_release;
