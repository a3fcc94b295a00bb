//! A search under weather finds, within a fixed number of seeds, every known-bad lock that does not say why it
//! survives, and none that does. And it finds the bug: the same code without it comes through more runs than it took.
//!
//! How long that takes is what the benchmark `score` prints.

use std::collections::BTreeMap;

use doublehold_known_bad_locks::{BadLock, SearchError, all, canary};

/// How many runs a search may take.
const BUDGET: u64 = 500;

/// How many times as many runs a control must come through. A fault may do to a lock without a bug what the bug does:
/// it takes a release with it, and a key stays. It must do so seldom.
const TIMES: u64 = 3;

#[test]
fn the_canary_is_found_at_the_first_seed() -> Result<(), SearchError> {
    assert!(
        canary().search(1..=1)?.is_some(),
        "`SET` without `NX` goes unnoticed: this testbed finds nothing"
    );
    assert_eq!(canary().search_control(1..=20)?, None, "`SET NX PX` is said to have the canary's bug");
    Ok(())
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "minutes in a debug build: cargo test --release -p doublehold-known-bad-locks"
)]
fn every_known_bad_lock_is_found_unless_it_says_why_not() -> Result<(), SearchError> {
    let (mut wrong, mut controls) = (Vec::new(), BTreeMap::new());
    for bad_lock in all() {
        let BadLock { name, survives, .. } = bad_lock;
        match (bad_lock.search(1..=BUDGET)?, survives) {
            (None, None) => wrong.push(format!("{name} is not found within {BUDGET} runs")),
            (None, Some(_)) => {}
            (Some(found), Some(why)) => {
                wrong.push(format!("{name} is found at seed {}, and was to survive: {why}", found.seed));
            }
            (Some(found), None) => {
                let runs: &mut u64 = controls.entry(bad_lock.control_scenario()?).or_default();
                let (from, to) = (*runs + 1, TIMES * found.seed);
                *runs = to.max(*runs);
                if let Some(broken) = bad_lock.search_control(from..=to)? {
                    wrong.push(format!(
                        "the control of {name} breaks as well, at seed {}; the bad_lock at {}",
                        broken.seed, found.seed
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}
