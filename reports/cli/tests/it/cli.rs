//! The binary as a user meets it: exit status, what goes to which stream, files, and every kind of bad input.

use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::Duration;

use doublehold_history::{History, judge};
use serde_json::Value;

use crate::kit::{self, Answer, Ask, Folder, doublehold, shell};

/// A scenario of two clients on one node, to be broken in one place each.
const SCENARIO: &str = r#"
claim = "Two clients take turns"
[expect]
P1 = "holds"
[lock]
algorithm = "single"
ttl = "10s"
[nodes]
names = ["A"]
[[clients]]
name = "c1"
program = ["acquire", "read", "work 1s", "write", "release"]
[[clients]]
name = "c2"
program = ["acquire", "read", "work 1s", "write", "release"]
[[faults]]
kind = "pause"
host = "c1"
for = "1s"
at = "c1's write"
[limits]
time = "5m"
obtain_within = "30s"
"#;

#[test]
fn the_status_says_how_a_run_came_out() {
    let folder = Folder::new();
    let expected = folder.write("expected.toml", SCENARIO);
    let contradicted =
        folder.write("contradicted.toml", SCENARIO.replace(r#"P1 = "holds""#, r#"P1 = "violated""#));
    let never = folder.write("never.toml", SCENARIO.replace("c1's write", "the 9th c1's write"));
    let text = doublehold(&["run", &expected]).prints(0);
    assert!(text.contains("as expected: this run shows what the scenario says it shows\n"), "{text}");
    let text = doublehold(&["run", &contradicted]).prints(1);
    assert!(text.contains("NOT AS EXPECTED: P1 was to be violated and holds\n"), "{text}");
    let text = doublehold(&["run", &never]).prints(3);
    assert!(
        text.contains("INCONCLUSIVE: ") && text.contains("note: this fault never struck: c1 pauses"),
        "{text}"
    );
}

#[test]
fn the_last_line_runs_the_same_again() {
    let typed =
        ["run", "gc-in-flight", "--seed", "9", "--set", "lock.elapsed_check=false", "--set", "lock.name=a b"];
    let first = doublehold(&typed).answer();
    let line = first.stdout.lines().last().expect("a last line").to_owned();
    assert_eq!(
        line,
        "replay: doublehold run gc-in-flight --seed 9 --set 'lock.elapsed_check=false' --set 'lock.name=a b'"
    );
    let command = line.replace("replay: doublehold ", "\"$0\" ");
    assert_eq!(shell(&command, &[]).answer().stdout, first.stdout);
}

#[test]
fn the_seed_is_one_unless_given_and_is_always_printed() {
    let text = doublehold(&["run", "lease-pause"]).prints(0);
    assert!(text.contains("seed 1, engine sim: "), "{text}");
    assert!(text.ends_with("replay: doublehold run lease-pause --seed 1\n"), "{text}");
    let largest = u64::MAX.to_string();
    let json =
        kit::json(&doublehold(&["run", "lease-pause", "--seed", &largest, "--format", "json"]).prints(0));
    assert_eq!(json["seed"], largest, "a text: many readers of JSON keep 53 bits");
}

#[test]
fn json_is_one_object_with_the_promised_fields() {
    let json = kit::json(&doublehold(&["run", "lease-pause", "--format", "json"]).prints(0));
    for field in [
        "scenario",
        "seed",
        "engine",
        "as_expected",
        "verdicts",
        "overlaps",
        "faults",
        "trace_hash",
        "events",
        "true_time_ns",
        "claim",
        "story",
        "expect",
        "evidence",
        "notes",
        "replay",
    ] {
        assert!(json.get(field).is_some(), "`{field}` is missing");
    }
    assert_eq!((&json["scenario"], &json["as_expected"]), (&"lease-pause".into(), &true.into()));
    let verdicts: Vec<&str> = ["P1", "P2", "P3", "P4", "WR", "LV"]
        .iter()
        .map(|it| json["verdicts"][it].as_str().expect("a verdict"))
        .collect();
    assert_eq!(verdicts, ["violated", "holds", "violated", "violated", "holds", "holds"]);
    assert_eq!(json["overlaps"][0]["clients"], serde_json::json!(["c1", "c2"]));
    assert_eq!(json["faults"][0]["fired"], true);
}

#[test]
fn a_file_may_have_any_name() {
    let folder = Folder::new();
    for name in ["ä ü ".repeat(30), "x".repeat(150), "it's \u{1b}[31m".to_owned(), "-q".to_owned()] {
        let path = folder.write(&format!("{name}.toml"), SCENARIO);
        let text = doublehold(&["run", &path]).prints(0);
        assert!(!text.contains('\x1b'), "{text}");
        let headline = text.lines().next().expect("a headline").chars().count();
        assert!(headline <= 100 || !name.contains(' '), "only a word may be wider than the page: {text}");
    }
}

#[test]
fn what_a_scenario_says_cannot_turn_or_hide_what_is_printed() {
    let folder = Folder::new();
    let scenario = SCENARIO.lines().filter(|line| !line.starts_with("claim")).collect::<Vec<_>>().join("\n");
    let hidden = "claim = \"no \\u202Eyrev\\u202C \\u2066odd\\u2069 n\\u200Bame\"\n";
    let path = folder.write("turned.toml", format!("{hidden}{scenario}"));
    let text = doublehold(&["run", &path]).prints(0);
    assert!(text.contains("no yrev odd n ame"), "{text}");
    for hidden in ['\u{202e}', '\u{202c}', '\u{2066}', '\u{2069}', '\u{200b}'] {
        assert!(!text.contains(hidden), "{text:?}");
    }
    let said = doublehold(&["run", "quiet", "--set", &"x\u{202e}".repeat(20_000)]).refused();
    assert!(said.len() < 500 && !said.contains('\u{202e}'), "{} bytes", said.len());
}

#[test]
fn what_is_given_to_the_wrong_command_is_pointed_to_the_right_one() {
    let folder = Folder::new();
    let [plan, history, plan_toml] = ["run.plan", "history.jsonl", "plan.toml"].map(|name| folder.path(name));
    doublehold(&["run", "quiet", "--plan", &plan, "--history", &history]).prints(0);
    std::fs::copy(&plan, &plan_toml).expect("a copy");
    let mine = folder.write("mine.toml", SCENARIO);
    let is = |name: &str, what: &str, way: &str| {
        format!("error: `{name}` is a {what}\nhint: {way} it: `doublehold {way} {name}`\n")
    };
    let cases: Vec<(Vec<&str>, String)> = vec![
        (vec!["clock-jump"], is("clock-jump", "scenario, not a command", "run")),
        (vec![&mine], is(&mine, "scenario, not a command", "run")),
        (vec![&plan], is(&plan, "plan, not a command", "replay")),
        (vec![&history], is(&history, "history, not a command", "judge")),
        (vec!["run", &plan], is(&plan, "plan, not a scenario", "replay")),
        (vec!["run", &plan_toml], is(&plan_toml, "plan, not a scenario", "replay")),
        (vec!["run", &history], is(&history, "history, not a scenario", "judge")),
        (vec!["run", "--all-variants", &plan], is(&plan, "plan, not a scenario", "replay")),
        (vec!["list", &history], is(&history, "history, not a scenario", "judge")),
        (vec!["verify-determinism", &plan], is(&plan, "plan, not a scenario", "replay")),
        (vec!["replay", "clock-jump"], is("clock-jump", "scenario, not a plan", "run")),
        (vec!["replay", &mine], is(&mine, "scenario, not a plan", "run")),
        (vec!["replay", &history], is(&history, "history, not a plan", "judge")),
        (vec!["judge", "clock-jump"], is("clock-jump", "scenario, not a history", "run")),
        (vec!["judge", &plan], is(&plan, "plan, not a history", "replay")),
    ];
    for (arguments, says) in &cases {
        assert_eq!(doublehold(arguments).refused(), *says, "{arguments:?}");
    }
    let hints = [
        ("clock-jump.toml", "`clock-jump` is in the catalogue: name it without `.toml`"),
        ("k4-one-jump", "did you mean `clock-jump/k4-one-jump`?"),
        ("p.plan", "a plan is for `doublehold replay`"),
        (
            "lease-pause.plan",
            "there is no such file; a plan is for `doublehold replay`, and `lease-pause` is in",
        ),
    ];
    for (name, says) in hints {
        let refusal = doublehold(&["run", name]).refused();
        assert!(refusal.contains(&format!("hint: {says}")), "{refusal}");
    }
    assert!(doublehold(&["no-such-command"]).refused().contains("unrecognized subcommand"));
}

#[test]
fn a_history_from_anywhere_is_judged_as_the_run_it_is_of() {
    let folder = Folder::new();
    let history = folder.path("history.jsonl");
    let run =
        kit::json(&doublehold(&["run", "lease-pause", "--history", &history, "--format", "json"]).prints(0));
    let judged = kit::json(&doublehold(&["judge", &history, "--format", "json"]).prints(1));
    for field in ["scenario", "seed", "verdicts", "evidence", "overlaps", "outcome", "true_time_ns"] {
        assert_eq!(judged[field], run[field], "{field}");
    }
    assert_eq!(judged["judgement"], "violated");
    let text = doublehold(&["judge", &history]).prints(1);
    for says in ["c1 and c2 both hold", "while c1 still believes in its own grant: double hold", "VIOLATED"] {
        assert!(text.contains(says), "{text}");
    }
    assert!(!text.contains("--history FILE"), "{text}");

    let lines = std::fs::read_to_string(&history).expect("a history");
    let (header, _) = lines.split_once('\n').expect("a header");
    let unbounded = header.replace("30000000000", "null");
    let ended = r#"{"at":9,"type":"run_ended","outcome":"completed"}"#;
    doublehold(&["judge", &folder.write("quiet.jsonl", format!("{unbounded}\n{ended}\n"))]).prints(0);
    let text = doublehold(&["judge", &folder.write("cut.jsonl", header)]).prints(3);
    assert!(text.contains("cut short") && text.contains("INCONCLUSIVE"), "{text}");
    let bad = [
        (folder.path("missing.jsonl"), "No such file"),
        (folder.at().to_str().expect("UTF-8").to_owned(), "it is a directory"),
        (folder.write("empty.jsonl", ""), "the history is empty"),
        (folder.write("bad.jsonl", format!("{header}\n{{\"at\":1}}\n")), "line 2"),
        (folder.write("old.jsonl", header.replace("\"version\":3", "\"version\":2")), "version 2"),
    ];
    for (file, says) in &bad {
        let refusal = doublehold(&["judge", file]).refused();
        assert!(refusal.starts_with("error: cannot read history `") && refusal.contains(says), "{refusal}");
        assert!(refusal.contains("\nhint: "), "{refusal}");
    }
}

#[test]
fn a_file_is_listed_with_its_variants() {
    let folder = Folder::new();
    let variant = "[[variants]]\nname = \"short\"\nclaim = \"Another claim\"\nset = { \"lock.ttl\" = \"3s\" }\nexpect = { P2 = \"holds\" }\n";
    let mine = folder.write("mine.toml", format!("{SCENARIO}{variant}"));
    let text = doublehold(&["list", &mine]).prints(0);
    for says in [
        "mine\n      Two clients take turns\n      shows P1 hold\n",
        "  mine/short\n      Another claim\n      shows P1 P2 hold\n",
    ] {
        assert!(text.contains(says), "{text}");
    }
    let json = kit::json(&doublehold(&["list", &mine, "--format", "json"]).prints(0));
    assert_eq!((&json[0]["name"], &json[1]["expect"]["P2"]), (&"mine".into(), &"holds".into()));
    assert!(doublehold(&["list", "clock-jumb"]).refused().contains("did you mean `clock-jump`?"));
}

#[test]
fn all_variants_are_run_a_line_for_each_and_the_worst_decides_the_status() {
    let text = doublehold(&["run", "clock-jump", "--all-variants"]).prints(0);
    assert_eq!(text.lines().count(), 6, "{text}");
    assert!(text.contains("clock-jump/k4-one-jump     as expected: P1 P2 P3 P4 WR LV hold\n"), "{text}");
    let folder = Folder::new();
    let variant = |name: &str, set: &str| format!("[[variants]]\nname = \"{name}\"\n{set}\n");
    let worse = [
        variant("never", "set = { \"faults.0.at\" = \"the 9th c1's write\" }"),
        variant("wrong", "expect = { P1 = \"violated\" }"),
    ];
    let undecided = folder.write("undecided.toml", format!("{SCENARIO}{}", worse[0]));
    let text = doublehold(&["run", &undecided, "--all-variants"]).prints(3);
    assert!(text.contains("undecided/never  INCONCLUSIVE: ") && text.contains("/never --seed 1\n"), "{text}");
    let both = folder.write("both.toml", format!("{SCENARIO}{}", worse.concat()));
    let text = doublehold(&["run", &both, "--all-variants", "--seed", "2"]).prints(1);
    let replay = format!("    replay: doublehold run {both}/wrong --seed 2\n");
    assert!(text.contains("NOT AS EXPECTED") && text.contains(&replay), "{text}");
    let output = doublehold(&["run", &both, "--all-variants", "--format", "json"]).answer();
    let json = kit::json(&output.stdout);
    let judgements: Vec<&str> = json
        .as_array()
        .expect("an array")
        .iter()
        .map(|it| it["judgement"].as_str().expect("a word"))
        .collect();
    assert_eq!((output.status, judgements), (Some(1), vec!["as-expected", "inconclusive", "contradicted"]));
    assert!(
        doublehold(&["run", &both, "--all-variants", "--plan", &folder.path("p.plan")])
            .refused()
            .contains("cannot be used with")
    );
}

#[test]
fn the_catalogue_is_listed_for_people_and_for_programs() {
    let json = kit::json(&doublehold(&["list", "--format", "json"]).prints(0));
    let entries = json.as_array().expect("an array");
    assert!(entries.len() > 20, "{} entries", entries.len());
    let text = doublehold(&["list"]).prints(0);
    for entry in entries {
        let name = entry["name"].as_str().expect("a name");
        assert!(
            entry["claim"].is_string() && entry["story"].is_string() && entry["expect"].is_object(),
            "{entry}"
        );
        assert!(
            text.lines().any(|line| line.split_whitespace().next() == Some(name)),
            "{name} is not in the list"
        );
    }
}

#[test]
fn an_id_is_the_users_own_label_and_nothing_where_none_is_given() {
    let folder = Folder::new();
    let labelled = folder.write("mine.toml", format!("id = \"SHOP-12\"\n{SCENARIO}"));
    let text = doublehold(&["run", &labelled]).prints(0);
    assert!(text.lines().any(|line| line == "  id: SHOP-12"), "{text}");
    let json = kit::json(&doublehold(&["run", &labelled, "--format", "json"]).prints(0));
    assert_eq!(json["id"], "SHOP-12");

    let text = doublehold(&["run", "clock-jump"]).prints(0);
    assert!(!text.contains("(claim ") && !text.contains("  id: "), "{text}");
    let json = kit::json(&doublehold(&["run", "clock-jump", "--format", "json"]).prints(0));
    assert_eq!(json.get("id"), None);
    let json = kit::json(&doublehold(&["list", "--format", "json"]).prints(0));
    for entry in json.as_array().expect("an array") {
        assert_eq!(entry.get("id"), None, "{entry}");
    }
}

#[test]
fn a_run_that_was_changed_says_so_and_that_its_story_may_not_fit() {
    let folder = Folder::new();
    let plan = folder.path("run.plan");
    let changed = ["run", "gc-in-flight", "--set", "lock.elapsed_check=false", "--set", "faults.0.for = 13s"];
    let run = doublehold(&[&changed[..], &["--plan", &plan]].concat()).answer();
    let replay = doublehold(&["replay", &plan]).answer();
    for text in [run.stdout, replay.stdout] {
        let (header, _) = text.split_once("seed 1, engine sim").expect("the header ends");
        let header = header.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(header.contains("set: lock.elapsed_check=false set: faults.0.for=13s"), "{header}");
        assert!(header.contains("may no longer fit"), "{header}");
    }
    let json = |arguments: &[&str]| -> Value {
        let output = doublehold(&[arguments, &["--format", "json"]].concat()).answer();
        kit::json(&output.stdout)
    };
    for told in [json(&changed), json(&["replay", &plan])] {
        assert_eq!(told["sets"], serde_json::json!(["lock.elapsed_check=false", "faults.0.for=13s"]));
        assert_eq!(told["story_may_not_fit"], true);
    }
    let again = ["run", "gc-in-flight", "--seed", "2"];
    let unchanged = doublehold(&again).prints(0);
    assert!(!unchanged.contains("set: ") && !unchanged.contains("may no longer fit"), "{unchanged}");
    let told = json(&again);
    assert_eq!((&told["sets"], &told["story_may_not_fit"]), (&serde_json::json!([]), &false.into()));
}

#[test]
fn a_run_that_was_changed_does_not_claim_to_show_what_the_story_says() {
    // Without the node timeouts nothing else changes, and the verdicts are those of the file.
    let text = doublehold(&["run", "gc-in-flight", "--set", "lock.node_timeout=none"]).prints(0);
    assert!(!text.contains("this run shows what the scenario says it shows"), "{text}");
    assert!(
        text.contains("as expected: the verdicts are those the file expects, with what was set, too"),
        "{text}"
    );
}

#[test]
fn bad_input_is_refused_with_the_thing_the_cause_and_the_way_out() {
    let folder = Folder::new();
    let broken = |name: &str, from: &str, to: &str| {
        assert!(SCENARIO.contains(from), "{from}");
        folder.write(name, SCENARIO.replace(from, to))
    };
    let large = folder.path("large.toml");
    let file = std::fs::File::create(&large).expect("a file can be made");
    file.set_len(100 << 20).expect("100 MB that take no room");
    let cases: Vec<(String, &str)> = vec![
        ("clock-jumb".into(), "unknown scenario `clock-jumb`"),
        ("clock-jump/k9".into(), "unknown scenario `clock-jump/k9`"),
        (folder.path("missing.toml"), "cannot read scenario"),
        (folder.at().to_str().expect("UTF-8").to_owned(), "cannot read scenario"),
        (folder.write("empty.toml", ""), "it is empty"),
        (folder.write("latin1.toml", b"claim = \"caf\xe9\"\n"), "not UTF-8"),
        (large, "larger than 1 MiB"),
        (broken("syntax.toml", "[lock]", "[lock"), "line "),
        (broken("key.toml", "ttl =", "tll ="), "`tll`"),
        (broken("unit.toml", "10s", "10 parsecs"), "line 7"),
        (broken("negative.toml", "\"10s\"", "\"-10s\""), "line 7"),
        (broken("predicate.toml", "P1 =", "P7 ="), "P7"),
        (broken("host.toml", "host = \"c1\"", "host = \"c7\""), "c7"),
        (broken("event.toml", "c1's write", "c1's sneeze"), "sneeze"),
        (broken("never.toml", "c1's write", "c9's write"), "c9"),
        (broken("loss.toml", "[limits]", "[network]\nloss = \"3/2\"\n[limits]"), "3/2"),
        (broken("clock.toml", "kind = \"pause\"", "kind = \"clock-freeze\"\nclock = \"lunar\""), "lunar"),
    ];
    for (scenario, says) in &cases {
        let refusal = doublehold(&["run", scenario]).refused();
        assert!(refusal.starts_with("error: ") && refusal.contains(says), "{scenario}: {refusal}");
        assert!(refusal.contains("\nhint: "), "{scenario} without a way out: {refusal}");
    }
}

#[test]
fn nothing_is_nested_deeply_enough_to_overflow_the_stack() {
    let folder = Folder::new();
    // As long as an argument may be on Linux.
    let dots = vec!["a"; 50_000].join(".");
    let deep = "nested more than 16 deep";
    let set = |change: String| ["run", "quiet", "--set", &change].map(str::to_owned).to_vec();
    let plan = folder.path("run.plan");
    doublehold(&["run", "quiet", "--plan", &plan]).prints(0);
    let plan = std::fs::read_to_string(&plan).expect("a plan");
    let replay = |name: &str, text: String| vec!["replay".to_owned(), folder.write(name, text)];
    let in_variant = format!("{SCENARIO}[[variants]]\nname = \"deep\"\nset = {{ \"{dots}\" = 1 }}\n");
    let cases = [
        set(format!("{dots}=1")),
        set(format!("lock={{\"{dots}\"=1}}")),
        set(format!("lock={}1{}", "{a=".repeat(30_000), "}".repeat(30_000))),
        vec!["run".to_owned(), folder.write("file.toml", format!("{SCENARIO}[{dots}]\n"))],
        vec!["run".to_owned(), folder.write("variant.toml", in_variant) + "/deep"],
        replay("outside.plan", format!("{plan}\n{dots} = 1\n")),
        replay(
            "inside.plan",
            plan.replacen("[scenario.expect]", &format!("x = {}\n[scenario.expect]", "[".repeat(50_000)), 1),
        ),
    ];
    for arguments in cases {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let refusal = doublehold(&arguments).refused();
        assert!(refusal.contains(deep) && refusal.len() < 1_000, "{refusal}");
    }
}

#[test]
fn bad_usage_is_refused_and_writes_nothing() {
    let folder = Folder::new();
    let (trace, history) = (folder.path("trace.jsonl"), folder.path("history.jsonl"));
    let cases: [&[&str]; 12] = [
        &["run"],
        &["run", "clock-jumb", "--trace", &trace],
        &["run", "quiet", "--trace", &trace, "--seed", "-1"],
        &["run", "quiet", "--trace", &trace, "--seed", "1.5"],
        &["run", "quiet", "--trace", &trace, "--set", "nonsense"],
        &["run", "quiet", "--trace", &trace, "--set", "lock.tll=5s"],
        &["run", "quiet", "--trace", &trace, "--format", "yaml"],
        &["run", "quiet", "--trace", &trace, "--history", &trace],
        &["run", "quiet", "--trace", &trace, "--history", "/nowhere/at/all"],
        &["run", "quiet", "--trace", &trace, "--history", &history, "--plan", "/nowhere/at/all"],
        &["verify-determinism", "quiet", "--seeds", "0"],
        &["sing"],
    ];
    for arguments in cases {
        let refusal = doublehold(arguments).refused();
        assert!(refusal.starts_with("error: "), "{arguments:?}: {refusal}");
        assert_eq!(folder.names(), [] as [&str; 0], "{arguments:?} left a file behind");
    }
}

#[test]
fn a_file_that_cannot_be_opened_or_filled_is_an_error_and_the_old_content_stays() {
    let folder = Folder::new();
    let kept = folder.write("kept.jsonl", "precious");
    doublehold(&["run", "quiet/single", "--trace", &kept, "--history", "/nowhere/at/all"]).refused();
    assert_eq!(std::fs::read_to_string(&kept).expect("still there"), "precious");
    let refusal =
        doublehold(&["run", "quiet/single", "--history", folder.at().to_str().expect("UTF-8")]).refused();
    assert!(refusal.starts_with("error: cannot write the history to `"), "{refusal}");
    if cfg!(target_os = "linux") {
        let refusal = doublehold(&["run", "quiet/single", "--history", "/dev/full"]).refused();
        assert!(refusal.starts_with("error: cannot write the history to `/dev/full`: "), "{refusal}");
    }
}

#[test]
fn trace_history_and_plan_say_the_same_as_the_run() {
    let folder = Folder::new();
    let [trace, history, plan] = ["trace.jsonl", "history.jsonl", "run.plan"].map(|name| folder.path(name));
    let run = [
        "run",
        "lease-pause",
        "--seed",
        "3",
        "--format",
        "json",
        "--trace",
        &trace,
        "--history",
        &history,
        "--plan",
        &plan,
    ];
    let json = kit::json(&doublehold(&run).prints(0));

    let trace = std::fs::read_to_string(&trace).expect("a trace");
    let lines: Vec<Value> = trace.lines().map(|line| kit::json(line)).collect();
    assert_eq!(lines[0]["hosts"][1], "A");
    assert_eq!(lines[0]["trace_hash"], json["trace_hash"]);
    assert_eq!(json["events"], lines.len() as u64 - 1);

    let history = std::fs::File::open(&history).expect("a history");
    let history = History::read_jsonl(BufReader::new(history)).expect("JSON lines");
    for (predicate, verdict) in judge(&history).iter() {
        assert_eq!(json["verdicts"][predicate.as_str()], verdict.as_str());
    }

    let replayed = kit::json(&doublehold(&["replay", &plan, "--format", "json"]).prints(0));
    assert_eq!(replayed["trace_hash"], json["trace_hash"]);
    assert_eq!(replayed["verdicts"], json["verdicts"]);
}

#[test]
fn a_replay_that_differs_is_told_and_a_plan_of_another_version_is_refused() {
    let folder = Folder::new();
    let plan = folder.path("run.plan");
    let json = kit::json(&doublehold(&["run", "lease-pause", "--format", "json", "--plan", &plan]).prints(0));
    let text = std::fs::read_to_string(&plan).expect("a plan");
    let hash = json["trace_hash"].as_str().expect("a hash");
    let other = folder.write("other.plan", text.replace(hash, "00000000000000ff"));
    let differs = doublehold(&["replay", &other]).answer();
    assert_eq!(differs.status, Some(1));
    let words = "note: NOT THE SAME RUN: the plan came to trace 00000000000000ff, this replay to ";
    assert!(differs.stdout.contains(words) && differs.stdout.matches("THE SAME RUN").count() == 1);
    let hint = "hint: the plan or the program was changed since the plan was written\n";
    assert_eq!(differs.stderr, hint, "what the result says is not said again");
    assert!(!differs.stdout.contains("as expected: this run"), "another run's verdicts show nothing of it");
    let same = |plan: &str| {
        let replayed = doublehold(&["replay", plan, "--format", "json"]).answer();
        kit::json(&replayed.stdout)["same_run"].clone()
    };
    assert_eq!((same(&plan), same(&other)), (Value::Bool(true), Value::Bool(false)));
    assert_eq!(json.get("same_run"), None, "a run is no replay");
    let (before, verdicts) = text.split_once("[verdicts]").expect("a table of them");
    let edited = folder
        .write("edited.plan", format!("{before}[verdicts]{}", verdicts.replacen("violated", "holds", 1)));
    let told = doublehold(&["replay", &edited]).answer();
    let words = format!(
        "NOT AS IN THE PLAN: the run is the same, trace {hash}, and its verdicts are not; P1 was holds"
    );
    assert_eq!(told.status, Some(1));
    assert!(told.stdout.contains("note: NOT AS IN THE PLAN: "), "{}", told.stdout);
    assert!(told.stdout.replace("\n      ", " ").contains(&words), "{}", told.stdout);
    assert_eq!(told.stderr, hint);
    let newer = folder.write("newer.plan", text.replace("plan = 2", "plan = 3"));
    let refusal = doublehold(&["replay", &newer]).refused();
    assert!(refusal.contains("cannot replay plan") && refusal.contains("plan format 3"), "{refusal}");
    doublehold(&["replay", &folder.write("no.plan", "seed = 1")]).refused();
    doublehold(&["replay", &folder.path("missing.plan")]).refused();
    let empty = doublehold(&["replay", &folder.write("empty.plan", "")]).refused();
    assert!(empty.contains("it is empty\nhint: name the file that `run NAME --plan FILE` wrote"), "{empty}");
    let refusal = doublehold(&["replay", folder.at().to_str().expect("UTF-8")]).refused();
    assert!(
        refusal.contains(": it is a directory\nhint: name the file that `run NAME --plan FILE` wrote"),
        "{refusal}"
    );
}

#[test]
fn determinism_is_verified_four_ways() {
    let said = doublehold(&["verify-determinism", "crash-restart", "--seeds", "3"]).prints(0);
    assert!(said.starts_with("crash-restart: 3 seeds, each the same trace"), "{said}");
    doublehold(&["verify-determinism", "clock-jumb"]).refused();
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for arguments in [&["run", "quiet"][..], &["list"], &["list", "--format", "json"], &["--help"]] {
        let mut child =
            doublehold(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        drop(child.stdout.take());
        let output = Answer::from(child.wait_with_output().expect("it ends"));
        assert_eq!((output.status, &*output.stderr), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn colours_are_for_terminals_or_on_request() {
    let colored = |arguments: &[&str], no_color: bool| {
        let mut command = doublehold(arguments);
        if no_color {
            command.env("NO_COLOR", "1");
        }
        command.answer().stdout.contains('\x1b')
    };
    assert!(!colored(&["run", "lease-pause"], false), "a pipe is no terminal");
    assert!(!colored(&["run", "lease-pause", "--color", "auto"], true));
    assert!(!colored(&["run", "lease-pause", "--color", "never"], false));
    assert!(colored(&["run", "lease-pause", "--color", "always"], false));
    assert!(colored(&["run", "lease-pause", "--color", "always"], true), "asked for in so many words");
}

#[test]
fn ascii_is_drawn_on_request_and_where_the_locale_shows_nothing_else() {
    assert!(doublehold(&["run", "lease-pause", "--ascii"]).prints(0).is_ascii());
    assert!(!doublehold(&["run", "lease-pause"]).prints(0).is_ascii());
    let posix = doublehold(&["run", "lease-pause"]).env("LANG", "en_US.UTF-8").env("LC_ALL", "C").answer();
    assert!(posix.stdout.is_ascii(), "LC_ALL decides over LANG");
    let unset = doublehold(&["list"]).env_remove("LANG").answer();
    assert!(unset.stdout.is_ascii() || cfg!(windows));
}

#[test]
fn lines_fit_the_width_that_is_asked_for() {
    let cases = [("72", 72), ("90", 90), ("140", 140), ("60", 60), ("1", 40), ("9999", 140), ("wide", 100)];
    for (columns, limit) in cases {
        let run = doublehold(&["run", "clock-jump"]).env("COLUMNS", columns).answer();
        let lines = run.stdout.lines().filter(|line| !line.starts_with("replay: "));
        let widest = lines.max_by_key(|line| line.chars().count()).expect("a line");
        assert!(widest.chars().count() <= limit, "COLUMNS={columns}: {widest}");
    }
}

#[test]
fn help_and_version_are_results() {
    let help = doublehold(&["--help"]).prints(0);
    for command in ["list", "run", "replay", "verify-determinism", "serve", "Examples:", "Exit status:"] {
        assert!(help.contains(command), "{command} is not in the help");
    }
    assert_eq!(doublehold(&["--version"]).prints(0), format!("doublehold {}\n", env!("CARGO_PKG_VERSION")));
    assert!(doublehold(&[]).refused().contains("Usage: doublehold"));
}

#[test]
fn nodes_are_served_on_real_ports_until_they_are_shut_down() {
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a free port").port();
    let mut server = doublehold(&["serve", "--port", &port.to_string()])
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut said = [0; 7];
    server.stderr.as_mut().expect("piped").read_exact(&mut said).expect("it says where it serves");
    assert_eq!(&said, b"serving");

    let taken = doublehold(&["serve", "--port", &port.to_string()]).refused();
    assert!(taken.contains(&format!("cannot listen on 127.0.0.1:{port}")), "{taken}");

    let mut client = TcpStream::connect(("127.0.0.1", port)).expect("somebody listens");
    client.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    client.write_all(b"*1\r\n$4\r\nPING\r\n").expect("sent");
    let mut reply = [0; 7];
    client.read_exact(&mut reply).expect("a reply");
    assert_eq!(&reply, b"+PONG\r\n");
    client.write_all(b"*2\r\n$8\r\nSHUTDOWN\r\n$6\r\nNOSAVE\r\n").expect("sent");
    assert_eq!(server.wait().expect("it ends").code(), Some(0));

    doublehold(&["serve", "--port", "65535", "--nodes", "2"]).refused();
    doublehold(&["serve", "--port", "0"]).refused();
    doublehold(&["serve", "--nodes", "0"]).refused();
}

#[test]
fn a_run_of_which_nothing_is_expected_is_not_as_expected() {
    let folder = Folder::new();
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/catalog/quiet.toml"))
            .expect("the catalogue is there");
    let (before, rest) = text.split_once("[expect]").expect("it expects something");
    let (_, after) = rest.split_once("[lock]").expect("the lock follows");
    let file = folder.write("mine.toml", format!("{before}[lock]{after}"));
    assert!(doublehold(&["run", &file]).prints(0).contains("nothing to compare"));
    assert!(doublehold(&["run", &file, "--set", "limits.time=1s"]).prints(3).contains("INCONCLUSIVE"));
}
