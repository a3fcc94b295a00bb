//! Which calls took a claim, and what each of them has of it.
//!
//! Most claims are taken once. A claim that is there may be taken again: set again, which makes it that call's alone;
//! counted up, as a re-entrant lock does, which gives that call a share beside the others; or found standing by a call
//! of the same owner, as by one that is granted what an earlier one took without learning of it.
//!
//! Who took it is known at once. Whether that call marked it, without which it is not its own, may be told later: so
//! whose a claim is, is asked of a [`Shares`] when the run is over.
//!
//! A lock that counts up and never counts down, as one whose replies all come late, adds a share with each call. Where
//! there are many, those of calls that are over are folded into one for each client, so that a run takes memory and
//! time in proportion to its events.
//!
//! Not modelled: which share is whose after a call that nobody knows has taken one, and which of the calls of a folded
//! share counted up how much.
//!
//! Decision: "A call may take over an existing key while it acquires, but not after its grant"
//! (docs/decisions/locks.md).

#[cfg(test)]
mod tests;

use std::sync::Arc;

use doublehold_history::{CallId, ClientId};

use super::attribution::{Attribution, LockMark, Mark, Owner, Sender};
use super::claimants::Claimants;

/// How a call came by a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) enum ShareKind {
    /// It made the claim, or set it again.
    Set,
    /// It counted it up.
    Counted,
    /// It counted up a key that is a claim as a whole, after another had made it: which gives it nothing, but it may
    /// count down again.
    Tried,
    /// It found it there.
    Found,
}

/// So many shares of a claim are kept one by one before any is folded, and half of them afterwards: far more than a
/// lock has calls under way, so that what a late command belongs to is known.
const KEPT_APART: usize = 32;

/// Who took a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) enum Taker {
    Call(CallId),
    /// A call of this client, and nobody knows which: the command left later than its code had asked for it.
    One(ClientId),
    /// Calls of this client that are over and marked the claim, from the first to the last.
    Past(ClientId, CallId, CallId),
}

impl Taker {
    /// Whose the share is if it marked the claim. One that nobody else marked is of whoever marked it on that client.
    /// A folded one is of the call that is asked about if it is one of them, and else of the last.
    fn owner(self, mark: &LockMark, told: &Attribution, asked: Option<CallId>) -> Option<Owner> {
        match self {
            Taker::Call(call) => told.marked_by(mark, call),
            Taker::One(client) => told.only_marker(mark).filter(|(marker, _)| *marker == client),
            Taker::Past(client, _, last) => {
                Some((client, asked.filter(|call| self.is_of(*call, told)).unwrap_or(last)))
            }
        }
    }

    /// Whether whoever took it has no part in the lock any more.
    fn is_over(self, claimants: &Claimants) -> bool {
        match self {
            Taker::Call(call) => !claimants.may_claim(call),
            Taker::One(_) => false,
            Taker::Past(..) => true,
        }
    }

    fn is_of(self, call: CallId, told: &Attribution) -> bool {
        match self {
            Taker::Call(taker) => taker == call,
            Taker::One(_) => false,
            Taker::Past(client, first, last) => {
                (first..=last).contains(&call) && told.client_of(call) == Some(client)
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) struct Share {
    taker: Taker,
    /// It had its grant before it took this.
    granted: bool,
    way: ShareKind,
    /// It never had more of it than that it found it there.
    only_found: bool,
    /// What it counted up.
    count: i64,
    /// It set this value somewhere, and this is a replica's or a file's copy of one that was set.
    copied: bool,
}

impl Share {
    pub(in crate::run) fn new(sender: Sender, way: ShareKind, count: i64) -> Share {
        let (taker, only_found) = (Taker::Call(sender.call), way == ShareKind::Found);
        Share { taker, granted: sender.granted, way, only_found, count, copied: false }
    }

    /// A claim that this one set.
    pub(in crate::run) fn set_by(taker: Taker) -> Share {
        Share { taker, granted: false, way: ShareKind::Set, only_found: false, count: 0, copied: false }
    }

    /// A copy of a claim that this one set.
    pub(in crate::run) fn copied_by(taker: Taker) -> Share {
        Share { copied: true, ..Share::set_by(taker) }
    }

    pub(in crate::run) fn is_of(&self, call: CallId, told: &Attribution) -> bool {
        self.taker.is_of(call, told)
    }

    /// Whether it is no more than that a call found it there that has no part in the lock any more.
    pub(in crate::run) fn is_over(&self, claimants: &Claimants) -> bool {
        self.way == ShareKind::Found && self.taker.is_over(claimants)
    }

    /// The same as a share of past calls, if its call is over and marked the claim, and had not been granted the lock.
    fn as_past(&self, mark: &LockMark, told: &Attribution, claimants: &Claimants) -> Option<Share> {
        if self.granted || self.copied || !matches!(self.way, ShareKind::Counted | ShareKind::Tried) {
            return None;
        }
        let taker = match self.taker {
            Taker::Call(call) if !claimants.may_claim(call) => {
                let (client, call) = told.marked_by(mark, call)?;
                Taker::Past(client, call, call)
            }
            Taker::Call(_) | Taker::One(_) => return None,
            Taker::Past(..) => self.taker,
        };
        Some(Share { taker, ..*self })
    }

    /// Adds another share of past calls, if it is of the same client and came about alike. It may be of an earlier
    /// call, whose command was under way for longer.
    fn absorb(&mut self, other: &Share) -> bool {
        let (Taker::Past(client, first, last), Taker::Past(its, from, to)) = (self.taker, other.taker) else {
            return false;
        };
        let is_alike = client == its && self.way == other.way;
        if is_alike {
            self.taker = Taker::Past(client, first.min(from), last.max(to));
            self.count = self.count.saturating_add(other.count);
        }
        is_alike
    }

    /// Whether a share of past calls may be added to one that is before this: not across what was set, which makes all
    /// before it mean nothing, nor across a call of the same client that stays by itself.
    fn lets_by(&self, past: &Share, told: &Attribution) -> bool {
        let stays_between = match (self.taker, past.taker) {
            (Taker::Call(call), Taker::Past(client, ..)) => told.client_of(call) == Some(client),
            _ => false,
        };
        self.way != ShareKind::Set && !stays_between
    }

    /// Whether the claim is drawn as its call's.
    fn is_drawn(&self) -> bool {
        matches!(self.way, ShareKind::Set | ShareKind::Counted)
    }
}

/// All shares of a claim at one moment, in the order in which they were taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::run) struct Shares {
    taken: Arc<[Share]>,
    /// Somebody took or gave back some of it, and nobody knows which call that was.
    pub(in crate::run) unsure: bool,
}

impl Shares {
    pub(in crate::run) fn from_share(share: Option<Share>) -> Shares {
        Shares { taken: share.into_iter().collect(), unsure: false }
    }

    fn with_shares(&self, taken: Vec<Share>) -> Shares {
        Shares { taken: taken.into(), ..self.clone() }
    }

    /// These and one more. What means nothing beside it is left out, so that a key that stays gets no more and more.
    pub(in crate::run) fn and(&self, share: Share, means_something: impl Fn(&Share) -> bool) -> Shares {
        let kept: Vec<Share> = self.taken.iter().filter(|it| means_something(it)).copied().collect();
        let unsure = self.unsure && !kept.is_empty();
        Shares { taken: kept.into_iter().chain([share]).collect(), unsure }
    }

    /// These, with old ones of calls that are over folded if there are many.
    pub(in crate::run) fn fold_past(&mut self, mark: &LockMark, told: &Attribution, claimants: &Claimants) {
        if self.taken.len() <= KEPT_APART {
            return;
        }
        let (old, new) = self.taken.split_at(self.taken.len() - KEPT_APART / 2);
        let mut folded: Vec<Share> = Vec::with_capacity(KEPT_APART);
        for share in old {
            let past = share.as_past(mark, told, claimants);
            let is_absorbed = past.is_some_and(|past| {
                let mut near = folded.iter_mut().rev().take_while(|it| it.lets_by(&past, told));
                near.any(|it| it.absorb(&past))
            });
            if !is_absorbed {
                folded.push(past.unwrap_or(*share));
            }
        }
        // Touches share what is not copied: a claim of calls that are all under way stays as it is.
        if folded.len() < old.len() {
            folded.extend_from_slice(new);
            self.taken = folded.into();
        }
    }

    pub(in crate::run) fn len(&self) -> usize {
        self.taken.len()
    }

    /// The calls that have a share and can be told apart.
    pub(in crate::run) fn calls(&self) -> impl Iterator<Item = CallId> {
        self.taken.iter().filter_map(|share| match share.taker {
            Taker::Call(call) => Some(call),
            Taker::One(_) | Taker::Past(..) => None,
        })
    }

    /// Whether a call has a share.
    pub(in crate::run) fn has(&self, call: CallId, told: &Attribution) -> bool {
        self.taken.iter().any(|share| share.is_of(call, told))
    }

    pub(in crate::run) fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// Whether there are any, and all are those of known calls.
    pub(in crate::run) fn are_known(&self) -> bool {
        !self.is_empty() && self.calls().count() == self.taken.len()
    }

    /// Who took it last, as whose the claim is drawn if it marked it.
    pub(in crate::run) fn drawn_taker(&self) -> Option<Taker> {
        self.taken.iter().rev().find(|share| share.is_drawn()).map(|share| share.taker)
    }

    /// Whose the claim is drawn as: the last call that took it and marked it.
    pub(in crate::run) fn drawn_owner(&self, mark: &LockMark, told: &Attribution) -> Option<Owner> {
        let mut drawn = self.taken.iter().rev().filter(|share| share.is_drawn());
        drawn.find_map(|share| share.taker.owner(mark, told, None))
    }

    /// Whether nothing is left but of calls that counted up in vain: then it is nobody's claim.
    pub(in crate::run) fn are_in_vain(&self) -> bool {
        !self.taken.is_empty() && self.taken.iter().all(|share| share.way == ShareKind::Tried)
    }

    /// Whether it is a copy of what was set elsewhere.
    pub(in crate::run) fn are_copied(&self) -> bool {
        self.taken.iter().any(|share| share.copied)
    }

    /// With `amount` more of what a call counted up, if it has a share that it counted.
    pub(in crate::run) fn more(&self, call: CallId, amount: i64, told: &Attribution) -> Option<Shares> {
        let place =
            self.taken.iter().rposition(|share| share.is_of(call, told) && share.way != ShareKind::Found)?;
        let mut shares = self.taken.to_vec();
        shares[place].count = shares[place].count.saturating_add(amount);
        Some(self.with_shares(shares))
    }

    /// Without `amount` of what a call counted up; `None` if that is more than it did.
    pub(in crate::run) fn less(&self, call: CallId, amount: i64, told: &Attribution) -> Option<Shares> {
        let is_own = |share: &Share| share.is_of(call, told);
        let own = self.taken.iter().filter(|share| is_own(share));
        if own.fold(0, |sum: i64, share| sum.saturating_add(share.count)) < amount {
            return None;
        }
        let (mut shares, mut left) = (self.taken.to_vec(), amount);
        for share in shares.iter_mut().rev().filter(|share| is_own(share)) {
            let taken = share.count.clamp(0, left);
            (share.count, left) = (share.count - taken, left - taken);
        }
        // Whoever has it alone has it until it is gone, also at a count of nothing. Beside others it finds it there: a
        // release that is not the last moves the expiry as well.
        let is_given_back = |share: &Share| is_own(share) && share.count <= 0;
        if shares.iter().any(|share| !is_own(share) && share.is_drawn()) {
            shares.retain(|share| share.way != ShareKind::Tried || !is_given_back(share));
            shares
                .iter_mut()
                .filter(|share| is_given_back(share))
                .for_each(|share| share.way = ShareKind::Found);
            // Nobody finds what nobody took: it comes behind what others took, also if they took it later.
            shares.sort_by_key(|share| share.way == ShareKind::Found);
        } else if shares.iter().any(|share| !is_own(share) && share.way == ShareKind::Tried) {
            shares.retain(|share| !is_given_back(share));
        }
        Some(self.with_shares(shares))
    }

    /// The owners of the claim, the latest last: the calls that have a share and marked it, some of them twice. If
    /// `several` calls set it, a copy is of any of them. `asked` is the call that this is about.
    pub(in crate::run) fn owners(
        &self,
        mark: &LockMark,
        told: &Attribution,
        several: bool,
        asked: CallId,
    ) -> Vec<Owner> {
        let mut owners = Vec::new();
        for share in self.taken.iter().filter(|share| !(share.copied && several)) {
            let Some(owner) = share.taker.owner(mark, told, Some(asked)) else { continue };
            // A call that was granted takes nothing from others: what it does to their claim is done to theirs.
            let takes = owners.is_empty() || !share.granted;
            match share.way {
                ShareKind::Set if takes => owners = vec![owner],
                ShareKind::Counted if takes => owners.push(owner),
                // What its own client took by another call, as an inner acquire does, is its own whoever else marks
                // alike.
                ShareKind::Found if takes && share.only_found && has_client(&owners, owner.0) => {
                    owners.push(owner)
                }
                ShareKind::Found if takes && !owners.is_empty() && is_an_owners(mark, told) => {
                    owners.push(owner)
                }
                _ => {}
            }
        }
        owners
    }
}

fn has_client(owners: &[Owner], client: ClientId) -> bool {
    owners.iter().any(|(owner, _)| *owner == client)
}

/// Whether a mark says whose the claim is: all calls that mark with it are of one client.
fn is_an_owners(mark: &LockMark, told: &Attribution) -> bool {
    matches!(mark.1, Mark::Value(_)) && told.is_of_one_client(mark)
}
