//! `doublehold studies`: the ready ones with their times, and new ones for a user's own service.

use doublehold_sweeps::study::{Study, bundled_studies};
use snapbox::{file, str};

use crate::kit::{Ask, Folder, assert_text, doublehold};

#[test]
fn the_ready_studies_are_listed_with_what_they_ask_and_their_times() {
    let list = doublehold(&["studies"]).env("COLUMNS", "100").prints(0);
    let words = list.split_whitespace().collect::<Vec<_>>().join(" ");
    for found in bundled_studies() {
        let study = Study::load(found.name).expect("it is ours");
        let row = format!("{} {} (", found.name, study.question);
        let (_, rest) = words.split_once(&row).unwrap_or_else(|| panic!("{row}: {list}"));
        let (brackets, _) = rest.split_once(')').expect("an end");
        let cells = study.grid().cells();
        let plural = if cells == 1 { "" } else { "s" };
        assert_eq!(brackets, format!("{cells} cell{plural}; about {}", study.usual_time()));
    }
    assert!(words.contains("times: two cores, 3,000 runs a second, fewer with Sentinels"), "{list}");
}

#[test]
fn a_new_study_is_swept_and_reported_as_it_is_written() {
    let folder = Folder::new();
    let flags =
        ["--lock", "replicated", "--lock", "redlock", "--nodes", "5", "--ttl", "30s", "--pauses", "6h"];
    let more = ["--failovers", "336h", "--grants", "200 grants an hour"];
    let text = folder.doublehold(&[&["studies", "--new"], &flags[..], &more].concat()).prints(0);
    assert_text(&text, file!["studies/new.toml"]);
    // Fewer runs, as somebody does who wants to see whether it works.
    let few =
        text.replace("\nruns = 60\n", "\nruns = 1\n").replace("\nby_weight = 70000\n", "\nby_weight = 100\n");
    assert_eq!(few.matches("\nby_weight = 100\n").count(), 1, "{few}");
    folder.write("mine.toml", few);
    let swept = folder.doublehold(&["sweep", "mine.toml"]).ends(0);
    assert!(swept.stderr.starts_with("2 cells of at most 236 runs each, 472 in all"), "{}", swept.stderr);
    let page = folder.doublehold(&["report", "mine"]).prints(0);
    assert!(page.contains("200 grants an hour"), "{page}");
}

#[test]
fn a_lock_that_takes_another_number_of_nodes_is_named() {
    let told = doublehold(&["studies", "--new", "--nodes", "3"]).ends(0);
    assert_eq!(told.stderr, "note: `single` runs on one node, so `--nodes 3` is not for it\n");
    assert!(
        told.stdout.contains("# `single` runs on one node: `--nodes 3` is not for it.\n"),
        "{}",
        told.stdout
    );
    assert_eq!(told.stdout.matches("\nset = { \"nodes.count\" = 3 }\n").count(), 2);
}

#[test]
fn a_new_study_that_cannot_be_is_refused_with_its_cause_and_a_way_out() {
    let commands: [&[&str]; 11] = [
        &["studies", "--new", "--lock", "redlok"],
        &["studies", "--new", "--lock", "cloud"],
        &["studies", "--new", "--lock", "single", "--nodes", "4"],
        &["studies", "--new", "--lock", "single", "--failovers", "336h"],
        &["studies", "--new", "--ttl", "0s"],
        &["studies", "--new", "--ttl", "-5s"],
        &["studies", "--new", "--ttl", "30"],
        &["studies", "--new", "--pauses", "0s"],
        &["studies", "--new", "--grants", "200"],
        &["studies", "--ttl", "30s"],
        &["studies", "which-lock", "--new"],
    ];
    assert_text(Folder::new().refusals(&commands), file!["studies/refused.txt"]);
    assert_text(
        doublehold(&["studies", "--new", "--nodes", "0"]).refused(),
        str![[r#"
error: invalid value '0' for '--nodes <N>': 0 is not in 1..=100

For more information, try '--help'.

"#]],
    );
}
