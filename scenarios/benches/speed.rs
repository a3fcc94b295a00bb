//! How fast runs are, and how much faster than turmoil's, measured side by side in one process.
//!
//! Workload W: 5 nodes, 3 clients, each 10 rounds of 5 sequential 20-byte ECHOs over links of 1–5 ms, then 900 ms of
//! sleep: 300 messages in about 9.3 simulated seconds. Ours goes the whole way a lock goes (a driver, RESP, the node,
//! the trace hash); the bare kernel and turmoil only echo bytes. Time is the thread's processor time, so that it
//! matters little what else the machine does; rounds are interleaved, so that it disturbs all alike, and medians are
//! printed.
//!
//! The ratio to the bare kernel compares two programs that do alike things to one processor, and is about the same
//! elsewhere; the ratio to turmoil depends on the machine.
//!
//! `cargo bench -p doublehold-scenarios -- 1000000` looks at memory over that many runs in place of twenty thousand.
//!
//! Not measured here: compiling, and the first run of a thread (which builds the Lua state).

#![expect(clippy::print_stdout, reason = "a benchmark that prints nothing is none")]
#![expect(clippy::disallowed_methods, reason = "what is measured is real time")]

#[path = "speed/many.rs"]
mod many;
#[path = "speed/redlock.rs"]
mod redlock;
#[path = "speed/turmoil_w.rs"]
mod turmoil_w;
#[path = "speed/w.rs"]
mod w;

use std::time::Duration;

use doublehold_sim::World;
use doublehold_sim_turmoil::TurmoilWorld;

/// As the binary has it; turmoil's runs get it too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Messages of one run of W: 3 clients × 10 rounds × 5 nodes, there and back.
const MESSAGES: u64 = 300;
const ROUNDS: u64 = 9;

fn main() {
    let memory_runs = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(20_000);
    // Before anything else has a peak.
    let memory = many::peak_memory(memory_runs);
    let samples = measure_all();
    println!("{:39}runs/s   µs/message   × bare echo   simulated s/s", "workload");
    for (workload, sample) in WORKLOADS.iter().zip(&samples) {
        print(workload, sample, samples[0].micros_per_message());
    }
    let [bare, redis_rs, lean, theirs, ..] = &samples;
    println!("a bare echo costs 1/{:.1} of W", bare.runs_per_second() / redis_rs.runs_per_second());
    println!(
        "runs of W for one of turmoil's: {:.0}, lean {:.0}",
        redis_rs.runs_per_second() / theirs.runs_per_second(),
        lean.runs_per_second() / theirs.runs_per_second()
    );
    println!("two threads make {:.2} × the runs of one", many::speed_up());
    match memory {
        Some([early, late]) => println!(
            "peak memory: {early} kB after {} runs of clock-jump, {late} kB after {memory_runs}",
            memory_runs / 10
        ),
        None => println!("peak memory: this system does not say"),
    }
}

/// As README names them.
const WORKLOADS: [&str; 9] = [
    "W, bare kernel, echo only",
    "W, redis-rs and the node",
    "W, lean and the node",
    "W, turmoil 0.7, echo only",
    "W, turmoil-net, echo only",
    "W, turmoil-net, redis-rs and the node",
    "three contend for a Redlock",
    "the same, lean",
    "a failover by three Sentinels, lean",
];

/// The median of each workload.
fn measure_all() -> [Sample; WORKLOADS.len()] {
    let mut samples = WORKLOADS.map(|_| Vec::new());
    for round in 0..ROUNDS {
        let round = round * 10_000;
        let [bare, redis_rs, lean, theirs, net, net_redis, contended, contended_lean, failover] =
            &mut samples;
        bare.push(measure(3000, |run| w::bare(round + run)));
        redis_rs.push(measure(1000, |run| w::redis_rs::<World>(round + run)));
        lean.push(measure(1500, |run| w::lean(round + run)));
        theirs.push(measure(3, |run| turmoil_w::run(round + run)));
        net.push(measure(60, |run| w::on_turmoil_net(round + run)));
        net_redis.push(measure(60, |run| w::redis_rs::<TurmoilWorld>(round + run)));
        contended.push(measure(300, |run| redlock::contended(round + run)));
        contended_lean.push(measure(500, |run| redlock::contended_lean(round + run)));
        failover.push(measure(100, |run| redlock::failover_lean(round + run)));
    }
    samples.map(|samples| median_of(samples, Sample::runs_per_second))
}

/// What one run did.
pub(crate) struct Done {
    pub(crate) simulated: Duration,
    pub(crate) messages: u64,
}

/// Some runs of one workload, timed together.
struct Sample {
    runs: u32,
    took: Duration,
    simulated: Duration,
    messages: u64,
}

impl Sample {
    fn runs_per_second(&self) -> f64 {
        f64::from(self.runs) / self.took.as_secs_f64()
    }

    fn micros_per_message(&self) -> f64 {
        1e6 * self.took.as_secs_f64() / self.messages as f64
    }
}

fn measure(runs: u32, run: impl Fn(u64) -> Done) -> Sample {
    let mut simulated = Duration::ZERO;
    let mut messages = 0;
    let start = processor_time();
    for seed in 0..runs {
        let done = run(u64::from(seed));
        simulated += done.simulated;
        messages += done.messages;
    }
    Sample { runs, took: processor_time().saturating_sub(start), simulated, messages }
}

/// How long this thread has been computing.
#[cfg(unix)]
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.try_into().expect("no thread has computed for less than no time")
}

/// Elsewhere, how long the process has been running.
#[cfg(not(unix))]
fn processor_time() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

pub(crate) fn median_of<T>(mut all: Vec<T>, by: impl Fn(&T) -> f64) -> T {
    all.sort_by(|a, b| by(a).total_cmp(&by(b)));
    all.swap_remove(all.len() / 2)
}

fn print(name: &str, sample: &Sample, bare: f64) {
    let micros = sample.micros_per_message();
    let simulated = sample.simulated.as_secs_f64() / sample.took.as_secs_f64();
    println!(
        "{name:37} {:8.1} {micros:12.3} {:13.2} {simulated:15.0}",
        sample.runs_per_second(),
        micros / bare
    );
}
