//! `[weather]`: what each of its words does to the faults that are drawn.

use std::time::Duration;

use doublehold_scenarios::fault::{Effect, Fault};
use doublehold_scenarios::weather::Claims;
use doublehold_scenarios::when::When;
use doublehold_scenarios::{Engine, Searchable, SimEngine};
use doublehold_sim::DelayLaw;

use crate::keyword_effects::row::{REPLICATED, read};
use crate::keyword_effects::texts::Word;

pub(crate) const WORDS: &[Word] = &[
    ("weather.preset", || kinds("{ preset = 'pauses-only' }") == ["pause"]),
    ("weather.without", || {
        kinds("{ preset = 'clocks-only', without = ['clock-step', 'clock-drift'] }") == ["clock-freeze"]
    }),
    ("weather.for", || latest("for = '2s', ") < secs(2) && latest("for = '30s', ") > secs(20)),
    // A line is in every run, or in half of them.
    ("weather.swarm", || {
        quiet_runs("swarm = false, ") == 0 && (60..140).contains(&quiet_runs("swarm = true, "))
    }),
    ("weather.at_steps", || {
        timed("at_steps = '0/1', ") == (true, false) && timed("at_steps = '1/1', ") == (false, true)
    }),
    // Words for a report: they change nothing in a run, and are kept.
    ("weather.claims", || claims("claims = 'field', ") == Claims::Field),
    ("weather.claims=search", || claims("claims = 'search', ") == Claims::Search),
    ("weather.claims=field", || {
        claims("claims = 'field', ") == Claims::Field && claims("") == Claims::Search
    }),
    ("weather.faults.every", || {
        line(PAUSE).len() > 3 * line("kind = 'pause', host = 'clients', every = '8s', for = '1s'").len()
    }),
    ("weather.faults.source", || !line(&format!("{PAUSE}, source = 'a guess'")).is_empty()),
    ("weather.faults.kind=pause", || strikes(PAUSE, "pause")),
    ("weather.faults.host", || {
        line(PAUSE).iter().all(|fault| ["c1", "c2"].contains(&&*fault.effect.hosts().0[0]))
    }),
    ("weather.faults.for", || line(PAUSE).iter().any(|fault| fault.lasting == Some(secs(1)))),
    ("weather.faults.kind=suspend", || {
        strikes("kind = 'suspend', host = 'nodes', every = '2s', for = '1s'", "suspend")
    }),
    ("weather.faults.resync", || {
        let line_of =
            |keys: &str| line(&format!("kind = 'suspend', host = 'nodes', every = '2s', for = '1s'{keys}"));
        let of = |fault: &Fault| match fault.effect {
            Effect::Suspend { resync, .. } => resync,
            _ => panic!("{fault}"),
        };
        line_of(", resync = '3s'").iter().all(|fault| of(fault) == Some(secs(3)))
            && line_of("").iter().all(|fault| of(fault).is_none())
    }),
    ("weather.faults.kind=crash", || {
        strikes("kind = 'crash', host = 'replicas', every = '2s', for = '1s'", "crash")
    }),
    ("weather.faults.kind=power-loss", || strikes(POWER, "power-loss")),
    ("weather.faults.torn_tail", || {
        let torn = |fault: &Fault| matches!(fault.effect, Effect::PowerLoss { torn_tail: true, .. });
        line(&format!("{POWER}, torn_tail = true")).iter().all(torn) && !line(POWER).iter().any(torn)
    }),
    ("weather.faults.kind=clock-step", || strikes(STEP, "clock-step")),
    ("weather.faults.by", || steps(STEP).iter().all(|by| by.abs() == 3_000_000_000)),
    ("weather.faults.sign=either", || {
        steps(STEP).iter().any(|by| *by > 0) && steps(STEP).iter().any(|by| *by < 0)
    }),
    ("weather.faults.sign=ahead", || steps(&format!("{STEP}, sign = 'ahead'")).iter().all(|by| *by > 0)),
    ("weather.faults.sign=behind", || steps(&format!("{STEP}, sign = 'behind'")).iter().all(|by| *by < 0)),
    ("weather.faults.kind=clock-drift", || {
        let drift = "kind = 'clock-drift', host = 'nodes', every = '2s', by = '1/100', for = '1s'";
        let within =
            |fault: &Fault| matches!(fault.effect, Effect::ClockDrift { by, .. } if by.0.abs() <= 10_000_000);
        strikes(drift, "clock-drift") && line(drift).iter().all(within)
    }),
    ("weather.faults.kind=clock-freeze", || strikes(FREEZE, "clock-freeze")),
    ("weather.faults.clock=wall", || frozen("wall")),
    ("weather.faults.clock=monotonic", || frozen("monotonic")),
    ("weather.faults.clock=boot", || frozen("boot")),
    ("weather.faults.kind=cut", || strikes(CUT, "cut")),
    ("weather.faults.from", || {
        line(CUT).iter().all(|fault| fault.effect.hosts().0.contains(&"c1".to_owned()))
    }),
    ("weather.faults.to", || {
        line(CUT).iter().all(|fault| fault.effect.hosts().0.iter().all(|host| host != "c2"))
    }),
    ("weather.faults.both_ways", || {
        let both = |fault: &Fault| matches!(&fault.effect, Effect::Cut { way } if way.both_ways);
        line(&format!("{CUT}, both_ways = true")).iter().all(both) && !line(CUT).iter().all(both)
    }),
    ("weather.faults.either_way", || {
        let turned = |line_of: &str| {
            line(line_of).iter().any(|fault| match &fault.effect {
                Effect::Cut { way } => way.both_ways || way.to.0 == ["c1"],
                other => panic!("{other:?}"),
            })
        };
        turned(&format!("{CUT}, either_way = true")) && !turned(CUT)
    }),
    ("weather.faults.kind=slow", || {
        strikes("kind = 'slow', from = 'c1', to = 'nodes', every = '2s', by = '9ms', for = '1s'", "slow")
    }),
    ("weather.faults.brings", || brought("after = '3s'").len() > 50),
    ("weather.faults.brings.kind=promote", || {
        brought("after = '3s'").iter().all(|(_, fault)| fault.effect.kind().word == "promote")
    }),
    ("weather.faults.brings.host", || {
        brought("after = '3s'").iter().all(|(_, fault)| ["R1", "R2"].contains(&&*fault.effect.hosts().0[0]))
    }),
    ("weather.faults.brings.after", || {
        let later = |(cut, promoted): &(Fault, Fault)| match (&cut.at, &promoted.at) {
            (When::At(cut), When::At(promoted)) => *promoted == *cut + secs(3),
            (When::On { .. }, When::On { after, .. }) => *after == secs(3),
            _ => false,
        };
        brought("after = '3s'").iter().all(later)
    }),
    ("weather.faults.brings.tell", || {
        let tells = |(_, fault): &(Fault, Fault)| match &fault.effect {
            Effect::Promote { tell, .. } => tell.clone(),
            _ => None,
        };
        brought("after = '3s', tell = []").iter().all(|it| tells(it).is_some_and(|told| told.0.is_empty()))
            && brought("after = '3s'").iter().all(|it| tells(it).is_none())
    }),
    ("weather.faults.brings.rewrite_config", || {
        let kept = |(_, fault): &(Fault, Fault)| {
            matches!(&fault.effect, Effect::Promote { rewrite_config: true, .. })
        };
        !brought("after = '3s', rewrite_config = false").iter().any(kept)
            && brought("after = '3s'").iter().all(kept)
    }),
    ("weather.faults.kind=loss", || strikes(LOSS, "loss")),
    ("weather.faults.probability", || {
        let third = |fault: &Fault| matches!(&fault.effect, Effect::Loss { probability, .. } if probability.to_string() == "1/3");
        line(LOSS).iter().all(third)
    }),
    ("weather.faults.kind=packet-delay", || {
        strikes("kind = 'packet-delay', from = 'c1', to = 'nodes', every = '2s', by = '9s'", "packet-delay")
    }),
    ("weather.faults.kind=duplicate", || strikes(DUPLICATE, "duplicate")),
    ("weather.faults.after", || {
        let in_time =
            |fault: &Fault| matches!(&fault.effect, Effect::Duplicate { after, .. } if *after == secs(9));
        line(DUPLICATE).iter().all(in_time)
    }),
    ("weather.faults.kind=reset-connections", || {
        strikes(
            "kind = 'reset-connections', from = 'clients', to = 'nodes', every = '2s'",
            "reset-connections",
        )
    }),
    ("weather.faults.kind=slow-node", || {
        let by = |fault: &Fault| match &fault.effect {
            Effect::SlowNode { by: DelayLaw::Uniform { min, max }, .. } => (*min, *max),
            _ => panic!("{fault}"),
        };
        let slow = "kind = 'slow-node', host = 'nodes', every = '2s', by = '1s..3s', for = '1s'";
        strikes(slow, "slow-node") && line(slow).iter().all(|fault| by(fault) == (secs(1), secs(3)))
    }),
    ("weather.faults.kind=fsync-lies", || {
        strikes("kind = 'fsync-lies', host = 'nodes', every = '2s'", "fsync-lies")
    }),
    ("weather.faults.kind=flush", || strikes("kind = 'flush', host = 'nodes', every = '2s'", "flush")),
    ("weather.faults.kind=evict", || strikes(EVICT, "evict")),
    ("weather.faults.volatile_only", || {
        let only = |fault: &Fault| matches!(fault.effect, Effect::Evict { volatile_only: true, .. });
        !line(&format!("{EVICT}, volatile_only = false")).iter().any(only) && line(EVICT).iter().all(only)
    }),
    ("weather.faults.kind=promote", || {
        let promoted = line(PROMOTE);
        strikes(PROMOTE, "promote") && promoted.iter().all(|fault| fault.effect.hosts().0[0] != "M")
    }),
    ("weather.faults.tell", || {
        let nobody = |fault: &Fault| match &fault.effect {
            Effect::Promote { tell: Some(tell), .. } => tell.0.is_empty(),
            _ => false,
        };
        line(&format!("{PROMOTE}, tell = []")).iter().all(nobody) && !line(PROMOTE).iter().any(nobody)
    }),
    ("weather.faults.rewrite_config", || {
        let kept = |fault: &Fault| matches!(&fault.effect, Effect::Promote { rewrite_config: true, .. });
        !line(&format!("{PROMOTE}, rewrite_config = false")).iter().any(kept)
            && line(PROMOTE).iter().all(kept)
    }),
];

const PAUSE: &str = "kind = 'pause', host = 'clients', every = '2s', for = '1s'";
const POWER: &str = "kind = 'power-loss', host = 'nodes', every = '2s', for = '1s'";
const STEP: &str = "kind = 'clock-step', host = 'nodes', every = '2s', by = '3s'";
const FREEZE: &str = "kind = 'clock-freeze', host = 'nodes', every = '2s', for = '1s'";
const CUT: &str = "kind = 'cut', from = 'c1', to = ['nodes', 'resource'], every = '2s', for = '1s'";
const DUPLICATE: &str = "kind = 'duplicate', from = 'c1', to = 'nodes', every = '2s', after = '9s'";
const LOSS: &str = "kind = 'loss', from = 'c1', to = 'nodes', every = '2s', probability = '1/3', for = '1s'";
const EVICT: &str = "kind = 'evict', host = 'nodes', every = '2s'";
const PROMOTE: &str = "kind = 'promote', host = 'replicas', every = '2s'";

/// The faults that 200 seeds draw, a list for each.
fn runs(weather: &str) -> Vec<Vec<Fault>> {
    let scenario =
        read(REPLICATED, &[("weather", weather)]).unwrap_or_else(|error| panic!("{weather}: {error}"));
    let prepared = SimEngine.prepare(&scenario).expect("it was read from a file");
    let climate = prepared.climate().expect("it has weather");
    (1..=200_u64).map(|seed| climate.draw(seed.into())).collect()
}

/// All of them for one line, which is in every run.
fn line(line: &str) -> Vec<Fault> {
    let drawn = runs(&format!("{{ swarm = false, faults = [{{ {line} }}] }}")).concat();
    assert!(drawn.len() > 100, "{line}: {}", drawn.len());
    drawn
}

fn pauses(keys: &str) -> Vec<Vec<Fault>> {
    runs(&format!("{{ {keys}faults = [{{ {PAUSE} }}] }}"))
}

/// What the cuts of a master bring, each with its cut.
fn brought(keys: &str) -> Vec<(Fault, Fault)> {
    let cut = "kind = 'cut', from = 'master', to = 'clients', every = '2s', for = '1s'";
    let drawn = line(&format!("{cut}, brings = {{ kind = 'promote', host = 'replicas', {keys} }}"));
    drawn.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

fn strikes(of: &str, kind: &str) -> bool {
    line(of).iter().all(|fault| fault.effect.kind().word == kind && fault.optional)
}

fn kinds(weather: &str) -> Vec<&'static str> {
    let mut kinds: Vec<_> = runs(weather).concat().iter().map(|fault| fault.effect.kind().word).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

fn latest(keys: &str) -> Duration {
    let times = pauses(keys).concat().into_iter().filter_map(|fault| match fault.at {
        When::At(at) => Some(at),
        When::On { .. } => None,
    });
    times.max().expect("half strike at times")
}

fn claims(keys: &str) -> Claims {
    let weather = format!("{{ {keys}faults = [{{ {PAUSE} }}] }}");
    let scenario =
        read(REPLICATED, &[("weather", &weather)]).unwrap_or_else(|error| panic!("{weather}: {error}"));
    let again = read(&scenario.to_toml(), &[]).expect("it was read from a file");
    assert_eq!(again.weather, scenario.weather, "it is written as it was read");
    scenario.weather.expect("it has one").claims
}

fn quiet_runs(keys: &str) -> usize {
    pauses(keys).iter().filter(|faults| faults.is_empty()).count()
}

/// Whether any strikes at a time, and whether any at an event.
fn timed(keys: &str) -> (bool, bool) {
    let drawn = pauses(keys).concat();
    let at_time = |fault: &Fault| matches!(fault.at, When::At(_));
    (drawn.iter().any(at_time), drawn.iter().any(|fault| !at_time(fault)))
}

fn steps(of: &str) -> Vec<i64> {
    let by = |fault: Fault| match fault.effect {
        Effect::ClockStep { by_ns, .. } => by_ns,
        other => panic!("{other:?}"),
    };
    line(of).into_iter().map(by).collect()
}

fn frozen(clock: &str) -> bool {
    let is_it =
        |fault: &Fault| matches!(&fault.effect, Effect::ClockFreeze { clock: it, .. } if it.name() == clock);
    line(&format!("{FREEZE}, clock = '{clock}'")).iter().all(is_it)
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

#[test]
fn every_word_of_weather_does_what_it_says() {
    for (word, does) in WORDS {
        assert!(does(), "{word}");
    }
}
