//! A lock that its client acquires twice: what is one hold, and whose each count is.

use doublehold_history::{EventKind, Predicate};
use doublehold_scenarios::format::Source;
use doublehold_scenarios::scenario::Scenario;
use doublehold_scenarios::{Engine, LeanEngine, Prepared, Report, SimEngine};

fn read(lock: &str, program: &str, more: &str) -> Result<Scenario, String> {
    let text = format!(
        r#"
        claim = "a lock that is taken again"
        lock = {{ {lock}, ttl = "10s" }}
        nodes = {{ names = ["A"] }}
        {more}
        [[clients]]
        name = "c1"
        process = "web"
        {program}
        [[clients]]
        name = "c2"
        process = "web"
        {program}
        [[clients]]
        name = "c3"
        {program}
        "#
    );
    let source = Source { name: "t".into(), file: "t".into(), text, ..Source::default() };
    source.read().map_err(|error| error.to_string())
}

fn grants(report: &Report) -> (usize, usize) {
    let events = report.history.events().iter();
    let within = events.filter_map(|event| match event.what {
        EventKind::Granted { within, .. } => Some(within),
        _ => None,
    });
    let within: Vec<_> = within.collect();
    (within.iter().filter(|it| it.is_none()).count(), within.iter().flatten().count())
}

const NESTED: &str = r#"rounds = 5
program = ["acquire", "read", "work 0ms..200ms", "acquire", "work 0ms..200ms", "write", "release", "work 100ms", "release"]"#;

#[test]
fn nested_holds_of_threads_and_processes_keep_each_other_out() {
    for lock in [
        r#"algorithm = "hash""#,
        r#"algorithm = "hash", wake = "pubsub", poll = "none""#,
        r#"algorithm = "local-remote""#,
    ] {
        let scenario = read(lock, NESTED, "").unwrap_or_else(|error| panic!("{error}"));
        let (sim, lean) = (SimEngine.prepare(&scenario).unwrap(), LeanEngine.prepare(&scenario).unwrap());
        for seed in 1..=10 {
            for report in [sim.run(seed), lean.run(seed)] {
                assert_eq!(grants(&report), (15, 15), "{lock}, seed {seed}");
                for predicate in [Predicate::P1, Predicate::P2, Predicate::P3, Predicate::P4, Predicate::WR] {
                    let verdict = report.verdicts.get(predicate);
                    assert_eq!(verdict.as_str(), "holds", "{lock}: {predicate}, seed {seed}: {verdict:?}");
                }
            }
        }
    }
}

#[test]
fn a_lease_that_is_found_over_ends_the_whole_hold() {
    let lock = r#"algorithm = "hash", elapsed_check = true"#;
    let program = r#"program = ["acquire", "acquire", "work 11s", "check", "write", "release", "release"]"#;
    let scenario = read(lock, program, "").unwrap_or_else(|error| panic!("{error}"));
    let report = SimEngine.run(&scenario, 1);
    let noticed = |what: &EventKind| matches!(what, EventKind::ExpiryNoticed { .. });
    let wrote = |what: &EventKind| matches!(what, EventKind::WriteSent { .. });
    let count = |wanted: &dyn Fn(&EventKind) -> bool| {
        report.history.events().iter().filter(|event| wanted(&event.what)).count()
    };
    assert_eq!((count(&noticed), count(&wrote)), (6, 0));
}

#[test]
fn a_lock_that_does_not_admit_its_holder_again_is_refused_with_one_that_does() {
    let refusal = read(r#"algorithm = "single""#, r#"program = ["acquire", "acquire", "release"]"#, "")
        .expect_err("it is refused");
    assert!(
        refusal.contains(
            "`clients.0.program.1` asks for a lock the client already holds, and `single` does not"
        ),
        "{refusal}"
    );
    assert!(refusal.contains("release it first, or use `hash`"), "{refusal}");
    let refusal = read(r#"algorithm = "multi-lock""#, r#"program = ["acquire", "release"]"#, "")
        .expect_err("one is not several");
    assert!(
        refusal.contains("the `multi-lock` lock is one on several nodes at once, and there is 1"),
        "{refusal}"
    );
    assert!(refusal.contains("name 2 nodes or more, or use `single`"), "{refusal}");
    // As often as it was acquired, and no more.
    let refusal = read(
        r#"algorithm = "hash""#,
        r#"program = ["acquire", "acquire", "release", "release", "release"]"#,
        "",
    )
    .expect_err("it is refused");
    assert!(refusal.contains("`clients.0.program.4` comes before the client has acquired"), "{refusal}");
}
