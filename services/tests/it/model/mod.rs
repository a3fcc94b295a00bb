//! Naive models of the services, and a driver that gives one sequence of steps to a service and to its model.
//!
//! A model is vectors and linear scans, and shares no code with the service. The two are compared after each
//! step: answers, events, closes, owners, and the state that a service shows. The order of messages counts on
//! each connection, and not between connections.
//!
//! Not modelled: misuse that no lock commits. A model's `prepare` says which requests it leaves out.

pub(crate) mod database;
mod etcd;
mod zookeeper;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use doublehold_services::{Outbox, Outgoing, OwnerChange, Service, ServiceConnection};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The step of the clock. All times of the services in these sequences are multiples of it.
pub(crate) const QUANTUM: Duration = Duration::from_millis(250);

/// Makes a configuration of so many cases that are the same every time unless `PROPTEST_RNG_SEED` asks for
/// others.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) };
    match config.rng_seed {
        RngSeed::Random => ProptestConfig { rng_seed: RngSeed::Fixed(20_081_105), ..config },
        RngSeed::Fixed(_) => config,
    }
}

/// A naive service.
pub(crate) trait Model<S: Service> {
    /// Completes a request with what only the state knows; `None`: it is left out.
    fn prepare(&self, _from: ServiceConnection, request: S::Request) -> Option<S::Request> {
        Some(request)
    }

    fn receive(
        &mut self,
        from: ServiceConnection,
        number: u32,
        request: S::Request,
        now: Duration,
        out: &mut Outbox<S::Answer>,
    );

    fn disconnect(&mut self, connection: ServiceConnection, now: Duration, out: &mut Outbox<S::Answer>);

    /// Ends what has had its time.
    fn look(&mut self, now: Duration, out: &mut Outbox<S::Answer>);

    fn restart(&mut self, now: Duration, out: &mut Outbox<S::Answer>);

    /// Checks and removes what a model does not foretell to the letter.
    fn inspect(&mut self, _said: &mut Outbox<S::Answer>) {}

    /// Compares the state that the service shows with the model's.
    fn agrees(&self, service: &S);
}

/// One step of a sequence.
#[derive(Clone, Debug)]
pub(crate) enum Step<R> {
    /// A new connection, and the first request on it if there is one.
    Open(Option<R>),
    /// A request on one of the connections, by its place.
    Send(usize, R),
    /// The end of one of the connections.
    Disconnect(usize),
    /// So many quanta, with a look after each.
    Wait(u32),
    /// So many quanta in which the service stands still.
    Pause(u32),
    /// A restart; the clock may begin anew.
    Restart { anew: bool },
}

/// Draws sequences of up to `length` steps.
pub(crate) fn sequences<R: Clone + Debug + 'static>(
    length: usize,
    first: impl Strategy<Value = Option<R>> + 'static,
    requests: impl Strategy<Value = R> + 'static,
) -> impl Strategy<Value = Vec<Step<R>>> {
    let step = prop_oneof![
        6 => first.prop_map(Step::Open),
        40 => (0..8_usize, requests).prop_map(|(pick, request)| Step::Send(pick, request)),
        3 => (0..8_usize).prop_map(Step::Disconnect),
        12 => (1..12_u32).prop_map(Step::Wait),
        4 => (1..12_u32).prop_map(Step::Pause),
        1 => any::<bool>().prop_map(|anew| Step::Restart { anew }),
    ];
    prop::collection::vec(step, 1..length)
}

/// A service beside its model.
pub(crate) struct Pair<S: Service, M> {
    service: S,
    model: M,
    now: Duration,
    open: Vec<ServiceConnection>,
    opened: u64,
    number: u32,
    owners: BTreeMap<String, Vec<u8>>,
}

impl<S: Service, M: Model<S>> Pair<S, M>
where
    S::Request: Clone,
    S::Answer: Debug + PartialEq,
{
    pub(crate) fn new(service: S, model: M) -> Pair<S, M> {
        let (now, open, owners) = (Duration::ZERO, Vec::new(), BTreeMap::new());
        Pair { service, model, now, open, opened: 0, number: 0, owners }
    }

    /// Takes the steps, and compares after each.
    pub(crate) fn run(mut self, steps: Vec<Step<S::Request>>) {
        for step in steps {
            match step {
                Step::Open(first) => {
                    self.opened += 1;
                    let connection = ServiceConnection(self.opened);
                    self.open.push(connection);
                    if let Some(request) = first {
                        self.send(connection, request);
                    }
                }
                Step::Send(pick, request) if !self.open.is_empty() => {
                    self.send(self.open[pick % self.open.len()], request);
                }
                Step::Disconnect(pick) if !self.open.is_empty() => {
                    let gone = self.open.remove(pick % self.open.len());
                    self.act(
                        |service, now, out| service.disconnect(gone, now, out),
                        |model, now, out| model.disconnect(gone, now, out),
                    );
                }
                Step::Send(..) | Step::Disconnect(_) => {}
                Step::Wait(quanta) => (0..quanta).for_each(|_| self.wait()),
                Step::Pause(quanta) => self.now += QUANTUM * quanta,
                Step::Restart { anew } => {
                    self.open.clear();
                    if anew {
                        self.now = Duration::ZERO;
                    }
                    self.act(S::restart, M::restart);
                }
            }
        }
    }

    fn send(&mut self, from: ServiceConnection, request: S::Request) {
        let Some(request) = self.model.prepare(from, request) else { return };
        self.number += 1;
        let (number, copy) = (self.number, request.clone());
        self.act(
            |service, now, out| service.receive(from, number, request, now, out),
            |model, now, out| model.receive(from, number, copy, now, out),
        );
    }

    /// Goes on by a quantum. The service looks only when it says that it has to.
    fn wait(&mut self) {
        self.now += QUANTUM;
        let advance = |service: &mut S, now, out: &mut Outbox<S::Answer>| {
            if service.next_due().is_some_and(|due| due <= now) {
                service.advance(now, out);
            }
        };
        self.act(advance, M::look);
    }

    fn act(
        &mut self,
        on_service: impl FnOnce(&mut S, Duration, &mut Outbox<S::Answer>),
        on_model: impl FnOnce(&mut M, Duration, &mut Outbox<S::Answer>),
    ) {
        let (mut said, mut expected) = (Outbox::default(), Outbox::default());
        on_service(&mut self.service, self.now, &mut said);
        on_model(&mut self.model, self.now, &mut expected);
        self.model.inspect(&mut said);
        assert_eq!(by_connection(said.sent), by_connection(expected.sent), "messages at {:?}", self.now);
        said.changes.iter().for_each(|change| self.own(change));
        assert_eq!(by_lock(said.changes), by_lock(expected.changes), "owners at {:?}", self.now);
        self.model.agrees(&self.service);
    }

    /// Follows the owner of each lock: whoever loses it is whoever had it.
    fn own(&mut self, change: &OwnerChange) {
        let had = match &change.after {
            Some(owner) => self.owners.insert(change.lock.clone(), owner.clone()),
            None => self.owners.remove(&change.lock),
        };
        assert_eq!(had, change.before, "the owner of {} before", change.lock);
    }
}

fn by_connection<A>(
    mut sent: Vec<(ServiceConnection, Outgoing<A>)>,
) -> Vec<(ServiceConnection, Outgoing<A>)> {
    sent.sort_by_key(|(to, _)| *to);
    sent
}

fn by_lock(mut changes: Vec<OwnerChange>) -> Vec<OwnerChange> {
    changes.sort_by(|a, b| a.lock.cmp(&b.lock));
    changes
}

/// Puts a message into an outbox, as a service does.
fn say<A>(out: &mut Outbox<A>, to: ServiceConnection, number: u32, answer: A) {
    out.sent.push((to, Outgoing::Say(number, answer)));
}

/// Puts the locks that have another owner into an outbox. Both lists have each lock at most once.
fn tell_owners<A>(
    before: &[(String, Vec<u8>)],
    after: &[(String, Vec<u8>)],
    cause: &'static str,
    out: &mut Outbox<A>,
) {
    let of = |owners: &[(String, Vec<u8>)], lock: &str| {
        owners.iter().find(|(known, _)| known == lock).map(|(_, owner)| owner.clone())
    };
    for (lock, owner) in after {
        let had = of(before, lock);
        if had.as_ref() != Some(owner) {
            let (lock, after) = (lock.clone(), Some(owner.clone()));
            out.changes.push(OwnerChange { lock, before: had, after, cause });
        }
    }
    for (lock, owner) in before.iter().filter(|(lock, _)| of(after, lock).is_none()) {
        let (lock, before) = (lock.clone(), Some(owner.clone()));
        out.changes.push(OwnerChange { lock, before, after: None, cause });
    }
}
