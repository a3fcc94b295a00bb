//! A lock of one's own on an engine of one's own: the kernel behind another type, which counts its runs.
//!
//! The ledger runs no code of locks, so it is no engine for them, and its type says so.

use std::sync::atomic::{AtomicU64, Ordering};

use doublehold::check::{Effort, Existing, Guard, MultiplexedConnection, SimEnv, Wanted, World};
use doublehold::check::{check, check_on};
use doublehold_history::{Predicate, TrueNs};
use doublehold_lockimpl::{Descriptor, Registry};
use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::model::host::UnknownHost;
use doublehold_scenarios::report::Summary;
use doublehold_scenarios::weather::Climate;
use doublehold_scenarios::when::Nth;
use doublehold_scenarios::{
    Engine, Futures, OwnLocks, PrepareError, Prepared, PreparedSim, Report, Scenario, Searchable, Seed,
    Stepped, TakesLocks,
};

static RUNS: AtomicU64 = AtomicU64::new(0);

struct Counting(OwnLocks);

struct Counted(PreparedSim);

impl TakesLocks for Counting {
    fn from_locks(locks: Registry<SimEnv>) -> Counting {
        Counting(OwnLocks(locks))
    }
}

impl Engine for Counting {
    type Prepared = Counted;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn locks(&self) -> Vec<Descriptor> {
        self.0.locks()
    }

    fn prepare(&self, scenario: &Scenario) -> Result<Counted, PrepareError> {
        self.0.prepare(scenario).map(Counted)
    }
}

impl Prepared for Counted {
    type Record = <PreparedSim as Prepared>::Record;

    fn judge(&self, seed: impl Into<Seed>) -> Summary {
        RUNS.fetch_add(1, Ordering::Relaxed);
        self.0.judge(seed)
    }

    fn run(&self, seed: impl Into<Seed>) -> Report {
        self.0.run(seed)
    }

    fn run_traced(&self, seed: impl Into<Seed>) -> (Report, Vec<Self::Record>) {
        self.0.run_traced(seed)
    }
}

impl Searchable for Counted {
    fn scenario(&self) -> &Scenario {
        self.0.scenario()
    }

    fn climate(&self) -> Option<&Climate> {
        self.0.climate()
    }

    fn with_faults(&self, faults: Vec<Fault>) -> Result<Counted, UnknownHost> {
        self.0.with_faults(faults).map(Counted)
    }

    fn with_scenario(&self, scenario: &Scenario) -> Result<Counted, PrepareError> {
        self.0.with_scenario(scenario).map(Counted)
    }
}

impl Stepped for Counted {
    fn timed_steps(&self, seed: impl Into<Seed>) -> Vec<(TrueNs, Nth)> {
        self.0.timed_steps(seed)
    }
}

impl Futures for Counted {
    fn judge_future(&self, seed: impl Into<Seed>, from: TrueNs, future: Seed) -> Summary {
        self.0.judge_future(seed, from, future)
    }
}

type Machine = doublehold::check::Client;

struct Held(MultiplexedConnection, String, String);

async fn take(
    mut redis: MultiplexedConnection,
    client: Machine,
    wanted: Wanted,
) -> redis::RedisResult<Option<Held>> {
    let (key, token) = (wanted.resource, client.token());
    let mut set = redis::cmd("SET");
    set.arg(&key).arg(&token).arg("NX").arg("PX").arg(wanted.ttl.as_millis() as u64);
    let set: Option<String> = set.query_async(&mut redis).await?;
    Ok(set.map(|_| Held(redis, key, token)))
}

impl Guard for Held {
    fn token(&self) -> Vec<u8> {
        self.2.clone().into()
    }

    async fn release(mut self) -> redis::RedisResult<bool> {
        redis::cmd("DEL").arg(&self.1).query_async(&mut self.0).await
    }
}

#[test]
fn a_lock_of_ones_own_is_checked_on_it_as_on_the_first() {
    let world = World::new("two engines")
        .nodes(["A"])
        .clients(2, ["acquire", "work 1s..3s", "release"])
        .weather("pauses-only");
    let lock = || Existing::on_one_node("mine", take);
    let effort = Effort { replays_max: 200, ..Effort::default() };
    let first = check(&world, lock()).seeds(1..=60).no_files().effort(effort).run().expect("it can be run");
    let other = check_on::<Counting>(&world, lock()).seeds(1..=60).no_files().effort(effort).run();
    let other = other.expect("it can be run");
    assert!(RUNS.load(Ordering::Relaxed) > 60, "it ran, and shrank what it found");
    assert!(first.count(Predicate::WR).violated > 0, "{first}");
    assert_eq!(other.to_string(), first.to_string());
}
