//! Clients that wait for a key, across a node's connections: who is woken, who never, and what becomes of an element
//! when somebody dies.

use std::time::Duration;

use doublehold_sim_redis::Persistence;
use tokio::time::Instant;

use crate::replication::replica_of;
use crate::world::{Client, Host, World, pass, soon};

async fn clients<const N: usize>(host: &Host) -> [Client; N] {
    let mut clients = Vec::new();
    for _ in 0..N {
        clients.push(host.client().await);
    }
    clients.try_into().unwrap_or_else(|_| panic!("there are {N}"))
}

/// One after the other, so that who came first is known.
async fn wait_in_turn(clients: &mut [Client], line: &str) {
    for client in clients {
        client.send(line).await;
        pass(1).await;
    }
}

#[tokio::test(start_paused = true)]
async fn each_element_wakes_one_client_in_the_order_in_which_they_came() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    let mut waiting: [Client; 3] = clients(&host).await;
    let mut pusher = host.client().await;
    wait_in_turn(&mut waiting, "BLPOP q 0").await;
    for (turn, element) in ["x", "y", "z"].iter().enumerate() {
        assert_eq!(pusher.ask(&format!("RPUSH q {element}")).await, "1");
        assert_eq!(soon(waiting[turn].reply()).await, format!("[q {element}]"));
        for later in &mut waiting[turn + 1..] {
            assert!(later.is_silent_for(50).await, "one element served two");
        }
    }
    assert_eq!(pusher.ask("EXISTS q").await, "0");
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_at_its_limit_and_what_comes_later_stays() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    let [mut waiting, mut pusher]: [Client; 2] = clients(&host).await;
    let began = Instant::now();
    assert_eq!(waiting.ask("BLPOP q 0.25").await, "nil");
    assert_eq!(began.elapsed().as_millis(), 251, "past the last millisecond of it");
    assert_eq!(pusher.ask("RPUSH q x").await, "1");
    assert_eq!(pusher.ask("LLEN q").await, "1");
    assert_eq!(waiting.ask("BLPOP q 1").await, "[q x]");
}

#[tokio::test(start_paused = true)]
async fn a_wall_clock_that_is_stepped_forward_ends_a_wait_early() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    let mut waiting = host.client().await;
    let began = Instant::now();
    waiting.send("BLPOP q 3600").await;
    pass(10).await;
    host.step_wall(3_600_000);
    assert_eq!(waiting.reply().await, "nil");
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn who_has_gone_is_passed_over_and_who_is_cut_off_loses_the_element() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    let [mut gone, mut second, mut pusher]: [Client; 3] = clients(&host).await;
    wait_in_turn(std::slice::from_mut(&mut gone), "BLPOP q 0").await;
    wait_in_turn(std::slice::from_mut(&mut second), "BLPOP q 0").await;
    drop(gone);
    pass(10).await;
    assert_eq!(pusher.ask("RPUSH q x").await, "1");
    assert_eq!(soon(second.reply()).await, "[q x]");
    // Now the node gives, and the client is gone before it hears of it: nobody else gets that element.
    wait_in_turn(std::slice::from_mut(&mut second), "BLPOP q 0").await;
    pusher.send("RPUSH q lost").await;
    drop(second);
    assert_eq!(pusher.reply().await, "1");
    assert_eq!(pusher.ask("EXISTS q").await, "0");
}

#[tokio::test(start_paused = true)]
async fn requests_behind_a_wait_are_answered_behind_it() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    let [mut waiting, mut pusher]: [Client; 2] = clients(&host).await;
    waiting.send("PING\r\nBLPOP q 0\r\nECHO behind\r\nBLPOP q 0\r\nECHO last").await;
    assert_eq!(waiting.reply().await, "PONG");
    pass(10).await;
    pusher.ask("RPUSH q x").await;
    assert_eq!(waiting.reply().await, "[q x]");
    assert_eq!(waiting.reply().await, "behind");
    pusher.ask("RPUSH q y").await;
    assert_eq!(waiting.reply().await, "[q y]");
    assert_eq!(waiting.reply().await, "last");
}

#[tokio::test(start_paused = true)]
async fn who_is_killed_or_unblocked_takes_nothing() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    let [mut killed, mut freed, mut third, mut other]: [Client; 4] = clients(&host).await;
    let ids = [killed.ask("CLIENT ID").await, freed.ask("CLIENT ID").await];
    for client in [&mut killed, &mut freed, &mut third] {
        wait_in_turn(std::slice::from_mut(client), "BLPOP q 0").await;
    }
    assert_eq!(other.ask(&format!("CLIENT KILL ID {}", ids[0])).await, "1");
    assert_eq!(killed.reply().await, "closed");
    assert_eq!(other.ask(&format!("CLIENT UNBLOCK {} ERROR", ids[1])).await, "1");
    assert_eq!(soon(freed.reply()).await, "UNBLOCKED client unblocked via CLIENT UNBLOCK");
    assert_eq!(other.ask("RPUSH q x").await, "1");
    assert_eq!(soon(third.reply()).await, "[q x]");
    assert_eq!(freed.ask("PING").await, "PONG");
}

#[tokio::test(start_paused = true)]
async fn one_who_wants_no_replies_takes_its_turn_and_goes_on() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    let [mut silent, mut pusher]: [Client; 2] = clients(&host).await;
    silent.send("CLIENT REPLY OFF\r\nBLPOP q 0\r\nSET after 1\r\nCLIENT REPLY ON").await;
    pass(10).await;
    assert_eq!(pusher.ask("EXISTS after").await, "0");
    assert_eq!(pusher.ask("RPUSH q x").await, "1");
    assert_eq!(soon(silent.reply()).await, "OK");
    assert_eq!(pusher.ask("MGET after").await, "[1]");
    assert_eq!(pusher.ask("EXISTS q").await, "0");
}

#[tokio::test(start_paused = true)]
async fn a_demoted_master_ends_waits_with_an_error_and_its_new_master_serves_nobody_there() {
    let world = World::new();
    let (old, new) = (world.host("a"), world.host("b"));
    old.boot(Persistence::None);
    new.boot(Persistence::None);
    let [mut waiting, mut operator]: [Client; 2] = clients(&old).await;
    waiting.send("BLPOP q 0").await;
    pass(10).await;
    assert_eq!(operator.ask("REPLICAOF b 7098").await, "OK");
    assert!(soon(waiting.reply()).await.starts_with("UNBLOCKED force unblock from blocking operation"));
    assert_eq!(waiting.reply().await, "closed");
    assert_eq!(new.client().await.ask("RPUSH q x").await, "1");
    pass(2_000).await;
    assert_eq!(operator.ask("LLEN q").await, "1");
    assert!(operator.ask("BLPOP q 0").await.starts_with("READONLY"));
}

#[tokio::test(start_paused = true)]
async fn what_was_taken_is_taken_on_replicas_and_after_a_restart() {
    let world = World::new();
    let (master, replica) = (world.host("m"), world.host("r"));
    master.boot(Persistence::AofAlways);
    replica.boot_with(replica_of("m"));
    pass(2_000).await;
    let [mut waiting, mut pusher]: [Client; 2] = clients(&master).await;
    waiting.send("BLMOVE q r LEFT LEFT 0").await;
    pass(10).await;
    assert_eq!(pusher.ask("RPUSH q x y").await, "2");
    assert_eq!(soon(waiting.reply()).await, "x");
    pass(2_000).await;
    let mut reader = replica.client().await;
    assert_eq!(reader.ask("LRANGE q 0 -1").await, "[y]");
    assert_eq!(reader.ask("LRANGE r 0 -1").await, "[x]");
    master.lose_power();
    master.boot(Persistence::AofAlways);
    let mut reader = master.client().await;
    assert_eq!(reader.ask("LRANGE q 0 -1").await, "[y]");
    assert_eq!(reader.ask("LRANGE r 0 -1").await, "[x]");
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_was_waited_for_leaves_after_the_fsync_of_what_it_took() {
    let host = World::new().host("a");
    host.boot(Persistence::AofAlways);
    let [mut waiting, mut pusher]: [Client; 2] = clients(&host).await;
    waiting.send("BLPOP q 0").await;
    pass(10).await;
    host.set_fsync_time(Duration::from_millis(100));
    let began = Instant::now();
    pusher.send("RPUSH q x").await;
    assert_eq!(waiting.reply().await, "[q x]");
    assert!(began.elapsed() >= Duration::from_millis(100), "{:?}", began.elapsed());
    host.lose_power();
    host.boot(Persistence::AofAlways);
    assert_eq!(host.client().await.ask("EXISTS q").await, "0");
}

#[tokio::test(start_paused = true)]
async fn a_node_that_crashes_forgets_who_waited_and_keeps_what_nobody_took() {
    let host = World::new().host("a");
    host.boot(Persistence::AofAlways);
    let [mut waiting, mut pusher]: [Client; 2] = clients(&host).await;
    waiting.send("BLPOP q 0").await;
    pass(10).await;
    host.crash();
    assert_eq!(waiting.reply().await, "closed");
    drop(pusher);
    host.boot(Persistence::AofAlways);
    pusher = host.client().await;
    assert_eq!(pusher.ask("RPUSH q x").await, "1");
    assert_eq!(pusher.ask("LLEN q").await, "1");
}
