//! tokio's timers in somebody's own lock run on simulated time, and so do the response timeouts of redis-rs: what comes
//! of a late answer is what comes of it on a real socket.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use doublehold::check::{
    Checked, Client, Event, Existing, Fault, Guard, LockKind, Mark, MultiplexedConnection, Predicate, Seed,
    SimEnv, Wanted, Way, When, World, check,
};
use doublehold_history::EventKind;
use doublehold_lockimpl::{CONNECT_LIMIT, RESPONSE_LIMIT};
use doublehold_scenarios::{Engine, OwnLocks, Prepared, builtin_locks};
use redis::{ErrorKind, RedisResult};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep, timeout};

struct Held {
    redis: MultiplexedConnection,
    key: String,
    token: String,
}

impl Guard for Held {
    fn token(&self) -> Vec<u8> {
        self.token.clone().into()
    }

    async fn release(mut self) -> RedisResult<bool> {
        redis::cmd("DEL").arg(&self.key).query_async(&mut self.redis).await
    }
}

async fn take(mut redis: MultiplexedConnection, client: Client, wanted: Wanted) -> RedisResult<Option<Held>> {
    let (key, token) = (wanted.resource, client.token());
    let mut set = redis::cmd("SET");
    set.arg(&key).arg(&token).arg("NX").arg("PX").arg(wanted.ttl.as_millis() as u64);
    let set: Option<String> = set.query_async(&mut redis).await?;
    Ok(set.map(|_| Held { redis, key, token }))
}

fn world(clients: usize) -> World {
    let program = ["acquire", "work 1s", "release"];
    World::new("timers").nodes(["A"]).clients(clients, program).ttl(Duration::from_secs(10))
}

fn checked(world: &World, lock: impl LockKind<SimEnv>) -> Checked {
    check(world, lock).seeds(1..=40).no_files().run().expect("it can be run")
}

/// A place for what a lock found out. It is one for all runs, and no run reads it.
fn notes() -> &'static Mutex<Vec<String>> {
    Box::leak(Box::default())
}

fn note(notes: &Mutex<Vec<String>>, what: String) {
    let mut notes = notes.lock().expect("nobody panics");
    if !notes.contains(&what) {
        notes.push(what);
    }
}

#[test]
fn a_sleep_takes_true_time_to_the_next_millisecond_and_tokios_clock_shows_it() {
    let read = notes();
    let lock = Existing::on_one_node("sleeps", move |redis, client, wanted| async move {
        let began = Instant::now();
        sleep(Duration::from_millis(2_500)).await;
        note(read, format!("{}", began.elapsed().as_millis()));
        take(redis, client, wanted).await
    });
    let engine = OwnLocks(builtin_locks().with(lock));
    let scenario = world(1).scenario("sleeps", engine.locks()).expect("the world makes sense");
    let times = || {
        let report = engine.run(&scenario, Seed(1));
        let at = |is: fn(&EventKind) -> bool| {
            let event = report.history.events().iter().find(|event| is(&event.what));
            event.map(|event| event.at.0).expect("it happened")
        };
        let asked = at(|what| matches!(what, EventKind::AcquireStarted { .. }));
        (asked, at(|what| matches!(what, EventKind::Granted { .. })), report.trace_hash)
    };
    let (asked, granted, hash) = times();
    let took = Duration::from_nanos(granted - asked);
    assert!(took >= Duration::from_millis(2_500) && took < Duration::from_millis(2_600), "{took:?}");
    assert_eq!(times(), (asked, granted, hash), "each time the same run");
    assert!(matches!(&read.lock().expect("nobody panics")[..], [one] if one == "2500" || one == "2501"));
}

#[test]
fn a_lock_on_tokios_timers_is_checked_as_any_other() {
    let lock = Existing::on_one_node("retries", async |redis, client: Client, wanted: Wanted| {
        for _ in 0..20 {
            let asked = take(redis.clone(), client.clone(), wanted.clone());
            let held = timeout(Duration::from_secs(1), asked).await.unwrap_or(Ok(None))?;
            if held.is_some() {
                return Ok(held);
            }
            sleep(Duration::from_millis(200)).await;
        }
        Ok(None)
    });
    let checked = checked(&world(3), lock);
    checked.assert_holds(&[Predicate::P1, Predicate::WR]);
    assert_eq!(checked.tally.grants, 3 * 40, "whoever sleeps long enough is granted the lock: {checked}");
}

#[test]
fn a_reply_that_is_there_when_a_process_goes_on_beats_a_timeout_that_has_passed() {
    let found = notes();
    let ask = move |mut redis: MultiplexedConnection, client, wanted| async move {
        let (ping, began) = (redis::cmd("PING"), Instant::now());
        let answer = timeout(Duration::from_millis(500), ping.query_async::<String>(&mut redis)).await;
        note(found, format!("{answer:?}, late {}", began.elapsed() > Duration::from_millis(500)));
        take(redis, client, wanted).await
    };
    // Wherever it strikes: before the request, on its way, or on the way of its reply.
    for millis in 0..8 {
        let at = When::event("c1", Mark::Acquire).delay_by(Duration::from_millis(millis));
        let world = world(1).fault(Fault::pause("c1").at(at).lasting(Duration::from_secs(2)));
        let lock = Existing::on_one_node("paused", ask);
        let checked = check(&world, lock).seeds(1..=10).no_files().run().expect("it can be run");
        assert_eq!(checked.tally.grants, 10, "{checked}");
    }
    let mut found = found.lock().expect("nobody panics").clone();
    found.sort();
    assert_eq!(found, ["Ok(Ok(\"PONG\")), late false", "Ok(Ok(\"PONG\")), late true"]);
}

#[test]
fn a_task_that_is_spawned_on_tokio_is_told_where_to_spawn_it() {
    let lock = Existing::on_one_node("spawns", async |redis, client, wanted| {
        tokio::spawn(async {});
        take(redis, client, wanted).await
    });
    let said = checked(&world(1), lock).to_string();
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("it starts a task with `tokio::spawn`, which belongs to no simulated process"),
        "{said}"
    );
    assert!(words.contains("start it with `Client::spawn`"), "{said}");
}

/// Which run is the first to need a timer depends on the order of runs, and on threads.
#[test]
fn a_run_that_needs_no_timer_is_the_same_before_and_after_one_that_does() {
    let lock = || {
        Existing::on_one_node("sometimes", async |redis, client: Client, wanted| {
            let mut chance = [0];
            client.random(&mut chance);
            if chance[0] < 8 {
                sleep(Duration::from_millis(40)).await;
            }
            take(redis, client, wanted).await
        })
    };
    let world = world(3).rounds(2).weather("cloud");
    let hashes = |seeds: &[u64]| {
        let engine = OwnLocks(builtin_locks().with(lock()));
        let scenario = world.scenario("sometimes", engine.locks()).expect("the world makes sense");
        let prepared = engine.prepare(&scenario).expect("it can be run");
        let run = |seed: &u64| (*seed, prepared.judge(*seed).trace_hash);
        seeds.iter().map(run).collect::<BTreeMap<_, _>>()
    };
    let seeds: Vec<u64> = (1..=60).collect();
    let reversed: Vec<u64> = (1..=60).rev().collect();
    assert_eq!(hashes(&seeds), hashes(&reversed));
}

/// The kind of a response timeout, and what the next command on the same connection comes to; none if the answer was in
/// time.
async fn late_then_in_time(
    mut redis: MultiplexedConnection,
    until_it_answers: impl Future<Output = ()>,
) -> Option<String> {
    redis.set_response_timeout(Duration::from_millis(300));
    let late = redis::cmd("PING").query_async::<String>(&mut redis).await.err()?;
    until_it_answers.await;
    let next = redis::cmd("ECHO").arg("next").query_async::<String>(&mut redis).await;
    let (is_io, is_timeout) = (late.kind() == ErrorKind::Io, late.is_timeout());
    Some(format!("io {is_io}, timeout {is_timeout}, dropped {}, then {next:?}", late.is_connection_dropped()))
}

/// A server that holds back its first answer until it is told, over a real socket.
async fn on_a_socket() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("it has one");
    let (tell, told) = tokio::sync::oneshot::channel::<()>();
    let server = tokio::task::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("the client comes");
        let (mut told, mut bytes) = (Some(told), [0; 1024]);
        while let Ok(read @ 1..) = stream.read(&mut bytes).await {
            // redis-rs may begin with a CLIENT SETINFO or two.
            let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
            let mut answers = "+OK\r\n".repeat(text.matches("SETINFO").count());
            if text.contains("PING") {
                told.take().expect("it is asked once").await.expect("the client says when");
                answers += "+PONG\r\n";
            }
            answers += if text.contains("ECHO") { "$4\r\nnext\r\n" } else { "" };
            stream.write_all(answers.as_bytes()).await.expect("the client reads");
        }
    });
    let client = redis::Client::open(format!("redis://{address}")).expect("an address");
    let redis = client.get_multiplexed_async_connection().await.expect("it is there");
    let outcome = late_then_in_time(redis, async { tell.send(()).expect("the server waits") }).await;
    server.abort();
    outcome.expect("the server answers once it is told")
}

#[test]
fn a_response_timeout_of_redis_rs_comes_to_what_it_does_on_a_socket() {
    let found = notes();
    let lock = Existing::on_one_node(
        "late",
        move |redis: MultiplexedConnection, client: Client, wanted| async move {
            let machine = client.clone();
            let later = async move { machine.sleep(Duration::from_secs(5)).await };
            // In a world without faults the answer is in time.
            if let Some(late) = late_then_in_time(redis.clone(), later).await {
                note(found, late);
            }
            take(redis, client, wanted).await
        },
    );
    let pause = Fault::pause("A").at(When::event("c1", Mark::Acquire)).lasting(Duration::from_secs(3));
    let checked = checked(&world(1).fault(pause), lock);
    assert_eq!(checked.tally.grants, 40, "the connection is as good as before: {checked}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let real = runtime.block_on(on_a_socket());
    assert_eq!(*found.lock().expect("nobody panics"), std::slice::from_ref(&real));
    assert_eq!(real, "io true, timeout true, dropped false, then Ok(\"next\")");
}

/// Nobody sets a limit here, and redis-rs has its own.
#[test]
fn a_reply_and_a_connection_are_given_up_after_the_limits_that_redis_rs_has_by_itself() {
    let way = || Fault::cut(Way::between("c1", "A")).lasting(Duration::from_secs(5));
    let executed = When::from(Event::executed("SET"));
    for (fault, limit) in [(way().at(executed), RESPONSE_LIMIT), (way(), CONNECT_LIMIT)] {
        let took: &Mutex<Vec<Option<Duration>>> = Box::leak(Box::default());
        let lock = Existing::on_nodes("waits", move |client: Client, wanted: Wanted| async move {
            let asked = Instant::now();
            let opened = client.connect(&client.nodes()[0]).await;
            let answer = match opened {
                Ok(redis) => take(redis, client, wanted).await,
                Err(error) => Err(error),
            };
            took.lock().expect("nobody panics").push(answer.is_err().then(|| asked.elapsed()));
            answer
        });
        check(&world(1).fault(fault), lock).seeds(1..=5).no_files().run().expect("it can be run");
        let took = took.lock().expect("nobody panics");
        // A later attempt in the same cut waits for a connection.
        let first = took.iter().copied().flatten().min().expect("something was given up");
        assert!(first >= limit && first < limit + Duration::from_millis(20), "{first:?}, not {limit:?}");
    }
}

/// Tests of services often run in a runtime of their own, which a world's timers must not meet.
#[tokio::test]
async fn a_check_in_somebody_elses_runtime_comes_to_the_same() {
    let told = || {
        let lock = Existing::on_one_node("mine", take);
        let checked = check(&world(2).weather("cloud"), lock).seeds(1..=20).no_files().run();
        let text = checked.expect("it can be run").to_string();
        // How to see it again names the test, which a thread of another name is not.
        text.lines().filter(|line| !line.starts_with("replay: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    let outside = std::thread::spawn(told).join().expect("it does not panic");
    assert_eq!(told(), outside);
}
