//! Bad input about what guards the data, as a table: what is typed, and the one message that says where, why and what
//! to do instead.

use std::collections::BTreeSet;

use doublehold_history::{EventKind, LockId, ObjectId};
use doublehold_lockimpl::{Descriptor, Nodes, ServiceKind, descriptors};
use doublehold_scenarios::format::Source;
use doublehold_scenarios::scenario::{Scenario, Step};
use doublehold_scenarios::{Engine, SimEngine};

/// A scenario with nothing wrong: the table `[resource]` is its last line.
const GOOD: &str = r#"claim = "something can be shown"
lock = { algorithm = "redlock", ttl = "10s" }
nodes = { names = ["A", "B", "C"] }
[[clients]]
name = "c1"
program = ["acquire", "read", "write", "release"]
[resource]
"#;
const PROGRAM: &str = "[\"acquire\", \"read\", \"write\", \"release\"]";

/// Returns the message for the good scenario with these lines at its end, and these texts in place of others.
fn message(resource: &str, changes: &[(&str, &str)]) -> String {
    let mut text = GOOD.to_owned() + resource;
    for (line, replacement) in changes {
        assert!(text.contains(line), "`{line}` is not in the good scenario");
        text = text.replacen(line, replacement, 1);
    }
    let source = Source { name: "x".into(), file: "x.toml".into(), text, ..Source::default() };
    match source.read() {
        Ok(_) => "accepted".to_owned(),
        Err(error) => {
            error.to_string().replace("cannot read scenario `x.toml`: ", "").replace("\nhint", " | hint")
        }
    }
}

#[test]
fn what_needs_something_shown_first_is_refused_without_it() {
    let prepared = |program: &str| message("fencing = \"compare-marker\"", &[(PROGRAM, program)]);
    assert_eq!(prepared("[\"acquire\", \"prepare\", \"read\", \"write\", \"release\"]"), "accepted");
    assert_eq!(
        prepared(PROGRAM),
        "line 4: `clients.0.program`: the `write` needs a marker, and it has left none | hint: put `prepare` before it"
    );
    let numbered = |resource: &str, program: &str| message(resource, &[(PROGRAM, program)]);
    let own = "fencing = \"reject-lower\"\nnumbers = \"resource\"";
    assert_eq!(numbered(own, "[\"acquire\", \"read\", \"prepare\", \"write\", \"release\"]"), "accepted");
    assert_eq!(
        numbered(own, "[\"acquire\", \"read\", \"write\", \"prepare\", \"release\"]"),
        "line 4: `clients.0.program`: the `write` needs a number, and it has asked for none | hint: put `prepare` before it"
    );
    assert_eq!(
        numbered(
            &format!("{own}\nfence_reads = true"),
            "[\"acquire\", \"read\", \"prepare\", \"write\", \"release\"]"
        ),
        "line 4: `clients.0.program`: the `read` needs a number, and it has asked for none | hint: put `prepare` before it"
    );
}

#[test]
fn what_does_nothing_beside_another_choice_is_refused() {
    assert_eq!(
        message("numbers = \"resource\"", &[]),
        "line 7: `resource.numbers` does nothing while `resource.fencing` compares no numbers | hint: set `fencing = \"reject-lower\"` as well"
    );
    assert_eq!(
        message("fence_reads = true", &[]),
        "line 7: `resource.fence_reads` does nothing while `resource.fencing` is off | hint: set `fencing = \"reject-lower\"` as well"
    );
    assert_eq!(
        message(
            "fence_reads = true\nfencing = \"client-compares-marker\"",
            &[(PROGRAM, "[\"acquire\", \"prepare\", \"read\", \"write\", \"release\"]")]
        ),
        "line 7: `resource.fence_reads` does nothing while `resource.fencing` is client-compares-marker | hint: set `fencing = \"reject-lower\"` as well"
    );
    assert_eq!(
        message("fencing = \"reject-lower\"", &[]),
        "line 7: the resource checks fencing numbers and the lock makes none, so that every write is refused | hint: use `single` or `replicated` with `lock.fencing = true`, or remove `resource.fencing`"
    );
}

/// Two clients that take a lock one after the other.
fn two_grants(lock: &Descriptor, resource: &str) -> Result<Scenario, String> {
    let nodes = match lock.nodes {
        Nodes::One => "names = [\"A\"]",
        Nodes::Replicated => "names = [\"M\", \"R1\"], master = \"M\"",
        Nodes::Independent => "names = [\"A\", \"B\", \"C\"]",
    };
    // A database's table has no other guard than the session.
    let elsewhere = matches!(lock.service, Some(ServiceKind::Database));
    let resource =
        if elsewhere { format!("writes = \"elsewhere\", {resource}") } else { resource.to_owned() };
    let text = format!(
        "claim = \"two grants\"\nlock = {{ algorithm = \"{}\", ttl = \"10s\" }}\nnodes = {{ {nodes} }}\n\
         resource = {{ {resource} }}\n\
         [[clients]]\nname = \"c1\"\nprogram = [\"acquire\", \"release\"]\n\
         [[clients]]\nname = \"c2\"\nprogram = [\"acquire\", \"release\"]\nstart = \"5s\"\n",
        lock.name
    );
    let source = Source { name: "x".into(), file: "x.toml".into(), text, ..Source::default() };
    source.read().map_err(|error| error.to_string())
}

#[test]
fn tokens_are_compared_of_every_lock_that_tells_its_holders_apart_and_of_no_other() {
    for lock in descriptors() {
        let scenario = two_grants(&lock, "").unwrap_or_else(|error| panic!("{error}"));
        let report = SimEngine.run(&scenario, 1);
        let token = |what: &EventKind| match what {
            EventKind::Granted { token, .. } => Some(token.clone()),
            _ => None,
        };
        let tokens: Vec<_> = report.history.events().iter().filter_map(|event| token(&event.what)).collect();
        assert_eq!(tokens.len(), 2, "{}", lock.name);
        let differ = tokens.iter().collect::<BTreeSet<_>>().len() == 2;
        let refused = two_grants(&lock, "fencing = \"reject-replaced\"").err();
        assert_eq!(refused.is_none(), differ, "{}: {refused:?}", lock.name);
    }
    let setnx = lock_named("setnx");
    assert_eq!(
        two_grants(&setnx, "fencing = \"compare-marker\"").err().as_deref(),
        Some(
            "cannot read scenario `x.toml`: line 4: `resource.fencing` is compare-marker, and all grants of the \
             `setnx` lock have one token\nhint: use a lock whose grants have tokens of their own, such as `single`"
        )
    );
}

fn lock_named(name: &str) -> Descriptor {
    descriptors().into_iter().find(|lock| lock.name == name).expect("it is one of ours")
}

#[test]
fn a_lock_is_asked_where_one_node_says_whose_it_is_and_nowhere_else() {
    let mut refused = Vec::new();
    for lock in descriptors().into_iter().filter(|lock| lock.nodes == Nodes::One) {
        let Ok(mut scenario) = two_grants(&lock, "fencing = \"ask-lock\"") else { continue };
        let work = [Step::Acquire(LockId(0)), Step::Write(ObjectId(0)), Step::Release(LockId(0))];
        scenario.clients.iter_mut().for_each(|client| client.program = work.to_vec());
        let report = SimEngine.run(&scenario, 1);
        let applied = |what: &EventKind| matches!(what, EventKind::WriteApplied { .. });
        let writes = report.history.events().iter().filter(|event| applied(&event.what)).count();
        refused.extend((writes != 2).then_some(lock.name));
    }
    assert_eq!(refused, [""; 0], "their holders are refused");
    let said = |name: &str| two_grants(&lock_named(name), "fencing = \"ask-lock\"").err().unwrap_or_default();
    let beginning = "cannot read scenario `x.toml`: line 4: the resource asks";
    assert_eq!(
        said("redlock"),
        format!(
            "{beginning} one node whose the lock is, and there are 3: none of them knows it alone\n\
             hint: name one node, or let `resource.fencing` compare something else"
        )
    );
    assert_eq!(
        said("hash"),
        format!(
            "{beginning} for the key of the lock, which for `hash` is no token\n\
             hint: use a lock whose key is its token, such as `single`"
        )
    );
    assert_eq!(said("single"), "");
    assert_eq!(
        message("no_answer = \"apply\"", &[]),
        "line 7: `resource.no_answer` does nothing while the resource does not ask the lock | \
         hint: set `fencing = \"ask-lock\"` as well"
    );
}

#[test]
fn replicas_that_cannot_answer_or_have_no_order_are_refused() {
    let of_lock = |resource: &str| {
        let lock = "{ algorithm = \"single\", ttl = \"10s\", fencing = true }";
        message(
            resource,
            &[("{ algorithm = \"redlock\", ttl = \"10s\" }", lock), ("\"A\", \"B\", \"C\"", "\"A\"")],
        )
    };
    assert_eq!(
        of_lock("replicas = 5\nwrite_quorum = 4\nread_quorum = 2\nfencing = \"reject-lower\""),
        "accepted"
    );
    assert_eq!(of_lock("replicas = 1"), "accepted");
    assert_eq!(
        of_lock("replicas = 3\nwrite_quorum = 4"),
        "line 9: `resource.write_quorum` is 4, and there are 3 replicas | hint: use 1 to 3"
    );
    assert_eq!(
        of_lock("read_quorum = 2"),
        "line 8: `resource.read_quorum` does nothing while the data are on one host | hint: set `replicas = 3` as well"
    );
    assert_eq!(
        of_lock("replicas = 6"),
        "line 8: `resource.replicas` must be a whole number within bounds, not `6` | hint: use 1 to 5"
    );
    assert_eq!(
        message("replicas = 3", &[]),
        "line 7: replicas order values by fencing numbers, and the lock makes none | hint: use `single` or \
         `replicated` with `lock.fencing = true`, or remove `resource.replicas`"
    );
    for other in ["fencing = \"reject-replaced\"", "version_check = true", "fencing = \"ask-lock\""] {
        assert_eq!(
            of_lock(&format!("replicas = 3\n{other}")),
            "line 7: replicas order values by the lock's fencing numbers, and the resource is to compare something \
             else | hint: let `fencing` be off, reject-lower or reject-lower-or-equal, and leave `numbers` and \
             `version_check`"
        );
    }
    let prepared = (PROGRAM, "[\"acquire\", \"prepare\", \"read\", \"write\", \"release\"]");
    assert_eq!(
        message("replicas = 3\nprepare_quorum = 2", &[prepared]),
        "line 7: replicas order values by fencing numbers, and the lock makes none | hint: use `single` or \
         `replicated` with `lock.fencing = true`, or remove `resource.replicas`"
    );
    assert_eq!(
        message("replicas = 3", &[("\"A\", \"B\", \"C\"", "\"A\", \"B\", \"resource-2\"")]),
        "line 7: `resource-2` is the name of a replica of the resource | hint: give the other host another name"
    );
    assert_eq!(
        of_lock("forgets = true"),
        "line 7: `resource.forgets` does nothing while `resource.fencing` is off | hint: set `fencing = \
         \"reject-lower\"` as well"
    );
}
