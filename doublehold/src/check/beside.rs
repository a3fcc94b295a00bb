//! A check of your lock beside a reference: `check(&World::family(), mine).beside(reference)`.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use doublehold_beside::{Beside, BesideOutcome, LockSide, LockTrial, PairWorlds, Weathers};
use doublehold_history::Predicate;
use doublehold_lockimpl::{
    CONNECT_LIMIT, Descriptor, LockKind, Nodes, RESPONSE_LIMIT, Ratio, Registry, ServiceKind, Switches,
};
use doublehold_render::style::Style;
use doublehold_scenarios::pool::cores;
use doublehold_scenarios::report::Report;
use doublehold_scenarios::scenario::Scenario;
use doublehold_scenarios::weather::preset;
use doublehold_scenarios::{Futures, Seed, SimEnv, Stepped, TakesLocks, builtin_locks};
use doublehold_search::many::{Many, run_many};
use doublehold_search::panic_hook::QuietPanics;
use doublehold_text::list;

use super::seeds::AskedFor;
use super::{Check, CheckError, write};
use crate::beside::{BesideFindings, Question, SearchedPairs, ShownExample, kept_conditions, search};
use crate::findings::ReplayHints;
use crate::nondeterminism::{self, Watched};
use doublehold_scenarios::plan::Plan;

/// How many pairs are made where nobody says.
const PAIRS: u64 = 4_000;
/// How many runs are watched for what reaches into them from outside.
const WATCHED: u64 = 40;
/// The part of a lease after which the lock of ours renews it, beside a lock that renews its own.
const THIRD: Ratio = Ratio { numerator: 1, denominator: NonZeroU32::new(3).unwrap() };

/// A check beside a reference that has not run yet. See [`Check::beside`].
#[derive(Clone, Debug)]
#[must_use = "nothing is checked until it is run"]
pub struct BesideCheck<E: TakesLocks> {
    check: Check<E>,
    /// The reference, and its name; none for the lock of ours that fits.
    reference: Option<(&'static str, Registry<SimEnv>)>,
    pairs: u64,
}

impl<E: TakesLocks> Check<E> {
    /// Checks the lock beside a reference: a lock that you would accept, such as the repaired form, the version in
    /// production, or one of ours. Both run from the same seeds, in the same worlds, under the same faults, and each
    /// rule is asked where the reference keeps it. So what is found is what only your lock does.
    ///
    /// In [`World::family`](super::World::family) worlds and programs differ from pair to pair, and so does the
    /// weather, unless the world names one. A world of your own stays as it is.
    ///
    /// ```
    /// use doublehold::check::{
    ///     Client, Existing, Guard, LockKind, MultiplexedConnection, Predicate, SimEnv, Wanted, World, check,
    /// };
    ///
    /// struct Held {
    ///     redis: MultiplexedConnection,
    ///     key: String,
    ///     token: String,
    ///     /// Whether the key is compared before it is deleted.
    ///     compares: bool,
    /// }
    ///
    /// impl Guard for Held {
    ///     fn token(&self) -> Vec<u8> {
    ///         self.token.clone().into()
    ///     }
    ///     async fn release(mut self) -> redis::RedisResult<bool> {
    ///         let delete = "return redis.call('DEL', KEYS[1])";
    ///         let same = format!("if redis.call('GET', KEYS[1]) == ARGV[1] then {delete} end return 0");
    ///         let script = redis::Script::new(if self.compares { &same } else { delete });
    ///         script.key(&self.key).arg(&self.token).invoke_async(&mut self.redis).await
    ///     }
    /// }
    ///
    /// type Taken = redis::RedisResult<Option<Held>>;
    ///
    /// async fn take(mut redis: MultiplexedConnection, client: Client, wanted: Wanted, compares: bool) -> Taken {
    ///     let (key, token) = (wanted.resource, client.token());
    ///     let mut set = redis::cmd("SET");
    ///     set.arg(&key).arg(&token).arg("NX").arg("PX").arg(wanted.ttl.as_millis() as u64);
    ///     let set: Option<String> = set.query_async(&mut redis).await?;
    ///     Ok(set.map(|_| Held { redis, key, token, compares }))
    /// }
    ///
    /// fn lock(compares: bool) -> impl LockKind<SimEnv> {
    ///     Existing::on_one_node("mine", move |redis: MultiplexedConnection, client: Client, wanted: Wanted| {
    ///         take(redis, client, wanted, compares)
    ///     })
    /// }
    ///
    /// let found = check(&World::family(), lock(false)).beside(lock(true)).pairs(500).no_files().run()?;
    /// assert!(found.worse().contains(&Predicate::WR), "{found}");
    /// # Ok::<(), doublehold::check::CheckError>(())
    /// ```
    pub fn beside(self, reference: impl LockKind<SimEnv>) -> BesideCheck<E> {
        let name = reference.descriptor().name;
        BesideCheck { check: self, reference: Some((name, builtin_locks().with(reference))), pairs: PAIRS }
    }

    /// Checks the lock beside the lock of ours for the same nodes: `single`, `replicated` or `redlock`; on a service
    /// `kazoo`, `etcd-mutex` or `row-lock`, whose holder stops at the first news of a loss. For a lock that nobody has
    /// repaired yet. The lock of ours waits as long for a connection and a reply as redis-rs does by
    /// itself. It is as careful as its kind can be; but if grants of your lock tell no
    /// [deadline](super::Guard::deadline), its own tell none either, and if yours is renewed, so is its own.
    pub fn beside_ours(self) -> BesideCheck<E> {
        BesideCheck { check: self, reference: None, pairs: PAIRS }
    }
}

impl<E: TakesLocks> Check<E> {
    /// Refuses a family of worlds where nothing stands beside the lock.
    pub(super) fn refuse_family(&self) -> Result<(), CheckError> {
        if self.world.is_family() { Err(CheckError::FamilyAlone) } else { Ok(()) }
    }
}

impl<E: TakesLocks> BesideCheck<E> {
    /// Sets the number of pairs of runs: 4,000 if nothing is said, and half as many again where some of them speak
    /// against your lock and too few to be sure. A bug that shows in one of a thousand pairs takes 20,000.
    /// `DOUBLEHOLD_SEEDS` sets it from outside, and `DOUBLEHOLD_TIME` a time in its place.
    pub fn pairs(self, pairs: u64) -> BesideCheck<E> {
        BesideCheck { pairs, ..self }
    }

    /// Writes no files.
    pub fn no_files(self) -> BesideCheck<E> {
        BesideCheck { check: self.check.no_files(), ..self }
    }
}

impl<E: TakesLocks<Prepared: Stepped + Futures>> BesideCheck<E> {
    /// Runs the pairs, and makes an example of what only the first lock does.
    ///
    /// # Errors
    ///
    /// As [`Check::run`]; and if the two locks run on other nodes, the reference lacks a step that the program has, or
    /// breaks a rule without any fault; or if the check was asked for rules or marks.
    pub fn run(self) -> Result<CheckedBeside, CheckError> {
        let BesideCheck { check, reference, pairs } = &self;
        if !check.rules.is_empty() || !check.marks.is_empty() {
            return Err(CheckError::AskedBeside);
        }
        let mine_title = check.lock.to_owned();
        let mine = side::<E>(&check.locks, check.lock, &mine_title);
        let trial = mine.try_out()?;
        let (locks, name, switches) = match reference {
            Some((name, locks)) => (locks.clone(), *name, Switches::new()),
            None => lock_of_ours(&mine.descriptor()?, &trial),
        };
        let is_namesake = name == check.lock;
        let theirs_title = if is_namesake { format!("{name} (the reference)") } else { name.to_owned() };
        let theirs = || LockSide { switches: switches.clone(), ..side::<E>(&locks, name, &theirs_title) };
        let (worlds, weathers, first) = self.worlds(&mine)?;
        self.refuse_outside(&first)?;
        let real_mine = E::from_locks(check.locks.clone());
        let beside = Beside::new(mine, theirs(), &worlds, &weathers)?;
        let (question, patience) = (self.question(*pairs)?, check.patience);
        let quiet = QuietPanics::new(real_mine.prepare(&first)?);
        let found = quiet
            .hush(|_| search(&beside, (&real_mine, &theirs()), &question, |_| ControlFlow::Continue(())))?;
        let kept = kept_conditions(&beside, &found.survey, &question.asked);
        let SearchedPairs { survey, comparison, inside, examples, .. } = found;
        let real_theirs = E::from_locks(locks.clone());
        let mut shown = Vec::new();
        for example in examples {
            let mine = real_mine.prepare(&example.shrunk.scenario)?;
            let theirs = real_theirs.prepare(&example.theirs)?;
            let mut one = quiet.hush(|_| ShownExample::from_runs(example, mine, theirs, patience));
            one.hints = self.write(&one, &theirs_title)?;
            shown.push(one);
        }
        let conditions = survey.places().count();
        let left_out = beside.left_out().map(ToString::to_string).into_iter().collect();
        let findings = BesideFindings {
            mine: mine_title,
            theirs: theirs_title,
            worlds: match worlds {
                PairWorlds::Family(_) => format!("{conditions} worlds of the family"),
                PairWorlds::One(scenario) => format!("`{}` under {conditions} weathers", scenario.name),
            },
            comparison,
            kept,
            survey_runs: survey.runs,
            notes: [notes(&trial, reference.is_none()), left_out].concat(),
            inside,
            examples: shown,
            command: String::new(),
        };
        Ok(CheckedBeside { findings })
    }

    /// Where both run, what strikes there, and the first scenario.
    fn worlds(&self, mine: &LockSide<E>) -> Result<(PairWorlds, Weathers, Scenario), CheckError> {
        let scenario = mine.scenario(&self.check.world)?;
        let weathers = match (&scenario.weather, scenario.faults.is_empty()) {
            (Some(weather), _) => Weathers::Fixed(weather.clone()),
            (None, true) => Weathers::Drawn(preset("cloud")?.weather),
            // Whoever lists faults asks about these.
            (None, false) => Weathers::Fixed(preset("calm")?.weather),
        };
        let worlds = match self.check.world.is_family() {
            true => PairWorlds::Family(self.check.world.clone()),
            false => PairWorlds::One(Box::new(scenario.clone())),
        };
        Ok((worlds, weathers, scenario))
    }

    /// Refuses a lock whose runs something from outside reaches into.
    fn refuse_outside(&self, scenario: &Scenario) -> Result<(), CheckError> {
        let Check { locks, patience, .. } = &self.check;
        let quiet = QuietPanics::new(E::from_locks(locks.clone()).prepare(scenario)?);
        let watched = Arc::new(Watched::new(quiet, Seed(1)));
        let runs = Many::new(Seed(1)..=Seed(WATCHED), *patience);
        let tally = run_many(&watched, &runs, |_| ControlFlow::Continue(()))?;
        let outside = watched.detect(tally.runs, *patience)?;
        let hush = |_: &E::Prepared| nondeterminism::real_time::<E>(locks, scenario, *patience);
        outside.or_else(|| watched.inner().hush(hush)).map_or(Ok(()), |outside| Err(outside.into()))
    }

    fn question(&self, pairs: u64) -> Result<Question, CheckError> {
        let asked_for = AskedFor::from_environment()?;
        let (pairs, lasting): (Option<u64>, Option<Duration>) = match asked_for {
            AskedFor::First(pairs) => (Some(pairs), None),
            AskedFor::Time(time) => (None, Some(time)),
            AskedFor::Nothing | AskedFor::One(_) | AskedFor::Range(_) => (Some(pairs), None),
        };
        let asked = self.check.looking_for.clone();
        let is_family = self.check.world.is_family();
        Ok(Question {
            calm: if is_family { asked.clone() } else { Vec::new() },
            asked,
            pairs,
            lasting,
            jobs: cores(),
            patience: self.check.patience,
            first: *self.check.seeds.start(),
            keeps_going: false,
            folder: self.check.files.clone(),
        })
    }

    /// Writes the picture and the plan of an example.
    fn write(&self, shown: &ShownExample, theirs: &str) -> Result<ReplayHints, CheckError> {
        let Some(folder) = &self.check.files else {
            let replay = "run the test again: the same seeds come to the same example".to_owned();
            return Ok(ReplayHints { replay, ..ReplayHints::default() });
        };
        let stem = folder.join(self.check.stem(shown.example.shrunk.seed));
        let plan = |report: &Report| {
            Plan::from_report(report).to_toml().map_err(|error| CheckError::Plan(error.to_string()))
        };
        let predicate = shown.example.wanted.predicate;
        let path = |ending: &str| {
            let mut path = stem.clone().into_os_string();
            path.push(format!(".only-{predicate}.{ending}"));
            PathBuf::from(path)
        };
        let replay = format!("doublehold::check::replay(\"{}\", the lock)", path("plan").display());
        let picture = shown.picture_with(&replay, theirs, &Style::UNICODE);
        let texts =
            [("txt", picture), ("plan", plan(&shown.mine.report)?), ("reference.plan", plan(&shown.theirs)?)];
        let mut files = Vec::new();
        for (ending, text) in texts {
            files.push(write(&path(ending), &text)?.display().to_string());
        }
        Ok(ReplayHints { files, replay, ..ReplayHints::default() })
    }
}

/// The lock of ours for the nodes of this one, with its switches: as careful as a lock of its kind can be, and no more.
fn lock_of_ours(lock: &Descriptor, mine: &LockTrial) -> (Registry<SimEnv>, &'static str, Switches) {
    let careful = Switches::new().with("elapsed_check", mine.tells_deadline);
    let as_redis_rs = |switches: Switches| {
        switches.with("connect_timeout", CONNECT_LIMIT).with("request_timeout", RESPONSE_LIMIT)
    };
    let renewed = |switches: Switches| match mine.renews {
        true => switches.with("renew_every", THIRD).with("told_on_loss", "lease-end"),
        false => switches,
    };
    let (name, switches) = match (lock.service, lock.nodes) {
        (Some(ServiceKind::ZooKeeper), _) => ("kazoo", Switches::new().with("heeds", "suspended")),
        (Some(ServiceKind::Etcd), _) => ("etcd-mutex", Switches::new().with("heeds_loss", true)),
        (Some(ServiceKind::Database), _) => ("row-lock", Switches::new()),
        (None, Nodes::Independent) => ("redlock", renewed(careful.with("token", "attempt"))),
        (None, Nodes::Replicated) => ("replicated", as_redis_rs(careful)),
        (None, Nodes::One) => ("single", renewed(as_redis_rs(careful))),
    };
    (builtin_locks(), name, switches)
}

/// Things about the lock that its user may not expect.
fn notes(trial: &LockTrial, is_beside_ours: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if is_beside_ours && !trial.tells_deadline {
        let notice = "mine tells no deadline (`Guard::deadline`), so the reference tells none either: both count as \
                      held until they are given back";
        notes.push(notice.to_owned());
    }
    if is_beside_ours && trial.renews {
        let notice = "the key of mine outlives its lease while its holder works, so the reference renews its own where it can";
        notes.push(notice.to_owned());
    }
    if !trial.idle_nodes.is_empty() {
        notes.push(format!(
            "mine set no key on {} in a run without faults; a lock of one node is made by `Existing::on_one_node`",
            list(&trial.idle_nodes)
        ));
    }
    notes
}

fn side<E: TakesLocks>(locks: &Registry<SimEnv>, lock: &str, title: &str) -> LockSide<E> {
    LockSide {
        engine: E::from_locks(locks.clone()),
        lock: lock.to_owned(),
        switches: Switches::new(),
        title: title.to_owned(),
    }
}

/// The result of a check beside a reference. Prints as the picture of what only your lock does, and the counts.
#[derive(Debug)]
pub struct CheckedBeside {
    /// Everything there is to say.
    pub findings: BesideFindings,
}

impl CheckedBeside {
    /// The whole in one word.
    pub fn outcome(&self) -> BesideOutcome {
        self.findings.outcome()
    }

    /// The predicates that your lock breaks more often.
    pub fn worse(&self) -> Vec<Predicate> {
        self.findings.comparison.worse()
    }

    /// For tests: goes on if your lock is no worse than the reference, or better, or did the same in every pair. A
    /// version of your lock that changes nothing passes. Whether anything that differs was reached at all, says
    /// [`outcome`](CheckedBeside::outcome).
    ///
    /// # Panics
    ///
    /// If it is worse in anything, or if pairs were too few to say, with everything there is to say.
    pub fn assert_no_worse(&self) {
        let passes = matches!(
            self.outcome(),
            BesideOutcome::NoWorse | BesideOutcome::Better | BesideOutcome::NeverReached
        );
        assert!(passes, "the lock was not found to be as good as the reference\n\n{self}");
    }
}

impl fmt::Display for CheckedBeside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.findings.text(&Style::UNICODE))
    }
}
