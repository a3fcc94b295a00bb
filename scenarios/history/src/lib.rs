//! What clients and resource did in a run, and the checks that read it.

mod event;
mod history;
mod verdict;

pub use event::{
    ClientId, ClockKind, Deadline, Event, GrantId, KeyOp, LockId, NodeId, ObjectId, Reading, ReleaseOutcome,
    RunOutcome, TrueNs, What,
};
pub use history::{Bounds, Header, History};
pub use verdict::{
    Anomaly, ClockSpan, Cycle, Dependency, Evidence, Overlap, Predicate, StaleWrite, Step, UnknownPredicate,
    Verdict, WaitEnd, Waited, WrongKey,
};
