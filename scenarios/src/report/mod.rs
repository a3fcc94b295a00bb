//! What a run came to: everything a renderer needs and nothing it would have to compute from the world.
//!
//! Pure data. Verdicts come from the history alone; the lanes beside it (faults, keys on nodes) are there to be drawn.
//!
//! Decision: "A verdict that the scenario does not state leaves the exit status unchanged" (docs/decisions/locks.md).

mod announcement;
mod hit;
mod leases;
mod replay;
pub mod white_box;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use announcement::{Announcement, FailoverSteps};
pub use doublehold_history::KeyEnd;
use doublehold_history::{
    CallId, EventKind, Figures, History, LockId, Predicate, RunOutcome, TrueNs, Verdict, Verdicts,
};
use doublehold_text::clean;
pub use hit::{Hit, StruckAt};
pub use leases::{KeyLease, LeasedKey, Leases, SentRequest, StatedDeadline};
pub use replay::{Compared, Replay};
pub(crate) use replay::{HASH_RULES, differing};
use serde::Serialize;

use crate::Seed;
use crate::model::fault::Fault;
use crate::model::scenario::{Expected, HostIndex, Scenario};

/// One run of one scenario.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was run.
    pub scenario: Arc<Scenario>,
    /// The seed.
    pub seed: Seed,
    /// What executed it: `sim`.
    pub engine: &'static str,
    /// What clients and resource did, and how the run ended.
    pub history: History,
    /// What each predicate came to.
    pub verdicts: Verdicts,
    /// The predicate whose violation is told; if none, the first that is violated.
    pub told: Option<Predicate>,
    /// What became of each fault of the scenario, in the scenario's order: one entry for every time that it struck,
    /// or one without times if it never did.
    pub faults: Vec<FaultReport>,
    /// Which lock keys the nodes held over time, in the order in which they began.
    pub keys: Vec<KeySpan>,
    /// When deadlines were to pass and keys to end, and who sent requests when: what white-box rules ask.
    pub leases: Leases,
    /// The nodes whose yes each grant was given on, as its client counted them; none for a lock that asks one node.
    pub votes: BTreeMap<CallId, Vec<HostIndex>>,
    /// When each grant's extensions began.
    pub extends: BTreeMap<CallId, Vec<TrueNs>>,
    /// The steps that a client left out because it gave up a call, as files write them. Releases are not among them:
    /// what was granted is given back.
    pub left_out: BTreeMap<CallId, Vec<String>>,
    /// True time at the end.
    pub ended: TrueNs,
    /// How much happened, in the engine's events.
    pub events: u64,
    /// How many times bytes were handed to the network.
    pub messages: u64,
    /// The digest of the whole trace.
    pub trace_hash: TraceHash,
    /// How it compares with the plan's run, if this is the replay of a plan.
    pub replays: Option<Replay>,
    /// Announcements of Sentinels, in their order.
    pub announcements: Vec<Announcement>,
    /// Things a reader must know that no verdict says, such as a script stopped at its limit.
    pub notes: Vec<String>,
    /// What the lock's code said when it panicked, which ended the run.
    pub panicked: Option<String>,
}

/// What a run came to, for those who make many: its verdicts and no account of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The seed.
    pub seed: Seed,
    /// How the run ended.
    pub outcome: RunOutcome,
    /// What each predicate came to.
    pub verdicts: Verdicts,
    /// Whether that is what the scenario expects.
    pub judgement: Judgement,
    /// How often a lock was granted.
    pub grants: Grants,
    /// How long clients waited, and the like.
    pub figures: Figures,
    /// What became of each fault, in the scenario's order, random ones after the others.
    pub faults: Vec<Hit>,
    /// True time at the end.
    pub ended: TrueNs,
    /// How much happened, in the engine's events.
    pub events: u64,
    /// How many times bytes were handed to the network.
    pub messages: u64,
    /// The digest of the whole trace.
    pub trace_hash: TraceHash,
    /// What the lock's code said when it panicked, which ended the run.
    pub panicked: Option<String>,
}

/// How often a lock was granted in a run. What never was has broken no rule, and has shown nothing either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grants {
    /// How many calls were granted.
    pub count: u64,
    /// Why the last call was not, where none was and one had an answer.
    pub refusal: Option<String>,
}

impl Grants {
    /// Those that a history tells of.
    pub fn from_history(history: &History) -> Grants {
        let events = || history.events().iter().map(|event| &event.what);
        let count = events().filter(|what| matches!(what, EventKind::Granted { .. })).count() as u64;
        let why = |what: &EventKind| match what {
            EventKind::Refused { why, .. } | EventKind::AcquireUnknown { why, .. } => Some(clean(why)),
            _ => None,
        };
        let refusal = if count == 0 { events().rev().find_map(why) } else { None };
        Grants { count, refusal }
    }
}

/// The digest of everything that happened in a run, as an engine accounts for it: two runs that are the same have the
/// same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceHash(pub u64);

impl fmt::Display for TraceHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A fault and one time that it struck, or that it never did.
#[derive(Clone, Debug)]
pub struct FaultReport {
    /// The fault.
    pub fault: Fault,
    /// The hosts it strikes.
    pub hosts: Vec<HostIndex>,
    /// When it struck; `None`: never.
    pub from: Option<TrueNs>,
    /// When it was taken back, if it lasts and was.
    pub until: Option<TrueNs>,
}

/// A stretch of time in which a node held a lock's key with one grant's token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySpan {
    /// The node.
    pub node: HostIndex,
    /// Whose key it was.
    pub lock: LockId,
    /// The call that set it.
    pub grant: CallId,
    /// The client that asked for that grant.
    pub client: HostIndex,
    /// How the node came by the key.
    pub origin: KeyOrigin,
    /// False if the call was granted the lock with another token: an attempt before had left this one.
    pub is_token: bool,
    /// When the key was set.
    pub from: TrueNs,
    /// When it was gone, and why.
    pub until: Option<(TrueNs, KeyEnd)>,
}

/// How a node came by a key. Only an executed command is the node's vote for a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyOrigin {
    /// It executed a client's command.
    Executed,
    /// Its master told it so.
    Replicated,
    /// It was in the append-only file of the process before.
    Loaded,
}

/// Whether a run showed what its scenario expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Every expected verdict came out as expected.
    AsExpected,
    /// At least one verdict contradicts the expectation.
    Contradicted,
    /// No verdict contradicts, but at least one expected verdict is inconclusive.
    Inconclusive,
}

impl Judgement {
    /// Compares verdicts with what was expected of a run that ended like this.
    pub fn compare(
        expect: &BTreeMap<Predicate, Expected>,
        outcome: Option<RunOutcome>,
        verdicts: &Verdicts,
    ) -> Judgement {
        // A run that was cut short and of which nothing was expected has shown nothing.
        let cut_short = expect.is_empty() && outcome != Some(RunOutcome::Completed);
        let mut judgement = if cut_short { Judgement::Inconclusive } else { Judgement::AsExpected };
        for (&predicate, &expected) in expect {
            match (verdicts.get(predicate), expected) {
                (Verdict::Holds, Expected::Holds)
                | (Verdict::Violated(_), Expected::Violated)
                | (Verdict::NotSeen(_), Expected::NotSeen) => {}
                (Verdict::Inconclusive(_) | Verdict::NotSeen(_), _) => judgement = Judgement::Inconclusive,
                (Verdict::Holds | Verdict::Violated(_), _) => return Judgement::Contradicted,
            }
        }
        judgement
    }
}

impl Report {
    /// Compares the verdicts with the scenario's expectation.
    pub fn judgement(&self) -> Judgement {
        Judgement::compare(&self.scenario.expect, self.history.outcome(), &self.verdicts)
    }

    /// Whether the replay of a plan is the run that the plan is of; `None` if this is no replay, or nobody can tell.
    pub fn is_same_run(&self) -> Option<bool> {
        self.replays.as_ref().and_then(Replay::is_same_run)
    }

    /// The verdicts in words, by predicate.
    pub fn verdict_words(&self) -> BTreeMap<Predicate, &'static str> {
        self.verdicts.iter().map(|(predicate, verdict)| (predicate, verdict.as_str())).collect()
    }
}
