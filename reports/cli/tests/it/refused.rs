//! Every kind of bad input and bad usage: what is said to it, and that nothing is written.

use snapbox::str;

use crate::cli::SCENARIO;
use crate::kit::{Ask, Folder, assert_text, doublehold};

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
    let names = ["clock-jump.toml", "k4-one-jump", "p.plan", "lease-pause.plan"].map(|name| ["run", name]);
    assert_text(
        folder.refusals(&names),
        str![[r#"
$ doublehold run clock-jump.toml
error: unknown scenario `clock-jump.toml`
hint: `clock-jump` is in the catalogue: name it without `.toml`

$ doublehold run k4-one-jump
error: unknown scenario `k4-one-jump`
hint: did you mean `clock-jump/k4-one-jump`?

$ doublehold run p.plan
error: unknown scenario `p.plan`
hint: a plan is for `doublehold replay`; run `doublehold list` for the catalogue

$ doublehold run lease-pause.plan
error: unknown scenario `lease-pause.plan`
hint: there is no such file; a plan is for `doublehold replay`, and `lease-pause` is in the catalogue

"#]],
    );
    assert_text(
        folder.refusals(&[["no-such-command"]]),
        str![[r#"
$ doublehold no-such-command
error: unrecognized subcommand 'no-such-command'

Usage: doublehold <COMMAND>

For more information, try '--help'.

"#]],
    );
}

#[test]
fn bad_input_is_refused_with_the_thing_the_cause_and_the_way_out() {
    let folder = Folder::new();
    what_is_no_scenario(&folder);
    what_is_broken_in_one_place(&folder);
}

fn what_is_no_scenario(folder: &Folder) {
    folder.write("empty.toml", "");
    folder.write("latin1.toml", b"claim = \"caf\xe9\"\n");
    let large = std::fs::File::create(folder.path("large.toml")).expect("a file can be made");
    large.set_len(100 << 20).expect("100 MB that take no room");
    let names =
        ["clock-jumb", "clock-jump/k9", "missing.toml", "./", "empty.toml", "latin1.toml", "large.toml"];
    let commands = names.map(|name| ["run", name]);
    assert_text(
        folder.refusals(&commands),
        str![[r#"
$ doublehold run clock-jumb
error: unknown scenario `clock-jumb`
hint: did you mean `clock-jump`?

$ doublehold run clock-jump/k9
error: unknown scenario `clock-jump/k9`
hint: known are `clock-jump/k3-one-jump`, `clock-jump/k4-one-jump`, `clock-jump/k4-two-jumps`, `clock-jump/k5-two-jumps` and `clock-jump/k5-three-jumps`

$ doublehold run missing.toml
error: cannot read scenario `missing.toml`: No such file or directory (os error 2)
hint: name a file that exists and that you may read

$ doublehold run ./
error: cannot read scenario `./`: it is a directory
hint: name a file that ends in `.toml`

$ doublehold run empty.toml
error: cannot read scenario `empty.toml`: it is empty
hint: start from one in the catalogue, scenarios/catalog/

$ doublehold run latin1.toml
error: cannot read scenario `latin1.toml`: line 1: it is not UTF-8 text
hint: save it as UTF-8

$ doublehold run large.toml
error: cannot read scenario `large.toml`: it is larger than 1 MiB
hint: a scenario is a page or two of TOML: name another file

"#]],
    );
}

fn what_is_broken_in_one_place(folder: &Folder) {
    let mut said = Vec::new();
    for (from, to) in [
        ("[lock]", "[lock"),
        ("ttl =", "tll ="),
        ("10s", "10 parsecs"),
        ("\"10s\"", "\"-10s\""),
        ("P1 =", "P7 ="),
        ("host = \"c1\"", "host = \"c7\""),
        ("c1's write", "c1's sneeze"),
        ("c1's write", "c9's write"),
        ("[limits]", "[network]\nloss = \"3/2\"\n[limits]"),
        ("kind = \"pause\"", "kind = \"clock-freeze\"\nclock = \"lunar\""),
    ] {
        assert!(SCENARIO.contains(from), "{from}");
        folder.write("mine.toml", SCENARIO.replace(from, to));
        said.push(format!("{from} -> {to}\n{}", folder.doublehold(&["run", "mine.toml"]).refused()));
    }
    assert_text(
        said.join("\n"),
        str![[r#"
[lock] -> [lock
error: cannot read scenario `mine.toml`: line 5: unclosed table, expected `]`
hint: scenario files are TOML: `key = value` lines under `[table]` headings

ttl = -> tll =
error: cannot read scenario `mine.toml`: line 7: unknown key `tll` in `lock`
hint: did you mean `ttl`?

10s -> 10 parsecs
error: cannot read scenario `mine.toml`: line 7: `lock.ttl` must be a duration such as "2.5s", not `10 parsecs`
hint: the units are `ns`, `us`, `ms`, `s`, `m`, `h`, `d` and `y`

"10s" -> "-10s"
error: cannot read scenario `mine.toml`: line 7: `lock.ttl` must not be negative: `-10s`
hint: use a duration from "0s" up

P1 = -> P7 =
error: cannot read scenario `mine.toml`: line 4: unknown predicate `P7`
hint: did you mean `P1`?

host = "c1" -> host = "c7"
error: cannot read scenario `mine.toml`: line 18: `faults.0.host`: there is no host `c7`
hint: did you mean `c1`?

c1's write -> c1's sneeze
error: cannot read scenario `mine.toml`: line 20: `faults.0.at`: there is no event `sneeze`
hint: known are `acquire`, `grant`, `refusal`, `read`, `check`, `write`, `extending`, `extend`, `release`, `expiry`, `timer` and `boot`

c1's write -> c9's write
error: cannot read scenario `mine.toml`: line 20: `faults.0.at`: there is no host `c9`
hint: did you mean `c1`?

[limits] -> [network]
loss = "3/2"
[limits]
error: cannot read scenario `mine.toml`: line 22: `network.loss`: `3/2` is not a probability: it must lie between 0 and 1
hint: write a ratio from "0/1" to "1/1"

kind = "pause" -> kind = "clock-freeze"
clock = "lunar"
error: cannot read scenario `mine.toml`: line 18: `faults.0.clock` must be one of `wall`, `monotonic` and `boot`, not `lunar`
hint: known are `wall`, `monotonic` and `boot`

"#]],
    );
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
