//! Other rates without a run: weights are those of a weather with these rates, what runs cannot say is refused, and
//! what reweighting says agrees with a fresh sweep as often as both intervals promise.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_scenarios::weather::Climate;
use doublehold_scenarios::{LeanEngine, Seed};
use doublehold_sim::Stream;
use doublehold_statistics::{Confidence, Estimate};
use doublehold_sweeps::results::{Cell, Factors, Pairs, RateChange, Results};
use doublehold_sweeps::study::{CellId, Study};
use doublehold_sweeps::sweep::{Batch, PredicateCount, Shard, StudyHeader};

/// The ready study of the field with other rates.
fn study(set: &str) -> Study {
    let ready = Study::load("field-rates").expect("it is a ready study");
    let text = ready.text.replace("[strata]", &format!("[set]\n{set}\n[strata]"));
    Study::parse("field-rates", "field-rates.toml", &text).unwrap_or_else(|error| panic!("{error}"))
}

/// Records of a study as far as they say weights: a batch for each stratum of each cell, of so many runs.
fn results(study: &Study, runs: u64) -> Results {
    let header = StudyHeader::new(&LeanEngine, study, Shard::WHOLE).expect("it runs");
    let strata = study.strata.as_ref().expect("it has strata");
    let cell = |number: u64| {
        let scenario = study.scenario(CellId(number)).expect("it is one");
        let climate = scenario.weather.as_ref().map(|weather| Climate::new(weather, &scenario, &[]));
        let beyond = strata.beyond(climate.as_ref());
        let row = |(stratum, faults): (u64, &BTreeMap<String, u32>)| Batch {
            cell: number,
            stratum,
            weight: Some(strata.weight(climate.as_ref(), faults)),
            beyond: (stratum == 0).then_some(beyond),
            runs,
            ..Batch::default()
        };
        let mut cell = Cell::default();
        (0..).zip(&header.strata).map(row).for_each(|batch| cell.add(batch));
        (number, cell)
    };
    let cells = (0..study.grid().cells()).map(cell).collect();
    Results { header, cells, pairs: Pairs::default(), is_torn: false }
}

fn change(text: &str) -> RateChange {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn weights_are_those_of_a_weather_with_these_rates() {
    let base = results(&study(""), 500);
    for (typed, set) in [
        ("weather.pause.every=17280s", "\"weather.pause.every\" = \"17280s\""),
        ("weather.suspend[clients,nodes].every=144h", "\"weather.suspend[clients,nodes].every\" = \"144h\""),
        ("weather.crash[nodes].every=5x", "\"weather.crash[nodes].every\" = \"438h\""),
        ("weather.promote.every=72h", "\"weather.promote.every\" = \"72h\""),
        ("weather.clock-step.every=never", "\"weather.clock-step\" = false"),
    ] {
        let told = base.with_rates(&[change(typed)]).unwrap_or_else(|error| panic!("{typed}: {error}"));
        let fresh = results(&study(set), 500);
        for (number, cell) in &told.cells {
            let others = &fresh.cells[number];
            let by_faults = |stratum: &u64, of: &Results| of.header.strata[*stratum as usize].clone();
            for (stratum, row) in &cell.strata {
                let faults = by_faults(stratum, &told);
                let same = others.strata.iter().find(|(other, _)| by_faults(other, &fresh) == faults);
                let expected = same.map_or(0.0, |(_, row)| row.weight());
                let off = (row.weight() - expected).abs();
                assert!(off <= expected * 5e-4, "{typed}: {faults:?} weighs {} for {expected}", row.weight());
            }
            let sum: f64 = cell.strata.values().map(Batch::weight).sum();
            let beyond = cell.strata[&0].beyond.expect("it says so");
            assert!(sum + beyond <= 1.0 + 1e-12 && sum + beyond > 1.0 - 1e-12, "{typed}: {sum} and {beyond}");
            let expected = others.strata[&0].beyond.expect("it says so");
            // By Poisson's law: of three faults of one line slots make some fewer.
            let is_near = (0.98..1.05).contains(&(beyond / expected));
            assert!(is_near, "{typed}: {beyond} beyond for {expected}");
        }
    }
}

#[test]
fn the_header_says_what_was_set_and_no_longer_where_the_old_number_was_from() {
    let told =
        results(&study(""), 500).with_rates(&[change("weather.pause.every=6h")]).expect("it can be said");
    for line in told.header.designs.iter().flat_map(|design| &design.weather) {
        let is_set = line.source.starts_with("Set for this page: every (6h)");
        assert_eq!(is_set, line.kind == "pause", "{line:?}");
        assert!(
            line.kind != "pause" || line.every == "21600s" && !line.source.contains("a guess"),
            "{line:?}"
        );
    }
    // A study that sets a number stands for it; its own source stands for itself.
    let set = study(
        "\"weather.pause.every\" = \"6h\"\n\"weather.promote.every\" = \"336h\"\n\"weather.promote.source\" = \"ours\"",
    );
    for line in results(&set, 500).header.designs.iter().flat_map(|design| &design.weather) {
        match line.kind.as_str() {
            "pause" => assert!(line.source.starts_with("Set by this study: every."), "{line:?}"),
            "promote" => assert_eq!(line.source, "ours"),
            _ => assert!(!line.source.starts_with("Set by"), "{line:?}"),
        }
    }
}

#[test]
fn what_these_runs_cannot_say_is_refused_with_the_way_out() {
    let base = results(&study(""), 500);
    let refused = |typed: &[&str]| {
        let changes: Vec<RateChange> = typed.iter().map(|typed| change(typed)).collect();
        base.with_rates(&changes).expect_err("it cannot be said").to_string()
    };
    for (typed, cause, hint) in [
        (&["weather.flood.every=6h"][..], "the study has no fault `flood`", "known are"),
        (&["weather.pauses.every=6h"], "the study has no fault `pauses`", "did you mean `pause`"),
        (&["weather.pause.every=1m"], "have more faults than any that were made", "strata.faults"),
        (&["weather.pause.every=6h", "weather.pause.every=5h"], "is set twice", "leave one out"),
    ] {
        let told = refused(typed);
        assert!(told.contains(cause) && told.contains(hint), "{typed:?}: {told}");
    }
    for typed in [
        "pause=6h",
        "weather.pause.every",
        "weather.pause.every=0s",
        "weather.pause.every=-1x",
        "weather.pause.for=1s",
    ] {
        let told = typed.parse::<RateChange>().expect_err("it is none").to_string();
        assert!(told.contains("weather.pause.every=6h"), "{typed}: {told}");
    }
    // Where records hold lines of a kind together, one of them cannot be set, and all only by a factor.
    let by_kind = Study::load("field-rates")
        .expect("it is a ready study")
        .text
        .replace("[strata]", "[strata]\nby = \"kind\"");
    let by_kind =
        Study::parse("field-rates", "field-rates.toml", &by_kind).unwrap_or_else(|error| panic!("{error}"));
    let old = results(&by_kind, 500);
    for typed in ["weather.crash[nodes].every=5x", "weather.crash.every=6h"] {
        let told = old.with_rates(&[change(typed)]).expect_err("they are held together").to_string();
        assert!(
            told.contains("hold all lines of `crash` together") && told.contains("anew"),
            "{typed}: {told}"
        );
    }
    old.with_rates(&[change("weather.crash.every=5x")]).expect("all of them come five times as often");
    let few = results(&study(""), 1);
    let told =
        few.with_rates(&[change("weather.pause.every=2x")]).expect_err("one run a stratum").to_string();
    assert!(told.contains("say as much as") && told.contains("[set]"), "{told}");
    let mut plain = base.clone();
    plain.header.strata.truncate(1);
    let told = plain.with_rates(&[change("weather.pause.every=2x")]).expect_err("no strata").to_string();
    assert!(told.contains("not divided by their faults") && told.contains("[strata]"), "{told}");
}

/// A world of two causes whose shares of violations are known: a run with `n` faults is violated with a chance that
/// grows with each.
struct Truth {
    shares: BTreeMap<BTreeMap<String, u32>, f64>,
}

impl Truth {
    fn draw(stream: &mut Stream, header: &StudyHeader) -> Truth {
        let mut chance = || (stream.below(1_000) as f64 / 1_000.0).powi(2);
        let shares = header
            .strata
            .iter()
            .map(|faults| (faults.clone(), if faults.is_empty() { 0.0 } else { chance() }));
        Truth { shares: shares.collect() }
    }

    /// Runs of this world: so many of each stratum of a cell as the study would make by weight.
    fn sweep(&self, stream: &mut Stream, results: &Results, number: u64, runs: u64) -> Cell {
        let rows = &results.cells[&number].strata;
        let struck: f64 = rows.iter().filter(|(stratum, _)| **stratum > 0).map(|(_, row)| row.weight()).sum();
        let mut cell = Cell::default();
        for (stratum, row) in rows {
            let of_stratum =
                if *stratum == 0 { 20 } else { 40 + (runs as f64 * row.weight() / struck) as u64 };
            let share = self.shares[&results.header.strata[*stratum as usize]];
            let is_violated =
                |_: &u64| (stream.next_u64() >> 11) as f64 <= share * (1_u64 << 53) as f64 - 1.0;
            let violated = (0..of_stratum).filter(is_violated).count() as u64;
            let count = PredicateCount { violated, ..PredicateCount::default() };
            cell.add(Batch { runs: of_stratum, predicates: [(Predicate::P1, count)].into(), ..row.clone() });
        }
        cell
    }
}

/// The interval of a difference of two independent estimates, by MOVER, and whether zero is in it.
fn covers_zero(one: &Estimate, other: &Estimate) -> bool {
    let difference = one.value - other.value;
    let low = (one.value - one.interval.low).hypot(other.interval.high - other.value);
    let high = (one.interval.high - one.value).hypot(other.value - other.interval.low);
    (difference - low..=difference + high).contains(&0.0)
}

#[test]
fn five_times_a_rate_agrees_with_a_fresh_sweep_in_94_of_100() {
    let base = results(&study(""), 500);
    let (mut stated, mut covered) = (0, 0);
    for seed in 0..400 {
        let mut stream = Stream::new(Seed(seed), "worlds");
        let causes: Vec<String> = base.header.causes().into_iter().cloned().collect();
        let cause = &causes[stream.below(causes.len() as u64) as usize];
        let number = stream.below(base.cells.len() as u64);
        let scaled = base.reweigh(&Factors::from([(cause.clone(), 5.0)])).expect("it is not too often");
        let truth = Truth::draw(&mut stream, &base.header);
        let old = truth.sweep(&mut stream, &base, number, 40_000);
        let fresh = truth.sweep(&mut stream, &scaled, number, 40_000);
        let mut swept = base.clone();
        swept.cells = [(number, old)].into();
        let Ok(told) = swept.reweigh(&Factors::from([(cause.clone(), 5.0)])) else { continue };
        let estimate = |cell: &Cell| cell.stratify(&base.header, Predicate::P1).estimate(Confidence::P95);
        if let (Ok(told), Ok(fresh)) = (estimate(&told.cells[&number]), estimate(&fresh)) {
            stated += 1;
            covered += u32::from(covers_zero(&told, &fresh));
        }
    }
    assert!(stated > 380, "{stated} worlds have two rates");
    assert!(f64::from(covered) >= 0.94 * f64::from(stated), "zero is in {covered} of {stated} intervals");
}

/// A rate that is proportional to one fault's is that many times as high.
#[test]
fn a_rate_of_one_fault_grows_with_it() {
    let mut base = results(&study(""), 500);
    let cause = base.header.causes()[0].clone();
    let header = base.header.clone();
    for cell in base.cells.values_mut() {
        for (stratum, row) in &mut cell.strata {
            let faults = &header.strata[*stratum as usize];
            let is_only = faults.len() == 1 && faults.get(&cause) == Some(&1);
            let count =
                PredicateCount { violated: if is_only { 250 } else { 0 }, ..PredicateCount::default() };
            row.predicates = [(Predicate::P1, count)].into();
        }
    }
    let rate = |results: &Results| {
        let cell = &results.cells[&0];
        cell.stratify(&results.header, Predicate::P1).estimate(Confidence::P95).expect("it is stated").value
    };
    for factor in [0.1, 0.5, 2.0, 5.0, 20.0] {
        let told = base.reweigh(&Factors::from([(cause.clone(), factor)])).expect("it can be said");
        let ratio = rate(&told) / rate(&base);
        // Runs without a fault are that much rarer.
        assert!((ratio / factor - 1.0).abs() < 0.05, "{factor} times as often, {ratio} times as high");
    }
}
