//! Leases that are renewed beside their holder.

use std::time::Duration;

use super::fake::{World, ms, nanos};
use crate::{
    Acquired, BoxLock, Env, Extended, Grant, Lock, NodeName, Ratio, Registry, Released, Switches, descriptors,
};

const TTL: Duration = ms(10_000);

fn world() -> World {
    World::with_nodes(&["a"])
}

/// A lock on one node that is renewed every 3 s, and these switches.
fn lock(world: &World, chosen: Switches) -> BoxLock {
    let chosen = Switches::new().with("renew_every", ms(3_000)).overlaid(&chosen);
    let nodes = vec![NodeName::new("a")];
    Registry::builtin().build("single", world.clone(), nodes, &chosen).expect("it can be built")
}

fn checked() -> Switches {
    Switches::new().with("elapsed_check", true)
}

fn granted(world: &World, lock: &mut BoxLock) -> Grant {
    match world.run(lock.acquire("stock", TTL)) {
        Acquired::Granted(grant) => grant,
        other => panic!("not granted: {other:?}"),
    }
}

/// Lets time pass, and tasks run.
fn pass(world: &World, time: Duration) {
    world.run(async {
        let now = world.monotonic().await;
        world.sleep_until(now.saturating_add(time)).await;
    });
}

fn is_held(world: &World) -> bool {
    let now = nanos(world.now());
    world.node("a", |node| node.keys.get("stock").is_some_and(|key| key.expires_at > now))
}

#[test]
fn a_lease_is_renewed_until_it_is_given_back_whoever_drops_what() {
    let world = world();
    let mut lock = lock(&world, checked());
    let grant = granted(&world, &mut lock);
    let first = grant.deadline;
    drop(grant.watch.clone());
    pass(&world, ms(60_000));
    assert!(is_held(&world));
    assert!(grant.deadline == first && grant.current_deadline() != first);
    assert_eq!(world.run(lock.release(&grant)), Released::Released);
    pass(&world, ms(60_000));
    assert!(!is_held(&world));
}

#[test]
fn a_renewal_that_is_answered_after_the_release_extends_nothing() {
    let world = world();
    let mut lock = lock(&world, checked().with("request_timeout", "none").with("stop_on_release", "before"));
    let grant = granted(&world, &mut lock);
    world.node("a", |node| node.reply_delay = ms(2_000));
    pass(&world, ms(3_500));
    let before = grant.current_deadline();
    assert_eq!(before, grant.deadline, "the renewal is not answered yet");
    assert_eq!(world.run(lock.release(&grant)), Released::Released);
    pass(&world, ms(30_000));
    assert_eq!(grant.current_deadline(), before);
    assert!(!grant.watch.expect("it is renewed").is_notified());
}

#[test]
fn a_holder_extends_from_the_deadline_that_renewals_have_moved() {
    let world = world();
    let mut lock = lock(&world, checked());
    let mut grant = granted(&world, &mut lock);
    pass(&world, ms(15_000));
    let extended = world.run(lock.extend(&mut grant, TTL));
    assert!(matches!(extended, Extended::Extended { .. }), "{extended:?}");
    assert_eq!(grant.current_deadline(), grant.deadline);
}

#[test]
fn a_holder_is_told_when_its_lease_must_have_ended_and_no_reply_has_come() {
    let world = world();
    let mut lock = lock(&world, Switches::new().with("told_on_loss", "lease-end"));
    let began = world.now();
    let grant = granted(&world, &mut lock);
    let watch = grant.watch.expect("it is renewed");
    world.node("a", |node| node.reply_delay = ms(60_000));
    world.run(watch.wait_for_loss());
    assert_eq!(world.now(), began + TTL);
}

#[test]
fn the_first_interval_begins_with_the_reply_where_replies_count() {
    for (from, after) in [("send", 3), ("reply", 4)] {
        let world = world();
        world.node("a", |node| node.reply_delay = ms(1_000));
        let mut lock = lock(&world, Switches::new().with("request_timeout", "none").with("renew_from", from));
        granted(&world, &mut lock);
        pass(&world, ms(5_000));
        let first = world.node("a", |node| {
            let mut renewals = node.log.iter().filter(|(_, command)| command.starts_with("EVALSHA"));
            renewals.next().expect("it is renewed").0
        });
        assert_eq!(first.as_secs(), after, "{from}");
    }
}

#[test]
fn a_lock_that_waits_for_a_quorum_is_renewed_over_the_connections_on_which_it_was_won() {
    let names = ["a", "b", "c"];
    let world = World::with_nodes(&names);
    let switches = Switches::new().with("order", "parallel").with("wait_for", "quorum");
    let switches = switches.with("renew_every", ms(3_000));
    let nodes = names.map(NodeName::new).to_vec();
    let lock = Registry::builtin().build("redlock", world.clone(), nodes, &switches);
    let mut lock = lock.expect("it can be built");
    granted(&world, &mut lock);
    for name in names {
        world.node(name, |node| node.refuses_connections = true);
    }
    pass(&world, ms(15_000));
    assert!(is_held(&world));
}

#[test]
fn a_lease_that_is_not_renewed_costs_no_task_and_no_handle() {
    let world = world();
    let mut lock = lock(&world, Switches::new().with("renew_every", "none"));
    let grant = granted(&world, &mut lock);
    assert_eq!(grant.watch, None);
    assert_eq!(world.tasks(), 0);
}

#[test]
fn an_interval_that_a_lease_does_not_last_for_is_refused_and_so_is_one_of_a_key_without_an_end() {
    let unfit = |name: &str, chosen: Switches| {
        let descriptor = descriptors().into_iter().find(|it| it.name == name).expect("it is there");
        descriptor.unfit(&chosen, TTL).map(|unfit| unfit.cause)
    };
    let every = |time| Switches::new().with("renew_every", time);
    assert_eq!(unfit("single", every(ms(9_999))), None);
    assert!(unfit("single", every(TTL)).expect("too long").contains("renew_every"));
    let endless = every(ms(1_000)).with("expiry", "none");
    assert!(unfit("list", endless).expect("no end").contains("no end"));
}

#[test]
fn facts_say_that_a_lease_is_renewed_and_what_that_sends() {
    let third = Ratio { numerator: 1, denominator: 3.try_into().expect("not zero") };
    for descriptor in
        descriptors().iter().filter(|it| it.switch("renew_every").is_some() && it.profile.is_none())
    {
        let (off, on) = (Switches::new(), Switches::new().with("renew_every", third));
        assert!(!descriptor.facts(&off).renews && descriptor.facts(&on).renews, "{}", descriptor.name);
        let sends = descriptor.facts(&on).sends.expect("it is known");
        assert!(sends.to_extend.iter().all(|command| sends.to_hold.contains(command)), "{}", descriptor.name);
    }
}
