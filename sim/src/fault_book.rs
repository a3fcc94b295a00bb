//! The planned faults of a run: which event each waits for, which have struck, and what is sure to come yet.

use std::time::Duration;

use crate::fault::{Fault, Pattern, PlannedFault, Struck, Trigger};
use crate::life::LifeNumber;
use crate::time::SimTime;
use crate::trace::{Event, HostId};

/// The planned faults of a run and how far each has come.
#[derive(Debug, Default)]
pub struct FaultBook {
    planned: Vec<Entry>,
    /// The entries that still wait for an event.
    waiting: Vec<Watch>,
    /// The kinds of events that they wait for, a bit each.
    kinds: u8,
    /// Entries that matched and strike at once, as soon as the kernel has finished what it is doing.
    pub due: Vec<usize>,
}

/// What an entry waits for now, at a glance: every event of a run is looked at, and nearly all are none of those.
#[derive(Debug)]
struct Watch {
    entry: usize,
    kind: EventKind,
    /// About which host; about any, if `None`.
    host: Option<HostId>,
}

/// The kinds of events that faults can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventKind {
    Mark,
    ClockRead,
    TimerFired,
    Sent,
    Delivered,
    Ended,
    Booted,
}

impl EventKind {
    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// Which kind an event is, and which host it is about, if a fault can wait for it.
#[inline(always)] // where the kind is known, all but the host falls away
fn glance(event: &Event) -> Option<(EventKind, HostId)> {
    Some(match *event {
        Event::Mark { host, .. } => (EventKind::Mark, host),
        Event::ClockRead { host, .. } => (EventKind::ClockRead, host),
        Event::TimerFired { host } => (EventKind::TimerFired, host),
        Event::Sent { from, .. } => (EventKind::Sent, from),
        Event::Delivered { to, .. } => (EventKind::Delivered, to),
        Event::Ended { host, .. } => (EventKind::Ended, host),
        Event::Booted { host } => (EventKind::Booted, host),
        Event::Ran { .. }
        | Event::Connecting { .. }
        | Event::Accepted { .. }
        | Event::Held { .. }
        | Event::Synced { .. }
        | Event::Fault { .. } => return None,
    })
}

impl Watch {
    fn from_pattern(entry: usize, pattern: &Pattern) -> Watch {
        let (kind, host) = match *pattern {
            Pattern::Mark { host, .. } => (EventKind::Mark, host),
            Pattern::ClockRead { host } => (EventKind::ClockRead, Some(host)),
            Pattern::TimerFired { host } => (EventKind::TimerFired, Some(host)),
            Pattern::Sent { host, .. } => (EventKind::Sent, Some(host)),
            Pattern::Delivered { host, .. } => (EventKind::Delivered, Some(host)),
            Pattern::Ended { host } => (EventKind::Ended, Some(host)),
            Pattern::Booted { host } => (EventKind::Booted, Some(host)),
        };
        Watch { entry, kind, host }
    }

    fn may_wait_for(&self, kind: EventKind, host: HostId) -> bool {
        self.kind == kind && self.host.is_none_or(|wanted| wanted == host)
    }
}

#[derive(Debug)]
struct Entry {
    plan: PlannedFault,
    /// Progress through the occurrences: which one, and how many of it were seen.
    stage: usize,
    seen: u32,
    /// Every time it struck.
    strikes: Vec<Strike>,
    /// How many of those were taken back. Each lasts as long as any other, so the first to strike is over first.
    over: usize,
}

#[derive(Debug)]
struct Strike {
    struck: Struck,
    /// For each fault, the life that it stopped, if it is one that stops a host.
    stopped: Vec<Option<LifeNumber>>,
}

impl Entry {
    /// Counts an event that this entry may wait for. After the last one: how much later it strikes.
    fn observe(&mut self, event: &Event) -> Option<Duration> {
        let Trigger::On { occurrences, offset, each } = &self.plan.trigger else { return None };
        let awaited = occurrences.get(self.stage)?;
        if !awaited.pattern.matches(event) {
            return None;
        }
        self.seen += 1;
        if self.seen < awaited.nth {
            return None;
        }
        self.stage += 1;
        self.seen = 0;
        if self.stage < occurrences.len() {
            return None;
        }
        if *each {
            self.stage = 0;
        }
        Some(*offset)
    }

    /// What it waits for now, if it waits for an event.
    fn awaited_pattern(&self) -> Option<&Pattern> {
        let Trigger::On { occurrences, .. } = &self.plan.trigger else { return None };
        Some(&occurrences.get(self.stage)?.pattern)
    }

    fn strikes_again(&self) -> bool {
        matches!(self.plan.trigger, Trigger::On { each: true, .. })
    }

    /// How many of its strikes will yet be taken back.
    fn to_undo(&self) -> usize {
        if self.plan.lasting.is_some() { self.strikes.len() - self.over } else { 0 }
    }

    fn undoes(&self, what: &Fault) -> bool {
        self.plan.faults.iter().filter_map(Fault::undo).any(|undo| undo == *what)
    }

    /// Whether this entry has yet to start the host by itself, whatever killed it.
    fn will_start(&self, host: HostId) -> bool {
        let may_strike = self.strikes.is_empty() || self.strikes_again();
        may_strike && self.plan.faults.contains(&Fault::Start { host })
    }

    /// How many of the host's deaths it will yet take back.
    fn deaths_to_undo(&self, host: HostId) -> usize {
        let start = Fault::Start { host };
        let deaths = self.plan.faults.iter().filter(|fault| fault.undo().as_ref() == Some(&start)).count();
        deaths * self.to_undo()
    }

    /// How often this entry is sure to do this yet: when its time comes, and by taking back what it did.
    fn will_do(&self, what: &Fault) -> usize {
        let sure = self.strikes.is_empty() && matches!(self.plan.trigger, Trigger::At(_));
        let undone = if self.undoes(what) { self.to_undo() } else { 0 };
        usize::from(sure && self.plan.faults.contains(what)) + undone
    }
}

/// What the kernel must do because of a matched trigger.
pub enum Matched {
    /// The fault of this number strikes now.
    Now(usize),
    /// The fault of this number strikes so much later.
    Later(usize, Duration),
}

impl FaultBook {
    /// Adds a fault to the book. Returns its number, and its time if it waits for one.
    pub fn plan(&mut self, plan: PlannedFault) -> (usize, Option<SimTime>) {
        let number = self.planned.len();
        let at = match &plan.trigger {
            Trigger::At(at) => Some(*at),
            Trigger::On { .. } => None,
        };
        let entry = Entry { plan, stage: 0, seen: 0, strikes: Vec::new(), over: 0 };
        self.waiting.extend(entry.awaited_pattern().map(|pattern| Watch::from_pattern(number, pattern)));
        self.planned.push(entry);
        self.sum_up();
        (number, at)
    }

    /// Whether a fault may wait for this event, by its kind and host.
    #[inline(always)]
    pub fn watches(&self, event: &Event) -> bool {
        match glance(event) {
            Some((kind, host)) => self.kinds & kind.bit() != 0 && self.watches_host(kind, host),
            None => false,
        }
    }

    #[inline(never)] // what is in every step of a run is kept short
    fn watches_host(&self, kind: EventKind, host: HostId) -> bool {
        self.waiting.iter().any(|watch| watch.may_wait_for(kind, host))
    }

    /// Shows an event to every waiting fault.
    pub fn observe(&mut self, event: &Event, mut matched: impl FnMut(Matched)) {
        let planned = &mut self.planned;
        self.waiting.retain_mut(|watch| {
            let entry = &mut planned[watch.entry];
            let struck = entry.observe(event);
            match struck {
                Some(offset) if offset.is_zero() => matched(Matched::Now(watch.entry)),
                Some(offset) => matched(Matched::Later(watch.entry, offset)),
                None => {}
            }
            // After the last occurrence there is nothing more, unless it strikes again.
            entry.awaited_pattern().is_some_and(|pattern| {
                *watch = Watch::from_pattern(watch.entry, pattern);
                true
            })
        });
        self.sum_up();
    }

    fn sum_up(&mut self) {
        self.kinds = self.waiting.iter().fold(0, |kinds, watch| kinds | watch.kind.bit());
    }

    /// The planned fault of this number.
    pub fn entry(&self, number: usize) -> &PlannedFault {
        &self.planned[number].plan
    }

    /// A fault strikes now.
    pub fn strikes(&mut self, number: usize, now: SimTime) {
        let struck = Struck { from: now, until: None };
        self.planned[number].strikes.push(Strike { struck, stopped: Vec::new() });
    }

    /// Which of a fault's strikes, counted from 0, is under way.
    pub fn latest_strike(&self, number: usize) -> usize {
        self.planned[number].strikes.len() - 1
    }

    /// The strike of a fault that lasts longest is over now. For each of its faults, the life that it stopped.
    pub fn is_over(&mut self, number: usize, now: SimTime) -> Vec<Option<LifeNumber>> {
        let entry = &mut self.planned[number];
        let Some(strike) = entry.strikes.get_mut(entry.over) else { return Vec::new() };
        entry.over += 1;
        strike.struck.until = Some(now);
        std::mem::take(&mut strike.stopped)
    }

    /// Whether the plan still has a start for this host; until then a dead one is not down for good.
    pub fn will_start(&self, host: HostId) -> bool {
        self.planned.iter().any(|entry| entry.will_start(host))
    }

    /// How many of the host's deaths will be taken back.
    pub fn deaths_to_undo(&self, host: HostId) -> usize {
        self.planned.iter().map(|entry| entry.deaths_to_undo(host)).sum()
    }

    /// How often planned faults are sure to do this yet.
    pub fn to_come(&self, what: &Fault) -> usize {
        self.planned.iter().map(|entry| entry.will_do(what)).sum()
    }

    /// The strike that is under way stopped this life.
    pub fn remember_stopped(&mut self, number: usize, stopped: Option<LifeNumber>) {
        self.planned[number].strikes.last_mut().into_iter().for_each(|strike| strike.stopped.push(stopped));
    }

    /// Every time that each planned fault struck.
    pub fn outcomes(&self) -> Vec<Vec<Struck>> {
        let of_entry = |entry: &Entry| entry.strikes.iter().map(|strike| strike.struck).collect();
        self.planned.iter().map(of_entry).collect()
    }
}
