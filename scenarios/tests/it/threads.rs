//! Threads of one process: what they share, what strikes all of them, and whose each grant, request and mark is.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use doublehold_history::{CallId, ClientId, EventKind, Predicate};
use doublehold_lockimpl::{
    Acquired, BoxLock, ConfigError, Descriptor, Doubt, Env, Extended, Facts, Form, Grant, Lock, LockConfig,
    LockKind, NodeName, Nodes, Refusal, Released, Sends, Switches, Token,
};
use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::report::Replay;
use doublehold_scenarios::scenario::{HostIndex, Role, Scenario};
use doublehold_scenarios::when::{Event, Nth, When};
use doublehold_scenarios::{
    Detailed, Engine, LeanEngine, OwnLocks, PrepareError, Prepared, Report, SimEngine, SimEnv, Stepped,
    builtin_locks, format::Source,
};

const SEC: u64 = 1_000_000_000;

/// Two threads of `web`, and what a test adds.
fn read_with(lock: &str, threads: [&str; 2], more: &str, engine: &impl Engine) -> Result<Scenario, String> {
    let [c1, c2] = threads;
    let text = format!(
        r#"
        claim = "two threads and their process"
        lock = {{ algorithm = "{lock}", ttl = "10s" }}
        nodes = {{ names = ["A"] }}
        clients = [
            {{ name = "c1", process = "web", {c1} }},
            {{ name = "c2", process = "web", {c2} }},
        ]
        {more}
        "#
    );
    let locks = engine.locks();
    let source = Source { name: "t".into(), file: "t".into(), text, locks, ..Source::default() };
    source.read().map_err(|error| error.to_string())
}

fn read(threads: [&str; 2], more: &str) -> Scenario {
    read_with("single", threads, more, &SimEngine).unwrap_or_else(|error| panic!("{error}"))
}

const TURN: &str = r#"rounds = 10, program = ["acquire", "read", "work 0ms..200ms", "write", "release"]"#;
const ONCE: &str = r#"program = ["acquire", "work 2s", "release"]"#;
const PAUSE: &str = r#"faults = [{ kind = "pause", host = "web", at = "c1's grant", for = "12s" }]"#;

fn times(report: &Report, client: u32, wanted: impl Fn(&EventKind) -> bool) -> Vec<u64> {
    let its = report.history.events().iter().filter(|event| event.what.client() == Some(ClientId(client)));
    its.filter(|event| wanted(&event.what)).map(|event| event.at.0).collect()
}

fn granted(what: &EventKind) -> bool {
    matches!(what, EventKind::Granted { .. })
}

fn asked(what: &EventKind) -> bool {
    matches!(what, EventKind::AcquireStarted { .. })
}

#[test]
fn threads_whose_tokens_are_their_own_exclude_each_other() {
    let scenario = read([TURN, TURN], "");
    let (sim, lean) = (SimEngine.prepare(&scenario).unwrap(), LeanEngine.prepare(&scenario).unwrap());
    for seed in 1..=20 {
        for report in [sim.run(seed), lean.run(seed)] {
            for client in [0, 1] {
                assert_eq!(times(&report, client, granted).len(), 10, "seed {seed}");
            }
            for predicate in [Predicate::P1, Predicate::P2, Predicate::P3, Predicate::P4, Predicate::WR] {
                assert_eq!(report.verdicts.get(predicate).as_str(), "holds", "{predicate}, seed {seed}");
            }
        }
    }
}

#[test]
fn a_pause_of_the_process_stops_all_its_threads_and_is_drawn_on_each() {
    let report = SimEngine.run(&read([ONCE, ONCE], PAUSE), 1);
    let (from, until) = (report.faults[0].from.unwrap().0, report.faults[0].until.unwrap().0);
    let lanes: Vec<HostIndex> = ["c1", "c2"].map(|name| host(&report.scenario, name)).to_vec();
    assert_eq!(report.faults[0].hosts, lanes);
    assert_eq!(until - from, 12 * SEC);
    for client in [0, 1] {
        assert!(times(&report, client, |_| true).iter().any(|at| *at <= from));
        let meanwhile = times(&report, client, |what| {
            !matches!(what, EventKind::Clocks { .. } | EventKind::DeadlinePassed { .. })
        });
        assert!(meanwhile.iter().all(|at| *at <= from || *at >= until), "{meanwhile:?}");
    }
}

fn host(scenario: &Scenario, name: &str) -> HostIndex {
    HostIndex(scenario.hosts.iter().position(|host| host.name == name).unwrap())
}

#[test]
fn a_double_hold_of_two_threads_is_seen() {
    let long = r#"program = ["acquire", "work 15s", "release"]"#;
    let report = SimEngine.run(&read([long, long], ""), 1);
    let evidence = report.verdicts.get(Predicate::P1).evidence();
    let words = evidence[0].sentence(report.history.header());
    assert!(words.contains("c1") && words.contains("c2"), "{words}");
}

#[test]
fn what_is_said_of_a_thread_is_its_own_and_what_is_said_of_the_process_is_of_all() {
    // The first SET of c2 is not the first of the process.
    let cut = r#"faults = [{ kind = "pause", host = "web", at = "SET executed for c2", for = "3s" }]"#;
    let report = SimEngine.run(&read([ONCE, r#"start = "1s", program = ["try"]"#], cut), 1);
    assert!(report.faults[0].from.unwrap().0 >= SEC, "{:?}", report.faults);

    let scenario = read([ONCE, ONCE], "");
    let steps = SimEngine.prepare(&scenario).unwrap().steps(1);
    let of = |wanted: &dyn Fn(&Event) -> Option<String>| {
        let mut names: Vec<String> = steps.iter().filter_map(|step: &Nth| wanted(&step.event)).collect();
        names.sort();
        names.dedup();
        names
    };
    let marks = of(&|event| match event {
        Event::Mark { client, .. } => Some(client.clone()),
        _ => None,
    });
    let executed = of(&|event| match event {
        Event::Executed { client, .. } => client.clone(),
        _ => None,
    });
    let reads = of(&|event| match event {
        Event::Sent { from, .. } if from != "A" && from != "resource" => Some(from.clone()),
        Event::Timer { client } => Some(client.clone()),
        _ => None,
    });
    assert_eq!((marks, executed), (vec!["c1".into(), "c2".into()], vec!["c1".into(), "c2".into()]));
    assert_eq!(reads, ["web"]);
    // Every one of them can be written down, and waited for.
    for step in steps {
        let mut waits = scenario.clone();
        let at = When::On { events: vec![step.clone()], after: Duration::ZERO };
        waits.faults.push(Fault { at, ..Fault::pause("web").lasting(Duration::from_secs(1)) });
        let waits = waits.validate().unwrap_or_else(|error| panic!("{step:?}: {error}"));
        let report = SimEngine.run(&waits, 1);
        assert!(report.faults[0].from.is_some(), "{step:?} never came");
    }
}

#[test]
fn each_thread_begins_when_it_is_told_and_again_with_its_process() {
    let late = |start: &str| format!(r#"start = "{start}", {ONCE}"#);
    let crash = r#"faults = [{ kind = "crash", host = "web", at = "6s", for = "1s" }]"#;
    let report = SimEngine.run(&read([&late("5s"), &late("3s")], crash), 1);
    assert_eq!((times(&report, 0, asked)[0], times(&report, 1, asked)[0]), (5 * SEC, 3 * SEC));
    for client in [0, 1] {
        let restarted = times(&report, client, |what| matches!(what, EventKind::Restarted { .. }));
        assert_eq!(restarted, [7 * SEC]);
        assert!(times(&report, client, asked).iter().any(|at| (7 * SEC..8 * SEC).contains(at)));
    }
    // A start that comes while the process is dead is not lost.
    let crash = r#"faults = [{ kind = "crash", host = "web", at = "2s", for = "2s" }]"#;
    let report = SimEngine.run(&read([&late("1s"), &late("3s")], crash), 1);
    assert_eq!(times(&report, 1, granted).len(), 1);
}

#[test]
fn a_plan_with_threads_is_read_as_itself_and_replays() {
    let report = SimEngine.run(&read([ONCE, TURN], PAUSE), 7);
    let text = Plan::from_report(&report).to_toml().unwrap();
    let plan = Plan::parse("t.plan", &text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(plan, Plan::from_report(&report));
    assert_eq!(plan.compare_replay(&SimEngine.run(&plan.scenario, plan.seed)), Replay::Same);
}

#[test]
fn messages_of_a_process_are_those_of_the_thread_whose_call_sent_them() {
    let scenario = read([r#"program = ["acquire", "read", "write", "release"]"#, ONCE], "");
    let (report, _, detail) = SimEngine.prepare(&scenario).unwrap().run_with_detail(1);
    let sets = detail.messages.iter().flat_map(|message| message.phrases.iter().map(move |it| (message, it)));
    let sets: Vec<_> = sets.filter(|(_, phrase)| phrase.words.starts_with("SET ")).collect();
    assert!(sets.len() >= 2);
    let threads = ["c1", "c2"].map(|name| host(&report.scenario, name));
    assert!(sets.iter().all(|(message, _)| threads.contains(&message.from)));
    let asks = |client| times(&report, client, asked).len();
    let of = |thread: usize| sets.iter().filter(|(message, _)| message.from == threads[thread]).count();
    assert_eq!((of(0), of(1)), (asks(0), asks(1)), "each asks with one SET");
    let resource = report.scenario.resource.host;
    let writes = detail.messages.iter().filter(|message| message.to == resource);
    assert!(writes.clone().count() >= 2 && writes.clone().all(|message| message.from == threads[0]));
    let process = host(&report.scenario, "web");
    assert_eq!(report.scenario.hosts[threads[0].0].role, Role::Thread(process));
}

/// Refusals: what is wrong, and what the message must say.
#[test]
fn threads_without_a_process_and_what_is_said_of_them_are_refused() {
    let refusal = |threads: [&str; 2], more: &str| {
        read_with("single", threads, more, &SimEngine).map(|_| ()).expect_err("it is refused")
    };
    for (threads, more, expected) in [
        ([ONCE, ONCE], r#"faults = [{ kind = "pause", host = "c1", at = "1s", for = "2s" }]"#, "name `web`"),
        ([ONCE, ONCE], r#"clocks = { c2 = { offset = "1s" } }"#, "`c2` is a thread of `web`"),
        ([ONCE, ONCE], r#"network = { links = [{ from = "c1", to = "A", delay = "1s" }] }"#, "name `web`"),
        (
            [ONCE, ONCE],
            r#"faults = [{ kind = "pause", host = "web", at = "web's grant", for = "1s" }]"#,
            "the clients are `c1` and `c2`",
        ),
        (
            [ONCE, ONCE],
            r#"faults = [{ kind = "pause", host = "web", at = "SET executed for web", for = "1s" }]"#,
            "`for web` names no client",
        ),
        (
            [ONCE, ONCE],
            r#"faults = [{ kind = "pause", host = "web", at = "c1's timer", for = "1s" }]"#,
            "name `web`",
        ),
        (
            [ONCE, ONCE],
            r#"weather = { for = "9s", faults = [{ kind = "pause", host = "c1", every = "1s", for = "1s" }] }"#,
            "name `web`",
        ),
    ] {
        let message = refusal(threads, more);
        assert!(message.contains(expected), "{message}\nhas no {expected:?}");
    }
    let text = |process: &str| {
        let name = "name = \"c2\", process = \"web\"";
        let text = format!(
            "claim = \"x\"\nlock = {{ algorithm = \"single\", ttl = \"1s\" }}\nnodes = {{ names = [\"A\"] }}\n\
             clients = [{{ name = \"c1\", process = \"{process}\", {ONCE} }}, {{ {name}, {ONCE} }}]\n"
        );
        let source = Source { name: "t".into(), file: "t".into(), text, ..Source::default() };
        source.read().map(|_| ()).map_err(|error| error.to_string()).expect_err("it is refused")
    };
    for (process, expected) in [
        ("other", "the process `other` has one thread"),
        ("A", "`A` is the name of a host"),
        ("c2", "`c2` is the name of a host"),
        ("c1", "`c1` is the name of a host"),
        ("resource", "`resource` is the name of a host"),
    ] {
        let message = text(process);
        assert!(message.contains(expected) && message.contains("hint"), "{message}");
    }
}

#[test]
fn a_scenario_made_in_a_program_is_refused_where_a_file_would_be() {
    let scenario = read([ONCE, ONCE], "");
    let mut of_thread = scenario.clone();
    of_thread.faults.push(Fault::pause("c1").lasting(Duration::from_secs(1)));
    assert!(matches!(SimEngine.prepare(&of_thread), Err(PrepareError::OfThread { .. })));
    let mut alone = scenario.clone();
    alone.clients.pop();
    alone.hosts.pop();
    assert!(matches!(SimEngine.prepare(&alone), Err(PrepareError::NoProcess { threads: 1, .. })));
    let mut first = scenario;
    let (c1, web) = (host(&first, "c1"), host(&first, "web"));
    first.hosts.swap(c1.0, web.0);
    for setup in &mut first.hosts {
        if let Role::Thread(process) = &mut setup.role {
            *process = c1;
        }
    }
    first.clients[0].host = web;
    assert!(matches!(SimEngine.prepare(&first), Err(PrepareError::ProcessPlace(_))));
}

/// One node's lock whose process has one connection, and one machine that its library was made with: those of the
/// thread that came first. All that it does goes through them.
struct Common;

#[derive(Default)]
struct Library(Mutex<Option<(SimEnv, <SimEnv as Env>::Conn)>>);

impl LockConfig for Common {
    fn read(_form: &mut Form<'_>) -> Common {
        Common
    }

    fn facts(&self) -> Facts {
        let sends = Sends { to_hold: vec!["SET", "DEL"], to_extend: Vec::new() };
        Facts { sends: Some(sends), ..Facts::default() }
    }
}

impl LockKind<SimEnv> for Common {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<Common>("common", "all through one connection", "us", Nodes::One)
    }

    fn build(&self, env: SimEnv, nodes: Vec<NodeName>, _: &Switches) -> Result<BoxLock, ConfigError> {
        Ok(BoxLock::new(Thread { env, node: nodes[0].clone() }))
    }
}

struct Thread {
    env: SimEnv,
    node: NodeName,
}

impl Thread {
    async fn library(&self) -> (SimEnv, <SimEnv as Env>::Conn) {
        let library: Arc<Library> = self.env.process_state();
        let known = |library: &Library| library.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = known(&library) {
            return known;
        }
        let made = (self.env.clone(), self.env.connect(&self.node).await.expect("the node listens"));
        library.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(made).clone()
    }
}

impl Lock for Thread {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let (env, mut redis) = self.library().await;
        let mut random = [0; 8];
        env.random(&mut random);
        let token = Token::new(random);
        env.marks(&random);
        let mut set = redis::cmd("SET");
        set.arg(resource).arg(&random).arg("NX").arg("PX").arg(ttl.as_millis() as u64);
        match set.query_async::<Option<String>>(&mut redis).await {
            Ok(Some(_)) => Acquired::Granted(Grant::new(resource, token)),
            Ok(None) => Acquired::Refused(Refusal::Taken),
            Err(_) => Acquired::Unknown(Doubt::Timeout),
        }
    }

    async fn extend(&mut self, _: &mut Grant, _: Duration) -> Extended {
        Extended::Unsupported
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        let (env, mut redis) = self.library().await;
        // By a task, as a library's own thread would.
        let resource = grant.resource.clone();
        env.spawn(async move {
            let _deleted: Result<u32, _> = redis::cmd("DEL").arg(resource).query_async(&mut redis).await;
        });
        env.sleep_until(env.monotonic().await.saturating_add(Duration::from_millis(100))).await;
        Released::Released
    }
}

#[test]
fn what_one_thread_made_sends_for_each_what_it_asked_for() {
    let engine = OwnLocks(builtin_locks().with(Common));
    let scenario = read_with("common", [TURN, TURN], "", &engine).unwrap();
    let prepared = engine.prepare(&scenario).unwrap();
    for seed in 1..=10 {
        let report = prepared.run(seed);
        let grants = report.history.events().iter().filter(|event| granted(&event.what)).count();
        assert_eq!(grants, 20);
        // Each DEL is of the thread that called release, and of the grant that it gave back.
        let mut touched: Vec<(ClientId, CallId, CallId)> = Vec::new();
        for event in report.history.events() {
            if let EventKind::KeyTouched { client, by, held, .. } = event.what {
                touched.push((client, by, held));
            }
        }
        assert_eq!(touched.len(), 20, "seed {seed}");
        let owner = |call: CallId| report.keys.iter().find(|key| key.grant == call).map(|key| key.client);
        let host = |client: ClientId| report.scenario.clients[client.0 as usize].host;
        assert!(touched.iter().all(|(client, by, held)| by == held && owner(*by) == Some(host(*client))));
        assert_eq!(report.verdicts.get(Predicate::WR).as_str(), "holds", "seed {seed}");
    }
}

#[test]
fn weather_strikes_a_process_once_and_no_thread() {
    let weather = r#"weather = { for = "60s", at_steps = "1/2", faults = [
        { kind = "pause", host = "clients", every = "5s", for = "1s" },
        { kind = "cut", from = "clients", to = "nodes", every = "9s", for = "1s" },
    ] }"#;
    let prepared = SimEngine.prepare(&read([TURN, TURN], &weather.replace('\n', " "))).unwrap();
    let (mut struck, mut at_marks) = (0, 0);
    for seed in 1..=20 {
        let report = prepared.run(seed);
        for fault in &report.scenario.faults {
            let hosts = fault.effect.hosts().0;
            assert!(hosts.iter().all(|host| ["web", "A"].contains(&host.as_str())), "{hosts:?}");
            struck += 1;
            let at = fault.at.to_string();
            at_marks += usize::from(at.contains("c1's") || at.contains("c2's"));
        }
    }
    assert!(struck > 20 && at_marks > 2, "{at_marks} of {struck} at what a program says of itself");
}
