//! `--engine turmoil`: the commands that take it, the lines that they print to go on with, and refusals.

use snapbox::str;

use crate::kit::{Ask, Folder, assert_text, conclusion, doublehold, json, verdicts};

#[test]
fn a_run_on_turmoil_comes_out_as_the_kernels_and_says_how_to_see_it_again() {
    let run =
        |engine: &[&str]| doublehold(&[&["run", "clock-jump", "--seed", "2"], engine].concat()).prints(0);
    let (sim, turmoil) = (run(&[]), run(&["--engine", "turmoil"]));
    assert_eq!(conclusion(&sim).lines().next(), conclusion(&turmoil).lines().next());
    let words = |run: &str| verdicts(run).lines().filter(|line| line.starts_with("  P")).count();
    assert_eq!((words(&sim), words(&turmoil)), (4, 4));
    assert!(turmoil.contains("seed 2, engine turmoil: "), "{turmoil}");
    assert!(turmoil.ends_with("replay: doublehold run clock-jump --seed 2 --engine turmoil\n"), "{turmoil}");
    assert_eq!(run(&["--engine", "sim"]), sim);
}

#[test]
fn a_plan_is_replayed_on_the_engine_that_it_was_made_on() {
    let folder = Folder::new();
    let run = ["run", "lease-pause", "--engine", "turmoil", "--plan", "t.plan", "--format", "json"];
    let hash = json(&folder.doublehold(&run).prints(0))["trace_hash"].clone();
    assert!(folder.read("t.plan").contains("engine = \"turmoil\"\n"));
    let replayed = json(&folder.doublehold(&["replay", "t.plan", "--format", "json"]).prints(0));
    assert_eq!(replayed["trace_hash"], hash);
    folder.doublehold(&["run", "lease-pause", "--plan", "s.plan"]).prints(0);
    assert!(!folder.read("s.plan").contains("engine"));
    folder.write("u.plan", folder.read("t.plan").replace("turmoil\"", "jepsen\""));
    assert_text(
        folder.refusals(&[
            ["replay", "t.plan", "--engine", "sim"],
            ["replay", "s.plan", "--engine", "turmoil"],
            ["replay", "u.plan", "--engine", "turmoil"],
            ["run", "lease-pause", "--engine", "jepsen"],
        ]),
        str![[r#"
$ doublehold replay t.plan --engine sim
error: the plan is of a run on the engine `turmoil`, whose events no other has
hint: leave out `--engine`, or `run` its scenario on the other

$ doublehold replay s.plan --engine turmoil
error: the plan is of a run on the engine `sim`, whose events no other has
hint: leave out `--engine`, or `run` its scenario on the other

$ doublehold replay u.plan --engine turmoil
error: the plan is of a run on the engine `jepsen`, which this program has not
hint: replay it with the program that wrote it

$ doublehold run lease-pause --engine jepsen
error: invalid value 'jepsen' for '--engine <ENGINE>'
  [possible values: sim, turmoil]

For more information, try '--help'.

"#]],
    );
}

#[test]
fn everything_that_turmoil_cannot_express_is_refused_at_once() {
    let folder = Folder::new();
    assert_text(
        folder.refusals(&[
            vec!["run", "clock-jump", "--engine", "turmoil", "--set", "network.loss=1/100"],
            vec!["check", "redlock", "--engine", "turmoil", "--runs", "5"],
        ]),
        str![[r#"
$ doublehold run clock-jump --engine turmoil --set 'network.loss=1/100'
error: the engine `turmoil` cannot run this scenario:
  `--set network.loss=1/100`, `network.loss`: turmoil's TCP repeats a lost packet after a count and not after a time, so it would come back at the wrong moment
hint: leave these out, or run it on the engine `sim`; `doublehold engines` lists what each can do

$ doublehold check redlock --engine turmoil --runs 5
error: the engine `turmoil` cannot run this scenario:
  `weather.faults.11`, random `loss`: turmoil's TCP repeats a lost packet after a count and not after a time, so it would come back at the wrong moment
hint: leave these out (a weather leaves out kinds with `without = ["loss"]`), or run it on the engine `sim`; `doublehold engines` lists what each can do

"#]],
    );
}

#[test]
fn searches_find_shrink_and_explain_on_turmoil() {
    let folder = Folder::new();
    let check = ["check", "single", "--weather", "pauses-only", "--engine", "turmoil", "--runs", "60"];
    let found = folder.doublehold(&check).ends(1).stdout;
    assert!(found.contains("replay: doublehold replay doublehold-check/single-"), "{found}");
    let scenario = folder.read("doublehold-check/single-P2.toml");
    assert!(scenario.lines().nth(2).is_some_and(|line| line.ends_with(" --engine turmoil")), "{scenario}");
    folder.doublehold(&["replay", "doublehold-check/single-P2.plan"]).prints(0);
    let why = folder.doublehold(&["why", "doublehold-check/single-P2.plan"]).prints(0);
    assert!(why.contains("pause"), "{why}");
    let shrunk = folder.doublehold(&["shrink", "lease-pause", "--engine", "turmoil"]).ends(0).stdout;
    assert!(shrunk.contains("FILE --seed 1 --engine turmoil"), "{shrunk}");
}

#[test]
fn runs_on_turmoil_are_the_same_in_another_process() {
    let asked = ["verify-determinism", "lease-pause", "--seeds", "2", "--engine", "turmoil"];
    let said = doublehold(&asked).prints(0);
    assert!(said.contains("each the same trace in a process of its own"), "{said}");
}

#[test]
fn placements_are_tried_on_turmoil_and_gone_on_with_there_only() {
    let folder = Folder::new();
    let explore =
        ["explore", "lease-pause", "--kinds", "pause", "--predicate", "P3", "--resume", "kept.json"];
    let on_turmoil = [&explore[..], &["--engine", "turmoil"]].concat();
    let found = folder.doublehold(&on_turmoil).ends(1).stdout;
    assert!(
        found.starts_with("lease-pause: every placement of at most 1 fault, seed 1, engine turmoil\n"),
        "{found}"
    );
    let replay =
        found.lines().find(|line| line.trim_start().starts_with("doublehold run")).expect("a way to see one");
    let line = shlex::split(replay).expect("it can be pasted");
    let seen = folder.doublehold(&line[1..].iter().map(String::as_str).collect::<Vec<_>>()).answer();
    assert!(seen.stdout.contains("engine turmoil: "), "{}", seen.stdout);
    assert_text(
        folder.refusals(&[&explore[..]]),
        str![[r#"
$ doublehold explore lease-pause --kinds pause --predicate P3 --resume kept.json
error: cannot go on with `kept.json`: it is of another search: its engine is `turmoil`, and `sim, lean connections` was asked for
hint: name a file that this search wrote when it was stopped, or one that is not there yet

"#]],
    );
}

#[test]
fn a_study_is_swept_on_turmoil_and_its_page_says_so() {
    let folder = Folder::new();
    let study = "question = \"?\"\nweather = \"pauses-only\"\nruns = 40\n[[designs]]\nname = \"one\"\nlock = \"single\"\n";
    folder.write("small.toml", study);
    let sweep = ["sweep", "small.toml", "--out", "small", "--engine", "turmoil"];
    folder.doublehold(&sweep).ends(0);
    let header = folder.read("small/runs.jsonl").lines().next().expect("a header").to_owned();
    assert!(header.contains("\"engine\":\"turmoil\""), "{header}");
    assert!(folder.read("small/examples/one-P2.plan").contains("engine = \"turmoil\""));
    folder.doublehold(&["replay", "small/examples/one-P2.plan"]).ends(0);
    folder.doublehold(&["report", "small"]).ends(0);
    let report = folder.read("small/report.md");
    assert!(report.contains(" on its engine `turmoil`."), "{report}");
    assert!(report.contains("sweep small.toml --out small --engine turmoil"), "{report}");
    assert_text(
        folder.refusals(&[
            &["sweep", "small.toml", "--out", "small"][..],
            &["sweep", "which-lock", "--engine", "turmoil"],
        ]),
        str![[r#"
$ doublehold sweep small.toml --out small
1 cell of at most 40 runs each, 40 in all: about [TIME]
error: cannot use the records `small/runs.jsonl`: they are of another sweep: the engine is `turmoil` in it and `sim, lean connections` in this sweep
hint: sweep into another folder with `--out DIR`, or remove this one

$ doublehold sweep which-lock --engine turmoil
error: the engine `turmoil` cannot run this scenario:
  `weather.faults.11`, random `loss`: turmoil's TCP repeats a lost packet after a count and not after a time, so it would come back at the wrong moment
hint: leave these out (a weather leaves out kinds with `without = ["loss"]`), or run it on the engine `sim`; `doublehold engines` lists what each can do

"#]],
    );
}
