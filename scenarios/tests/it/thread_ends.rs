//! The end of a thread: its process runs on, with the mutex that the thread had and the watchdog that renews for it.

use doublehold_history::{ClientId, EventKind, Predicate};
use doublehold_scenarios::format::Source;
use doublehold_scenarios::{Engine, Report, SimEngine};

const SEC: u64 = 1_000_000_000;

fn times(report: &Report, client: u32, wanted: impl Fn(&EventKind) -> bool) -> Vec<u64> {
    let its = report.history.events().iter().filter(|event| event.what.client() == Some(ClientId(client)));
    its.filter(|event| wanted(&event.what)).map(|event| event.at.0).collect()
}

fn granted(what: &EventKind) -> bool {
    matches!(what, EventKind::Granted { .. })
}

/// The first thread of `web` leaves the lock; another client, of a process of its own, may be there besides.
fn left(lock: &str, leaves: &str, other: Option<&str>) -> Report {
    let other = other.map_or(String::new(), |other| format!("{{ name = \"c3\", {other} }},"));
    let text = format!(
        r#"
        claim = "a thread leaves the lock"
        lock = {{ algorithm = "{lock}", ttl = "10s" }}
        nodes = {{ names = ["A"] }}
        clients = [
            {{ name = "c1", process = "web", {leaves} }},
            {{ name = "c2", process = "web", program = ["try 60s", "read", "write", "release"], start = "5s" }},
            {other}
        ]
        limits = {{ obtain_within = "30s" }}
        "#
    );
    let source = Source { name: "t".into(), file: "t".into(), text, ..Source::default() };
    SimEngine.run(&source.read().unwrap_or_else(|error| panic!("{error}")), 1)
}

fn abandoned(what: &EventKind) -> bool {
    matches!(what, EventKind::Abandoned { .. })
}

const LEAVES: &str = r#"program = ["acquire", "read", "write"]"#;

/// The mutex stays with the thread, whatever became of the key: the other one waits as long as it may.
#[test]
fn a_thread_that_ends_without_a_release_keeps_the_others_of_its_process_out() {
    for lock in ["local-remote", "spring-registry"] {
        let report = left(lock, LEAVES, None);
        assert_eq!(times(&report, 0, abandoned).len(), 1, "{lock}: it is done with the lock");
        let died = |what: &EventKind| matches!(what, EventKind::Died { .. });
        assert!(times(&report, 0, died).is_empty(), "{lock}: its process runs on");
        assert!(times(&report, 1, granted).is_empty(), "{lock}");
        assert_eq!(report.verdicts.get(Predicate::LV).as_str(), "violated", "{lock}");
        let gives_back = left(lock, r#"program = ["acquire", "read", "write", "release"]"#, None);
        assert_eq!(times(&gives_back, 1, granted).len(), 1, "{lock}");
    }
}

/// The watchdog is the process's: a client of another process never gets the lock while this one lives.
#[test]
fn a_watchdog_renews_the_lock_of_a_thread_that_is_gone() {
    let report = left("redisson", LEAVES, Some(r#"program = ["try 40s", "release"], start = "10s""#));
    assert_eq!(times(&report, 0, abandoned).len(), 1);
    assert!(times(&report, 2, granted).is_empty(), "the key is renewed");
    let ends = report.keys.iter().filter_map(|key| key.until).map(|(at, _)| at.0).max();
    assert!(ends.is_none_or(|at| at > 50 * SEC), "for as long as its process lives: {ends:?}");
}

/// What a thread works on after its last write is not under the lock: no double hold with who gets it then.
#[test]
fn a_thread_that_works_on_after_its_last_write_claims_the_lock_no_longer() {
    let third = Some(r#"program = ["acquire", "read", "write", "release"], start = "20s""#);
    let works_on = r#"program = ["acquire", "read", "write", "work 60s"]"#;
    let report = left("single", works_on, third);
    assert_eq!(report.verdicts.get(Predicate::P1).as_str(), "holds");
    assert_eq!(times(&report, 0, abandoned).len(), 1);
    assert!(!times(&report, 2, granted).is_empty(), "its key has expired");
    // Work before the last write is.
    let needs_it = r#"program = ["acquire", "read", "work 60s", "write"]"#;
    let report = left("single", needs_it, third);
    assert_eq!(report.verdicts.get(Predicate::P1).as_str(), "violated");
}
