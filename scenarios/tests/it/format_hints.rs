//! The way out that a message names is one that this scenario has: a unit to add, a host that is there, a line to mend.

use doublehold_scenarios::format::Source;

const GOOD: &str = r#"claim = "something can be shown"
[lock]
algorithm = "single"
ttl = "10s"
[nodes]
names = ["M"]
# scripts
[[clients]]
name = "anna"
program = ["acquire", "work 1s", "release"]
start = "1s"
[[faults]]
kind = "clock-step"
host = "M"
by = "+10s"
at = "1s"
"#;

/// Replaces lines of the good scenario; returns what is said of it, if it is refused.
fn refusal(changes: &[(&str, &str)]) -> String {
    let mut text = GOOD.to_owned();
    for (line, replacement) in changes {
        assert!(text.contains(line), "`{line}` is not in the good scenario");
        text = text.replacen(line, replacement, 1);
    }
    let source = Source { name: "x".into(), file: "x.toml".into(), text, ..Source::default() };
    let refused = source.read().map_or_else(|error| error.to_string(), |_| "accepted".to_owned());
    refused.replacen("cannot read scenario `x.toml`: ", "", 1).replace("\nhint", " | hint")
}

#[test]
fn a_number_without_a_unit_is_given_one() {
    for (line, replacement, expected) in [
        (
            "work 1s",
            "work 5",
            "line 10: `clients.0.program.1`: the time to work must be a duration such as \"2.5s\", not `5` | hint: \
             did you mean `work 5s`?",
        ),
        (
            "work 1s",
            "work 1s..2.5",
            "line 10: `clients.0.program.1`: the time to work must be a duration such as \"2.5s\", not `1s..2.5` | \
             hint: did you mean `work 1s..2.5s`?",
        ),
        (
            "ttl = \"10s\"",
            "ttl = 10",
            "line 4: `lock.ttl` must be a duration such as \"2.5s\", not `10` | hint: did you mean \"10s\"?",
        ),
        (
            "by = \"+10s\"",
            "by = \"-10\"",
            "line 15: `faults.0.by` must be a duration such as \"2.5s\", not `-10` | hint: did you mean \"-10s\"?",
        ),
    ] {
        assert_eq!(refusal(&[(line, replacement)]), expected);
    }
    let nothing_to_add = refusal(&[("work 1s", "work five")]);
    assert!(!nothing_to_add.contains("did you mean"), "{nothing_to_add}");
}

#[test]
fn a_fault_under_another_name_is_told_the_word_for_it() {
    for (typed, kind) in [
        ("gc", "`pause`"),
        ("stop", "`pause`"),
        ("stop-the-world", "`pause`"),
        ("partition", "`cut`"),
        ("kill", "`crash`"),
        ("reboot", "`crash` or `power-loss`"),
        ("failover", "`promote`"),
        ("latency", "`slow` or `packet-delay`"),
        ("Clock_Jump", "`clock-step`"),
        ("skew", "`clock-step` or `clock-drift`"),
        ("drop", "`loss`"),
        ("replay", "`duplicate`"),
        ("overload", "`slow-node`"),
    ] {
        let refused = refusal(&[("\"clock-step\"", &format!("\"{typed}\""))]);
        assert!(refused.ends_with(&format!(" | hint: here that is called {kind}")), "{typed}: {refused}");
    }
    let cut_short = refusal(&[("\"clock-step\"", "\"reset\"")]);
    assert!(cut_short.ends_with(" | hint: did you mean `reset-connections`?"), "{cut_short}");
}

#[test]
fn a_verdict_that_is_stated_as_a_flag_is_told_the_word_for_it() {
    let stated = |value: &str| refusal(&[("# scripts", &format!("[expect]\nP1 = {value}"))]);
    let must = "line 8: `expect.P1` must be one of `holds`, `violated` and `not-seen`";
    assert_eq!(stated("true"), format!("{must}, not `true` | hint: did you mean \"holds\"?"));
    assert_eq!(stated("false"), format!("{must}, not `false` | hint: did you mean \"violated\"?"));
    assert_eq!(stated("\"fails\""), format!("{must}, not `fails` | hint: did you mean \"violated\"?"));
    assert_eq!(
        stated("\"maybe\""),
        format!("{must}, not `maybe` | hint: known are `holds`, `violated` and `not-seen`")
    );
}

#[test]
fn an_end_of_a_link_that_is_missing_is_shown_by_a_host_that_is_there() {
    let clock_step = "kind = \"clock-step\"\nhost = \"M\"\nby = \"+10s\"";
    for kind in ["reset-connections", "cut"] {
        let without_to = format!("kind = \"{kind}\"\nfrom = \"anna\"");
        let refused = refusal(&[(clock_step, &without_to)]);
        assert_eq!(refused, "line 12: `faults.0` has no `to` | hint: add `to = \"M\"`");
        let refused = refusal(&[(clock_step, &format!("kind = \"{kind}\""))]);
        assert_eq!(refused, "line 12: `faults.0` has no `from` | hint: add `from = \"anna\"`");
        assert_eq!(refusal(&[(clock_step, &format!("{without_to}\nto = \"M\""))]), "accepted");
    }
}

#[test]
fn scripts_that_cannot_be_loaded_are_refused_where_they_are_asked_for() {
    let refused = refusal(&[("\"single\"", "\"setnx\""), ("# scripts", "scripts = \"loaded\"")]);
    assert!(refused.starts_with("line 7: `nodes.scripts`: the `setnx` lock names no scripts"), "{refused}");
}

#[test]
fn a_lease_that_a_locks_command_cannot_say_is_refused() {
    for (lock, command) in
        [("setnx-expire", "EXPIRE"), ("setnx-expire-multi", "EXPIRE"), ("set-ex", "SET … EX")]
    {
        let lock = format!("\"{lock}\"");
        let with = |ttl: &str| refusal(&[("\"single\"", &lock), ("\"10s\"", ttl)]);
        let expected = |ttl: &str, whole: &str| {
            format!(
                "line 4: `{command}` counts whole seconds, and the ttl is {ttl} | hint: use whole seconds, such as \
                 \"{whole}\""
            )
        };
        assert_eq!(with("\"1500ms\""), expected("1.5s", "2s"));
        assert_eq!(with("\"200ms\""), expected("200ms", "1s"));
        assert_eq!(with("\"2000ms\""), "accepted");
        let own = refusal(&[("\"single\"", &lock), ("start = \"1s\"", "ttl = \"1500ms\"")]);
        assert!(own.starts_with("line 11: `clients.0.ttl`: `"), "{own}");
    }
}
