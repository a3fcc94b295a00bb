//! The answer's words about choices: a check at the resource, a look at the deadline, another lock. From counts whose
//! differences are plain.

use doublehold_history::Predicate;
use doublehold_sweeps::sweep::StudyHeader;

use crate::kit::Folder;
use crate::report::made::{batch, header};

/// One lock without and with a check, one whose holder does not look at its deadline, and another lock.
fn made(damaged: [u64; 4], p2: [u64; 4]) -> String {
    made_waiting(damaged, p2, [0; 4])
}

/// The same, with so many runs in which somebody waits too long.
fn made_waiting(damaged: [u64; 4], p2: [u64; 4], lv: [u64; 4]) -> String {
    let names = ["plain", "checked", "hasty", "other"];
    let worlds = ["", "[resource]\nversion_check = true\n", "", ""];
    let mut header: StudyHeader = header(&names, &[], 500);
    for ((design, resource), name) in header.designs.iter_mut().zip(worlds).zip(names) {
        let looks = name != "hasty";
        let kind = if name == "other" { "redlock" } else { "single" };
        design.world = format!(
            "claim = \"{name}\"\n[lock]\nalgorithm = \"{kind}\"\nelapsed_check = {looks}\n{resource}"
        );
        design.has_no_deadline = !looks;
    }
    let counts = |design: usize| {
        move |predicate: Predicate| match predicate {
            Predicate::P1 => (100, 0),
            Predicate::P2 => (p2[design], 0),
            Predicate::P4 => (damaged[design], 0),
            Predicate::LV => (lv[design], 0),
            _ => (0, 0),
        }
    };
    let batches: Vec<_> = (0..4).map(|design| batch(design as u64, 500, counts(design))).collect();
    let folder = Folder::new();
    folder.records(&header, &batches).page();
    folder.read("report.md")
}

#[test]
fn a_choice_is_told_by_the_pairs_that_differ_in_nothing_else() {
    let page = made([40, 0, 80, 40], [5, 5, 100, 60]);
    // Not seen in 500 runs with a check: at most 0.6 %, so at least 13 times less often than 8 %.
    let choices = "Data is damaged 13 times less often (or better) with a check at the resource; 2 times if holders \
                   look at their deadline.";
    assert!(page.contains(choices), "{page}");
    let locks = "Another client gets the lock before its holder's deadline more often with `other` than with `plain`; 1 of 1 \
                 pairs of locks differ in this.";
    assert!(page.contains(locks), "{page}");
    assert!(
        page.contains("- data is damaged in 16 % of runs with `hasty` (others: up to 8.0 % of runs);"),
        "{page}"
    );
    // A lock without a deadline is not compared by P2, in which it would come last.
    let rates = page.split("## All rates").nth(1).expect("the rates");
    let row = rates.lines().find(|line| line.starts_with("| `hasty` |")).expect("its row");
    let letters = |column: usize| row.split(" | ").nth(column).expect("a column").rsplit("<br>").next();
    assert!(letters(1).is_some_and(|it| it.starts_with('`')), "by P1 it is compared: {row}");
    assert!(letters(2).is_some_and(|it| !it.starts_with('`')), "by P2 it is not: {row}");
    assert!(page.contains("`hasty` have no deadline that a holder could look at."), "{page}");
}

#[test]
fn what_could_not_be_shown_is_not_said_to_be_no_difference() {
    let page = made([0, 0, 0, 0], [5, 5, 100, 5]);
    assert!(page.contains("Too little data was damaged to judge a check at the resource"), "{page}");
    assert!(page.contains("No difference was shown (perhaps too few runs) with another lock."), "{page}");
    let page = made([40, 38, 42, 40], [5, 5, 100, 5]);
    assert!(
        page.contains("No difference was shown (perhaps too few runs) with a check at the resource"),
        "{page}"
    );
}

#[test]
fn no_lock_is_called_better_that_is_worse_by_another_rule() {
    let better = "more often with `plain` than with `other`";
    let page = made([40, 0, 80, 40], [60, 60, 100, 5]);
    assert!(page.contains(better), "{page}");
    let page = made_waiting([40, 0, 80, 40], [60, 60, 100, 5], [0, 0, 0, 60]);
    assert!(!page.contains(better), "it keeps others waiting: {page}");
    assert!(page.contains("more often with one of them; the other is worse by another rule"), "{page}");
    // And of a check that makes data safer, and others wait.
    let page = made_waiting([40, 0, 80, 40], [5, 5, 100, 5], [0, 60, 0, 0]);
    let but = "13 times less often (or better) with a check at the resource, but somebody waits too long more often";
    assert!(page.contains(but), "{page}");
}
