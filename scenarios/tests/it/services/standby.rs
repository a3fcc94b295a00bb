//! Promises about a database with a standby, whatever the moment at which that is promoted: who has the lock, whom
//! clients reach, and which commits are lost.

use std::collections::BTreeMap;

use doublehold_history::{CallId, ClientId, EventKind, Predicate, ReleaseOutcome};
use doublehold_scenarios::report::Report;

use super::run;

/// The fault of the primary before its standby is promoted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Primary {
    /// Its process is gone for good.
    Crashes,
    /// It is cut off from its standby, and from nobody else.
    LivesOn,
}

/// Clients that write all the time, and are reset when the primary lives on, so that they connect anew.
fn busy(lock: &str, primary: Primary, lag: &str, promoted_ms: u64) -> String {
    let struck = promoted_ms - 200;
    let fault = match primary {
        Primary::Crashes => format!("kind = \"crash\"\nhost = \"db\"\nat = \"{struck}ms\""),
        Primary::LivesOn => {
            format!("kind = \"cut\"\nfrom = \"db\"\nto = \"db2\"\nboth_ways = true\nat = \"{struck}ms\"")
        }
    };
    let reset = match primary {
        Primary::Crashes => String::new(),
        Primary::LivesOn => format!(
            "[[faults]]\nkind = \"reset-connections\"\nfrom = [\"c2\", \"c3\"]\nto = \"db\"\nat = \"{}ms\"\n",
            promoted_ms + 500
        ),
    };
    format!(
        r#"
        claim = "clients that write while a standby is promoted"
        lock = {{ algorithm = "{lock}", ttl = "10s" }}
        nodes = {{ names = ["db", "db2"] }}
        service = {{ standby = "db2", standby_lag = "{lag}" }}
        limits = {{ time = "10m" }}
        {clients}
        [[faults]]
        {fault}
        [[faults]]
        kind = "promote"
        host = "db2"
        at = "{promoted_ms}ms"
        {reset}
        "#,
        clients = (1..=3)
            .map(|number| format!(
                "[[clients]]\nname = \"c{number}\"\nrounds = 12\nretry = \"20ms\"\n\
                 program = [\"acquire\", \"read\", \"work 5ms..60ms\", \"write\", \"release\"]\n"
            ))
            .collect::<String>()
    )
}

/// A write that was applied or committed, and what became of it.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    applied: Option<u64>,
    lost: Option<u64>,
    acknowledged_lost: bool,
    by: Option<(ClientId, CallId)>,
}

fn written(report: &Report) -> BTreeMap<u64, Written> {
    let mut all: BTreeMap<u64, Written> = BTreeMap::new();
    for event in report.history.events() {
        match event.what {
            EventKind::WriteApplied { client, grant, version, .. } => {
                let it = all.entry(version).or_default();
                assert_eq!(it.applied, None, "version {version} is made twice");
                (it.applied, it.by) = (Some(event.at.0), Some((client, grant)));
            }
            EventKind::WriteLost { client, grant, version, acknowledged, .. } => {
                let it = all.entry(version).or_default();
                (it.lost, it.by) = (it.lost.or(Some(event.at.0)), Some((client, grant)));
                it.acknowledged_lost |= acknowledged;
            }
            _ => {}
        }
    }
    all
}

/// The grants whose release said that all went well: of a row, that the transaction is committed.
fn committed(report: &Report) -> Vec<CallId> {
    let released = report.history.events().iter().filter_map(|event| match event.what {
        EventKind::ReleaseReturned { grant, outcome: ReleaseOutcome::Released, .. } => Some(grant),
        _ => None,
    });
    released.collect()
}

const MS: u64 = 1_000_000;
const LOCKS: [&str; 2] = ["row-lock", "advisory-lock"];

/// Runs busy clients from many seeds, each with another moment of the promotion.
fn each_run(lag: &str, mut see: impl FnMut(&str, Primary, u64, &Report)) {
    for lock in LOCKS {
        for primary in [Primary::Crashes, Primary::LivesOn] {
            for seed in 1..=15 {
                let promoted = 600 + 37 * seed;
                see(lock, primary, promoted, &run(&busy(lock, primary, lag, promoted), seed));
            }
        }
    }
}

#[test]
fn what_a_promotion_loses_is_what_was_committed_within_the_lag_and_whatever_came_later() {
    let (mut lost_before, mut lost_later, mut kept) = (0, 0, 0);
    each_run("100ms", |lock, primary, promoted, report| {
        let struck = (promoted - 200) * MS;
        for (version, it) in written(report) {
            let named = format!("{lock}, {primary:?}, {promoted}: version {version}, {it:?}");
            match (it.applied, it.lost) {
                (Some(at), None) if at < promoted * MS => {
                    // A message between the two takes 1 ms to 5 ms, and the crash or the cut stops those under way.
                    assert!(at + 100 * MS <= struck + 5 * MS, "{named}");
                    kept += 1;
                }
                (Some(at), Some(lost)) => {
                    assert!(at + 105 * MS >= struck && lost >= promoted * MS, "{named}");
                    lost_before += 1;
                }
                (None, Some(lost)) => {
                    assert!(primary == Primary::LivesOn && lost >= promoted * MS, "{named}");
                    lost_later += 1;
                }
                (Some(_), None) => {}
                (None, None) => unreachable!("each was applied or lost"),
            }
        }
    });
    assert!(lost_before > 50 && lost_later > 50 && kept > 200, "{lost_before}, {lost_later}, {kept}");
}

#[test]
fn the_promoted_table_has_what_was_not_lost_and_nothing_else() {
    let mut reads = 0;
    each_run("100ms", |lock, primary, promoted, report| {
        let all = written(report);
        for event in report.history.events().iter().filter(|event| event.at.0 > promoted * MS) {
            let EventKind::ReadDone { client, version, .. } = event.what else { continue };
            // c1's connection stands, and those of the others until they are reset.
            let reset = (promoted + 600) * MS;
            if primary == Primary::LivesOn && (client == ClientId(0) || event.at.0 < reset) {
                continue;
            }
            let kept = |(number, it): (&u64, &Written)| {
                let applied = it.applied.is_some_and(|at| at < event.at.0);
                (it.lost.is_none() && applied).then_some(*number)
            };
            let newest = all.iter().filter_map(kept).max().unwrap_or(0);
            assert_eq!(version, newest, "{lock}, {primary:?}, {promoted}, {event:?}");
            reads += 1;
        }
    });
    assert!(reads > 300, "only {reads} reads after a promotion");
}

#[test]
fn p4_is_violated_exactly_if_a_commit_was_lost_that_its_client_was_told_of() {
    let (mut violated, mut silent) = (0, 0);
    each_run("30ms", |lock, primary, promoted, report| {
        let told = committed(report);
        let mut any = false;
        for (version, it) in written(report).into_iter().filter(|(_, it)| it.lost.is_some()) {
            let (_, grant) = it.by.expect("somebody wrote it");
            if lock == "row-lock" {
                let says = told.contains(&grant);
                assert_eq!(it.acknowledged_lost, says, "{primary:?}, {promoted}: version {version}, {it:?}");
            }
            any |= it.acknowledged_lost;
            silent += usize::from(!it.acknowledged_lost);
        }
        let came_to = |predicate| report.verdicts.get(predicate).as_str();
        assert_eq!(came_to(Predicate::P4) == "violated", any, "{lock}, {primary:?}, {promoted}");
        // A primary that lives on grants the lock after the standby has, and then the holder there writes.
        let is_stale = came_to(Predicate::P3) == "violated";
        assert!(primary == Primary::LivesOn || !is_stale, "{lock}, {primary:?}, {promoted}");
        violated += usize::from(any);
    });
    assert!(
        violated > 20 && silent > 0,
        "{violated} runs lost a commit, {silent} commits were lost in silence"
    );
}

#[test]
fn a_standby_inherits_no_lock_and_each_of_the_two_has_one_owner_at_a_time() {
    let mut both = 0;
    each_run("100ms", |lock, primary, promoted, report| {
        let on = |node| {
            let mut spans: Vec<_> = (report.keys.iter())
                .filter(|span| span.node.0 == node)
                .map(|span| (span.from.0, span.until.map_or(u64::MAX, |(at, _)| at.0)))
                .collect();
            spans.sort_unstable();
            spans
        };
        for node in [0, 1] {
            let alone = on(node).windows(2).all(|pair| pair[0].1 <= pair[1].0);
            assert!(alone, "{lock}, {primary:?}, {promoted}: {:?}", on(node));
        }
        let promoted_at = promoted * MS;
        assert!(on(1).iter().all(|(from, _)| *from > promoted_at), "{lock}, {primary:?}: {:?}", on(1));
        let overlap = on(0).iter().any(|one| on(1).iter().any(|other| one.0 < other.1 && other.0 < one.1));
        assert!(primary == Primary::LivesOn || !overlap, "{lock}, {promoted}");
        both += usize::from(overlap);
    });
    assert!(both > 10, "the two had owners at once in only {both} runs");
}

#[test]
fn a_standby_that_restarts_or_was_cut_off_catches_up() {
    let faults = [
        "kind = \"crash\"\nhost = \"db2\"\nfor = \"1s\"",
        "kind = \"cut\"\nfrom = \"db\"\nto = \"db2\"\nboth_ways = true\nfor = \"1s\"",
        "kind = \"reset-connections\"\nfrom = \"db\"\nto = \"db2\"",
        // Its standby sees nothing of that, until it says that it is there.
        "kind = \"power-loss\"\nhost = \"db\"\nfor = \"1s\"",
    ];
    for fault in faults {
        // So that the run lasts until the promotion.
        let late = "[[clients]]\nname = \"late\"\nprogram = [\"acquire\", \"release\"]\nstart = \"61s\"\n";
        let more = format!("{late}[[faults]]\n{fault}\nat = \"200ms\"\n[[faults]]");
        let text = busy("row-lock", Primary::Crashes, "20ms", 60_200).replacen("[[faults]]", &more, 1);
        let report = run(&text, 3);
        let all = written(&report);
        assert!(all.len() > 20, "{fault}: {all:?}");
        assert!(all.values().all(|it| it.lost.is_none()), "{fault}: {all:?}");
    }
}

#[test]
fn a_promotion_without_faults_takes_nobody_anything_until_sessions_end() {
    let text = busy("row-lock", Primary::Crashes, "0ms", 700);
    let begin = text.find("[[faults]]").expect("it has faults");
    let end = text.rfind("[[faults]]").expect("it has two");
    let report = run(&(text[..begin].to_owned() + &text[end..]), 1);
    assert!(report.keys.iter().all(|span| span.node.0 == 0), "nobody has connected anew");
    assert!(written(&report).values().filter(|it| it.lost.is_some()).count() > 20, "the old primary's");
}
