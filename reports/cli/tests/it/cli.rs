//! The binary as a user meets it: exit status, what goes to which stream, and files.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use snapbox::str;

use crate::kit::{self, Answer, Ask, Folder, assert_text, doublehold, shell, verdicts};

/// A scenario of two clients on one node, to be broken in one place each.
pub(crate) const SCENARIO: &str = r#"
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
    let run = |status: i32, scenario: &str| {
        folder.write("mine.toml", scenario);
        folder.doublehold(&["run", "mine.toml"]).prints(status)
    };
    let expected = run(0, SCENARIO);
    assert_text(
        verdicts(&expected),
        str![[r#"
  rule                came out      expected            violated means
  P1  claim overlap   holds         holds               two clients both believed they held the lock
  P2  valid overlap   holds         not stated          as P1, before either's own deadline
  P3  stale effect    holds         not stated          a write was applied after a later grant
  P4  data anomaly    holds         not stated          the data is what no turn-taking would leave
  WR  wrong release   holds         not stated          a command changed another grant's key
  LV  liveness        holds         not stated          a wait was longer than its bound

as expected: this run shows what the scenario says it shows
replay: doublehold run mine.toml --seed 1

"#]],
    );
    let contradicted = run(1, &SCENARIO.replace(r#"P1 = "holds""#, r#"P1 = "violated""#));
    assert_text(
        verdicts(&contradicted),
        str![[r#"
  rule                came out      expected            violated means
  P1  claim overlap   holds         violated, NOT SO    two clients both believed they held the lock
  P2  valid overlap   holds         not stated          as P1, before either's own deadline
  P3  stale effect    holds         not stated          a write was applied after a later grant
  P4  data anomaly    holds         not stated          the data is what no turn-taking would leave
  WR  wrong release   holds         not stated          a command changed another grant's key
  LV  liveness        holds         not stated          a wait was longer than its bound

NOT AS EXPECTED: P1 was to be violated and holds
replay: doublehold run mine.toml --seed 1

"#]],
    );
    let never = run(3, &SCENARIO.replace("c1's write", "the 9th c1's write"));
    assert_text(
        verdicts(&never),
        str![[r#"
  rule                came out      expected            violated means
  P1  claim overlap   inconclusive  holds, undecided    two clients both believed they held the lock
        the fault `c1 pauses for 1 s at c1's 9th write` never fired
  P2  valid overlap   inconclusive  not stated          as P1, before either's own deadline
  P3  stale effect    inconclusive  not stated          a write was applied after a later grant
  P4  data anomaly    inconclusive  not stated          the data is what no turn-taking would leave
  WR  wrong release   inconclusive  not stated          a command changed another grant's key
  LV  liveness        inconclusive  not stated          a wait was longer than its bound

note: this fault never struck: c1 pauses for 1 s, at c1's 9th write

INCONCLUSIVE: nothing contradicts the expectation, and not all of it was decided
replay: doublehold run mine.toml --seed 1

"#]],
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
    folder.write("turned.toml", format!("{hidden}{scenario}"));
    let text = folder.doublehold(&["run", "turned.toml"]).prints(0);
    assert_eq!(text.lines().next(), Some("turned: no yrev odd n ame"));
    for hidden in ['\u{202e}', '\u{202c}', '\u{2066}', '\u{2069}', '\u{200b}'] {
        assert!(!text.contains(hidden), "{text:?}");
    }
    let said = doublehold(&["run", "quiet", "--set", &"x\u{202e}".repeat(20_000)]).refused();
    assert!(said.len() < 500 && !said.contains('\u{202e}'), "{} bytes", said.len());
}

#[test]
fn a_run_that_was_changed_says_so_and_that_its_story_may_not_fit() {
    let folder = Folder::new();
    let plan = folder.path("run.plan");
    let changed = ["run", "gc-in-flight", "--set", "lock.elapsed_check=false", "--set", "faults.0.for = 13s"];
    let run = doublehold(&[&changed[..], &["--plan", &plan]].concat()).answer();
    let replay = doublehold(&["replay", &plan]).answer();
    let header =
        |text: &str| text.split_once("\n  seed 1, engine sim").expect("the header ends").0.to_owned();
    assert_text(
        header(&run.stdout),
        str![[r#"
gc-in-flight: A pause while the replies are in flight does not make two holders: the elapsed check
  refuses the lock
  Kleppmann, "How to do distributed locking" (2016), who conceded this example; antirez, "Is Redlock
  safe?" (2016)

  c1 has asked all five nodes when a garbage collection stops it for 12 s. They grant it the lock,
  and their replies wait unread. The leases end, c2 gets the lock. c1 wakes, reads five times OK,
  and sees that 12 s have passed.

  set: lock.elapsed_check=false
  set: faults.0.for=13s
  what is said above was written without that, and may no longer fit

"#]],
    );
    assert_eq!(header(&replay.stdout), header(&run.stdout));
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
    assert_text(
        verdicts(&text),
        str![[r#"
  rule                came out      expected            violated means
  P1  claim overlap   holds         holds               two clients both believed they held the lock
  P2  valid overlap   holds         holds               as P1, before either's own deadline
  P3  stale effect    holds         holds               a write was applied after a later grant
  P4  data anomaly    holds         holds               the data is what no turn-taking would leave
  WR  wrong release   holds         holds               a command changed another grant's key
  LV  liveness        holds         holds               a wait was longer than its bound

as expected: the verdicts are those the file expects, with what was set, too
replay: doublehold run gc-in-flight --seed 1 --set 'lock.node_timeout=none'

"#]],
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
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../scenarios/catalog/one-node/quiet.toml"
    ))
    .expect("the catalogue is there");
    let (before, rest) = text.split_once("[expect]").expect("it expects something");
    let (_, after) = rest.split_once("[lock]").expect("the lock follows");
    folder.write("mine.toml", format!("{before}[lock]{after}"));
    let run = folder.doublehold(&["run", "mine.toml"]).prints(0);
    assert_text(
        verdicts(&run),
        str![[r#"
  rule                came out      expected            violated means
  P1  claim overlap   holds         not stated          two clients both believed they held the lock
  P2  valid overlap   holds         not stated          as P1, before either's own deadline
  P3  stale effect    holds         not stated          a write was applied after a later grant
  P4  data anomaly    holds         not stated          the data is what no turn-taking would leave
  WR  wrong release   holds         not stated          a command changed another grant's key
  LV  liveness        holds         not stated          a wait was longer than its bound

the scenario states no expectation: nothing to compare
replay: doublehold run mine.toml --seed 1

"#]],
    );
    let cut = folder.doublehold(&["run", "mine.toml", "--set", "limits.time=1s"]).prints(3);
    assert_text(
        verdicts(&cut),
        str![[r#"
  rule                came out      expected            violated means
  P1  claim overlap   inconclusive  not stated          two clients both believed they held the lock
        the run used up its budget of true time
  P2  valid overlap   inconclusive  not stated          as P1, before either's own deadline
  P3  stale effect    inconclusive  not stated          a write was applied after a later grant
  P4  data anomaly    inconclusive  not stated          the data is what no turn-taking would leave
  WR  wrong release   inconclusive  not stated          a command changed another grant's key
  LV  liveness        inconclusive  not stated          a wait was longer than its bound

note: the run met `limits.time`, which is 1 s, after 119 events: raise it, or let less happen

INCONCLUSIVE: nothing contradicts the expectation, and not all of it was decided
replay: doublehold run mine.toml --seed 1 --set 'limits.time=1s'

"#]],
    );
}
