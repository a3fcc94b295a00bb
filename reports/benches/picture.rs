//! How long it takes to draw a run of many grants, and how that grows: `cargo bench -p doublehold --bench picture`.
//!
//! Two clients take turns and, every tenth time, overlap; three nodes hold their keys. Time per grant must not grow
//! with the number of grants. The last line is a run of a thousand clients.

#![expect(clippy::print_stdout, reason = "what a benchmark measures is printed")]

use std::collections::BTreeMap;
use std::time::Instant;

use doublehold_history::{
    CallId, ClientId, ClockKind, Deadline, EventKind, Header, History, LockId, Reading, ReleaseOutcome,
    RunOutcome, TrueNs, judge,
};
use doublehold_render::picture::picture;
use doublehold_render::style::Style;
use doublehold_scenarios::report::{KeyEnd, KeyOrigin, KeySpan, Leases, Report, TraceHash};
use doublehold_scenarios::scenario::{HostIndex, HostSetup, Role, Scenario};
use doublehold_scenarios::{Seed, catalog};

const MS: u64 = 1_000_000;
const LOCK: LockId = LockId(0);

fn main() {
    for grants in [12_500, 25_000, 50_000, 100_000] {
        measure(2, grants);
    }
    measure(1_000, 100_000);
}

fn measure(clients: usize, grants: u64) {
    let report = report(clients, grants);
    let best = (0..3).map(|_| {
        let start = Instant::now();
        let drawn = picture(&report, &Style::UNICODE);
        assert!(drawn.contains("is granted"), "{drawn}");
        start.elapsed()
    });
    let best = best.min().unwrap_or_default().as_secs_f64();
    println!(
        "{clients:>5} clients, {grants:>7} grants: {:>9.1} ms, {:.2} µs a grant",
        best * 1e3,
        best * 1e6 / grants as f64
    );
}

/// Turns of 100 ms each. Every tenth is cut short by the next.
fn report(clients: usize, grants: u64) -> Report {
    let scenario = scenario(clients);
    let names: Vec<&str> =
        scenario.clients.iter().map(|it| scenario.hosts[it.host.0].name.as_str()).collect();
    let mut header = Header::new("many", 1, &names, &["stock"]);
    header.nodes = ["A", "B", "C"].map(str::to_owned).to_vec();
    let (mut history, mut keys) = (History::new(header), Vec::new());
    for turn in 0..grants {
        let client = ClientId((turn % clients as u64) as u32);
        let (at, call) = (turn * 100 * MS, CallId(turn));
        let held = if turn % 10 == 9 { 150 } else { 80 };
        history.push(TrueNs(at), EventKind::AcquireStarted { client, call, lock: LOCK });
        history.push(TrueNs(at + 10 * MS), granted(client, call, at + 10 * MS));
        history.push(TrueNs(at + held * MS), EventKind::ReleaseCalled { client, grant: call });
        let returned = EventKind::ReleaseReturned { client, grant: call, outcome: ReleaseOutcome::NotOwner };
        history.push(TrueNs(at + (held + 3) * MS), returned);
        for node in 0..3 {
            keys.push(KeySpan {
                node: HostIndex(node),
                lock: LockId(0),
                grant: call,
                client: scenario.clients[client.0 as usize].host,
                origin: KeyOrigin::Executed,
                is_token: true,
                from: TrueNs(at + 5 * MS),
                until: Some((TrueNs(at + 60 * MS), KeyEnd::Expired)),
            });
        }
    }
    let ended = TrueNs(grants * 100 * MS + 100 * MS);
    history.push(ended, EventKind::RunEnded { outcome: RunOutcome::Completed });
    Report {
        scenario: scenario.into(),
        seed: Seed(1),
        engine: "sim",
        verdicts: judge(&history),
        told: None,
        history,
        faults: Vec::new(),
        keys,
        leases: Leases::default(),
        votes: BTreeMap::new(),
        extends: BTreeMap::new(),
        left_out: BTreeMap::new(),
        ended,
        events: 0,
        messages: 0,
        trace_hash: TraceHash(0),
        replays: None,
        announcements: Vec::new(),
        notes: Vec::new(),
        panicked: None,
    }
}

fn granted(client: ClientId, grant: CallId, at: u64) -> EventKind {
    let deadline = Some(Deadline { clock: ClockKind::Monotonic, reading_ns: at as i64 + 50 * MS as i64 });
    let reading = Reading { wall_ns: at as i64, monotonic_ns: at, boot_ns: at };
    EventKind::Granted {
        client,
        grant,
        lock: LOCK,
        token: "2a".to_owned(),
        fencing: None,
        deadline,
        reading: Some(reading),
        within: None,
    }
}

/// The hosts of the tests' hand-made reports, with as many clients as asked for.
fn scenario(clients: usize) -> Scenario {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/story.toml");
    let mut scenario = catalog::load(path, &[]).expect("a scenario of the tests");
    let like = scenario.clients[0].clone();
    while scenario.clients.len() < clients {
        let name = format!("c{}", scenario.clients.len() + 1);
        let host = HostSetup { name, role: Role::Client, ..scenario.hosts[like.host.0].clone() };
        scenario.hosts.push(host);
        let mut client = like.clone();
        client.host = HostIndex(scenario.hosts.len() - 1);
        scenario.clients.push(client);
    }
    scenario
}
