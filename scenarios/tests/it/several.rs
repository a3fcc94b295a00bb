//! Several locks and several objects in one scenario: each lock is one, with its own key, holders and fencing numbers.

use doublehold_history::{ClientId, EventKind, LockId, ObjectId, Predicate};
use doublehold_lockimpl::{Nodes, descriptors};
use doublehold_scenarios::build::World;
use doublehold_scenarios::report::KeySpan;
use doublehold_scenarios::scenario::{HostIndex, ObjectSetup, Scenario, Step};
use doublehold_scenarios::{Engine, Report, SimEngine, format::Source};

const LOCK: &str = r#"algorithm = "single", ttl = "10s", name = ["stock", "orders"]"#;

fn read(lock: &str, nodes: &str, program: &str, more: &str) -> Result<Scenario, String> {
    let text = format!(
        r#"
        claim = "there are several"
        lock = {{ {lock} }}
        nodes = {{ {nodes} }}
        clients = [
            {{ name = "c1", program = {program} }},
            {{ name = "c2", program = ["acquire orders", "release orders"] }},
        ]
        {more}
        "#
    );
    let source = Source { name: "several".into(), file: "several".into(), text, ..Source::default() };
    source.read().map_err(|error| error.to_string().replacen("cannot read scenario `several`: ", "", 1))
}

fn run(lock: &str, program: &str, more: &str) -> Report {
    let scenario = read(lock, r#"names = ["A"]"#, program, more).unwrap_or_else(|error| panic!("{error}"));
    SimEngine.run(&scenario, 1)
}

fn count(report: &Report, wanted: impl Fn(&EventKind) -> bool) -> usize {
    report.history.events().iter().filter(|event| wanted(&event.what)).count()
}

#[test]
fn whoever_holds_one_lock_keeps_nobody_from_another_whatever_lock_it_is() {
    for lock in descriptors() {
        let nodes = match lock.nodes {
            Nodes::One => r#"names = ["A"]"#,
            Nodes::Replicated => r#"names = ["A", "B"], master = "A""#,
            _ => r#"names = ["A", "B", "C"]"#,
        };
        let text = format!(r#"algorithm = "{}", ttl = "10s", name = ["stock", "orders"]"#, lock.name);
        let scenario = read(&text, nodes, r#"["acquire stock", "work 5s", "release stock"]"#, "");
        let report = SimEngine.run(&scenario.unwrap_or_else(|error| panic!("{error}")), 1);
        let name = lock.name;
        assert_eq!(count(&report, |what| matches!(what, EventKind::Granted { .. })), 2, "{name}");
        assert_eq!(count(&report, |what| matches!(what, EventKind::Refused { .. })), 0, "{name}");
        for predicate in [Predicate::P1, Predicate::WR] {
            assert_eq!(report.verdicts.get(predicate).as_str(), "holds", "{name}: {predicate}");
        }
        // The last of each on one node: who looks for a lock by taking it had another before.
        let node = report.keys.first().map(|key| key.node);
        let last = |lock| report.keys.iter().rfind(|key| key.lock == lock && Some(key.node) == node);
        let second = last(LockId(1)).expect("`orders` had a key");
        let first = last(LockId(0)).expect("`stock` had a key");
        let gone = |key: &KeySpan| key.until.map(|(at, _)| at);
        assert!(gone(second) < gone(first), "{name}: c2's key was given back while c1 was at work");
    }
}

#[test]
fn a_client_holds_both_at_once_and_gives_back_the_one_it_names() {
    let program = r#"["acquire stock", "acquire orders", "release stock", "work 5s", "release orders"]"#;
    let report = run(LOCK, program, "");
    let mine = |what: &EventKind| match what {
        EventKind::Granted { client: ClientId(0), lock, .. } => Some(format!("granted {}", lock.0)),
        EventKind::ReleaseCalled { client: ClientId(0), grant } => Some(format!("released call {}", grant.0)),
        _ => None,
    };
    let did: Vec<String> = report.history.events().iter().filter_map(|event| mine(&event.what)).collect();
    let [first, second, released, last] = &did[..] else { panic!("{did:?}") };
    assert_eq!([first.as_str(), second], ["granted 0", "granted 1"]);
    let calls = |lock: u32| {
        report.history.events().iter().find_map(|event| match event.what {
            EventKind::Granted { client: ClientId(0), grant, lock: LockId(of), .. } if of == lock => {
                Some(grant.0)
            }
            _ => None,
        })
    };
    assert_eq!(Some(released.as_str()), calls(0).map(|call| format!("released call {call}")).as_deref());
    assert_eq!(Some(last.as_str()), calls(1).map(|call| format!("released call {call}")).as_deref());
}

#[test]
fn each_object_has_its_own_content_and_each_lock_its_own_fencing_numbers() {
    let lock = &format!("{LOCK}, fencing = true");
    let more = r#"
        [resource]
        fencing = "reject-lower"
        object = { item = "stock", total = "stock", order = "orders" }
    "#;
    let program = r#"[
        "acquire stock", "read item", "write item", "read total", "write total", "release stock",
        "acquire stock", "read item", "write item", "release stock",
        "acquire orders", "read order", "write order", "release orders",
    ]"#;
    let report = run(lock, program, more);
    let applied = |what: &EventKind| match *what {
        EventKind::WriteApplied { object, version, fencing, .. } => {
            Some((report.history.header().object(object), version, fencing))
        }
        _ => None,
    };
    let applied: Vec<_> = report.history.events().iter().filter_map(|event| applied(&event.what)).collect();
    let [(item, 1, one), (total, 1, same), (again, 2, two), (order, 1, _)] = &applied[..] else {
        panic!("{applied:?}")
    };
    assert_eq!([item, total, again, order], ["item", "total", "item", "order"]);
    assert!(one == same && one < two, "{applied:?}");
    assert_eq!(count(&report, |what| matches!(what, EventKind::WriteRefused { .. })), 0);
}

#[test]
fn what_is_written_is_read_as_the_same() {
    let more = r#"resource = { object = { item = "stock", order = "orders", total = "stock" } }"#;
    let program =
        r#"["try orders", "acquire stock", "read item", "write total", "extend orders", "release stock"]"#;
    let scenario = read(LOCK, r#"names = ["A"]"#, program, more).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scenario.validate().map_err(|error| error.to_string()), Ok(scenario.clone()));
    let object = |name: &str, lock| ObjectSetup { name: name.to_owned(), lock: LockId(lock) };
    assert_eq!(scenario.resource.objects, [object("item", 0), object("order", 1), object("total", 0)]);
    assert_eq!(scenario.clients[0].program[..2], [Step::Try(LockId(1), None), Step::Acquire(LockId(0))]);
}

#[test]
fn a_lock_protects_an_object_of_its_name_where_nothing_is_said() {
    let scenario = read(LOCK, r#"names = ["A"]"#, r#"["acquire orders", "read orders"]"#, "");
    let objects = scenario.unwrap_or_else(|error| panic!("{error}")).resource.objects;
    let names: Vec<(&str, LockId)> = objects.iter().map(|it| (it.name.as_str(), it.lock)).collect();
    assert_eq!(names, [("orders", LockId(1)), ("stock", LockId(0))]);
}

fn refusal(lock: &str, program: &str, more: &str) -> String {
    let refused = read(lock, r#"names = ["A"]"#, program, more).expect_err("it makes no sense");
    let (_, what) = refused.split_once(": ").expect("a line comes first");
    what.replace("\nhint:", " | hint:")
}

#[test]
fn what_is_not_said_or_not_there_is_refused() {
    let steps = |steps: &str| refusal(LOCK, steps, "");
    assert_eq!(
        steps(r#"["acquire"]"#),
        "`clients.0.program.0` does not say which lock | hint: write `acquire stock` or `acquire orders`"
    );
    assert_eq!(
        steps(r#"["acquire stok"]"#),
        "`clients.0.program.0`: there is no lock `stok` | hint: did you mean `stock`?"
    );
    assert_eq!(
        steps(r#"["acquire stock", "read item"]"#),
        "`clients.0.program.1`: there is no object `item` | hint: known are `orders` and `stock`"
    );
    assert_eq!(
        steps(r#"["acquire stock", "write orders"]"#),
        "`clients.0.program.1` comes before the client has acquired the lock `orders` | hint: put `acquire orders` or \
         `try orders` before it"
    );
    assert_eq!(
        steps(r#"["acquire stock", "acquire orders", "acquire stock"]"#),
        "`clients.0.program.2` asks for a lock the client already holds, and `single` does not admit its holder again | \
         hint: release it first, or use `hash`, `hash-replicated`, `multi-lock`, `local-remote` or `thread-count`"
    );
}

#[test]
fn names_and_objects_that_do_not_fit_together_are_refused() {
    let lock = |names: &str| LOCK.replace(r#"["stock", "orders"]"#, names);
    let with = |names: &str| refusal(&lock(names), r#"["work 1s"]"#, "");
    assert_eq!(with(r#"["orders", "orders"]"#), "there are two locks `orders` | hint: name each once");
    assert_eq!(with("[]"), "`lock.name` names 0 locks | hint: name 1 to 16");
    assert_eq!(
        with("7"),
        "`lock.name` must be the name of a lock, not `7` | hint: name a lock, or a list of locks"
    );
    let objects =
        |object: &str| refusal(LOCK, r#"["work 1s"]"#, &format!("resource = {{ object = {object} }}"));
    assert_eq!(
        objects(r#""item""#),
        "`resource.object` names one object, and there are 2 locks | hint: name the lock of each object: \
         `object = { item = \"stock\" }`"
    );
    assert_eq!(
        objects(r#"{ item = "stok" }"#),
        "`resource.object.item`: there is no lock `stok` | hint: did you mean `stock`?"
    );
    assert_eq!(objects("{}"), "`resource.object` names 0 objects | hint: name 1 to 32");
}

/// What a world is refused for whose scenario is changed like this in Rust.
fn made(change: impl Fn(&mut Scenario) + Send + Sync + 'static) -> String {
    let world = World::new("two").locks(["stock", "orders"]).nodes(["A"]);
    let world = world.client("c1", ["acquire stock", "read stock", "release stock"]).with(change);
    let refused = world.scenario("single", descriptors()).expect_err("it makes no sense").to_string();
    refused.replacen("cannot use `two`: ", "", 1).replace("\nhint:", " | hint:")
}

#[test]
fn a_number_of_nothing_is_refused_in_a_world_made_in_rust() {
    assert_eq!(
        made(|it| it.clients[0].program[0] = Step::Acquire(LockId(3))),
        "`clients.0.program.0` is `LockId(3)`, of which there is none | hint: known are `LockId(0)` to `LockId(1)`"
    );
    assert_eq!(
        made(|it| it.clients[0].program[1] = Step::Read(ObjectId(3))),
        "`clients.0.program.1` is `ObjectId(3)`, of which there is none | hint: known are `ObjectId(0)` to `ObjectId(1)`"
    );
    assert_eq!(
        made(|it| {
            it.lock.names.truncate(1);
            it.resource.objects = vec![ObjectSetup { name: "item".into(), lock: LockId(9) }];
        }),
        "`resource.objects.0.lock` is `LockId(9)`, of which there is none | hint: the only one is `LockId(0)`"
    );
    assert_eq!(
        made(|it| it.nodes.master = Some(HostIndex(7))),
        "`nodes.master` is `HostIndex(7)`, of which there is none | hint: known are `HostIndex(0)` to `HostIndex(2)`"
    );
    assert!(made(|it| it.clients[0].host = HostIndex(7)).starts_with("`clients.0.host` is `HostIndex(7)`"));
    assert!(
        made(|it| it.links.push((HostIndex(0), HostIndex(7), it.link.clone()))).starts_with("`links.0` is")
    );
    assert_eq!(made(|it| it.lock.names.clear()), "`lock.names` is empty | hint: name at least one");
    assert_eq!(
        made(|it| it.resource.objects.clear()),
        "`resource.objects` is empty | hint: name at least one"
    );
}

#[test]
fn two_locks_or_objects_of_one_name_are_refused_in_a_world_made_in_rust() {
    let refused = made(|it| it.lock.names[1] = it.lock.names[0].clone());
    assert_eq!(refused, "there are two locks `stock` | hint: name each once");
    let refused = made(|it| it.resource.objects[1].name = it.resource.objects[0].name.clone());
    assert_eq!(refused, "there are two objects `orders` | hint: name each once");
}

#[test]
fn a_scenario_with_a_number_of_nothing_can_be_written_all_the_same() {
    let mut scenario =
        read(LOCK, r#"names = ["A"]"#, r#"["acquire stock", "read stock"]"#, "").expect("it is right");
    scenario.clients[0].program = vec![Step::Acquire(LockId(3)), Step::Read(ObjectId(3))];
    scenario.clients[1].host = HostIndex(7);
    scenario.resource.objects[0].lock = LockId(9);
    let text = scenario.to_toml();
    for written in [r#"program = ["acquire ?", "read ?"]"#, r#"name = "?""#, r#"orders = "?""#] {
        assert!(text.contains(written), "{text}");
    }
}

#[test]
fn blanks_around_a_name_are_no_part_of_it() {
    let objects = |object: &str| {
        let more = format!("resource = {{ object = {object} }}");
        read(LOCK, r#"names = ["A"]"#, r#"["work 1s"]"#, &more).map(|scenario| scenario.resource.objects)
    };
    let object = |name: &str, lock| ObjectSetup { name: name.to_owned(), lock: LockId(lock) };
    let read = objects(r#"{ " item" = "stock ", a = " orders" }"#);
    assert_eq!(read, Ok(vec![object("a", 1), object("item", 0)]), "in alphabetical order");
    let twice = objects(r#"{ item = "stock", " item" = "orders" }"#).expect_err("there are two");
    assert!(twice.ends_with("there are two objects `item`\nhint: name each once"), "{twice}");
}

/// As the format's page says.
#[test]
fn there_may_be_sixteen_locks_with_thirty_two_objects_and_programs_of_a_hundred_steps() {
    assert!(include_str!("../../FORMAT.md").contains("up to 16 locks, 32 objects and 100 steps"));
    let refused = |locks: usize, objects: usize, steps: usize| {
        let names: Vec<String> =
            (0..locks).map(|it| format!("\"l{it}\"")).chain(["\"orders\"".into()]).collect();
        let lock = LOCK.replace(r#""stock", "orders""#, &names.join(", "));
        let objects: Vec<String> = (0..objects).map(|it| format!("o{it} = \"orders\"")).collect();
        let program = format!("[{}]", vec!["\"work 1s\""; steps].join(", "));
        let more = format!("resource = {{ object = {{ {} }} }}", objects.join(", "));
        read(&lock, r#"names = ["A"]"#, &program, &more).err().unwrap_or_default()
    };
    assert_eq!(refused(15, 32, 100), "");
    assert!(refused(16, 1, 1).contains("`lock.name` names 17 locks\nhint: name 1 to 16"));
    assert!(refused(1, 33, 1).contains("`resource.object` names 33 objects\nhint: name 1 to 32"));
    assert!(refused(1, 1, 101).contains("`clients.0.program` has 101 steps\nhint: use 1 to 100"));
}

/// As the format's page says.
#[test]
fn a_moment_counts_the_grants_of_all_locks_and_a_claim_outlives_its_round() {
    let more = r#"
        [[faults]]
        kind = "slow"
        from = "c2"
        to = "A"
        by = "1ms"
        for = "1s"
        at = "c1's 2nd grant"
    "#;
    let report = run(LOCK, r#"["acquire stock", "work 1s", "acquire orders", "work 1s"]"#, more);
    let at = |wanted: &dyn Fn(&EventKind) -> bool| {
        report.history.events().iter().find(|event| wanted(&event.what)).map(|event| event.at)
    };
    let orders = at(&|what| matches!(what, EventKind::Granted { client: ClientId(0), lock: LockId(1), .. }));
    assert!(orders.is_some() && report.faults[0].from == orders, "{:?} {orders:?}", report.faults[0].from);

    let mut scenario =
        read(LOCK, r#"names = ["A"]"#, r#"["try stock", "work 1s"]"#, "").expect("it is right");
    scenario.clients[0].rounds = 3;
    let report = SimEngine.run(&scenario, 1);
    let died = report
        .history
        .events()
        .iter()
        .find(|event| matches!(event.what, EventKind::Died { client: ClientId(0) }));
    let claims = doublehold_history::claims(&report.history);
    let held: Vec<_> =
        claims.iter().filter(|claim| claim.client == ClientId(0)).map(|claim| claim.span.to).collect();
    assert_eq!(held, [died.expect("its process ends").at]);
}

#[test]
fn a_scenario_that_was_changed_in_rust_and_not_checked_is_refused_before_it_runs() {
    let scenario = read(LOCK, r#"names = ["A"]"#, r#"["acquire stock"]"#, "");
    let mut scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    scenario.clients[0].program[0] = Step::Acquire(LockId(3));
    let refused = SimEngine.prepare(&scenario).err().expect("there is no fourth lock").to_string();
    assert!(refused.starts_with("`clients.0.program.0`"), "{refused}");
}

/// One lock for two objects, and a reader of both between c1's two writes.
const TORN: &str = r#"
claim = "half of a pair is written"
lock = { algorithm = "single", ttl = "10s", fencing = true }
nodes = { names = ["A"] }
resource = { fencing = "FENCING", object = { x = "stock", y = "stock" } }
[[clients]]
name = "c1"
program = ["acquire", "write x", "work 1s", "write y", "release"]
[[clients]]
name = "c2"
program = ["acquire", "read x", "read y", "write y", "release"]
start = "c1's grant"
retry = "10ms"
[[faults]]
kind = "pause"
host = "c1"
for = "14s"
at = "500ms after c1's write"
"#;

/// c1 is paused between its writes for longer than its lease, and the second is refused: as if it had died there.
#[test]
fn half_of_what_a_grant_meant_to_write_is_no_anomaly_and_reading_around_another_is() {
    let of = |fencing: &str| {
        let text = TORN.replace("FENCING", fencing);
        let source = Source { name: "torn".into(), text, ..Source::default() };
        SimEngine.run(&source.read().unwrap_or_else(|error| panic!("{error}")), 1)
    };
    let applied = |report: &Report| count(report, |what| matches!(what, EventKind::WriteApplied { .. }));
    let fenced = of("reject-lower");
    assert_eq!(applied(&fenced), 2, "c2's own, and half of c1's pair");
    assert_eq!(fenced.verdicts.get(Predicate::P4).as_str(), "holds");
    // Unfenced, c1 completes the pair around the other's reads, which no order of the two explains.
    let whole = of("off");
    assert_eq!(applied(&whole), 3);
    assert_eq!(whole.verdicts.get(Predicate::P4).as_str(), "violated");
}
