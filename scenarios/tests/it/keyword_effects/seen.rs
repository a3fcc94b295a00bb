//! A run and the questions rows ask of it. Times are nanoseconds of true time.

use doublehold_history::{ClientId, Deadline, EventKind, Predicate, Reading, RunOutcome};
use doublehold_scenarios::Report;
use doublehold_scenarios::report::KeySpan;
use doublehold_scenarios::scenario::HostIndex;
use doublehold_sim::{Event, HostId, Record};

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SEC: u64 = 1_000 * MS;

/// See the module.
pub(crate) struct Seen {
    pub(crate) report: Report,
    trace: Vec<Record>,
}

/// A grant as its client got it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Granted {
    pub(crate) at: u64,
    pub(crate) fencing: Option<u64>,
    pub(crate) deadline: Option<Deadline>,
    pub(crate) reading: Reading,
}

impl Seen {
    pub(crate) fn new((report, trace): (Report, Vec<Record>)) -> Seen {
        Seen { report, trace }
    }

    pub(crate) fn verdict(&self, predicate: Predicate) -> &'static str {
        self.report.verdicts.get(predicate).as_str()
    }

    pub(crate) fn outcome(&self) -> RunOutcome {
        self.report.history.outcome().expect("the run has ended")
    }

    pub(crate) fn ended(&self) -> u64 {
        self.report.ended.0
    }

    fn index(&self, host: &str) -> HostIndex {
        let hosts = &self.report.scenario.hosts;
        HostIndex(hosts.iter().position(|plan| plan.name == host).expect("a host of the scenario"))
    }

    pub(crate) fn host(&self, host: &str) -> HostId {
        self.report.scenario.cast().world(host).expect("a host of the scenario")
    }

    fn client(&self, client: &str) -> ClientId {
        let clients = &self.report.history.header().clients;
        let index = clients.iter().position(|name| name == client).expect("a client of the scenario");
        ClientId(index as u32)
    }

    /// What a client did, and when.
    pub(crate) fn did(&self, client: &str) -> impl Iterator<Item = (u64, &EventKind)> {
        let client = self.client(client);
        let events = self.report.history.events().iter();
        events.filter(move |event| event.what.client() == Some(client)).map(|event| (event.at.0, &event.what))
    }

    /// When a client did something.
    pub(crate) fn times(&self, client: &str, wanted: fn(&EventKind) -> bool) -> Vec<u64> {
        self.did(client).filter(|(_, what)| wanted(what)).map(|(at, _)| at).collect()
    }

    pub(crate) fn grants(&self, client: &str) -> Vec<Granted> {
        let granted = |(at, what): (u64, &EventKind)| match what {
            EventKind::Granted { fencing, deadline, reading, .. } => {
                Some(Granted { at, fencing: *fencing, deadline: *deadline, reading: (*reading)? })
            }
            _ => None,
        };
        self.did(client).filter_map(granted).collect()
    }

    /// The client's first grant.
    pub(crate) fn grant(&self, client: &str) -> Granted {
        self.grants(client).into_iter().next().expect("the client was granted the lock")
    }

    /// Why the client was refused, or could not tell, each time.
    pub(crate) fn refusals(&self, client: &str) -> Vec<(u64, String)> {
        let refused = |(at, what): (u64, &EventKind)| match what {
            EventKind::Refused { why, .. } | EventKind::AcquireUnknown { why, .. } => Some((at, why.clone())),
            _ => None,
        };
        self.did(client).filter_map(refused).collect()
    }

    /// What the client's clocks showed whenever somebody wrote them down.
    pub(crate) fn readings(&self, client: &str) -> Vec<(u64, Reading)> {
        let reading = |(at, what): (u64, &EventKind)| match what {
            EventKind::Clocks { reading, .. } => Some((at, *reading)),
            _ => None,
        };
        self.did(client).filter_map(reading).collect()
    }

    /// The trace's events, with their times.
    pub(crate) fn trace(&self) -> impl Iterator<Item = (u64, &Event)> {
        self.trace.iter().map(|Record { at, event }| (at.0, event))
    }

    /// When a host's code noted something.
    pub(crate) fn marks(&self, host: &str, wanted: &str) -> Vec<u64> {
        let on = self.host(host);
        let is = |event: &Event| matches!(event, Event::Mark { host, label, .. } if *host == on && label == wanted);
        self.trace().filter(|(_, event)| is(event)).map(|(at, _)| at).collect()
    }

    /// When a node executed a command for a client.
    pub(crate) fn executed(&self, node: &str, command: &str, client: &str) -> Vec<u64> {
        let (on, client) = (self.host(node), self.host(client));
        let is = |event: &Event| match event {
            Event::Mark { host, label, about } => *host == on && label == command && *about == Some(client),
            _ => false,
        };
        self.trace().filter(|(_, event)| is(event)).map(|(at, _)| at).collect()
    }

    /// When bytes left one host for another, with their digest.
    pub(crate) fn sent(&self, from_host: &str, to_host: &str) -> Vec<(u64, u64)> {
        let ends = (self.host(from_host), self.host(to_host));
        let sent = |(at, event): (u64, &Event)| match event {
            Event::Sent { from, to, digest, .. } if (*from, *to) == ends => Some((at, *digest)),
            _ => None,
        };
        self.trace().filter_map(sent).collect()
    }

    /// How many bytes left one host for another, each time.
    pub(crate) fn sizes(&self, from_host: &str, to_host: &str) -> Vec<u32> {
        let ends = (self.host(from_host), self.host(to_host));
        let size = |(_, event): (u64, &Event)| match event {
            Event::Sent { from, to, bytes, .. } if (*from, *to) == ends => Some(*bytes),
            _ => None,
        };
        self.trace().filter_map(size).collect()
    }

    /// When bytes of one host reached another.
    pub(crate) fn delivered(&self, from_host: &str, to_host: &str) -> Vec<u64> {
        let ends = (self.host(from_host), self.host(to_host));
        let is = |event: &Event| matches!(event, Event::Delivered { from, to, .. } if (*from, *to) == ends);
        self.trace().filter(|(_, event)| is(event)).map(|(at, _)| at).collect()
    }

    /// How long each message from one host to another was on its way. For hosts that have one connection at a time.
    pub(crate) fn transits(&self, from: &str, to: &str) -> Vec<u64> {
        let (sent, delivered) = (self.sent(from, to), self.delivered(from, to));
        sent.iter().zip(delivered).map(|((sent, _), delivered)| delivered - sent).collect()
    }

    /// When a host was sent a connection request by another.
    pub(crate) fn connecting(&self, from_host: &str, to_host: &str) -> Vec<u64> {
        let ends = (self.host(from_host), self.host(to_host));
        let is = |event: &Event| matches!(event, Event::Connecting { from, to, .. } if (*from, *to) == ends);
        self.trace().filter(|(_, event)| is(event)).map(|(at, _)| at).collect()
    }

    /// When a host's process started.
    pub(crate) fn boots(&self, wanted: &str) -> Vec<u64> {
        let wanted = self.host(wanted);
        let is = |event: &Event| matches!(event, Event::Booted { host } if *host == wanted);
        self.trace().filter(|(_, event)| is(event)).map(|(at, _)| at).collect()
    }

    /// When the fault of that number struck and was taken back.
    pub(crate) fn fault(&self, number: usize) -> (Option<u64>, Option<u64>) {
        let fault = &self.report.faults[number];
        (fault.from.map(|at| at.0), fault.until.map(|at| at.0))
    }

    /// When the fault of that number struck.
    pub(crate) fn struck(&self, number: usize) -> u64 {
        self.fault(number).0.expect("the fault struck")
    }

    /// Every time that the scenario's fault of that number struck.
    pub(crate) fn strikes(&self, number: usize) -> Vec<u64> {
        let fault = &self.report.scenario.faults[number];
        let strikes = self.report.faults.iter().filter(|it| it.fault == *fault);
        strikes.filter_map(|it| it.from).map(|at| at.0).collect()
    }

    /// The stretches in which a node held a key for a client.
    pub(crate) fn keys(&self, node: &str, client: &str) -> Vec<&KeySpan> {
        let (node, client) = (self.index(node), self.index(client));
        self.report.keys.iter().filter(|span| span.node == node && span.client == client).collect()
    }
}

/// The nanoseconds between neighbours.
pub(crate) fn gaps(times: &[u64]) -> Vec<u64> {
    times.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Whether the resource applied a write.
pub(crate) fn applied(what: &EventKind) -> bool {
    matches!(what, EventKind::WriteApplied { .. })
}
