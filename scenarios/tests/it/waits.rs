//! The two bounds of a scenario, from the file to the sentence: one for every wait, one for a lock nobody claims.

use doublehold_history::{Predicate, RunOutcome};
use doublehold_scenarios::{Engine, Report, SimEngine, format::Source};

/// c1 holds for ninety seconds by extending its lease; c2 asks for 60 s and gives up.
fn verdict(limits: &str) -> (&'static str, Vec<String>) {
    let text = format!(
        r#"
        claim = "somebody holds the lock for long"
        lock = {{ algorithm = "redlock", ttl = "10s" }}
        nodes = {{ names = ["A", "B", "C"] }}
        clients = [
            {{ name = "c1", program = ["acquire", {extensions} "release"] }},
            {{ name = "c2", program = ["acquire", "release"], start = "c1's grant", give_up_after = "60s" }},
        ]
        limits = {{ time = "10m" {limits} }}
        "#,
        extensions = r#""work 5s", "extend", "#.repeat(18),
    );
    let source = Source { name: "waits".into(), file: "waits.toml".into(), text, ..Source::default() };
    let scenario = source.read().unwrap_or_else(|error| panic!("{error}"));
    let report = SimEngine.run(&scenario, 1);
    let verdict = report.verdicts.get(Predicate::LV);
    let header = report.history.header();
    (verdict.as_str(), verdict.evidence().iter().map(|it| it.sentence(header)).collect())
}

#[test]
fn a_client_starved_by_a_holder_waited_longer_than_any_wait_may_be() {
    let (verdict, words) = verdict(r#", obtain_within = "30s""#);
    assert_eq!(verdict, "violated");
    assert_eq!(words.len(), 1);
    assert!(words[0].starts_with("c2 waited 60."), "{}", words[0]);
    assert!(words[0].contains(r#"s for "stock", while c1 held it"#), "{}", words[0]);
    assert!(words[0].ends_with("the bound for any wait is 30 s"), "{}", words[0]);
}

#[test]
fn a_bound_for_free_locks_says_nothing_about_one_that_is_held() {
    assert_eq!(verdict(r#", obtain_free_within = "30s""#), ("holds", Vec::new()));
}

#[test]
fn without_a_bound_nothing_is_said_about_waits() {
    assert_eq!(verdict(""), ("inconclusive", Vec::new()));
}

#[test]
fn a_client_gives_up_before_the_run_meets_its_limit() {
    let run = |more: &str| {
        let text = format!(
            r#"
            claim = "a lock that is never granted ends a run all the same"
            lock = {{ algorithm = "single", ttl = "10m" }}
            nodes = {{ names = ["A"] }}
            clients = [
                {{ name = "c1", program = ["acquire", "work 1s"] }},
                {{ name = "c2", program = ["acquire", "release"], start = "c1's grant"{more} }},
            ]
            limits = {{ time = "1m" }}
            "#
        );
        let source = Source { name: "never".into(), file: "never.toml".into(), text, ..Source::default() };
        SimEngine.run(&source.read().unwrap_or_else(|error| panic!("{error}")), 1)
    };
    let outcome = |report: &Report| report.history.outcome();
    let (default, longer) = (run(""), run(r#", give_up_after = "10m""#));
    assert_eq!(outcome(&default), Some(RunOutcome::Completed));
    assert_eq!(default.ended.0 / 1_000_000_000, 30, "half of the limit");
    assert_eq!(outcome(&longer), Some(RunOutcome::TimeBudget));
}

/// c1 releases after 20 s, and its message is late. c2 has waited for the lock since c1 got it.
fn while_a_release_is_late(faults: &str, bound: &str) -> &'static str {
    let text = format!(
        r#"
        claim = "waits count from the end of the last fault"
        lock = {{ algorithm = "single", ttl = "60s" }}
        nodes = {{ names = ["A"], scripts = "loaded" }}
        network = {{ delay = "1ms" }}
        clients = [
            {{ name = "c1", program = ["acquire", "work 20s", "release"] }},
            {{ name = "c2", program = ["acquire", "release"], start = "c1's grant", retry = "100ms" }},
        ]
        faults = [{faults}]
        limits = {{ obtain_within = "{bound}", after_faults = true }}
        "#
    );
    let source = Source { name: "late".into(), file: "late.toml".into(), text, ..Source::default() };
    let scenario = source.read().unwrap_or_else(|error| panic!("{error}"));
    SimEngine.run(&scenario, 1).verdicts.get(Predicate::LV).as_str()
}

#[test]
fn a_delay_is_over_when_the_message_that_it_waited_for_was_to_arrive() {
    let late = |by: &str, at: &str| {
        format!("{{ kind = 'packet-delay', from = 'c1', to = 'A', by = '{by}', at = \"{at}\" }}")
    };
    // Placed long before the message is sent, right before it is, and two that add up.
    let early = late("5s", "1s");
    let at_once = late("5s", "c1's release");
    let both = format!("{}, {}", late("5s", "1s"), late("5s", "2s"));
    for faults in [&early, &at_once, &both] {
        assert_eq!(while_a_release_is_late(faults, "1s"), "holds", "{faults}");
        assert_eq!(while_a_release_is_late(faults, "1ms"), "violated", "{faults}");
    }
}
