//! Strata: runs that are forced to have just so many faults are those that chance would give, and the weights of the
//! strata are how often it gives them.
//!
//! Runs are told apart by line, and by kind. Random weathers, from fixed seeds. Two samples are compared by chi-square:
//! the runs of `Climate::draw` that happen to be of a stratum, and those of `Climate::draw_just`.

mod lines;

use std::collections::BTreeMap;
use std::time::Duration;

use doublehold_scenarios::fault::{Effect, Fault};
use doublehold_scenarios::format::Source;
use doublehold_scenarios::weather::Climate;
use doublehold_scenarios::when::When;
use doublehold_scenarios::{Engine, LeanEngine, Searchable, Seed};
use doublehold_sim::Stream;
use doublehold_sweeps::study::{Strata, Study};
use doublehold_sweeps::sweep::{HandOut, Order, Shard};

/// How many runs are drawn of each weather.
const RUNS: u64 = 12_000;
const WEATHERS: u64 = 3;
/// A window of 3.2 s: slots of 100 ms.
const SLOT_US: u128 = 100_000;

/// Pauses of three clients and deaths of two nodes, each line with a rate and a length of its own: several lines of a
/// kind, and lines of several hosts.
fn lines(stream: &mut Stream) -> String {
    let hosts = [("pause", "'c1'"), ("pause", "['c2', 'c3']"), ("crash", "'A'"), ("crash", "'B'")];
    let line = |(kind, hosts): &(&str, &str)| {
        // From one in two runs to one in eleven, on each host.
        let every = 3_200 * (2 + stream.below(10));
        let longest = 1 + stream.below(3_000);
        format!("{{ kind = \"{kind}\", host = {hosts}, every = \"{every}ms\", for = \"0ms..{longest}ms\" }}")
            .replace('\'', "\"")
    };
    hosts.iter().map(line).collect::<Vec<_>>().join(", ")
}

fn climate(lines: &str) -> Climate {
    let text = format!(
        r#"
        claim = "strata"
        lock = {{ algorithm = "redlock", ttl = "2s" }}
        nodes = {{ names = ["A", "B", "C"] }}
        clients = [
            {{ name = "c1", program = ["acquire", "release"] }},
            {{ name = "c2", program = ["acquire", "release"] }},
            {{ name = "c3", program = ["acquire", "release"] }},
        ]
        [weather]
        for = "3200ms"
        swarm = false
        at_steps = "0/1"
        faults = [{lines}]
        "#
    );
    let source = Source { name: "strata".into(), file: "strata.toml".into(), text, ..Source::default() };
    let scenario = source.read().unwrap_or_else(|error| panic!("{error}"));
    LeanEngine.prepare(&scenario).expect("it was checked").climate().expect("it has weather").clone()
}

/// The faults by which runs of such weathers are told apart, and the word for a fault.
type Division = (&'static [&'static str], fn(&Fault) -> &'static str);
const BY_KIND: Division = (&["pause", "crash"], kind);
const BY_LINE: Division = (&["pause[c1]", "pause[c2,c3]", "crash[A]", "crash[B]"], line);

fn strata(words: &[&str], faults: u32) -> Strata {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    Strata { words, faults, quiet_holds: false, by_weight: 0 }
}

fn kind(fault: &Fault) -> &'static str {
    match fault.effect {
        Effect::Pause { .. } => "pause",
        _ => "crash",
    }
}

/// The line of a fault of such weathers.
fn line(fault: &Fault) -> &'static str {
    match (kind(fault), host(fault).as_str()) {
        ("pause", "c1") => "pause[c1]",
        ("pause", _) => "pause[c2,c3]",
        (_, "A") => "crash[A]",
        _ => "crash[B]",
    }
}

/// The number of faults of each word.
fn counts(faults: &[Fault], word: fn(&Fault) -> &'static str) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for fault in faults {
        *counts.entry(word(fault).to_owned()).or_default() += 1;
    }
    counts
}

/// The slot in which a fault strikes.
fn slot(fault: &Fault) -> u128 {
    match fault.at {
        When::At(at) => at.as_micros() / SLOT_US,
        When::On { .. } => panic!("no fault strikes at a step: {fault:?}"),
    }
}

fn host(fault: &Fault) -> String {
    fault.effect.hosts().0.join("+")
}

/// What two samples are compared by. Each sees something else: which lines and hosts, which slots, how far two are
/// apart, how long they last. In which order a run lists its faults means nothing.
fn features(faults: &[Fault]) -> Vec<String> {
    let mut faults: Vec<&Fault> = faults.iter().collect();
    faults.sort_by_key(|fault| (kind(fault), slot(fault), host(fault)));
    let all =
        |of: &dyn Fn(&Fault) -> String| faults.iter().map(|fault| of(fault)).collect::<Vec<_>>().join(" ");
    let mut slots: Vec<u128> = faults.iter().map(|fault| slot(fault)).collect();
    slots.sort_unstable();
    let apart = slots.windows(2).map(|pair| (pair[1] - pair[0]).min(8)).max().unwrap_or_default();
    let length = |fault: &Fault| fault.lasting.unwrap_or(Duration::ZERO).as_millis() / 200;
    vec![
        all(&host),
        all(&|fault| (slot(fault) / 4).to_string()),
        all(&|fault| format!("{} {}", kind(fault), slot(fault) % 8)),
        apart.to_string(),
        all(&|fault| format!("{} {}", host(fault), length(fault).min(4))),
    ]
}

type Sample = BTreeMap<String, f64>;

/// Chi-square of two samples, and the most that is taken for chance: the mean and eight deviations, which chance
/// exceeds once in two thousand times with one degree of freedom, and once in a million with ten. What is seen less
/// than ten times is one class.
fn chi_square(one: &Sample, other: &Sample) -> (f64, f64) {
    let (n, m) = (one.values().sum::<f64>(), other.values().sum::<f64>());
    let mut classes: Vec<(f64, f64)> = Vec::new();
    let mut rest = (0.0, 0.0);
    let mut keys: Vec<&String> = one.keys().chain(other.keys()).collect();
    keys.sort();
    keys.dedup();
    for key in keys {
        let class = (one.get(key).copied().unwrap_or(0.0), other.get(key).copied().unwrap_or(0.0));
        if class.0 + class.1 < 10.0 {
            rest = (rest.0 + class.0, rest.1 + class.1);
        } else {
            classes.push(class);
        }
    }
    classes.extend((rest.0 + rest.1 >= 10.0).then_some(rest));
    let square = classes.iter().map(|(a, b)| {
        let difference = a * (m / n).sqrt() - b * (n / m).sqrt();
        difference * difference / (a + b)
    });
    let freedom = (classes.len() as f64 - 1.0).max(1.0);
    (square.sum(), freedom + 8.0 * (2.0 * freedom).sqrt())
}

#[test]
fn runs_that_are_forced_to_have_faults_are_those_that_chance_would_give() {
    assert_forced_runs_are_those_of_chance(BY_KIND, 15);
    assert_forced_runs_are_those_of_chance(BY_LINE, 15);
}

/// Compares each stratum that comes often, and at least so many features of each weather.
fn assert_forced_runs_are_those_of_chance((words, word): Division, least: u32) {
    for weather in 0..WEATHERS {
        let mut stream = Stream::new(Seed(weather), "strata");
        let lines = lines(&mut stream);
        let climate = climate(&lines);
        let mut found: BTreeMap<BTreeMap<String, u32>, Vec<Vec<String>>> = BTreeMap::new();
        for seed in 0..RUNS {
            let faults = climate.draw(Seed(seed));
            found.entry(counts(&faults, word)).or_default().push(features(&faults));
        }
        let known = strata(words, 3).all();
        let mut compared = 0;
        for (stratum, runs) in
            found.iter().filter(|(stratum, runs)| known.contains(stratum) && runs.len() > 500)
        {
            let forced: Vec<Vec<String>> = (0..runs.len() as u64)
                .map(|seed| {
                    let faults = climate.draw_just(Seed(1_000_000_000 + seed), stratum);
                    assert_eq!(&counts(&faults, word), stratum, "{lines}");
                    features(&faults)
                })
                .collect();
            for feature in 0..runs[0].len() {
                let sample = |runs: &[Vec<String>]| {
                    let mut sample = Sample::new();
                    runs.iter().for_each(|run| *sample.entry(run[feature].clone()).or_default() += 1.0);
                    sample
                };
                let (square, most) = chi_square(&sample(runs), &sample(&forced));
                assert!(square <= most, "feature {feature} of {stratum:?}: {square} > {most}: {lines}");
                compared += 1;
            }
        }
        assert!(compared >= least, "weather {weather}: {compared} comparisons: {lines}");
    }
}

#[test]
fn weights_are_how_often_chance_gives_a_stratum() {
    for (weather, (words, word)) in (0..WEATHERS).flat_map(|it| [(it, BY_KIND), (it, BY_LINE)]) {
        let mut stream = Stream::new(Seed(weather), "weights");
        let lines = lines(&mut stream);
        let (climate, strata) = (climate(&lines), strata(words, 3));
        let mut found: BTreeMap<BTreeMap<String, u32>, f64> = BTreeMap::new();
        for seed in 0..RUNS {
            *found.entry(counts(&climate.draw(Seed(seed)), word)).or_default() += 1.0;
        }
        let runs = RUNS as f64;
        let mut beyond = runs;
        let mut square = 0.0;
        for stratum in strata.all() {
            let expected = strata.weight(Some(&climate), &stratum) * runs;
            let seen = found.get(&stratum).copied().unwrap_or(0.0);
            square += (seen - expected).powi(2) / expected;
            beyond -= seen;
        }
        let expected = strata.beyond(Some(&climate)) * runs;
        square += (beyond - expected).powi(2) / expected;
        let freedom = strata.count() as f64;
        assert!(square <= freedom + 5.0 * (2.0 * freedom).sqrt(), "{square} with {freedom}: {lines}");
    }
}

#[test]
fn weights_and_what_lies_beyond_come_to_one() {
    // From a hundred on each of three hosts, in 8,192 slots, to one in thousands of runs. Of some no run has as few as
    // a stratum, to the last digit that a number has.
    let rates = ["32ms", "200ms", "299ms", "300ms", "301ms", "500ms", "3200ms", "1h", "8760h"];
    for (pause, crash) in rates.iter().flat_map(|pause| rates.map(|crash| (*pause, crash))) {
        let lines = format!(
            r#"{{ kind = "pause", host = "clients", every = "{pause}", for = "1s" }},
               {{ kind = "pause", host = "c1", every = "210ms", for = "1s" }},
               {{ kind = "crash", host = "nodes", every = "{crash}", for = "1s" }}"#
        );
        let climate = climate(&lines.replace('\n', ""));
        let words = [&["pause", "crash"][..], &["pause[clients]", "pause[c1]", "crash"]];
        for (faults, words) in (1..=6).flat_map(|faults| words.map(|words| (faults, words))) {
            let strata = strata(words, faults);
            let weights: f64 = strata.all().iter().map(|it| strata.weight(Some(&climate), it)).sum();
            let all = weights + strata.beyond(Some(&climate));
            assert!(
                (all - 1.0).abs() < 1e-12,
                "{pause}, {crash}, {faults} of {words:?}: {weights} and {all}"
            );
        }
    }
}

/// Three kinds, of which one cannot strike: one node has no replica.
#[test]
fn runs_beyond_the_least_are_shared_out_by_weight() {
    let text = |quiet: &str| {
        format!(
            "question = '?'\nruns = 30\n\
             [weather]\nfor = '20s'\n\
             [[weather.faults]]\nkind = 'pause'\nhost = 'clients'\nevery = '1h'\nfor = '1s'\n\
             [[weather.faults]]\nkind = 'crash'\nhost = 'nodes'\nevery = '10h'\nfor = '1s'\n\
             [[weather.faults]]\nkind = 'promote'\nhost = 'replicas'\nevery = '1h'\n\
             [strata]\nfaults = 1\nquiet = '{quiet}'\nby_weight = 9000\n\
             [[designs]]\nname = 'one node'\nlock = 'single'\n"
        )
    };
    let runs = |quiet: &str| {
        let study = Study::parse("shared", "shared.toml", &text(quiet).replace('\'', "\"")).expect("a study");
        let mut order = Order::from_study(&study, Shard::WHOLE, |_| false);
        let mut runs = vec![0; 4];
        while let HandOut::Run(unit) = order.hand_out() {
            runs[unit.stratum as usize] += unit.runs;
            assert!(unit.runs > 0 || unit.of == 0, "a batch of nothing: {unit:?}");
        }
        runs
    };
    // One pause of three clients in an hour and one crash in ten: 30 to 1. Chance gives one crash a little less often,
    // since a pause beside it is another stratum.
    assert_eq!(runs("holds"), [30, 30 + 8_709, 30 + 290, 0]);
    // Else nearly all go where nearly all runs of a fleet are: 9,000 times 98.3 % over the 99.986 % that have strata.
    assert_eq!(runs("unknown"), [30 + 8_847, 30 + 147, 30 + 4, 0]);
}

/// The chance that just one slot of 32 is hit, by hand: one minus a tenth of a millionth part loses digits that this
/// keeps.
#[test]
fn the_weight_of_a_rare_fault_has_all_its_digits() {
    let climate = climate(r#"{ kind = "pause", host = "c1", every = "8760h", for = "1s" }"#);
    let strata = strata(&["pause"], 2);
    let mean = 3.2 / (8_760.0 * 3_600.0);
    let expected = [1.0 - mean, mean * (1.0 - 31.0 / 32.0 * mean), mean * mean / 2.0 * 31.0 / 32.0];
    for (pauses, expected) in expected.into_iter().enumerate() {
        let stratum: BTreeMap<String, u32> =
            [("pause".to_owned(), pauses as u32)].into_iter().filter(|(_, count)| *count > 0).collect();
        let weight = strata.weight(Some(&climate), &stratum);
        assert!((weight / expected - 1.0).abs() < 1e-7, "{pauses}: {weight:e} and {expected:e}");
    }
    let third = mean.powi(3) / 6.0 * (31.0 * 30.0) / (32.0 * 32.0);
    assert!(
        (strata.beyond(Some(&climate)) / third - 1.0).abs() < 1e-6,
        "{:e}",
        strata.beyond(Some(&climate))
    );
}
