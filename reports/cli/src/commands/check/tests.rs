//! The words about a search that a signal stopped: each names a way on that leads on.

use clap::{Args as _, Command, FromArgMatches as _};

use super::Arguments;

/// The words after so many runs of this command.
fn stopped(typed: &str, runs: u64) -> String {
    let command = Arguments::augment_args(Command::new("check"));
    let matches = command.try_get_matches_from(typed.split(' ')).expect("a command");
    Arguments::from_arg_matches(&matches).expect("all arguments").stopped(runs)
}

#[test]
fn a_stopped_search_goes_on_with_the_seeds_that_it_has_not_run() {
    assert_eq!(
        stopped("check setnx --seed 5 --runs 30", 10),
        "stopped; to go on: doublehold check setnx --seed 15 --out doublehold-check"
    );
    let last = format!("check setnx --seed {}", u64::MAX);
    assert_eq!(stopped(&last, 1), "stopped; there are no seeds left to go on with");
}

#[test]
fn a_stopped_part_says_when_it_counts() {
    let part = "check setnx --runs 30 --shard 1/3";
    assert_eq!(stopped(part, 4), "stopped; a part counts when it has all its runs");
}

/// The parts have made all runs: seeds after those would be another search.
#[test]
fn a_stopped_sum_is_made_again_with_the_same_command() {
    let sum = "check setnx --runs 30 --sum p1.json p2.json";
    assert_eq!(stopped(sum, 30), "stopped; the same command adds the parts up again");
}
