//! CLIENT PAUSE on connections: who waits is answered in the order in which it came, and replicas stand still.

use doublehold_sim_redis::Persistence;

use crate::replication::group;
use crate::world::{World, info, pass};

#[tokio::test(start_paused = true)]
async fn who_waits_goes_on_at_the_end_or_when_the_pause_is_lifted() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    let (mut admin, mut first, mut second) = (host.client().await, host.client().await, host.client().await);
    assert_eq!(admin.ask("CLIENT PAUSE 1000 WRITE").await, "OK");
    first.send("INCR k").await;
    assert!(first.is_silent_for(100).await);
    second.send("INCR k").await;
    assert!(second.is_silent_for(880).await);
    assert_eq!(info(&mut admin, "blocked_clients").await, "2");
    pass(120).await;
    assert_eq!((first.reply().await, second.reply().await), ("1".to_owned(), "2".to_owned()));
    assert_eq!(admin.ask("CLIENT PAUSE 3600000 WRITE").await, "OK");
    first.send("INCR k").await;
    assert!(first.is_silent_for(100).await);
    assert_eq!(admin.ask("CLIENT UNPAUSE").await, "OK");
    assert_eq!(first.reply().await, "3");
}

#[tokio::test(start_paused = true)]
async fn a_jump_of_the_wall_clock_ends_a_pause() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    let (mut admin, mut client) = (host.client().await, host.client().await);
    assert_eq!(admin.ask("CLIENT PAUSE 3600000 WRITE").await, "OK");
    client.send("INCR k").await;
    assert!(client.is_silent_for(1_000).await);
    host.step_wall(3_700_000);
    pass(200).await;
    assert_eq!(client.reply().await, "1");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_while_it_waits_is_gone() {
    let host = World::new().host("a");
    host.boot(Persistence::None);
    let (mut admin, mut client) = (host.client().await, host.client().await);
    assert_eq!(admin.ask("CLIENT PAUSE 3600000 WRITE").await, "OK");
    client.send("INCR k").await;
    assert!(client.is_silent_for(100).await);
    drop(client);
    pass(10).await;
    assert_eq!(info(&mut admin, "blocked_clients").await, "0");
    assert_eq!(admin.ask("CLIENT UNPAUSE").await, "OK");
    assert_eq!(admin.ask("GET k").await, "nil");
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_is_paused_stands_still_and_catches_up() {
    let (_world, master, replicas) = group(&["a"]).await;
    let (mut client, mut there) = (master.client().await, replicas[0].client().await);
    client.ask("SET k 1").await;
    pass(10).await;
    assert_eq!(there.ask("CLIENT PAUSE 5000 WRITE").await, "OK");
    let offset = info(&mut there, "slave_repl_offset").await;
    client.ask("SET k 2").await;
    pass(1_000).await;
    assert_eq!(there.ask("GET k").await, "1");
    assert_eq!(info(&mut there, "slave_repl_offset").await, offset);
    assert_eq!(there.ask("CLIENT UNPAUSE").await, "OK");
    pass(10).await;
    assert_eq!(there.ask("GET k").await, "2");
    assert_eq!(info(&mut there, "slave_repl_offset").await, info(&mut client, "master_repl_offset").await);
}
