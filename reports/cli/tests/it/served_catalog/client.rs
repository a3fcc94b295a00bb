//! A client of a scenario, on this machine: its program, with one of our locks on tokio, and what it tells.
//!
//! Written from what the steps of a program mean, and not from the simulator's code for them: two that agree are worth
//! more than one. Not here: inner grants, and fencing numbers that the resource checks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use doublehold_lockimpl::{Acquired, BoxLock, Deadline, Env, Extended, Grant, Lock, Released};
use doublehold_scenarios::scenario::{ClientSetup, DelayLaw, Scenario, Step};
use doublehold_scenarios::when::{Event, Mark, Nth, When};
use redis::aio::MultiplexedConnection;
use tokio::sync::watch;

use super::machine::Machine;

/// The marks that programs have come by, in order: starts wait for them.
pub(super) type Marks = watch::Sender<Vec<(String, Mark)>>;

pub(super) struct Client {
    pub(super) scenario: Arc<Scenario>,
    pub(super) setup: ClientSetup,
    pub(super) machine: Machine,
    pub(super) lock: BoxLock,
    /// To the control port, with the client's name.
    pub(super) control: MultiplexedConnection,
    pub(super) marks: Arc<Marks>,
}

impl Client {
    pub(super) async fn run(mut self) {
        self.start().await;
        for _ in 0..self.setup.rounds {
            self.round().await;
        }
    }

    async fn start(&self) {
        match &self.setup.start {
            None => {}
            Some(When::At(at)) => self.machine.sleep(*at).await,
            Some(When::On { events, after }) => {
                let mut marks = self.marks.subscribe();
                let _all = marks.wait_for(|marks| happened(marks, events)).await.expect("the marks stay");
                drop(_all);
                self.machine.sleep(*after).await;
            }
        }
    }

    async fn round(&mut self) {
        let mut held = None;
        let mut stopped = false;
        for step in self.setup.program.clone() {
            if stopped && !matches!(step, Step::Release(_)) {
                continue;
            }
            match step {
                Step::Acquire(_) => {
                    held = self.acquire(self.setup.give_up_after).await;
                    stopped = held.is_none();
                }
                Step::Try(_, limit) => {
                    held = self.acquire(limit.unwrap_or_default()).await;
                    stopped = held.is_none();
                }
                Step::Work(law) => self.machine.sleep(length(&law)).await,
                Step::Read(object) => self.read(&mut held, self.object(object.0)).await,
                Step::Write(object) => self.write(&held, self.object(object.0)).await,
                // Its resource guards nothing.
                Step::Prepare(_) => {}
                Step::Check(_) => stopped = !self.check(&held).await,
                Step::Extend(_) => stopped = !self.extend(&mut held).await,
                Step::Release(_) => self.release(held.take()).await,
            }
        }
    }

    async fn acquire(&mut self, patience: Duration) -> Option<Held> {
        let (name, ttl) = (self.scenario.lock.names[0].clone(), self.ttl());
        let waits = super::waits(&self.scenario);
        let gives_up = self.machine.monotonic().await.saturating_add(patience);
        self.tell("ASKS", &[]).await;
        loop {
            self.mark(Mark::Acquire);
            let left = Duration::from_nanos(gives_up.0.saturating_sub(self.machine.monotonic().await.0));
            let acquired = if waits && !left.is_zero() {
                self.lock.acquire_within(&name, ttl, left).await
            } else {
                self.lock.acquire(&name, ttl).await
            };
            if let Acquired::Granted(grant) = acquired {
                self.tell_lease("GRANTED", grant.current_deadline()).await;
                self.mark(Mark::Grant);
                return Some(Held { grant, read: BTreeMap::new() });
            }
            self.mark(Mark::Refusal);
            if (waits && matches!(self.setup.program[0], Step::Try(..)))
                || self.machine.monotonic().await >= gives_up
            {
                self.tell("REFUSED", &[]).await;
                return None;
            }
            self.machine.sleep(length(&self.setup.retry)).await;
        }
    }

    async fn read(&mut self, held: &mut Option<Held>, object: String) {
        let Some(held) = held else { return };
        let value: String = (redis::cmd("DOUBLEHOLD").arg(&["READ", &object]))
            .query_async(&mut self.control)
            .await
            .expect("it reads");
        // What nobody wrote is empty.
        held.read.insert(object, value.parse().unwrap_or(0));
        self.mark(Mark::Read);
    }

    async fn write(&mut self, held: &Option<Held>, object: String) {
        let Some(held) = held else { return };
        // A write that nothing was read for has a value that no other write has.
        let value = held.read.get(&object).map_or(1_000 + self.setup.host.0 as u64, |read| read + 1);
        self.mark(Mark::Write);
        let () = (redis::cmd("DOUBLEHOLD").arg(&["WRITE", &object, &value.to_string()]))
            .query_async(&mut self.control)
            .await
            .expect("it writes");
    }

    async fn check(&mut self, held: &Option<Held>) -> bool {
        let Some(Held { grant, .. }) = held else { return false };
        let is_over = match grant.current_deadline() {
            Some(deadline) => self.left(deadline).await.is_zero(),
            None => false,
        };
        if is_over {
            self.tell("LOST", &[]).await;
        } else {
            self.mark(Mark::Check);
        }
        !is_over
    }

    async fn extend(&mut self, held: &mut Option<Held>) -> bool {
        let Some(Held { grant, .. }) = held else { return false };
        let ttl = self.ttl();
        match self.lock.extend(grant, ttl).await {
            Extended::Extended { deadline } => self.tell_lease("EXTENDED", deadline).await,
            Extended::NotOwner => {
                self.tell("LOST", &[]).await;
                return false;
            }
            Extended::TooLate | Extended::Unknown(_) | Extended::Unsupported => {}
        }
        self.mark(Mark::Extend);
        true
    }

    async fn release(&mut self, held: Option<Held>) {
        let Some(Held { grant, .. }) = held else { return };
        // Whoever knows that the lock is lost has no claim to end.
        let _is_held = self.say("RELEASES", &[]).await;
        self.mark(Mark::Release);
        let outcome: &[&str] = match self.lock.release(&grant).await {
            Released::Released => &[],
            Released::NotOwner => &["NOT-OWNER"],
            Released::Unknown(_) => &["UNKNOWN"],
        };
        let _is_held = self.say("RELEASED", outcome).await;
    }

    async fn tell_lease(&mut self, word: &str, deadline: Option<Deadline>) {
        match deadline {
            Some(deadline) => {
                let left = format!("{}ms", self.left(deadline).await.as_millis());
                self.tell(word, &[&left]).await;
            }
            None => self.tell(word, &[]).await,
        }
    }

    /// The time to a deadline, on its own clock.
    async fn left(&self, deadline: Deadline) -> Duration {
        let ns = match deadline {
            Deadline::Wall(at) => at.0.saturating_sub(self.machine.wall().await.0).max(0).unsigned_abs(),
            Deadline::Monotonic(at) => at.0.saturating_sub(self.machine.monotonic().await.0),
            Deadline::Boot(at) => at.0.saturating_sub(self.machine.boot().await.0),
        };
        Duration::from_nanos(ns)
    }

    async fn tell(&mut self, word: &str, more: &[&str]) {
        if let Err(error) = self.say(word, more).await {
            panic!("{}: {word} {more:?}: {error}", self.scenario.name);
        }
    }

    async fn say(&mut self, word: &str, more: &[&str]) -> redis::RedisResult<()> {
        let mut command = redis::cmd("DOUBLEHOLD");
        command.arg(word).arg(&*self.machine.client).arg(more);
        command.query_async(&mut self.control).await
    }

    fn mark(&self, mark: Mark) {
        self.marks.send_modify(|marks| marks.push((self.machine.client.to_string(), mark)));
    }

    fn ttl(&self) -> Duration {
        self.setup.ttl.unwrap_or(self.scenario.lock.ttl)
    }

    fn object(&self, place: u32) -> String {
        self.scenario.resource.objects[place as usize].name.clone()
    }
}

/// A lock that was granted, and what was read under it.
struct Held {
    grant: Grant,
    read: BTreeMap<String, u64>,
}

/// True if all these events have happened, each after the one before it.
fn happened(marks: &[(String, Mark)], events: &[Nth]) -> bool {
    let mut marks = marks.iter();
    events.iter().all(|Nth { event, nth }| {
        let Event::Mark { client, mark } = event else { panic!("{event:?}: a start here waits for clients") };
        let mut such = marks.by_ref().filter(|(by, it)| by == client && it == mark);
        such.nth(*nth as usize - 1).is_some()
    })
}

/// The middle of what a law may draw: no seed repeats a run here.
fn length(law: &DelayLaw) -> Duration {
    match law {
        DelayLaw::Fixed(time) | DelayLaw::LogNormal { median: time, .. } => *time,
        DelayLaw::Uniform { min, max } => (*min + *max) / 2,
        DelayLaw::Quantiles(times) => times.get(times.len() / 2).copied().unwrap_or_default(),
    }
}
