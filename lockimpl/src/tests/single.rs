//! The lock on a single node.

use std::time::Duration;

use super::fake::{World, ms};
use super::node::Replies;
use crate::env::Clock;
use crate::parts::timing::Timing;
use crate::{
    Acquired, Deadline, Doubt, Extended, Grant, Lock, MonotonicTime, NodeName, OnTimeout, Refusal,
    ReleaseMethod, Released, SingleConfig, SingleLock,
};

const TTL: Duration = ms(10_000);

fn world() -> World {
    World::with_nodes(&["a"])
}

fn lock(world: &World, config: SingleConfig) -> SingleLock<World> {
    SingleLock::new(world.clone(), NodeName::new("a"), config)
}

fn checked(clock: Clock) -> SingleConfig {
    let timing = Timing { clock, ..Timing::checked() };
    SingleConfig { timing, request_timeout: None, ..SingleConfig::default() }
}

fn acquire(world: &World, lock: &mut SingleLock<World>) -> Acquired {
    world.run(lock.acquire("stock", TTL))
}

fn granted(outcome: Acquired) -> Grant {
    match outcome {
        Acquired::Granted(grant) => grant,
        other => panic!("not granted: {other:?}"),
    }
}

fn owner(world: &World) -> Option<Vec<u8>> {
    world.node("a", |node| node.keys.get("stock").map(|key| key.value.clone()))
}

#[test]
fn a_free_lock_is_granted_and_a_held_one_refused_until_its_lease_ends() {
    let world = world();
    let (mut c1, mut c2) = (lock(&world, SingleConfig::default()), lock(&world, SingleConfig::default()));
    let first = granted(acquire(&world, &mut c1));
    assert_eq!(owner(&world), Some(first.token.as_bytes().to_vec()));
    assert_eq!(acquire(&world, &mut c2), Acquired::Refused(Refusal::Taken));
    world.sleep(TTL);
    let second = granted(acquire(&world, &mut c2));
    assert_ne!(first.token, second.token);
}

#[test]
fn the_published_lock_computes_no_deadline_and_accepts_a_reply_that_came_too_late() {
    let world = world();
    world.node("a", |node| node.reply_delay = ms(12_000));
    let config = SingleConfig { request_timeout: None, ..SingleConfig::default() };
    let grant = granted(acquire(&world, &mut lock(&world, config)));
    assert_eq!(grant.deadline, None);
}

#[test]
fn the_elapsed_check_refuses_a_reply_that_came_too_late_and_releases_the_key() {
    let world = world();
    // The lease is 10 s, less 102 ms: the last reply that counts takes a nanosecond less.
    world.node("a", |node| node.reply_delay = ms(9_897) - Duration::from_nanos(1));
    let grant = granted(acquire(&world, &mut lock(&world, checked(Clock::Monotonic))));
    assert_eq!(grant.deadline, Some(Deadline::Monotonic(MonotonicTime(9_898_000_000))));

    let world = self::world();
    world.node("a", |node| node.reply_delay = ms(9_897));
    let outcome = acquire(&world, &mut lock(&world, checked(Clock::Monotonic)));
    let late = Refusal::TooLate { elapsed: ms(9_898), allowed: ms(9_898), clock: Clock::Monotonic };
    assert_eq!(outcome, Acquired::Refused(late));
    assert_eq!(owner(&world), None);
}

#[test]
fn an_unchecked_deadline_is_handed_out_although_it_has_passed() {
    let world = world();
    world.node("a", |node| node.reply_delay = ms(12_000));
    let timing = Timing { unchecked_deadline: true, ..Timing::unchecked() };
    let config = SingleConfig { timing, request_timeout: None, ..SingleConfig::default() };
    let deadline = granted(acquire(&world, &mut lock(&world, config))).deadline.expect("asked for");
    assert!(world.run(deadline.has_passed(&world)));
}

#[test]
fn a_wall_clock_stepped_back_hides_that_the_reply_came_too_late() {
    for (clock, fooled) in [(Clock::Wall, true), (Clock::Monotonic, false), (Clock::Boot, false)] {
        let world = world();
        world.node("a", |node| node.reply_delay = ms(12_000));
        world.at(ms(6_000), |state| state.wall_error -= 30_000_000_000);
        let outcome = acquire(&world, &mut lock(&world, checked(clock)));
        assert_eq!(matches!(outcome, Acquired::Granted(_)), fooled, "{clock:?}");
        if fooled {
            // The deadline lies ahead of the stepped clock by more than the whole lease.
            let deadline = granted(outcome).deadline.expect("checked");
            world.sleep(TTL);
            assert!(!world.run(deadline.has_passed(&world)));
        }
    }
}

#[test]
fn a_wall_clock_stepped_forward_refuses_a_lock_that_was_in_time() {
    let world = world();
    world.at(Duration::from_micros(500), |state| state.wall_error += 20_000_000_000);
    let Acquired::Refused(late) = acquire(&world, &mut lock(&world, checked(Clock::Wall))) else {
        panic!("refused")
    };
    assert_eq!(
        late.to_string(),
        "granted too late to be valid; 20.002 s had passed on its wall clock, 9.898 s were allowed"
    );
    assert!(late.to_string().starts_with(Refusal::TOO_LATE));
}

#[test]
fn a_suspended_machine_fools_the_monotonic_clock_and_not_the_boot_clock() {
    for (clock, fooled) in [(Clock::Monotonic, true), (Clock::Boot, false), (Clock::Wall, false)] {
        let world = world();
        world.suspend(Duration::from_micros(1_500), ms(12_000));
        let outcome = acquire(&world, &mut lock(&world, checked(clock)));
        assert_eq!(matches!(outcome, Acquired::Granted(_)), fooled, "{clock:?}");
    }
}

#[test]
fn after_a_pause_a_waiting_reply_wins_over_the_deadline_that_has_passed() {
    let world = world();
    world.pause(Duration::from_micros(1_500), ms(12_000));
    let outcome = acquire(&world, &mut lock(&world, SingleConfig::default()));
    assert!(matches!(outcome, Acquired::Granted(_)), "{outcome:?}");
}

#[test]
fn a_lost_reply_is_unknown_and_the_key_is_released() {
    for (replies, doubt) in [(Replies::Vanish, "no reply in time"), (Replies::Break, "connection lost")] {
        for (release_on_failure, left) in [(true, false), (false, true)] {
            let world = world();
            world.node("a", |node| node.replies = replies);
            let config = SingleConfig { release_on_failure, ..SingleConfig::default() };
            // The claim is answered with silence; what cleans up after it is not.
            world.at(ms(2), |state| state.nodes.values_mut().for_each(|node| node.replies = Replies::Arrive));
            let Acquired::Unknown(why) = acquire(&world, &mut lock(&world, config)) else {
                panic!("decided")
            };
            assert!(why.to_string().starts_with(doubt), "{why}");
            assert_eq!(owner(&world).is_some(), left);
        }
    }
}

#[test]
fn a_node_that_refuses_connections_is_a_refusal_and_no_doubt() {
    let world = world();
    world.node("a", |node| node.refuses_connections = true);
    let outcome = acquire(&world, &mut lock(&world, SingleConfig::default()));
    assert!(matches!(outcome, Acquired::Refused(Refusal::Unreachable(_))), "{outcome:?}");
}

#[test]
fn an_error_reply_is_a_refusal_with_the_nodes_words() {
    let world = world();
    world.node("a", |node| node.replica = true);
    let Acquired::Refused(why) = acquire(&world, &mut lock(&world, SingleConfig::default())) else {
        panic!("granted by a replica")
    };
    assert_eq!(why.to_string(), "the node replied `READONLY You can't write against a read only replica.`");
}

/// c1 overruns its lease, c2 takes the lock, c1 gives "its" lock back.
fn overrun_then_release(release: ReleaseMethod) -> (Released, bool) {
    let world = world();
    let config = SingleConfig { release, ..SingleConfig::default() };
    let (mut c1, mut c2) = (lock(&world, config.clone()), lock(&world, config));
    let late = granted(acquire(&world, &mut c1));
    world.sleep(TTL);
    granted(acquire(&world, &mut c2));
    let released = world.run(c1.release(&late));
    (released, owner(&world).is_some())
}

#[test]
fn a_plain_delete_frees_the_next_holders_lock_and_a_comparing_one_does_not() {
    assert_eq!(overrun_then_release(ReleaseMethod::PlainDelete), (Released::Released, false));
    assert_eq!(overrun_then_release(ReleaseMethod::CompareAndDelete), (Released::NotOwner, true));
    assert_eq!(overrun_then_release(ReleaseMethod::GetThenDelete), (Released::NotOwner, true));
}

#[test]
fn get_then_delete_frees_the_next_holders_lock_if_it_changes_hands_in_between() {
    let world = world();
    let config = SingleConfig { release: ReleaseMethod::GetThenDelete, ..SingleConfig::default() };
    let mut c1 = lock(&world, config);
    let grant = granted(acquire(&world, &mut c1));
    // Paused with the reply to GET unread; meanwhile the lease ends and c2's key is there.
    let now = world.now();
    world.at(now + TTL + ms(1), |state| {
        let key = super::node::Key { value: vec![0xc2; 20], expires_at: u64::MAX };
        state.nodes.get_mut("a").expect("a").keys.insert("stock".to_owned(), key);
    });
    world.pause(now + Duration::from_micros(1_500), now + TTL + ms(2));
    assert_eq!(world.run(c1.release(&grant)), Released::Released);
    assert_eq!(owner(&world), None, "c2's key should have been deleted");
}

#[test]
fn each_command_of_a_request_has_a_time_limit() {
    let world = world();
    let config = SingleConfig { release: ReleaseMethod::GetThenDelete, ..SingleConfig::default() };
    let mut lock = lock(&world, config);
    let grant = granted(acquire(&world, &mut lock));
    let after_get = world.now() + Duration::from_micros(1_500);
    world.at(after_get, |state| state.nodes.values_mut().for_each(|node| node.replies = Replies::Vanish));
    assert_eq!(world.run(lock.release(&grant)), Released::Unknown(Doubt::Timeout));
    assert_eq!(owner(&world), None, "the DEL was executed all the same");
}

#[test]
fn fencing_numbers_grow_with_every_grant() {
    let world = world();
    let mut lock = lock(&world, SingleConfig { fencing: true, ..SingleConfig::default() });
    for expected in 1..=3 {
        let grant = granted(acquire(&world, &mut lock));
        assert_eq!(grant.fencing, Some(expected));
        assert_eq!(acquire(&world, &mut lock), Acquired::Refused(Refusal::Taken));
        assert_eq!(world.run(lock.release(&grant)), Released::Released);
    }
    assert_eq!(world.node("a", |node| node.counters["{stock}:fencing"]), 3);
}

#[test]
fn a_counter_below_zero_grants_nothing_and_leaves_no_key() {
    let world = world();
    world.node("a", |node| node.counters.insert("{stock}:fencing".to_owned(), -9));
    let mut lock = lock(&world, SingleConfig { fencing: true, ..SingleConfig::default() });
    assert_eq!(acquire(&world, &mut lock), Acquired::Refused(Refusal::CounterBelowZero(-8)));
    assert_eq!(owner(&world), None);
}

#[test]
fn a_node_that_forgot_the_scripts_is_taught_them_again() {
    let world = world();
    let mut lock = lock(&world, SingleConfig::default());
    let grant = granted(acquire(&world, &mut lock));
    assert_eq!(world.run(lock.release(&grant)), Released::Released);
    world.node("a", |node| node.scripts.clear());
    let grant = granted(acquire(&world, &mut lock));
    assert_eq!(world.run(lock.release(&grant)), Released::Released);
    assert_eq!(world.node("a", |node| node.count("SCRIPT LOAD")), 2);
}

#[test]
fn an_extension_renews_the_key_and_the_deadline() {
    let world = world();
    let mut lock = lock(&world, checked(Clock::Monotonic));
    let mut grant = granted(acquire(&world, &mut lock));
    world.sleep(ms(8_000));
    let asked_at = u64::try_from(world.now().as_nanos()).expect("short");
    let deadline = Some(Deadline::Monotonic(MonotonicTime(asked_at + 9_898_000_000)));
    assert_eq!(world.run(lock.extend(&mut grant, TTL)), Extended::Extended { deadline });
    assert_eq!(grant.deadline, deadline);
    world.sleep(ms(8_000));
    assert!(owner(&world).is_some() && world.run(lock.release(&grant)) == Released::Released);
}

#[test]
fn an_extension_after_the_lease_is_not_the_owners_unless_it_may_set_the_key_again() {
    for (extend_if_missing, expected) in
        [(false, Extended::NotOwner), (true, Extended::Extended { deadline: None })]
    {
        let world = world();
        let mut lock = lock(&world, SingleConfig { extend_if_missing, ..SingleConfig::default() });
        let mut grant = granted(acquire(&world, &mut lock));
        world.sleep(TTL);
        assert_eq!(world.run(lock.extend(&mut grant, TTL)), expected);
        assert_eq!(owner(&world).is_some(), extend_if_missing);
    }
}

#[test]
fn an_extension_never_touches_another_holders_key() {
    for extend_if_missing in [false, true] {
        let world = world();
        let config = SingleConfig { extend_if_missing, ..SingleConfig::default() };
        let (mut c1, mut c2) = (lock(&world, config.clone()), lock(&world, config));
        let mut late = granted(acquire(&world, &mut c1));
        world.sleep(TTL);
        granted(acquire(&world, &mut c2));
        let before = world.node("a", |node| node.keys["stock"].clone());
        assert_eq!(world.run(c1.extend(&mut late, TTL)), Extended::NotOwner);
        assert_eq!(world.node("a", |node| node.keys["stock"].clone()), before);
    }
}

#[test]
fn an_extension_whose_reply_came_after_the_old_deadline_is_too_late() {
    let world = world();
    let mut lock = lock(&world, checked(Clock::Monotonic));
    let mut grant = granted(acquire(&world, &mut lock));
    let promised = grant.deadline;
    world.sleep(ms(9_000));
    world.node("a", |node| {
        node.learn_scripts();
        node.reply_delay = ms(2_000);
    });
    assert_eq!(world.run(lock.extend(&mut grant, TTL)), Extended::TooLate);
    assert_eq!(grant.deadline, promised);
}

#[test]
fn an_extension_or_release_without_a_reply_is_unknown() {
    let world = world();
    let mut lock = lock(&world, SingleConfig::default());
    let mut grant = granted(acquire(&world, &mut lock));
    world.node("a", |node| node.replies = Replies::Vanish);
    assert_eq!(world.run(lock.extend(&mut grant, TTL)), Extended::Unknown(Doubt::Timeout));
    assert_eq!(world.run(lock.release(&grant)), Released::Unknown(Doubt::Timeout));
}

/// The claim is stuck for 3 s; the client gives up after 1 s and releases. Is there a key at the end?
fn key_left_by_a_stuck_claim(on_timeout: OnTimeout) -> bool {
    let world = world();
    world.node("a", |node| {
        // Known scripts: releasing takes one command, so that it is the order of two that decides.
        node.learn_scripts();
        node.request_delay = ms(3_000);
    });
    world.at(ms(500), |state| state.nodes.values_mut().for_each(|node| node.request_delay = ms(1)));
    let mut lock = lock(&world, SingleConfig { on_timeout, ..SingleConfig::default() });
    assert_eq!(acquire(&world, &mut lock), Acquired::Unknown(Doubt::Timeout));
    world.sleep(ms(5_000));
    assert_eq!(world.node("a", |node| (node.count("SET"), node.count("EVALSHA"))), (1, 1));
    owner(&world).is_some()
}

#[test]
fn on_a_new_connection_a_release_overtakes_the_stuck_claim_and_the_key_stays() {
    assert!(key_left_by_a_stuck_claim(OnTimeout::Reconnect));
    assert!(!key_left_by_a_stuck_claim(OnTimeout::Keep));
}
