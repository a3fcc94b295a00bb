//! New studies: what is written can be swept as it is, in less than two minutes, says what was asked for, and what
//! cannot be is refused with a way out.

use std::time::Duration;

use doublehold_lockimpl::{Nodes, descriptors};
use doublehold_scenarios::scenario::{Role, Scenario};
use doublehold_sweeps::study::{CellId, NewStudy, RUNS_A_SECOND, Study};

const HOUR: Duration = Duration::from_secs(3600);

fn of(locks: &[&str]) -> NewStudy {
    NewStudy { locks: locks.iter().map(|lock| (*lock).to_owned()).collect(), ..NewStudy::default() }
}

/// The study, which can be read as it is.
#[track_caller]
fn made(new: &NewStudy) -> Study {
    let text = new.text().unwrap_or_else(|error| panic!("{new:?}: {error}"));
    Study::parse("mine", "mine.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn scenario(study: &Study, design: u64) -> Scenario {
    study.scenario(CellId(design)).expect("it is checked")
}

/// The mean time between two faults of a kind, of the lines of a design's weather.
fn every(scenario: &Scenario, kind: &str) -> Vec<Duration> {
    let lines = scenario.weather.iter().flat_map(|weather| &weather.faults);
    lines.filter(|line| line.effect.kind().word == kind).map(|line| line.every).collect()
}

fn nodes(scenario: &Scenario) -> usize {
    scenario.hosts.iter().filter(|host| host.role == Role::Node).count()
}

#[test]
fn a_new_study_can_be_swept_as_it_is_in_two_minutes() {
    // As many as a page has room for.
    let locks = descriptors();
    let on_redis = locks.iter().filter(|lock| lock.service.is_none());
    let names: Vec<&str> = on_redis.map(|lock| lock.name).collect();
    let day = HOUR * 24;
    let studies = [
        NewStudy::default(),
        NewStudy { ttl: Some(Duration::from_millis(100)), ..of(&["redlock"]) },
        NewStudy { ttl: Some(Duration::from_secs(600)), pauses: Some(HOUR), ..of(&["single"]) },
        NewStudy { failovers: Some(day * 14), nodes: Some(2), ..of(&["replicated"]) },
        NewStudy { failovers: Some(day * 1825), ..of(&["replicated", "redlock"]) },
        NewStudy { nodes: Some(100), ..of(&["replicated", "redlock"]) },
        NewStudy { grants: Some("3 grants per minute".to_owned()), nodes: Some(5), ..NewStudy::default() },
        of(&names),
    ];
    for new in studies {
        let study = made(&new);
        assert!(study.runs_of_all() < 120 * RUNS_A_SECOND, "{} runs of {new:?}", study.runs_of_all());
        let strata = study.strata.as_ref().expect("faults are rare");
        assert_eq!((study.parts(), strata.quiet_holds), (136, true), "as the text reckons");
    }
}

#[test]
fn a_new_study_is_made_for_every_lock_with_what_it_offers_to_change() {
    for lock in descriptors() {
        let text = of(&[lock.name]).text().unwrap_or_else(|error| panic!("{}: {error}", lock.name));
        let (before, next) = text.split_once("# What to change next").expect("what to try next");
        let design: String = next
            .lines()
            .skip_while(|line| *line != "# [[designs]]")
            .map(|line| format!("{}\n", &line[2..]))
            .collect();
        let rest = before.replace("\n# \"", "\n\"").replace("\n# set", "\nset");
        let study = Study::parse("mine", "mine.toml", &format!("{rest}\n{design}"));
        let study = study.unwrap_or_else(|error| panic!("{}: {error}\n{rest}\n{design}", lock.name));
        assert_eq!((study.designs.len(), study.designs[0].name.as_str()), (2, lock.name));
        assert_eq!(study.designs[0].about, lock.meaning);
        assert!(text.lines().all(|line| line.len() <= 300), "{text}");
    }
}

#[test]
fn what_was_asked_for_is_what_each_design_has() {
    let new = NewStudy {
        nodes: Some(4),
        ttl: Some(Duration::from_secs(45)),
        pauses: Some(HOUR * 6),
        failovers: Some(HOUR * 336),
        grants: Some("90 grants a minute".to_owned()),
        ..of(&["single", "replicated", "redlock"])
    };
    let study = made(&new);
    assert_eq!(study.usage.grants, "90 grants a minute");
    let worlds = [0, 1, 2].map(|design| scenario(&study, design));
    assert_eq!(worlds.each_ref().map(nodes), [1, 4, 4], "`single` has what fits it");
    assert_eq!(new.notes(), ["`single` runs on one node, so `--nodes 4` is not for it"]);
    for world in &worlds {
        assert_eq!(world.lock.ttl, Duration::from_secs(45));
        assert_eq!(every(world, "pause"), [HOUR * 6, HOUR * 24], "of clients, and of nodes");
        assert_eq!(
            world.limits.obtain_within,
            Some(Duration::from_secs(90)),
            "a dead holder's lease is waited for"
        );
    }
    assert_eq!(every(&worlds[1], "promote"), [HOUR * 336 * 3], "three replicas take turns");
    let plain = made(&of(&["single", "redlock"]));
    assert_eq!([0, 1].map(|design| nodes(&scenario(&plain, design))), [1, 5]);
    assert_eq!(
        every(&scenario(&plain, 0), "promote"),
        [HOUR * 720],
        "what nobody asked for is the weather's"
    );
}

#[test]
fn no_work_outlasts_its_lease_and_all_of_it_is_under_the_weather() {
    for milliseconds in [100, 250, 1_000, 3_999, 4_000, 30_000, 600_000] {
        let ttl = Duration::from_millis(milliseconds);
        let text = NewStudy { ttl: Some(ttl), ..of(&["single"]) }.text().expect("a study");
        let line = text.lines().find_map(|line| line.strip_prefix("\"clients.work\" = \"")).expect("work");
        let (shortest, longest) = line.trim_end_matches('"').split_once("..").expect("a range");
        let [shortest, longest] =
            [shortest, longest].map(|text| doublehold_scenarios::format::duration(text).expect("a duration"));
        assert!(shortest < longest && longest * 2 < ttl, "{line} of {ttl:?}");
        assert!(longest * 6 < Duration::from_secs(20), "{line} of {ttl:?}");
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_cause_and_a_way_out() {
    let short = |seconds| Some(Duration::from_secs(seconds));
    let grants = |typed: &str| Some(typed.to_owned());
    let refusals = [
        (of(&["redlok"]), "there is no lock `redlok`", "did you mean `redlock`"),
        (of(&["single", "single"]), "`--lock single` is given twice", "name each lock once"),
        (
            NewStudy { nodes: Some(4), ..of(&["single", "redisson"]) },
            "`--nodes 4` fits no lock of this study: `single` runs on one node; `redisson` runs on one node",
            "leave `--nodes` out",
        ),
        (
            NewStudy { nodes: Some(1), ..of(&["replicated"]) },
            "`replicated` runs on a master with replicas, 2 to 100 nodes in all",
            "leave `--nodes` out",
        ),
        (
            NewStudy { ttl: short(0), ..NewStudy::default() },
            "`--ttl 0s` is too short: a lease lasts 100 ms to 10 min",
            "`--ttl 30s`",
        ),
        (NewStudy { ttl: short(3600), ..NewStudy::default() }, "`--ttl 1h` is too long", "`--ttl 30s`"),
        (NewStudy { pauses: short(0), ..NewStudy::default() }, "`--pauses 0s` is too short", "`--pauses 6h`"),
        (
            NewStudy { pauses: short(60), ..NewStudy::default() },
            "`--pauses 60s` is too short",
            "weather cloud`",
        ),
        (
            NewStudy { failovers: short(0), ..NewStudy::default() },
            "`--failovers 0s` is too short",
            "`failover-window`",
        ),
        (
            NewStudy { failovers: Some(HOUR * 336), ..of(&["redlock"]) },
            "`--failovers` fits no lock of this study",
            "`--lock replicated`",
        ),
        (
            NewStudy { failovers: Some(HOUR * 336), pauses: None, nodes: Some(1), ..of(&["single"]) },
            "none has a replica that could take over",
            "leave `--failovers` out",
        ),
        (
            NewStudy { failovers: Some(HOUR * 43_800), nodes: Some(9), ..of(&["replicated"]) },
            "design `replicated`: `weather.promote.every` is longer than ten years",
            "use at most",
        ),
        (
            NewStudy { grants: grants("200"), ..NewStudy::default() },
            "`--grants` must not be `200`",
            "\"200 grants an hour\"",
        ),
    ];
    for (new, cause, hint) in refusals {
        let told = new.text().expect_err(cause).to_string();
        let (problem, way_out) = told.split_once("\nhint: ").expect("a way out");
        assert!(problem.contains(cause), "not `{cause}`, but {told}");
        assert!(way_out.contains(hint), "not `{hint}`, but {told}");
    }
    assert!(descriptors().iter().any(|lock| lock.nodes == Nodes::Replicated));
}
