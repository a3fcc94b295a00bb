//! `doublehold shrink` as a user meets it: a file that can be run, what is said about it, and every kind of bad input.

use crate::kit::{Ask, Folder, doublehold};

/// Status, standard output, standard error.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let answer = doublehold(arguments).answer();
    (answer.status, answer.stdout, answer.stderr)
}

#[test]
fn what_is_printed_is_a_scenario_that_shows_what_it_expects() {
    let folder = Folder::new();
    let (status, file, said) = run(&["shrink", "clock-jump"]);
    assert_eq!(
        (status, &said[..]),
        (Some(0), "shrinking the run of clock-jump from seed 1, if P2 is violated\n")
    );
    assert!(
        file.starts_with("# shrunk from a run of clock-jump with seed 1: P2 is violated\n# faults 2 -> 2, "),
        "{file}"
    );
    assert!(file.contains("\n# the 100 seeds that follow: 100 violate it too\n"), "{file}");
    assert!(file.contains("\n#   faults.1.by: from "), "{file}");
    assert!(file.contains("\n# run it: doublehold run FILE --seed 1\n\n"), "{file}");
    let path = folder.write("jump.toml", &file);
    let (status, shown, _) = run(&["run", &path]);
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("clock stepped by +10 s"), "{shown}");
}

#[test]
fn a_plan_is_shrunk_into_a_file_and_the_rest_is_printed() {
    let folder = Folder::new();
    let (plan, out) = (folder.path("lp.plan"), folder.path("lp.toml"));
    run(&["run", "lease-pause/redlock", "--seed", "5", "--plan", &plan]);
    let (status, printed, said) = run(&["shrink", &plan, "--keep-nodes", "--predicate", "p3", "--out", &out]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.ends_with("from seed 5, if P3 is violated\n"), "{said}");
    assert!(printed.contains("nodes 5 -> 5;") && printed.contains("\nminimal: "), "{printed}");
    assert!(printed.ends_with(&format!("run it: doublehold run {out} --seed 5\n")), "{printed}");
    assert_eq!(run(&["run", &out, "--seed", "5"]).0, Some(0));
    let (status, _, said) = run(&["shrink", &plan, "--seed", "6"]);
    assert_eq!(status, Some(2));
    assert!(said.contains("is of seed 5\nhint: leave `--seed` out"), "{said}");
    let (status, _, said) = run(&["shrink", &out, "--out", &out]);
    assert_eq!(status, Some(2));
    assert!(said.contains("cannot be written over"), "{said}");
}

/// A Redlock of one node is not a Redlock: a question about one of several nodes is not answered with it.
#[test]
fn the_nodes_of_a_quorum_stay_unless_they_are_let_go() {
    let folder = Folder::new();
    let size = |arguments: &[&str]| {
        let (status, file, said) = run(&[&["shrink"], arguments].concat());
        assert_eq!(status, Some(0), "{said}");
        let (_, rest) = file.split_once(", nodes ").expect("how many nodes there were");
        let minimal = file.lines().find(|line| line.starts_with("# minimal: ")).expect("it is minimal");
        (
            rest.split(';').next().unwrap_or_default().to_owned(),
            minimal.contains(" but nodes, which were to stay"),
        )
    };
    let redlock = "lease-pause/redlock";
    assert_eq!(size(&[redlock]), ("5 -> 5".to_owned(), true));
    assert_eq!(size(&[redlock, "--keep-nodes"]), ("5 -> 5".to_owned(), true));
    assert_eq!(size(&[redlock, "--drop-nodes"]), ("5 -> 1".to_owned(), false));
    assert_eq!(size(&["lease-pause/replicated"]), ("3 -> 1".to_owned(), false));
    let (out, said) = (folder.path("found"), "--drop-nodes");
    // From a seed whose violation needs no more than one node: some that are found hang on the time that several take.
    let check = ["check", "redlock", "--seed", "41", "--runs", "40", "--predicate", "P1", "--out", &out];
    for (more, nodes) in [(&[][..], 5), (&[said][..], 1)] {
        assert_eq!(run(&[&check[..], more].concat()).0, Some(1));
        let found = folder.read("found/redlock-P1.toml");
        let names = found.lines().find(|line| line.starts_with("names = [")).expect("nodes");
        assert_eq!(names.matches('"').count(), 2 * nodes, "{more:?}: {found}");
    }
    let (status, _, said) = run(&["shrink", redlock, "--keep-nodes", "--drop-nodes"]);
    assert_eq!(status, Some(2), "{said}");
}

#[test]
fn a_run_that_violates_nothing_is_inconclusive() {
    let (status, printed, said) = run(&["shrink", "quiet"]);
    assert_eq!((status, &printed[..]), (Some(3), ""));
    assert!(said.starts_with("the run of quiet from seed 1 violates nothing, so"), "{said}");
    let (status, _, said) = run(&["shrink", "lease-pause", "--predicate", "P2"]);
    assert_eq!(status, Some(3));
    assert!(said.contains("does not show that P2 is violated"), "{said}");
}

#[test]
fn what_is_cut_short_says_so() {
    let (status, file, _) = run(&["shrink", "lease-pause", "--replays", "150"]);
    assert_eq!(status, Some(0));
    assert!(file.contains("\n# NOT MINIMAL: there were no more replays (`--replays`)\n"), "{file}");
}

#[test]
fn bad_input_is_refused_with_a_way_out() {
    for (arguments, said) in [
        (&["shrink"][..], "<PLAN|NAME|FILE>"),
        (&["shrink", "lease-paws"], "hint: did you mean `lease-pause`?"),
        (&["shrink", "no.plan"], "cannot read plan `no.plan`"),
        (&["shrink", "no.toml"], "cannot read scenario `no.toml`"),
        (&["shrink", "quiet", "--predicate", "P7"], "the predicates are P1, P2"),
        (&["shrink", "quiet", "--replays", "5"], "use at least 141: of fewer, none are left"),
        (&["shrink", "quiet", "--replays", "-"], "use a number from 141 to 1000000000"),
        (&["shrink", "quiet", "--seed", "x"], "invalid value 'x' for '--seed <N>'"),
        (
            &["shrink", "clock-jump", "--out", "/nowhere/x.toml"],
            "cannot write the scenario to `/nowhere/x.toml`",
        ),
    ] {
        let (status, printed, error) = run(arguments);
        assert_eq!((status, &printed[..]), (Some(2), ""), "{arguments:?}: {error}");
        assert!(error.contains(said), "{arguments:?}: {error}");
    }
}
