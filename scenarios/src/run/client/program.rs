//! A client's program: the steps of a scenario, carried out by the code under test.
//!
//! Every step is marked in the trace, where faults can wait for it, and recorded in the history. A pause at the mark
//! "check" strikes after the check and before the write. A client waits for the resource without a timeout of its own,
//! since late writes are the point. If the resource is down when its process begins, it tries again as for the lock.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use doublehold_history::{CallId, ClientId, EventKind, LockId, ObjectId, ReleaseOutcome, ResourceRules};
use doublehold_lockimpl::{
    Acquired, DeadlinePassed, Extended, Grant, Lock, LockKind, MonotonicTime, NodeName, Released, Watch,
};

use super::held_locks::{HeldLock, HeldLocks};
use super::in_session::NO_SESSION;
use super::life::{Life, is_done_with};
use super::panic_guard::{GuardedLock, PanicGuard};
use super::replicas::ResourceWay;
use super::stage::Stage;
use crate::model::scenario::{
    ClientSetup, DelayLaw, LockSetup, ObjectSetup, OnLostLock, ReplicasSetup, Step,
};
use crate::run::clocks;
use crate::run::recorder::Recorder;

/// What a client does: the same in every run of a scenario.
pub(crate) struct Program<S: Stage> {
    pub(crate) client: ClientId,
    /// Its host's name, for messages.
    pub(crate) name: String,
    pub(crate) plan: ClientSetup,
    pub(crate) lock: LockSetup,
    /// What the locks protect.
    pub(crate) objects: Vec<ObjectSetup>,
    /// The rules by which the resource guards that.
    pub(crate) rules: ResourceRules,
    /// What builds its lock.
    pub(crate) kind: Arc<dyn LockKind<S>>,
    /// Whether that waits by itself for a lock that is taken.
    pub(crate) waits: bool,
    pub(crate) nodes: Vec<NodeName>,
    /// The names of the resource's hosts.
    pub(crate) resources: Vec<String>,
    /// The replicas that these are, if there are several.
    pub(crate) replicas: Option<ReplicasSetup>,
    /// True if it reads and writes through the session that holds the lock.
    pub(crate) in_session: bool,
    /// True if it is a thread, whose process runs on when its program is done.
    pub(crate) is_thread: bool,
}

/// A client's program in one run, through all the processes of its host.
pub(crate) struct Job<S: Stage> {
    pub(super) program: Arc<Program<S>>,
    pub(super) recorder: Recorder,
    /// Whether the start signal came: a restarted process does not wait for it again.
    started: AtomicBool,
    reach: Mutex<Reach>,
}

/// Whether the latest process of a client has reached the resource.
enum Reach {
    /// It has, or nothing is known to be wrong with the resource.
    Fine,
    /// It has not, and why, if it was told.
    Lacking(Option<io::Error>),
}

impl<S: Stage> Job<S> {
    pub(crate) fn new(program: Arc<Program<S>>, recorder: Recorder) -> Job<S> {
        Job { program, recorder, started: AtomicBool::new(false), reach: Mutex::new(Reach::Fine) }
    }

    /// Runs the program as one process of its host, or a thread of it, from the start signal to the last round. Returns
    /// the lock that it built: what a thread leaves behind is its process's, such as a mutex that it still has.
    pub(crate) async fn run(self: Arc<Self>, stage: S) -> Option<GuardedLock<S>> {
        let client = self.program.client;
        if stage.restarts() > 0 {
            self.recorder.note(client, |client| EventKind::Restarted { client });
        }
        let mut life = Life::new(self.clone());
        let lock = self.rounds(stage.clone()).await;
        life.finish(&stage);
        lock
    }

    async fn rounds(&self, stage: S) -> Option<GuardedLock<S>> {
        let Program { name, plan, lock, kind, nodes, .. } = &*self.program;
        // The resource is connected first, so that a fault on the way to it strikes a write and not a handshake.
        let resource = self.reach_resource(&stage).await?;
        let lock = match kind.build(stage.clone(), nodes.clone(), &lock.switches) {
            Ok(lock) => {
                let (stage, recorder) = (stage.clone(), self.recorder.clone());
                GuardedLock::new(
                    lock,
                    PanicGuard { stage, recorder, client: self.program.client, name: name.clone() },
                )
            }
            Err(error) => {
                self.recorder.inconclusive(format!("{name} could not build its lock: {error}"));
                return None;
            }
        };
        if plan.start.is_some() && !self.started.load(Ordering::Relaxed) {
            if let Err(told) = stage.start().await {
                self.recorder.inconclusive(format!("{name} waits for its start and was told `{told}`"));
                return None;
            }
            self.started.store(true, Ordering::Relaxed);
        }
        let (program, recorder) = (&*self.program, &self.recorder);
        let mut client = Client { program, recorder, stage, lock, resource, place: 0 };
        for _ in 0..plan.rounds {
            if client.round().await.is_err() {
                self.recorder.inconclusive(format!("{name} lost the resource and gave up"));
                break;
            }
        }
        Some(client.lock)
    }

    /// The way to the resource; none if it did not come up while the client has patience.
    async fn reach_resource(&self, stage: &S) -> Option<ResourceWay<S>> {
        let Program { plan, resources, replicas, .. } = &*self.program;
        let patience_ends = stage.now().saturating_add(plan.give_up_after);
        *self.reach() = Reach::Lacking(None);
        loop {
            match ResourceWay::open(stage, resources, *replicas).await {
                Ok(link) => {
                    *self.reach() = Reach::Fine;
                    return Some(link);
                }
                Err(error) => *self.reach() = Reach::Lacking(Some(error)),
            }
            if stage.now() >= patience_ends {
                return None;
            }
            sleep(stage, &plan.retry).await;
        }
    }

    fn reach(&self) -> MutexGuard<'_, Reach> {
        self.reach.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The process was killed: what kept it from beginning is that, unless the resource had failed it before.
    pub(super) fn forget_reach(&self) {
        let mut reach = self.reach();
        if matches!(*reach, Reach::Lacking(None)) {
            *reach = Reach::Fine;
        }
    }

    /// The run is over: if this client could not begin, it shows nothing.
    pub(crate) fn close(&self) {
        let name = &self.program.name;
        let why = match &*self.reach() {
            Reach::Fine => return,
            Reach::Lacking(None) => format!("{name} had not reached the resource when the run ended"),
            Reach::Lacking(Some(error)) => format!("{name} could not reach the resource: {error}"),
        };
        self.recorder.inconclusive(why);
    }
}

/// A client at work.
pub(super) struct Client<'a, S: Stage> {
    pub(super) program: &'a Program<S>,
    pub(super) recorder: &'a Recorder,
    pub(super) stage: S,
    lock: GuardedLock<S>,
    pub(super) resource: ResourceWay<S>,
    /// The place in its program of the step that it is at.
    place: usize,
}

/// The resource is out of reach: the program cannot go on.
pub(super) struct Unreachable;

impl<S: Stage> Client<'_, S> {
    async fn round(&mut self) -> Result<(), Unreachable> {
        let mut turn = HeldLocks::new();
        let mut stopped = false;
        for (place, step) in self.program.plan.program.iter().enumerate() {
            self.place = place;
            self.abandon_what_is_not_needed(&turn);
            // Past a failed try, a failed check or a lock known to be lost, only releases are left to do.
            if stopped && !matches!(step, Step::Release(_)) {
                continue;
            }
            if !matches!(step, Step::Release(_)) && self.notices_loss(&turn) {
                stopped = true;
                continue;
            }
            match step {
                Step::Acquire(lock) => stopped = !self.acquire(&mut turn, *lock, None).await,
                Step::Try(lock, limit) => {
                    stopped = !self.acquire(&mut turn, *lock, Some(limit.unwrap_or_default())).await;
                }
                Step::Read(object) => stopped = !self.read_object(&mut turn, *object).await?,
                Step::Work(law) => stopped = !self.work(&turn, law).await,
                Step::Check(lock) => stopped = !self.check(turn.get(lock)).await,
                Step::Prepare(lock) => stopped = !self.prepare(turn.get_mut(lock), *lock).await?,
                Step::Write(object) => stopped = !self.write(&mut turn, *object).await?,
                Step::Extend(lock) => stopped = !self.extend(turn.get_mut(lock)).await,
                Step::Release(lock) => self.release(&mut turn, *lock).await,
            }
        }
        Ok(())
    }

    /// Ends the claims of a thread that is done with a lock before the step it is at, and does not give it back.
    fn abandon_what_is_not_needed(&self, turn: &HeldLocks) {
        let (program, place) = (&self.program.plan.program, self.place);
        let is_done = |lock: LockId| is_done_with(program, place, lock, |object| self.lock_of(object));
        let done = turn.iter().filter(|(lock, _)| self.program.is_thread && is_done(**lock));
        let grants = done.flat_map(|(_, held)| held.grants());
        for grant in grants.filter(|grant| self.recorder.claims(self.program.client).contains(grant)) {
            self.note(|client| EventKind::Abandoned { client, grant });
        }
    }

    /// How long each of its grants lasts.
    fn ttl(&self) -> Duration {
        self.program.plan.ttl.unwrap_or(self.program.lock.ttl)
    }

    /// The lock that protects an object.
    pub(super) fn lock_of(&self, object: ObjectId) -> LockId {
        self.program.objects[object.0 as usize].lock
    }

    /// Asks for a lock, again and again while there is patience: for so long, or the client's own. A lock that waits by
    /// itself is left to say when a limit has passed. A lock that it holds it takes again. Whether it was granted.
    async fn acquire(&mut self, turn: &mut HeldLocks, lock: LockId, limit: Option<Duration>) -> bool {
        let name = &self.program.lock.names[lock.0 as usize];
        let patience_ends = self.stage.now().saturating_add(limit.unwrap_or(self.program.plan.give_up_after));
        let asks_once = self.program.waits && limit.is_some();
        loop {
            self.mark("acquire").await;
            let grant = self.recorder.begin(self.program.client, lock);
            let acquired = self.ask(name, patience_ends).await;
            self.recorder.leave(self.program.client);
            match acquired {
                Acquired::Granted(lease) => {
                    let within = turn.get(&lock).map(|held| held.grant);
                    self.record_grant(grant, lock, &lease, within).await;
                    match turn.get_mut(&lock) {
                        Some(held) => held.inner.push((grant, lease)),
                        None => {
                            let shown = self.shown(&lease);
                            let (inner, read, written) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
                            let held = HeldLock { grant, lease, shown, inner, read, written };
                            turn.insert(lock, held);
                        }
                    }
                    return true;
                }
                Acquired::Refused(why) => {
                    self.note(|client| EventKind::Refused { client, call: grant, why: why.to_string() })
                }
                Acquired::Unknown(why) => {
                    let why = why.to_string();
                    self.note(|client| EventKind::AcquireUnknown { client, call: grant, why });
                }
            }
            self.mark("refusal").await;
            if asks_once || self.stage.now() >= patience_ends {
                self.recorder.give_up(self.program.client, grant, self.place);
                return false;
            }
            self.sleep(&self.program.plan.retry).await;
        }
    }

    /// Asks once, or leaves it to the lock to wait where it can, and where there is something to wait for.
    async fn ask(&mut self, name: &str, patience_ends: MonotonicTime) -> Acquired {
        let left = Duration::from_nanos(patience_ends.0.saturating_sub(self.stage.now().0));
        if self.program.waits && !left.is_zero() {
            self.lock.acquire_within(name, self.ttl(), left).await
        } else {
            self.lock.acquire(name, self.ttl()).await
        }
    }

    async fn record_grant(&self, grant: CallId, lock: LockId, lease: &Grant, within: Option<CallId>) {
        let deadline = lease.deadline.map(clocks::deadline);
        let (token, fencing) = (lease.token.to_string(), lease.fencing);
        let reading = Some(self.recorder.reading(self.program.client));
        self.recorder.record_token(grant, lease.token.as_bytes());
        self.note(|client| EventKind::Granted {
            client,
            grant,
            lock,
            token,
            fencing,
            deadline,
            reading,
            within,
        });
        if self.program.in_session && lease.session.is_none() {
            self.recorder.inconclusive(NO_SESSION.to_owned());
        }
        if let Some(deadline) = deadline {
            self.recorder.watch_deadline(self.program.client, grant, deadline);
        }
        self.mark("grant").await;
    }

    /// Works for so long, or until it is told that a lock is lost that it holds. Whether to work on.
    async fn work(&self, turn: &HeldLocks, law: &DelayLaw) -> bool {
        let watches: Vec<&Watch> =
            turn.values().filter(|_| self.minds()).flat_map(HeldLock::watches).collect();
        if watches.is_empty() {
            self.sleep(law).await;
            return true;
        }
        let length = self.stage.draw(law);
        let ends = self.stage.now().saturating_add(length);
        let told = poll_fn(|cx| {
            let is_told = watches.iter().any(|watch| watch.poll_loss(cx).is_ready());
            if is_told { Poll::Ready(()) } else { Poll::Pending }
        });
        match self.stage.race(told, ends).await {
            Ok(()) => !self.notices_loss(turn),
            Err(DeadlinePassed) => true,
        }
    }

    /// Whether it has been told that a lock is lost that it holds: a claim that it gives up at once.
    fn notices_loss(&self, turn: &HeldLocks) -> bool {
        if !self.minds() {
            return false;
        }
        let mut lost = false;
        for held in turn.values().filter(|held| held.watches().any(Watch::is_notified)) {
            for grant in held.grants() {
                self.note(|client| EventKind::ExpiryNoticed { client, grant });
            }
            lost = true;
        }
        lost
    }

    /// Whether it gives up a lock that it hears to be lost.
    fn minds(&self) -> bool {
        self.program.plan.on_lost_lock == OnLostLock::Stop
    }

    /// Whether the lease is still good by the client's own clock and by what its lock says, or nobody can tell.
    async fn check(&self, held: Option<&HeldLock>) -> bool {
        let Some(held) = held else { return false };
        if held.is_over(&self.stage).await {
            for grant in held.grants() {
                self.note(|client| EventKind::ExpiryNoticed { client, grant });
            }
            self.mark("expiry").await;
            return false;
        }
        self.mark("check").await;
        true
    }

    /// Whether to work on: not after learning that the lock is lost, unless the scenario says so.
    async fn extend(&mut self, held: Option<&mut HeldLock>) -> bool {
        let Some(held) = held else { return true };
        let ttl = self.ttl();
        let (grant, lease) = held.innermost();
        self.mark("extending").await;
        self.recorder.extend(self.program.client, grant);
        let extended = self.lock.extend(lease, ttl).await;
        self.recorder.leave(self.program.client);
        let lost = extended == Extended::NotOwner && self.minds();
        let why = match extended.outcome() {
            Ok(deadline) => {
                self.recorder.record_extension(self.program.client, grant, deadline.map(clocks::deadline));
                self.mark("extend").await;
                return true;
            }
            Err(why) => why,
        };
        if extended == Extended::Unsupported {
            let name = &self.program.name;
            self.recorder
                .inconclusive(format!("{name} is to extend its lease, and this lock cannot be extended"));
        }
        self.note(|client| EventKind::ExtendFailed { client, grant, why });
        for grant in held.grants().filter(|_| lost) {
            self.note(|client| EventKind::ExpiryNoticed { client, grant });
        }
        self.mark("extend").await;
        !lost
    }

    /// Gives back what it was granted last of a lock.
    async fn release(&mut self, turn: &mut HeldLocks, lock: LockId) {
        let inner = turn.get_mut(&lock).and_then(|held| held.inner.pop());
        let outer = || turn.remove(&lock).map(|held| (held.grant, held.lease));
        let Some((grant, lease)) = inner.or_else(outer) else { return };
        self.note(|client| EventKind::ReleaseCalled { client, grant });
        self.mark("release").await;
        self.recorder.enter(self.program.client, grant);
        let released = self.lock.release(&lease).await;
        self.recorder.leave(self.program.client);
        let outcome = match released {
            Released::Released => ReleaseOutcome::Released,
            Released::NotOwner => ReleaseOutcome::NotOwner,
            Released::Unknown(_) => ReleaseOutcome::Unknown,
        };
        self.note(|client| EventKind::ReleaseReturned { client, grant, outcome });
        if outcome == ReleaseOutcome::Released {
            self.note_released(grant);
        }
    }

    pub(super) async fn sleep(&self, law: &DelayLaw) {
        sleep(&self.stage, law).await;
    }

    pub(super) async fn mark(&self, label: &'static str) {
        self.stage.mark(label).await;
    }

    pub(super) fn note(&self, what: impl FnOnce(ClientId) -> EventKind) {
        self.recorder.note(self.program.client, what);
    }
}

async fn sleep<S: Stage>(stage: &S, law: &DelayLaw) {
    let pause = stage.draw(law);
    stage.sleep_until(stage.now().saturating_add(pause)).await;
}
