//! `--timeline` of the binary: what it writes, under which names, and what it leaves alone.

use snapbox::str;

use crate::kit::{Ask, Folder, assert_text, doublehold};

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
    let refused = ["a.pdf", "a", "svg", ".svg", "a.svg.gz"].map(|name| ["run", "quiet", "--timeline", name]);
    assert_text(
        folder.refusals(&refused),
        str![[r#"
$ doublehold run quiet --timeline a.pdf
error: `--timeline a.pdf` names no form of picture
hint: end the file's name with `.svg`, `.png` or `.html`

$ doublehold run quiet --timeline a
error: `--timeline a` names no form of picture
hint: end the file's name with `.svg`, `.png` or `.html`

$ doublehold run quiet --timeline svg
error: `--timeline svg` names no form of picture
hint: end the file's name with `.svg`, `.png` or `.html`

$ doublehold run quiet --timeline .svg
error: `--timeline .svg` names no form of picture
hint: end the file's name with `.svg`, `.png` or `.html`

$ doublehold run quiet --timeline a.svg.gz
error: `--timeline a.svg.gz` names no form of picture
hint: end the file's name with `.svg`, `.png` or `.html`

"#]],
    );
    assert_eq!(folder.names(), [] as [&str; 0]);
}

#[test]
fn a_figure_is_not_written_over_a_scenario_a_plan_or_another_result() {
    let folder = Folder::new();
    folder.write("mine.svg", include_str!("../../../../scenarios/catalog/one-node/quiet.toml"));
    folder.doublehold(&["run", "quiet", "--plan", "plan.svg"]).ends(0);
    let before = ["mine.svg", "plan.svg"].map(|name| folder.read(name));
    let refused: [&[&str]; 3] = [
        &["run", "./mine.svg", "--timeline", "mine.svg"],
        &["replay", "plan.svg", "--timeline", "plan.svg"],
        &["run", "quiet", "--history", "both.svg", "--timeline", "both.svg"],
    ];
    assert_text(
        folder.refusals(&refused),
        str![[r#"
$ doublehold run ./mine.svg --timeline mine.svg
error: a result cannot be written over the scenario `mine.svg`
hint: name another file

$ doublehold replay plan.svg --timeline plan.svg
error: a result cannot be written over the plan `plan.svg`
hint: name another file

$ doublehold run quiet --history both.svg --timeline both.svg
error: two results cannot both be written to `both.svg`
hint: name a file for each

"#]],
    );
    assert_eq!(["mine.svg", "plan.svg"].map(|name| folder.read(name)), before);
    assert_eq!(folder.names(), ["mine.svg", "plan.svg"]);
}

#[test]
fn one_figure_is_of_one_run() {
    let folder = Folder::new();
    assert_text(
        folder.refusals(&[["run", "quiet", "--all-variants", "--timeline", "a.svg"]]),
        str![[r#"
$ doublehold run quiet --all-variants --timeline a.svg
error: the argument '--all-variants' cannot be used with '--timeline <FILE>'

Usage: doublehold run --all-variants <NAME|FILE>

For more information, try '--help'.

"#]],
    );
    assert_eq!(folder.names(), [] as [&str; 0]);
}

#[test]
fn a_place_that_cannot_be_written_to_is_refused_before_the_run() {
    let folder = Folder::new();
    assert_text(
        folder.refusals(&[["run", "quiet", "--timeline", "none/a.svg"]]),
        str![[r#"
$ doublehold run quiet --timeline none/a.svg
error: cannot write the timeline to `none/a.svg`: No such file or directory (os error 2)
hint: name a file in a directory that exists and that you may write to

"#]],
    );
}
