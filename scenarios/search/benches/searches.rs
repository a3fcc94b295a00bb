//! How fast searches are, and how soon they find what is known to be there: the figures of README, in one command.
//!
//! ```sh
//! cargo bench -p doublehold-search --bench searches                # half a minute
//! cargo bench -p doublehold-search --bench searches -- --million   # and a million runs of Redlock as it assumes
//! ```
//!
//! Times are of the clock on the wall, since what several cores do together is asked, so a machine that does other
//! things shows others. What is found, and at which seed, is the same everywhere.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "what is measured is real time")]

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use doublehold_history::Predicate;
use doublehold_lockimpl::{Nodes, Switches};
use doublehold_scenarios::build::World;
use doublehold_scenarios::pool::cores;
use doublehold_scenarios::{Engine, LeanEngine, Prepared, PreparedSim, Seed};
use doublehold_search::explore::{CLIENTS, Exploration, Kinds, small_world};
use doublehold_search::many::{Many, Tally, run_many};
use doublehold_search::shrink::Target;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What each lock is known to get wrong, and under which weather.
const FLAWS: [(&str, &str, Predicate); 9] = [
    ("single", "cloud", Predicate::P1),
    ("replicated", "cloud", Predicate::P1),
    ("redlock", "cloud", Predicate::P2),
    ("setnx", "cloud", Predicate::LV),
    ("setnx-expire", "cloud", Predicate::LV),
    ("setnx-expire-multi", "cloud", Predicate::LV),
    ("setnx-getset", "clocks-only", Predicate::P1),
    ("set-ex", "calm", Predicate::P1),
    ("get-then-delete", "pauses-only", Predicate::WR),
];

fn main() {
    println!("{} cores\n", cores());
    speed();
    libraries();
    first_finds();
    exploration();
    if std::env::args().any(|argument| argument == "--million") {
        million();
    }
}

/// The turns that each client takes in the usual world.
const USUAL: u32 = 2;

fn prepared(lock: &str, switches: Switches, weather: &str) -> Arc<PreparedSim> {
    prepared_for(USUAL, lock, switches, weather)
}

fn prepared_for(rounds: u32, lock: &str, switches: Switches, weather: &str) -> Arc<PreparedSim> {
    let locks = doublehold_lockimpl::descriptors();
    let descriptor = locks.iter().find(|known| known.name == lock).expect("a lock of ours");
    let world = World::usual(descriptor).rounds(rounds).weather(weather);
    let world = world.with(move |scenario| scenario.lock.switches.clone_from(&switches));
    let scenario = world.scenario(lock, locks.clone()).expect("the usual world is sound");
    Arc::new(LeanEngine.prepare(&scenario).expect("it was checked"))
}

fn many(runs: u64, jobs: NonZeroUsize) -> Many {
    Many { seeds: Seed(1)..=Seed(runs), jobs, patience: Duration::from_secs(60) }
}

fn all(prepared: &Arc<PreparedSim>, runs: u64, jobs: NonZeroUsize) -> (Tally, Duration) {
    let began = Instant::now();
    let tally = run_many(prepared, &many(runs, jobs), |_| ControlFlow::Continue(())).expect("runs come back");
    (tally, began.elapsed())
}

/// Redlock under `cloud`: runs a second on one thread and on all, and the memory of the process.
fn speed() {
    let redlock = prepared("redlock", Switches::new(), "cloud");
    println!("check redlock --weather cloud (5 nodes, 3 clients, 2 rounds each)");
    for jobs in [NonZeroUsize::MIN, cores()] {
        let (tally, took) = all(&redlock, 20_000, jobs);
        let rate = tally.runs as f64 / took.as_secs_f64();
        println!("  {rate:>8.0} runs/s on {jobs} thread(s); peak memory {}", peak());
    }
}

/// Each library's lock: a run, its messages, and a message more, beside one of `single` or `redlock`. A run has a price
/// of its own, which messages of short runs would seem to have: so a message more is what turns of clients cost that
/// come on top of the usual two. And what it costs to know all locks, which each start of the program pays.
fn libraries() {
    const MORE: u32 = 8;
    let locks = doublehold_lockimpl::descriptors();
    let libraries: Vec<_> = locks.iter().filter(|lock| lock.profile.is_some()).collect();
    let names: Vec<&str> =
        ["single", "redlock"].into_iter().chain(libraries.iter().map(|lock| lock.name)).collect();
    let turns = |rounds| move |name: &&str| prepared_for(rounds, name, Switches::new(), "cloud");
    let usual: Vec<_> = names.iter().map(turns(USUAL)).collect();
    let more: Vec<_> = names.iter().map(turns(MORE)).collect();
    // One after another in each round, so that whatever else the machine does disturbs all alike.
    let mut best = vec![[(f64::MAX, 0.0); 2]; names.len()];
    for round in 0..5 {
        for (index, best) in best.iter_mut().enumerate() {
            for (best, prepared) in best.iter_mut().zip([&usual[index], &more[index]]) {
                let (run_us, messages) = each_run(prepared, round);
                if run_us < best.0 {
                    *best = (run_us, messages);
                }
            }
        }
    }
    let each = |index: usize| {
        let [usual, more] = best[index];
        (more.0 - usual.0) / (more.1 - usual.1)
    };
    println!("\ncheck NAME --weather cloud, on one thread: a run, its messages, and a message more\n");
    for (index, name) in names.iter().enumerate() {
        let (run_us, messages) = best[index][0];
        print!("  {name:<25} {run_us:>6.0} us  {messages:>6.0}  {:>6.2} us", each(index));
        match index.checked_sub(2).map(|library| usize::from(libraries[library].nodes == Nodes::Independent))
        {
            Some(base) => println!("  x {:.2} of {}", each(index) / each(base), names[base]),
            None => println!(),
        }
    }
    let (calls, began) = (1_000, Instant::now());
    let known: usize = (0..calls).map(|_| doublehold_lockimpl::descriptors().len()).sum();
    let took = began.elapsed().as_secs_f64() * 1e6 / f64::from(calls);
    println!("\n  descriptors of {} locks: {took:.1} us", known / 1_000);
}

/// The microseconds and the messages of one run, over some runs that no other round makes.
fn each_run(prepared: &PreparedSim, round: u64) -> (f64, f64) {
    const RUNS: u64 = 400;
    let began = Instant::now();
    let messages: u64 = (1..=RUNS).map(|seed| prepared.judge(Seed(round * RUNS + seed)).messages).sum();
    (began.elapsed().as_secs_f64() * 1e6 / RUNS as f64, messages as f64 / RUNS as f64)
}

/// Each lock's known flaw: the seed and the time to its first run.
fn first_finds() {
    println!("\nthe first run that shows a known flaw, on one thread\n");
    for (lock, weather, predicate) in FLAWS {
        let began = Instant::now();
        let until = |tally: &Tally| match tally.count(predicate).first {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        };
        let tally =
            run_many(&prepared(lock, Switches::new(), weather), &many(200_000, NonZeroUsize::MIN), until);
        let tally = tally.expect("runs come back");
        let found =
            tally.count(predicate).first.map_or("NOT FOUND".to_owned(), |seed| format!("seed {seed}"));
        let took = began.elapsed().as_secs_f64();
        println!("  {lock:<20} {predicate}  {weather:<12} {found:>12}  {took:>7.3} s");
    }
}

/// Every placement of one fault in a run of Redlock.
fn exploration() {
    let locks = doublehold_lockimpl::descriptors();
    let redlock = locks.iter().find(|lock| lock.name == "redlock").expect("a lock of ours");
    let small = small_world(redlock, CLIENTS, 1).scenario("redlock", locks.clone());
    let small = small.expect("the small world is sound");
    println!("\nexplore redlock --faults 1");
    let began = Instant::now();
    let exploration =
        Exploration::new(&small, &Kinds::applicable_words(&small), 1, 1).expect("kinds of ours");
    let found = exploration.run(exploration.begin(), cores(), || false, |_, _| ());
    let (placements, distinct) = (found.placements(), found.distinct_traces());
    let of_p2 = found.runs_with(Target::Violates(Predicate::P2));
    println!("  {placements} placements, {distinct} different runs, P2 violated in {of_p2}");
    println!("  {:.2} s on {} thread(s)", began.elapsed().as_secs_f64(), cores());
}

/// What Redlock promises where clocks are right and nodes remember. With one token a call, as its reference
/// implementation has it, that is not kept: one seed in some ten thousand shows it. Here each attempt has its own.
fn million() {
    let weather = "no-clock-faults-no-amnesia";
    println!("\ncheck redlock --set lock.token=attempt --weather {weather} --runs 1000000 --predicate P2");
    let redlock = prepared("redlock", Switches::new().with("token", "attempt"), weather);
    let (tally, took) = all(&redlock, 1_000_000, cores());
    let of_p2 = tally.count(Predicate::P2);
    println!(
        "  P2 holds in {}, violated in {}, inconclusive in {}",
        of_p2.holds, of_p2.violated, of_p2.inconclusive
    );
    println!("  {:.0} s; {} grants; peak memory {}", took.as_secs_f64(), tally.grants, peak());
}

/// The most memory that this process had so far, where the system says.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.map_or("unknown".to_owned(), |peak| peak.trim().to_owned())
}
