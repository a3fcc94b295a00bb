//! White-box rules in `run` and `check`: told where somebody asks or where one is broken, and decisive only by name.

use serde_json::Value;

use crate::kit::{Ask, Folder, doublehold, json, unwrapped};

/// A lock whose deadline counts from the reply, without an allowance for clocks, in calm weather.
const REPLY: [&str; 10] = [
    "single",
    "--set",
    "lock.elapsed_check=true",
    "--set",
    "lock.deadline_from=reply",
    "--set",
    "lock.drift_ratio=0/1",
    "--set",
    "lock.drift_constant=0ms",
    "--weather=calm",
];

/// Checks it, or another one, with more options.
fn check(subject: &[&str], more: &[&str], folder: &Folder, status: i32) -> String {
    let arguments = [&["check"], subject, &["--runs", "50"], more].concat();
    folder.doublehold(&arguments).ends(status).stdout
}

fn json_of(scenario: &str) -> Value {
    json(&doublehold(&["run", scenario, "--format", "json"]).answer().stdout)
}

#[test]
fn a_run_tells_its_rules_if_asked_and_its_json_in_any_case() {
    let plain = doublehold(&["run", "deadline-from-the-reply"]).prints(0);
    let asked = doublehold(&["run", "deadline-from-the-reply", "--white-box"]).prints(0);
    let more = asked.strip_prefix(&plain).expect("nothing else changes");
    assert_eq!(
        more,
        "\nwhite-box rules\n  \
           margin        broken: no deadline lies after the end of the keys that it rests on\n                  \
                           c1 believes in grant 1 for up to 2.9 s after its key is gone on A\n  \
           left-key      holds: no key is left with a token that nobody will use again\n  \
           late-command  holds: no command is sent for a grant that is over\n"
    );
    let run = json_of("deadline-from-the-reply");
    let margin = &run["white_box"]["margin"];
    assert_eq!((&margin["verdict"], &margin["count"]), (&"broken".into(), &1.into()));
    let breach = &margin["breaches"][0];
    assert_eq!((&breach["client"], &breach["node"], &breach["call"]), (&"c1".into(), &"A".into(), &1.into()));
    assert!(breach["at_ns"].as_u64() < breach["until_ns"].as_u64(), "{breach}");
    let off = json_of("setnx-no-expiry");
    assert_eq!(off["white_box"]["margin"]["why_off"], "the lock computed no deadline");
}

#[test]
fn a_check_tells_a_broken_rule_and_passes_unless_it_is_asked_for() {
    let folder = Folder::new();
    let told = unwrapped(&check(&REPLY, &[], &folder, 0));
    assert!(told.contains("white-box rules, asked of 20 of 50 runs: "), "{told}");
    assert!(told.contains("margin, not asked: broken in 20 of 20, first from seed 1: c"), "{told}");
    assert!(told.contains("nothing found: "), "{told}");

    let asked = unwrapped(&check(&REPLY, &["--rule", "margin,left-key"], &folder, 1));
    assert!(asked.contains(" margin: broken in 20 of 20, first from seed 1: c"), "{asked}");
    assert!(asked.contains("left-key: holds in 20 of 20: no key is left"), "{asked}");
    assert!(asked.contains("VIOLATED: margin"), "{asked}");

    let silent = check(&["single", "--weather=calm"], &[], &folder, 0);
    assert!(!silent.contains("white-box"), "{silent}");
}

#[test]
fn a_rule_that_nothing_could_be_judged_by_is_no_pass() {
    let folder = Folder::new();
    let off = unwrapped(&check(&["single", "--weather=calm"], &["--rule", "margin"], &folder, 3));
    assert!(off.contains("margin was never judged: the lock computed no deadline"), "{off}");
}

#[test]
fn a_rule_that_was_asked_for_is_a_case_of_junit_and_data() {
    let folder = Folder::new();
    let more = ["--rule", "margin", "--junit", "lock.xml", "--format", "json"];
    let found: Value = json(&check(&REPLY, &more, &folder, 1));
    let margin = &found["rules"]["margin"];
    assert_eq!((&margin["is_asked"], &margin["broken"]), (&true.into(), &20.into()));
    assert_eq!((&found["rules_runs"], &margin["first_broken"]), (&20.into(), &"1".into()));
    let xml = folder.read("lock.xml");
    assert!(xml.contains("<testcase name=\"margin\" classname=\"doublehold.check\">"), "{xml}");
    assert!(xml.contains("<failure message=\"margin: broken in 20 of 20, first from seed 1: c"), "{xml}");
}

#[test]
fn a_mistyped_rule_is_told_with_the_one_that_was_meant() {
    let folder = Folder::new();
    let said = folder.doublehold(&["check", "single", "--rule", "margn"]).answer().stderr;
    assert!(said.contains("there is no rule of that name: did you mean `margin`?"), "{said}");
}
