//! A node of a few lines, its replica, and who set what on them: what is to be told of each command, and what is to be
//! drawn.
//!
//! Assumes that the replica's clock is the node's. Not modelled: values that several calls set.

use std::collections::BTreeMap;

use super::{LOCKS, MS, Tells};
use crate::report::{KeyEnd, KeyOrigin};

/// What is to be in the history, and when.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Meaning {
    Touched { lock: u32, by: u64, held: u64, is_release: bool },
    Doubt(&'static str),
}

pub(super) const NO_CALL: &str = "no call of a lock sent the command";
pub(super) const UNMARKED: &str = "no lock had said it marks its keys with";

#[derive(Debug)]
pub(super) struct Call {
    pub(super) lock: usize,
    pub(super) tells: Tells,
    pub(super) granted: bool,
    pub(super) has_changed_a_key: bool,
}

/// A key that is there.
#[derive(Clone, Debug)]
pub(super) struct Key {
    /// The call whose token it holds, by its place.
    pub(super) of: Option<usize>,
    pub(super) expires_at_ms: Option<i64>,
    /// Its place among the stretches.
    stretch: usize,
}

/// Who sent a command, by its place, and when it is executed.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    pub(super) by: Option<usize>,
    pub(super) at: u64,
    pub(super) at_ms: i64,
}

struct Drawn {
    node: usize,
    of: Option<usize>,
    lock: usize,
    origin: KeyOrigin,
    from: u64,
    until: Option<(u64, KeyEnd)>,
}

#[derive(Default)]
pub(super) struct Model {
    pub(super) calls: Vec<Call>,
    pub(super) keys: BTreeMap<usize, Key>,
    /// What the replica has of them, which keeps what has expired until its master says so.
    pub(super) copies: BTreeMap<usize, Key>,
    stretches: Vec<Drawn>,
    /// A claim that was touched, and how: whose it was is known when all is told.
    touched: Vec<(u64, usize, Touch)>,
    changed: [bool; LOCKS.len()],
    pub(super) granted: Vec<usize>,
}

/// What was done to a key that was there.
struct Touch {
    by: Option<usize>,
    by_granted: bool,
    of: Option<usize>,
    how: How,
}

enum How {
    Gone,
    Kept,
    ReplacedBy(Option<usize>),
}

impl Model {
    /// Takes away what has expired by now, each key when its time was up.
    pub(super) fn expire(&mut self, at: u64, at_ms: i64) {
        let is_over = |key: &Key| key.expires_at_ms.is_some_and(|expires| expires < at_ms);
        for key in self.keys.values().chain(self.copies.values()).filter(|key| is_over(key)) {
            // Gone in the first millisecond after the one that it expires at.
            let late_ms = at_ms - key.expires_at_ms.expect("it is over") - 1;
            let gone = at - at % MS - late_ms as u64 * MS;
            self.stretches[key.stretch].until.get_or_insert((gone, KeyEnd::Expired));
        }
        self.keys.retain(|_, key| !is_over(key));
    }

    fn begin(&mut self, lock: usize, of: Option<usize>, origin: KeyOrigin, at: u64, expires: Option<i64>) {
        let (stretch, node) = (self.stretches.len(), usize::from(origin == KeyOrigin::Replicated));
        self.stretches.push(Drawn { node, of, lock, origin, from: at, until: None });
        let keys = if node == 0 { &mut self.keys } else { &mut self.copies };
        keys.insert(lock, Key { of, expires_at_ms: expires, stretch });
    }

    fn touch(&mut self, lock: usize, sent: Sent, of: Option<usize>, how: How) {
        let by_granted = sent.by.is_some_and(|by| self.calls[by].granted);
        self.touched.push((sent.at, lock, Touch { by: sent.by, by_granted, of, how }));
    }

    fn is_changed(&mut self, lock: usize, by: Option<usize>) {
        self.changed[lock] = true;
        by.into_iter().for_each(|by| self.calls[by].has_changed_a_key = true);
    }

    pub(super) fn set(
        &mut self,
        lock: usize,
        sent: Sent,
        of: Option<usize>,
        if_free: bool,
        ttl: Option<u64>,
    ) {
        let expires = ttl.map(|ttl| sent.at_ms + ttl as i64);
        match self.keys.get(&lock).cloned() {
            Some(_) if if_free => return,
            None => self.begin(lock, of, KeyOrigin::Executed, sent.at, expires),
            Some(key) if key.of == of => {
                self.touch(lock, sent, of, How::Kept);
                self.keys.insert(lock, Key { expires_at_ms: expires, ..key });
            }
            Some(key) => {
                self.touch(lock, sent, key.of, How::ReplacedBy(of));
                self.stretches[key.stretch].until = Some((sent.at, KeyEnd::Overwritten));
                self.begin(lock, of, KeyOrigin::Executed, sent.at, expires);
            }
        }
        self.is_changed(lock, sent.by);
    }

    pub(super) fn expires(&mut self, lock: usize, sent: Sent, at: Option<i64>) {
        let Some(key) = self.keys.get_mut(&lock) else { return };
        // To persist what does not expire changes nothing.
        if key.expires_at_ms.is_none() && at.is_none() {
            return;
        }
        key.expires_at_ms = at;
        let of = key.of;
        self.touch(lock, sent, of, How::Kept);
        self.is_changed(lock, sent.by);
    }

    pub(super) fn delete(&mut self, lock: usize, sent: Sent, how: KeyEnd) {
        let Some(key) = self.keys.remove(&lock) else { return };
        self.stretches[key.stretch].until = Some((sent.at, how));
        self.touch(lock, sent, key.of, How::Gone);
        self.is_changed(lock, sent.by);
    }

    /// The keys of the node before are those of the next.
    pub(super) fn restart(&mut self, at: u64) {
        for (lock, key) in std::mem::take(&mut self.keys) {
            self.stretches[key.stretch].until = Some((at, KeyEnd::Forgotten));
            self.begin(lock, key.of, KeyOrigin::Loaded, at, key.expires_at_ms);
        }
    }

    /// The replica has what its master has: what it had is gone, or goes on whatever had become of it.
    pub(super) fn copy(&mut self, lock: usize, at: u64) {
        let (had, has) = (self.copies.remove(&lock), self.keys.get(&lock).cloned());
        let goes_on = had.as_ref().zip(has.as_ref()).is_some_and(|(had, has)| had.of == has.of);
        if let Some(had) = &had {
            let end = if has.is_some() { KeyEnd::Overwritten } else { KeyEnd::Deleted };
            self.stretches[had.stretch].until = (!goes_on).then_some((at, end));
        }
        match (had, has) {
            (Some(had), Some(has)) if goes_on => {
                self.copies.insert(lock, Key { stretch: had.stretch, ..has });
            }
            (_, Some(has)) => self.begin(lock, has.of, KeyOrigin::Replicated, at, has.expires_at_ms),
            (_, None) => {}
        }
    }

    pub(super) fn forget_copies(&mut self, at: u64) {
        for (_, key) in std::mem::take(&mut self.copies) {
            self.stretches[key.stretch].until.get_or_insert((at, KeyEnd::Forgotten));
        }
    }

    /// The owner of what holds this call's token, as far as anybody was told.
    fn owner(&self, of: Option<usize>) -> Option<usize> {
        of.filter(|of| self.calls[*of].tells != Tells::Never)
    }

    pub(super) fn told(&self) -> Vec<(u64, Meaning)> {
        let told =
            self.touched.iter().filter_map(|(at, lock, touch)| Some((*at, self.meaning(*lock, touch)?)));
        let mut told: Vec<_> = told.collect();
        told.sort();
        told
    }

    fn meaning(&self, lock: usize, touch: &Touch) -> Option<Meaning> {
        let Some(by) = touch.by else { return Some(Meaning::Doubt(NO_CALL)) };
        let is_unmarked = |of| self.owner(of).is_none();
        if is_unmarked(touch.of) || matches!(touch.how, How::ReplacedBy(other) if is_unmarked(other)) {
            return Some(Meaning::Doubt(UNMARKED));
        }
        // In an acquire, a token in another's place is a double hold.
        if matches!(touch.how, How::ReplacedBy(_)) && !touch.by_granted {
            return None;
        }
        let [by, held] = [by, touch.of.expect("it is marked")].map(|call| call as u64 + 1);
        Some(Meaning::Touched { lock: lock as u32, by, held, is_release: matches!(touch.how, How::Gone) })
    }

    /// The stretches of known owners.
    pub(super) fn spans(&self) -> Vec<Span> {
        let drawn = self.stretches.iter().filter_map(|it| {
            let call = self.owner(it.of)? as u64 + 1;
            Some((it.node == 0, it.lock as u32, call, it.origin, it.from, it.until))
        });
        drawn.collect()
    }

    /// Words about the first grant for which no key changed.
    pub(super) fn unseen(&self) -> Option<String> {
        let call = *self.granted.iter().find(|call| !self.calls[**call].has_changed_a_key)?;
        let is_any = self.changed[self.calls[call].lock];
        Some(if is_any { format!("(grant {})", call + 1) } else { "no key of that name".to_owned() })
    }
}

/// Whether it is on the master, its lock and call, how the node came by it, and both ends.
pub(super) type Span = (bool, u32, u64, KeyOrigin, u64, Option<(u64, KeyEnd)>);
