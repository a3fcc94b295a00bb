//! What goes with a client, a round, a step, a lock or an object, against changes of the file's text.

use doublehold_history::Predicate;
use doublehold_scenarios::build::World;
use doublehold_scenarios::format::Source;
use doublehold_scenarios::model::fault::Effect;
use doublehold_scenarios::model::when::Nth;
use doublehold_scenarios::{LeanEngine, Prepared};
use doublehold_sim::Seed;

use super::*;
use crate::shrink::edits::{assert_same, edit, edit_all, rich};
use crate::shrink::{Case, Effort, KeepNodes, Target};

#[test]
fn a_node_that_is_left_out_is_told_nothing() {
    let text = "claim = 'a promotion that tells two'\n\
                lock = { algorithm = 'replicated', ttl = '10s' }\n\
                nodes = { names = ['M', 'R1', 'R2'], master = 'M' }\n\
                clients = [{ name = 'c1', program = ['acquire', 'release'] }]\n\
                faults = [{ kind = 'promote', host = 'R1', tell = ['M', 'R2'], at = '1s' }]\n";
    let source = Source { name: "x".to_owned(), text: text.to_owned(), ..Source::default() };
    let left = remove_host(source.read().expect("a scenario"), HostIndex(2));
    let Effect::Promote { tell, .. } = &left.faults[0].effect else { panic!("{:?}", left.faults) };
    assert_eq!(tell.as_ref().map(|told| &told.0[..]), Some(&["M".to_owned()][..]));
    assert!(left.validate().is_ok(), "what is left is a scenario");
}

/// Of two nodes no pair can go: no node would be left.
#[test]
fn nodes_go_alone_and_in_pairs_and_a_master_stays() {
    let effort = Effort { nodes: KeepNodes::None, ..Effort::default() };
    let proposed = |lock: &str, count: usize| {
        let world = World::new("nodes").nodes(["A", "B", "C", "D"].into_iter().take(count));
        let world = if lock == "replicated" { world.master("B") } else { world };
        let world = world.clients(2, ["acquire", "work 15s", "release"]);
        let scenario = world.scenario(lock, doublehold_lockimpl::descriptors()).expect("a world");
        let case = Case { scenario: &scenario, seed: Seed(1), target: Target::Violates(Predicate::P1) };
        let mut search = ShrinkSearch::new(&LeanEngine, &case, &effort).expect("the work outlasts the lease");
        let names = |candidate| match candidate {
            Candidate::Whole(left) => {
                let nodes = left.hosts.iter().filter(|host| host.role == Role::Node);
                nodes.map(|host| host.name.clone()).collect::<String>()
            }
            Candidate::Faults(faults) => panic!("{faults:?}"),
        };
        nodes(&mut search).into_iter().map(names).collect::<Vec<_>>()
    };
    assert_eq!(proposed("redlock", 1), [""; 0]);
    assert_eq!(proposed("redlock", 2), ["B", "A"]);
    assert_eq!(proposed("redlock", 3), ["BC", "AC", "AB", "C", "B", "A"]);
    let pairs = ["CD", "BD", "BC", "AD", "AC", "AB"];
    assert_eq!(proposed("redlock", 4), [&["BCD", "ACD", "ABD", "ABC"][..], &pairs].concat());
    assert_eq!(proposed("replicated", 3), ["BC", "AB"]);
}

/// Two threads of `web`, three of `jobs`, and a client of its own. What names a process is there as long as it is.
#[test]
fn threads_go_alone_while_two_are_left_and_else_with_their_process() {
    let client = |name: &str, process: &str| {
        format!("{{ name = '{name}', {process} program = ['acquire', 'work 15s', 'release'] }}")
    };
    let of = |process: &str| format!("process = '{process}',");
    let clients = [
        client("w1", &of("web")),
        client("j1", &of("jobs")),
        client("w2", &of("web")),
        client("alone", ""),
        client("j2", &of("jobs")),
        client("j3", &of("jobs")),
    ];
    let text = format!(
        "claim = 'threads come and go'\nlock = {{ algorithm = 'single', ttl = '10s' }}\n\
         nodes = {{ names = ['A'] }}\nclients = [{}]\n\
         faults = [{{ kind = 'pause', host = ['web', 'jobs'], at = '30s', for = '1s' }}, \
         {{ kind = 'pause', host = 'web', at = \"w1's grant\", for = '1s', optional = true }}]\n",
        clients.join(", ")
    );
    let source = Source { name: "x".to_owned(), text, ..Source::default() };
    let scenario = source.read().unwrap_or_else(|error| panic!("{error}"));
    let case = Case { scenario: &scenario, seed: Seed(1), target: Target::Violates(Predicate::P1) };
    let mut search =
        ShrinkSearch::new(&LeanEngine, &case, &Effort::default()).expect("the work outlasts the lease");
    let left = |candidate| {
        let Candidate::Whole(left) = candidate else { panic!("a client goes") };
        let again = left.validate().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again, *left, "it is a scenario, and its threads are those of their processes");
        left.hosts[2..].iter().map(|host| host.name.clone()).collect::<Vec<_>>().join(" ")
    };
    let mut all: Vec<String> = super::clients(&mut search).into_iter().map(left).collect();
    all.dedup();
    all.sort();
    all.dedup();
    assert_eq!(
        all,
        [
            "jobs j1 alone j2 j3",
            "web w1 jobs j1 w2 alone j2",
            "web w1 jobs j1 w2 alone j3",
            "web w1 jobs j1 w2 j2 j3",
            "web w1 w2 alone jobs j2 j3",
        ]
    );
    let host = |name: &str| scenario.cast().host(name).expect("a host");
    assert_eq!(remove_client(&scenario, host("w2")), None);
    assert!(remove_client(&scenario, host("j2")).is_some_and(|left| left.clients.len() == 5));
}

#[test]
fn rounds_are_tried_as_one_as_half_and_as_one_less() {
    assert_same(rounds(&rich()), [1, 3, 6].map(|rounds| edit("clients.0.rounds", Some(rounds.into()))));
    let two = edit("clients.0.rounds", Some(2.into()));
    assert_eq!(rounds(&two).len(), 1);
}

#[test]
fn a_lock_that_nobody_takes_goes_with_its_objects_and_an_object_that_nobody_uses_alone() {
    let expected = [
        edit_all([("lock.name.1", None), ("resource.object.dolls", None)]),
        edit("resource.object.dolls", None),
        edit("resource.object.acorns", None),
    ];
    assert_same(remove_unused(&rich()), expected);
}

/// Each step alone but for the last release of a lock, and all that is done with one lock.
#[test]
fn steps_go_alone_or_with_all_of_their_lock() {
    let rich = rich();
    let droppable = |client: usize| droppable(&rich.clients[client].program, &rich);
    assert_eq!(droppable(0), [vec![0, 1, 3, 4], vec![0], vec![1], vec![2], vec![3]]);
    let alone = [0, 1, 2, 3, 4, 5].map(|step| vec![step]);
    assert_eq!(droppable(1), [&[vec![0, 5, 7], vec![1, 2, 3, 6]][..], &alone].concat());
    let twice =
        ["acquire stock", "release stock", "acquire stock", "release stock"].map(toml::Value::from).to_vec();
    let twice = edit("clients.0.program", Some(twice.into()));
    let gone = super::droppable(&twice.clients[0].program, &twice);
    assert_eq!(gone, [[0], [1], [2], [3]], "of two releases one can go, and of one lock not everything");
}

#[test]
fn with_a_client_goes_all_that_is_said_of_it() {
    let rich = rich();
    let host = |name: &str| HostIndex(rich.hosts.iter().position(|host| host.name == name).expect("a host"));
    let without_c1 = edit_all([
        ("clients.0", None),
        ("clients.0.start", None),
        ("clocks.c1", None),
        ("network.links.0", None),
        ("network.links.0", None),
        ("faults.6", None),
        ("faults.0", None),
        ("faults.0", None),
    ]);
    assert_eq!(remove_client(&rich, host("c1")).expect("no thread").to_toml(), without_c1.to_toml());
    let without_c2 =
        edit_all([("clients.1", None), ("network.links.2", None), ("faults.4", None), ("faults.1", None)]);
    assert_eq!(remove_client(&rich, host("c2")).expect("no thread").to_toml(), without_c2.to_toml());
    // Of a node the rest of a list stays.
    let without_a = edit_all([
        ("nodes.names.0", None),
        ("network.links.0", None),
        ("network.links.0", None),
        ("faults.0.host", Some("c1".into())),
        ("faults.6", None),
        ("faults.3", None),
    ]);
    assert_eq!(remove_host(rich.clone(), host("A")).to_toml(), without_a.to_toml());
}

#[test]
fn what_waited_for_what_is_gone_comes_when_it_came_and_what_never_came_goes() {
    let rich = rich();
    let mut run = LeanEngine.prepare(&rich).expect("it can be run").run(1);
    let c2 = rich.clients[1].host;
    let started = started_at(c2, &run).expect("it asks for a lock");
    let first = run.history.events().iter().find_map(|event| match event.what {
        EventKind::AcquireStarted { client, .. } if client.0 == 1 => Some(event.at.0),
        _ => None,
    });
    assert_eq!(Some(started.as_nanos() as u64), first);
    for came in [Some(777), None] {
        run.faults[0].from = came.map(doublehold_history::TrueNs);
        let timed = replace_moments(&rich, |event| mentions(event, "c1"), &run);
        let mut expected = rich.clone();
        expected.clients[1].start = Some(When::At(started));
        match came {
            Some(ns) => {
                expected.faults[0].at = When::At(Duration::from_nanos(ns));
                expected.faults[0].each = false;
            }
            None => drop(expected.faults.remove(0)),
        }
        assert_eq!(timed, expected);
    }
}

#[test]
fn an_event_is_of_both_ends_of_its_message_and_of_client_and_node_of_its_command() {
    let of = |text: &str| -> Vec<&str> {
        let Ok(When::On { events, .. }) = text.parse() else { panic!("`{text}` is an event") };
        let [Nth { event, .. }] = &events[..] else { panic!("{events:?}") };
        ["A", "B", "c1", "c2"].into_iter().filter(|name| mentions(event, name)).collect()
    };
    let cases = [
        ("c1's grant", &["c1"][..]),
        ("c2's timer", &["c2"]),
        ("A's boot", &["A"]),
        ("c1's clock read", &["c1"]),
        ("c1's message to B", &["B", "c1"]),
        ("A's message from c2", &["A", "c2"]),
        ("the 2nd SET executed for c1 on B", &["B", "c1"]),
        ("the 2nd SET executed for c2", &["c2"]),
    ];
    cases.into_iter().for_each(|(text, hosts)| assert_eq!(of(text), hosts, "{text}"));
}
