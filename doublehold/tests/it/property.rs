//! Properties over drawn worlds, weathers and switches: what is drawn could be a file, what is found is shrunk and
//! kept as a plan, and the plan is replayed before anything is drawn.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use doublehold::check::{
    Choice, Client, Count, Existing, Form, Guard, LockConfig, LockKind, MultiplexedConnection, Predicate,
    Scenario, Seed, SimEnv, Tally, Wanted, replay,
};
use doublehold::property::proptest::prelude::*;
use doublehold::property::proptest::test_runner::{Config as Cases, TestRunner};
use doublehold::property::{Property, Tested, Worlds, plans};
use doublehold_scenarios::plan::Plan;
use redis::RedisResult;

/// How a lock is given back.
#[derive(Clone, Copy, PartialEq)]
enum Release {
    /// Compared and deleted in one step.
    Script,
    /// Deleted, whoever has it.
    Delete,
    /// Compared first, and losing the lock is no case that its author thought of.
    Panics,
}

impl Choice for Release {
    const WORDS: &'static [(&'static str, Release)] =
        &[("script", Release::Script), ("delete", Release::Delete), ("panics", Release::Panics)];
}

struct Config {
    release: Release,
    margin: Duration,
}

impl LockConfig for Config {
    fn read(form: &mut Form<'_>) -> Config {
        Config {
            release: form.choice("release", Release::Delete, "how it is given back"),
            margin: form.duration(
                "margin",
                Duration::ZERO,
                "how much earlier than asked for the key expires",
            ),
        }
    }
}

struct Held {
    redis: MultiplexedConnection,
    key: String,
    token: String,
    release: Release,
}

impl Guard for Held {
    fn token(&self) -> Vec<u8> {
        self.token.clone().into()
    }

    async fn release(mut self) -> RedisResult<bool> {
        if self.release == Release::Script {
            let script = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
            let script = redis::Script::new(script);
            return script.key(&self.key).arg(&self.token).invoke_async(&mut self.redis).await;
        }
        if self.release == Release::Panics {
            let holder: Option<String> =
                redis::cmd("GET").arg(&self.key).query_async(&mut self.redis).await?;
            assert!(holder.as_ref() == Some(&self.token), "the lock is lost");
        }
        redis::cmd("DEL").arg(&self.key).query_async(&mut self.redis).await
    }
}

/// With `mended` it is always given back by the script, whatever its configuration says.
fn lock(mended: bool) -> impl LockKind<SimEnv> {
    let take = move |mut redis: MultiplexedConnection, client: Client, wanted: Wanted| async move {
        let Config { release, margin } = client.config();
        let release = if mended { Release::Script } else { release };
        let (key, token) = (wanted.resource, client.token());
        let ttl = wanted.ttl.saturating_sub(margin).max(Duration::from_millis(1));
        let mut set = redis::cmd("SET");
        set.arg(&key).arg(&token).arg("NX").arg("PX").arg(ttl.as_millis() as u64);
        let set: Option<String> = set.query_async(&mut redis).await?;
        Ok::<_, redis::RedisError>(set.map(|_| Held { redis, key, token, release }))
    };
    Existing::on_one_node("own", take).with_config::<Config>()
}

/// Small ones: a debug build makes a hundred runs of them a second.
fn worlds(release: &'static str) -> Worlds {
    Worlds::new(&lock(false))
        .clients(2..=2)
        .rounds(2..=2)
        .program(["acquire", "work 50ms..1s", "release"])
        .ttl(Duration::from_millis(1500)..=Duration::from_secs(2))
        .weather(["pauses-only"])
        .with(move |scenario| {
            scenario.lock.switches.set("release", release);
            scenario.lock.switches.set("margin", Duration::ZERO);
        })
}

fn property(folder: &Path, mended: bool) -> Property {
    let property = Property::new("frees its own lock only", lock(mended));
    property.holds(&[Predicate::WR]).regressions(folder)
}

fn plans_in(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn cases(cases: u32) -> Cases {
    Cases { cases, failure_persistence: None, ..Cases::default() }
}

#[test]
fn everything_that_is_drawn_could_be_a_file() {
    let locks = doublehold_lockimpl::descriptors();
    let each = 256 / locks.len() as u32 + 1;
    for lock in &locks {
        let drawn = Worlds::from_descriptor(lock.clone()).clients(2..=4).weather(["cloud", "hostile"]);
        let mut seen = BTreeSet::new();
        let strategy = drawn.scenarios().unwrap();
        let mut runner = TestRunner::new_with_rng(cases(each), fixed());
        for _ in 0..each {
            let scenario = strategy.new_tree(&mut runner).unwrap().current();
            assert_eq!(scenario.validate().unwrap(), scenario);
            assert!((2..=4).contains(&scenario.clients.len()));
            assert!((Duration::from_secs(2)..=Duration::from_secs(8)).contains(&scenario.lock.ttl));
            seen.insert(scenario.to_toml());
        }
        assert!(seen.len() as u32 > each / 2, "{}: {} of {each} are different", lock.name, seen.len());
    }
}

fn fixed() -> doublehold::property::proptest::test_runner::TestRng {
    use doublehold::property::proptest::test_runner::{RngAlgorithm, TestRng};
    TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32])
}

#[test]
fn what_is_found_is_shrunk_and_kept_and_replayed_first_until_it_is_mended() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("not/there/yet");
    let found = property(&folder, false).run(worlds("delete").scenarios().unwrap()).unwrap();
    assert!(!found.holds());
    let broken = found.broken.as_ref().expect("256 cases are enough");
    let case = broken.case.expect("it was drawn");
    assert!(found.to_string().contains(&format!("\ncase {case}: WR")), "{found}");
    let shrunk = broken.shrunk.as_ref().expect("it is shrunk");
    // Minimal by leaving out, which need not be the fewest: one fault may need another that makes room for it.
    assert!(shrunk.is_minimal && shrunk.after.clients == 2, "{found}");
    assert!((1..shrunk.before.faults).contains(&shrunk.after.faults), "{found}");
    let plan = broken.plan.clone().expect("it is kept");
    assert_eq!(plans_in(&folder), std::slice::from_ref(&plan));
    let text = found.to_string();
    for part in ["WR is violated", " pauses for ", "█", "(keep it: ", &plan.display().to_string()] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    assert_eq!(replay(&plan, lock(false)).unwrap().is_same_run(), Some(true));

    // Of these worlds none could break anything: what fails is the plan.
    let harmless = || worlds("script").scenarios().unwrap();
    let again = property(&folder, false).cases(1).run(harmless()).unwrap();
    let broken = again.broken.as_ref().expect("the regression is replayed");
    assert_eq!((broken.case, broken.plan.as_ref(), again.replayed), (None, Some(&plan), 1));
    assert!(again.to_string().contains("WR is violated, as in the regression"), "{again}");
    assert!(again.to_string().contains("same run: trace"), "{again}");
    let panicked = std::panic::catch_unwind(|| property(&folder, false).cases(1).check(harmless()));
    let words = panicked.expect_err("the test fails").downcast::<String>().unwrap();
    assert_eq!(*words, again.to_string());

    let mended = property(&folder, true).cases(20).run(worlds("delete").scenarios().unwrap()).unwrap();
    assert!(mended.holds() && (mended.replayed, mended.tally.runs) == (1, 21), "{mended}");
    property(&folder, true).cases(20).check(harmless());
    assert_eq!(plans_in(&folder), [plan]);

    // A plan that breaks nothing any more is no case: those that are drawn are counted from 1.
    let quiet = folder.with_file_name("quiet");
    std::fs::create_dir(&quiet).unwrap();
    std::fs::write(quiet.join("held.plan"), holding()).unwrap();
    let found = property(&quiet, false).run(worlds("delete").scenarios().unwrap()).unwrap();
    assert_eq!((found.replayed, found.broken.as_ref().unwrap().case), (1, Some(case)), "{found}");
    assert!(found.to_string().contains(", 1 regression, ") && again.to_string().contains(", 1 regression, "));
}

/// The plan of a run in which nothing happens.
fn holding() -> String {
    let strategy = plans(lock(false), worlds("script").weather([]).scenarios().unwrap());
    let mut runner = TestRunner::new_with_rng(cases(1), fixed());
    strategy.new_tree(&mut runner).unwrap().current().to_toml().unwrap()
}

#[test]
fn a_plan_that_cannot_be_read_is_said_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("by-hand.plan");
    std::fs::write(&plan, "plan = 2\nname = \"x\"\n").unwrap();
    let refused = property(folder.path(), false).run(worlds("script").scenarios().unwrap());
    let words = refused.expect_err("it is no plan").to_string();
    assert!(words.contains("by-hand.plan") && words.contains("delete it if"), "{words}");

    let file = folder.path().join("a-file");
    std::fs::write(&file, "").unwrap();
    let refused = property(&file, false).run(worlds("script").scenarios().unwrap());
    let words = refused.expect_err("it is no folder").to_string();
    assert!(words.contains("names another folder"), "{words}");
}

/// A link to nowhere: nothing is there to be read, and no folder can be made.
#[cfg(unix)]
#[test]
fn what_is_found_is_shown_also_where_no_plan_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path().join("gone/for/good"), &link).unwrap();
    let found = property(&link, false).run(worlds("delete").scenarios().unwrap()).unwrap();
    assert!(found.to_string().contains("WR is violated") && !found.holds(), "{found}");
    assert!(found.to_string().contains("the plan cannot be written to"), "{found}");
}

#[test]
fn a_panic_breaks_every_property_and_is_shrunk() {
    let property = Property::new("never panics", lock(false)).holds(&[Predicate::WR]).no_regressions();
    let found = property.run(worlds("panics").scenarios().unwrap()).unwrap();
    assert!(found.to_string().contains("the lock panics"), "{found}");
    assert!(found.broken.is_some_and(|broken| broken.plan.is_none() && broken.shrunk.is_some()));
}

#[test]
fn what_never_says_anything_is_no_pass() {
    let nobody = worlds("script").program(["work 1s"]).weather([]).scenarios().unwrap();
    let property = || Property::new("asks nobody", lock(false)).no_regressions().cases(3);
    let tried = property().run(nobody).unwrap();
    assert!(tried.broken.is_none() && !tried.holds());
    assert!(tried.to_string().contains("no call was ever granted the lock"), "{tried}");
    assert!(tried.to_string().contains(", 0 regressions, "), "{tried}");
    let one = worlds("script").weather([]).scenarios().unwrap();
    let alone = property().cases(1).run(one).unwrap();
    assert!(alone.holds() && alone.tally.runs == 1, "{alone}");

    let one = worlds("script").weather([]).scenarios().unwrap();
    let named = property().cases(1).holds(&Predicate::ALL).run(one).unwrap();
    assert!(!named.holds() && named.asked == Predicate::ALL, "what is named has to be seen: {named}");
    assert!(named.to_string().contains("P4 was never seen"), "{named}");

    let nothing = worlds("script").scenarios().unwrap().prop_filter("there is no such", |_| false);
    let words = property().run(nothing).expect_err("nothing can be drawn").to_string();
    assert!(words.starts_with("case 1 cannot be drawn: "), "{words}");
    let step = worlds("script").program(["aquire"]).scenarios().expect_err("no such step").to_string();
    assert!(step.contains("did you mean `acquire`?"), "{step}");
}

#[test]
fn the_locks_own_configuration_is_drawn_and_is_in_the_plan() {
    let drawn = Worlds::new(&lock(false)).clients(2..=2).rounds(2..=2).weather(["pauses-only"]);
    let drawn = drawn.ttl(Duration::from_millis(1500)..=Duration::from_secs(2));
    let drawn = drawn.program(["acquire", "work 50ms..1s", "release"]).scenarios().unwrap();
    let drawn = drawn.prop_filter("is another property", |scenario| {
        scenario.lock.switches.get("release").is_some_and(|release| release.to_string() != "panics")
    });
    let folder = tempfile::tempdir().unwrap();
    let found = property(folder.path(), false).run(drawn).unwrap();
    let broken = found.broken.as_ref().expect("one of two configurations is wrong");
    assert_eq!(broken.report.scenario.lock.switches.get("release").unwrap().to_string(), "delete");
    let plan = std::fs::read_to_string(broken.plan.as_ref().unwrap()).unwrap();
    assert!(plan.contains("release = \"delete\"") && plan.contains("margin = "), "{plan}");
}

#[test]
fn the_same_cases_are_drawn_every_time_and_come_to_the_same() {
    let tried = || -> (Vec<Scenario>, Tested) {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (keep, worlds) = (seen.clone(), worlds("script").scenarios().unwrap());
        let watched = worlds.prop_map(move |scenario| {
            keep.lock().unwrap().push(scenario.clone());
            scenario
        });
        let property = Property::new("the same", lock(false)).holds(&[Predicate::WR]).no_regressions();
        let tried = property.cases(64).run(watched).unwrap();
        (Arc::into_inner(seen).unwrap().into_inner().unwrap(), tried)
    };
    let ((one, first), (other, second)) = (tried(), tried());
    assert!(first.holds() && one.len() >= 64, "{first}");
    assert_eq!(one, other);
    assert_eq!(first.tally, second.tally);
    assert!(first.tally.coverage.kind("pause").struck > 20, "{:?}", first.tally.coverage);
}

#[test]
fn plans_have_their_faults_written_out_and_read_as_what_they_are() {
    let strategy = plans(lock(false), worlds("delete").scenarios().unwrap());
    let mut faults = 0;
    let mut runner = TestRunner::new_with_rng(cases(32), fixed());
    for _ in 0..32 {
        let plan: Plan = strategy.new_tree(&mut runner).unwrap().current();
        assert!(plan.scenario.weather.is_none());
        faults += plan.scenario.faults.len();
        let mut locks = doublehold_lockimpl::descriptors();
        locks.push(lock(false).descriptor());
        assert_eq!(Plan::parse_with("a.plan", &plan.to_toml().unwrap(), locks).unwrap(), plan);
    }
    assert!(faults > 10, "{faults}");
}

#[test]
fn a_property_of_which_more_than_one_case_in_a_hundred_is_undecided_is_no_pass() {
    let with = |inconclusive: u64| {
        let unsaid = Some((Seed(3), "the run used up its budget of events".to_owned()));
        let count = Count { holds: 300 - inconclusive, inconclusive, unsaid, ..Count::default() };
        Tested {
            name: "a property".to_owned(),
            lock: "mine",
            asked: vec![Predicate::P1],
            replayed: 0,
            draws: (300, 1),
            tally: Tally {
                runs: 300,
                grants: 600,
                predicates: [(Predicate::P1, count)].into(),
                ..Tally::default()
            },
            broken: None,
        }
    };
    assert!(with(3).holds() && with(3).to_string().contains("nothing found"), "{}", with(3));
    let said = "P1 was not decided in 4 of 300 cases, and a pass leaves at most 1 in 100 undecided; in case 3: the run";
    assert!(!with(4).holds() && with(4).to_string().contains(said), "{}", with(4));
    let mut often = with(299);
    let count = often.tally.predicates.get_mut(&Predicate::P1).unwrap();
    (count.holds, count.violated) = (0, 1);
    assert!(often.to_string().contains("P1 was not decided in 299 of 300 cases"), "{often}");
    assert!(
        with(300).to_string().contains("P1 was never decided; in case 3: the run used up"),
        "{}",
        with(300)
    );
}
