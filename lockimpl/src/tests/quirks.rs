//! What libraries do otherwise with one key.

use std::time::Duration;

use super::fake::{World, ms};
use super::node::Replies;
use crate::parts::timing::Timing;
use crate::{
    Acquired, Deadline, DeadlineFrom, Expiry, ExpiryClock, ExtendBy, Extended, Grant, Lock, MonotonicTime,
    NodeName, Probe, Quirks, Reconnect, Refusal, ReleaseMethod, Released, SingleConfig, SingleLock,
    TokenScope, TokenSource, Transport,
};

const TTL: Duration = ms(10_000);

fn world() -> World {
    World::with_nodes(&["a"])
}

fn lock(world: &World, quirks: Quirks) -> SingleLock<World> {
    SingleLock::new(world.clone(), NodeName::new("a"), SingleConfig::default()).with_quirks(quirks)
}

fn granted(world: &World, lock: &mut SingleLock<World>) -> Grant {
    match world.run(lock.acquire("stock", TTL)) {
        Acquired::Granted(grant) => grant,
        other => panic!("not granted: {other:?}"),
    }
}

fn owner(world: &World) -> Option<Vec<u8>> {
    world.sleep(ms(1));
    // The node drops what has expired when it is asked something.
    let now = u64::try_from(world.now().as_nanos()).expect("short");
    world.node("a", |node| {
        node.keys.get("stock").filter(|key| key.expires_at >= now).map(|key| key.value.clone())
    })
}

#[test]
fn a_key_without_an_end_outlives_its_lease_and_cannot_be_extended() {
    let world = world();
    let mut c1 = lock(&world, Quirks { expiry: Expiry::None, ..Quirks::default() });
    let mut grant = granted(&world, &mut c1);
    assert_eq!(world.run(c1.extend(&mut grant, TTL)), Extended::Unsupported);
    world.sleep(TTL * 3);
    assert_eq!(owner(&world), Some(grant.token.as_bytes().to_vec()));
}

#[test]
fn a_key_that_ends_by_the_clients_clock_ends_sooner_where_that_is_behind() {
    for (behind, there) in [(ms(0), true), (ms(3_000), true), (ms(3_010), false), (ms(11_000), false)] {
        let world = world();
        world.at(ms(0), move |state| state.wall_error -= i64::try_from(behind.as_nanos()).expect("short"));
        let mut c1 = lock(&world, Quirks { expiry_clock: ExpiryClock::Client, ..Quirks::default() });
        world.sleep(ms(1));
        granted(&world, &mut c1);
        world.sleep(ms(6_990));
        assert_eq!(owner(&world).is_some(), there, "{behind:?}");
    }
}

#[test]
fn an_extension_by_the_clients_clock_ends_then_as_well() {
    let world = world();
    let mut c1 = lock(&world, Quirks { expiry_clock: ExpiryClock::Client, ..Quirks::default() });
    let mut grant = granted(&world, &mut c1);
    world.sleep(ms(8_000));
    assert!(matches!(world.run(c1.extend(&mut grant, TTL)), Extended::Extended { .. }));
    world.sleep(ms(9_000));
    assert!(owner(&world).is_some());
    world.sleep(ms(1_000));
    assert_eq!(owner(&world), None);
}

#[test]
fn a_lease_in_two_steps_is_long_until_the_second() {
    for (lost, there) in [(false, false), (true, true)] {
        let world = world();
        let initial_ttl = Some(ms(300_000));
        let config = SingleConfig { release_on_failure: false, ..SingleConfig::default() };
        let quirks = Quirks { initial_ttl, ..Quirks::default() };
        let mut c1 = SingleLock::new(world.clone(), NodeName::new("a"), config).with_quirks(quirks);
        if lost {
            world.at(Duration::from_micros(1_500), |state| {
                state.nodes.values_mut().for_each(|node| node.unreachable = true);
            });
        }
        let acquired = world.run(c1.acquire("stock", TTL));
        assert_eq!(matches!(acquired, Acquired::Granted(_)), !lost, "{acquired:?}");
        world.sleep(TTL);
        assert_eq!(owner(&world).is_some(), there);
    }
}

/// The tokens of two calls of one lock, and of one call of another.
fn tokens(world: &World, token: TokenScope, token_value: TokenSource) -> [Vec<u8>; 3] {
    let [mut c1, mut c2] = [(); 2].map(|()| lock(world, Quirks { token, token_value, ..Quirks::default() }));
    let draw = |lock: &mut SingleLock<World>| {
        let grant = granted(world, lock);
        assert_eq!(world.run(lock.release(&grant)), Released::Released);
        grant.token.as_bytes().to_vec()
    };
    [draw(&mut c1), draw(&mut c1), draw(&mut c2)]
}

#[test]
fn tokens_are_of_what_they_are_said_to_be_of() {
    let [first, second, other] = tokens(&world(), TokenScope::Object, TokenSource::Random);
    assert!(first == second && first != other);
    let [first, second, other] = tokens(&world(), TokenScope::Attempt, TokenSource::Process);
    assert!(first == second && first == other);
    for source in [TokenScope::Attempt, TokenScope::Call] {
        let [first, second, other] = tokens(&world(), source, TokenSource::Random);
        assert!(first != second && first != other && second != other, "{source:?}");
    }
    let [first, second, other] = tokens(&world(), TokenScope::Attempt, TokenSource::Timestamp);
    assert!(first != second && second != other);
    let name = |token: &[u8]| {
        String::from_utf8(token.into()).expect("text").split_once(':').expect("two").1.to_owned()
    };
    assert!(name(&first) == name(&second) && name(&first) != name(&other));
    for token in tokens(&world(), TokenScope::Attempt, TokenSource::SmallInt) {
        let number = String::from_utf8(token).expect("text").parse::<u8>();
        assert!(number.is_ok(), "{number:?}");
    }
}

#[test]
fn a_claim_that_a_driver_repeats_is_refused_by_its_own_key_unless_it_looks() {
    for own_token_counts in [false, true] {
        let world = world();
        let transport = Transport { retries: 3, reconnect: Reconnect::RedisPy8, ..Transport::default() };
        let config = SingleConfig { transport, ..SingleConfig::default() };
        let quirks = Quirks { own_token_counts, ..Quirks::default() };
        let mut c1 = SingleLock::new(world.clone(), NodeName::new("a"), config).with_quirks(quirks);
        world.node("a", |node| node.replies = Replies::Break);
        world.at(ms(2), |state| state.nodes.values_mut().for_each(|node| node.replies = Replies::Arrive));
        let acquired = world.run(c1.acquire("stock", TTL));
        assert_eq!(matches!(acquired, Acquired::Granted(_)), own_token_counts, "{acquired:?}");
        assert!(own_token_counts || acquired == Acquired::Refused(Refusal::Taken));
        assert!(owner(&world).is_some());
    }
}

/// c1's lease ends, c2 takes the lock, c1 extends: what it is told, and whether the key is c2's.
fn extended_too_late(extend_by: ExtendBy) -> (Extended, bool) {
    let world = world();
    let [mut c1, mut c2] = [(); 2].map(|()| lock(&world, Quirks { extend_by, ..Quirks::default() }));
    let mut late = granted(&world, &mut c1);
    world.sleep(TTL);
    let other = granted(&world, &mut c2);
    let extended = world.run(c1.extend(&mut late, TTL));
    (extended, owner(&world) == Some(other.token.as_bytes().to_vec()))
}

#[test]
fn an_extension_that_does_not_compare_is_of_whoever_has_the_key() {
    let yes = Extended::Extended { deadline: None };
    assert_eq!(extended_too_late(ExtendBy::Compare), (Extended::NotOwner, true));
    assert_eq!(extended_too_late(ExtendBy::SetIfeq), (Extended::NotOwner, true));
    assert_eq!(extended_too_late(ExtendBy::SetXx), (yes.clone(), false));
    assert_eq!(extended_too_late(ExtendBy::Plain), (yes, true));
}

#[test]
fn an_extension_in_time_renews_the_key_however_it_is_made() {
    for (extend_by, extend_adds, left) in [
        (ExtendBy::Compare, false, 10_000),
        (ExtendBy::Compare, true, 12_000),
        (ExtendBy::SetIfeq, false, 10_000),
        (ExtendBy::SetXx, false, 10_000),
        (ExtendBy::Plain, false, 10_000),
    ] {
        let world = world();
        world.node("a", super::node::Node::learn_scripts);
        let mut c1 = lock(&world, Quirks { extend_by, extend_adds, ..Quirks::default() });
        let mut grant = granted(&world, &mut c1);
        world.sleep(ms(8_000));
        assert_eq!(world.run(c1.extend(&mut grant, TTL)), Extended::Extended { deadline: None });
        let ends = world.node("a", |node| Duration::from_nanos(node.keys["stock"].expires_at));
        let ahead = ends.saturating_sub(world.now());
        assert!(ahead.abs_diff(ms(left)) < ms(10), "{extend_by:?}: {ahead:?}");
    }
}

#[test]
fn a_deadline_from_the_reply_lies_later_by_the_replys_way() {
    for (deadline_from, deadline) in [(DeadlineFrom::Send, 9_898), (DeadlineFrom::Reply, 9_898 + 301)] {
        let world = world();
        world.node("a", |node| node.reply_delay = ms(300));
        let config = SingleConfig { timing: Timing::checked(), ..SingleConfig::default() };
        let quirks = Quirks { deadline_from, ..Quirks::default() };
        let mut c1 = SingleLock::new(world.clone(), NodeName::new("a"), config).with_quirks(quirks);
        let told = granted(&world, &mut c1).deadline;
        assert_eq!(told, Some(Deadline::Monotonic(MonotonicTime(deadline * 1_000_000))));
    }
}

#[test]
fn a_deadline_is_kept_from_who_is_not_told() {
    let world = world();
    let config = SingleConfig { timing: Timing::checked(), ..SingleConfig::default() };
    let quirks = Quirks { tells_deadline: false, ..Quirks::default() };
    let mut c1 = SingleLock::new(world.clone(), NodeName::new("a"), config).with_quirks(quirks);
    assert_eq!(granted(&world, &mut c1).deadline, None);
}

#[test]
fn a_probe_that_takes_leaves_a_key_where_it_ends_in_between() {
    for (probe, there) in [(Probe::None, false), (Probe::Reads, false), (Probe::Takes, true)] {
        let world = world();
        let mut c1 = lock(&world, Quirks { probe, ..Quirks::default() });
        let grant = granted(&world, &mut c1);
        assert_eq!(world.run(c1.release(&grant)), Released::Released);
        assert_eq!(owner(&world), None, "{probe:?}");
        // The first command arrives, and nothing after it.
        let first = world.now() + Duration::from_micros(1_500);
        world.at(first, |state| state.nodes.values_mut().for_each(|node| node.unreachable = true));
        let config = SingleConfig { release_on_failure: false, ..SingleConfig::default() };
        let mut c2 = SingleLock::new(world.clone(), NodeName::new("a"), config)
            .with_quirks(Quirks { probe, ..Quirks::default() });
        let _ = world.run(c2.acquire("stock", TTL));
        assert_eq!(owner(&world).is_some(), there || probe == Probe::None, "{probe:?}");
    }
}

#[test]
fn a_probe_sees_a_lock_that_is_held() {
    for probe in [Probe::Reads, Probe::Takes] {
        let world = world();
        granted(&world, &mut lock(&world, Quirks::default()));
        let mut c2 = lock(&world, Quirks { probe, ..Quirks::default() });
        assert_eq!(world.run(c2.acquire("stock", TTL)), Acquired::Refused(Refusal::Taken));
        let sets = world.node("a", |node| node.count("SET"));
        assert_eq!(sets, if probe == Probe::Reads { 1 } else { 2 });
    }
}

#[test]
fn a_node_that_compares_by_itself_deletes_what_is_ours_alone() {
    let world = world();
    let config = SingleConfig { release: ReleaseMethod::DelexIfeq, ..SingleConfig::default() };
    let [mut c1, mut c2] =
        [(); 2].map(|()| SingleLock::new(world.clone(), NodeName::new("a"), config.clone()));
    let late = granted(&world, &mut c1);
    world.sleep(TTL);
    let grant = granted(&world, &mut c2);
    assert_eq!(world.run(c1.release(&late)), Released::NotOwner);
    assert!(owner(&world).is_some());
    assert_eq!(world.run(c2.release(&grant)), Released::Released);
    assert_eq!(owner(&world), None);
}
