//! Faults and moments made in Rust say what a file can say: they are written and read as themselves, and refused with
//! the messages of a file.

use std::time::Duration;

use doublehold_scenarios::fault::{Effect, Fault, Names, Way};
use doublehold_scenarios::when::{Event, Mark, When};
use doublehold_scenarios::{Scenario, catalog};
use doublehold_sim::{ClockKind, DelayLaw, Probability, RatePpb};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// Nodes M, R1 and R2, clients c1 and c2; c1's program has every step.
fn base() -> Scenario {
    let program = r#"["acquire", "read", "work 1s", "check", "write", "extend", "release"]"#;
    let sets = [("clients.0.program", program), ("lock.elapsed_check", "true"), ("faults", "[]")];
    let sets = sets.map(|(key, value)| (key.to_owned(), value.to_owned()));
    Scenario { sets: Vec::new(), ..catalog::load("failover-before-replication", &sets).unwrap() }
}

fn with(fault: Fault) -> Scenario {
    Scenario { faults: vec![fault], ..base() }
}

fn refusal(fault: Fault) -> String {
    with(fault).validate().map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn names(of: &'static [&'static str]) -> impl Strategy<Value = Names> {
    subsequence(of, 1..=of.len()).prop_shuffle().prop_map(|names| names.into_iter().collect())
}

fn anyone() -> impl Strategy<Value = Names> {
    names(&["M", "R1", "R2", "c1", "c2", "resource"])
}

fn nodes() -> impl Strategy<Value = Names> {
    names(&["M", "R1", "R2"])
}

fn long() -> impl Strategy<Value = Duration> {
    (1_u64..1_000_000, select(vec![1_u64, 1_000, 1_000_000, 1_000_000_000]))
        .prop_map(|(count, unit)| Duration::from_nanos(count * unit))
}

fn bounded() -> impl Strategy<Value = DelayLaw> {
    prop_oneof![
        long().prop_map(DelayLaw::Fixed),
        (long(), long()).prop_map(|(by, more)| DelayLaw::Uniform { min: by, max: by + more }),
        vec(long(), 2..5).prop_map(|mut all| {
            all.sort();
            DelayLaw::Quantiles(all.into())
        }),
    ]
}

fn way() -> impl Strategy<Value = Way> {
    (names(&["c1", "c2"]), names(&["M", "R1", "R2", "resource"]), any::<bool>())
        .prop_map(|(from, to, both_ways)| Way { from, to, both_ways })
}

fn effect() -> impl Strategy<Value = Effect> {
    let chance = (0_u32..50, 50_u32..9_999).prop_map(|(n, d)| Probability::new(n, d).unwrap());
    let clock = select(vec![ClockKind::Wall, ClockKind::Monotonic, ClockKind::Boot]);
    let tell = proptest::option::of(vec(Just("M"), 0..=1).prop_map(|told| told.into_iter().collect()));
    // Names every kind, so that a new one is not forgotten below.
    fn _drawn(effect: &Effect) {
        match effect {
            Effect::Pause { .. }
            | Effect::Suspend { .. }
            | Effect::Crash { .. }
            | Effect::PowerLoss { .. }
            | Effect::ClockStep { .. }
            | Effect::ClockDrift { .. }
            | Effect::ClockFreeze { .. }
            | Effect::Cut { .. }
            | Effect::Slow { .. }
            | Effect::PacketDelay { .. }
            | Effect::Duplicate { .. }
            | Effect::Loss { .. }
            | Effect::ResetConnections { .. }
            | Effect::SlowNode { .. }
            | Effect::FsyncLies { .. }
            | Effect::DiskSnapshot { .. }
            | Effect::DiskRollback { .. }
            | Effect::Flush { .. }
            | Effect::Evict { .. }
            | Effect::Promote { .. }
            | Effect::Follow { .. } => (),
        }
    }
    prop_oneof![
        anyone().prop_map(|hosts| Effect::Pause { hosts }),
        (anyone(), proptest::option::of(long()))
            .prop_map(|(hosts, resync)| Effect::Suspend { hosts, resync }),
        anyone().prop_map(|hosts| Effect::Crash { hosts }),
        (anyone(), any::<bool>()).prop_map(|(hosts, torn_tail)| Effect::PowerLoss { hosts, torn_tail }),
        (anyone(), (1_i64..=i64::from(i32::MAX)).prop_flat_map(|size| select(vec![size, -size])))
            .prop_map(|(hosts, by_ns)| Effect::ClockStep { hosts, by_ns }),
        (anyone(), RatePpb::SLOWEST.0..=RatePpb::FASTEST.0)
            .prop_map(|(hosts, ppb)| Effect::ClockDrift { hosts, by: RatePpb(ppb) }),
        (anyone(), clock).prop_map(|(hosts, clock)| Effect::ClockFreeze { hosts, clock }),
        way().prop_map(|way| Effect::Cut { way }),
        (way(), long()).prop_map(|(way, by)| Effect::Slow { way, by }),
        (way(), long()).prop_map(|(Way { from, to, .. }, by)| Effect::PacketDelay { from, to, by }),
        (way(), long()).prop_map(|(Way { from, to, .. }, after)| Effect::Duplicate { from, to, after }),
        way().prop_map(|Way { from, to, .. }| Effect::ResetConnections { from, to }),
        (way(), chance).prop_map(|(way, probability)| Effect::Loss { way, probability }),
        (nodes(), bounded()).prop_map(|(hosts, by)| Effect::SlowNode { hosts, by }),
        nodes().prop_map(|hosts| Effect::FsyncLies { hosts }),
        nodes().prop_map(|hosts| Effect::DiskSnapshot { hosts }),
        nodes().prop_map(|hosts| Effect::DiskRollback { hosts }),
        nodes().prop_map(|hosts| Effect::Flush { hosts }),
        (nodes(), any::<bool>()).prop_map(|(hosts, volatile_only)| Effect::Evict { hosts, volatile_only }),
        (tell, any::<bool>()).prop_map(|(tell, rewrite_config)| Effect::Promote {
            host: "R1".into(),
            tell,
            rewrite_config
        }),
        any::<bool>().prop_map(|rewrite_config| Effect::Follow {
            hosts: ["M", "R2"].into(),
            master: "R1".to_owned(),
            rewrite_config
        }),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let host = || select(vec!["M", "R1", "R2", "c1", "c2", "resource"]);
    let client = || select(vec!["c1", "c2"]);
    let node = select(vec!["M", "R1", "R2"]);
    let command = select(vec!["SET", "EVALSHA", "ROLE"]);
    let executed = (command, proptest::option::of(client()), proptest::option::of(node));
    // Names every event, so that a new one is not forgotten below.
    fn _drawn(event: &Event) {
        match event {
            Event::Mark { .. }
            | Event::Executed { .. }
            | Event::ClockRead { .. }
            | Event::Timer { .. }
            | Event::Boot { .. }
            | Event::Sent { .. }
            | Event::Received { .. } => (),
        }
    }
    prop_oneof![
        select(Mark::ALL.to_vec()).prop_map(|mark| Event::mark("c1", mark)),
        executed.prop_map(|(command, client, node)| Event::Executed {
            command: command.to_owned(),
            client: client.map(str::to_owned),
            node: node.map(str::to_owned),
        }),
        client().prop_map(|host| Event::ClockRead { host: host.to_owned() }),
        client().prop_map(|client| Event::Timer { client: client.to_owned() }),
        host().prop_map(|host| Event::Boot { host: host.to_owned() }),
        client().prop_map(|from| Event::Sent { from: from.to_owned(), to: "M".to_owned() }),
        client().prop_map(|by| Event::Received { by: by.to_owned(), from: "resource".to_owned() }),
    ]
}

fn when() -> impl Strategy<Value = When> {
    let chain = (vec((event(), 1_u32..200), 1..4), long()).prop_map(|(events, after)| {
        let start = When::On { events: Vec::new(), after };
        events.into_iter().fold(start, |when, (event, nth)| when.then(event, nth))
    });
    prop_oneof![(0_u64..600_000_000_000).prop_map(|ns| When::At(Duration::from_nanos(ns))), chain]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_fault_is_written_and_read_as_itself(
        effect in effect(),
        at in when(),
        lasting in proptest::option::of(long()),
        each in any::<bool>(),
        optional in any::<bool>(),
    ) {
        // Stops must end, and what cannot be taken back must not.
        let lasting = match effect.recovery_text(&Names::default()) {
            None => None,
            Some(_) => lasting.or(Some(secs(1))),
        };
        // A time comes once.
        let each = each && matches!(at, When::On { .. });
        let fault = Fault { effect, at, lasting, each, optional };
        let alone = toml::Value::try_from(&fault).expect("a table");
        let scenario = with(fault);
        prop_assert_eq!(&alone, &toml::Value::try_from(&scenario).expect("a table")["faults"][0]);
        let read = scenario.validate().unwrap_or_else(|error| panic!("{error}\n{}", scenario.to_toml()));
        prop_assert_eq!(read, scenario);
    }

    #[test]
    fn every_moment_is_read_from_what_it_prints(when in when()) {
        prop_assert_eq!(when.to_string().parse(), Ok(when));
    }
}

#[test]
fn a_fault_made_in_rust_is_refused_like_one_in_a_file_without_a_line_of_it() {
    let cases = [
        (
            Fault::pause("c1"),
            "`faults.0` has no `for`\nhint: say how long: `.lasting(Duration::from_secs(12))`",
        ),
        (Fault::crash("c9"), "`faults.0.host`: there is no host `c9`\nhint: did you mean `c1`?"),
        (Fault::crash(Vec::new()), "`faults.0.host` names no host\nhint: name at least one"),
        (
            Fault::cut(Way::between("c1", ["M", "c1"])),
            "`c1` is on both ends of the link\nhint: a host needs no network to reach itself",
        ),
        (
            Fault::crash("M").at(When::event("c2", Mark::Extend)),
            "`faults.0.at`: `c2's extend` cannot happen\nhint: the program of `c2` has no `extend` step: add one",
        ),
        (
            Fault::crash("M").at(secs(7_200)),
            "`faults.0.at` is 2 h, and the run ends at 10 min\nhint: name an earlier time, or raise `limits.time`",
        ),
        (
            Fault::crash("M").at(secs(1)).each(),
            "`faults.0.each`: a time comes only once\nhint: remove it, or let `at` name an event such as \"c1's grant\"",
        ),
        (
            Fault::duplicate("resource", "M", secs(1)),
            "`faults.0.from`: `resource` only answers, and a `duplicate` is of a request\nhint: name clients, or nodes that talk to nodes",
        ),
        (
            Fault::duplicate("M", "c1", secs(1)),
            "`faults.0.to`: nobody sends `c1` a request, and a `duplicate` is of a request\nhint: name nodes or the resource: who asks them is `from`",
        ),
        (
            Fault::slow_node("M", DelayLaw::LogNormal { median: secs(1), sigma_milli: 500 }),
            "`faults.0.by`: a log-normal law has no longest time\nhint: use a range such as \"1s..3s\", or a list of quantiles",
        ),
        (
            Fault::slow_node("M", DelayLaw::Fixed(Duration::ZERO)),
            "`faults.0.by` is no time at all\nhint: use some time, such as \"1s..3s\"",
        ),
        (
            Fault::slow_node("c1", DelayLaw::Fixed(secs(1))),
            "`faults.0.host`: `c1` runs no Redis\nhint: a `slow-node` strikes nodes",
        ),
        (Fault::promote(["R1", "R2"]), "there can be one master only\nhint: promote a single node"),
        (
            Fault::packet_delay("c1", "M", secs(1)).lasting(secs(2)),
            "`for` means nothing to a `packet-delay`\nhint: it takes `kind`, `at`, `each`, `optional`, `from`, `to` and `by`",
        ),
        (
            Fault::crash("M").at(Event::executed("GET").by("c1")),
            "`faults.0.at`: `GET executed for c1` cannot happen\nhint: the clients of this lock send `EVALSHA`, `ROLE`, `SCRIPT` and `SET`",
        ),
    ];
    for (fault, expected) in cases {
        let refused = refusal(fault);
        assert_eq!(refused, format!("cannot use `failover-before-replication`: {expected}"));
    }
}

#[test]
fn a_moment_that_is_none_is_refused_with_the_way_out() {
    let refusal = |text: &str| text.parse::<When>().map_err(|error| error.to_string());
    assert_eq!(
        refusal("c1's grnt").unwrap_err(),
        "`the moment`: there is no event `grnt`\nhint: did you mean `grant`?"
    );
    assert_eq!(
        refusal("-2s").unwrap_err(),
        "`the moment` must not be negative: `-2s`\nhint: use a duration from \"0s\" up"
    );
    assert!(refusal("c9's grant").is_ok(), "whether there is such a host, the scenario decides");
}
