//! What the keys of locks held on each node, stretch by stretch, and what was done to it.
//!
//! A key's value is a set of claims: a string is one, each field of a hash is one, and a key that is a claim whatever
//! it holds is one. A claim that is gone was released, or its time was up. One whose detail (a field's value) or
//! expiry changed was extended. One that another took the place of was neither.
//!
//! Whose claim it is, is answered when the run is over, since a lock may say what marks its keys after the fact. It
//! is that of the call that set it, if that call marked it. Otherwise it is that of the only call that ever marked
//! it, unless several calls set the same: then nobody can tell. A lane that is drawn shows the likeliest.
//!
//! Not modelled: which of several calls that set the same value a replica's or a file's key is from.

use std::collections::BTreeMap;

use doublehold_history::{CallId, LockId, NodeId, TrueNs};
use doublehold_sim_redis::core::{KeyChange, Stored, StoredValue};

use super::attribution::{Attribution, LockMark, Mark, Moment, Owner};
use crate::cast::Cast;
use crate::report::{KeyEnd, KeyOrigin, KeySpan};

/// A stretch of time in which a node held a claim, by its place in the order in which they began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch(usize);

/// What happened to a claim that was there.
#[derive(Clone, Debug)]
pub(super) struct Touch {
    pub(super) claim: Stretch,
    pub(super) how: How,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// It is gone.
    Gone,
    /// It is still there, and something about it was said again or changed.
    Kept,
    /// Another call than the one before set the same.
    SetAgain,
    /// Another took its place.
    Replaced(LockMark),
}

/// Who changed a key, when and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances {
    pub(super) node: NodeId,
    /// Whose key it is.
    pub(super) lock: LockId,
    pub(super) origin: KeyOrigin,
    /// The call that sent the command, if that is known.
    pub(super) sender: Option<CallId>,
    pub(super) at: TrueNs,
    pub(super) moment: Moment,
}

struct Held {
    circumstances: Circumstances,
    mark: LockMark,
    /// The call that set it.
    setter: Option<CallId>,
    /// The same claim, as it was before this setter set it again.
    before: Option<Stretch>,
    until: Option<(TrueNs, KeyEnd)>,
    /// When it expires by its node's clock, in milliseconds.
    expires_at_ms: Option<i64>,
}

/// Who set a claim, on whichever node.
struct Setters {
    last: Option<CallId>,
    /// More than one call did.
    several: bool,
}

/// All stretches of a run.
#[derive(Default)]
pub(super) struct KeyLanes {
    all: Vec<Held>,
    /// The open stretch of each claim that a node holds.
    open: BTreeMap<(NodeId, LockMark), Stretch>,
    setters: BTreeMap<LockMark, Setters>,
}

impl KeyLanes {
    /// How many stretches there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// A node changed a lock's key. `whole`: the key is a claim whatever it holds. What was done to claims that were
    /// there, and which stretches have an expiry to wait for.
    pub(super) fn changed(
        &mut self,
        by: Circumstances,
        change: &KeyChange<'_>,
        whole: bool,
    ) -> (Vec<Touch>, Vec<(Stretch, i64)>) {
        let before = claims(by.lock, change.key, change.before, whole);
        let after = claims(by.lock, change.key, change.after, whole);
        let (mut touches, mut alive) = (Vec::new(), Vec::new());
        for (mark, detail) in &before {
            // A node that takes an expired key away says what was seen already: its time was up before.
            let open = match change.command {
                "EXPIRED" => self.open.get(&(by.node, mark.clone())).copied(),
                _ => Some(self.open_or_reopened(mark, by)),
            };
            let how = match after.get(mark) {
                Some(now) => {
                    let same = open.map(|open| self.kept(open, mark, by, change));
                    alive.extend(same);
                    // Of a hash, other fields may have changed; a count that is counted up says nothing of who has
                    // the key.
                    let may_be_untouched = whole || is_hash(change.after);
                    if may_be_untouched && detail == now && !expiry_changed(change) {
                        continue;
                    }
                    if same == open { How::Kept } else { How::SetAgain }
                }
                None => self.gone(mark, by, change, &after),
            };
            touches.extend(open.map(|claim| Touch { claim, how }));
        }
        for mark in after.keys().filter(|mark| !before.contains_key(*mark)) {
            alive.push(self.begin(mark, by, None));
        }
        let expires_at_ms = change.after.and_then(|after| after.expires_at_ms);
        alive.iter().for_each(|stretch| self.all[stretch.0].expires_at_ms = expires_at_ms);
        let waits = expires_at_ms.map(|at| alive.iter().map(|stretch| (*stretch, at)).collect());
        (touches, waits.unwrap_or_default())
    }

    /// The open stretch of a claim that is there. A replica, or a node whose clock went back, keeps a key whose time
    /// was up: its stretch goes on. What nobody saw begin began with nobody.
    fn open_or_reopened(&mut self, mark: &LockMark, by: Circumstances) -> Stretch {
        if let Some(open) = self.open.get(&(by.node, mark.clone())) {
            return *open;
        }
        let is_it = |held: &Held| held.circumstances.node == by.node && held.mark == *mark;
        match self.all.iter().rposition(is_it) {
            Some(last) if matches!(self.all[last].until, Some((_, KeyEnd::Expired))) => {
                self.all[last].until = None;
                self.open.insert((by.node, mark.clone()), Stretch(last));
                Stretch(last)
            }
            _ => self.begin(mark, Circumstances { sender: None, ..by }, None),
        }
    }

    /// A claim is still there. Its stretch, or a new one if another call than the one that set it has set it again.
    fn kept(&mut self, open: Stretch, mark: &LockMark, by: Circumstances, change: &KeyChange<'_>) -> Stretch {
        let again =
            SETTING.contains(&change.command) && matches!(mark.1, Mark::Value(_)) && !is_hash(change.after);
        if !again || by.sender.is_none() || by.sender == self.all[open.0].setter {
            return open;
        }
        self.end(by.node, mark, by.at, KeyEnd::Overwritten);
        self.begin(mark, by, Some(open))
    }

    fn gone(
        &mut self,
        mark: &LockMark,
        by: Circumstances,
        change: &KeyChange<'_>,
        after: &BTreeMap<LockMark, &[u8]>,
    ) -> How {
        let instead = after.keys().next().filter(|_| !is_hash(change.after) || !is_hash(change.before));
        let end = match instead {
            Some(_) => KeyEnd::Overwritten,
            None if change.command == "EXPIRED" => KeyEnd::Expired,
            None => KeyEnd::Deleted,
        };
        self.end(by.node, mark, by.at, end);
        instead.map_or(How::Gone, |mark| How::Replaced(mark.clone()))
    }

    fn begin(&mut self, mark: &LockMark, by: Circumstances, before: Option<Stretch>) -> Stretch {
        let setters = self.setters.entry(mark.clone());
        let setter = if by.origin == KeyOrigin::Executed {
            let known = setters.or_insert(Setters { last: by.sender, several: false });
            known.several |= known.last != by.sender;
            known.last = by.sender;
            by.sender
        } else {
            setters.or_insert(Setters { last: None, several: false }).last
        };
        let stretch = Stretch(self.all.len());
        let (mark, circumstances) = (mark.clone(), by);
        self.open.insert((by.node, mark.clone()), stretch);
        self.all.push(Held { circumstances, mark, setter, before, until: None, expires_at_ms: None });
        stretch
    }

    fn end(&mut self, node: NodeId, mark: &LockMark, at: TrueNs, how: KeyEnd) {
        if let Some(stretch) = self.open.remove(&(node, mark.clone())) {
            self.all[stretch.0].until = Some((at, how));
        }
    }

    /// The time of a stretch is up by its node's clock, if this is still when it expires.
    pub(super) fn expired(&mut self, stretch: Stretch, expires_at_ms: i64, at: TrueNs) {
        let Some(held) = self.all.get(stretch.0) else { return };
        if held.until.is_none() && held.expires_at_ms == Some(expires_at_ms) {
            let (node, mark) = (held.circumstances.node, held.mark.clone());
            self.end(node, &mark, at, KeyEnd::Expired);
        }
    }

    /// A node's process is gone, with all it held.
    pub(super) fn forgotten(&mut self, node: NodeId, at: TrueNs) {
        let here: Vec<LockMark> =
            self.open.keys().filter(|(on, _)| *on == node).map(|(_, mark)| mark.clone()).collect();
        here.iter().for_each(|mark| self.end(node, mark, at, KeyEnd::Forgotten));
    }

    /// How the claim is known again.
    pub(super) fn mark(&self, claim: Stretch) -> &LockMark {
        &self.all[claim.0].mark
    }

    /// Whose claim it was, where that is certain.
    pub(super) fn owner(&self, claim: Stretch, told: &Attribution) -> Option<Owner> {
        let held = &self.all[claim.0];
        let several = self.setters.get(&held.mark).is_some_and(|setters| setters.several);
        if several && held.circumstances.origin != KeyOrigin::Executed {
            return None;
        }
        self.setter(claim, told).or_else(|| told.only_marker(&held.mark).filter(|_| !several))
    }

    /// The last call that set the claim and marked it.
    fn setter(&self, claim: Stretch, told: &Attribution) -> Option<Owner> {
        let mut next = Some(claim);
        while let Some(held) = next.map(|stretch| &self.all[stretch.0]) {
            let owner = held.setter.and_then(|setter| told.marked_by(&held.mark, setter));
            if owner.is_some() {
                return owner;
            }
            next = held.before;
        }
        None
    }

    /// The lanes, each with its owner; what nobody marked is not drawn.
    pub(super) fn spans(&self, told: &Attribution, cast: &Cast) -> Vec<KeySpan> {
        let span = |(place, held): (usize, &Held)| {
            let Circumstances { node, origin, at, moment, .. } = held.circumstances;
            let owner = self.setter(Stretch(place), told);
            let (client, grant) = owner.or_else(|| told.likely_marker(&held.mark, moment))?;
            let (node, client, lock) = (cast.node(node), cast.client(client), held.mark.0);
            Some(KeySpan { node, lock, grant, client, origin, from: at, until: held.until })
        };
        self.all.iter().enumerate().filter_map(span).collect()
    }
}

/// Commands that set a whole string, whatever was there.
const SETTING: &[&str] = &["SET", "GETSET", "SETEX", "PSETEX", "MSET"];

/// The claims a key's value is, each with its detail.
fn claims<'a>(
    lock: LockId,
    key: &[u8],
    stored: Option<Stored<'a>>,
    whole: bool,
) -> BTreeMap<LockMark, &'a [u8]> {
    let value = |bytes: &[u8]| (lock, Mark::Value(bytes.to_vec()));
    match stored.map(|stored| stored.value) {
        None => BTreeMap::new(),
        Some(_) if whole => BTreeMap::from([((lock, Mark::Key(key.to_vec())), [].as_slice())]),
        Some(StoredValue::String(bytes)) => BTreeMap::from([(value(bytes), [].as_slice())]),
        Some(StoredValue::Hash(fields)) => {
            fields.iter().map(|(name, detail)| (value(name), detail)).collect()
        }
    }
}

fn is_hash(stored: Option<Stored<'_>>) -> bool {
    stored.is_some_and(|stored| matches!(stored.value, StoredValue::Hash(_)))
}

fn expiry_changed(change: &KeyChange<'_>) -> bool {
    change.before.map(|it| it.expires_at_ms) != change.after.map(|it| it.expires_at_ms)
}
