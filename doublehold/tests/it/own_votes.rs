//! The nodes that said yes to a grant, of a lock of one's own that does not report whose yes it counted: those whose
//! key holds the token of that grant when it is granted.

use std::time::Duration;

use doublehold::check::{Client, Existing, Guard, World, check};
use redis::RedisResult;

/// A lock on a majority, at which a test looks only until it was taken.
struct Taken(String);

impl Guard for Taken {
    fn token(&self) -> Vec<u8> {
        self.0.clone().into()
    }

    async fn release(self) -> RedisResult<bool> {
        Ok(true)
    }
}

async fn set(client: &Client, key: &str, token: &str, nodes: std::ops::Range<usize>) -> RedisResult<()> {
    for node in &client.nodes()[nodes] {
        let mut redis = client.connect(node).await?;
        let set = redis::cmd("SET").arg(key).arg(token).arg("PX").arg(9_000).to_owned();
        set.exec_async(&mut redis).await?;
    }
    Ok(())
}

async fn delete(client: &Client, key: &str, nodes: std::ops::Range<usize>) -> RedisResult<()> {
    for node in &client.nodes()[nodes] {
        redis::cmd("DEL").arg(key).exec_async(&mut client.connect(node).await?).await?;
    }
    Ok(())
}

/// The line of the story that tells of the grant.
fn told(lock: impl doublehold::check::LockKind<doublehold::check::SimEnv>) -> String {
    let world = World::new("votes").nodes(["A", "B", "C", "D", "E"]);
    let world = world.clients(2, ["acquire", "work 4s", "release"]).with(|it| {
        it.clients[1].start = Some(Duration::from_secs(2).into());
    });
    // It asks nobody whether they have a key, so both hold it: a run is shown in which something is wrong.
    let shown = check(&world.ttl(Duration::from_secs(9)), lock).seeds(1..=1).no_files().run();
    let shown = shown.expect("it can be run").to_string();
    let line = shown.lines().find(|line| line.contains("c1 is granted")).unwrap_or(&shown);
    line.to_owned()
}

#[test]
fn a_key_that_an_attempt_that_failed_left_with_another_token_is_no_vote() {
    let lock = Existing::on_nodes("mine", async |client: Client, wanted: doublehold::check::Wanted| {
        // The first attempt gets a minority, and does not clean up.
        set(&client, &wanted.resource, &client.token(), 0..2).await?;
        let token = client.token();
        set(&client, &wanted.resource, &token, 2..5).await?;
        Ok(Some(Taken(token)))
    });
    let line = told(lock);
    assert!(line.contains("by C, D and E"), "{line}");
}

#[test]
fn a_key_that_was_deleted_before_the_grant_is_no_vote() {
    let lock = Existing::on_nodes("mine", async |client: Client, wanted: doublehold::check::Wanted| {
        let token = client.token();
        set(&client, &wanted.resource, &token, 0..2).await?;
        delete(&client, &wanted.resource, 0..2).await?;
        set(&client, &wanted.resource, &token, 1..4).await?;
        Ok(Some(Taken(token)))
    });
    let line = told(lock);
    assert!(line.contains("by B, C and D"), "{line}");
}

#[test]
fn a_key_that_was_set_with_the_grants_token_after_the_grant_is_no_vote() {
    let lock = Existing::on_nodes("mine", async |client: Client, wanted: doublehold::check::Wanted| {
        let token = client.token();
        set(&client, &wanted.resource, &token, 0..3).await?;
        let (later, key, again) = (client.clone(), wanted.resource.clone(), token.clone());
        drop(client.spawn(async move {
            later.sleep(Duration::from_millis(300)).await;
            let late = set(&later, &key, &again, 3..5).await;
            assert!(late.is_ok());
        }));
        Ok(Some(Taken(token)))
    });
    let line = told(lock);
    assert!(line.contains("by A, B and C"), "{line}");
}
