//! Lock code that exists already, against a state machine of what its caller is told: random scripts of calls on two
//! resources, with nodes that say yes or no, reply with errors, hang up or take no connections, and with guards whose
//! token, deadline and fencing number are others after each call.
//!
//! The driver is redis-rs' own, over streams in memory. Not modelled: a caller that uses a grant older than the last.
#![expect(clippy::disallowed_methods, reason = "what is under test is the driver, not the schedule")]

mod build;

use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;
use std::time::Duration;

use proptest::prelude::*;
use redis::aio::MultiplexedConnection;
use redis::{ErrorKind, RedisResult};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use super::fake::{WALL_START, World};
use crate::{
    Acquired, BootTime, BoxLock, Client, Deadline, Doubt, Env, ErrorReply, Existing, Extended, Grant, Guard,
    Lock, LockKind, MonotonicTime, NodeName, RedisRs, Refusal, Released, Switches, Token, WallTime, Wanted,
    connection_config, connection_info,
};

const NODES: [&str; 2] = ["a", "b"];
const RESOURCES: [&str; 2] = ["stock", "orders"];

/// An error reply as it is sent, and what is to be told of it.
const ERRORS: [(&str, &str, &str); 3] = [
    ("-ERR unknown command\r\n", "ERR", "unknown command"),
    ("-READONLY You can't write\r\n", "READONLY", "You can't write"),
    ("-OWN of a module's\r\n", "OWN", "of a module's"),
];

#[derive(Clone, Copy, Debug)]
enum Call {
    Acquire,
    Extend,
    Release,
}

/// The answer of the node, and of the code around it, to a call.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Yes,
    No,
    Error(usize),
    HangsUp,
    /// The code has an error of its own, and the connection stays.
    OwnError,
    /// The code asks nobody: it cannot extend.
    Unsupported,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    call: Call,
    resource: usize,
    ttl: Duration,
    answer: Answer,
    /// The nodes take no new connections.
    down: bool,
    deadline: Option<Deadline>,
    fencing: Option<u64>,
}

/// The answers that nodes are to give, and what everybody did.
#[derive(Default)]
pub(super) struct Script {
    /// The step under way, and its number.
    step: Option<(usize, Step)>,
    opened: usize,
    did: Vec<String>,
}

impl World {
    fn did(&self, what: String) {
        self.state().script.did.push(what);
    }

    fn step(&self) -> (usize, Step) {
        self.state().script.step.expect("a call is under way")
    }
}

impl RedisRs for World {
    async fn open_multiplexed(&self, node: &NodeName) -> RedisResult<MultiplexedConnection> {
        self.connect(node).await?;
        let (client, server) = tokio::io::duplex(1024);
        let (info, config) = (connection_info(), connection_config());
        let (connection, driver) = MultiplexedConnection::new_with_config(&info, client, config).await?;
        self.state().script.opened += 1;
        let number = self.state().script.opened;
        tokio::task::spawn(driver);
        tokio::task::spawn(serve(self.clone(), server, format!("{node}{number}")));
        Ok(connection)
    }
}

/// A node: writes down what it is asked on this connection, and answers as the script says.
async fn serve(world: World, mut stream: DuplexStream, connection: String) {
    let mut bytes = [0; 1024];
    while let Ok(read @ 1..) = stream.read(&mut bytes).await {
        let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
        let words: Vec<&str> = text.split("\r\n").skip(2).step_by(2).collect();
        world.did(format!("{connection}: {}", words.join(" ")));
        let reply = match world.step().1.answer {
            Answer::Yes | Answer::OwnError => ":1\r\n",
            Answer::No => ":0\r\n",
            Answer::Error(which) => ERRORS[which].0,
            Answer::HangsUp => return,
            Answer::Unsupported => unreachable!("nobody is asked"),
        };
        stream.write_all(reply.as_bytes()).await.expect("the driver runs");
    }
}

/// A guard that has another token and another deadline after each call, whatever came of it.
struct CachedScript {
    world: World,
    connection: MultiplexedConnection,
    key: String,
    /// The step that it was taken or extended in last.
    number: usize,
    step: Step,
}

/// Sends one command, and makes of its reply what the script says.
async fn ask(world: &World, connection: &mut MultiplexedConnection, words: &[&str]) -> RedisResult<bool> {
    let mut command = redis::Cmd::new();
    command.arg(words);
    let yes = command.query_async(connection).await?;
    match world.step().1.answer {
        Answer::OwnError => Err((ErrorKind::Client, "the code gave up").into()),
        _ => Ok(yes),
    }
}

impl Drop for CachedScript {
    fn drop(&mut self) {
        self.world.did(format!("dropped {}", self.number));
    }
}

impl Guard for CachedScript {
    fn token(&self) -> Vec<u8> {
        token(self.number)
    }

    fn deadline(&self) -> Option<Deadline> {
        self.step.deadline
    }

    fn fencing(&self) -> Option<u64> {
        self.step.fencing
    }

    async fn release(mut self) -> RedisResult<bool> {
        ask(&self.world, &mut self.connection, &["DEL", &self.key]).await
    }

    async fn extend(&mut self, ttl: Duration) -> Option<RedisResult<bool>> {
        let (number, step) = self.world.step();
        (self.number, self.step) = (number, step);
        if let Answer::Unsupported = step.answer {
            return None;
        }
        let ttl = ttl.as_nanos().to_string();
        Some(ask(&self.world, &mut self.connection, &["PEXPIRE", &self.key, &ttl]).await)
    }
}

fn token(step: usize) -> Vec<u8> {
    format!("token {step}").into_bytes()
}

fn key(resource: &str) -> String {
    format!("lock:{resource}")
}

/// As all code under test takes a lock, on a connection that it was given or opened.
async fn taken(
    mut connection: MultiplexedConnection,
    client: Client<World>,
    wanted: Wanted,
) -> RedisResult<Option<CachedScript>> {
    let world = client.env.clone();
    let (number, step) = world.step();
    let named = world.state().named.last().cloned();
    world.did(format!("asked for {}, whose key is {named:?}", wanted.resource));
    let key = key(&wanted.resource);
    let is_mine = ask(&world, &mut connection, &["SET", &key, &wanted.ttl.as_nanos().to_string()]).await?;
    Ok(is_mine.then(|| CachedScript { world, connection, key, number, step }))
}

/// Code that is handed a connection to the first node, or code that opens one each time, to a node of its choice.
fn lock(world: &World, one_node: bool) -> BoxLock {
    let switches = Switches::new();
    let nodes: Vec<NodeName> = NODES.iter().map(|name| NodeName::new(name)).collect();
    let opens = async |client: Client<World>, wanted: Wanted| {
        let node = &client.nodes()[client.env.step().0 % NODES.len()];
        let connection = client.connect(node).await?;
        taken(connection, client, wanted).await
    };
    let built = if one_node {
        Existing::on_one_node("mine", taken).key(key).build(world.clone(), nodes, &switches)
    } else {
        Existing::on_nodes("mine", opens).key(key).build(world.clone(), nodes, &switches)
    };
    built.expect("it has nodes and no switches")
}

/// The outcome of a call, without the words of an error that no node replied with.
#[derive(Debug, PartialEq)]
enum Answered {
    Acquired(Acquired),
    Extended(Extended),
    Released(Released),
}

fn without_words(doubt: Doubt) -> Doubt {
    match doubt {
        Doubt::ConnectionLost(why) => {
            assert_ne!(why, "");
            lost()
        }
        other => other,
    }
}

fn lost() -> Doubt {
    Doubt::ConnectionLost(String::new())
}

/// Makes the call of one step.
async fn call(lock: &mut BoxLock, step: &Step, grant: &mut Grant) -> Answered {
    let resource = RESOURCES[step.resource];
    match step.call {
        Call::Acquire => Answered::Acquired(match lock.acquire(resource, step.ttl).await {
            Acquired::Unknown(doubt) => Acquired::Unknown(without_words(doubt)),
            other => other,
        }),
        Call::Extend => Answered::Extended(match lock.extend(grant, step.ttl).await {
            Extended::Unknown(doubt) => Extended::Unknown(without_words(doubt)),
            other => other,
        }),
        Call::Release => Answered::Released(match lock.release(grant).await {
            Released::Unknown(doubt) => Released::Unknown(without_words(doubt)),
            other => other,
        }),
    }
}

/// The state of the code, as plainly as can be.
#[derive(Default)]
struct Model {
    one_node: bool,
    opened: usize,
    /// The connection that is kept for the next call, by its name.
    kept: Option<String>,
    /// Connections that a node hung up on.
    dead: BTreeSet<String>,
    /// The guard of each resource: its connection, and the step it was taken or extended in last.
    held: BTreeMap<usize, (String, usize)>,
    did: Vec<String>,
    marks: Vec<Vec<u8>>,
}

/// The outcome of an exchange with a node.
enum Said {
    Yes,
    No,
    Error(ErrorReply),
    Lost,
}

impl Model {
    fn says(&mut self, connection: &str, answer: Answer, words: String) -> Said {
        let is_open = !self.dead.contains(connection);
        if is_open {
            self.did.push(format!("{connection}: {words}"));
        }
        match answer {
            Answer::Yes if is_open => Said::Yes,
            Answer::No if is_open => Said::No,
            Answer::Error(which) if is_open => {
                let (_, code, message) = ERRORS[which];
                Said::Error(ErrorReply { code: code.to_owned(), message: message.to_owned() })
            }
            Answer::HangsUp => {
                self.dead.insert(connection.to_owned());
                Said::Lost
            }
            _ => Said::Lost,
        }
    }

    /// The connection that a code gets, unless the nodes take none.
    fn connection(&mut self, number: usize, down: bool) -> Option<String> {
        if self.kept.is_some() {
            return self.kept.clone();
        }
        if down {
            return None;
        }
        self.opened += 1;
        let node = if self.one_node { NODES[0] } else { NODES[number % NODES.len()] };
        let opened = format!("{node}{}", self.opened);
        self.kept = self.one_node.then(|| opened.clone());
        Some(opened)
    }

    fn acquire(&mut self, number: usize, step: &Step) -> Acquired {
        let resource = RESOURCES[step.resource];
        if let Some((_, guard)) = self.held.remove(&step.resource) {
            self.did.push(format!("dropped {guard}"));
        }
        let Some(connection) = self.connection(number, step.down) else { return Acquired::Unknown(lost()) };
        let named = Some((resource.to_owned(), key(resource).into_bytes()));
        self.did.push(format!("asked for {resource}, whose key is {named:?}"));
        let words = format!("SET {} {}", key(resource), step.ttl.as_nanos());
        match self.says(&connection, step.answer, words) {
            Said::Yes => {
                self.held.insert(step.resource, (connection, number));
                self.marks.push(token(number));
                let grant = Grant::new(resource, Token::new(token(number)));
                Acquired::Granted(Grant { fencing: step.fencing, deadline: step.deadline, ..grant })
            }
            Said::No => Acquired::Refused(Refusal::Taken),
            Said::Error(reply) => Acquired::Refused(Refusal::ErrorReply(reply)),
            Said::Lost => {
                self.kept = None;
                Acquired::Unknown(lost())
            }
        }
    }

    fn extend(&mut self, number: usize, step: &Step, grant: &mut Grant) -> Extended {
        let Some((connection, guard)) = self.held.get_mut(&step.resource) else { return Extended::NotOwner };
        *guard = number;
        let connection = connection.clone();
        self.marks.push(token(number));
        if let Answer::Unsupported = step.answer {
            return Extended::Unsupported;
        }
        let words = format!("PEXPIRE {} {}", key(RESOURCES[step.resource]), step.ttl.as_nanos());
        match self.says(&connection, step.answer, words) {
            Said::Yes => {
                grant.deadline = step.deadline;
                Extended::Extended { deadline: step.deadline }
            }
            Said::No => Extended::NotOwner,
            Said::Error(reply) => Extended::Unknown(Doubt::ErrorReply(reply)),
            Said::Lost => {
                self.kept = None;
                Extended::Unknown(lost())
            }
        }
    }

    fn release(&mut self, step: &Step) -> Released {
        let Some((connection, guard)) = self.held.remove(&step.resource) else { return Released::NotOwner };
        let said = self.says(&connection, step.answer, format!("DEL {}", key(RESOURCES[step.resource])));
        self.did.push(format!("dropped {guard}"));
        match said {
            Said::Yes => Released::Released,
            Said::No => Released::NotOwner,
            Said::Error(reply) => Released::Unknown(Doubt::ErrorReply(reply)),
            Said::Lost => {
                self.kept = None;
                Released::Unknown(lost())
            }
        }
    }
}

fn deadlines() -> impl Strategy<Value = Option<Deadline>> {
    let some = |of: fn(u64) -> Deadline| (0..1_000_000_u64).prop_map(of).prop_map(Some);
    prop_oneof![
        Just(None),
        some(|at| Deadline::Wall(WallTime(WALL_START + i64::try_from(at).expect("small")))),
        some(|at| Deadline::Monotonic(MonotonicTime(at))),
        some(|at| Deadline::Boot(BootTime(at))),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    let calls = prop_oneof![2 => Just(Call::Acquire), 2 => Just(Call::Extend), 1 => Just(Call::Release)];
    let answers = prop_oneof![
        8 => Just(Answer::Yes),
        2 => Just(Answer::No),
        2 => (0..ERRORS.len()).prop_map(Answer::Error),
        1 => Just(Answer::HangsUp),
        1 => Just(Answer::OwnError),
        1 => Just(Answer::Unsupported),
    ];
    let times = (1..u64::MAX, deadlines(), proptest::option::of(any::<u64>()));
    let step = (calls, 0..RESOURCES.len(), answers, proptest::bool::weighted(0.2), times);
    step.prop_map(|(call, resource, answer, down, (ttl, deadline, fencing))| {
        // Only an extension may ask nobody.
        let answer = match (call, answer) {
            (Call::Acquire | Call::Release, Answer::Unsupported) => Answer::No,
            (_, answer) => answer,
        };
        Step { call, resource, ttl: Duration::from_nanos(ttl), answer, down, deadline, fencing }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn existing_code_is_told_on_as_a_state_machine_says(
        steps in proptest::collection::vec(steps(), 1..40),
        one_node in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("nothing is needed for it");
        let world = World::with_nodes(&NODES);
        let mut lock = lock(&world, one_node);
        let mut model = Model { one_node, ..Model::default() };
        // What is given back or extended before it was granted is nobody's.
        let nobodys = |name: &&str| Grant { fencing: Some(7), ..Grant::new(*name, Token::new("none")) };
        let mut grants: Vec<Grant> = RESOURCES.iter().map(nobodys).collect();
        for (number, step) in steps.iter().enumerate() {
            world.state().script.step = Some((number, *step));
            NODES.iter().for_each(|node| world.node(node, |node| node.refuses_connections = step.down));
            let (before, grant) = (grants[step.resource].clone(), &mut grants[step.resource]);
            let told = runtime.block_on(call(&mut lock, step, grant));
            let mut expected_grant = before;
            let expected = match step.call {
                Call::Acquire => Answered::Acquired(model.acquire(number, step)),
                Call::Extend => Answered::Extended(model.extend(number, step, &mut expected_grant)),
                Call::Release => Answered::Released(model.release(step)),
            };
            prop_assert_eq!(&told, &expected, "step {}", number);
            prop_assert_eq!(&*grant, &expected_grant, "step {}", number);
            let state = &mut *world.state();
            prop_assert_eq!(take(&mut state.script.did), take(&mut model.did), "step {}", number);
            prop_assert_eq!(take(&mut state.marks), take(&mut model.marks), "step {}", number);
            if let Answered::Acquired(Acquired::Granted(granted)) = told {
                *grant = granted;
            }
        }
    }
}
