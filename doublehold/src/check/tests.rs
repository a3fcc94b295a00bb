//! A check passes when nothing of what it is asked is violated, against the same rule applied to counts one by one.

use proptest::prelude::*;
use proptest::sample::subsequence;

use super::*;
use crate::findings::tests::tallies;

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_check_holds_if_it_was_granted_never_panicked_and_was_decided(
        tally in tallies(),
        asked in subsequence(Predicate::ALL.to_vec(), 0..=Predicate::ALL.len()),
    ) {
        let mut holds = tally.grants > 0 && tally.panicked.is_none();
        for predicate in &asked {
            let Count { holds: held, violated, inconclusive, .. } = tally.count(*predicate);
            holds &= violated == 0 && held > 0 && inconclusive * 100 <= tally.runs;
        }
        let seeds = Seed(1)..=Seed(tally.runs);
        let (world, kept, white_box) = ("any".to_owned(), Kept::default(), WhiteBox::default());
        let checked =
            Checked { world, lock: "any", seeds, tally, bad: None, endless: None, kept, white_box };
        prop_assert_eq!(checked.holds(&asked), holds, "{:?}", checked);
    }
}

/// A kind that the program has.
struct Known(Arc<dyn LockKind<SimEnv>>);

impl LockKind<SimEnv> for Known {
    fn descriptor(&self) -> Descriptor {
        self.0.descriptor()
    }

    fn build(&self, env: SimEnv, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        self.0.build(env, nodes, chosen)
    }
}

#[test]
fn a_check_asks_everything_of_a_thousand_seeds_unless_told_otherwise() {
    let lock = Known(builtin_locks().get("single").expect("it comes with the program").clone());
    let check = check(&World::new("any"), lock);
    assert_eq!((check.seeds, check.looking_for), (Seed(1)..=Seed(1_000), Predicate::ALL.to_vec()));
}
