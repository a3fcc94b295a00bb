//! `--timeline` of the binary: what it writes, under which names, and what it leaves alone.

use crate::kit::{Ask, Folder, doublehold};

#[test]
fn the_ending_of_the_name_says_what_is_written_and_the_run_is_the_same() {
    let folder = Folder::new();
    let plain = doublehold(&["run", "quiet", "--seed", "3"]).answer();
    for (name, begins) in [("a.svg", "<svg "), ("b.html", "<!DOCTYPE html>"), ("C.HTML", "<!DOCTYPE html>")] {
        let drawn = doublehold(&["run", "quiet", "--seed", "3", "--timeline", &folder.path(name)]).answer();
        assert_eq!(drawn.status, Some(0), "{drawn:?}");
        assert_eq!(drawn.stdout, plain.stdout, "{name}: the text is that of the same run");
        assert!(folder.read(name).starts_with(begins), "{name}");
    }
}

#[test]
fn a_plan_is_drawn_as_its_run_was() {
    let folder = Folder::new();
    let (plan, first, again) = (folder.path("a.plan"), folder.path("first.svg"), folder.path("again.svg"));
    let all = ["run", "lease-pause", "--plan", &plan, "--trace", &folder.path("trace"), "--timeline", &first];
    doublehold(&all).ends(0);
    doublehold(&["replay", &plan, "--timeline", &again]).ends(0);
    assert_eq!(folder.read("first.svg"), folder.read("again.svg"));
    // With a figure the trace is that of a run without one.
    doublehold(&["run", "lease-pause", "--trace", &folder.path("alone")]).answer();
    assert_eq!(folder.read("trace"), folder.read("alone"));
}

#[test]
fn another_ending_is_refused_before_anything_is_written() {
    let folder = Folder::new();
    for name in ["a.pdf", "a", "svg", ".svg", "a.svg.gz"] {
        let said = doublehold(&["run", "quiet", "--timeline", &folder.path(name)]).refused();
        assert!(said.contains("names no form of picture"), "{name}: {said}");
        assert!(said.contains("end the file's name with `.svg`, `.png` or `.html`"), "{name}: {said}");
    }
    assert_eq!(folder.names(), [] as [&str; 0]);
}

#[test]
fn a_figure_is_not_written_over_a_scenario_a_plan_or_another_result() {
    let folder = Folder::new();
    let scenario = folder.write("mine.svg", include_str!("../../../../scenarios/catalog/quiet.toml"));
    let before = folder.read("mine.svg");
    let said = doublehold(&["run", &scenario, "--timeline", &scenario]).refused();
    assert!(said.contains("a result cannot be written over the scenario"), "{said}");
    assert_eq!(folder.read("mine.svg"), before);

    let plan = folder.path("plan.svg");
    doublehold(&["run", "quiet", "--plan", &plan]).ends(0);
    let before = folder.read("plan.svg");
    let said = doublehold(&["replay", &plan, "--timeline", &plan]).refused();
    assert!(said.contains("a result cannot be written over the plan"), "{said}");
    assert_eq!(folder.read("plan.svg"), before);

    let both = folder.path("both.svg");
    let said = doublehold(&["run", "quiet", "--history", &both, "--timeline", &both]).refused();
    assert!(said.contains("two results cannot both be written to"), "{said}");
    assert_eq!(folder.names(), ["mine.svg", "plan.svg"]);
}

#[test]
fn one_figure_is_of_one_run() {
    let folder = Folder::new();
    let said = doublehold(&["run", "quiet", "--all-variants", "--timeline", &folder.path("a.svg")]).refused();
    assert!(said.contains("cannot be used with"), "{said}");
    assert_eq!(folder.names(), [] as [&str; 0]);
}

#[test]
fn a_place_that_cannot_be_written_to_is_refused_before_the_run() {
    let folder = Folder::new();
    let said = doublehold(&["run", "quiet", "--timeline", &folder.path("none/a.svg")]).refused();
    assert!(said.contains("the timeline"), "{said}");
}
