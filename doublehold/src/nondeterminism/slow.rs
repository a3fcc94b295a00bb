//! A lock on a slow machine: real time passes inside its calls and after them, and nothing that is simulated changes.
//!
//! Within a run hardly any real time passes, so a lock that compares a real clock with its lease never sees one end,
//! and runs alike twice. So a little world is run once as ever and once with real time that outlives the lease: while a
//! grant or an extension is waited for, and after it. Code that asks its client for the time cannot tell them apart, on
//! however busy a machine: what is slept may only be longer than asked.
//!
//! Assumes that the lock honours the lease that is wanted of it. Not seen: a lease of the lock's own that is longer; a
//! real clock that is read where this one client's program does not come.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use doublehold_lockimpl::{
    Acquired, BoxLock, ConfigError, Descriptor, Env, Extended, Grant, Lock, LockKind, NodeName, Registry,
    Released, Switches,
};
use doublehold_scenarios::build::World;
use doublehold_scenarios::report::Summary;
use doublehold_scenarios::scenario::{HostIndex, Role};
use doublehold_scenarios::{Prepared, Scenario, Seed, SimEnv, TakesLocks};

/// The leases that are tried, until one is granted: the first takes little real time, and the second is for locks that
/// count in whole seconds.
const LEASES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(1)];
/// Any would do.
const SEED: Seed = Seed(1);

/// True if real time makes a difference to the lock of this scenario.
pub(super) fn tells_real_time<E: TakesLocks>(locks: &Registry<SimEnv>, scenario: &Scenario) -> bool {
    let granted =
        |lease: &Duration| Some((*lease, run_little_world::<E>(locks, scenario, *lease, Duration::ZERO)?));
    let first = LEASES.iter().filter_map(granted).find(|(_, run)| run.grants.count > 0);
    first.is_some_and(|(lease, at_once)| {
        let slow = run_little_world::<E>(locks, scenario, lease, lease + lease / 10);
        slow.is_some_and(|slow| slow.trace_hash != at_once.trace_hash)
    })
}

/// The little world, with so much real time each time; `None` if it cannot be made of this lock.
fn run_little_world<E: TakesLocks>(
    locks: &Registry<SimEnv>,
    scenario: &Scenario,
    lease: Duration,
    real: Duration,
) -> Option<Summary> {
    let kind = locks.get(&scenario.lock.algorithm)?.clone();
    let little =
        little(&kind.descriptor(), scenario, lease).scenario(&scenario.lock.algorithm, locks.descriptors());
    let locks = locks.clone().with(Slow { kind, real });
    Some(E::from_locks(locks).prepare(&little.ok()?).ok()?.judge(SEED))
}

/// One client with the scenario's nodes and switches, and nothing that goes wrong. It asks once, since a refusal would
/// be followed by more calls that take real time, and in the end it works past its lease, since locks also look at
/// their clock once a lease is lost.
fn little(lock: &Descriptor, scenario: &Scenario, lease: Duration) -> World {
    let name = |node: HostIndex| scenario.hosts[node.0].name.clone();
    let of = |role: Role| {
        scenario.hosts.iter().filter(move |host| host.role == role).map(|host| host.name.as_str())
    };
    let client = of(Role::Client).next().unwrap_or("c1");
    let past = format!("work {}ms", 2 * lease.as_millis());
    let extends = lock.facts(&scenario.lock.switches).extends;
    let extend: &[&str] = if extends { &["extend", "check", "write"] } else { &[] };
    let program = [&["try", "read", "check", "write"], extend, &[past.as_str(), "write", "release"]].concat();
    let world = World::new("real time").nodes(of(Role::Node)).client(client, program).ttl(lease);
    let switches = scenario.lock.switches.clone();
    let world = world.with(move |scenario| scenario.lock.switches = switches.clone());
    match scenario.nodes.master {
        Some(master) => world.master(name(master)),
        None => world,
    }
}

/// A kind of lock whose calls take real time.
struct Slow<V> {
    kind: Arc<dyn LockKind<V>>,
    real: Duration,
}

impl<V: Env> LockKind<V> for Slow<V> {
    fn descriptor(&self) -> Descriptor {
        self.kind.descriptor()
    }

    fn build(&self, env: V, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        let lock = self.kind.build(env, nodes, chosen)?;
        Ok(BoxLock::new(Slowly { lock, real: self.real }))
    }
}

/// A lock whose calls take real time.
struct Slowly {
    lock: BoxLock,
    real: Duration,
}

impl Lock for Slowly {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        slowly(self.lock.acquire(resource, ttl), self.real).await
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        slowly(self.lock.extend(grant, ttl), self.real).await
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        self.lock.release(grant).await
    }
}

/// The same call with real time that passes when it waits for the first time, and when it is over.
async fn slowly<T>(call: impl Future<Output = T>, real: Duration) -> T {
    let mut call = pin!(call);
    let mut polls = 0_u32;
    let done = poll_fn(|context| {
        if polls == 1 {
            thread::sleep(real);
        }
        polls = polls.saturating_add(1);
        call.as_mut().poll(context)
    });
    let done = done.await;
    thread::sleep(real);
    done
}
