//! Links that break, masters that die, roles that change: who goes on with whose history.
//!
//! A replica that goes on keeps its append-only file's past; one that starts over has it replaced by the data set. So
//! each write here sets the same key twice: `old` in the file tells the two apart.

use doublehold_sim_redis::Persistence;

use crate::replication::{group, replica_of};
use crate::world::{Client, Host, info, pass};

async fn write_twice(client: &mut Client, key: &str) {
    assert_eq!(client.ask(&format!("SET {key} old")).await, "OK");
    assert_eq!(client.ask(&format!("SET {key} new")).await, "OK");
}

fn started_over(replica: &Host, key: &str) -> bool {
    !replica.aof().contains(&format!("{key}\r\n$3\r\nold"))
}

#[tokio::test(start_paused = true)]
async fn a_replica_whose_link_broke_goes_on_where_it_stopped() {
    let (_world, master, replicas) = group(&["r"]).await;
    let mut on_master = master.client().await;
    write_twice(&mut on_master, "a").await;
    pass(5_000).await;
    master.set_unreachable(true);
    master.cut_links();
    pass(1_000).await;
    master.set_unreachable(false);
    let mut on_master = master.client().await;
    master.set_unreachable(true);
    write_twice(&mut on_master, "b").await;
    assert_eq!(replicas[0].client().await.ask("GET b").await, "nil");
    assert_eq!(info(&mut replicas[0].client().await, "master_link_status").await, "down");
    master.set_unreachable(false);
    pass(1_100).await;
    assert_eq!(replicas[0].client().await.ask("GET b").await, "new");
    assert!(!started_over(&replicas[0], "a"), "{}", replicas[0].aof());
    assert!(!started_over(&replicas[0], "b"), "{}", replicas[0].aof());
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_missed_more_than_the_backlog_starts_over() {
    let (_world, master, replicas) = group(&["r"]).await;
    let mut on_master = master.client().await;
    write_twice(&mut on_master, "a").await;
    pass(5_000).await;
    master.set_unreachable(true);
    master.cut_links();
    pass(1).await;
    master.set_unreachable(false);
    let mut on_master = master.client().await;
    master.set_unreachable(true);
    for _ in 0..11 {
        on_master.ask(&format!("SET big {}", "x".repeat(100_000))).await;
    }
    master.set_unreachable(false);
    pass(1_100).await;
    assert_eq!(replicas[0].client().await.ask("GET a").await, "new");
    assert!(started_over(&replicas[0], "a"));
}

#[tokio::test(start_paused = true)]
async fn a_restarted_replica_starts_over() {
    let (_world, master, replicas) = group(&["r"]).await;
    let mut on_master = master.client().await;
    write_twice(&mut on_master, "a").await;
    pass(1).await;
    replicas[0].crash();
    replicas[0].boot_with(replica_of("m"));
    pass(1).await;
    assert_eq!(replicas[0].client().await.ask("GET a").await, "new");
    assert!(started_over(&replicas[0], "a"));
}

#[tokio::test(start_paused = true)]
async fn a_promoted_replica_takes_writes_and_its_own_clock_rules() {
    let (_world, master, replicas) = group(&["r"]).await;
    let replica = &replicas[0];
    replica.step_wall(4_000);
    let mut on_master = master.client().await;
    on_master.ask("SET k v PX 10000").await;
    pass(1).await;
    master.crash();
    let mut client = replica.client().await;
    assert_eq!(client.ask("REPLICAOF NO ONE").await, "OK");
    assert_eq!(client.ask("SET other v").await, "OK");
    pass(6_200).await;
    assert_eq!(client.ask("DBSIZE").await, "1", "expired 4 s early, by the new master's clock, and deleted");
}

#[tokio::test(start_paused = true)]
async fn a_sister_follows_the_promoted_replica_without_starting_over() {
    let (_world, master, replicas) = group(&["r", "s"]).await;
    let mut on_master = master.client().await;
    on_master.ask("SELECT 1").await;
    write_twice(&mut on_master, "a").await;
    pass(5_000).await;
    let old_id = info(&mut on_master, "master_replid").await;
    master.crash();
    let mut promoted = replicas[0].client().await;
    promoted.ask("REPLICAOF NO ONE").await;
    assert_eq!(info(&mut promoted, "master_replid2").await, old_id);
    assert_ne!(info(&mut promoted, "master_replid").await, old_id);
    write_twice(&mut promoted, "b").await;
    let mut sister = replicas[1].client().await;
    assert_eq!(sister.ask("REPLICAOF r 1").await, "OK");
    pass(10).await;
    assert_eq!(sister.ask("GET b").await, "new", "in database 0, although the old master had selected 1");
    assert!(!started_over(&replicas[1], "a"));
    assert!(!started_over(&replicas[1], "b"));
    assert_eq!(info(&mut sister, "master_replid").await, info(&mut promoted, "master_replid").await);
}

#[tokio::test(start_paused = true)]
async fn a_demoted_master_whose_writes_all_arrived_goes_on() {
    let (_world, master, replicas) = group(&["r"]).await;
    let mut old = master.client().await;
    write_twice(&mut old, "a").await;
    pass(5_000).await;
    let mut new = replicas[0].client().await;
    new.ask("REPLICAOF NO ONE").await;
    let old_id = info(&mut new, "master_replid2").await;
    write_twice(&mut new, "b").await;
    assert_eq!(old.ask("REPLICAOF r 1").await, "OK");
    pass(10).await;
    assert_eq!(old.ask("GET b").await, "new");
    assert_eq!(
        info(&mut old, "master_replid2").await,
        old_id,
        "a full resynchronisation would have cleared it"
    );
}

#[tokio::test(start_paused = true)]
async fn a_demoted_master_loses_the_writes_that_never_arrived() {
    let (_world, master, replicas) = group(&["r"]).await;
    let mut old = master.client().await;
    old.ask("SET shared v").await;
    pass(5_000).await;
    let mut new = replicas[0].client().await;
    new.ask("REPLICAOF NO ONE").await;
    assert_eq!(old.ask("SET lost v").await, "OK");
    assert_eq!(new.ask("SET k v").await, "OK");
    assert_eq!(old.ask("REPLICAOF r 1").await, "OK");
    pass(10).await;
    assert_eq!(old.ask("GET lost").await, "nil");
    assert_eq!(old.ask("GET shared").await, "v");
    assert_eq!(old.ask("GET k").await, "v");
    assert_eq!(old.ask("SET x y").await, "READONLY You can't write against a read only replica.");
}

#[tokio::test(start_paused = true)]
async fn demotion_unblocks_waiting_clients_with_an_error_and_closes_them() {
    let (_world, master, _replicas) = group(&["r"]).await;
    let (mut waiting, mut admin) = (master.client().await, master.client().await);
    waiting.ask("SET k v").await;
    waiting.send("WAIT 5 0").await;
    pass(100).await;
    assert_eq!(admin.ask("REPLICAOF r 1").await, "OK");
    assert_eq!(
        waiting.reply().await,
        "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)"
    );
    assert_eq!(waiting.reply().await, "closed");
}

#[tokio::test(start_paused = true)]
async fn a_replica_keeps_serving_and_keeps_trying_while_its_master_is_away() {
    let (_world, master, replicas) = group(&["r"]).await;
    let mut on_master = master.client().await;
    on_master.ask("SET k v").await;
    pass(1).await;
    master.crash();
    pass(3_600_000).await;
    let mut client = replicas[0].client().await;
    assert_eq!(client.ask("GET k").await, "v");
    assert_eq!(client.ask("ROLE").await, "[slave m 1 connect -1]");
    // It comes back empty, and its replica becomes empty with it.
    master.boot(Persistence::None);
    pass(1_100).await;
    assert_eq!(client.ask("GET k").await, "nil");
}

#[tokio::test(start_paused = true)]
async fn replicas_of_a_promoted_replica_learn_its_new_id_and_go_on() {
    let (world, master, replicas) = group(&["r"]).await;
    let last = world.host("s");
    last.boot_with(replica_of("r"));
    pass(100).await;
    write_twice(&mut master.client().await, "a").await;
    pass(5_000).await;
    let mut promoted = replicas[0].client().await;
    promoted.ask("REPLICAOF NO ONE").await;
    pass(10).await;
    write_twice(&mut promoted, "b").await;
    pass(10).await;
    let mut on_last = last.client().await;
    assert_eq!(on_last.ask("GET b").await, "new");
    assert!(!started_over(&last, "a"));
    assert_eq!(info(&mut on_last, "master_replid").await, info(&mut promoted, "master_replid").await);
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_goes_on_goes_on_in_the_same_database() {
    let (_world, master, replicas) = group(&["r"]).await;
    let mut on_master = master.client().await;
    on_master.ask("SELECT 3").await;
    write_twice(&mut on_master, "a").await;
    pass(5_000).await;
    master.cut_links();
    pass(10).await;
    let mut on_master = master.client().await;
    on_master.ask("SELECT 3").await;
    write_twice(&mut on_master, "b").await;
    pass(1_100).await;
    let mut on_replica = replicas[0].client().await;
    on_replica.ask("SELECT 3").await;
    assert_eq!(on_replica.ask("GET b").await, "new");
    assert!(!started_over(&replicas[0], "a"));
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_starts_over_learns_which_database_the_stream_goes_on_in() {
    let (world, master, _replicas) = group(&["r"]).await;
    let mut on_master = master.client().await;
    on_master.ask("SELECT 5").await;
    on_master.ask("SET last v").await;
    on_master.ask("SELECT 2").await;
    on_master.ask("SET n 1").await;
    let second = world.host("s");
    second.boot_with(replica_of("m"));
    let third = world.host("t");
    third.boot_with(replica_of("r"));
    pass(2_100).await;
    on_master.ask("INCR n").await;
    pass(1).await;
    for replica in [second, third] {
        let mut on_replica = replica.client().await;
        on_replica.ask("SELECT 2").await;
        assert_eq!(on_replica.ask("GET n").await, "2");
    }
}
