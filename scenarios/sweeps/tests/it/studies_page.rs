//! The page that explains studies shows files that are ones, names every key and every ready study, and says of
//! parameters and refusals what the program does. What it says of results is not tried here: that takes a sweep.

use std::collections::BTreeSet;

use doublehold_scenarios::{Engine, LeanEngine};
use doublehold_sweeps::study::{CellId, Study, bundled_studies};

const PAGE: &str = include_str!("../../STUDIES.md");

/// The least study, with a weather.
const LEAST: &str =
    "question = \"?\"\nweather = \"pauses-only\"\n[[designs]]\nname = \"a\"\nlock = \"single\"\n";

fn parsed(text: &str) -> Result<Study, String> {
    Study::parse("example", "example.toml", text).map_err(|error| error.to_string())
}

/// The blocks that are marked as whole studies.
fn examples() -> Vec<Study> {
    let blocks = PAGE.split("```toml study\n").skip(1);
    let texts = blocks.map(|rest| rest.split_once("```").expect("a block ends").0);
    texts.map(|text| parsed(text).unwrap_or_else(|error| panic!("{error}\n{text}"))).collect()
}

/// The words in backticks.
fn words(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_cell_of_the_examples_can_be_run() {
    let studies = examples();
    let sizes: Vec<(u64, u64)> = studies.iter().map(|study| (study.grid().cells(), study.parts())).collect();
    assert_eq!(sizes, [(12, 1), (1, 6)], "cells and strata, as the page says");
    // The study behind a table of FORMAT.md: its seven locks, at times and at steps.
    let at_steps =
        parsed(include_str!("../../../benches/at-steps.toml")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(at_steps.grid().cells(), 14);
    for study in studies.iter().chain([&at_steps]) {
        for cell in 0..study.grid().cells() {
            let scenario = study.scenario(CellId(cell)).unwrap_or_else(|error| panic!("{error}"));
            assert!(LeanEngine.prepare(&scenario).is_ok(), "cell {cell} of {:?}", study.question);
        }
    }
}

#[test]
fn the_page_names_every_key() {
    // Far from every key, so that the message lists them all.
    const NO_KEY: &str = "zzzzzzzzzzzzzzzz = 1\n";
    let places = [
        NO_KEY.to_owned(),
        format!("[[designs]]\n{NO_KEY}"),
        format!("{LEAST}[strata]\n{NO_KEY}"),
        format!("{LEAST}[precision]\n{NO_KEY}"),
    ];
    // In the example without its quotes, in the text within backticks.
    let part_of_a_word = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let named: BTreeSet<&str> = PAGE.split(|letter| !part_of_a_word(letter)).collect();
    for place in places {
        let error = parsed(&place).expect_err("the key is unknown");
        let (_, known) = error.split_once("hint: known are ").unwrap_or_else(|| panic!("{error}"));
        let known = words(known);
        assert!(known.len() >= 2, "{error}");
        let missing: Vec<&&str> = known.difference(&named).collect();
        assert!(missing.is_empty(), "the page does not say {missing:?}");
    }
}

#[test]
fn the_page_lists_the_studies_that_come_with_the_program_with_their_times() {
    let (before, _) = PAGE.split_once("```").expect("there is an example");
    let rows = before.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let listed: Vec<(&str, &str)> =
        rows.map(|(name, rest)| (name, rest.rsplit('|').nth(1).expect("a last cell").trim())).collect();
    let times = |name: &str| Study::load(name).expect("it is ours").usual_time();
    let known: Vec<(&str, String)> = bundled_studies().map(|study| (study.name, times(study.name))).collect();
    let known: Vec<(&str, &str)> = known.iter().map(|(name, time)| (*name, time.as_str())).collect();
    assert_eq!(listed, known, "names and times");
}

#[test]
fn every_file_of_the_folder_comes_with_the_program() {
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/studies")).unwrap();
    let files: BTreeSet<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(files, bundled_studies().map(|study| format!("{}.toml", study.name)).collect());
}

#[test]
fn every_parameter_of_the_page_can_be_varied() {
    let parameters = [
        ("clients.count", "2"),
        ("clients.work", "\"1s..3s\""),
        ("clients.rounds", "2"),
        ("clients.retry", "\"1s\""),
        ("clients.0.retry", "\"1s\""),
        ("nodes.count", "1"),
        ("clocks.nodes.drift", "\"1/100\""),
        ("clocks.clients.offset", "\"-3h\""),
        ("clocks.c1.drift", "\"1/100\""),
        ("network.links.0.delay", "\"1ms\""),
        ("faults.0.for", "\"1s\""),
        ("weather", "\"calm\""),
        ("weather.for", "\"10s\""),
        ("weather.pause.every", "\"30s\""),
        ("weather.pause.for.median", "\"1s\""),
        ("weather.pause", "false"),
        ("weather.pause[clients].every", "\"30s\""),
        ("weather.pause[nodes]", "false"),
    ];
    let (_, section) = PAGE.split_once("\n## Parameters\n").expect("a section");
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let listed: BTreeSet<&str> =
        rows.flat_map(|line| words(line.split('|').nth(1).expect("a first cell"))).collect();
    let varied: BTreeSet<&str> = parameters.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed, varied);
    for (name, value) in parameters {
        let text = format!(
            "question = \"?\"\nweather = \"pauses-only\"\n[[designs]]\nname = \"a\"\nscenario = \"lease-pause\"\n\
             [set]\n\"network.links\" = [{{ from = \"c1\", to = [\"A\"], delay = \"90ms\" }}]\n\
             [grid]\n\"{name}\" = [{value}]\n"
        );
        let study = parsed(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(study.axes[0].key, name);
    }
}

#[test]
fn what_the_page_says_is_refused_is_refused() {
    let fencing =
        "[grid]\n\"lock.fencing\" = [false, true]\n\"resource.fencing\" = [\"off\", \"reject-lower\"]\n";
    let values: Vec<String> = (0..=10_000).map(|value| format!("\"{value}ms\"")).collect();
    let designs: String =
        (1..=60).map(|design| format!("[[designs]]\nname = \"{design}\"\nlock = \"single\"\n")).collect();
    let refusals = [
        (
            format!("{LEAST}[precision]\npredicate = \"P2\"\nwidth = \"1/100\"\n[strata]\nfaults = 1\n"),
            "either",
        ),
        (format!("{LEAST}[set]\n\"weather.swarm\" = true\n[strata]\nfaults = 1\n"), "strike at times"),
        (format!("{LEAST}[set]\n\"weather.at_steps\" = \"1/2\"\n[strata]\nfaults = 1\n"), "strike at times"),
        (format!("{LEAST}[strata]\nfaults = 1\nkinds = [\"crash\"]\n"), "`strata.kinds` does not"),
        (format!("{}[strata]\nfaults = 1\n", LEAST.replace("pauses-only", "none")), "there is no weather"),
        (format!("{}[strata]\nfaults = 4\n", LEAST.replace("pauses-only", "cloud")), "the limit is 500"),
        (format!("{LEAST}[strata]\nfaults = 7\n"), "`strata.faults`"),
        (format!("{LEAST}[strata]\nfaults = 1\nkinds = [\"pause\", \"pause[nodes]\"]\n"), "twice"),
        (format!("{LEAST}{fencing}"), "the lock makes none"),
        (format!("{LEAST}[grid]\n\"lock.ttl\" = [\"1s\", \"1s\"]\n"), "twice"),
        (format!("{LEAST}[grid]\n\"lock.ttl\" = [{}]\n", values.join(", ")), "the limit is 10000"),
        (format!("{LEAST}{designs}"), "the limit is 60\nhint: make two studies"),
        (format!("runs = 1000000001\n{LEAST}"), "`runs`"),
    ];
    for (text, cause) in refusals {
        let error = parsed(&text).expect_err(cause);
        assert!(error.contains(cause), "not `{cause}`, but {error}");
    }
}
