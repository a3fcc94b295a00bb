//! A connection on which a node pushes: what arrives on it, and what is lost with it.

use std::time::Duration;

use redis::{PushInfo, PushKind, Value};

use super::fake::{World, ms};
use crate::connection::subscription::Subscription;
use crate::env::{DeadlinePassed, Env, MonotonicTime, NodeName, Push, Pushes};

fn world() -> World {
    World::with_nodes(&["a"])
}

async fn subscribed(world: &World) -> Subscription<World> {
    let mut listening = Subscription::open(world, &NodeName::new("a"), None).await.expect("the node is up");
    listening.subscribe(world, "news", None).await.expect("the node answers");
    listening
}

async fn publish(world: &World, message: &str) {
    let mut connection = world.connect(&NodeName::new("a")).await.expect("the node is up");
    let published = redis::cmd("PUBLISH").arg("news").arg(message).to_owned();
    published.query_async::<i64>(&mut connection).await.expect("the node answers");
}

fn message(text: &str) -> Push {
    Push::Message { channel: b"news".to_vec(), payload: text.into() }
}

fn after(world: &World, wait: Duration) -> Option<MonotonicTime> {
    Some(MonotonicTime(super::fake::nanos(world.now() + wait)))
}

#[test]
fn what_is_published_before_a_subscription_stands_is_not_heard_and_what_is_later_is() {
    let world = world();
    world.run(async {
        publish(&world, "too early").await;
        let mut listening = subscribed(&world).await;
        publish(&world, "one").await;
        publish(&world, "two").await;
        assert_eq!(listening.next(&world, None).await, Ok(message("one")));
        assert_eq!(listening.next(&world, None).await, Ok(message("two")));
    });
}

#[test]
fn nothing_is_heard_once_the_connection_has_ended_and_a_new_one_knows_nothing_of_it() {
    let world = world();
    world.run(async {
        let mut listening = subscribed(&world).await;
        world.node("a", super::node::Node::hang_up);
        publish(&world, "lost").await;
        assert_eq!(listening.next(&world, None).await, Ok(Push::Ended));
        assert_eq!(listening.next(&world, None).await, Ok(Push::Ended));
        let mut listening = subscribed(&world).await;
        publish(&world, "heard").await;
        assert_eq!(listening.next(&world, None).await, Ok(message("heard")));
    });
}

#[test]
fn whoever_waits_for_a_message_gives_up_at_the_deadline() {
    let world = world();
    world.run(async {
        let mut listening = subscribed(&world).await;
        let deadline = after(&world, ms(500));
        assert_eq!(listening.next(&world, deadline).await, Err(DeadlinePassed));
        assert_eq!(deadline, after(&world, ms(0)));
    });
}

#[test]
fn a_message_that_waits_unread_after_a_pause_wins_over_a_deadline_that_has_passed() {
    let world = world();
    let mut listening = world.run(subscribed(&world));
    world.run(publish(&world, "while it slept"));
    let deadline = after(&world, ms(1));
    world.sleep(ms(5_000));
    assert_eq!(world.run(listening.next(&world, deadline)), Ok(message("while it slept")));
}

#[test]
fn a_push_says_which_keys_changed_or_that_all_are_gone_and_a_confirmation_says_nothing() {
    let bulk = |text: &str| Value::BulkString(text.into());
    let (sender, mut pushes) = Pushes::channel();
    let say = |kind, data| sender.send(PushInfo { kind, data }).expect("somebody reads");
    say(PushKind::Subscribe, vec![bulk("news"), Value::Int(1)]);
    say(PushKind::Invalidate, vec![Value::Array(vec![bulk("stock"), bulk("orders")])]);
    say(PushKind::Invalidate, vec![Value::Nil]);
    say(PushKind::PMessage, vec![bulk("n*"), bulk("news"), bulk("hello")]);
    say(PushKind::Disconnection, Vec::new());
    let said: Vec<Push> = std::iter::from_fn(|| pushes.try_next()).collect();
    let changed = Push::Changed(vec![b"stock".to_vec(), b"orders".to_vec()]);
    assert_eq!(said, [changed, Push::Flushed, message("hello"), Push::Ended]);
}
