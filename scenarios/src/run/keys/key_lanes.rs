//! What the keys of locks held on each node, stretch by stretch, and what was done to it.
//!
//! A key's value is a set of claims (`key_claims.rs`). A claim that is gone was released, or its time was up. One
//! whose expiry or detail changed was extended. One that another took the place of was neither, unless by a call that
//! had its grant already: that took another's key over.
//!
//! Whose claim it is, is answered when the run is over (`key_lanes/owners.rs`), since a lock may say what marks its
//! keys after the fact. It is that of the calls that took it and marked it (`ownership.rs`), and of nobody else: who
//! marked it and did not set it may have had another key. A copy that a replica or a file has is of the call that set
//! it anywhere, if only one did. A lane that is drawn shows the likeliest.
//!
//! **What a count means.** A field's value, or what a key holds that is a claim as a whole, may be a number.
//!
//! - A field counted up by a call that marked it is taken by that call as well: a re-entry, or the owner's next call
//!   after one whose reply was lost. A whole key counted up stays whose it was: others count in vain.
//! - Counted down by as much as the same call counted up, it was given back. Counted down by more, or by a call that
//!   counted nothing up, it was taken from another call: an extension of that one's claim, or a release where nothing
//!   is left.
//! - Set to a number, whatever it was, it is taken as any claim that is set again: by a call that marked it and asks
//!   for the lock it is taken over, by any other it was extended.
//! - A whole key that was counted down to nothing, or set to it, is nobody's, and whoever counts it up next made it.
//!
//! An expiry is the key's, not a field's: a call with a field of its own in it may move it. A call that had its grant
//! and puts its field into a hash beside another's, with none of its own there, changed that one's key.
//!
//! Not modelled: which of several calls that set the same value a replica's or a file's key is from.

mod owners;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use doublehold_history::{CallId, ClientId, LockId, NodeId, TrueNs};
use doublehold_services::SESSION_ENDED;
use doublehold_sim_redis::core::KeyChange;

use super::attribution::{Attribution, LockMark, Mark, Moment, Sender};
use super::claimants::Claimants;
use super::key_claims::{Claims, Step, claims, count, is_hash, is_nothing, sets, step};
use super::ownership::{Share, ShareKind, Shares, Taker};
use crate::report::{KeyEnd, KeyOrigin};
use crate::run::memory_budget;

/// A stretch of time in which a node held a claim, by its place in the order in which they began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::run) struct Stretch(usize);

/// What happened to a claim that was there.
#[derive(Clone, Debug)]
pub(in crate::run) struct Touch {
    pub(in crate::run) claim: Stretch,
    pub(in crate::run) is_of_a_field: bool,
    /// Who had a share of it.
    shares: Shares,
    pub(in crate::run) how: ClaimChange,
    /// Calls with a share that had a claim then, or might yet be granted one.
    pub(in crate::run) live: Box<[CallId]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::run) enum ClaimChange {
    /// It is gone.
    Gone,
    /// It is still there, with these shares, and something about it changed.
    Kept(Shares),
    /// A call took it although it was there, which makes these the shares.
    Taken(Shares),
    /// A call counted down what it had counted up.
    Back,
    /// A call counted down more than it had counted up.
    Lowered,
    /// Another took its place.
    Replaced(LockMark),
}

/// Who changed a key, when and where.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct Circumstances {
    pub(in crate::run) node: NodeId,
    pub(in crate::run) database: usize,
    /// Whose key it is.
    pub(in crate::run) lock: LockId,
    pub(in crate::run) origin: KeyOrigin,
    /// The call that sent the command, if that is known.
    pub(in crate::run) sender: Option<Sender>,
    /// The client that sent it, if it was one.
    pub(in crate::run) client: Option<ClientId>,
    pub(in crate::run) at: TrueNs,
    pub(in crate::run) moment: Moment,
}

/// What is known when a key changes.
#[derive(Clone, Copy)]
pub(in crate::run) struct Known<'a> {
    pub(in crate::run) told: &'a Attribution,
    pub(in crate::run) claimants: &'a Claimants,
    /// The key is a claim whatever it holds.
    pub(in crate::run) whole: bool,
}

struct StretchRecord {
    circumstances: Circumstances,
    mark: LockMark,
    shares: Shares,
    until: Option<(TrueNs, KeyEnd)>,
    /// When it expires by its node's clock, in milliseconds.
    expires_at_ms: Option<i64>,
}

/// Where a claim is: on which node and in which of its databases.
type ClaimPlace = (NodeId, usize, LockMark);

/// Who set a claim, on whichever node.
struct Setters {
    last: Option<Taker>,
    /// More than one did.
    several: bool,
}

/// All stretches of a run.
#[derive(Default)]
pub(in crate::run) struct KeyLanes {
    all: Vec<StretchRecord>,
    /// The open stretch of each claim that a node holds.
    open: BTreeMap<ClaimPlace, Stretch>,
    setters: BTreeMap<(usize, LockMark), Setters>,
    /// What stood when a call was granted, and was not taken by it.
    standing: BTreeMap<CallId, Vec<(Stretch, Shares)>>,
    /// How many shares were written down: a touch keeps those that a claim had then.
    shares_kept: usize,
    /// How many calls were written down as those that might have been harmed.
    live_kept: usize,
    /// Bytes of all this that [`KeyLanes::growth`] has told.
    bytes_told: u64,
}

impl KeyLanes {
    /// Counted bytes of what is remembered since this was asked last.
    pub(in crate::run) fn growth(&mut self) -> u64 {
        let bytes = memory_budget::stretches(self.all.len())
            + memory_budget::shares(self.shares_kept, self.live_kept);
        bytes - std::mem::replace(&mut self.bytes_told, bytes)
    }

    /// A node changed a lock's key. What was done to claims that were there, and the stretches of those that are.
    pub(in crate::run) fn apply_change(
        &mut self,
        by: Circumstances,
        change: &KeyChange<'_>,
        known: Known<'_>,
    ) -> (Vec<Touch>, Vec<Stretch>) {
        let (before, after) = self.claims(by, change, known.whole);
        let intrudes = intrudes(by, change, &before, &after, known.told);
        let (mut touches, mut alive) = (Vec::new(), Vec::new());
        for (mark, had) in &before {
            let open = match change.command {
                // A node that takes an expired key away says what was seen already: its time was up before.
                "EXPIRED" => self.open.get(&place(by, mark)).copied(),
                _ => Some(self.open_or_reopened(mark, by)),
            };
            let Some(open) = open else { continue };
            self.all[open.0].fold_past(known);
            let shares = self.all[open.0].shares.clone();
            let how = match after.get(mark) {
                Some(has) => {
                    let step = step(mark, had, has, change);
                    let (still, how) = self.stays(open, step, count(has), before.len() == 1, by, known);
                    alive.push(still);
                    how
                }
                None => Some(self.remove_claim(mark, by, change, &after)),
            };
            let how = how.or_else(|| intrudes.then(|| ClaimChange::Kept(shares.clone())));
            let is_of_a_field = is_hash(change.before) && matches!(mark.1, Mark::Value(_));
            if let Some(how) = how {
                let live: Box<[CallId]> =
                    shares.calls().filter(|call| known.claimants.may_claim(*call)).collect();
                self.live_kept += live.len();
                // Most changes touch one claim, and each is kept: room for four would be most of what a run takes.
                touches.reserve_exact(1);
                touches.push(Touch { claim: open, is_of_a_field, shares, how, live });
            }
        }
        for (mark, has) in after.iter().filter(|(mark, _)| !before.contains_key(*mark)) {
            let known = by.sender.map(|sender| Share::new(sender, ShareKind::Set, count(has).unwrap_or(0)));
            let made = known.or_else(|| by.client.map(|client| Share::set_by(Taker::One(client))));
            alive.push(self.begin(mark, by, Shares::from_share(made)));
        }
        let expires_at_ms = change.after.and_then(|after| after.expires_at_ms);
        alive.iter().for_each(|stretch| self.all[stretch.0].expires_at_ms = expires_at_ms);
        (touches, alive)
    }

    /// The claims that a key's value was and is.
    fn claims<'a>(&self, by: Circumstances, change: &KeyChange<'a>, whole: bool) -> (Claims<'a>, Claims<'a>) {
        let is_open = |mark| self.open.contains_key(&place(by, &(by.lock, mark)));
        let was_nothing = whole && is_nothing(change.before) && !is_open(Mark::Key(change.key.to_vec()));
        // Where another number was, it is given back by being set to nothing.
        let is_first = change.before.is_none() || is_nothing(change.before);
        let is_made = by.origin == KeyOrigin::Executed && sets(change) && is_first;
        let is_nothing = whole && is_nothing(change.after) && !is_made;
        (
            claims(by.lock, change.key, change.before.filter(|_| !was_nothing), whole),
            claims(by.lock, change.key, change.after.filter(|_| !is_nothing), whole),
        )
    }

    /// The open stretch of a claim that is there. A replica, or a node whose clock went back, keeps a key whose time
    /// was up: its stretch goes on. What nobody saw begin began with nobody.
    fn open_or_reopened(&mut self, mark: &LockMark, by: Circumstances) -> Stretch {
        let place = place(by, mark);
        if let Some(open) = self.open.get(&place) {
            return *open;
        }
        let is_it = |held: &StretchRecord| held.place() == place;
        match self.all.iter().rposition(is_it) {
            Some(last) if matches!(self.all[last].until, Some((_, KeyEnd::Expired))) => {
                self.all[last].until = None;
                self.open.insert(place, Stretch(last));
                Stretch(last)
            }
            _ => self.begin(mark, Circumstances { sender: None, ..by }, Shares::default()),
        }
    }

    /// A claim is still there, at this count. Its stretch, or a new one if it is drawn as another call's now; and what
    /// was done to it, if anything. `alone`: it is the only claim of its key.
    fn stays(
        &mut self,
        open: Stretch,
        step: Step,
        count: Option<i64>,
        alone: bool,
        by: Circumstances,
        Known { told, claimants, .. }: Known<'_>,
    ) -> (Stretch, Option<ClaimChange>) {
        let StretchRecord { mark, shares, .. } = &self.all[open.0];
        let Some(sender) = by.sender else { return (open, self.stays_by_nobody(open, step, by.origin)) };
        let marked = told.marked_by(mark, sender.call).is_some();
        // What is told later of one claim is not expected of each field of a hash.
        let may_be_its_own = marked || alone && told.may_have_marked(mark, sender.call);
        let has_share = shares.has(sender.call, told);
        let means_something = |it: &Share| !it.is_over(claimants);
        match (step, &mark.1) {
            (Step::None, _) => (open, None),
            (Step::SetAlike, _) if !may_be_its_own => (open, None),
            // What it has it has, whatever it sets it to.
            (Step::SetAlike, _) if sender.granted && has_share => (open, None),
            (Step::Set, _) if sender.granted && has_share => (open, Some(ClaimChange::Kept(shares.clone()))),
            (Step::Set | Step::SetAlike, _) => {
                let share = Share::new(sender, ShareKind::Set, count.unwrap_or(0));
                let is_its_own = marked && !sender.granted;
                let set = shares
                    .and(share, |it| !is_its_own && !it.is_of(sender.call, told) && means_something(it));
                let how = (step == Step::Set).then(|| ClaimChange::Taken(set.clone()));
                (self.retake(open, set, by), how)
            }
            (Step::Kept, Mark::Value(_)) if !sender.granted && may_be_its_own && !has_share => {
                let found = shares.and(Share::new(sender, ShareKind::Found, 0), means_something);
                (self.retake(open, found.clone(), by), Some(ClaimChange::Kept(found)))
            }
            (Step::Kept, _) => (open, Some(ClaimChange::Kept(shares.clone()))),
            (Step::Up(more), Mark::Key(_)) => {
                let tried = || shares.and(Share::new(sender, ShareKind::Tried, more), means_something);
                let shares = shares.more(sender.call, more, told).unwrap_or_else(tried);
                (self.retake(open, shares, by), None)
            }
            (Step::Up(more), Mark::Value(_)) => match shares.more(sender.call, more, told) {
                Some(shares) => (self.retake(open, shares.clone(), by), Some(ClaimChange::Kept(shares))),
                None => {
                    let counted = shares.and(Share::new(sender, ShareKind::Counted, more), means_something);
                    (self.retake(open, counted.clone(), by), Some(ClaimChange::Taken(counted)))
                }
            },
            (Step::Down(less), _) => match shares.less(sender.call, less, told) {
                Some(shares) => (self.retake(open, shares, by), Some(ClaimChange::Back)),
                None => {
                    // A copy does not know who had counted up before it was made: this may be what its call did.
                    let shares = &mut self.all[open.0].shares;
                    shares.unsure |= shares.are_copied();
                    (open, Some(ClaimChange::Lowered))
                }
            },
        }
    }

    /// A claim is still there after a command of which nobody knows the call.
    fn stays_by_nobody(&mut self, open: Stretch, step: Step, origin: KeyOrigin) -> Option<ClaimChange> {
        let StretchRecord { mark, shares, .. } = &mut self.all[open.0];
        let before = ClaimChange::Kept(shares.clone());
        shares.unsure |= origin == KeyOrigin::Executed && !matches!(step, Step::None | Step::Kept);
        let is_nothing = match step {
            Step::None | Step::SetAlike => true,
            Step::Up(_) => matches!(mark.1, Mark::Key(_)),
            Step::Set | Step::Kept | Step::Down(_) => false,
        };
        (!is_nothing).then_some(before)
    }

    /// A claim that is there has these shares from now on: in a stretch of its own if it is drawn as another call's.
    fn retake(&mut self, open: Stretch, shares: Shares, by: Circumstances) -> Stretch {
        self.shares_kept += shares.len();
        let held = &mut self.all[open.0];
        if held.shares.drawn_taker() == shares.drawn_taker() {
            held.shares = shares;
            return open;
        }
        let mark = held.mark.clone();
        self.end(&place(by, &mark), by.at, KeyEnd::Overwritten);
        self.begin(&mark, by, shares)
    }

    fn remove_claim(
        &mut self,
        mark: &LockMark,
        by: Circumstances,
        change: &KeyChange<'_>,
        after: &Claims<'_>,
    ) -> ClaimChange {
        let instead = after.keys().next().filter(|_| !is_hash(change.after) || !is_hash(change.before));
        let end = match instead {
            Some(_) => KeyEnd::Overwritten,
            None if change.command == "EXPIRED" => KeyEnd::Expired,
            None if change.command == "EVICTED" => KeyEnd::Evicted,
            None if change.command == SESSION_ENDED => KeyEnd::SessionEnded,
            // A copy goes like that as well when its node starts over with another's data.
            None if change.command == "FLUSHALL" && by.origin == KeyOrigin::Executed => KeyEnd::Flushed,
            None => KeyEnd::Deleted,
        };
        self.end(&place(by, mark), by.at, end);
        instead.map_or(ClaimChange::Gone, |mark| ClaimChange::Replaced(mark.clone()))
    }

    fn begin(&mut self, mark: &LockMark, by: Circumstances, shares: Shares) -> Stretch {
        let setters = self.setters.entry((by.database, mark.clone()));
        let shares = if by.origin == KeyOrigin::Executed {
            let setter = shares.drawn_taker();
            let known = setters.or_insert(Setters { last: setter, several: false });
            known.several |= known.last != setter;
            known.last = setter;
            shares
        } else {
            let setter = setters.or_insert(Setters { last: None, several: false }).last;
            Shares::from_share(setter.map(Share::copied_by))
        };
        let stretch = Stretch(self.all.len());
        self.open.insert(place(by, mark), stretch);
        let (mark, circumstances) = (mark.clone(), by);
        self.all.push(StretchRecord { circumstances, mark, shares, until: None, expires_at_ms: None });
        stretch
    }

    fn end(&mut self, place: &ClaimPlace, at: TrueNs, how: KeyEnd) {
        if let Some(stretch) = self.open.remove(place) {
            self.all[stretch.0].until = Some((at, how));
        }
    }

    /// A call was granted a lock. It may rest on keys that an earlier call of its owner took: of a majority of nodes,
    /// it may have taken some itself and found others.
    pub(in crate::run) fn record_found(&mut self, call: CallId, known: (&Attribution, &Claimants)) {
        let (told, claimants) = known;
        for stretch in self.open.values() {
            let held = &mut self.all[stretch.0];
            let has_share = held.shares.has(call, told);
            let is_marked =
                matches!(held.mark.1, Mark::Value(_)) && told.marked_by(&held.mark, call).is_some();
            if is_marked && !has_share {
                let share = Share::new(Sender { call, granted: false }, ShareKind::Found, 0);
                held.shares = held.shares.and(share, |it| !it.is_over(claimants));
                self.shares_kept += held.shares.len();
                self.standing.entry(call).or_default().push((*stretch, held.shares.clone()));
            }
        }
    }

    /// The time of a stretch is up by its node's clock, if this is still when it expires.
    pub(in crate::run) fn expire(&mut self, stretch: Stretch, expires_at_ms: i64, at: TrueNs) {
        let Some(held) = self.all.get(stretch.0) else { return };
        if held.until.is_none() && held.expires_at_ms == Some(expires_at_ms) {
            self.end(&held.place(), at, KeyEnd::Expired);
        }
    }

    /// A node's process is gone, with all it held.
    pub(in crate::run) fn forget_node(&mut self, node: NodeId, at: TrueNs) {
        let here: Vec<ClaimPlace> = self.open.keys().filter(|(on, ..)| *on == node).cloned().collect();
        here.iter().for_each(|place| self.end(place, at, KeyEnd::Forgotten));
    }
}

impl StretchRecord {
    fn fold_past(&mut self, Known { told, claimants, .. }: Known<'_>) {
        self.shares.fold_past(&self.mark, told, claimants);
    }

    fn place(&self) -> ClaimPlace {
        place(self.circumstances, &self.mark)
    }
}

impl Touch {
    /// Whether only calls that had counted up in vain had a share.
    pub(in crate::run) fn is_in_vain(&self) -> bool {
        self.shares.are_in_vain()
    }

    /// Whether it is known who set it, and all of them are such calls.
    pub(in crate::run) fn is_set_by(&self, is_such: impl Fn(CallId) -> bool) -> bool {
        self.shares.are_known() && self.shares.calls().all(is_such)
    }

    /// Whether it was a replica's or a file's copy.
    pub(in crate::run) fn is_copied(&self) -> bool {
        self.shares.are_copied()
    }

    /// Whether it is known whose every share is. Of a copy it is not known who had counted it up before it was made.
    pub(in crate::run) fn is_sure(&self) -> bool {
        !(self.shares.unsure || self.how == ClaimChange::Lowered && self.is_copied())
    }

    /// Whether nobody is known to have set it.
    pub(in crate::run) fn is_set_by_nobody(&self) -> bool {
        self.shares.is_empty()
    }
}

fn place(by: Circumstances, mark: &LockMark) -> ClaimPlace {
    (by.node, by.database, mark.clone())
}

/// Whether a call that had its grant puts a claim of its own into a hash in which there were others: its lease is over,
/// and it acts as if it were not.
fn intrudes(
    by: Circumstances,
    change: &KeyChange<'_>,
    before: &Claims<'_>,
    after: &Claims<'_>,
    told: &Attribution,
) -> bool {
    let Some(sender) = by.sender.filter(|sender| sender.granted && is_hash(change.before)) else {
        return false;
    };
    let mut new = after.keys().filter(|mark| !before.contains_key(*mark));
    new.any(|mark| told.marked_by(mark, sender.call).is_some())
}
