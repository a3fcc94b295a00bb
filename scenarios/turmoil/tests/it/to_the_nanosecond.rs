//! Runs that are the same on both engines in all that is recorded of them: with clients that begin apart and a fixed
//! delay for every way, nothing is left for the networks to draw.
//!
//! A table of `docs/engines.md` counts them, and `BLESS=1` writes it anew. The counts are exact, so that a change to
//! either network that moves a single event of a single run is seen here.

use std::fmt::Write as _;

use doublehold_history::TrueNs;
use doublehold_scenarios::{Prepared, Report, Scenario, catalog};

use crate::agreement::{WEATHERS, engines, is_refused, prepared, share, under};
use crate::differences::{apart, own_delays};
use crate::pages::{ENGINES, write_or_compare};

/// So many seeds of each lock and weather; an entry of the catalogue has one.
const SEEDS: u64 = 20;

/// Runs that were compared.
#[derive(Default)]
struct Same {
    runs: u64,
    /// Those whose histories are the same, event by event with its true time.
    histories: u64,
    /// Those that are the same besides in what each node held when, in when each fault struck, in their messages and in
    /// their end.
    all: u64,
}

impl Same {
    fn add(&mut self, scenario: &Scenario, seeds: u64) {
        let (sim, turmoil) = prepared(&own_delays(&apart(scenario), 1));
        for seed in 1..=seeds {
            let (first, second) = (sim.run(seed), turmoil.run(seed));
            let is_same = first.history.events() == second.history.events();
            self.runs += 1;
            self.histories += u64::from(is_same);
            self.all += u64::from(is_same && rest(&first) == rest(&second));
        }
    }

    fn row(&self, of: &str) -> String {
        format!("| {of} | {} | {} |\n", share(self.histories, self.runs), share(self.all, self.runs))
    }
}

/// Everything that is recorded of a run beside its history.
fn rest(run: &Report) -> impl PartialEq {
    let struck: Vec<[Option<TrueNs>; 2]> = run.faults.iter().map(|fault| [fault.from, fault.until]).collect();
    (run.keys.clone(), struck, run.messages, run.ended)
}

#[test]
fn most_runs_are_the_same_to_the_nanosecond_where_nothing_is_drawn() {
    let mut table = "| runs of | same history | same in all |\n|---|---|---|\n".to_owned();
    let mut of_catalogue = Same::default();
    for entry in catalog::entries().expect("the catalogue is right") {
        let scenario = catalog::load(&entry.name, &[]).expect("it was just read");
        if !is_refused(&scenario) {
            of_catalogue.add(&scenario, 1);
        }
    }
    write!(table, "{}", of_catalogue.row("the catalogue")).expect("a text can be written to");
    for weather in WEATHERS {
        let mut of_weather = Same::default();
        engines().iter().for_each(|lock| of_weather.add(&under(lock, weather), SEEDS));
        write!(table, "{}", of_weather.row(weather)).expect("a text can be written to");
    }
    write_or_compare(ENGINES, &[("same", &table)]);
}
