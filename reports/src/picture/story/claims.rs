//! Claims as events: asked, refused, granted, past its deadline, given back.

use std::collections::{BTreeMap, BTreeSet};

use doublehold_history::instant;
use doublehold_history::{CallId, ClientId, EventKind, LockId, Overlap, ReleaseOutcome, TrueNs};
use doublehold_lockimpl::Refusal;
use doublehold_text::{clean, duration, list};

use super::{Phase, Rank, StoryEvent};
use crate::picture::facts::Facts;

pub(super) fn events(facts: &Facts<'_>) -> Vec<StoryEvent> {
    let mut collected = ClaimEvents {
        facts,
        events: Vec::new(),
        refusals: BTreeMap::new(),
        claimed: BTreeSet::new(),
        asked: BTreeMap::new(),
        lost: None,
        running: BTreeSet::new(),
    };
    for event in facts.run.history.events() {
        collected.see(event.at, &event.what);
    }
    collected.events
}

/// Events collected so far, and which of them a client's next refusal only repeats.
struct ClaimEvents<'a> {
    facts: &'a Facts<'a>,
    events: Vec<StoryEvent>,
    refusals: BTreeMap<(ClientId, LockId), Refusals>,
    /// The grants that are claimed at the event that is being read.
    claimed: BTreeSet<(ClientId, CallId)>,
    /// When each client's last acquire call began.
    asked: BTreeMap<ClientId, TrueNs>,
    /// The last extension that failed: a client that stops at that instant stops because of it.
    lost: Option<(CallId, TrueNs)>,
    /// The grants with a deadline that has not passed.
    running: BTreeSet<CallId>,
}

/// Refusals of a lock to one client in a row, for one reason.
struct Refusals {
    /// Where its first one is among the events.
    event: usize,
    verb: String,
    why: String,
    count: usize,
}

impl ClaimEvents<'_> {
    fn see(&mut self, at: TrueNs, what: &EventKind) {
        match what {
            EventKind::AcquireStarted { client, .. } => {
                self.asked.insert(*client, at);
            }
            EventKind::Granted { client, grant, lock, fencing, deadline, .. } => {
                self.running.extend(deadline.map(|_| *grant));
                self.record_grant(at, *client, *grant, *lock, *fencing);
            }
            EventKind::Refused { client, call, why } => self.record_refusal(at, *client, *call, why, true),
            EventKind::AcquireUnknown { client, call, why } => {
                self.record_refusal(at, *client, *call, why, false)
            }
            EventKind::DeadlinePassed { client, grant } => {
                self.running.remove(grant);
                self.deadline_passed(at, *client, *grant);
            }
            EventKind::ExpiryNoticed { client, grant } => self.record_loss(at, *client, *grant),
            EventKind::LossNotice { client, grant, notice, .. } => {
                let words = format!("{}'s library says {}", self.facts.client(*client), clean(notice));
                self.add(at, *client, self.rank(*grant, Rank::Cause), words);
            }
            EventKind::Extended { client, grant, deadline } => {
                self.running.extend(deadline.map(|_| *grant));
                let (name, of) = (self.facts.client(*client), self.facts.lock_phrase(*grant));
                let words = format!("{name} extends its lease{of}");
                self.add(at, *client, self.rank(*grant, Rank::Cause), words);
            }
            EventKind::ExtendFailed { client, grant, why } => {
                let (name, of) = (self.facts.client(*client), self.facts.lock_phrase(*grant));
                let words = format!("{name} cannot extend its lease{of}: {}", clean(why));
                self.lost = Some((*grant, at));
                self.add(at, *client, self.rank(*grant, Rank::Cause), words);
            }
            EventKind::ReleaseCalled { client, grant } => {
                let (name, of) = (self.facts.client(*client), self.facts.lock_phrase(*grant));
                let words = format!("{name} calls release{of}");
                self.end_claim(at, *client, *grant, words, Rank::Effect);
            }
            EventKind::Abandoned { client, grant } => {
                let name = self.facts.client(*client);
                let lock = self.facts.the_lock(self.facts.lock_of(*grant));
                let words = format!("{name} leaves {lock} without giving it back");
                self.end_claim(at, *client, *grant, words, Rank::Effect);
            }
            EventKind::ReleaseReturned { client, grant, outcome: ReleaseOutcome::NotOwner } => {
                let lock = self.facts.the_lock(self.facts.lock_of(*grant));
                let words = format!("{} learns that it no longer held {lock}", self.facts.client(*client));
                self.add(at, *client, self.rank(*grant, Rank::Effect), words);
            }
            EventKind::Died { client } => self.record_death(at, *client),
            EventKind::Restarted { client } => {
                self.add_consequence(at, *client, Rank::Effect, "runs again, remembering nothing")
            }
            EventKind::GaveUp { client, call } => {
                let asking = match self.facts.has_several_locks() {
                    true => format!(" asking for {}", self.facts.the_lock(self.facts.lock_of(*call))),
                    false => String::new(),
                };
                let left_out = self.facts.left_out(*call);
                self.add_consequence(at, *client, Rank::Effect, &format!("gives up{asking}{left_out}"));
            }
            _ => {}
        }
    }

    fn record_grant(
        &mut self,
        at: TrueNs,
        client: ClientId,
        grant: CallId,
        lock: LockId,
        fencing: Option<u64>,
    ) {
        self.refusals.remove(&(client, lock));
        self.claimed.insert((client, grant));
        let mut words = format!(r#"{} is granted "{}""#, self.facts.client(client), self.facts.lock(lock));
        if let Some(nodes) = self.nodes_of(grant) {
            words.push_str(&format!(" by {nodes}"));
        }
        if let Some(number) = fencing {
            words.push_str(&format!(", with fencing number {number}"));
        }
        let others = self.others_holding(at, grant);
        if !others.is_empty() {
            let believe =
                if others.len() == 1 { "believes in its own grant" } else { "believe in their own grants" };
            words.push_str(&format!(", while {} still {believe}: double hold", list(&others)));
        }
        let waited = self.facts.waits_too_long(client, at);
        let rank = match () {
            () if self.facts.decides(grant) => Rank::Decides,
            () if waited => Rank::Proof,
            () => self.rank(grant, Rank::Proof),
        };
        self.add(at, client, rank, words);
    }

    /// The nodes that said yes to the grant, where there are several to ask.
    fn nodes_of(&self, grant: CallId) -> Option<String> {
        if !self.facts.has_several_nodes() {
            return None;
        }
        let names: Vec<String> =
            self.facts.nodes_of(grant).into_iter().map(|node| self.facts.host(node)).collect();
        (!names.is_empty()).then(|| list(&names))
    }

    /// Who else holds from this moment on, by the evidence.
    fn others_holding(&self, at: TrueNs, grant: CallId) -> Vec<String> {
        let overlaps = self.facts.overlaps_of(grant).iter();
        let begins = overlaps.filter(|it| it.from == at && it.grants[1] == grant);
        // One may hold it by several grants.
        let mut others: Vec<ClientId> = Vec::new();
        for other in begins.map(|it| it.clients[0]) {
            if !others.contains(&other) {
                others.push(other);
            }
        }
        others.into_iter().map(|other| self.facts.client(other)).collect()
    }

    /// `surely`: it was told so.
    fn record_refusal(&mut self, at: TrueNs, client: ClientId, call: CallId, why: &str, surely: bool) {
        let (name, lock) = (self.facts.client(client), self.facts.lock_of(call));
        let verb = match surely {
            true if self.facts.has_several_locks() => format!("is refused {}", self.facts.the_lock(lock)),
            true => "is refused".to_owned(),
            false => format!("does not learn whether it was granted {}", self.facts.the_lock(lock)),
        };
        // A lock that counted the time itself has said so.
        let more =
            if why.starts_with(Refusal::TOO_LATE) { String::new() } else { self.overrun_words(at, client) };
        let why = clean(why) + &more;
        let row = self.refusals.get_mut(&(client, lock));
        if let Some(row) = row.filter(|row| row.verb == verb && row.why == why) {
            row.count += 1;
            self.events[row.event].words =
                format!("{name} {verb}: {why} ({} times, until {})", row.count, instant(at));
            return;
        }
        let host = self.facts.host_of(client);
        // A refusal after a fault on the client itself, or in a wait that is too long, is what a scenario may be about;
        // others are waiting in line.
        let struck = host.is_some_and(|host| self.facts.faults.was_stopped_by(host, at));
        let rank = if struck || self.facts.waits_too_long(client, at) { Rank::Proof } else { Rank::Queueing };
        let event = StoryEvent {
            refused: Some(lock),
            ..StoryEvent::new(at, rank, host, format!("{name} {verb}: {why}"))
        };
        self.refusals.insert((client, lock), Refusals { event: self.events.len(), verb, why, count: 1 });
        self.events.push(event);
    }

    /// How long a call took that outlived the lease it asked for; nothing for any other.
    fn overrun_words(&self, at: TrueNs, client: ClientId) -> String {
        let took = self.asked.get(&client).map_or(0, |asked| at.since(*asked));
        let lease = self.facts.host_of(client).and_then(|host| self.facts.run.leases.get(&host));
        match lease.map(|lease| u64::try_from(lease.as_nanos())) {
            Some(Ok(lease)) if took >= lease => {
                format!(
                    "; {} had passed since it asked, and the lease is {}",
                    duration(took),
                    duration(lease)
                )
            }
            _ => String::new(),
        }
    }

    /// A client stops, since its lease is over or its lock is lost.
    fn record_loss(&mut self, at: TrueNs, client: ClientId, grant: CallId) {
        let (name, of) = (self.facts.client(client), self.facts.lock_phrase(grant));
        let words = match self.lost {
            Some((lost, when)) if lost == grant && when == at => {
                format!("{name} stops, its lease{of} being lost")
            }
            _ if self.running.contains(&grant) => {
                format!("{name} is told that its lease{of} is lost, and stops")
            }
            _ => format!("{name} notices that its lease{of} has expired, and stops"),
        };
        self.end_claim(at, client, grant, words, Rank::Cause);
    }

    fn deadline_passed(&mut self, at: TrueNs, client: ClientId, grant: CallId) {
        let Some(claim) = self.facts.claim(grant).filter(|claim| claim.span.from <= at && at < claim.span.to)
        else {
            return; // nobody relied on it any more
        };
        let (name, clock) = (self.facts.client(client), claim.clock.as_str());
        let of = self.facts.lock_phrase(grant);
        let mut words = format!("{name}'s own deadline{of} passes on its {clock} clock");
        if let Some(stopped) =
            self.facts.host_of(client).and_then(|host| self.facts.faults.stop_word(host, at))
        {
            words.push_str(&format!("; {name} is {stopped} and cannot notice"));
        }
        self.add(at, client, self.rank(grant, Rank::Cause), words);
    }

    /// A claim ended, and perhaps double holds with it.
    fn end_claim(&mut self, at: TrueNs, client: ClientId, grant: CallId, mut words: String, rank: Rank) {
        // A release after the client noticed that its lease had expired ends nothing more.
        let held = self.claimed.remove(&(client, grant));
        let mut rank = self.rank(grant, rank);
        for (other, from) in self.double_holds_over(at, grant).into_iter().filter(|_| held) {
            let (other, long) = (self.facts.client(other), duration(at.since(from)));
            words.push_str(&format!("; end of its double hold with {other}, after {long}"));
            rank = Rank::Proof;
        }
        self.add(at, client, rank, words);
    }

    /// With whom a client holds no longer when one of its grants ends, and since when it did so by that. Who holds by
    /// another grant as well goes on.
    fn double_holds_over(&self, at: TrueNs, grant: CallId) -> Vec<(ClientId, TrueNs)> {
        let sides = |it: &Overlap, of: CallId| {
            let (own, other) = if it.grants[0] == of { (0, 1) } else { (1, 0) };
            (it.clients[own], it.clients[other], it.grants[other])
        };
        let mut over: Vec<(ClientId, TrueNs)> = Vec::new();
        for overlap in self.facts.overlaps_of(grant).iter().filter(|it| it.to == at && !it.open_ended) {
            let (own, other, theirs) = sides(overlap, grant);
            let mut with_other = self.facts.overlaps_of(theirs).iter();
            let goes_on = with_other.any(|it| {
                let runs = it.from <= at && (at < it.to || it.open_ended);
                runs && sides(it, theirs).1 == own
            });
            match over.iter_mut().find(|(known, _)| *known == other) {
                _ if goes_on => {}
                Some((_, from)) => *from = overlap.from.min(*from),
                None => over.push((other, overlap.from)),
            }
        }
        over
    }

    fn record_death(&mut self, at: TrueNs, client: ClientId) {
        let had = self.claimed.len();
        self.claimed.retain(|(holder, _)| *holder != client);
        let claim = match had - self.claimed.len() {
            0 => "",
            1 => ", and with it its claim",
            _ => ", and with it its claims",
        };
        let words = format!("{}'s process is gone{claim}", self.facts.client(client));
        self.events.push(
            StoryEvent::new(at, Rank::Cause, self.facts.host_of(client), words)
                .with_phase(Phase::Consequence),
        );
    }

    /// The rank of an event of a grant: routine if no verdict turns on the grant.
    fn rank(&self, grant: CallId, involved: Rank) -> Rank {
        if self.facts.is_involved(grant) { involved } else { Rank::Routine }
    }

    fn add_consequence(&mut self, at: TrueNs, client: ClientId, rank: Rank, what: &str) {
        let words = format!("{} {what}", self.facts.client(client));
        self.events.push(
            StoryEvent::new(at, rank, self.facts.host_of(client), words).with_phase(Phase::Consequence),
        );
    }

    fn add(&mut self, at: TrueNs, client: ClientId, rank: Rank, words: String) {
        self.events.push(StoryEvent::new(at, rank, self.facts.host_of(client), words));
    }
}
