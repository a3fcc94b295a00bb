//! How a lock was lost, as facts of one run: which key went, where, in which way, and what its holder did meanwhile.
//!
//! Each rule names one way in which a lock is lost and the facts that prove it. No rule names a cause: that takes runs
//! without it ([`crate::cause`]). If no rule finds its facts there is no finding, since a guess would be worse than
//! none. The words are the renderer's.
//!
//! Assumes that the evidence is the run's. Of P4 nothing is found: its evidence has no moment.

mod deleted;
mod late;
mod lost;
mod others;

use doublehold_history::{
    Claim, ClientId, EventKind, Evidence, KeyOp, LockId, NodeId, Overlap, Predicate, TrueNs,
};
use doublehold_scenarios::report::{KeyEnd, KeySpan};
use doublehold_scenarios::scenario::HostIndex;

use crate::RunFacts;

/// How a lock was lost, or how a rule was broken otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Nodes that granted the lock to the next holder had lost the first one's key.
    KeyLost(KeyLost),
    /// A client was granted the lock after its own keys had expired.
    GrantedLate(GrantedLate),
    /// A node was promoted without the holder's key, and granted the lock.
    PromotedWithout(PromotedWithout),
    /// A write was sent before the next grant, and applied after it.
    WroteLate {
        /// Whose write it was.
        client: ClientId,
        /// Who was granted the lock meanwhile.
        next: ClientId,
        /// For how long it was on its way.
        on_its_way_ns: u64,
    },
    /// A client changed a key that held another grant's token.
    ChangedWrongKey(ChangedWrongKey),
    /// A process is gone, or a thread left the lock, and its key keeps others out.
    LeftBehind(LeftBehind),
    /// A client refused a grant that came too late: the lock saw it by itself.
    RefusedLate {
        /// The client.
        client: ClientId,
        /// What stopped it while it asked, in a word.
        stopped: Option<&'static str>,
        /// The lock's own figures: what had passed, and what was allowed.
        figures: String,
    },
}

/// Keys of the first holder that were gone from nodes when these granted the lock to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLost {
    /// The first holder.
    pub holder: ClientId,
    /// Each way in which keys were lost, with the nodes on which they were.
    pub losses: Vec<Loss>,
    /// The next holder.
    pub next: ClientId,
    /// The nodes that granted it the lock.
    pub granted_by: Vec<HostIndex>,
    /// What followed from it.
    pub freed: Option<Freed>,
}

/// A way in which a holder's key was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The nodes on which it was lost so.
    pub nodes: Vec<HostIndex>,
    /// The way.
    pub how: LossKind,
}

/// The way in which a key was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// It expired before its time.
    ExpiredEarly,
    /// Its time was up.
    Expired {
        /// What kept its holder from noticing, or from caring.
        meanwhile: Meanwhile,
    },
    /// Its session or lease ended at the service.
    SessionEnded {
        /// The reason for which its holder did not notice, or care.
        meanwhile: Meanwhile,
    },
    /// Its node forgot it when it died.
    Forgotten,
    /// An operator flushed the node.
    Flushed,
    /// The node evicted it, for want of memory.
    Evicted,
    /// The next holder overwrote it.
    Overwritten {
        /// By how much its wall clock was ahead of the first holder's, if only by that clock the lease was over.
        ahead_ns: Option<u64>,
    },
    /// Its own holder deleted it, before it called release.
    DeletedByHolder(HolderCall),
    /// A command that was meant for another key deleted it.
    DeletedByAnother(Deletion),
}

/// The call that a holder was in when it sent a command that deleted its own key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HolderCall {
    /// It asked for the lock: it cleaned up after an earlier attempt, and late.
    Asking,
    /// It extended its lease.
    Extending,
    /// One or the other, or something that its lock does by itself.
    Holding,
}

/// A command that deleted a key which held another grant's token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// The client that sent it.
    pub by: ClientId,
    /// What it was meant for.
    pub meant: MeantFor,
    /// What the sender did when its own key expired there before, if that is how it came to it.
    pub own_expired: Option<Meanwhile>,
}

/// What a command was meant for that changed another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeantFor {
    /// Its client's own grant; the key was another client's.
    OwnGrant,
    /// An attempt that had not been granted: its call never was, or came to its grant later.
    NoGrant,
    /// An earlier grant of the client whose key it was.
    EarlierGrant,
    /// A later grant of the client whose key it was.
    LaterGrant,
}

/// What a client did at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meanwhile {
    /// A fault had stopped it.
    Stopped {
        /// In a word: `paused`.
        state: &'static str,
        /// True if it had called release before.
        in_release: bool,
    },
    /// Its release was under way.
    Releasing,
    /// It waited for another lock.
    WaitedFor(LockId),
    /// Its write was on its way.
    Writing,
    /// It worked.
    Working,
}

/// A grant that came after its own keys had expired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantedLate {
    /// The client.
    pub client: ClientId,
    /// The nodes on which its key had expired.
    pub nodes: Vec<HostIndex>,
    /// What had stopped it then, in a word.
    pub stopped: Option<&'static str>,
    /// What it went by, where the history says so.
    pub went_by: Option<WentBy>,
    /// What followed from it.
    pub freed: Option<Freed>,
}

/// What a client went by that took a grant whose lease was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WentBy {
    /// It computes no deadline.
    NoDeadline,
    /// Its own deadline had passed, and it did not look.
    PassedDeadline,
    /// The wall clock that it measured the lease with was set back by so much (negative).
    WallClockStepped(i64),
    /// The monotonic clock that it measured the lease with stood still.
    StoppedMonotonicClock,
    /// Its own deadline was still to come, as where its keys had another lease than it counts with.
    ComingDeadline,
}

/// A node that was promoted without the first holder's key, and granted the lock to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromotedWithout {
    /// The first holder.
    pub holder: ClientId,
    /// The node with the key that died before, and how, in a word: `crashed`.
    pub died: Option<(HostIndex, &'static str)>,
    /// The node that was promoted.
    pub node: HostIndex,
    /// The next holder.
    pub next: ClientId,
    /// What followed from it.
    pub freed: Option<Freed>,
}

/// The first holder's release that then deleted the next one's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freed {
    /// The first holder.
    pub by: ClientId,
    /// Whose key it deleted.
    pub whose: ClientId,
    /// On which node.
    pub node: NodeId,
    /// Who was granted the lock by that.
    pub let_in: Option<ClientId>,
}

/// A change of a key that held another grant's token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedWrongKey {
    /// Who changed it.
    pub client: ClientId,
    /// Whose key it was.
    pub holder: ClientId,
    /// On which node.
    pub node: NodeId,
    /// What it did.
    pub change: WrongChange,
}

/// What a client did to a key that was not its grant's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrongChange {
    /// It deleted the key after its own there had expired.
    DeletedAfterOwnExpired,
    /// It deleted its own key of another grant.
    DeletedOwn(MeantFor),
    /// It cleaned up after an attempt that was not granted, and deleted the key.
    CleanedUp,
    /// It was not granted the lock, and moved the key's expiry; the key may then have kept others out.
    MovedExpiry(Option<LeftBehind>),
}

/// A process that is gone, or a thread that left the lock, and its key that keeps others out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftBehind {
    /// The client whose key it is.
    pub client: HostIndex,
    /// The nodes on which its key stays.
    pub nodes: Vec<HostIndex>,
    /// True if the process runs on, and a thread of it left the lock without giving it back.
    pub is_abandoned: bool,
    /// True if the key outlives its lease.
    pub outlives_lease: bool,
}

/// How the predicate that is told came to be violated, and the lock that this is about; where none is, a client that
/// refused a grant which came too late.
pub fn find(facts: &RunFacts<'_>) -> Option<(LockId, Finding)> {
    let told = facts.run.verdicts.first_evidence(facts.run.told);
    match told.map(|(_, evidence)| evidence) {
        None => late::late_refusal(facts),
        Some(Evidence::Overlap(it)) => Some((it.lock, double_hold(facts, it)?)),
        Some(Evidence::StaleWrite(it)) => Some((it.lock, others::late_write(facts, it)?)),
        Some(Evidence::WrongKey(it)) => {
            Some((it.lock, Finding::ChangedWrongKey(others::wrong_key(facts, it)?)))
        }
        Some(Evidence::Waited(it)) => {
            Some((it.lock, Finding::LeftBehind(others::left_behind(facts, it.lock, it.from, it.to)?)))
        }
        Some(Evidence::LongWait(it)) => {
            Some((it.lock, Finding::LeftBehind(others::left_behind(facts, it.lock, it.from, it.to)?)))
        }
        Some(Evidence::Cycle(_) | Evidence::LostWrite(_) | Evidence::Omitted { .. }) => None,
    }
}

fn double_hold(facts: &RunFacts<'_>, overlap: &Overlap) -> Option<Finding> {
    let [first, second] = overlap.grants.map(|grant| facts.claim(grant));
    let (first, second) = (first?, second?);
    let freed = || freed_in_turn(facts, first, second);
    if let Some(late) = late::expired_before_the_grant(facts, second) {
        return Some(Finding::GrantedLate(GrantedLate { freed: freed(), ..late }));
    }
    if let Some(lost) = lost::lost_keys(facts, overlap, first, second) {
        return Some(Finding::KeyLost(KeyLost { freed: freed(), ..lost }));
    }
    let promoted = lost::promoted_without(facts, first, second)?;
    Some(Finding::PromotedWithout(PromotedWithout { freed: freed(), ..promoted }))
}

/// What the first holder did to the next one's key when it gave the lock back, and who came in by that.
fn freed_in_turn(facts: &RunFacts<'_>, first: &Claim, second: &Claim) -> Option<Freed> {
    let (node, at) = facts.run.history.events().iter().find_map(|event| match event.what {
        EventKind::KeyTouched { by, held, node, op: KeyOp::Release, .. }
            if by == first.grant && held == second.grant =>
        {
            Some((node, event.at))
        }
        _ => None,
    })?;
    let overlaps = facts.run.verdicts.get(Predicate::P1).evidence().iter();
    let mut overlaps = overlaps.filter_map(|it| if let Evidence::Overlap(it) = it { Some(it) } else { None });
    let let_in = overlaps.find(|it| it.grants[0] == second.grant && it.from > at);
    Some(Freed { by: first.client, whose: second.client, node, let_in: let_in.map(|it| it.clients[1]) })
}

/// When a key's time was up, if it ended by that.
fn expiry_time(key: &KeySpan) -> Option<TrueNs> {
    key.until.filter(|(_, how)| matches!(how, KeyEnd::Expired | KeyEnd::SessionEnded)).map(|(at, _)| at)
}

/// The hosts in the scenario's order, each once.
fn in_order(hosts: impl Iterator<Item = HostIndex>) -> Vec<HostIndex> {
    let mut hosts: Vec<HostIndex> = hosts.collect();
    hosts.sort_unstable();
    hosts.dedup();
    hosts
}
