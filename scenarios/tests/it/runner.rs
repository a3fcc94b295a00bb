//! What the runner makes of clients that die, come back, or leave something behind on the network.

use doublehold_history::{EventKind, Predicate, RunOutcome, Verdict};
use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::format::Source;
use doublehold_scenarios::{Engine, Prepared, PreparedSim, Report, SimEngine, catalog};

fn run(name: &str, sets: &[(&str, &str)]) -> Report {
    let sets: Vec<_> = sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let scenario = catalog::load(name, &sets).unwrap_or_else(|error| panic!("{error}"));
    SimEngine.run(&scenario, 1)
}

#[test]
fn a_late_write_of_a_client_that_crashed_still_lands() {
    // Killing the old holder does not help: its packet is already on the way.
    let faults = r#"[
        { kind = "packet-delay", from = "c1", to = "resource", by = "90s", at = "c1's write" },
        { kind = "crash", host = "c1", at = "1s after c1's write" },
    ]"#;
    let report = run("packet-delay-90s", &[("faults", faults)]);
    assert_eq!(report.verdicts.get(Predicate::P3).as_str(), "violated");
    assert_eq!(report.verdicts.get(Predicate::P1).as_str(), "holds", "a dead client claims nothing");
    assert!(report.ended.0 > 90_000_000_000);
}

#[test]
fn a_restarted_client_begins_again_without_waiting_for_its_start() {
    let faults = r#"[{ kind = "crash", host = "c2", for = "3s", at = "c2's grant" }]"#;
    let report = run("lease-pause", &[("faults", faults)]);
    let c2 = |wanted: fn(&EventKind) -> bool| {
        let events = report.history.events().iter();
        events
            .filter(|event| event.what.client().is_some_and(|client| client.0 == 1) && wanted(&event.what))
            .count()
    };
    assert_eq!(c2(|what| matches!(what, EventKind::Died { .. })), 1);
    assert_eq!(c2(|what| matches!(what, EventKind::Restarted { .. })), 1);
    assert_eq!(c2(|what| matches!(what, EventKind::Granted { .. })), 2, "granted, dead, and granted again");
    assert_eq!(report.verdicts.get(Predicate::P1).as_str(), "holds");
}

#[test]
fn a_run_that_is_cut_short_proves_nothing() {
    let report = run("quiet", &[("limits.time", "1s")]);
    assert_eq!(report.history.outcome(), Some(RunOutcome::TimeBudget));
    assert_eq!(report.verdicts.get(Predicate::P1).as_str(), "inconclusive");
}

/// A client that asks over and over for a lock that another holds for a hundred days.
fn a_long_wait(limits: &str) -> PreparedSim {
    let text = format!(
        r#"
        claim = "a long wait"
        lock = {{ algorithm = "single", ttl = "300d" }}
        nodes = {{ names = ["A"] }}
        limits = {{ time = "300d", events = 100_000_000, {limits} }}
        [[clients]]
        name = "c1"
        program = ["acquire", "work 100d", "release"]
        [[clients]]
        name = "c2"
        program = ["acquire", "release"]
        start = "c1's grant"
        retry = "0ms"
        give_up_after = "200d"
        "#
    );
    let source = Source { name: "wait".into(), file: "wait.toml".into(), text, ..Source::default() };
    let scenario = source.read().unwrap_or_else(|error| panic!("{error}"));
    SimEngine.prepare(&scenario).expect("it was read from a file")
}

#[test]
fn a_run_that_records_more_than_it_may_keep_ends_and_names_its_limit() {
    let report = a_long_wait(r#"memory = "4MiB""#).run(1);
    assert_eq!(report.history.outcome(), Some(RunOutcome::MemoryBudget));
    assert_eq!(report.verdicts.get(Predicate::P1).as_str(), "inconclusive");
    let events = report.events;
    assert_eq!(
        report.notes,
        [format!(
            "the run met `limits.memory`, which is 4 MiB, after {events} events: raise it, or let less happen"
        )]
    );
}

#[test]
fn a_run_meets_its_memory_limit_at_the_same_event_whether_its_trace_is_kept_or_not() {
    let wait = a_long_wait(r#"memory = "4MiB""#);
    let (without, (with, _)) = (wait.judge(1), wait.run_traced(1));
    assert_eq!((without.events, without.trace_hash), (with.events, with.trace_hash));
    let twice = a_long_wait(r#"memory = "8MiB""#).judge(1);
    assert!((19..21).contains(&(twice.events * 10 / without.events)), "{} events", twice.events);
}

#[test]
fn a_token_release_that_arrives_after_its_client_went_on_is_no_wrong_release() {
    let late = r#"[{ kind = "packet-delay", from = "c1", to = "C", by = "100ms", at = "c1's 2nd release" }]"#;
    let report = run("quiet/redlock", &[("faults", late)]);
    assert_eq!(report.verdicts.get(Predicate::WR).as_str(), "holds");
}

#[test]
fn a_fault_that_met_no_message_has_not_fired() {
    let report = run("packet-delay-90s/single", &[("faults.0.at", "c1's release")]);
    assert_eq!(report.faults[0].from, None);
    assert_eq!(report.verdicts.get(Predicate::P1).as_str(), "inconclusive");
}

#[test]
fn of_two_delays_on_one_way_the_one_that_struck_fired_and_the_one_that_waits_did_not() {
    for (struck, waits) in [("20s", "1s"), ("1s", "20s"), ("1s", "1s")] {
        let faults = format!(
            r#"[
            {{ kind = "packet-delay", from = "c1", to = "resource", by = "{struck}", at = "c1's write" }},
            {{ kind = "packet-delay", from = "c1", to = "resource", by = "{waits}", at = "c1's release" }},
        ]"#
        );
        let report = run("packet-delay-90s/single", &[("faults", &faults)]);
        let fired: Vec<bool> = report.faults.iter().map(|fault| fault.from.is_some()).collect();
        assert_eq!(fired, [true, false], "{struck}, then {waits}");
        let gaps = report.history.events().iter().filter_map(|event| match &event.what {
            EventKind::Inconclusive { why } => Some(why.as_str()),
            _ => None,
        });
        let [gap] = gaps.collect::<Vec<_>>()[..] else { panic!("one gap: {:?}", report.history.events()) };
        assert!(gap.ends_with("at c1's release` never fired"), "{gap}");
    }
}

#[test]
fn a_client_that_cannot_reach_the_resource_makes_the_run_prove_nothing() {
    let report = run("quiet/single", &[("faults", r#"[{ kind = "crash", host = "resource", at = "0s" }]"#)]);
    assert_eq!(report.verdicts.get(Predicate::P1).as_str(), "inconclusive");
    assert!(report.notes.iter().any(|note| note.contains("could not reach the resource")));
}

#[test]
fn a_late_write_lands_also_when_the_resource_was_paused_meanwhile() {
    let faults = r#"[
        { kind = "pause", host = "resource", for = "100s", at = "c1's write" },
        { kind = "crash", host = "c1", at = "1s after c1's write" },
    ]"#;
    let sets = [
        ("faults", faults),
        ("clients.0.rounds", "1"),
        ("clients.1.program", r#"["acquire", "work 1s", "release"]"#),
        ("clients.2.program", r#"["acquire", "work 1s", "release"]"#),
        ("clients.1.start", "c1's grant"),
        ("clients.2.start", "c1's grant"),
    ];
    assert_eq!(run("quiet/single", &sets).verdicts.get(Predicate::P3).as_str(), "violated");
}

#[test]
fn a_host_may_have_any_name_that_the_format_allows() {
    for name in ["world", "observer", "W", "a-b_1"] {
        let sets = [("nodes.names", format!("[\"{name}\"]")), ("clients.0.name", format!("{name}-2"))];
        let sets: Vec<_> = sets.iter().map(|(key, value)| (*key, value.as_str())).collect();
        assert_eq!(run("quiet/single", &sets).history.outcome(), Some(RunOutcome::Completed), "{name}");
    }
}

#[test]
fn a_recovery_that_was_planned_and_never_came_makes_the_run_prove_nothing() {
    // A is down for longer than anybody waits for it: nothing was seen of what the scenario is about.
    let crash = |more: &str| {
        format!(r#"[{{ kind = "crash", host = "A", for = "5m", at = "c1's 3rd release"{more} }}]"#)
    };
    let alone = |faults: &str| {
        let client = r#"[{ name = "c1", program = ["acquire", "work 1s", "release"], rounds = 3 }]"#;
        run("quiet/single", &[("clients", client), ("faults", faults)])
    };
    let report = alone(&crash(""));
    assert!(report.faults[0].from.is_some() && report.faults[0].until.is_none());
    assert_eq!(report.verdicts.get(Predicate::P1).as_str(), "inconclusive");
    let Some(EventKind::Inconclusive { why }) = report
        .history
        .events()
        .iter()
        .map(|event| &event.what)
        .find(|what| matches!(what, EventKind::Inconclusive { .. }))
    else {
        panic!("no doubt was recorded");
    };
    assert_eq!(
        why,
        "the fault `A crashes and restarts after 300 s at c1's 3rd release` was not over when the run ended"
    );
    let report = alone(&crash(", optional = true"));
    assert_eq!(report.verdicts.get(Predicate::P1).as_str(), "holds");
}

#[test]
fn a_client_that_is_told_what_it_does_not_understand_says_so() {
    // No file can say this: an order is for nodes. A client that ignored it would wait for its start and show nothing.
    let mut scenario = catalog::load("lease-pause", &[]).unwrap();
    scenario.faults = vec![Fault::promote("c2")];
    let report = SimEngine.run(&scenario, 1);
    assert_eq!(report.verdicts.get(Predicate::P1).as_str(), "inconclusive");
    assert_eq!(report.notes, ["c2 waits for its start and was told `promote rewrite A`"]);
}

#[test]
fn a_fault_that_strikes_each_time_is_reported_each_time_and_must_strike_and_be_over() {
    let alone = |fault: &str| {
        let client = r#"[{ name = "c1", program = ["acquire", "work 1s", "release"], rounds = 3 }]"#;
        let fault = format!(r#"[{{ kind = "cut", from = "c1", to = "resource", each = true, {fault} }}]"#);
        let report = run("quiet/single", &[("clients", client), ("faults", &fault)]);
        let times: Vec<bool> =
            report.faults.iter().map(|it| it.from.is_some() && it.until.is_some()).collect();
        (times, report.verdicts.get(Predicate::P1).as_str())
    };
    assert_eq!(alone(r#"at = "c1's grant", for = "500ms""#), (vec![true; 3], "holds"));
    // Not all of them are over.
    assert_eq!(alone(r#"at = "c1's release", for = "5m""#), (vec![false; 3], "inconclusive"));
    assert_eq!(alone(r#"at = "c1's 2nd grant", for = "500ms""#), (vec![true], "holds"));
    assert_eq!(alone(r#"at = "c1's 4th grant", for = "500ms""#), (vec![false], "inconclusive"));
}

#[test]
fn a_world_that_stalls_says_whose_start_never_came() {
    let clients = r#"[
        { name = "c1", program = ["acquire", "work 1s", "release"] },
        { name = "c2", program = ["acquire", "release"], start = "c1's 2nd grant" },
    ]"#;
    let report = run("quiet/single", &[("clients", clients)]);
    assert_eq!(report.history.outcome(), Some(RunOutcome::Stalled));
    let Verdict::Inconclusive(why) = report.verdicts.get(Predicate::P1) else { panic!("it showed nothing") };
    assert!(why.ends_with("; the start of c2, at c1's 2nd grant, never came"), "{why}");
}
