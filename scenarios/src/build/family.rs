//! A family of worlds: each of its members is drawn from a number, so that a lock is used in as many ways as people use
//! locks.
//!
//! One world shows only what its program reaches: a bug of an extension is not met where nobody extends, and a bug of
//! short leases is not met under a lease of 10 s. So members differ in
//!
//! - their programs: a turn with or without a look at the deadline, work beyond the lease, extensions, single attempts
//!   (`try`), two locks at once, a lock that is not given back;
//! - how many clients there are (2 to 6, seldom 1), how often each comes, and when each begins;
//! - the lease (400 ms to 30 s), the delay of the network, and how soon a client that was refused asks again;
//! - how soon a free lock must be obtained after the last fault (a third of a lease to three leases, and half a second;
//!   two seconds at least);
//! - what the nodes keep on disk, and what the resource checks.
//!
//! Member 0 is the simplest. A step that the lock lacks is not drawn ([`Abilities`]).
//!
//! Does not draw faults: that is weather.

use std::time::Duration;

use doublehold_history::FencingCheck;
use doublehold_lockimpl::Nodes;
use doublehold_sim::{DelayLaw, Seed, Stream};

use super::World;
use crate::model::scenario::{Persistence, Scenario, Step};
use crate::model::when::When;

/// What a lock can do besides being taken and given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Its lease can be extended.
    pub extends: bool,
    /// Its grants carry a number that a resource can check.
    pub fences: bool,
}

impl Abilities {
    /// What two locks can both do.
    #[must_use]
    pub fn common(self, other: Abilities) -> Abilities {
        Abilities { extends: self.extends && other.extends, fences: self.fences && other.fences }
    }
}

/// Leases, from short to long against delays, pauses and driver timeouts.
const LEASES_MS: [u64; 7] = [400, 1_000, 2_000, 4_000, 4_000, 10_000, 30_000];
/// Numbers of clients: contention of two shows most.
const CLIENTS: [usize; 10] = [1, 2, 2, 2, 2, 3, 3, 3, 4, 6];
/// Numbers of independent nodes. Of an even number there may be no majority for anybody.
const QUORUMS: [usize; 8] = [2, 3, 3, 3, 3, 4, 5, 5];
/// The two locks of members that have more than one.
const LOCKS: [&str; 2] = ["stock", "orders"];

/// One way to use a lock. Lengths of work are shares of the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Usage {
    /// Reads, works, looks at the deadline, writes.
    Turn,
    /// The same, and never looks at the deadline.
    Blind,
    /// Works a little and writes nothing.
    Short,
    /// Takes it and gives it back.
    AtOnce,
    /// Works for about as long as the lease.
    Long,
    /// Works for several leases.
    Job,
    /// Extends in the middle of the work.
    Renewed,
    /// Works for about as long as the lease, and extends only then.
    RenewedLate,
    /// Extends again and again.
    RenewedOften,
    /// Extends at once, and then works for several leases.
    RenewedFirst,
    /// Asks for a while, and goes away without the lock.
    Tried,
    /// Never gives it back.
    Left,
}

/// Each as often as it is listed.
const USAGES: [Usage; 21] = [
    Usage::Turn,
    Usage::Turn,
    Usage::Turn,
    Usage::Turn,
    Usage::Blind,
    Usage::Blind,
    Usage::Short,
    Usage::Short,
    Usage::AtOnce,
    Usage::Long,
    Usage::Long,
    Usage::Job,
    Usage::Job,
    Usage::Renewed,
    Usage::Renewed,
    Usage::Renewed,
    Usage::RenewedLate,
    Usage::RenewedOften,
    Usage::RenewedFirst,
    Usage::Tried,
    Usage::Left,
];

impl Usage {
    fn extends(self) -> bool {
        matches!(self, Usage::Renewed | Usage::RenewedLate | Usage::RenewedOften | Usage::RenewedFirst)
    }

    fn draw(stream: &mut Stream, can: Abilities) -> Usage {
        loop {
            let usage = *pick(&USAGES, stream);
            if can.extends || !usage.extends() {
                return usage;
            }
        }
    }

    /// The steps, for a lease of so many milliseconds.
    fn program(self, ttl_ms: u64) -> Vec<String> {
        let work = |from: u64, to: u64| {
            let (from, to) = ((ttl_ms * from / 100).max(1), (ttl_ms * to / 100).max(2));
            format!("work {from}ms..{to}ms")
        };
        let (short, half, long, job) = (work(2, 35), work(20, 80), work(60, 125), work(150, 400));
        let steps: Vec<&str> = match self {
            Usage::Turn => vec!["acquire", "read", &short, "check", "write", "release"],
            Usage::Blind => vec!["acquire", "read", &short, "write", "release"],
            Usage::Short => vec!["acquire", &short, "release"],
            Usage::AtOnce => vec!["acquire", "release"],
            Usage::Long => vec!["acquire", "read", &long, "check", "write", "release"],
            Usage::Job => vec!["acquire", "read", &job, "write", "release"],
            Usage::Renewed => vec!["acquire", "read", &half, "extend", &half, "check", "write", "release"],
            Usage::RenewedLate => vec!["acquire", "read", &long, "extend", &short, "write", "release"],
            Usage::RenewedOften => {
                vec![
                    "acquire", "read", &half, "extend", &half, "extend", &half, "extend", "check", "write",
                    "release",
                ]
            }
            Usage::RenewedFirst => vec!["acquire", "read", "extend", &job, "check", "write", "release"],
            Usage::Tried => {
                let patience = format!("try {}ms", ttl_ms);
                return [patience.as_str(), "read", &short, "check", "write", "release"]
                    .map(str::to_owned)
                    .to_vec();
            }
            Usage::Left => vec!["acquire", &short],
        };
        steps.into_iter().map(str::to_owned).collect()
    }
}

/// A program over two locks, for a lease of so many milliseconds.
fn program_of_two(ttl_ms: u64, extends: bool, stream: &mut Stream) -> Vec<String> {
    let [one, other] = LOCKS;
    let work = |from: u64, to: u64| {
        format!("work {}ms..{}ms", (ttl_ms * from / 100).max(1), (ttl_ms * to / 100).max(2))
    };
    let both = |steps: Vec<String>| [vec![format!("acquire {one}")], steps].concat();
    match stream.below(5) {
        0 => vec![format!("acquire {other}"), work(5, 40), format!("release {other}")],
        1 => vec![format!("acquire {one}"), work(5, 60), format!("release {one}")],
        2 if extends => both(vec![
            work(40, 75),
            format!("acquire {other}"),
            format!("extend {one}"),
            work(30, 65),
            format!("release {one}"),
            format!("release {other}"),
        ]),
        2 | 3 => both(vec![
            format!("acquire {other}"),
            work(5, 40),
            format!("release {other}"),
            format!("release {one}"),
        ]),
        _ => both(vec![
            format!("acquire {other}"),
            format!("release {one}"),
            work(100, 250),
            format!("release {other}"),
        ]),
    }
}

/// The member of a family that a number stands for.
pub(super) fn member(number: u64, nodes: Nodes, can: Abilities) -> World {
    let mut stream = Stream::new(Seed(number), "family");
    let quorum = if number == 0 { 3 } else { *pick(&QUORUMS, &mut stream) };
    let world = topology(World::new(format!("world {number} of the family")), nodes, quorum);
    // A call to several nodes costs several times as much, and so does a long run of nodes that replicate.
    let is_costly = nodes != Nodes::One;
    if number == 0 {
        let world = world.clients(2, ["acquire", "read", "work 50ms..1500ms", "check", "write", "release"]);
        return with_bounds(world.rounds(2), 4_000, 12_000, is_costly);
    }
    let longest_ms = if is_costly { 10_000 } else { 30_000 };
    let ttl_ms = (*pick(&LEASES_MS, &mut stream)).min(longest_ms);
    let clients = (*pick(&CLIENTS, &mut stream)).min(if is_costly { 3 } else { 6 });
    let has_two_locks = stream.below(7) == 0;
    let is_mixed = stream.below(2) == 0;
    let common = Usage::draw(&mut stream, can);
    let mut world = if has_two_locks { world.locks(LOCKS) } else { world };
    for client in 1..=clients {
        let usage = if is_mixed { Usage::draw(&mut stream, can) } else { common };
        let program = match has_two_locks {
            true => program_of_two(ttl_ms, can.extends, &mut stream),
            false => usage.program(ttl_ms),
        };
        world = world.client(&format!("c{client}"), program.iter().map(String::as_str));
    }
    // What is short can be done often: a lost reply and what follows from it meet seldom.
    let is_short = matches!(common, Usage::Short | Usage::AtOnce) && !is_mixed && !has_two_locks;
    let rounds = match clients {
        _ if is_short && !is_costly => 12,
        1 => 5,
        _ => 1 + stream.below(if is_costly { 2 } else { 3 }) as u32,
    };
    // Longer than a call that ends by a driver's limit of a second: one request more is no worse for anybody.
    let bound_ms = (ttl_ms * *pick(&[33, 125, 300], &mut stream) / 100 + 500).max(2_000);
    let world = with_bounds(world.rounds(rounds), ttl_ms, bound_ms, is_costly);
    let change = Details::draw(&mut stream, ttl_ms, can, is_costly);
    world.with(move |scenario| change.apply(scenario))
}

fn topology(world: World, nodes: Nodes, quorum: usize) -> World {
    match nodes {
        Nodes::One => world.nodes(["A"]),
        Nodes::Replicated => world.nodes(["M", "R1", "R2"]).master("M"),
        Nodes::Independent => world.nodes(["A", "B", "C", "D", "E"].into_iter().take(quorum)),
    }
}

/// The lease, how soon a free lock must be obtained after the last fault, and a patience that outlasts this.
fn with_bounds(world: World, ttl_ms: u64, bound_ms: u64, is_costly: bool) -> World {
    let bound = Duration::from_millis(bound_ms);
    let retry_ms = (ttl_ms / if is_costly { 4 } else { 6 }).clamp(50, 2_000);
    let retry = DelayLaw::Uniform {
        min: Duration::from_millis(retry_ms / 2),
        max: Duration::from_millis(retry_ms * 3 / 2),
    };
    world.ttl(Duration::from_millis(ttl_ms)).obtain_free_within(bound).with(move |scenario| {
        scenario.limits.after_faults = true;
        // Six clients with three jobs each take 72 leases. Whoever waits for ever does it no longer than this.
        scenario.limits.time = Duration::from_millis(80 * ttl_ms + 4 * bound_ms + 60_000);
        for client in &mut scenario.clients {
            client.retry = retry.clone();
            client.give_up_after = 2 * bound + Duration::from_secs(45);
        }
    })
}

/// Everything of a member that no program says.
#[derive(Clone, Debug)]
struct Details {
    starts_ms: Vec<u64>,
    delay: Option<DelayLaw>,
    persistence: Persistence,
    fencing: bool,
    version_check: bool,
    /// A client that was refused asks again at once, or seldom.
    retry: Option<DelayLaw>,
}

impl Details {
    fn draw(stream: &mut Stream, ttl_ms: u64, can: Abilities, is_costly: bool) -> Details {
        let is_staggered = stream.below(2) == 0;
        let starts_ms = (0..6).map(|_| if is_staggered { stream.below(ttl_ms) } else { 0 }).collect();
        let uniform = |from: u64, to: u64| DelayLaw::Uniform {
            min: Duration::from_millis(from),
            max: Duration::from_millis(to),
        };
        let delay = match stream.below(8) {
            0..=4 => None,
            5 | 6 => Some(uniform(1, 20)),
            _ => Some(uniform(ttl_ms / 100, ttl_ms / 25)),
        };
        let often_ms = (ttl_ms / 25).clamp(10, 400);
        let asks_often = stream.below(5) == 0 && !is_costly;
        let retry = asks_often.then(|| uniform(often_ms / 2, often_ms * 2));
        let persistence = *pick(&[Persistence::Everysec, Persistence::Always, Persistence::None], stream);
        let fencing = can.fences && stream.below(2) == 0;
        Details { starts_ms, delay, persistence, fencing, version_check: stream.below(4) == 0, retry }
    }

    fn apply(&self, scenario: &mut Scenario) {
        for (client, start_ms) in scenario.clients.iter_mut().zip(&self.starts_ms) {
            client.start = (*start_ms > 0).then(|| When::from(Duration::from_millis(*start_ms)));
            if let Some(retry) = &self.retry {
                client.retry = retry.clone();
            }
        }
        if let Some(delay) = &self.delay {
            scenario.link.delay = delay.clone();
        }
        scenario.nodes.persistence = self.persistence;
        let reads = scenario.clients.iter().all(|client| client.program.iter().any(is_read));
        if self.fencing {
            scenario.resource.rules.fencing = FencingCheck::RejectLower;
        }
        scenario.resource.rules.version_check = self.version_check && reads;
    }
}

fn is_read(step: &Step) -> bool {
    matches!(step, Step::Read(_))
}

fn pick<'a, T>(list: &'a [T], stream: &mut Stream) -> &'a T {
    &list[stream.below(list.len() as u64) as usize]
}
