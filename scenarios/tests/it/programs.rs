//! What a client's program does, step by step: reads end with their grant, failed checks end a round, claims end with
//! their process.

use doublehold_history::{EventKind, Predicate, RunOutcome, Verdict};
use doublehold_scenarios::{Engine, LeanEngine, Report, Scenario, SimEngine, format::Source};

fn read(text: &str) -> Scenario {
    let source = Source {
        name: "program".into(),
        file: "program.toml".into(),
        text: text.into(),
        ..Source::default()
    };
    source.read().unwrap_or_else(|error| panic!("{error}"))
}

fn run(text: &str) -> Report {
    SimEngine.run(&read(text), 1)
}

fn one_client(program: &str, more: &str) -> Report {
    run(&format!(
        r#"
        claim = "a program does what it says"
        lock = {{ algorithm = "single", ttl = "10s", elapsed_check = true }}
        nodes = {{ names = ["A"] }}
        clients = [{{ name = "c1", program = {program} }}]
        {more}
        "#
    ))
}

/// What each write that was sent was based on.
fn writes_sent(report: &Report) -> Vec<Option<u64>> {
    let sent = |what: &EventKind| match *what {
        EventKind::WriteSent { based_on, .. } => Some(based_on),
        _ => None,
    };
    report.history.events().iter().filter_map(|event| sent(&event.what)).collect()
}

#[test]
fn a_read_ends_with_its_grant() {
    let program = r#"["acquire", "read", "write", "release", "acquire", "write", "release"]"#;
    let report = one_client(program, "");
    assert_eq!(writes_sent(&report), [Some(0), None], "nothing was read under the second grant");
    assert_eq!(report.verdicts.get(Predicate::P4).as_str(), "holds");
}

#[test]
fn an_extension_leaves_a_grant_what_it_read() {
    let report = one_client(r#"["acquire", "read", "extend", "write", "release"]"#, "");
    assert_eq!(writes_sent(&report), [Some(0)]);
}

/// What the resource made of writes, in order: the version each made, or that it was refused.
fn outcomes(report: &Report) -> Vec<Result<u64, String>> {
    let outcome = |what: &EventKind| match what {
        EventKind::WriteApplied { version, .. } => Some(Ok(*version)),
        EventKind::WriteRefused { why, .. } => Some(Err(why.clone())),
        _ => None,
    };
    report.history.events().iter().filter_map(|event| outcome(&event.what)).collect()
}

#[test]
fn a_resource_that_restarts_still_has_what_was_written() {
    for kind in ["crash", "power-loss"] {
        let report = run(&format!(
            r#"
            claim = "a resource is a database on a disk"
            lock = {{ algorithm = "single", ttl = "10s" }}
            nodes = {{ names = ["A"] }}
            clients = [
                {{ name = "c1", program = ["acquire", "read", "write", "release"] }},
                {{ name = "c2", program = ["acquire", "read", "write", "release"], start = "5s" }},
            ]
            faults = [{{ kind = "{kind}", host = "resource", for = "1s", at = "c1's release" }}]
            "#
        ));
        assert_eq!(outcomes(&report), [Ok(1), Ok(2)], "{kind}");
        assert_eq!(writes_sent(&report), [Some(0), Some(1)], "{kind}");
        assert_eq!(report.verdicts.get(Predicate::P4).as_str(), "holds", "{kind}");
    }
}

#[test]
fn a_resource_that_restarts_still_refuses_the_fencing_numbers_it_refused_before() {
    for kind in ["crash", "power-loss"] {
        let report = run(&format!(
            r#"
            claim = "a resource remembers the highest fencing number"
            lock = {{ algorithm = "single", ttl = "10s", fencing = true }}
            nodes = {{ names = ["A"] }}
            resource = {{ fencing = "reject-lower" }}
            clients = [
                {{ name = "c1", program = ["acquire", "work 20s", "read", "write", "release"] }},
                {{ name = "c2", program = ["acquire", "write", "release"], start = "c1's grant" }},
            ]
            faults = [{{ kind = "{kind}", host = "resource", for = "1s", at = "c2's release" }}]
            "#
        ));
        let refused = "fencing number 1 is stale: 2 has been seen".to_owned();
        assert_eq!(outcomes(&report), [Ok(1), Err(refused)], "{kind}");
    }
}

#[test]
fn a_write_whose_answer_was_lost_with_the_resource_is_not_sent_again() {
    let more =
        r#"faults = [{ kind = "crash", host = "resource", for = "1s", at = "c1's message to resource" }]"#;
    let report = one_client(r#"["acquire", "write", "release"]"#, more);
    assert_eq!(outcomes(&report), []);
    assert_eq!(report.verdicts.get(Predicate::P4).as_str(), "inconclusive", "c1 cannot know and gives up");
    assert!(report.notes.iter().any(|note| note == "c1 lost the resource and gave up"), "{:?}", report.notes);
}

/// When each deadline passed, in whole seconds of true time.
fn deadlines_passed(report: &Report) -> Vec<u64> {
    let passed =
        report.history.events().iter().filter(|event| matches!(event.what, EventKind::DeadlinePassed { .. }));
    passed.map(|event| event.at.0 / 1_000_000_000).collect()
}

#[test]
fn a_deadline_passes_on_the_clock_it_is_on_also_while_the_client_is_stopped() {
    // Suspended for 20 s: only the wall and the boot clock show more than nine seconds of lease meanwhile.
    let suspended =
        r#"faults = [{ kind = "suspend", host = "c1", for = "20s", at = "1s after c1's grant" }]"#;
    // Stepped by eight seconds at the grant: only the wall clock sees it.
    let stepped = r#"faults = [{ kind = "clock-step", host = "c1", by = "+8s", at = "c1's grant" }]"#;
    let cases = [
        (suspended, "wall", 9),
        (suspended, "boot", 9),
        (suspended, "monotonic", 29),
        (stepped, "wall", 1),
        (stepped, "boot", 9),
        (stepped, "monotonic", 9),
    ];
    for (faults, clock, second) in cases {
        let report = run(&format!(
            r#"
            claim = "a deadline is a reading of one clock"
            lock = {{ algorithm = "single", ttl = "10s", elapsed_check = true, clock = "{clock}" }}
            nodes = {{ names = ["A"] }}
            clients = [{{ name = "c1", program = ["acquire", "work 15s", "release"] }}]
            {faults}
            "#
        ));
        assert_eq!(deadlines_passed(&report), [second], "{clock}, {faults}");
    }
}

#[test]
fn a_deadline_that_an_extension_overtook_passes_no_more() {
    let report = one_client(r#"["acquire", "work 5s", "extend", "work 8s", "release"]"#, "");
    assert!(deadlines_passed(&report).is_empty(), "the first would have passed after ten seconds");
    let report = one_client(r#"["acquire", "work 5s", "extend", "work 11s", "release"]"#, "");
    assert_eq!(deadlines_passed(&report), [14], "ten seconds after the extension, less the drift allowed");
}

#[test]
fn a_process_that_ends_while_it_holds_claims_nothing_any_more() {
    let report = run(r#"
        claim = "nobody is left to believe in the lock"
        lock = { algorithm = "single", ttl = "10s" }
        nodes = { names = ["A"] }
        clients = [
            { name = "c1", program = ["acquire", "work 1s"] },
            { name = "c2", program = ["acquire", "work 1s", "release"], start = "c1's grant" },
        ]
    "#);
    let died = report.history.events().iter().find(|event| matches!(event.what, EventKind::Died { .. }));
    let died = died.expect("c1's process ended and held the lock").at.0;
    assert_eq!(died / 1_000_000_000, 1, "when its program was done");
    assert_eq!(report.verdicts.get(Predicate::P1).as_str(), "holds");
}

#[test]
fn past_a_failed_check_only_the_release_is_left_to_do() {
    let report = one_client(r#"["acquire", "read", "work 11s", "check", "write", "extend", "release"]"#, "");
    assert_eq!(writes_sent(&report), []);
    let did =
        |wanted: fn(&EventKind) -> bool| report.history.events().iter().any(|event| wanted(&event.what));
    assert!(did(|what| matches!(what, EventKind::ExpiryNoticed { .. })));
    assert!(!did(|what| matches!(what, EventKind::Extended { .. } | EventKind::ExtendFailed { .. })));
    assert!(did(|what| matches!(what, EventKind::ReleaseReturned { .. })));
}

/// Two clients that take turns while these faults strike, through redis-rs and through lean connections.
fn two_clients(faults: &str, more: &str) -> [Report; 2] {
    let scenario = read(&format!(
        r#"
        claim = "a client begins when what it needs is there"
        lock = {{ algorithm = "single", ttl = "10s" }}
        nodes = {{ names = ["A"] }}
        network = {{ delay = "1ms" }}
        limits = {{ time = "20m", obtain_within = "15s" }}
        faults = [{faults}]
        [[clients]]
        name = "c1"
        program = ["acquire", "read", "write", "release"]
        retry = "200ms"
        {more}
        [[clients]]
        name = "c2"
        program = ["acquire", "read", "write", "release"]
        retry = "200ms"
        start = "c1's grant"
        {more}
        "#
    ));
    [SimEngine.run(&scenario, 1), LeanEngine.run(&scenario, 1)]
}

/// When a client first asked for the lock, in milliseconds of true time.
fn first_asked(report: &Report) -> Option<u64> {
    let asked = |what: &EventKind| matches!(what, EventKind::AcquireStarted { .. });
    let first = report.history.events().iter().find(|event| asked(&event.what))?;
    Some(first.at.0 / 1_000_000)
}

const HOLDS: [&str; 6] = ["holds"; 6];

fn verdicts(report: &Report) -> [&str; 6] {
    Predicate::ALL.map(|predicate| report.verdicts.get(predicate).as_str())
}

#[test]
fn a_client_that_meets_the_resource_down_begins_when_it_is_up() {
    let faults = [
        // It is refused, and asks again every 200 ms.
        (r#"{ kind = "crash", host = "resource", for = "3s", at = "0s" }"#, 3_000..=3_210),
        // Nobody answers: the machine itself asks again, after 1 s and then 3 s.
        (r#"{ kind = "power-loss", host = "resource", for = "2s", at = "0s" }"#, 3_000..=3_010),
        (r#"{ kind = "cut", from = ["c1", "c2"], to = "resource", for = "2s", at = "0s" }"#, 3_000..=3_010),
        // That machine has given up when the resource comes, and the client asks anew.
        (r#"{ kind = "power-loss", host = "resource", for = "130s", at = "0s" }"#, 130_000..=131_000),
    ];
    for (fault, begins) in faults {
        for report in two_clients(fault, r#"give_up_after = "5m""#) {
            let first = first_asked(&report);
            assert!(first.is_some_and(|first| begins.contains(&first)), "{fault}: {first:?}");
            assert_eq!(outcomes(&report), [Ok(1), Ok(2)], "{fault}");
            assert_eq!(verdicts(&report), HOLDS, "{fault}");
            assert_eq!(report.notes, Vec::<String>::new(), "{fault}");
        }
    }
}

#[test]
fn a_client_that_restarts_while_the_resource_is_down_begins_again_when_it_is_up() {
    let faults = r#"
        { kind = "crash", host = "c1", for = "1s", at = "c1's grant" },
        { kind = "crash", host = "resource", for = "4s", at = "c1's grant" },
    "#;
    for report in two_clients(faults, "") {
        let asked = report.history.events().iter().filter_map(|event| match event.what {
            EventKind::AcquireStarted { client, .. } if client.0 == 0 => Some(event.at.0 / 1_000_000),
            _ => None,
        });
        let [_, again, ..] = asked.collect::<Vec<u64>>()[..] else { panic!("c1 begins again") };
        assert!((4_000..4_500).contains(&again), "{again}");
        assert_eq!(verdicts(&report), HOLDS);
    }
}

#[test]
fn a_resource_that_never_comes_up_makes_the_run_show_nothing_and_the_reason_names_it() {
    let crash = r#"{ kind = "crash", host = "resource", at = "0s" }"#;
    let power_loss = r#"{ kind = "power-loss", host = "resource", at = "0s" }"#;
    let with_client =
        r#"{ kind = "crash", host = "resource", at = "0s" }, { kind = "crash", host = "c1", at = "5s" }"#;
    // What ends the run: the clients' patience, or the time of the run.
    let (gives_up, goes_on) = ("give_up_after = \"10s\"", "give_up_after = \"1h\"");
    let cases = [
        (crash, gives_up, RunOutcome::Completed, 10, "connection refused"),
        (crash, goes_on, RunOutcome::TimeBudget, 1_200, "connection refused"),
        (power_loss, gives_up, RunOutcome::Completed, 127, "connection timed out"),
        (power_loss, goes_on, RunOutcome::TimeBudget, 1_200, "connection timed out"),
        (with_client, gives_up, RunOutcome::Completed, 10, "connection refused"),
    ];
    for (faults, patience, outcome, seconds, why) in cases {
        for report in two_clients(faults, patience) {
            assert_eq!(first_asked(&report), None);
            assert_eq!(verdicts(&report), ["inconclusive"; 6], "{faults}");
            assert_eq!(report.history.outcome(), Some(outcome), "{faults}");
            assert_eq!(report.ended.0 / 1_000_000_000, seconds, "{faults}");
            for client in ["c1", "c2"] {
                let reason = format!("{client} could not reach the resource: {why}");
                assert!(report.notes.contains(&reason), "{faults}: {:?}", report.notes);
            }
            // Where the time of the run is up, that is the reason, and the notes say why it came to that.
            let verdict = report.verdicts.get(Predicate::P1);
            let names_it = matches!(verdict, Verdict::Inconclusive(why) if why.contains("the resource"));
            assert_eq!(names_it, outcome == RunOutcome::Completed, "{verdict:?}");
        }
    }
}

#[test]
fn a_client_that_dies_before_it_reached_a_resource_that_is_up_leaves_a_run_to_judge() {
    let report = run(r#"
        claim = "the others go on"
        lock = { algorithm = "single", ttl = "10s" }
        nodes = { names = ["A"] }
        network = { delay = "1ms" }
        limits = { obtain_within = "10s" }
        faults = [{ kind = "crash", host = "c1", at = "1ms" }]
        clients = [
            { name = "c1", program = ["acquire", "write", "release"] },
            { name = "c2", program = ["acquire", "write", "release"] },
        ]
    "#);
    assert_eq!(outcomes(&report), [Ok(1)]);
    assert_eq!((verdicts(&report), report.notes.len()), (HOLDS, 0), "{:?}", report.notes);
}

#[test]
fn a_run_that_ends_while_a_client_waits_for_an_answer_of_the_resource_says_so() {
    let silent = r#"
        limits = { time = "1m" }
        faults = [{ kind = "power-loss", host = "resource", at = "0s" }]
    "#;
    let report = one_client(r#"["acquire", "write", "release"]"#, silent);
    let reason = "c1 had not reached the resource when the run ended".to_owned();
    assert!(report.notes.contains(&reason), "{:?}", report.notes);
    assert_eq!(verdicts(&report), ["inconclusive"; 6]);
}
