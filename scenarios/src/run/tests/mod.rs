//! A client that does what a test says, on a node that records: who is named for each change of the lock's key.

mod counters;
mod key_marks;
pub(in crate::run) mod random;
mod scripts;
mod takeovers;

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use doublehold_history::{
    CallId, ClientId, EventKind, Header, History, KeyOp, LockId, NodeId, Verdict, wrong_release,
};
use doublehold_lockimpl::{Env, NodeName, Task};
use doublehold_sim::{Budget, DelayLaw, Host, HostId, HostSpec, LinkSpec, Outcome, Seed, World};
use doublehold_sim_redis::{NodeConfig, Operator, SimMachine};
use redis::Cmd;
use redis::aio::ConnectionLike;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::model::cast::Cast;
use crate::model::scenario::Role;
use crate::report::KeySpan;
use crate::run::Driver;
use crate::run::engine::env::{Connection, REDIS_PORT, SimEnv};
use crate::run::engine::sim_stage::{NodeObserver, SimWitness};
use crate::run::recorder::Recorder;

pub(in crate::run) const CLIENT: ClientId = ClientId(0);
pub(in crate::run) const LOCK: LockId = LockId(0);
const ECHO_PORT: u16 = 7;

/// A client at work: the test's code.
pub(in crate::run) struct Client {
    pub(in crate::run) host: Host,
    pub(in crate::run) env: SimEnv,
    pub(in crate::run) recorder: Recorder,
}

impl Client {
    /// Begins an acquire call, and says what marks its keys.
    pub(in crate::run) fn acquires(&self, mark: &str) -> CallId {
        let grant = self.recorder.begin(CLIENT, LOCK);
        self.env.marks(mark.as_bytes());
        grant
    }

    /// What it was asked for in a call is granted.
    pub(in crate::run) fn granted(&self, grant: CallId) {
        self.granted_of(grant, LOCK);
    }

    /// The same of any lock.
    pub(in crate::run) fn granted_of(&self, grant: CallId, lock: LockId) {
        self.recorder.leave(CLIENT);
        let (token, reading) = (String::new(), self.recorder.reading(CLIENT));
        let (fencing, deadline) = (None, None);
        self.recorder.note(CLIENT, |client| EventKind::Granted {
            client,
            grant,
            lock,
            token,
            fencing,
            deadline,
            reading: Some(reading),
            within: None,
        });
    }

    /// It calls release, or the lock again for a grant that it has.
    pub(in crate::run) fn releases(&self, grant: CallId) {
        self.recorder.note(CLIENT, |client| EventKind::ReleaseCalled { client, grant });
        self.recorder.enter(CLIENT, grant);
    }

    pub(in crate::run) async fn connect(&self) -> Connection {
        self.env.connect(&NodeName::new("A")).await.expect("the node listens")
    }
}

/// Runs a client on a world of one node, through redis-rs. What changed the lock's key, in order.
pub(in crate::run) fn run<F>(work: impl Fn(Client) -> F + Send + Sync + 'static) -> History
where
    F: Future<Output = ()> + Send + 'static,
{
    run_through(Driver::RedisRs, work)
}

pub(in crate::run) fn run_through<F>(
    driver: Driver,
    work: impl Fn(Client) -> F + Send + Sync + 'static,
) -> History
where
    F: Future<Output = ()> + Send + 'static,
{
    recorded(driver, work).0
}

/// The same with the stretches of keys.
pub(in crate::run) fn recorded<F>(
    driver: Driver,
    work: impl Fn(Client) -> F + Send + Sync + 'static,
) -> (History, Vec<KeySpan>)
where
    F: Future<Output = ()> + Send + 'static,
{
    record(driver, Box::new(move |client| Box::pin(work(client))))
}

/// A test's code behind a pointer: the world below is compiled once, and not for each test.
type Work = Box<dyn Fn(Client) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

fn record(driver: Driver, work: Work) -> (History, Vec<KeySpan>) {
    let mut world = World::new(Seed(1), LinkSpec::lossless(DelayLaw::Fixed(Duration::from_millis(1))));
    let mut header = Header::new("calls", 1, &["c1", "c2"], &["stock", "orders"]);
    header.nodes = vec!["A".to_owned(), "B".to_owned()];
    header.keys_watched = true;
    let cast = [("A", Role::Node), ("c1", Role::Client), ("echo", Role::Resource), ("c2", Role::Client)];
    let cast = Arc::new(Cast::new(cast.into_iter().chain([("B", Role::Node)])));
    let witness = Arc::new(SimWitness::new(world.observer(), cast.clone()));
    let recorder = Recorder::new(witness, header, cast.clone());
    let hosts = cast.clone();
    let observed = recorder.clone();
    world.add_host(HostSpec::new("A"), move |host: Host| {
        let machine = SimMachine::new(host.clone(), Arc::default(), DelayLaw::Fixed(Duration::ZERO));
        let mut config = NodeConfig::default();
        config.core.observer = Some(Arc::new(NodeObserver::new(host, NodeId(0), cast.clone(), observed.clone())));
        async move { machine.run(REDIS_PORT, config, Operator::default()).await.expect("it has no file to load") }
    });
    let recorded = recorder.clone();
    world.add_host(HostSpec::new("c1").essential(), move |host: Host| {
        let env = SimEnv::new(host.clone(), CLIENT, hosts.clone(), recorded.clone(), driver);
        work(Client { host, env, recorder: recorded.clone() })
    });
    world.add_host(HostSpec::new("echo"), echo);
    // They do nothing, and have clocks.
    world.add_host(HostSpec::new("c2"), async |_: Host| {});
    world.add_host(HostSpec::new("B"), async |_: Host| {});
    assert_eq!(world.run(Budget::default()).outcome, Outcome::Completed);
    (recorder.close().history, recorder.spans())
}

/// A host that runs no Redis: it sends one connection's bytes back.
async fn echo(host: Host) {
    let mut stream = host.listen(ECHO_PORT).accept().await;
    while let Ok(byte) = stream.read_u8().await {
        stream.write_u8(byte).await.expect("it is connected");
    }
}

/// For each change of the key: who did it to whose.
pub(in crate::run) fn touches(history: &History) -> Vec<(CallId, CallId, KeyOp)> {
    let touch = |what: &EventKind| match *what {
        EventKind::KeyTouched { client: ClientId(0), node: NodeId(0), lock: LockId(0), by, held, op } => {
            Some((by, held, op))
        }
        _ => None,
    };
    history.events().iter().filter_map(|event| touch(&event.what)).collect()
}

pub(in crate::run) fn set(mark: &str) -> Cmd {
    redis::cmd("SET").arg("stock").arg(mark).to_owned()
}

pub(in crate::run) fn del() -> Cmd {
    redis::cmd("DEL").arg("stock").to_owned()
}

pub(in crate::run) async fn send(connection: &mut Connection, words: &[&str]) {
    ask(connection, redis::cmd(words[0]).arg(&words[1..])).await;
}

pub(in crate::run) fn released(by: u64, held: u64) -> (CallId, CallId, KeyOp) {
    (CallId(by), CallId(held), KeyOp::Release)
}

pub(in crate::run) fn extended(by: u64, held: u64) -> (CallId, CallId, KeyOp) {
    (CallId(by), CallId(held), KeyOp::Extend)
}

/// Why nobody can say, each time.
pub(in crate::run) fn doubts(history: &History) -> Vec<&str> {
    let doubts = history.events().iter().filter_map(|event| match &event.what {
        EventKind::Unattributed { why, .. } => Some(why.as_str()),
        _ => None,
    });
    doubts.collect()
}

pub(in crate::run) async fn ask(connection: &mut Connection, cmd: &Cmd) {
    connection.req_packed_command(cmd).await.expect("the node answers");
}

#[test]
fn a_request_that_was_given_up_before_it_was_written_moves_no_other_to_another_call() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        client.acquires("one");
        ask(&mut connection, &set("one")).await;
        {
            // The driver has the request and no time to write it: it is dropped, and never will be.
            let cmd = del();
            let mut request = pin!(connection.req_packed_command(&cmd));
            assert!(request.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        client.acquires("two");
        ask(&mut connection, &del()).await;
    });
    assert_eq!(touches(&history), [(CallId(2), CallId(1), KeyOp::Release)]);
}

#[test]
fn a_command_that_arrives_after_its_client_went_on_is_its_own_calls() {
    let history = run(|client| async move {
        let (mut slow, mut fast) = (client.connect().await, client.connect().await);
        client.acquires("one");
        ask(&mut slow, &set("one")).await;
        let cmd = del();
        let mut late = pin!(slow.req_packed_command(&cmd));
        // Written, on its way, and not answered yet.
        assert!(poll_fn(|cx| Poll::Ready(late.as_mut().poll(cx).is_pending())).await);
        client.host.sleep(Duration::from_micros(1)).await;
        client.acquires("two");
        ask(&mut fast, &redis::cmd("PING")).await;
        client.recorder.leave(CLIENT);
        late.await.expect("the node answers");
    });
    assert_eq!(touches(&history), [(CallId(1), CallId(1), KeyOp::Release)]);
}

#[test]
fn what_the_network_has_no_room_for_is_still_its_own_calls() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        client.acquires("one");
        ask(&mut connection, &set("one")).await;
        {
            let (mut one, mut other) = (connection.clone(), connection.clone());
            let large = redis::cmd("SET").arg("large").arg(vec![b'x'; 300_000]).to_owned();
            let extend = redis::cmd("PEXPIRE").arg("stock").arg(60_000).to_owned();
            let mut large = pin!(one.req_packed_command(&large));
            let mut extend = pin!(other.req_packed_command(&extend));
            let given_up = poll_fn(|cx| {
                Poll::Ready(large.as_mut().poll(cx).is_pending() && extend.as_mut().poll(cx).is_pending())
            });
            assert!(given_up.await);
            // The driver has begun to write the large one, and will finish it; the other it will leave out.
            client.host.sleep(Duration::from_micros(1)).await;
        }
        client.acquires("two");
        ask(&mut connection, &redis::cmd("PING")).await;
        ask(&mut connection, &del()).await;
    });
    assert_eq!(touches(&history), [(CallId(2), CallId(1), KeyOp::Release)]);
}

#[test]
fn requests_of_two_calls_in_one_pipeline_are_each_their_own_calls() {
    let history = run(|client| async move {
        let mut one = client.connect().await;
        let mut two = one.clone();
        client.acquires("one");
        ask(&mut one, &set("one")).await;
        let (extend, release) = (redis::cmd("PEXPIRE").arg("stock").arg(60_000).to_owned(), del());
        let mut first = pin!(one.req_packed_command(&extend));
        client.acquires("two");
        let mut second = pin!(two.req_packed_command(&release));
        client.recorder.leave(CLIENT);
        // Both are queued before the driver runs, and it writes them at once.
        let mut first_reply = Poll::Pending;
        let second_reply = poll_fn(|cx| {
            if first_reply.is_pending() {
                first_reply = first.as_mut().poll(cx);
            }
            second.as_mut().poll(cx)
        });
        assert!(second_reply.await.is_ok() && matches!(first_reply, Poll::Ready(Ok(_))));
    });
    let expected = [(CallId(1), CallId(1), KeyOp::Extend), (CallId(2), CallId(1), KeyOp::Release)];
    assert_eq!(touches(&history), expected);
}

#[test]
fn a_pipeline_belongs_to_its_call_and_so_does_what_a_transaction_executes() {
    for atomic in [false, true] {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            client.acquires("one");
            let mut pipeline = redis::pipe();
            if atomic {
                pipeline.atomic();
            }
            pipeline.add_command(set("one")).add_command(redis::cmd("PING")).add_command(del());
            let replies: redis::RedisResult<(String, String, i64)> =
                pipeline.query_async(&mut connection).await;
            assert_eq!(replies.expect("the node answers"), ("OK".into(), "PONG".into(), 1));
        });
        assert_eq!(touches(&history), [(CallId(1), CallId(1), KeyOp::Release)], "atomic: {atomic}");
    }
}

#[test]
fn a_command_that_no_call_sent_makes_wr_inconclusive() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        client.acquires("one");
        ask(&mut connection, &set("one")).await;
        client.recorder.leave(CLIENT);
        let mut stranger = client.host.connect(HostId(1), REDIS_PORT).await.expect("the node listens");
        stranger.write_all(b"SET stock garbage\r\n").await.expect("it is connected");
        stranger.read_u8().await.expect("the node answers");
    });
    assert_eq!(touches(&history), []);
    assert_eq!(
        wrong_release(&history),
        Verdict::Inconclusive(
            "SET changed the lock's key on A, and no call of a lock sent the command".to_owned()
        )
    );
}

#[test]
fn a_lock_that_does_not_say_what_marks_its_keys_makes_wr_inconclusive() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        client.recorder.begin(CLIENT, LOCK);
        ask(&mut connection, &set("undeclared")).await;
        ask(&mut connection, &del()).await;
    });
    assert_eq!(touches(&history), []);
    assert_eq!(
        wrong_release(&history),
        Verdict::Inconclusive(
            "DEL changed the lock's key on A, and it holds or held a value that no lock had said it marks its keys with"
                .to_owned()
        )
    );
}

#[test]
fn a_flush_is_a_release_by_its_call() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        client.acquires("one");
        ask(&mut connection, &set("one")).await;
        client.acquires("two");
        ask(&mut connection, &redis::cmd("FLUSHALL")).await;
    });
    assert_eq!(touches(&history), [(CallId(2), CallId(1), KeyOp::Release)]);
}

/// A watchdog as locks have them: renews the key every second, on the connection the claim was made on.
fn watchdog(client: &Client, mut connection: Connection) -> Task {
    let env = client.env.clone();
    client.env.spawn(async move {
        loop {
            env.sleep_until(env.monotonic().await.saturating_add(Duration::from_secs(1))).await;
            ask(&mut connection, &redis::cmd("PEXPIRE").arg("stock").arg(60_000).to_owned()).await;
        }
    })
}

#[test]
fn what_a_watchdog_sends_is_of_the_call_that_started_it_until_it_is_aborted() {
    for driver in [Driver::RedisRs, Driver::Lean] {
        let history = run_through(driver, |client| async move {
            let mut connection = client.connect().await;
            client.acquires("one");
            ask(&mut connection, &set("one")).await;
            let watchdog = watchdog(&client, connection.clone());
            client.recorder.leave(CLIENT);
            client.host.sleep(Duration::from_millis(1_500)).await;
            // The second renewal comes while the client is in another call, which sends commands of its own.
            client.acquires("two");
            client.host.sleep(Duration::from_millis(1_000)).await;
            ask(&mut connection, &redis::cmd("PEXPIRE").arg("stock").arg(60_000).to_owned()).await;
            watchdog.abort();
            client.host.sleep(Duration::from_millis(5_000)).await;
        });
        let renewed = |by| (CallId(by), CallId(1), KeyOp::Extend);
        assert_eq!(touches(&history), [renewed(1), renewed(1), renewed(2)], "{driver:?}");
        assert_eq!(wrong_release(&history).as_str(), "violated", "the last was not the watchdog's");
    }
}

#[test]
fn a_watchdog_dies_with_its_process_and_not_with_its_handle() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        client.acquires("one");
        ask(&mut connection, &set("one")).await;
        drop(watchdog(&client, connection));
        client.host.sleep(Duration::from_millis(2_500)).await;
    });
    assert_eq!(touches(&history).len(), 2);
}

#[test]
fn a_lock_reaches_a_host_that_runs_no_redis() {
    run(|client| async move {
        let mut stream = client.env.stream("echo", ECHO_PORT).await.expect("it listens");
        stream.write_all(b"create /lock-").await.expect("it is connected");
        let mut reply = [0; 13];
        stream.read_exact(&mut reply).await.expect("it answers");
        assert_eq!(&reply, b"create /lock-");
        let nobody =
            client.env.stream("zookeeper", 2181).await.map(|_| ()).expect_err("there is no such host");
        assert_eq!(nobody.to_string(), "the scenario has no host `zookeeper`");
        assert!(client.env.stream("echo", 2181).await.is_err(), "nothing listens there");
    });
}
