//! `docs/failover.md`: each step and each run as measured and as simulated, and what differs.

use std::fmt::Write as _;
use std::path::Path;

use super::measured::{Measured, STEPS, STEPS_ALONE, sorted};
use super::picture::{Timeline, bars, timelines};
use super::simulated::{Choice, Simulated, choose};
use super::{ALL, NEW, seeds, simulated};

/// The seeds of each configuration that the page is about.
const SEEDS: u64 = 20;

/// Where the numbers of a page go.
const HEAD: &str = include_str!("head.md");
const REASONS: &str = include_str!("reasons.md");
/// Findings of a simulation that were measured then.
const FOUND: &str = include_str!("found.md");

/// `0.05`, without a sign that says nothing.
fn seconds(time: f64) -> String {
    format!("{:.2}", time.abs().max(0.0).copysign(if time < -0.005 { -1.0 } else { 1.0 }))
}

/// Least, median and most.
fn spread(times: &[f64]) -> [String; 3] {
    let at = |place: usize| times.get(place).copied().map_or_else(|| "–".to_owned(), seconds);
    [at(0), at(times.len() / 2), at(times.len().saturating_sub(1))]
}

fn steps(page: &mut String) {
    page.push_str(
        "| step, seconds | measured: least | median | most | of | simulated: least | median | most | of |\n",
    );
    page.push_str("|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for step in &STEPS {
        let (measured, simulated) = (step.measured(), simulated(step));
        let [least, median, most] = spread(&measured);
        let [least_here, median_here, most_here] = spread(&simulated);
        let (name, of, of_here) = (step.name, measured.len(), simulated.len());
        let _ = writeln!(
            page,
            "| {name} | {least} | {median} | {most} | {of} | {least_here} | {median_here} | {most_here} | {of_here} |"
        );
    }
}

/// Describes a run in a few words.
fn words(run: &Measured) -> String {
    let fault = match (run.fault.as_str(), run.lasts_s) {
        ("cut-alone", _) => "cut, without a client".to_owned(),
        (fault, Some(lasts)) => format!("{fault} {lasts} s"),
        (fault, None) => fault.to_owned(),
    };
    let mut words = format!("{fault}, down-after {} s", run.down_after_ms / 1000);
    if run.min_replicas > 0 {
        let _ = write!(words, ", max-lag {} s", run.max_lag_s);
    }
    if run.late_client {
        words.push_str(", a late process");
    }
    if run.first_sentinel_is_cut_off {
        words.push_str(", cut-off Sentinel first");
    }
    words
}

/// A median with its range, where they differ.
fn ranged(values: &[f64], digits: usize) -> String {
    let (Some(least), Some(most)) = (values.first(), values.last()) else { return "–".to_owned() };
    let middle = values[values.len() / 2];
    let text = |value: f64| format!("{:.digits$}", value.abs());
    match text(*least) == text(*most) {
        true => text(middle),
        false => format!("{} ({} to {})", text(middle), text(*least), text(*most)),
    }
}

fn runs(page: &mut String) {
    page.push_str("| run | fault | driver | double holds | simulated | together, s | simulated | first grant on the new master, s | simulated | last on the old one, s | simulated |\n");
    page.push_str("|--:|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for (run, here) in ALL.iter() {
        let of = |value: fn(&Simulated) -> Option<f64>| sorted(here.iter().filter_map(value));
        let holds = of(|it| Some(it.double_holds as f64));
        let together = of(|it| Some(it.together_s));
        let first = of(|it| it.first_grant_of_majority_s);
        let last = of(|it| it.last_grant_of_old_master_s.filter(|at| *at > 0.0));
        let measured = |at: Option<f64>| at.map_or_else(|| "–".to_owned(), |at| format!("{at:.1}"));
        let measured_first = measured(run.first_grant_of_majority_s);
        let measured_last = measured(run.last_grant_of_old_master_s);
        let mark = if NEW.contains(&run.run) { "*" } else { "" };
        let _ = writeln!(
            page,
            "| {}{mark} | {} | {} | {} | {} | {:.2} | {} | {measured_first} | {} | {measured_last} | {} |",
            run.run,
            words(run),
            run.driver,
            run.double_holds,
            ranged(&holds, 0),
            run.together_s,
            ranged(&together, 2),
            ranged(&first, 1),
            ranged(&last, 1),
        );
    }
}

fn twice(page: &mut String) {
    let looked: Vec<bool> = STEPS_ALONE.iter().filter_map(|it| it.failed_over_twice).collect();
    let measured = looked.iter().filter(|is_twice| **is_twice).count();
    let kills = || ALL.iter().filter(|(run, _)| run.fault == "kill" && run.down_after_ms == 1000);
    let all: usize = kills().map(|(_, runs)| runs.len()).sum();
    let here: usize = kills().map(|(_, runs)| runs.iter().filter(|it| it.is_twice()).count()).sum();
    let _ = writeln!(
        page,
        "**A healthy new master can be failed over as well.** After {measured} of {} kills with down-after 1 s, real Sentinels \
         replaced the\nmaster that they had just promoted, and after {here} of {all} simulated ones. {TWICE}",
        looked.len()
    );
}

const TWICE: &str = "A Sentinel tries an address once a second, and has just\ntried the dead one when it switches: if \
    down-after is no longer than that second, the new master counts as silent before it was asked\nanything. What the \
    other Sentinels said of the old master still counts, and so there is a quorum at once. Longer down-after avoids it.";

fn choices(page: &mut String) {
    let mut table = String::from(
        "| lock | master killed | stopped for 15 s | cut off for 20 s, with a client |\n|---|--:|--:|--:|\n",
    );
    let choices = Choice::all();
    let mut cut = Vec::new();
    for choice in &choices {
        let cells = ["kill", "stop", "cut"].map(|fault| {
            let runs: Vec<Simulated> = (1..=SEEDS / 2).map(|seed| choose(choice, fault, seed)).collect();
            let holds = sorted(runs.iter().map(|it| it.double_holds as f64));
            let together = sorted(runs.iter().map(|it| it.together_s));
            if fault == "cut" {
                cut.push((choice.name, together[together.len() / 2]));
            }
            match holds.last() {
                Some(0.0) => "none".to_owned(),
                _ => format!("{}, {} s", ranged(&holds, 0), ranged(&together, 1)),
            }
        });
        let _ = writeln!(table, "| {} | {} |", choice.name, cells.join(" | "));
    }
    page.push_str("Seconds with two holders after the cut, the median:\n\n");
    bars(page, &cut);
    let _ = writeln!(page, "\n{table}\n{WHY}\n");
    let (stopped, here) = ALL.iter().find(|(run, _)| run.run == 81).expect("run 81 was measured");
    let timeline = |name: String, moments, first_grant_s| Timeline { name, moments, first_grant_s };
    let drawn = [
        timeline("measured, run 81".to_owned(), &stopped.at, stopped.first_grant_of_majority_s),
        timeline("simulated, seed 1".to_owned(), &here[0].moments, here[0].first_grant_of_majority_s),
    ];
    timelines(page, &drawn);
}

/// Above the picture of a failover.
const WHY: &str = "A master that stood still goes on with the clients that it had, for the ten seconds until a Sentinel \
    has made it a replica. Run 81:\nredis-semaphore over ioredis 5 with its defaults, the master stopped for 15 s.";

fn page() -> String {
    let mut page = HEAD.to_owned();
    choices(&mut page);
    let _ = writeln!(page, "\n## The steps of a failover\n");
    steps(&mut page);
    page.push('\n');
    twice(&mut page);
    page.push_str(FOUND);
    let _ = writeln!(
        page,
        "\n## Run by run\n\nEach of these runs was measured once, and simulated from {SEEDS} seeds.\n"
    );
    runs(&mut page);
    page.push_str(REASONS);
    page
}

/// Takes minutes.
#[test]
#[ignore = "`.ci/deep` compares the page, with FAILOVER_SEEDS=20"]
fn the_page_says_what_was_measured_and_what_is_simulated() {
    assert_eq!(seeds(), SEEDS, "the page is about so many: FAILOVER_SEEDS={SEEDS}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/failover.md");
    let page = page();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let written = std::fs::read_to_string(&path).expect("the page is there");
    assert!(
        written == page,
        "docs/failover.md is not what runs say: write it anew with BLESS=1, and read it"
    );
}
