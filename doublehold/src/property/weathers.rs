//! Weathers, drawn: some lines of the presets, more or less often, at most as strong as they stand there.
//!
//! The presets say where their magnitudes come from, so what is drawn stays within those: what a line draws
//! lengths and steps from is whole, a half or a quarter; rates of clocks and chances of losses stay. How often a
//! line strikes is from four times as often to half as often, or not at all: drawn worlds are small, and soon over.

use std::time::Duration;

use doublehold_scenarios::ScenarioError;
use doublehold_scenarios::scenario::{DelayLaw, Probability};
use doublehold_scenarios::weather::{Claims, RandomFault, Weather, preset};
use proptest::prelude::*;
use proptest::sample::select;

/// The largest mean number of faults of one line on a host in a run. The format allows more, which takes longer.
const MEAN_MAX: u32 = 16;
/// How many lines one weather may have: what the format allows.
const LINES_MAX: usize = 40;

/// Weathers with lines of these [presets](doublehold_scenarios::weather::presets()), which may be none at all.
///
/// ```
/// use doublehold::property::proptest::prelude::*;
/// use doublehold::property::weathers;
///
/// let weathers = weathers(&["pauses-only"])?;
/// proptest!(|(weather in weathers)| {
///     prop_assert!(weather.faults.iter().all(|fault| fault.effect.kind().word == "pause"));
/// });
/// # Ok::<(), doublehold::check::ScenarioError>(())
/// ```
///
/// # Errors
///
/// If there is no such preset.
pub fn weathers(presets: &[&str]) -> Result<BoxedStrategy<Weather>, ScenarioError> {
    let presets = presets.iter().map(|name| Ok(preset(name)?.weather)).collect::<Result<Vec<_>, _>>()?;
    let mut lines: Vec<RandomFault> = Vec::new();
    for line in presets.iter().flat_map(|weather| &weather.faults) {
        if !lines.contains(line) {
            lines.push(line.clone());
        }
    }
    let windows: Vec<Duration> = presets.iter().map(|weather| weather.window).collect();
    let window =
        if windows.is_empty() { Just(Duration::from_secs(20)).boxed() } else { select(windows).boxed() };
    let at_steps = select(vec![Probability::NEVER, Probability::HALF, certainty()]);
    let several = move |window: Duration| lines.iter().map(|fault| line(fault, window)).collect::<Vec<_>>();
    let drawn = window.prop_flat_map(move |window| (Just(window), several(window)));
    let weather = (drawn, any::<bool>(), at_steps).prop_map(|((window, faults), swarm, at_steps)| Weather {
        window,
        swarm,
        at_steps,
        claims: Claims::Search,
        faults: faults.into_iter().flatten().take(LINES_MAX).collect(),
    });
    Ok(weather.no_shrink().boxed())
}

fn certainty() -> Probability {
    Probability::new(1, 1).expect("one of one is a chance")
}

/// A line, or none, or a milder one.
fn line(fault: &RandomFault, window: Duration) -> BoxedStrategy<Option<RandomFault>> {
    let fault = fault.clone();
    let often = select(vec![1_u32, 2, 4, 8]);
    let drawn = (any::<bool>(), often, part(), part()).prop_map(move |(is_there, quarters, long, strong)| {
        let every = (fault.every * quarters / 4).max(window / MEAN_MAX);
        let weaker = |law: &Option<DelayLaw>, part| law.as_ref().map(|law| divide_law(law, part));
        let (lasting, by) = (weaker(&fault.lasting, long), weaker(&fault.by, strong));
        is_there.then(|| RandomFault { every, lasting, by, ..fault.clone() })
    });
    drawn.boxed()
}

fn part() -> impl Strategy<Value = u32> {
    select(vec![1_u32, 2, 4])
}

/// The law of which every draw is so much shorter.
fn divide_law(law: &DelayLaw, by: u32) -> DelayLaw {
    match law {
        DelayLaw::Fixed(always) => DelayLaw::Fixed(*always / by),
        DelayLaw::Uniform { min, max } => DelayLaw::Uniform { min: *min / by, max: *max / by },
        DelayLaw::LogNormal { median, sigma_milli } => {
            DelayLaw::LogNormal { median: *median / by, sigma_milli: *sigma_milli }
        }
        DelayLaw::Quantiles(measured) => DelayLaw::Quantiles(measured.iter().map(|it| *it / by).collect()),
    }
}
