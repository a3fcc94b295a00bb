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
