//! Commands of newcomers, word for word, and their answers: the thing, the cause, and something to type instead.

use snapbox::str;

use crate::kit::{Ask, Folder, assert_text, doublehold};

/// Status and standard error of a command in a folder.
fn told_in(folder: &Folder, arguments: &[&str]) -> (Option<i32>, String) {
    let answer = folder.doublehold(arguments).answer();
    assert_eq!(answer.stdout, "", "{arguments:?}");
    (answer.status, answer.stderr)
}

/// Asserts that each command is refused, and with which message.
fn refused(commands: &[(&[&str], &str)]) {
    let folder = Folder::new();
    for (arguments, expected) in commands {
        let (status, said) = told_in(&folder, arguments);
        assert_eq!(status, Some(2), "{arguments:?}: {said}");
        assert_eq!(said, format!("error: {expected}\n"), "{arguments:?}");
    }
}

#[test]
fn a_lock_is_told_from_a_scenario_and_so_is_a_weather() {
    let lock = "hint: try it under random faults: `doublehold check redlock`; a scenario of it to copy: \
                `doublehold locks redlock`";
    let weather = "hint: let it strike a lock or a scenario: `doublehold check redlock --weather cloud`";
    refused(&[
        (&["run", "redlock"], &format!("`redlock` is a lock, not a scenario\n{lock}")),
        // `list redlock` lists the topic of this name.
        (
            &["list", "single"],
            &format!("`single` is a lock, not a scenario\n{}", lock.replace("redlock", "single")),
        ),
        (&["why", "redlock"], &format!("`redlock` is a lock, not a scenario\n{lock}")),
        (&["shrink", "redlock"], &format!("`redlock` is a lock, not a scenario\n{lock}")),
        (&["replay", "redlock"], &format!("`redlock` is a lock, not a plan\n{lock}")),
        (&["judge", "redlock"], &format!("`redlock` is a lock, not a history\n{lock}")),
        (&["sweep", "redlock"], &format!("`redlock` is a lock, not a study\n{lock}")),
        (&["studies", "redlock"], &format!("`redlock` is a lock, not a study\n{lock}")),
        (&["weather", "redlock"], &format!("`redlock` is a lock, not a weather\n{lock}")),
        (
            &["check", "redlock", "--weather", "redlock"],
            &format!("`redlock` is a lock, not a weather\n{lock}"),
        ),
        (&["redlock"], &format!("`redlock` is a lock, not a command\n{lock}")),
        (&["check", "cloud"], &format!("`cloud` is a weather, not a scenario\n{weather}")),
        (&["run", "cloud"], &format!("`cloud` is a weather, not a scenario\n{weather}")),
        (&["explore", "cloud"], &format!("`cloud` is a weather, not a scenario\n{weather}")),
        (&["locks", "cloud"], &format!("`cloud` is a weather, not a lock\n{weather}")),
        (&["cloud"], &format!("`cloud` is a weather, not a command\n{weather}")),
    ]);
}

#[test]
fn a_variant_that_is_cut_short_is_completed() {
    let unknown = |name: &str| format!("unknown scenario `{name}`");
    refused(&[
        (
            &["run", "clock-jump/k4"],
            &format!(
                "{}\nhint: did you mean `clock-jump/k4-one-jump` or `clock-jump/k4-two-jumps`?",
                unknown("clock-jump/k4")
            ),
        ),
        (
            &["run", "clock-jump/k3"],
            &format!("{}\nhint: did you mean `clock-jump/k3-one-jump`?", unknown("clock-jump/k3")),
        ),
        (
            &["run", "quiet/etcd"],
            &format!(
                "{}\nhint: known are `quiet/single`, `quiet/replicated` and `quiet/redlock`",
                unknown("quiet/etcd")
            ),
        ),
    ]);
}

#[test]
fn a_number_that_is_not_in_digits_is_told_in_digits() {
    let written = |typed: &str, meant: &str| {
        format!("`{typed}`: numbers are written in digits\nhint: did you mean `{meant}`?")
    };
    refused(&[
        (&["check", "redlock", "--runs", "1e6"], &written("--runs 1e6", "--runs 1000000")),
        (&["check", "redlock", "--runs", "1_000"], &written("--runs 1_000", "--runs 1000")),
        (&["check", "redlock", "--runs", "10k"], &written("--runs 10k", "--runs 10000")),
        (&["run", "quiet", "--seed", "1e3"], &written("--seed 1e3", "--seed 1000")),
        (&["explore", "redlock", "--faults", "1e0"], &written("--faults 1e0", "--faults 1")),
        (
            &["run", "quiet", "--seed", "-1"],
            "`--seed -1` is below zero\nhint: use a value from zero up: `--seed 1`",
        ),
        (
            &["run", "quiet", "--seed=-1"],
            "`--seed -1` is below zero\nhint: use a value from zero up: `--seed 1`",
        ),
        (
            &["check", "redlock", "--for", "-5s"],
            "`--for -5s` is below zero\nhint: use a value from zero up: `--for 5s`",
        ),
    ]);
    let said = doublehold(&["shrink", "quiet", "--replays", "2e3"]).refused();
    assert_text(
        said,
        str![[r#"
error: invalid value '2e3' for '--replays <N>': numbers are written in digits: did you mean `2000`?

For more information, try '--help'.

"#]],
    );
}

#[test]
fn a_search_that_nobody_would_see_the_end_of_is_not_begun() {
    for more in [&["--faults", "5"][..], &["--faults", "5", "--yes"]] {
        let (status, said) = told_in(&Folder::new(), &[&["explore", "redlock"][..], more].concat());
        assert_eq!(status, Some(2));
        assert!(said.contains(" years or longer\nhint: name fewer `--kinds` or `--faults`"), "{said}");
        assert!(!said.contains("--yes") && said.contains("`check` draws as many faults"), "{said}");
    }
    let (_, said) = told_in(&Folder::new(), &["explore", "redlock", "--faults", "2", "--clients", "3"]);
    assert!(said.contains(", or say `--yes`\n"), "a search of hours is for who wants it: {said}");
}

#[test]
fn a_file_whose_ending_was_left_out_is_named() {
    let folder = Folder::new();
    folder.write("ok.toml", "claim = \"it is there\"");
    for (arguments, said) in [
        (&["run", "ok"][..], "unknown scenario `ok`"),
        (&["check", "ok"], "`ok` is neither a lock nor a scenario"),
        (&["check", "redlock", "--weather", "ok"], "unknown weather `ok`"),
        (&["sweep", "ok"], "unknown study `ok`"),
    ] {
        let expected = (Some(2), format!("error: {said}\nhint: did you mean the file `ok.toml`?\n"));
        assert_eq!(told_in(&folder, arguments), expected, "{arguments:?}");
    }
}

#[test]
fn who_has_nothing_to_shrink_is_told_where_there_is() {
    let folder = Folder::new();
    let nothing = "the run of quiet from seed 1 violates nothing, so there is nothing to shrink\nhint: `doublehold \
                   check quiet` looks for seeds and faults that do, and shrinks what it finds\n";
    assert_eq!(told_in(&folder, &["shrink", "quiet"]), (Some(3), nothing.to_owned()));
    let (status, said) = told_in(&folder, &["shrink", "lease-pause", "--predicate", "P2"]);
    assert_eq!(status, Some(3));
    let hint = "hint: it violates P1, P3 and P4: name one of these, or leave out `--predicate`\n";
    assert!(said.ends_with(&format!("does not show that P2 is violated\n{hint}")), "{said}");
}
