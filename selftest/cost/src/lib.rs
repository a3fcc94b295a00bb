//! The workloads whose cost is counted. Each makes runs from a range of seeds and returns their messages.

use std::ops::RangeInclusive;
use std::time::Duration;

use doublehold_lockimpl::{Switches, descriptors};
use doublehold_scenarios::build::World;
use doublehold_scenarios::{Engine, LeanEngine, Prepared, Seed};

#[expect(dead_code, reason = "the benchmark has workloads that are not counted here")]
#[path = "../../../scenarios/benches/speed/redlock.rs"]
mod redlock;
#[expect(dead_code, reason = "the benchmark has workloads that are not counted here")]
#[path = "../../../scenarios/benches/speed/w.rs"]
mod w;

/// Messages of W, as the benchmark has it.
pub(crate) const MESSAGES: u64 = 300;

/// What a run of W comes to, as the benchmark has it.
pub(crate) struct Done {
    #[expect(dead_code, reason = "the benchmark prints it")]
    pub(crate) simulated: Duration,
    pub(crate) messages: u64,
}

/// Runs that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// 300 messages on the bare kernel.
    WBare,
    /// The same through our own connection, to the Redis node.
    WLean,
    /// Three clients contend for a Redlock on five nodes, through our own connection.
    RedlockLean,
    /// Three clients behind three Sentinels, which replace a master, through our own connection.
    FailoverLean,
    /// A run of `doublehold check redlock --weather cloud`.
    CheckRedlock,
    /// The same of `redisson`, whose lock is a Lua script of its own.
    CheckRedisson,
    /// The same of `single`, on one node: what a lock on a service is compared with.
    CheckSingle,
    /// The same of `kazoo`, on ZooKeeper.
    CheckKazoo,
    /// The same of `etcd-mutex`.
    CheckEtcd,
    /// The same of `row-lock`, in a database.
    CheckRow,
}

impl Workload {
    /// All of them.
    pub const ALL: [Workload; 10] = [
        Workload::WBare,
        Workload::WLean,
        Workload::RedlockLean,
        Workload::FailoverLean,
        Workload::CheckRedlock,
        Workload::CheckRedisson,
        Workload::CheckSingle,
        Workload::CheckKazoo,
        Workload::CheckEtcd,
        Workload::CheckRow,
    ];

    /// The name in `counts.toml` and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Workload::WBare => "w-bare",
            Workload::WLean => "w-lean",
            Workload::RedlockLean => "redlock-lean",
            Workload::FailoverLean => "failover-lean",
            Workload::CheckRedlock => "check-redlock",
            Workload::CheckRedisson => "check-redisson",
            Workload::CheckSingle => "check-single",
            Workload::CheckKazoo => "check-kazoo",
            Workload::CheckEtcd => "check-etcd",
            Workload::CheckRow => "check-row",
        }
    }

    /// Finds a workload by its name.
    pub fn from_name(name: &str) -> Option<Workload> {
        Workload::ALL.into_iter().find(|workload| workload.name() == name)
    }

    /// Returns a function that makes one run from each seed, and returns how many messages they sent.
    pub fn prepare(self) -> Box<dyn Fn(RangeInclusive<u64>) -> u64> {
        match self {
            Workload::WBare => Box::new(|seeds| seeds.map(|seed| w::bare(seed).messages).sum()),
            Workload::WLean => Box::new(|seeds| seeds.map(|seed| w::lean(seed).messages).sum()),
            Workload::RedlockLean => {
                Box::new(|seeds| seeds.map(|seed| redlock::contended_lean(seed).messages).sum())
            }
            Workload::FailoverLean => {
                Box::new(|seeds| seeds.map(|seed| redlock::failover_lean(seed).messages).sum())
            }
            Workload::CheckRedlock => check("redlock"),
            Workload::CheckRedisson => check("redisson"),
            Workload::CheckSingle => check("single"),
            Workload::CheckKazoo => check("kazoo"),
            Workload::CheckEtcd => check("etcd-mutex"),
            Workload::CheckRow => check("row-lock"),
        }
    }
}

/// Prepares what `doublehold check LOCK --weather cloud` runs.
fn check(lock: &str) -> Box<dyn Fn(RangeInclusive<u64>) -> u64> {
    let locks = descriptors();
    let descriptor = locks.iter().find(|known| known.name == lock).expect("the lock is in the registry");
    let world = World::usual(descriptor).rounds(2).weather("cloud");
    let world = world.with(|scenario| scenario.lock.switches = Switches::new());
    let scenario = world.scenario(lock, locks.clone()).expect("the usual world is sound");
    let prepared = LeanEngine.prepare(&scenario).expect("the world can be run");
    Box::new(move |seeds| seeds.map(|seed| prepared.judge(Seed(seed)).messages).sum())
}
