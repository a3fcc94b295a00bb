//! The planned faults of a run: which event each waits for, which have struck, and what is sure to come yet.

use std::time::Duration;

use crate::fault::{Fault, PlannedFault, Struck, Trigger};
use crate::life::LifeNumber;
use crate::time::SimTime;
use crate::trace::{Event, HostId};

/// The planned faults of a run and how far each has come.
#[derive(Debug, Default)]
pub(crate) struct FaultBook {
    planned: Vec<Entry>,
    /// The entries that still wait for an event, by number: none makes watching free.
    waiting: Vec<usize>,
    /// Entries that matched and strike at once, as soon as the kernel has finished what it is doing.
    pub(crate) due: Vec<usize>,
}

#[derive(Debug)]
struct Entry {
    plan: PlannedFault,
    /// Progress through the occurrences: which one, and how many of it were seen.
    stage: usize,
    seen: u32,
    struck: Struck,
    /// For each fault, the life that it stopped, if it is one that stops a host.
    stopped: Vec<Option<LifeNumber>>,
}

impl Entry {
    /// Counts an event that this entry may wait for. After the last one: how much later it strikes.
    fn observe(&mut self, event: &Event) -> Option<Duration> {
        let Trigger::On { occurrences, offset } = &self.plan.trigger else { return None };
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
        (self.stage == occurrences.len()).then_some(*offset)
    }

    /// Whether this entry has yet to start the host: by its faults, or by taking back a death.
    fn will_start(&self, host: HostId) -> bool {
        let starts = |fault: &Fault| *fault == Fault::Start { host };
        match (self.struck.from, self.plan.lasting, self.struck.until) {
            (None, ..) => self.plan.faults.iter().any(starts),
            (Some(_), Some(_), None) => self.plan.faults.iter().filter_map(Fault::undo).any(|f| starts(&f)),
            _ => false,
        }
    }

    /// Whether this entry is sure to do this yet: when its time comes, or by taking back what it did.
    fn will_do(&self, what: &Fault) -> bool {
        match (self.struck.from, &self.plan.trigger, self.plan.lasting, self.struck.until) {
            (None, Trigger::At(_), ..) => self.plan.faults.contains(what),
            (Some(_), _, Some(_), None) => {
                self.plan.faults.iter().filter_map(Fault::undo).any(|undo| undo == *what)
            }
            _ => false,
        }
    }
}

/// What the kernel must do because of a matched trigger.
pub(crate) enum Matched {
    Now(usize),
    Later(usize, Duration),
}

impl FaultBook {
    /// Adds a fault to the book. Returns its number, and its time if it waits for one.
    pub(crate) fn plan(&mut self, plan: PlannedFault) -> (usize, Option<SimTime>) {
        let at = match &plan.trigger {
            Trigger::At(at) => Some(*at),
            Trigger::On { .. } => {
                self.waiting.push(self.planned.len());
                None
            }
        };
        self.planned.push(Entry { plan, stage: 0, seen: 0, struck: Struck::default(), stopped: Vec::new() });
        (self.planned.len() - 1, at)
    }

    pub(crate) fn watches(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Shows an event to every waiting fault.
    pub(crate) fn observe(&mut self, event: &Event, mut matched: impl FnMut(Matched)) {
        let planned = &mut self.planned;
        self.waiting.retain(|&number| {
            let struck = planned[number].observe(event);
            match struck {
                Some(offset) if offset.is_zero() => matched(Matched::Now(number)),
                Some(offset) => matched(Matched::Later(number, offset)),
                None => {}
            }
            struck.is_none()
        });
    }

    pub(crate) fn entry(&self, number: usize) -> &PlannedFault {
        &self.planned[number].plan
    }

    pub(crate) fn struck(&mut self, number: usize) -> &mut Struck {
        &mut self.planned[number].struck
    }

    /// Whether the plan still has a start for this host; until then a dead one is not down for good.
    pub(crate) fn will_start(&self, host: HostId) -> bool {
        self.planned.iter().any(|entry| entry.will_start(host))
    }

    /// How many planned faults are sure to do this yet.
    pub(crate) fn to_come(&self, what: &Fault) -> usize {
        self.planned.iter().filter(|entry| entry.will_do(what)).count()
    }

    pub(crate) fn remember_stopped(&mut self, number: usize, stopped: Option<LifeNumber>) {
        self.planned[number].stopped.push(stopped);
    }

    pub(crate) fn stopped(&self, number: usize) -> &[Option<LifeNumber>] {
        &self.planned[number].stopped
    }

    pub(crate) fn outcomes(&self) -> Vec<Struck> {
        self.planned.iter().map(|entry| entry.struck).collect()
    }
}
