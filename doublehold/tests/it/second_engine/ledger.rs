//! A second engine: a lease in a ledger that is kept by hand.
//!
//! One lock, one clock, no network: a client asks, is granted a free lease, works, and gives it back. Pauses are the
//! only faults. It shares nothing with the kernel but the values of a scenario, so that whatever searches it cannot
//! lean on the kernel. Not modelled: everything else.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use doublehold_history::{
    CallId, ClientId, EventKind, Header, History, LockId, Reading, ReleaseOutcome, RunOutcome, TrueNs,
};
use doublehold_scenarios::Seed;
use doublehold_scenarios::fault::{Effect, Fault};
use doublehold_scenarios::model::host::UnknownHost;
use doublehold_scenarios::scenario::{Scenario, Step};
use doublehold_scenarios::when::{Event, Mark, Nth, When};
use doublehold_sim::Stream;

/// The pause before a client that was refused asks again.
const RETRY_NS: u64 = 100_000_000;

/// What happened in a run.
pub(crate) struct Lived {
    pub(crate) history: History,
    /// Each mark that a client came by, with its time.
    pub(crate) steps: Vec<(TrueNs, Nth)>,
    /// For each fault when it struck, and when it was over.
    pub(crate) struck: Vec<Vec<(TrueNs, TrueNs)>>,
    pub(crate) ended: TrueNs,
    pub(crate) hash: u64,
}

/// What a client is about to do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    Ask,
    Release(CallId),
}

struct Ledger<'a> {
    scenario: &'a Scenario,
    names: Vec<String>,
    /// From which seed something random is drawn at a time.
    seed_at: &'a dyn Fn(u64) -> Seed,
    due: BinaryHeap<Reverse<(u64, usize, Action)>>,
    /// The grant that the ledger has, and until when.
    lease: Option<(CallId, u64)>,
    rounds: Vec<u32>,
    next_call: u64,
    counts: BTreeMap<(usize, Mark), u32>,
    paused_until: Vec<u64>,
    lived: Lived,
}

/// The run of a scenario, in which everything random at a time is drawn from the seed for that time.
pub(crate) fn live(scenario: &Scenario, seed: Seed, seed_at: &dyn Fn(u64) -> Seed) -> Lived {
    let names: Vec<String> =
        scenario.clients.iter().map(|client| scenario.hosts[client.host.0].name.clone()).collect();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let header = Header::new(&scenario.name, seed.0, &known, &["stock"]);
    let struck = scenario.faults.iter().map(|_| Vec::new()).collect();
    let (history, steps, ended) = (History::new(header), Vec::new(), TrueNs(0));
    let mut ledger = Ledger {
        scenario,
        seed_at,
        due: (0..names.len()).map(|client| Reverse((client as u64, client, Action::Ask))).collect(),
        lease: None,
        rounds: scenario.clients.iter().map(|client| client.rounds).collect(),
        next_call: 0,
        counts: BTreeMap::new(),
        paused_until: vec![0; names.len()],
        lived: Lived { history, steps, struck, ended, hash: 0 },
        names,
    };
    ledger.strike_at_times();
    while let Some(Reverse((at, client, action))) = ledger.due.pop() {
        let until = ledger.paused_until[client];
        if at < until {
            ledger.due.push(Reverse((until, client, action)));
        } else {
            ledger.lived.ended = TrueNs(at);
            ledger.act(at, client, action);
        }
    }
    let ended = ledger.lived.ended;
    ledger.lived.history.push(ended, EventKind::RunEnded { outcome: RunOutcome::Completed });
    let mut hasher = DefaultHasher::new();
    (seed.0, format!("{:?}", ledger.lived.history.events())).hash(&mut hasher);
    Lived { hash: hasher.finish(), ..ledger.lived }
}

/// The hosts of a fault, all of which it must be possible to pause.
pub(crate) fn paused(fault: &Fault) -> Option<&[String]> {
    match &fault.effect {
        Effect::Pause { hosts } => Some(&hosts.0),
        _ => None,
    }
}

/// Refuses faults of hosts that there are not.
pub(crate) fn check(faults: &[Fault], scenario: &Scenario) -> Result<(), UnknownHost> {
    let is_known = |name: &String| scenario.hosts.iter().any(|host| host.name == *name);
    let named = faults.iter().filter_map(paused).flatten();
    named.into_iter().find(|name| !is_known(name)).map_or(Ok(()), |name| Err(UnknownHost(name.clone())))
}

impl Ledger<'_> {
    fn strike_at_times(&mut self) {
        for (number, fault) in self.scenario.faults.iter().enumerate() {
            if let When::At(at) = fault.at {
                let at = at.as_nanos() as u64;
                let over = self.over(number, at);
                self.lived.struck[number].push((TrueNs(at), over));
            }
        }
    }

    fn over(&self, fault: usize, at: u64) -> TrueNs {
        TrueNs(at + self.scenario.faults[fault].lasting.unwrap_or(Duration::ZERO).as_nanos() as u64)
    }

    /// Notes that a client comes by a mark, and pauses it if a fault waits for that.
    fn reach(&mut self, at: u64, client: usize, mark: Mark) {
        let count = self.counts.entry((client, mark)).or_default();
        *count += 1;
        let nth = Nth { event: Event::mark(&self.names[client], mark), nth: *count };
        for (number, fault) in self.scenario.faults.iter().enumerate() {
            let Some(hosts) = paused(fault) else { continue };
            let strikes_here = match &fault.at {
                When::At(_) => false,
                When::On { events, .. } => events.last() == Some(&nth),
            };
            if strikes_here && hosts.contains(&self.names[client]) {
                let over = self.over(number, at);
                self.lived.struck[number].push((TrueNs(at), over));
                self.paused_until[client] = self.paused_until[client].max(over.0);
            }
        }
        self.lived.steps.push((TrueNs(at), nth));
    }

    /// The time at which a client goes on that a fault has stopped by now.
    fn stopped_until(&self, at: u64, client: usize) -> u64 {
        let name = &self.names[client];
        let faults = self.scenario.faults.iter().zip(&self.lived.struck);
        let here = faults.filter(|(fault, _)| paused(fault).is_some_and(|hosts| hosts.contains(name)));
        let stops =
            here.flat_map(|(_, struck)| struck.iter().filter(|(from, to)| (from.0..to.0).contains(&at)));
        stops.map(|(_, to)| to.0).max().unwrap_or(0)
    }

    fn act(&mut self, at: u64, client: usize, action: Action) {
        let until = self.stopped_until(at, client);
        if until > at {
            self.due.push(Reverse((until, client, action)));
            return;
        }
        match action {
            Action::Ask => self.ask(at, client),
            Action::Release(grant) => self.release(at, client, grant),
        }
    }

    fn tell(&mut self, at: u64, what: EventKind) {
        self.lived.history.push(TrueNs(at), what);
    }

    fn ask(&mut self, at: u64, client: usize) {
        let id = ClientId(client as u32);
        let call = CallId(self.next_call);
        self.next_call += 1;
        self.reach(at, client, Mark::Acquire);
        self.tell(at, EventKind::AcquireStarted { client: id, call, lock: LockId(0) });
        if self.lease.is_some_and(|(_, until)| at < until) {
            self.tell(at, EventKind::Refused { client: id, call, why: "it is held".to_owned() });
            self.due.push(Reverse((at + RETRY_NS, client, Action::Ask)));
            return;
        }
        let ttl = self.scenario.ttl_of(self.scenario.clients[client].host).as_nanos() as u64;
        self.lease = Some((call, at + ttl));
        let reading = Reading { wall_ns: at as i64, monotonic_ns: at, boot_ns: at };
        let (token, fencing, deadline) = (call.0.to_string(), None, None);
        let granted = EventKind::Granted {
            client: id,
            grant: call,
            lock: LockId(0),
            token,
            fencing,
            deadline,
            reading: Some(reading),
            within: None,
        };
        self.tell(at, granted);
        self.reach(at, client, Mark::Grant);
        self.due.push(Reverse((at + self.work(at, client), client, Action::Release(call))));
    }

    fn release(&mut self, at: u64, client: usize, grant: CallId) {
        let id = ClientId(client as u32);
        self.reach(at, client, Mark::Release);
        self.tell(at, EventKind::ReleaseCalled { client: id, grant });
        let is_ours = self.lease.is_some_and(|(of, until)| of == grant && at < until);
        self.lease = self.lease.filter(|(of, _)| *of != grant);
        let outcome = if is_ours { ReleaseOutcome::Released } else { ReleaseOutcome::NotOwner };
        self.tell(at, EventKind::ReleaseReturned { client: id, grant, outcome });
        self.rounds[client] -= 1;
        if self.rounds[client] > 0 {
            self.due.push(Reverse((at + RETRY_NS, client, Action::Ask)));
        }
    }

    /// The length of the work that begins now.
    fn work(&self, at: u64, client: usize) -> u64 {
        let works = self.scenario.clients[client].program.iter().filter_map(|step| match step {
            Step::Work(law) => Some(law),
            _ => None,
        });
        let mut stream = Stream::new((self.seed_at)(at), &format!("{client} at {at}"));
        works.map(|law| law.draw(&mut stream).as_nanos() as u64).sum::<u64>().max(1)
    }
}
