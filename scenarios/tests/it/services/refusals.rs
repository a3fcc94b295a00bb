//! Bad input about services: what is typed, and the one message that says where, why and what to do instead.

use doublehold_scenarios::format::Source;

const GOOD: &str = r#"claim = "a lock on a service"
lock = { algorithm = "kazoo", ttl = "10s" }
nodes = { names = ["zk"] }
clients = [{ name = "c1", program = ["acquire", "write", "release"] }]
"#;

/// Returns the message for the good scenario with these texts in place of others, and more at its end.
fn message(changes: &[(&str, &str)], more: &str) -> String {
    let mut text = GOOD.to_owned() + more;
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
fn a_session_needs_room_for_two_heartbeats() {
    assert_eq!(
        message(&[("10s", "3s")], ""),
        "line 2: `lock.ttl` is 3 s, and with a tick of 2 s ZooKeeper gives sessions from 4 s to 40 s: two heartbeats \
         fit into no less | hint: use such a `ttl`, or another `service.tick`"
    );
    assert_eq!(message(&[("10s", "3s")], "[service]\ntick = \"1s\"\n"), "accepted");
    assert_eq!(
        message(&[("kazoo", "etcd3"), ("10s", "1500ms")], ""),
        "line 2: etcd gives leases of whole seconds, 2s at least, and the ttl is 1.5s | hint: use whole seconds from \
         \"2s\""
    );
}

#[test]
fn a_library_that_tells_nothing_has_nothing_to_heed() {
    assert_eq!(
        message(&[("\"kazoo\"", "\"etcdctl-lock\", heeds_loss = true")], ""),
        "line 2: `lock.heeds_loss` means nothing to the `etcdctl-lock` lock | hint: remove it, or change \
         `lock.algorithm` to `etcd-mutex` or `etcd3`; `etcdctl-lock` takes `checks_key` and `fencing`"
    );
}

#[test]
fn a_group_is_one_host_and_no_fault_strikes_inside_it() {
    assert_eq!(
        message(&[("[\"zk\"]", "[\"zk1\", \"zk2\", \"zk3\", \"zk4\"]")], ""),
        "line 3: `nodes.names` names 4 hosts: zookeeper is one host here, since the group behind it is taken as \
         correct, and an even group survives no more than one less | hint: name one host; a fault inside the group \
         cannot be simulated"
    );
    assert_eq!(
        message(&[("[\"zk\"]", "[\"zk\"], persistence = \"none\"")], ""),
        "line 3: `nodes.persistence` is a setting of Redis, and the node is zookeeper | hint: remove it; what a \
         service can be told stands under `[service]`"
    );
    assert_eq!(
        message(&[], "faults = [{ kind = \"flush\", host = \"zk\", at = \"1s\" }]\n"),
        "line 5: `faults.0.host`: zk is zookeeper, whose group is taken as correct: no `flush` strikes inside it | \
         hint: stop, cut off or crash the host, or let its clients be struck"
    );
}

#[test]
fn only_a_database_has_a_standby_and_it_is_one_of_two_hosts() {
    let standby = "service = { standby = \"zk2\" }\n";
    assert_eq!(
        message(&[("[\"zk\"]", "[\"zk\", \"zk2\"]")], standby),
        "line 5: `service.standby`: zookeeper has no standby, since the group behind it is taken as correct | hint: \
         remove it, or use `row-lock` or `advisory-lock`"
    );
    assert_eq!(
        message(&[("kazoo", "etcd3")], "service = { standby_lag = \"1s\" }\n"),
        "line 5: `service.standby_lag`: etcd has no standby, since the group behind it is taken as correct | hint: \
         remove it, or use `row-lock` or `advisory-lock`"
    );
    let row = |names: &str, more: &str| message(&[("kazoo", "row-lock"), ("\"zk\"", names)], more);
    assert_eq!(
        row("\"db\"", "service = { standby_lag = \"1s\" }\n"),
        "line 5: `service.standby_lag` does nothing without a standby | hint: add a host to `nodes.names`, and name \
         it in `service.standby`"
    );
    assert_eq!(
        row("\"db\"", "service = { standby = \"db2\" }\n"),
        "line 5: `service.standby`: `db2` is none of `nodes.names` | hint: add it there, beside the primary"
    );
    assert_eq!(
        row("\"db\"", "service = { standby = \"c1\" }\n"),
        "line 5: `service.standby`: `c1` is none of `nodes.names` | hint: add it there, beside the primary"
    );
    assert_eq!(
        row("\"db\"", "service = { standby = \"db\" }\n"),
        "line 3: `nodes.names` names 1, and a primary with its standby are 2 hosts | hint: name a primary and a \
         standby"
    );
    assert_eq!(
        row("\"db\", \"db2\"", ""),
        "line 3: `nodes.names` names 2 hosts, and a database is one without a standby | hint: name one host, or two \
         and one of them in `service.standby`"
    );
    assert_eq!(row("\"db\", \"db2\"", "service = { standby = \"db2\" }\n"), "accepted");
    assert_eq!(row("\"db\", \"db2\"", "service = { standby = \"db\", standby_lag = \"1s\" }\n"), "accepted");
}

#[test]
fn only_the_standby_of_a_database_can_be_promoted() {
    let promote = |names: &str, service: &str, host: &str, more: &str| {
        let fault = format!("faults = [{{ kind = \"promote\", host = \"{host}\", at = \"1s\"{more} }}]\n");
        message(&[("kazoo", "row-lock"), ("\"zk\"", names)], &(service.to_owned() + &fault))
    };
    assert_eq!(
        promote("\"db\"", "", "db", ""),
        "line 5: `faults.0.host`: db has no standby, so nothing can be promoted | hint: add a host to `nodes.names`, \
         and name it in `service.standby`"
    );
    let both = "\"db\", \"db2\"";
    let standby = "service = { standby = \"db2\" }\n";
    assert_eq!(
        promote(both, standby, "db", ""),
        "line 6: `faults.0.host`: db is not the standby | hint: promote `db2`"
    );
    assert_eq!(
        promote(both, standby, "c1", ""),
        "line 6: `faults.0.host`: c1 is not the standby | hint: promote `db2`"
    );
    assert_eq!(
        promote(both, standby, "db2", ", tell = [\"db\"]"),
        "line 6: `faults.0.tell` means nothing to a database, which clients find by its name | hint: remove it"
    );
    assert_eq!(
        promote(both, standby, "db2", ", rewrite_config = false"),
        "line 6: `faults.0.rewrite_config` means nothing to a database, which clients find by its name | hint: \
         remove it"
    );
    assert_eq!(promote(both, standby, "db2", ""), "accepted");
    assert_eq!(
        message(&[], "faults = [{ kind = \"promote\", host = \"zk\", at = \"1s\" }]\n"),
        "line 5: `faults.0.host`: zk is zookeeper, whose group is taken as correct: no `promote` strikes inside it | \
         hint: stop, cut off or crash the host, or let its clients be struck"
    );
}

#[test]
fn a_row_guards_only_what_is_written_in_its_session() {
    let elsewhere = |expect: &str| {
        let row = [("kazoo", "row-lock")];
        message(&row, &format!("resource = {{ writes = \"elsewhere\" }}\nexpect = {{ {expect} }}\n"))
    };
    assert_eq!(elsewhere("P3 = \"violated\""), "accepted");
    assert_eq!(
        message(&[], "resource = { writes = \"in-session\" }\n"),
        "line 5: `resource.writes`: the `kazoo` lock has no session to write in | hint: write `writes = \
         \"elsewhere\"`, or use `row-lock`"
    );
    assert_eq!(
        message(&[("kazoo", "row-lock")], "resource = { version_check = true }\n"),
        "line 5: `resource.version_check` guards nothing: clients write in the session that holds the lock | hint: \
         remove it, or write `resource.writes = \"elsewhere\"`"
    );
}

#[test]
fn a_service_without_numbers_cannot_be_fenced() {
    assert_eq!(
        message(
            &[("kazoo", "row-lock")],
            "resource = { writes = \"elsewhere\", fencing = \"reject-lower\" }\n"
        ),
        "line 5: the resource checks fencing numbers and the lock makes none, so that every write is refused | hint: \
         use another lock, or remove `resource.fencing`"
    );
}

#[test]
fn settings_of_another_service_are_refused_with_those_that_there_are() {
    assert_eq!(
        message(&[], "service = { keepalive_idle = \"2s\" }\n"),
        "line 5: `service.keepalive_idle` means nothing to zookeeper | hint: remove it; zookeeper takes `tick` and \
         `lock_delay`"
    );
    assert_eq!(
        message(&[("kazoo", "single")], "service = { tick = \"2s\" }\n"),
        "line 5: `service.tick`: the `single` lock runs on Redis | hint: remove `[service]`, or use `kazoo`, \
         `curator`, `etcd-mutex`, `etcdctl-lock`, `etcd3`, `row-lock` or another of `doublehold locks`"
    );
    assert_eq!(
        message(&[], "service = { kind = \"etcd\" }\n"),
        "line 5: `service.kind`: the `kazoo` lock needs zookeeper, not etcd | hint: write `kind = \"zookeeper\"`"
    );
    assert_eq!(
        message(&[("kazoo", "row-lock")], "service = { keepalive_count = 3 }\n"),
        "line 5: `service.keepalive_count` does nothing without `keepalive_idle` | hint: add `keepalive_idle = \"2s\"`"
    );
}
