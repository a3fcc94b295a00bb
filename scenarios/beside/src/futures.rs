//! Other futures of a run that only the first lock breaks: other seeds, half of them with other delays, and all with
//! times that are a little sooner or later. Shrinking looks at none of these seeds.
//!
//! A shrunk scenario may draw nothing at random, and then all its seeds come to one run. A node that is suspended "at
//! 54 s", beside work of 40 s, may separate two locks because one of them sends a request more. So in each future every
//! time of a fault, of a start and of work is moved by [a hundredth of the lease](MOVED) at most: longer than a request
//! takes, and too little for another story.
//!
//! Does not move what waits for an event alone, nor how long a fault lasts, which shrinking makes as short as it can.

use std::time::Duration;

use doublehold_scenarios::scenario::{DelayLaw, Scenario, Step};
use doublehold_scenarios::when::When;
use doublehold_scenarios::{Engine, Prepared as _, Seed, Stepped};
use doublehold_search::shrink::{Shrunk, Target};
use doublehold_sim::Stream;

use crate::BesideError;
use crate::masked::Masked;

/// How many other futures an example is tried in.
pub const FUTURES: u64 = 20;
/// How far from its own seed the futures of an example begin: shrinking looks at the seeds right after it.
const FUTURES_AFTER: u64 = 1_000_000;
/// The part of a lease by which times are moved at most.
const MOVED: u32 = 100;

/// In how many other futures only the first lock breaks it.
pub(crate) fn separated_futures<A, B>(masked: &Masked<'_, A, B>, shrunk: &Shrunk) -> Result<u64, BesideError>
where
    A: Engine<Prepared: Stepped>,
    B: Engine<Prepared: Stepped>,
{
    let target = Target::Violates(masked.wanted.predicate);
    let mut separates = 0;
    for number in 0..FUTURES {
        let seed = Seed(shrunk.seed.0.wrapping_add(FUTURES_AFTER + number));
        let prepared = masked.prepare(&future(&shrunk.scenario, number, seed))?;
        separates += u64::from(target.is_in(&prepared.judge(seed)));
    }
    Ok(separates)
}

/// The same with its times moved, and for half of the numbers with other delays.
pub(crate) fn future(scenario: &Scenario, number: u64, seed: Seed) -> Scenario {
    let mut future = match number % 4 {
        0 => with_delays(scenario, 3, 2),
        1 => with_delays(scenario, 2, 3),
        _ => scenario.clone(),
    };
    let mut times = Times { stream: Stream::new(seed, "future"), most: scenario.lock.ttl / MOVED };
    for fault in &mut future.faults {
        times.move_moment(&mut fault.at);
    }
    for client in &mut future.clients {
        client.start.iter_mut().for_each(|start| times.move_moment(start));
        for step in &mut client.program {
            if let Step::Work(law) = step {
                times.move_work(law);
            }
        }
    }
    future
}

/// Moves times, each by another draw.
struct Times {
    stream: Stream,
    most: Duration,
}

impl Times {
    fn move_moment(&mut self, moment: &mut When) {
        let (When::At(time) | When::On { after: time, .. }) = moment;
        *time = self.moved(*time);
    }

    fn move_work(&mut self, law: &mut DelayLaw) {
        match law {
            DelayLaw::Fixed(time) => *time = self.moved(*time),
            DelayLaw::Uniform { min, max } => (*min, *max) = (self.moved(*min), self.moved(*max)),
            // These are drawn anew from each seed.
            DelayLaw::LogNormal { .. } | DelayLaw::Quantiles(_) => {}
        }
    }

    /// A little more or less; nothing stays nothing.
    fn moved(&mut self, time: Duration) -> Duration {
        let most = self.most.min(time / 2);
        let by = self.stream.below(2 * most.as_nanos() as u64 + 1);
        time - most + Duration::from_nanos(by)
    }
}

/// The same with all delays of the network so many times as long.
fn with_delays(scenario: &Scenario, times: u32, over: u32) -> Scenario {
    let scaled = |law: &DelayLaw| match law {
        DelayLaw::Fixed(delay) => DelayLaw::Fixed(*delay * times / over),
        DelayLaw::Uniform { min, max } => {
            DelayLaw::Uniform { min: *min * times / over, max: *max * times / over }
        }
        DelayLaw::LogNormal { median, sigma_milli } => {
            DelayLaw::LogNormal { median: *median * times / over, sigma_milli: *sigma_milli }
        }
        DelayLaw::Quantiles(quantiles) => {
            DelayLaw::Quantiles(quantiles.iter().map(|delay| *delay * times / over).collect())
        }
    };
    let mut scenario = scenario.clone();
    scenario.link.delay = scaled(&scenario.link.delay);
    for (_, _, link) in &mut scenario.links {
        link.delay = scaled(&link.delay);
    }
    scenario
}
