//! Whom Redlock asks of five nodes, and where it stops asking.

use super::node::Replies;
use super::redlock::{TTL, acquire, granted, holding, lock, on_each, one_try, too_few, world};
use crate::{
    Acquired, Doubt, Extended, Lock, OnFailedExtension, OnNodeError, RedlockConfig, Released, Subset,
};

#[test]
fn the_first_node_without_an_answer_ends_a_call_and_leaves_what_is_won() {
    for (dead, left) in [("a", ""), ("c", "ab"), ("e", "abcd")] {
        let world = world();
        on_each(&world, &[dead], |node| node.refuses_connections = true);
        let config = RedlockConfig { on_node_error: OnNodeError::Stop, ..one_try() };
        let outcome = acquire(&world, &mut lock(&world, config));
        assert!(matches!(outcome, Acquired::Unknown(Doubt::TooFewAnswers { .. })), "{outcome:?}");
        assert_eq!(holding(&world), left);
    }
}

#[test]
fn an_error_of_one_node_ends_an_extension_and_gives_nothing_back() {
    let world = world();
    let on_failed_extension = OnFailedExtension::Release;
    let config = RedlockConfig { on_node_error: OnNodeError::Stop, on_failed_extension, ..one_try() };
    let mut lock = lock(&world, config);
    let mut grant = granted(acquire(&world, &mut lock));
    on_each(&world, &["e"], |node| node.replies = Replies::Break);
    let outcome = world.run(lock.extend(&mut grant, TTL));
    assert!(matches!(outcome, Extended::Unknown(Doubt::TooFewAnswers { .. })), "{outcome:?}");
    assert_eq!(holding(&world), "abcde");
}

#[test]
fn nodes_outside_of_the_subset_hear_nothing() {
    for (subset, asked) in [(Subset::All, "abcde"), (Subset::Majority, "abc"), (Subset::Fixed(4), "abcd")] {
        let world = world();
        let mut lock = lock(&world, RedlockConfig { subset, ..one_try() });
        let grant = granted(acquire(&world, &mut lock));
        assert_eq!(holding(&world), asked);
        assert_eq!(world.run(lock.release(&grant)), Released::Released);
        assert_eq!(holding(&world), "");
    }
    let world = world();
    on_each(&world, &["a"], |node| node.refuses_connections = true);
    let config = RedlockConfig { subset: Subset::Majority, ..one_try() };
    assert_eq!(acquire(&world, &mut lock(&world, config)), too_few(2));
}
