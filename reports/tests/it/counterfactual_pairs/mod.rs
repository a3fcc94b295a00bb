//! Each rule by which a violation is told, with a world in which its phrase is right and printed, and the same world
//! with one text changed, in which it would be wrong and is not. The worlds are in the files beside this one.
//!
//! The printed text is compared whole, so that a twin also shows what is told instead. Causes are asked for where a
//! table is about them: each takes dozens of runs. That a phrase is so in any world is for `sentences` and `causes` to
//! find out; here one reads what it takes.

mod edit;
mod moved;

use std::path::Path;

use doublehold_diagnosis::explain;
use doublehold_render::picture::{account, sentences};
use doublehold_scenarios::format::Source;
use doublehold_scenarios::report::Report;
use doublehold_scenarios::{Engine, LeanEngine, Prepared, PreparedSim, SimEngine};
use serde::Deserialize;

/// A rule, with its right case and its wrong one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Twin {
    /// The meaning of the phrase.
    rule: String,
    /// A text that is printed of the right case only.
    phrase: String,
    /// Of the list: which sentences are compared; absent: those with the phrase.
    about: Option<String>,
    /// A scenario without its claim.
    world: String,
    /// A text that the world has once, and what stands there in the wrong case.
    change: [String; 2],
    /// The account of the right case.
    yes: String,
    /// The account of the wrong case; empty where there is none.
    no: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    is_about: About,
    #[serde(rename = "twin")]
    twins: Vec<Twin>,
}

/// What is compared.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum About {
    /// What happened.
    Order,
    /// The same with what it came from.
    Causes,
    /// Sentences of the list.
    List,
}

/// A world that is ready to be run again, and its run.
fn run(twin: &Twin, world: &str, engine: &impl Engine<Prepared = PreparedSim>) -> (PreparedSim, Report) {
    let text = format!("claim = '''{}'''\n{world}", twin.rule);
    let source = Source { name: "twin".to_owned(), file: "twin.toml".to_owned(), text, ..Source::default() };
    let scenario = source.read().unwrap_or_else(|error| panic!("{}: {error}", twin.rule));
    let prepared = engine.prepare(&scenario).unwrap_or_else(|error| panic!("{}: {error}", twin.rule));
    let report = prepared.run(1);
    (prepared, report)
}

/// What is told of a world.
fn told(is_about: About, twin: &Twin, world: &str) -> String {
    // Of those that are asked again and again, each run takes half as long without redis-rs' driver.
    let (prepared, report) = match is_about {
        About::Causes => run(twin, world, &LeanEngine),
        About::Order | About::List => run(twin, world, &SimEngine),
    };
    if is_about == About::List {
        let about = twin.about.as_deref().unwrap_or(&twin.phrase);
        let all = sentences(&report).into_iter().map(|it| it.words).filter(|words| words.contains(about));
        return all.collect::<Vec<_>>().join("; ");
    }
    let report = if is_about == About::Causes { explain(&prepared, report) } else { report.into() };
    account(&report).map_or(String::new(), |it| format!("{}: {}", it.label(), it.words))
}

/// What is wrong with a twin.
fn wrong(is_about: About, twin: &Twin) -> Vec<String> {
    let [what, other] = &twin.change;
    assert_eq!(twin.world.matches(what.as_str()).count(), 1, "{}: `{what}` is to be there once", twin.rule);
    let cases = [(&twin.world, &twin.yes, true), (&twin.world.replace(what, other), &twin.no, false)];
    let wrong = cases.into_iter().filter_map(|(world, expected, has_phrase)| {
        let told = told(is_about, twin, world);
        let is_right = told == *expected && told.contains(&twin.phrase) == has_phrase;
        let case = if has_phrase { "right" } else { "wrong" };
        (!is_right).then(|| format!("{}, {case} case:\n  told {told:?}\n   not {expected:?}", twin.rule))
    });
    wrong.collect()
}

fn table(file: &str) -> Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/counterfactual_pairs").join(file);
    let text = std::fs::read_to_string(&path).expect("a file of this folder");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn check(file: &str) {
    let table = table(file);
    let wrong: Vec<String> = table.twins.iter().flat_map(|twin| wrong(table.is_about, twin)).collect();
    assert!(wrong.is_empty(), "{file}:\n{}", wrong.join("\n"));
}

#[test]
fn a_key_that_ran_out_is_told_by_what_its_holder_was_about() {
    check("expired.toml");
}

#[test]
fn a_key_that_was_lost_is_told_by_what_became_of_it() {
    check("lost.toml");
}

#[test]
fn a_grant_that_came_too_late_is_told_by_what_the_client_went_by() {
    check("late.toml");
}

#[test]
fn late_writes_wrong_keys_and_long_waits_are_told_by_what_led_there() {
    check("others.toml");
}

#[test]
fn because_stands_only_before_that_without_which_it_is_gone() {
    check("because.toml");
}

#[test]
fn each_kind_of_fault_is_a_cause_where_it_is_one() {
    check("kinds.toml");
}

#[test]
fn a_sentence_of_the_list_says_no_more_than_was_so() {
    check("list.toml");
}
