//! How fast runs are, and how much faster than turmoil's, measured side by side in one process.
//!
//! Workload W: 5 nodes, 3 clients, each 10 rounds of 5 sequential 20-byte ECHOs over links of 1–5 ms, then 900 ms of
//! sleep: 300 messages in about 9.3 simulated seconds. Ours goes the whole way a lock goes (redis-rs, RESP, the node,
//! the trace hash); the bare kernel and turmoil only echo bytes. Rounds are interleaved, so that whatever else the machine
//! does disturbs all alike, and medians are printed.
//!
//! The ratio to the bare kernel compares two programs that do alike things to one processor, and is about the same
//! elsewhere; the ratio to turmoil depends on the machine.
//!
//! Not measured here: compiling, the first run of a thread (which builds the Lua state), and memory.

#![expect(clippy::print_stdout, reason = "a benchmark that prints nothing is none")]

#[path = "speed/bare_w.rs"]
mod bare_w;
#[path = "speed/redlock.rs"]
mod redlock;
#[path = "speed/turmoil_w.rs"]
mod turmoil_w;
#[path = "speed/w.rs"]
mod w;

use std::time::{Duration, Instant};

/// As the binary has it; turmoil's runs get it too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Messages of one run of W: 3 clients × 10 rounds × 5 nodes, there and back.
const MESSAGES: u64 = 300;
const ROUNDS: usize = 9;

fn main() {
    let mut contended = Vec::new();
    let mut ours = Vec::new();
    let mut bare = Vec::new();
    let mut theirs = Vec::new();
    for round in 0..ROUNDS as u64 {
        ours.push(measure(1000, |run| w::run(round * 1000 + run)));
        bare.push(measure(3000, |run| bare_w::run(round * 3000 + run)));
        contended.push(measure(300, |run| redlock::run(round * 1000 + run)));
        theirs.push(measure(3, |run| turmoil_w::run(round * 1000 + run)));
    }
    let (ours, bare, contended, theirs) = (median(ours), median(bare), median(contended), median(theirs));
    println!("workload                     runs/s   µs/message   simulated s/s");
    print(WORKLOADS[0], &ours);
    print(WORKLOADS[1], &bare);
    print(WORKLOADS[2], &theirs);
    print(WORKLOADS[3], &contended);
    println!("a bare echo costs 1/{:.1} of W", bare.runs_per_second() / ours.runs_per_second());
    println!("runs of W for one of turmoil's: {:.0}", ours.runs_per_second() / theirs.runs_per_second());
}

/// As README names them.
const WORKLOADS: [&str; 4] = [
    "W, redis-rs and the node",
    "W, bare kernel, echo only",
    "W, turmoil 0.7, echo only",
    "three contend for a Redlock",
];

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
}

fn measure(runs: u32, run: impl Fn(u64) -> Done) -> Sample {
    let mut simulated = Duration::ZERO;
    let mut messages = 0;
    let start = Instant::now();
    for seed in 0..runs {
        let done = run(u64::from(seed));
        simulated += done.simulated;
        messages += done.messages;
    }
    Sample { runs, took: start.elapsed(), simulated, messages: messages / u64::from(runs) }
}

fn median(mut samples: Vec<Sample>) -> Sample {
    samples.sort_by(|a, b| a.runs_per_second().total_cmp(&b.runs_per_second()));
    samples.swap_remove(samples.len() / 2)
}

fn print(name: &str, sample: &Sample) {
    let micros = 1e6 / sample.runs_per_second() / sample.messages as f64;
    let simulated = sample.simulated.as_secs_f64() / sample.took.as_secs_f64();
    println!("{name:27} {:8.1} {micros:12.3} {simulated:15.0}", sample.runs_per_second());
}
