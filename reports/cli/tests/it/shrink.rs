//! `doublehold shrink` as a user meets it: a file that can be run, what is said about it, and every kind of bad input.

use snapbox::str;

use crate::kit::{Ask, Folder, assert_text, doublehold};

/// Status, standard output, standard error.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let answer = doublehold(arguments).answer();
    (answer.status, answer.stdout, answer.stderr)
}

/// What a scenario that was shrunk says of itself at its top.
fn comments(file: &str) -> String {
    file.lines().take_while(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_is_printed_is_a_scenario_that_shows_what_it_expects() {
    let folder = Folder::new();
    let (status, file, said) = run(&["shrink", "clock-jump"]);
    assert_eq!(
        (status, &said[..]),
        (Some(0), "shrinking the run of clock-jump from seed 1, if P2 is violated\n")
    );
    assert_text(
        comments(&file),
        str![[r#"
# shrunk from a run of clock-jump with seed 1: P2 is violated
# faults 2 -> 2, clients 2 -> 2, steps 12 -> 5, nodes 5 -> 5; 303 replays
# minimal: nothing can go but nodes, which were to stay, and no length can be the next shorter round one
# the 100 seeds that follow: 100 violate it too
# what violates as well, each alone, as far as bisection shows:
#   faults.0.at: from 0 s to 17 ms after the beginning
#   faults.1.at: from 0 s to 11 ms after c1's grant
#   faults.1.by: from 9.893 s to 80 s (longest tried)
# run it: doublehold run FILE --seed 1

"#]],
    );
    let path = folder.write("jump.toml", &file);
    let (status, shown, _) = run(&["run", &path]);
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("clock stepped by +10 s"), "{shown}");
}

#[test]
fn a_plan_is_shrunk_into_a_file_and_the_rest_is_printed() {
    let folder = Folder::new();
    folder.doublehold(&["run", "lease-pause/redlock", "--seed", "5", "--plan", "lp.plan"]).ends(0);
    let shrink = ["shrink", "lp.plan", "--keep-nodes", "--predicate", "p3", "--out", "lp.toml"];
    let shrunk = folder.doublehold(&shrink).ends(0);
    assert!(shrunk.stderr.ends_with("from seed 5, if P3 is violated\n"), "{}", shrunk.stderr);
    assert_text(
        shrunk.stdout,
        str![[r#"
shrunk from a run of lease-pause/redlock with seed 5: P3 is violated
faults 1 -> 1, clients 2 -> 2, steps 12 -> 6, nodes 5 -> 5; 278 replays
minimal: nothing can go but nodes, which were to stay, and no length can be the next shorter round one
the 100 seeds that follow: 100 violate it too
what violates as well, each alone, as far as bisection shows:
  faults.0.at: only 0 s after c1's check
  faults.0.for: from 10 s to 80 s (longest tried)
run it: doublehold run lp.toml --seed 5

"#]],
    );
    folder.doublehold(&["run", "lp.toml", "--seed", "5"]).ends(0);
    let refused: [&[&str]; 2] =
        [&["shrink", "lp.plan", "--seed", "6"], &["shrink", "lp.toml", "--out", "lp.toml"]];
    assert_text(
        folder.refusals(&refused),
        str![[r#"
$ doublehold shrink lp.plan --seed 6
error: `--seed 6`: the plan `lp.plan` is of seed 5
hint: leave `--seed` out, or name a scenario in place of the plan

$ doublehold shrink lp.toml --out lp.toml
error: the result cannot be written over `lp.toml`, which it is made of
hint: name another file

"#]],
    );
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
    let nothing = doublehold(&["shrink", "quiet"]).ends(3);
    assert_eq!(nothing.stdout, "");
    assert_text(
        nothing.stderr,
        str![[r#"
the run of quiet from seed 1 violates nothing, so there is nothing to shrink
hint: `doublehold check quiet` looks for seeds and faults that do, and shrinks what it finds

"#]],
    );
    let another = doublehold(&["shrink", "lease-pause", "--predicate", "P2"]).ends(3);
    assert_text(
        another.stderr,
        str![[r#"
the run of lease-pause from seed 1 does not show that P2 is violated
hint: it violates P1, P3 and P4: name one of these, or leave out `--predicate`

"#]],
    );
}

#[test]
fn what_is_cut_short_says_so() {
    let (status, file, _) = run(&["shrink", "lease-pause", "--replays", "150"]);
    assert_eq!(status, Some(0));
    assert_text(
        comments(&file),
        str![[r#"
# shrunk from a run of lease-pause with seed 1: P1 is violated
# faults 1 -> 1, clients 2 -> 2, steps 12 -> 12, nodes 1 -> 1; 121 replays
# NOT MINIMAL: there were no more replays (`--replays`)
# the 100 seeds that follow: 100 violate it too
# run it: doublehold run FILE --seed 1

"#]],
    );
}

#[test]
fn bad_input_is_refused_with_a_way_out() {
    let folder = Folder::new();
    let refused: [&[&str]; 9] = [
        &["shrink"],
        &["shrink", "lease-paws"],
        &["shrink", "no.plan"],
        &["shrink", "no.toml"],
        &["shrink", "quiet", "--predicate", "P7"],
        &["shrink", "quiet", "--replays", "5"],
        &["shrink", "quiet", "--replays", "-"],
        &["shrink", "quiet", "--seed", "x"],
        &["shrink", "clock-jump", "--out", "/nowhere/x.toml"],
    ];
    assert_text(
        folder.refusals(&refused),
        str![[r#"
$ doublehold shrink
error: the following required arguments were not provided:
  <PLAN|NAME|FILE>

Usage: doublehold shrink <PLAN|NAME|FILE>

For more information, try '--help'.

$ doublehold shrink lease-paws
error: unknown scenario `lease-paws`
hint: did you mean `lease-pause`?

$ doublehold shrink no.plan
error: cannot read plan `no.plan`: No such file or directory (os error 2)
hint: name a file that exists and that you may read

$ doublehold shrink no.toml
error: cannot read scenario `no.toml`: No such file or directory (os error 2)
hint: name a file that exists and that you may read

$ doublehold shrink quiet --predicate P7
error: invalid value 'P7' for '--predicate <P>': the predicates are P1, P2, P3, P4, WR, LV

For more information, try '--help'.

$ doublehold shrink quiet --replays 5
error: invalid value '5' for '--replays <N>': use at least 141: of fewer, none are left to take anything away with

For more information, try '--help'.

$ doublehold shrink quiet --replays -
error: invalid value '-' for '--replays <N>': use a number from 141 to 1000000000

For more information, try '--help'.

$ doublehold shrink quiet --seed x
error: invalid value 'x' for '--seed <N>': invalid digit found in string

For more information, try '--help'.

$ doublehold shrink clock-jump --out /nowhere/x.toml
error: cannot write the scenario to `/nowhere/x.toml`: No such file or directory (os error 2)
hint: name a file in a directory that exists and that you may write to

"#]],
    );
}
