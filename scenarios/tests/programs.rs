//! What a client's program does, step by step: reads end with their grant, failed checks end a round, claims end with
//! their process.

use doublehold_history::{Predicate, What};
use doublehold_scenarios::{Engine, Keep, Report, SimEngine, spec::Source};

fn run(text: &str) -> Report {
    let source = Source {
        name: "program".into(),
        file: "program.toml".into(),
        text: text.into(),
        ..Source::default()
    };
    SimEngine.run(&source.read().unwrap_or_else(|error| panic!("{error}")), 1, Keep::History)
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
    let sent = |what: &What| match *what {
        What::WriteSent { based_on, .. } => Some(based_on),
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
    let outcome = |what: &What| match what {
        What::WriteApplied { version, .. } => Some(Ok(*version)),
        What::WriteRefused { why, .. } => Some(Err(why.clone())),
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
