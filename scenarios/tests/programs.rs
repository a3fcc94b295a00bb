//! What a client's program does, step by step: reads end with their grant, failed checks end a round, claims end with
//! their process.

use doublehold_history::{EventKind, Predicate};
use doublehold_scenarios::{Engine, Report, SimEngine, format::Source};

fn run(text: &str) -> Report {
    let source = Source {
        name: "program".into(),
        file: "program.toml".into(),
        text: text.into(),
        ..Source::default()
    };
    SimEngine.run(&source.read().unwrap_or_else(|error| panic!("{error}")), 1)
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
