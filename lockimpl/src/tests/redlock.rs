//! Redlock on up to five nodes.

use std::time::Duration;

use super::fake::{World, ms};
use super::node::{Node, Replies};
use crate::parts::timing::Timing;
use crate::{
    Acquired, Deadline, Doubt, Expiry, ExtendCheck, Extended, ExtensionVotes, Grant, Lock, MonotonicTime,
    NodeName, OnFailedExtension, OnNodeError, Order, Quorum, RedlockConfig, RedlockLock, Refusal,
    ReleaseMethod, ReleaseOn, Released, Retry, TokenScope, WaitFor,
};

pub(super) const TTL: Duration = ms(10_000);
const NODES: [&str; 5] = ["a", "b", "c", "d", "e"];

pub(super) fn world() -> World {
    World::with_nodes(&NODES)
}

fn lock_on(world: &World, nodes: &[&str], config: RedlockConfig) -> RedlockLock<World> {
    RedlockLock::new(world.clone(), nodes.iter().map(|name| NodeName::new(name)).collect(), config)
}

pub(super) fn lock(world: &World, config: RedlockConfig) -> RedlockLock<World> {
    lock_on(world, &NODES, config)
}

pub(super) fn one_try() -> RedlockConfig {
    RedlockConfig { retry: Retry { tries: 1, ..Retry::default() }, ..RedlockConfig::default() }
}

pub(super) fn on_each(world: &World, names: &[&str], change: impl Fn(&mut Node)) {
    names.iter().for_each(|name| world.node(name, &change));
}

pub(super) fn acquire(world: &World, lock: &mut RedlockLock<World>) -> Acquired {
    world.run(lock.acquire("stock", TTL))
}

pub(super) fn granted(outcome: Acquired) -> Grant {
    match outcome {
        Acquired::Granted(grant) => grant,
        other => panic!("not granted: {other:?}"),
    }
}

/// The nodes that hold a key, as a word.
pub(super) fn holding(world: &World) -> String {
    NODES.into_iter().filter(|name| world.node(name, |node| node.keys.contains_key("stock"))).collect()
}

pub(super) fn too_few(votes: usize) -> Acquired {
    Acquired::Refused(Refusal::TooFewVotes { votes, needed: 3 })
}

#[test]
fn a_majority_of_five_grants_and_two_are_too_few() {
    for (down, enough) in [(&NODES[..0], true), (&NODES[3..], true), (&NODES[2..], false)] {
        let world = world();
        on_each(&world, down, |node| node.refuses_connections = true);
        let outcome = acquire(&world, &mut lock(&world, one_try()));
        if enough {
            granted(outcome);
        } else {
            assert_eq!(outcome, too_few(2));
            assert_eq!(holding(&world), "", "a failed attempt cleans up");
        }
    }
}

#[test]
fn a_second_client_is_refused_and_the_first_keeps_its_keys() {
    let world = world();
    let (mut c1, mut c2) = (lock(&world, one_try()), lock(&world, one_try()));
    let grant = granted(acquire(&world, &mut c1));
    assert_eq!(acquire(&world, &mut c2), too_few(0));
    assert_eq!(holding(&world), "abcde");
    assert_eq!(world.run(c1.release(&grant)), Released::Released);
    assert_eq!(holding(&world), "");
}

#[test]
fn cleaning_up_with_a_plain_delete_frees_the_real_holders_lock() {
    let world = world();
    let config = RedlockConfig { release: ReleaseMethod::PlainDelete, ..one_try() };
    let (mut c1, mut c2) = (lock(&world, config.clone()), lock(&world, config));
    granted(acquire(&world, &mut c1));
    assert_eq!(acquire(&world, &mut c2), too_few(0));
    assert_eq!(holding(&world), "");
}

#[test]
fn the_deadline_counts_from_before_the_first_request() {
    let world = world();
    world.sleep(ms(7));
    let grant = granted(acquire(&world, &mut lock(&world, one_try())));
    assert_eq!(grant.deadline, Some(Deadline::Monotonic(MonotonicTime(7_000_000 + 9_898_000_000))));
}

#[test]
fn the_elapsed_check_refuses_what_came_too_late_and_without_it_anything_goes() {
    for (timing, accepted) in [(Timing::checked(), false), (Timing::unchecked(), true)] {
        let world = world();
        // Kleppmann's case: every node has said yes when a pause of 12 s begins, and the replies wait.
        world.pause(Duration::from_micros(1_500), ms(12_000));
        let config = RedlockConfig { timing, order: Order::Parallel, ..one_try() };
        let outcome = acquire(&world, &mut lock(&world, config));
        if accepted {
            assert_eq!(granted(outcome).deadline, None);
        } else {
            let Acquired::Refused(Refusal::TooLate { elapsed, allowed, .. }) = outcome else {
                panic!("{outcome:?}")
            };
            assert_eq!((elapsed.as_millis(), allowed), (12_000, ms(9_898)));
        }
    }
}

#[test]
fn nodes_are_asked_one_after_another_or_all_at_once() {
    let times = |order| {
        let world = world();
        granted(acquire(&world, &mut lock(&world, RedlockConfig { order, ..one_try() })));
        NODES.map(|name| world.node(name, |node| node.log[0].0.as_millis()))
    };
    assert_eq!(times(Order::Sequential), [1, 3, 5, 7, 9]);
    assert_eq!(times(Order::Parallel), [1, 1, 1, 1, 1]);
}

#[test]
fn a_silent_node_costs_its_timeout_once_per_node_or_once_in_all() {
    for (order, taken) in [(Order::Sequential, 50 + 50 + 3 * 2), (Order::Parallel, 50)] {
        let world = world();
        on_each(&world, &["a", "c"], |node| node.unreachable = true);
        granted(acquire(&world, &mut lock(&world, RedlockConfig { order, ..one_try() })));
        assert_eq!(world.now(), ms(taken), "{order:?}");
    }
}

#[test]
fn a_lost_yes_keeps_its_key_unless_the_release_goes_to_all_nodes() {
    for (release_on, left) in [(ReleaseOn::All, ""), (ReleaseOn::Answered, "abc")] {
        let world = world();
        on_each(&world, &["a", "b", "c"], |node| {
            node.learn_scripts();
            node.replies = Replies::Vanish;
        });
        world.at(ms(150), |state| state.nodes.values_mut().for_each(|node| node.replies = Replies::Arrive));
        assert_eq!(acquire(&world, &mut lock(&world, RedlockConfig { release_on, ..one_try() })), too_few(2));
        assert_eq!(holding(&world), left, "{release_on:?}");
    }
}

#[test]
fn a_token_lasts_for_a_call_or_for_an_attempt() {
    for (token, distinct) in [(TokenScope::Call, 1), (TokenScope::Attempt, 3)] {
        let world = world();
        on_each(&world, &NODES[2..], |node| node.refuses_connections = true);
        let config = RedlockConfig { token, ..RedlockConfig::default() };
        assert_eq!(acquire(&world, &mut lock(&world, config)), too_few(2));
        let mut claims: Vec<String> = world.node("a", |node| {
            node.log.iter().map(|(_, words)| words.clone()).filter(|words| words.starts_with("SET")).collect()
        });
        assert_eq!(claims.len(), 3, "one per try");
        claims.dedup();
        assert_eq!(claims.len(), distinct, "{token:?}: {claims:?}");
    }
}

#[test]
fn retries_wait_a_drawn_delay_or_always_the_longest() {
    let waited = |jitter| {
        let world = world();
        on_each(&world, &NODES, |node| node.refuses_connections = true);
        let config =
            RedlockConfig { retry: Retry { jitter, ..Retry::default() }, ..RedlockConfig::default() };
        assert_eq!(acquire(&world, &mut lock(&world, config)), too_few(0));
        world.now()
    };
    assert_eq!(waited(false), ms(400), "two delays between three tries");
    let drawn = waited(true);
    assert!(drawn > Duration::ZERO && drawn < ms(400), "{drawn:?}");
}

#[test]
fn half_the_other_nodes_grants_the_lock_twice_when_they_are_even() {
    let grants = |quorum| {
        let world = World::with_nodes(&NODES[..4]);
        let config = RedlockConfig { quorum, ..one_try() };
        let (mut c1, mut c2) =
            (lock_on(&world, &NODES[..4], config.clone()), lock_on(&world, &NODES[..4], config));
        on_each(&world, &["c", "d"], |node| node.refuses_connections = true);
        let first = acquire(&world, &mut c1);
        on_each(&world, &["c", "d"], |node| node.refuses_connections = false);
        let second = acquire(&world, &mut c2);
        [first, second].iter().filter(|outcome| matches!(outcome, Acquired::Granted(_))).count()
    };
    assert_eq!(grants(Quorum::HalfOfOthers), 2);
    assert!(grants(Quorum::Majority) < 2);
}

#[test]
fn an_extension_needs_a_quorum_in_time() {
    let extend = |trouble: fn(&mut Node), names: &[&str]| {
        let world = world();
        on_each(&world, &NODES, Node::learn_scripts);
        let mut lock = lock(&world, RedlockConfig { node_timeout: None, ..one_try() });
        let mut grant = granted(acquire(&world, &mut lock));
        let promised = grant.deadline;
        world.sleep(ms(5_000));
        on_each(&world, names, trouble);
        let outcome = world.run(lock.extend(&mut grant, TTL));
        assert_eq!(grant.deadline == promised, !matches!(outcome, Extended::Extended { .. }));
        outcome
    };
    let forget: fn(&mut Node) = |node| node.keys.clear();
    assert!(matches!(extend(forget, &["a", "b"]), Extended::Extended { deadline: Some(_) }));
    assert_eq!(extend(forget, &["a", "b", "c"]), Extended::NotOwner);
    assert_eq!(
        extend(|node| node.replies = Replies::Break, &["a", "b", "c"]),
        Extended::Unknown(Doubt::TooFewAnswers { answers: 2, nodes: 5 })
    );
    // The last node asked: a slow first one would let the keys on the others expire unasked.
    assert_eq!(extend(|node| node.reply_delay = ms(6_000), &["e"]), Extended::TooLate);
}

#[test]
fn a_node_whose_renewal_was_lost_is_still_told_of_the_release() {
    let world = world();
    on_each(&world, &NODES, Node::learn_scripts);
    let mut lock = lock(&world, RedlockConfig { release_on: ReleaseOn::Answered, ..one_try() });
    let mut grant = granted(acquire(&world, &mut lock));
    on_each(&world, &["a", "b"], |node| node.replies = Replies::Vanish);
    assert!(matches!(world.run(lock.extend(&mut grant, TTL)), Extended::Extended { .. }));
    on_each(&world, &["a", "b"], |node| node.replies = Replies::Arrive);
    assert_eq!(world.run(lock.release(&grant)), Released::Released);
    assert_eq!(holding(&world), "");
}

#[test]
fn a_failed_extension_keeps_what_is_left_or_releases_it() {
    for (on_failed_extension, left) in [(OnFailedExtension::Keep, "de"), (OnFailedExtension::Release, "")] {
        let world = world();
        let mut lock = lock(&world, RedlockConfig { on_failed_extension, ..one_try() });
        let mut grant = granted(acquire(&world, &mut lock));
        on_each(&world, &["a", "b", "c"], |node| node.keys.clear());
        assert_eq!(world.run(lock.extend(&mut grant, TTL)), Extended::NotOwner);
        assert_eq!(holding(&world), left, "{on_failed_extension:?}");
    }
}

#[test]
fn an_extension_that_may_set_absent_keys_revives_a_lost_lock() {
    for (extend_if_missing, left) in [(false, ""), (true, "abcde")] {
        let world = world();
        let mut lock =
            lock(&world, RedlockConfig { extend_if_missing, timing: Timing::unchecked(), ..one_try() });
        let mut grant = granted(acquire(&world, &mut lock));
        world.sleep(2 * TTL);
        let outcome = world.run(lock.extend(&mut grant, TTL));
        assert_eq!(matches!(outcome, Extended::Extended { .. }), extend_if_missing);
        assert_eq!(holding(&world), left);
    }
}

#[test]
fn a_release_says_what_a_quorum_of_nodes_said() {
    let release = |forgetful: &[&str], broken: &[&str]| {
        let world = world();
        let mut lock = lock(&world, one_try());
        let grant = granted(acquire(&world, &mut lock));
        on_each(&world, forgetful, |node| node.keys.clear());
        on_each(&world, broken, |node| node.replies = Replies::Break);
        world.run(lock.release(&grant))
    };
    let unknown = |answers| Released::Unknown(Doubt::TooFewAnswers { answers, nodes: 5 });
    assert_eq!(release(&["a", "b"], &[]), Released::Released);
    assert_eq!(release(&["a", "b", "c"], &[]), Released::NotOwner);
    assert_eq!(release(&["a", "b", "c"], &["d"]), Released::NotOwner);
    assert_eq!(release(&[], &["a", "b"]), Released::Released);
    assert_eq!(release(&[], &["a", "b", "c"]), unknown(2));
    assert_eq!(release(&["a", "b"], &["c"]), unknown(4), "c's answer would decide");
}

#[test]
fn an_extension_after_the_deadline_counts_only_where_nobody_looks_at_it() {
    for (extend_check, counts) in [(ExtendCheck::Both, false), (ExtendCheck::NewLease, true)] {
        let world = world();
        let config = RedlockConfig { extend_check, extend_if_missing: true, ..one_try() };
        let mut lock = lock(&world, config);
        let mut grant = granted(acquire(&world, &mut lock));
        world.sleep(2 * TTL);
        let outcome = world.run(lock.extend(&mut grant, TTL));
        assert_eq!(matches!(outcome, Extended::Extended { .. }), counts, "{outcome:?}");
    }
}

#[test]
fn an_extension_on_nodes_that_hold_anothers_key_counts_where_answers_are_votes() {
    let extend = |extension_votes, broken: &[&str]| {
        let world = world();
        let mut lock = lock(&world, RedlockConfig { extension_votes, ..one_try() });
        let mut grant = granted(acquire(&world, &mut lock));
        on_each(&world, &NODES, |node| {
            node.keys.values_mut().for_each(|key| key.value = b"another's".to_vec());
        });
        on_each(&world, broken, |node| node.replies = Replies::Break);
        world.run(lock.extend(&mut grant, TTL))
    };
    assert_eq!(extend(ExtensionVotes::Renewed, &[]), Extended::NotOwner);
    assert!(matches!(extend(ExtensionVotes::Answered, &[]), Extended::Extended { deadline: Some(_) }));
    assert!(matches!(extend(ExtensionVotes::Answered, &["a", "b", "c"]), Extended::Unknown(_)));
}

#[test]
fn a_deadline_that_is_checked_and_not_told_refuses_what_is_late_and_leaves_the_holder_without_one() {
    let acquire_after = |request_delay| {
        let world = world();
        on_each(&world, &["e"], |node| node.request_delay = request_delay);
        let config = RedlockConfig { tells_deadline: false, node_timeout: None, ..one_try() };
        acquire(&world, &mut lock(&world, config))
    };
    assert_eq!(granted(acquire_after(ms(1))).deadline, None);
    assert!(matches!(acquire_after(ms(9_900)), Acquired::Refused(Refusal::TooLate { .. })));
}

#[test]
fn a_failed_attempt_leaves_its_keys_where_nothing_is_taken_back() {
    for (release_on_failure, left) in [(true, ""), (false, "ab")] {
        let world = world();
        on_each(&world, &NODES[2..], |node| node.refuses_connections = true);
        let config = RedlockConfig { release_on_failure, ..one_try() };
        assert_eq!(acquire(&world, &mut lock(&world, config)), too_few(2));
        assert_eq!(holding(&world), left);
    }
}

#[test]
fn a_quorum_is_enough_to_return_and_the_others_go_on() {
    for (wait_for, taken) in [(WaitFor::All, 5_000), (WaitFor::Quorum, 2)] {
        let world = world();
        on_each(&world, &["e"], |node| node.request_delay = ms(4_999));
        let config = RedlockConfig { wait_for, order: Order::Parallel, node_timeout: None, ..one_try() };
        let mut lock = lock(&world, config);
        granted(acquire(&world, &mut lock));
        assert_eq!(world.now(), ms(taken), "{wait_for:?}");
        world.sleep(ms(6_000));
        assert_eq!(holding(&world), "abcde");
    }
}

#[test]
fn a_node_without_an_answer_is_no_vote_or_an_error_that_leaves_the_keys() {
    for (on_node_error, left) in [(OnNodeError::NoVote, "abcd"), (OnNodeError::Raise, "abcd")] {
        let world = world();
        on_each(&world, &["e"], |node| node.refuses_connections = true);
        let outcome = acquire(&world, &mut lock(&world, RedlockConfig { on_node_error, ..one_try() }));
        let raised = Acquired::Unknown(Doubt::TooFewAnswers { answers: 4, nodes: 5 });
        assert_eq!(outcome == raised, on_node_error == OnNodeError::Raise);
        assert_eq!(holding(&world), left);
    }
}

#[test]
fn a_lock_that_came_too_late_is_taken_back_or_left() {
    for (release_on_late, left) in [(true, ""), (false, "e")] {
        let world = world();
        on_each(&world, &["e"], |node| node.reply_delay = ms(11_000));
        let config =
            RedlockConfig { release_on_late, node_timeout: None, order: Order::Parallel, ..one_try() };
        let config = RedlockConfig { expiry: Expiry::None, ..config };
        let outcome = acquire(&world, &mut lock(&world, config));
        assert!(matches!(outcome, Acquired::Refused(Refusal::TooLate { .. })), "{outcome:?}");
        assert_eq!(holding(&world).contains('e'), left.contains('e'));
    }
}

#[test]
fn a_call_stops_asking_when_its_time_is_over() {
    let world = world();
    on_each(&world, &NODES, |node| node.refuses_connections = true);
    let config = RedlockConfig {
        retry: Retry {
            tries: 1_000,
            limit: Some(ms(1_000)),
            delay: ms(300),
            least: ms(300),
            ..Retry::default()
        },
        ..RedlockConfig::default()
    };
    assert_eq!(acquire(&world, &mut lock(&world, config)), too_few(0));
    assert_eq!(world.now(), ms(1_200), "the wait that ends after the limit is the last");
}

#[test]
fn a_token_may_last_as_long_as_its_lock() {
    let world = world();
    let mut lock = lock(&world, RedlockConfig { token: TokenScope::Object, ..one_try() });
    let first = granted(acquire(&world, &mut lock));
    world.run(lock.release(&first));
    assert_eq!(granted(acquire(&world, &mut lock)).token, first.token);
}

#[test]
fn what_an_attempt_got_stays_until_the_last_one() {
    for (release_between_tries, told) in [(true, 3), (false, 1)] {
        let world = world();
        on_each(&world, &NODES[2..], |node| node.refuses_connections = true);
        on_each(&world, &NODES, Node::learn_scripts);
        let config = RedlockConfig { release_between_tries, ..RedlockConfig::default() };
        assert_eq!(acquire(&world, &mut lock(&world, config)), too_few(if told == 3 { 2 } else { 0 }));
        assert_eq!(world.node("a", |node| node.count("EVALSHA")), told);
        assert_eq!(holding(&world), "");
    }
}
