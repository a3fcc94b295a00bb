//! WR names the call that sent a command, whatever its client does when the command is executed.

use doublehold_history::{CallId, EventKind, Predicate};
use doublehold_scenarios::{Engine, Report, SimEngine, format::Source};

/// c1's first release is a DEL that arrives late, when c1 asks for its second grant or has it.
fn late_del(ttl: &str, delay: &str, more: &str) -> Report {
    let text = format!(
        r#"
        claim = "a late DEL frees whoever holds the key"
        lock = {{ algorithm = "single", ttl = "{ttl}", request_timeout = "500ms", release = "plain-delete", {more} }}
        nodes = {{ names = ["A"] }}
        faults = [{{ kind = "packet-delay", from = "c1", to = "A", by = "{delay}", at = "c1's release" }}]

        [[clients]]
        name = "c1"
        program = ["acquire", "work 1s", "release"]
        rounds = 2
        retry = "100ms"
        "#
    );
    let source = Source { name: "late".into(), file: "late.toml".into(), text, ..Source::default() };
    SimEngine.run(&source.read().unwrap_or_else(|error| panic!("{error}")), 1)
}

/// Who changed whose key, in order.
fn touches(report: &Report) -> Vec<(CallId, CallId)> {
    let touch = |what: &EventKind| match *what {
        EventKind::KeyTouched { by, held, .. } => Some((by, held)),
        _ => None,
    };
    report.history.events().iter().filter_map(|event| touch(&event.what)).collect()
}

/// The grants that were given, in order.
fn granted(report: &Report) -> Vec<CallId> {
    let grant = |what: &EventKind| match what {
        EventKind::Granted { grant, .. } => Some(*grant),
        _ => None,
    };
    report.history.events().iter().filter_map(|event| grant(&event.what)).collect()
}

fn words(report: &Report) -> Vec<String> {
    let evidence = report.verdicts.get(Predicate::WR).evidence();
    evidence.iter().map(|it| it.sentence(report.history.header())).collect()
}

#[test]
fn a_late_del_that_frees_its_clients_next_grant_is_a_wrong_release_of_the_first() {
    let report = late_del("2s", "2s", "");
    let [first, second] = granted(&report)[..] else { panic!("two grants: {:?}", granted(&report)) };
    assert_eq!(touches(&report), [(first, second)], "and the second release finds no key");
    let words = words(&report);
    assert_eq!(words.len(), 1);
    assert!(words[0].starts_with(&format!("c1's release of grant {} deleted the key", first.0)), "{words:?}");
    assert!(words[0].ends_with(&format!("held the token of c1 (grant {})", second.0)), "{words:?}");
}

#[test]
fn a_late_del_that_frees_its_own_key_is_no_wrong_release_whatever_its_client_does_meanwhile() {
    // It arrives while c1 asks for its second grant, and c1 gets that only afterwards.
    let report = late_del("10s", "600ms", "");
    let [first, second] = granted(&report)[..] else { panic!("two grants: {:?}", granted(&report)) };
    assert_eq!(touches(&report), [(first, first), (second, second)]);
    assert_eq!(report.verdicts.get(Predicate::WR).as_str(), "holds");
}

#[test]
fn on_a_connection_that_is_kept_a_late_del_comes_before_what_was_sent_after_it() {
    let report = late_del("2s", "2s", r#"on_timeout = "keep""#);
    let [first, second] = granted(&report)[..] else { panic!("two grants: {:?}", granted(&report)) };
    assert!(touches(&report).iter().all(|(by, held)| by == held), "{:?}", touches(&report));
    assert!(touches(&report).contains(&(second, second)), "{first:?}: {:?}", touches(&report));
    assert_eq!(report.verdicts.get(Predicate::WR).as_str(), "holds");
}

#[test]
fn a_key_whose_value_is_everybodys_belongs_to_the_call_that_set_it() {
    // c2 asks while c1 holds, so that c1's first key has a value that later calls mark theirs with.
    let text = r#"
        claim = "a value that tells no owner"
        lock = { algorithm = "setnx", ttl = "10s" }
        nodes = { names = ["A"] }

        [[clients]]
        name = "c1"
        program = ["acquire", "work 2s", "release"]

        [[clients]]
        name = "c2"
        program = ["acquire", "work 1s", "release"]
        start = "c1's grant"
        retry = "200ms"
        "#;
    let source =
        Source { name: "ones".into(), file: "ones.toml".into(), text: text.into(), ..Source::default() };
    let report = SimEngine.run(&source.read().unwrap_or_else(|error| panic!("{error}")), 1);
    let [first, second] = granted(&report)[..] else { panic!("two grants: {:?}", granted(&report)) };
    assert_eq!(touches(&report), [(first, first), (second, second)]);
    assert_eq!(report.verdicts.get(Predicate::WR).as_str(), "holds");
    let owners: Vec<CallId> = report.keys.iter().map(|key| key.grant).collect();
    assert_eq!(owners, [first, second], "the picture shows whose each key was");
}
