//! Bad input, as a table: what is typed, and the one message that says where, why and what to do instead.

use doublehold_scenarios::catalog;
use doublehold_scenarios::format::Source;
use doublehold_sim::{Seed, Stream};

/// A scenario that is as short as can be and has everything a bad line can be about.
const GOOD: &str = r#"claim = "something can be shown"
lock = { algorithm = "redlock", ttl = "10s" }
nodes = { names = ["A", "B", "C"] }
[[clients]]
name = "c1"
program = ["acquire", "read", "work 1s", "check", "write", "release"]
[[clients]]
name = "c2"
program = ["try", "work 1s", "release"]
[[faults]]
kind = "pause"
host = "c1"
for = "12s"
at = "c1's check"
"#;

/// Replaces one line of the good scenario, reads it, and returns the message without its constant beginning.
fn refusal(line: &str, replacement: &str) -> String {
    assert!(GOOD.contains(line), "`{line}` is not in the good scenario");
    message(&GOOD.replacen(line, replacement, 1))
}

fn message(text: &str) -> String {
    let source = Source { name: "x".into(), file: "x.toml".into(), text: text.into(), ..Source::default() };
    let message = match source.read() {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error.to_string(),
    };
    message
        .strip_prefix("cannot read scenario `x.toml`: ")
        .expect("every message begins alike")
        .replace("\nhint", " | hint")
}

#[test]
fn the_good_scenario_is_accepted() {
    let source = Source { name: "x".into(), file: "x.toml".into(), text: GOOD.into(), ..Source::default() };
    assert_eq!(source.read().map(|scenario| scenario.faults.len()).map_err(|error| error.to_string()), Ok(1));
}

/// Each case: a line of the good scenario, what stands there instead, and the message.
fn check(cases: &[(&str, &str, &str)]) {
    for (line, replacement, expected) in cases {
        assert_eq!(refusal(line, replacement), *expected, "for `{replacement}`");
    }
}

#[test]
fn unknown_words_are_refused_with_the_closest_known_one() {
    check(&[
        (
            "host = \"c1\"",
            "hots = \"c1\"",
            "line 12: unknown key `hots` in `faults.0` | hint: did you mean `host`?",
        ),
        ("claim =", "clam = 1\nclaim =", "line 1: unknown key `clam` | hint: did you mean `claim`?"),
        (
            "host = \"c1\"",
            "host = \"c9\"",
            "line 12: `faults.0.host`: there is no host `c9` | hint: did you mean `c1`?",
        ),
        (
            "\"pause\"",
            "\"pose\"",
            "line 11: `faults.0.kind` must be one of `pause`, `suspend`, `crash`, `power-loss`, `clock-step`, `clock-drift`, `clock-freeze`, `cut`, `slow`, `packet-delay`, `duplicate`, `loss`, `reset-connections`, `slow-node`, `fsync-lies`, `disk-snapshot`, `disk-rollback`, `flush`, `evict`, `promote` and `follow`, not `pose` | hint: did you mean `pause`?",
        ),
        (
            "ttl = \"10s\"",
            "ttl = \"10s\", clock = \"monotone\"",
            "line 2: `lock.clock` must be one of `wall`, `monotonic` and `boot`, not `monotone` | hint: did you mean `monotonic`?",
        ),
        (
            "[[faults]]",
            "[expect]\nP7 = \"holds\"\n[[faults]]",
            "line 11: unknown predicate `P7` | hint: did you mean `P1`?",
        ),
        (
            "[[faults]]",
            "[expect]\nP1 = \"fails\"\n[[faults]]",
            "line 11: `expect.P1` must be one of `holds`, `violated` and `not-seen`, not `fails` | hint: did you mean \"violated\"?",
        ),
        (
            "\"work 1s\", \"release\"",
            "\"wrok 1s\", \"release\"",
            "line 9: `clients.1.program.1` must be a step of a program, not `wrok 1s` | hint: did you mean `work`?",
        ),
        (
            "kind = \"pause\"\nhost = \"c1\"\nfor = \"12s\"",
            "kind = \"clock-freeze\"\nhost = \"c1\"\nclock = \"cpu\"",
            "line 13: `faults.0.clock` must be one of `wall`, `monotonic` and `boot`, not `cpu` | hint: known are `wall`, `monotonic` and `boot`",
        ),
        (
            "[[faults]]",
            "[clocks.c7]\noffset = \"1s\"\n[[faults]]",
            "line 10: `clocks.c7`: there is no host `c7` | hint: did you mean `c1`?",
        ),
    ]);
}

#[test]
fn an_unknown_lock_is_refused_with_near_ones_and_a_library_under_another_name_with_its_own() {
    let refused = |name: &str| refusal("\"redlock\"", &format!("\"{name}\""));
    for (typed, way_out) in [
        ("redlok", "did you mean `redlock` or `redlock-py`?"),
        ("BullMQ", "did you mean `bullmq`?"),
        ("LockManager", "did you mean `bullmq`?"),
        ("zookeeper-recipe", "`doublehold locks` lists those that there are"),
    ] {
        let expected =
            format!("line 2: `lock.algorithm` must be the name of a lock, not `{typed}` | hint: {way_out}");
        assert_eq!(refused(typed), expected);
    }
}

#[test]
fn a_switch_that_a_library_fixes_is_refused_with_the_lock_that_has_it_open() {
    let text = "\"bullmq\", request_timeout = \"5s\"";
    assert_eq!(
        refusal("\"redlock\"", text),
        "line 2: `lock.request_timeout`: `bullmq` is the library as it is, and fixes `request_timeout` | hint: remove \
         it, or use `job`, which has it open; `bullmq` leaves open `stalled_check`, `renew_every` and \
         `told_on_loss`, and `doublehold locks bullmq` shows how it is set"
    );
    let foreign = refusal("\"redlock\"", "\"bullmq\", tries = 5");
    assert!(foreign.contains("change `lock.algorithm` to `redlock`; `bullmq` takes"), "{foreign}");
}

#[test]
fn durations_are_texts_with_a_unit_and_not_negative() {
    let hint = "the units are `ns`, `us`, `ms`, `s`, `m`, `h`, `d` and `y`";
    let not = |what: &str| {
        format!("line 13: `faults.0.for` must be a duration such as \"2.5s\", not `{what}` | hint: {hint}")
    };
    check(&[
        ("\"12s\"", "12", &not("12").replace(hint, "did you mean \"12s\"?")),
        ("\"12s\"", "\"12\"", &not("12").replace(hint, "did you mean \"12s\"?")),
        ("\"12s\"", "\"12 parsecs\"", &not("12 parsecs")),
        ("\"12s\"", "\"\"", &not("")),
        ("\"12s\"", "\"1.s\"", &not("1.s")),
        (
            "\"12s\"",
            "\"-12s\"",
            "line 13: `faults.0.for` must not be negative: `-12s` | hint: use a duration from \"0s\" up",
        ),
        (
            "\"12s\"",
            "\"12y\"",
            "line 13: `faults.0.for` is longer than ten years: `12y` | hint: use at most \"10y\", which is \"87600h\": no lease is longer, and sums stay in range",
        ),
        (
            "\"12s\"",
            "\"99999999999999999999y\"",
            "line 13: `faults.0.for` has too many digits: `99999999999999999999y` | hint: use at most 18",
        ),
        (
            "\"12s\"",
            "\"0.1ns\"",
            "line 13: `faults.0.for` is finer than a nanosecond: `0.1ns` | hint: use whole nanoseconds",
        ),
        (
            "\"12s\"",
            "\"0s\"",
            "line 13: `faults.0.for` is zero | hint: use a longer duration, such as \"10s\"",
        ),
        (
            "\"12s\"",
            "1.5",
            "line 13: `1.5` has a fraction, and no key takes one | hint: write durations as \"1.5s\" and shares as ratios such as \"1/200\"",
        ),
        (
            "\"12s\"",
            "2026-01-01",
            "line 13: `2026-01-01` is a date, and no key takes one | hint: write durations since the start of the run, such as \"2.5s\"",
        ),
        (
            "ttl = \"10s\"",
            "ttl = \"0ms\"",
            "line 2: `lock.ttl` is zero | hint: use a longer duration, such as \"10s\"",
        ),
        (
            "work 1s\", \"check",
            "work\", \"check",
            "line 6: `clients.0.program.2` does not say how long to work | hint: write `work 2s` or `work 1s..3s`",
        ),
        (
            "work 1s\", \"check",
            "work 3s..1s\", \"check",
            "line 6: `clients.0.program.2`: the time to work must name the shorter one first: `3s..1s` | hint: write it as \"1ms..5ms\"",
        ),
    ]);
}

#[test]
fn probabilities_and_rates_are_ratios_within_bounds() {
    let ratio = "write a ratio from \"0/1\" to \"1/1\"";
    let network = |loss: &str| format!("[network]\nloss = {loss}\n[[faults]]");
    let cases = [
        (
            "\"3/2\"",
            format!(
                "line 11: `network.loss`: `3/2` is not a probability: it must lie between 0 and 1 | hint: {ratio}"
            ),
        ),
        (
            "\"1/0\"",
            format!(
                "line 11: `network.loss`: `1/0` is not a probability: it must lie between 0 and 1 | hint: {ratio}"
            ),
        ),
        ("\"half\"", format!("line 11: `network.loss`: `half` is not a probability | hint: {ratio}")),
        (
            "1",
            format!(
                "line 11: `network.loss` must be a probability such as \"1/200\", not `1` | hint: {ratio}"
            ),
        ),
    ];
    for (loss, expected) in cases {
        assert_eq!(refusal("[[faults]]", &network(loss)), expected);
    }
    let drift = refusal("[[faults]]", "[clocks.c1]\ndrift = \"-1/1\"\n[[faults]]");
    assert!(
        drift.starts_with(
            "line 11: `clocks.c1.drift` must be a rate error from \"-1/2\" to \"9/1\", not `-1/1`"
        ),
        "{drift}"
    );
}

#[test]
fn a_number_in_quotes_is_told_from_the_number() {
    check(&[
        (
            "algorithm = \"redlock\"",
            "algorithm = \"redlock\", tries = \"1\"",
            "line 2: `lock.tries` must be a whole number, not the text `1` | hint: write it without quotes: `tries = 1`",
        ),
        (
            "name = \"c2\"",
            "name = \"c2\"\nrounds = \"300000\"",
            "line 9: `clients.1.rounds` must be a whole number, not the text `300000` | hint: write it without quotes, and use 1 to 100000",
        ),
        (
            "algorithm = \"redlock\"",
            "algorithm = \"redlock\", jitter = \"true\"",
            "line 2: `lock.jitter` must be `true` or `false`, not the text `true` | hint: write it without quotes",
        ),
    ]);
    let replicated = GOOD
        .replacen("algorithm = \"redlock\"", "algorithm = \"replicated\", wait_replicas = \"1\"", 1)
        .replacen("names = [\"A\", \"B\", \"C\"]", "names = [\"A\", \"B\", \"C\"], master = \"A\"", 1);
    assert_eq!(
        message(&replicated),
        "line 2: `lock.wait_replicas` must be a whole number, not the text `1` | hint: write it without quotes: `wait_replicas = 1`"
    );
}

#[test]
fn a_client_that_would_wait_for_itself_is_refused() {
    for event in ["c1's grant", "1s after SET executed for c1 on A", "c2's grant after c1's release"] {
        let start = format!("name = \"c1\"\nstart = \"{event}\"");
        assert_eq!(
            refusal("name = \"c1\"", &start),
            "line 6: `clients.0.start`: c1 waits for what it does itself | hint: name a time, or what another client does"
        );
    }
}

#[test]
fn a_limit_of_memory_is_a_size_within_bounds() {
    let units = "hint: the units are `B`, `kB`, `MB`, `GB`, `KiB`, `MiB` and `GiB`";
    let bounds = "hint: use 1 MiB to 64 GiB";
    for (typed, expected) in [
        ("1024", format!("must be a size such as \"1GiB\", not `1024` | {units}")),
        ("\"1024\"", format!("must be a size such as \"1GiB\", not the text `1024` | {units}")),
        ("\"1 gib\"", format!("must be a size such as \"1GiB\", not `1 gib` | {units}")),
        ("\"-1GiB\"", format!("must be a size such as \"1GiB\", not `-1GiB` | {units}")),
        (
            "\"99999999999999999999GiB\"",
            format!("must be a size such as \"1GiB\", not `99999999999999999999GiB` | {units}"),
        ),
        ("\"1048575B\"", format!("must be a size within bounds, not `1048575B` | {bounds}")),
        ("\"65GiB\"", format!("must be a size within bounds, not `65GiB` | {bounds}")),
    ] {
        let line = format!("limits = {{ memory = {typed} }}\n[[clients]]\nname = \"c1\"");
        let text = GOOD.replacen("[[clients]]\nname = \"c1\"", &line, 1);
        assert_eq!(message(&text), format!("line 4: `limits.memory` {expected}"));
    }
}

#[test]
fn a_key_that_is_there_twice_is_named_and_so_is_its_other_place() {
    check(&[
        (
            "claim =",
            "claim = \"first\"\nclaim =",
            "line 2: `claim` is there already, at line 1 | hint: each key stands once: keep one of the two",
        ),
        (
            "[[clients]]\nname = \"c2\"",
            "[clients]\nname = \"c2\"",
            "line 7: `clients` is there already, at line 4 | hint: head each table of a list `[[clients]]`, not `[clients]`",
        ),
        (
            "[[clients]]\nname = \"c1\"",
            "[clients]\nname = \"c1\"",
            "line 7: `clients` is there already, at line 4 | hint: head each table of a list `[[clients]]`, not `[clients]`",
        ),
        (
            "[[faults]]",
            "[lock]\nclock = \"wall\"\n[[faults]]",
            "line 10: `lock` is there already, at line 2 | hint: each key stands once: keep one of the two",
        ),
    ]);
}

#[test]
fn nothing_is_nested_deeper_than_the_format_is() {
    let hint = "the deepest key of the format has six parts, such as `network.links.0.delay.median`";
    let (dots, many) = (vec!["a"; 50_000].join("."), 50_000);
    let nested = |open: &str, close: &str| format!("{}1{}", open.repeat(many), close.repeat(many));
    for deep in [
        format!("{dots} = 1"),
        format!("[{dots}]"),
        format!("x = {}", nested("{ a = ", " }")),
        format!("x = {}", nested("[", "]")),
        format!("x = {}", "[\n".repeat(many)),
        "x = [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]".to_owned(),
    ] {
        let refused = refusal("[[faults]]", &format!("{deep}\n[[faults]]"));
        let (place, rest) = refused.split_once(": ").expect("a place");
        let line: usize = place.trim_start_matches("line ").parse().expect("a line");
        assert!(line >= 10, "{refused}");
        assert_eq!(rest, format!("this is nested more than 16 deep | hint: {hint}"));
    }
    let mut source = Source { name: "x".into(), file: "x".into(), text: GOOD.into(), ..Source::default() };
    for (path, value) in [
        (dots.as_str(), "1"),
        ("lock", format!("{{ \"{dots}\" = 1 }}").as_str()),
        ("lock", format!("{{ {dots} = 1 }}").as_str()),
        ("lock", nested("{ a = ", " }").as_str()),
        ("lock", nested("[", "]").as_str()),
    ] {
        source.sets = vec![(path.to_owned(), value.to_owned())];
        let refused = source.read().expect_err("too deep").to_string();
        assert!(refused.contains("is nested more than 16 deep"), "{refused}");
        assert!(refused.len() < 500, "{refused}");
    }
}

#[test]
fn names_and_words_have_a_length_that_can_be_read() {
    let long = "x".repeat(900_000);
    let longer = |key: &str, length: usize, limit: usize| {
        format!("`{key}` has {length} characters, and the limit is {limit} | hint: say it in fewer")
    };
    check(&[
        (
            "ttl = \"10s\"",
            &format!("ttl = \"10s\", name = \"{long}\""),
            &format!("line 2: {}", longer("lock.name", 900_000, 200)),
        ),
        (
            "[[faults]]",
            &format!("[resource]\nobject = \"{long}\"\n[[faults]]"),
            &format!("line 11: {}", longer("resource.object", 900_000, 200)),
        ),
        (
            "claim =",
            &format!("id = \"{}\"\nclaim =", "é".repeat(201)),
            &format!("line 1: {}", longer("id", 201, 200)),
        ),
    ]);
    for key in ["claim", "source", "story"] {
        let words = format!("{key} = \"{}\"\n", "x".repeat(4_001));
        let text = if key == "claim" {
            GOOD.replacen("claim = \"something can be shown\"\n", "", 1)
        } else {
            GOOD.to_owned()
        };
        assert_eq!(message(&format!("{words}{text}")), format!("line 1: {}", longer(key, 4_001, 4_000)));
    }
    let name = "ä".repeat(200);
    let text = GOOD.replacen("ttl = \"10s\"", &format!("ttl = \"10s\", name = \"{name}\""), 1);
    let source = Source { name: "x".into(), file: "x.toml".into(), text, ..Source::default() };
    assert_eq!(
        source.read().map(|scenario| scenario.lock.names).map_err(|error| error.to_string()),
        Ok(vec![name])
    );
}

#[test]
fn an_event_that_cannot_happen_is_refused() {
    let at = |event: &str| refusal("c1's check", event);
    let talk = "clients talk with nodes and with the resource";
    let cases = [
        ("c9's grant", "there is no host `c9` | hint: did you mean `c1`?"),
        (
            "EXPIRE executed for A",
            "`for A` names no client, so the event cannot happen | hint: the clients are `c1` and `c2`",
        ),
        (
            "SET executed on c1",
            "`on c1` names no node, so the event cannot happen | hint: the nodes are `A`, `B` and `C`",
        ),
        (
            "EXPIRE executed for c1",
            "`EXPIRE executed for c1` cannot happen | hint: the clients of this lock send `EVALSHA`, `SCRIPT` and `SET`",
        ),
        ("c2's check", "`c2's check` cannot happen | hint: the program of `c2` has no `check` step: add one"),
        ("A's grant", "`A's grant` cannot happen | hint: `A` runs no program; the clients are `c1` and `c2`"),
        (
            "c1's birthday",
            "there is no event `birthday` | hint: known are `acquire`, `grant`, `refusal`, `read`, `check`, `write`, `extending`, `extend`, `release`, `expiry`, `timer` and `boot`",
        ),
        ("c1's grnat", "there is no event `grnat` | hint: did you mean `grant`?"),
        (
            "c1's extend",
            "`c1's extend` cannot happen | hint: the program of `c1` has no `extend` step: add one",
        ),
        (
            "A's clock read",
            "`A's clock read` cannot happen | hint: only the code of clients reads clocks where a fault can wait for it",
        ),
        (
            "A's 2nd timer",
            "`A's timer` cannot happen | hint: only the code of clients has timers that a fault can wait for",
        ),
        ("A's message to B", &format!("`A's message to B` cannot happen | hint: {talk}")),
        ("c1's message to c2", &format!("`c1's message to c2` cannot happen | hint: {talk}")),
        ("c1's message from c1", &format!("`c1's message from c1` cannot happen | hint: {talk}")),
        (
            "the 0th SET executed",
            "events are counted from the 1st to the 1000000th | hint: use another number",
        ),
        (
            "2h",
            "`faults.0.at` is 2 h, and the run ends at 1 h | hint: name an earlier time, or raise `limits.time`",
        ),
        ("-2s", "`faults.0.at` must not be negative: `-2s` | hint: use a duration from \"0s\" up"),
    ];
    for (event, expected) in cases {
        let expected = expected
            .strip_prefix("`faults.0.at` ")
            .map_or(format!("`faults.0.at`: {expected}"), |rest| format!("`faults.0.at` {rest}"));
        assert_eq!(at(event), format!("line 14: {expected}"), "for `{event}`");
    }
    let unchecked = GOOD.replacen("ttl = \"10s\"", "ttl = \"10s\", elapsed_check = false", 1).replacen(
        "c1's check",
        "c1's expiry",
        1,
    );
    assert_eq!(
        message(&unchecked),
        "line 14: `faults.0.at`: `c1's expiry` cannot happen | hint: the lock computes no deadline: set `lock.elapsed_check = true`"
    );
}

/// A node whose operator is told of a failover types into it over the network.
#[test]
fn a_node_talks_to_itself_where_there_are_orders() {
    let replicated =
        GOOD.replacen("\"redlock\"", "\"replicated\"", 1).replacen("\"C\"]", "\"C\"], master = \"A\"", 1);
    let at = |event: &str| replicated.replacen("c1's check", event, 1);
    let source = |text| Source { name: "x".into(), file: "x.toml".into(), text, ..Source::default() };
    for event in ["A's message to A", "B's 2nd message from B", "A's message to B"] {
        assert!(source(at(event)).read().is_ok(), "{event}");
    }
    assert_eq!(
        message(&at("c1's message to c1")),
        "line 14: `faults.0.at`: `c1's message to c1` cannot happen | hint: clients talk with nodes and with the resource, \
         nodes with each other, and one that is told its role with itself"
    );
}

#[test]
fn what_is_no_moment_at_all_is_answered_with_the_grammar() {
    for text in [
        "",
        "tomorrow",
        "3 bananas",
        "SET",
        "after",
        "c1's",
        "1s after",
        "5s before c1's grant",
        "SET executed by c1",
        "after after after",
        "the the",
        "1s 2s",
        "'s grant",
        "c1's 3rd",
    ] {
        let refused = refusal("c1's check", text);
        assert!(refused.starts_with("line 14: `faults.0.at`"), "`{text}`: {refused}");
        assert!(refused.contains(" | hint: ") && refused.len() < 400, "`{text}`: {refused}");
    }
}

#[test]
fn combinations_that_say_nothing_are_refused() {
    check(&[
        (
            "\"try\"",
            "\"try 0s\"",
            "line 9: `clients.1.program.0`: `0s` says no time to try for | hint: write `try` to ask once, or `try 3s`",
        ),
        (
            "names = [",
            "notify_keyspace_events = \"gx\", names = [",
            "line 3: `nodes.notify_keyspace_events`: `gx` asks a node for no events | hint: use K, E or both, and A or letters of events, such as \"KA\" or \"Kgx\"",
        ),
        (
            "algorithm = \"redlock\"",
            "algorithm = \"single\", poll = \"1s\"",
            "line 2: `lock.poll` does nothing without `wake` | hint: add `wake = \"poll\"`",
        ),
        (
            "algorithm = \"redlock\"",
            "algorithm = \"single\", wake = \"poll\", poll = \"none\"",
            "line 2: a client that waits by `poll`, and every `none`, never asks again | hint: use a duration for `poll`, or another `wake`",
        ),
        (
            "algorithm = \"redlock\"",
            "algorithm = \"single\", wake = \"list\", release = \"plain-delete\"",
            "line 2: only a release by a script tells those who wait | hint: use `release = \"compare-and-delete\"`, or another `wake`",
        ),
        (
            "algorithm = \"redlock\"",
            "algorithm = \"single\", quorum = 2",
            "line 2: `lock.quorum` means nothing to the `single` lock | hint: remove it, or change `lock.algorithm` to `redlock`; `doublehold locks single` shows what that takes",
        ),
        (
            "algorithm = \"redlock\"",
            "algorithm = \"redlock\", fencing = true",
            "line 2: `lock.fencing` means nothing to the `redlock` lock | hint: remove it, or change `lock.algorithm` to `single` or `replicated`; `doublehold locks redlock` shows what that takes",
        ),
        (
            "algorithm = \"redlock\"",
            "algorithm = \"single\"",
            "line 3: the `single` lock runs on one node, and there are 3 | hint: name one node, name a `master` that the others replicate, or use the `replicated`, `redlock`, `hash-replicated` or `multi-lock` lock",
        ),
        (
            "algorithm = \"redlock\"",
            "algorithm = \"replicated\"",
            "line 3: the `replicated` lock needs a master | hint: add `master = \"A\"` to `[nodes]`: the other nodes replicate it",
        ),
        (
            "algorithm = \"redlock\"",
            "algorithm = \"redlock\", quorum = 4",
            "line 2: `lock.quorum` must be a whole number within bounds, not `4` | hint: use 1 to 3",
        ),
        (
            "algorithm = \"redlock\"",
            "algorithm = \"redlock\", subset = 4",
            "line 2: `lock.subset` must be a whole number within bounds, not `4` | hint: use 1 to 3",
        ),
        (
            "algorithm = \"redlock\"",
            "algorithm = \"redlock\", subset = 0",
            "line 2: `lock.subset` must be a whole number within bounds, not `0` | hint: use 1 to 3",
        ),
        (
            "algorithm = \"redlock\"",
            "algorithm = \"redlock\", quorum = 2, subset = 1",
            "line 2: `lock.subset` asks fewer nodes than `lock.quorum` needs, so that no lock is ever granted | hint: use a `subset` that is at least as large",
        ),
        (
            "algorithm = \"redlock\"",
            "algorithm = \"replicated\", wait_timeout = \"1s\"",
            "line 2: `lock.wait_timeout` does nothing without `wait_replicas` | hint: add `wait_replicas = 1`",
        ),
        (
            "[\"A\", \"B\", \"C\"]",
            "[\"A\"], master = \"A\"",
            "line 3: `nodes.master` does not fit this lock: its nodes stand alone | hint: remove `master`, or use `single`, `replicated`, `counter`, `job`, `list`, `hash` or another of `doublehold locks`",
        ),
        (
            "algorithm = \"redlock\"",
            "algorithm = \"redlock\", drift_ratio = \"3/2\"",
            "line 2: `lock.drift_ratio` must be a ratio below 1 such as \"1/100\", not `3/2` | hint: it is the share of the ttl given up for clocks that run at different rates",
        ),
        (
            "algorithm = \"redlock\"",
            "algorithm = \"redlock\", quorum = \"most\"",
            "line 2: `lock.quorum` must be one of `majority`, `half-of-others` and `more-than-majority`, not `most` | hint: known are `majority`, `half-of-others` and `more-than-majority`",
        ),
        (
            "algorithm = \"redlock\"",
            "algorithm = \"redlock\", tries = 0",
            "line 2: `lock.tries` must be a whole number within bounds, not `0` | hint: use 1 to 1000",
        ),
        (
            "\"10s\"",
            "\"2ms\"",
            "line 2: the drift allowance is as long as `lock.ttl`, so that no lock is ever granted | hint: use a longer `ttl`, or a smaller `drift_ratio` or `drift_constant`",
        ),
        (
            "[\"A\", \"B\", \"C\"]",
            "[\"A\", \"B\", \"A\"]",
            "line 3: there are two hosts named `A` | hint: give each its own name",
        ),
        (
            "[\"A\", \"B\", \"C\"]",
            "[]",
            "line 3: there is no node | hint: name at least one: `names = [\"A\"]`",
        ),
        (
            "[\"A\", \"B\", \"C\"]",
            "[\"A\", \"resource\"]",
            "line 3: a host must not be named `resource` | hint: that name belongs to the host that guards the data: choose another",
        ),
        (
            "[\"A\", \"B\", \"C\"]",
            "[\"A b\"]",
            "line 3: `A b` is no name of a host | hint: use a letter and then letters, digits, `-` and `_`, at most 32 of them",
        ),
        (
            "[[faults]]",
            "[resource]\nfencing = \"reject-lower\"\n[[faults]]",
            "line 10: the resource checks fencing numbers and the lock makes none, so that every write is refused | hint: use `single` or `replicated` with `lock.fencing = true`, or remove `resource.fencing`",
        ),
        (
            "lock = { algorithm = \"redlock\", ttl = \"10s\" }\nnodes = { names = [\"A\", \"B\", \"C\"] }",
            "lock = { algorithm = \"setnx\", ttl = \"10s\" }\nnodes = { names = [\"A\"], scripts = \"loaded\" }",
            "line 3: `nodes.scripts`: the `setnx` lock names no scripts that it sends | hint: remove `scripts`, or let the lock's descriptor name them",
        ),
        (
            "[\"try\", \"work 1s\", \"release\"]",
            "[\"write\"]",
            "line 9: `clients.1.program.0` comes before the client has acquired the lock | hint: put `acquire` or `try` before it",
        ),
        (
            "[\"try\", \"work 1s\", \"release\"]",
            "[\"try\", \"acquire\"]",
            "line 9: `clients.1.program.1` asks for a lock the client already holds, and `redlock` does not admit its holder again | hint: release it first, or use `hash`, `hash-replicated`, `multi-lock`, `local-remote` or `thread-count`",
        ),
        (
            "[\"try\", \"work 1s\", \"release\"]",
            "[]",
            "line 9: `clients.1.program` has 0 steps | hint: use 1 to 100",
        ),
        (
            "\"C\"]",
            "\"C\"], snapshot_interval = \"0s\"",
            "line 3: `nodes.snapshot_interval` is 0 s, and Redis counts whole seconds from one | hint: use \"1s\" or more seconds",
        ),
        (
            "\"C\"]",
            "\"C\"], snapshot_interval = \"1500ms\"",
            "line 3: `nodes.snapshot_interval` is 1.5 s, and Redis counts whole seconds from one | hint: use \"1s\" or more seconds",
        ),
        (
            "\"C\"]",
            "\"C\"], min_replicas_max_lag = \"0s\"",
            "line 3: `nodes.min_replicas_max_lag` is 0 s, and Redis counts whole seconds from one | hint: use \"1s\" or more seconds",
        ),
        (
            "\"C\"]",
            "\"C\"], min_replicas_to_write = 1",
            "line 3: `nodes.min_replicas_to_write`: nothing is replicated, so no write would be taken | hint: set `nodes.master`, or remove it",
        ),
        (
            "\"C\"]",
            "\"C\"], restart_clock = \"boot\"",
            "line 3: `nodes.restart_clock` must be one of `true-time`, `wall` and `monotonic`, not `boot` | hint: known are `true-time`, `wall` and `monotonic`",
        ),
        (
            "\"C\"]",
            "\"C\"], persistence = \"snapshots\"",
            "line 3: `nodes.persistence` must be one of `none`, `everysec`, `always` and `rdb`, not `snapshots` | hint: known are `none`, `everysec`, `always` and `rdb`",
        ),
        ("for = \"12s\"\n", "", "line 10: `faults.0` has no `for` | hint: add `for = \"12s\"`"),
        (
            "for = \"12s\"",
            "for = \"12s\"\nby = \"1s\"",
            "line 14: `by` means nothing to a `pause` | hint: it takes `kind`, `at`, `each`, `optional`, `host` and `for`",
        ),
        (
            "\"pause\"\nhost = \"c1\"\nfor = \"12s\"",
            "\"promote\"\nhost = \"A\"",
            "line 12: nothing is replicated, so nothing can be promoted | hint: set `nodes.master`",
        ),
        (
            "\"pause\"\nhost = \"c1\"\nfor = \"12s\"",
            "\"fsync-lies\"\nhost = \"c1\"",
            "line 12: `faults.0.host`: `c1` runs no Redis | hint: a `fsync-lies` strikes nodes",
        ),
        (
            "\"pause\"\nhost = \"c1\"\nfor = \"12s\"",
            "\"flush\"\nhost = [\"A\", \"c1\"]",
            "line 12: `faults.0.host`: `c1` runs no Redis | hint: a `flush` strikes nodes",
        ),
        (
            "\"pause\"\nhost = \"c1\"\nfor = \"12s\"",
            "\"evict\"\nhost = \"A\"\nfor = \"12s\"",
            "line 13: `for` means nothing to a `evict` | hint: it takes `kind`, `at`, `each`, `optional`, `host` and `volatile_only`",
        ),
        (
            "\"pause\"\nhost = \"c1\"\nfor = \"12s\"",
            "\"cut\"\nfrom = \"c1\"\nto = [\"A\", \"c1\"]",
            "line 13: `c1` is on both ends of the link | hint: a host needs no network to reach itself",
        ),
    ]);
}

#[test]
fn more_replicas_than_there_are_can_be_in_touch_with_no_master() {
    let replicated = GOOD.replacen("\"redlock\"", "\"replicated\"", 1).replacen(
        "\"C\"]",
        "\"C\"], master = \"A\", min_replicas_to_write = 3",
        1,
    );
    assert_eq!(
        message(&replicated),
        "line 3: `nodes.min_replicas_to_write` is 3, and the master has 2 replicas | hint: ask for fewer, or name more nodes"
    );
}

#[test]
fn keys_of_replicas_mean_nothing_where_there_are_none() {
    let with = |key: &str| message(&GOOD.replacen("\"C\"]", &format!("\"C\"], {key}"), 1));
    assert_eq!(
        with("replica_serve_stale_data = false"),
        "line 3: `nodes.replica_serve_stale_data`: nothing is replicated, so no node is a replica | hint: set `nodes.master`, or remove it"
    );
    assert_eq!(
        with("replica_priority = 10"),
        "line 3: `nodes.replica_priority`: there are no Sentinels, and nobody else asks for it | hint: remove it, or add `[sentinels]`"
    );
}

#[test]
fn orders_that_nobody_could_obey_are_refused() {
    let replicated = GOOD
        .replace("algorithm = \"redlock\"", "algorithm = \"replicated\"")
        .replace("names = [\"A\", \"B\", \"C\"]", "names = [\"A\", \"B\", \"C\"], master = \"A\"");
    let refused =
        |fault: &str| message(&replicated.replace("kind = \"pause\"\nhost = \"c1\"\nfor = \"12s\"\n", fault));
    let cases = [
        (
            "kind = \"promote\"\nhost = \"B\"\ntell = [\"C\", \"c1\"]\n",
            "line 13: `faults.0.tell.1`: `c1` runs no Redis | hint: name nodes, or nobody: `tell = []`",
        ),
        (
            "kind = \"promote\"\nhost = \"B\"\ntell = \"B\"\n",
            "line 13: `faults.0.tell`: `B` is the one that is promoted | hint: name those that are to follow it",
        ),
        (
            "kind = \"promote\"\nhost = \"B\"\ntell = [\"A\", \"A\"]\n",
            "line 13: `A` is named twice | hint: name each host once",
        ),
        (
            "kind = \"promote\"\nhost = \"B\"\ntell = 1\n",
            "line 13: `faults.0.tell` must be the name of a node, not `1` | hint: name a node, or a list of nodes",
        ),
        (
            "kind = \"promote\"\nhost = \"B\"\ntell = [\"A\", 1]\n",
            "line 13: `faults.0.tell.1` must be the name of a node, not `1` | hint: name a node, or a list of nodes",
        ),
        (
            "kind = \"promote\"\nhost = true\n",
            "line 12: `faults.0.host` must be the name of a host, not `true` | hint: name a host, or a list of hosts",
        ),
        (
            "kind = \"follow\"\nhost = \"A\"\nmaster = [\"B\", \"C\"]\n",
            "line 13: `faults.0.master` must be the name of a node, not a list | hint: name one node",
        ),
        (
            "kind = \"promote\"\nhost = \"B\"\nmaster = \"A\"\n",
            "line 13: `master` means nothing to a `promote` | hint: it takes `kind`, `at`, `each`, `optional`, `host`, `tell` and `rewrite_config`",
        ),
        (
            "kind = \"follow\"\nhost = \"A\"\n",
            "line 10: `faults.0` has no `master` | hint: add `master = \"B\"`",
        ),
        (
            "kind = \"follow\"\nhost = \"c1\"\nmaster = \"A\"\n",
            "line 12: `faults.0.host`: `c1` runs no Redis | hint: a `follow` strikes nodes",
        ),
        (
            "kind = \"follow\"\nhost = \"A\"\nmaster = \"c1\"\n",
            "line 13: `faults.0.master`: `c1` runs no Redis | hint: name one of the nodes",
        ),
        (
            "kind = \"follow\"\nhost = [\"B\", \"A\"]\nmaster = \"A\"\n",
            "line 13: `A` cannot follow itself | hint: name another node",
        ),
    ];
    for (fault, expected) in cases {
        assert_eq!(refused(fault), expected, "{fault}");
    }
    check(&[(
        "\"pause\"\nhost = \"c1\"\nfor = \"12s\"",
        "\"follow\"\nhost = \"A\"\nmaster = \"B\"",
        "line 13: nothing is replicated, so nothing can be followed | hint: set `nodes.master`",
    )]);
}

#[test]
fn absurd_numbers_are_refused_before_they_cost_anything() {
    let many = |count: usize, text: &str| vec![text; count].join("");
    let names: Vec<String> = (0..2001).map(|n| format!("\"n{n}\"")).collect();
    assert_eq!(
        refusal("[\"A\", \"B\", \"C\"]", &format!("[{}]", names.join(", "))),
        "line 3: there are more than 2000 hosts | hint: use fewer nodes or clients"
    );
    check(&[
        (
            "name = \"c2\"",
            "name = \"c2\"\nrounds = 1000000000",
            "line 9: `clients.1.rounds` must be a whole number within bounds, not `1000000000` | hint: use 1 to 100000",
        ),
        (
            "name = \"c2\"",
            "name = \"c2\"\nrounds = -1",
            "line 9: `clients.1.rounds` must be a whole number within bounds, not `-1` | hint: use 1 to 100000",
        ),
        (
            "name = \"c2\"",
            "name = \"c2\"\nrounds = 99999999999999999999",
            "line 9: `99999999999999999999` is too large a number | hint: use a smaller one",
        ),
    ]);
    let fault = "[[faults]]\nkind = \"crash\"\nhost = \"A\"\nat = \"1s\"\n";
    assert_eq!(
        message(&format!("{GOOD}{}", many(20_000, fault))),
        "line 10: there are 20001 `faults`, and the limit is 20000 | hint: split the scenario"
    );
    let steps = format!("[\"acquire\"{}]", many(100, ", \"read\""));
    assert_eq!(
        refusal("[\"try\", \"work 1s\", \"release\"]", &steps),
        "line 9: `clients.1.program` has 101 steps | hint: use 1 to 100"
    );
    let chain = format!("c1's grant{}", many(16, " after c1's grant"));
    assert_eq!(
        refusal("c1's check", &chain),
        "line 14: `faults.0.at` chains more than 16 events | hint: name fewer"
    );
    let deep = format!("x = {}{}", many(100_000, "["), many(100_000, "]"));
    assert!(message(&deep).starts_with("line 1: "));
}

#[test]
fn broken_toml_is_refused_with_its_line() {
    assert!(message("claim = \"x\"\nlock = {").starts_with("line 2: "));
    assert!(
        message("claim = \"x\"\nclaim = \"y\"\n").starts_with("line 2: `claim` is there already, at line 1")
    );
    assert_eq!(
        message("claim = \"x\"\n"),
        "line 1: the scenario has no clients | hint: add a `[[clients]]` table with a name and a program"
    );
    assert_eq!(
        refusal("claim = \"something can be shown\"", ""),
        "line 1: the file has no `claim` | hint: add `claim = \"what this scenario shows, in one sentence\"`"
    );
    assert_eq!(
        refusal("lock = {", "lock = 3 #"),
        "line 2: `lock` must be a table, not `3` | hint: write it as `[lock]` with one `key = value` a line"
    );
}

#[test]
fn control_characters_and_long_texts_do_not_reach_the_terminal() {
    let refused = refusal("c1's check", "\\u001b[31m\\u0007");
    assert!(!refused.contains('\u{1b}') && refused.contains('\u{fffd}'), "{refused:?}");
    let refused = refusal("c1's check", "a\\u202eb\\u200bc");
    assert!(refused.contains("a\u{fffd}b\u{fffd}c"), "{refused:?}");
    assert!(refusal("c1's check", &"x".repeat(100_000)).len() < 500);
}

#[test]
fn no_message_is_as_long_as_what_it_refuses() {
    let (nines, letters) = ("9".repeat(100_000), "x".repeat(100_000));
    let sets = [
        ("lock.ttl", nines.clone()),
        ("lock.ttl", format!("{nines}.5")),
        ("lock.ttl", format!("0x{nines}")),
        ("limits.events", nines.clone()),
        ("network.loss", nines.clone()),
        ("network.loss", letters.clone()),
        ("network.loss", format!("\"{nines}/1\"")),
        (&format!("lock.ttl.{letters}"), "1".to_owned()),
        (&format!("lock.{letters}.x"), "1".to_owned()),
        (&format!("clocks.{letters}.offset"), "1s".to_owned()),
        (&format!("clients.{letters}.name"), "c9".to_owned()),
    ];
    for (path, value) in sets {
        let error = match catalog::load("quiet", &[(path.to_owned(), value)]) {
            Ok(_) => panic!("{} was accepted", &path[..path.len().min(60)]),
            Err(error) => error.to_string(),
        };
        assert!(error.len() < 1000, "{} bytes: {}", error.len(), &error[..200]);
    }
}

fn load_error(name: &str) -> String {
    match catalog::load(name, &[]) {
        Ok(_) => panic!("`{name}` was accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_unknown_scenario_is_refused_with_the_closest_known_one() {
    assert_eq!(load_error("clock-jmup"), "unknown scenario `clock-jmup`\nhint: did you mean `clock-jump`?");
    assert_eq!(
        load_error("clock-jump/k4-two-jump"),
        "unknown scenario `clock-jump/k4-two-jump`\nhint: did you mean `clock-jump/k4-two-jumps`?"
    );
    let hint = "run `doublehold list` for the catalogue; a file's name ends in `.toml`";
    assert_eq!(load_error("zzz"), format!("unknown scenario `zzz`\nhint: {hint}"));
    assert_eq!(load_error(""), format!("unknown scenario ``\nhint: {hint}"));
}

#[test]
fn files_that_are_no_scenarios_are_refused() {
    let folder = std::env::temp_dir().join(format!("doublehold-refusals-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let refusal_of = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        let path = path.to_str().unwrap();
        load_error(path).replace(path, "FILE").replace("cannot read scenario `FILE`: ", "")
    };
    assert_eq!(
        refusal_of("empty.toml", b" \n\n"),
        "it is empty\nhint: start from one in the catalogue, scenarios/catalog/"
    );
    assert_eq!(
        refusal_of("latin.toml", b"claim = 1\nstory = \"\xe9\"\n"),
        "line 2: it is not UTF-8 text\nhint: save it as UTF-8"
    );
    // A file with a hole: 100 MB long, and nothing on the disk.
    let huge = folder.join("huge.toml");
    std::fs::File::create(&huge).unwrap().set_len(100 << 20).unwrap();
    let huge = huge.to_str().unwrap();
    assert_eq!(
        load_error(huge).replace(huge, "FILE"),
        "cannot read scenario `FILE`: it is larger than 1 MiB\nhint: a scenario is a page or two of TOML: name another file"
    );
    let folder_name = folder.to_str().unwrap();
    assert_eq!(
        load_error(folder_name).replace(folder_name, "FILE"),
        "cannot read scenario `FILE`: it is a directory\nhint: name a file that ends in `.toml`"
    );
    let missing = folder.join("missing.toml");
    let missing = missing.to_str().unwrap();
    assert!(
        load_error(missing).replace(missing, "FILE").starts_with("cannot read scenario `FILE`: No such file")
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Bytes are deleted, doubled or swapped for ones that mean something in TOML or in the grammar of moments.
#[test]
fn no_mutilated_file_makes_the_reader_panic() {
    const BITES: &[&str] = &[
        "\"", "'", "[", "]", "{", "}", "=", ".", ",", "\n", "-", "0", "9", "s", "'s", " ", "after", "\u{e9}",
        "..", "/", "1e9",
    ];
    let mut stream = Stream::new(Seed(7), "mutilate");
    let mut refused = 0;
    for entry in catalog::entries().unwrap().iter().filter(|entry| !entry.name.contains('/')) {
        let text = catalog::load(&entry.name, &[]).unwrap().to_toml();
        for _ in 0..200 {
            let mut letters: Vec<char> = text.chars().collect();
            for _ in 0..=stream.below(3) {
                let at = stream.below(letters.len() as u64) as usize;
                let end = (at + stream.below(4) as usize).min(letters.len());
                let bite = BITES[stream.below(BITES.len() as u64) as usize];
                letters.splice(at..end, bite.chars());
            }
            let text = letters.into_iter().collect();
            let source = Source { name: "x".into(), file: "x.toml".into(), text, ..Source::default() };
            if let Err(error) = source.read() {
                refused += 1;
                let message = error.to_string();
                assert_eq!(message.lines().count(), 2, "a sentence and a hint: {message}");
            }
        }
    }
    assert!(refused > 1000, "most mutilations are noticed, but only {refused} were");
}
