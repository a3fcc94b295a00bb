//! `doublehold check`, as a user and a CI job call it.

use std::fs;

use snapbox::str;

use crate::kit::{Answer, Ask, Folder, assert_text, shell};

/// What a search prints and writes is the same on one thread and on two.
#[test]
fn one_thread_and_two_find_the_same() {
    let folder = Folder::new();
    let search = |jobs: &str, out: &str| {
        let args = [
            "check",
            "get-then-delete",
            "--weather",
            "pauses-only",
            "--runs",
            "3000",
            "--predicate",
            "P2,WR",
        ];
        let output = folder.doublehold(&[&args[..], &["--jobs", jobs, "--out", out]].concat()).ends(1);
        output.stdout.replace(out, "OUT")
    };
    let (one, two) = (search("1", "out-1"), search("2", "out-2"));
    assert_eq!(one, two);
    assert!(one.contains("VIOLATED: P2 and WR"), "{one}");
    let files = |out: &str| {
        let mut files: Vec<_> =
            fs::read_dir(folder.at().join(out)).unwrap().map(|it| it.unwrap().path()).collect();
        files.sort();
        let named = |path: &std::path::PathBuf| {
            let text = fs::read_to_string(path).unwrap().replace(out, "OUT");
            (path.file_name().unwrap().to_owned(), text)
        };
        files.iter().map(named).collect::<Vec<_>>()
    };
    assert_eq!(files("out-1"), files("out-2"));
    assert_eq!(files("out-1").len(), 8);
}

#[test]
fn what_is_found_replays_and_is_a_scenario() {
    let folder = Folder::new();
    let found =
        folder.doublehold(&["check", "setnx", "--seed", "900", "--runs", "400", "--predicate", "P1"]).ends(1);
    let text = found.stdout;
    let replay = text.lines().find_map(|line| line.strip_prefix("  replay: doublehold ")).unwrap();
    let replayed = folder.doublehold(&replay.split(' ').collect::<Vec<_>>()).ends(0);
    assert!(replayed.stdout.contains("same run"), "{}", replayed.stdout);
    let run_it = text.lines().find_map(|line| line.strip_prefix("  run it: doublehold ")).unwrap();
    assert!(run_it.starts_with("run doublehold-check/setnx-P1.toml --seed "), "{run_it}");
    folder.doublehold(&run_it.split(' ').collect::<Vec<_>>()).ends(0);
    // Who finds the file alone is told the same at its top.
    let file = folder.read("doublehold-check/setnx-P1.toml");
    let comments: Vec<&str> = file.lines().take_while(|line| line.starts_with("# ")).collect();
    assert!(comments[0].starts_with("# P1 is violated, found by `doublehold check` from seed "), "{file}");
    assert!(comments[1].ends_with(" of 100 other seeds do the same"), "{file}");
    assert!(comments[2].ends_with(&format!(": doublehold {run_it}")), "{file}");
}

#[test]
fn nothing_found_says_what_was_covered_and_a_fault_that_never_struck_is_no_pass() {
    let folder = Folder::new();
    let quiet = ["check", "single", "--weather", "pauses-only", "--predicate", "WR"];
    let text = folder.doublehold(&quiet).args(["--runs", "300"]).ends(0).stdout;
    assert!(text.contains("nothing found: WR holds in all 300 runs"), "{text}");
    assert!(text.contains("at most 1 %"), "{text}");
    assert!(!folder.has("doublehold-check"), "an empty folder is left behind");

    folder.write(
        "rare.toml",
        "[[faults]]\nkind = \"pause\"\nhost = \"clients\"\nevery = \"9y\"\nfor = \"1s\"\n",
    );
    let never = folder.doublehold(&["check", "single", "--weather", "rare.toml", "--runs", "64"]).ends(3);
    assert_text(
        never.stdout,
        str![[r#"
single under rare.toml: 1 node, 3 clients, 2 rounds each
64 runs, seeds 1 to 64, 384 grants

  rule              holds  violated  inconclusive  first seed    rate (95 %)
  P1 claim overlap     64         0             0           -  at most 4.6 %
  P2 valid overlap     64         0             0           -  at most 4.6 %
  P3 stale effect      64         0             0           -  at most 4.6 %
  P4 data anomaly      64         0             0           -  at most 4.6 %
  WR wrong release     64         0             0           -  at most 4.6 %
  LV liveness          64         0             0           -  at most 4.6 %

  LV: the lock goes to who asks within 60 s, counted from the last fault (the bound of a lock's
  usual world)

where faults struck (how often; -: never)

  kind   drawn  struck
  pause      0       0

INCONCLUSIVE: nothing was found, and not everything was tried
  of the weather's faults, pause never struck: make more runs

"#]],
    );
}

#[test]
fn ci_gets_junit_and_a_summary() {
    let folder = Folder::new();
    let args = [
        "check",
        "setnx",
        "--seed",
        "900",
        "--runs",
        "400",
        "--predicate",
        "P1,WR",
        "--junit",
        "j.xml",
        "--markdown",
        "s.md",
    ];
    folder.doublehold(&args).ends(1);
    let junit = folder.read("j.xml");
    assert!(
        junit.contains("<testcase name=\"P1\"")
            && junit.contains("<failure message=\"P1 is violated, first from seed "),
        "{junit}"
    );
    assert!(junit.contains("; replay: doublehold replay doublehold-check/setnx-P1.plan\">"), "{junit}");
    assert!(junit.contains("tests=\"3\"") && junit.contains("failures=\"1\""), "{junit}");
    let summary = folder.read("s.md");
    assert!(summary.starts_with("### setnx under cloud: 1 node, 3 clients, 2 rounds each\n"), "{summary}");
    assert!(summary.contains("| WR wrong release |"), "{summary}");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_search_keeps_what_was_counted_and_says_how_to_go_on() {
    use std::process::Stdio;
    use std::time::Duration;
    let folder = Folder::new();
    let search = ["check", "single", "--weather", "calm", "--predicate", "WR", "--for", "10m"];
    let mut search = folder.doublehold(&search);
    let search = search.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_secs(2));
    let pid = search.id().to_string();
    // A second request comes right after the first, as from `timeout`: nothing is lost by that.
    let both = format!("kill -INT {pid} && sleep 0.02 && kill -TERM {pid} || true");
    shell(&both, &[]).ends(0);
    let output = Answer::from(search.wait_with_output().expect("it ends"));
    assert_eq!(output.status, Some(130), "{}", output.stderr);
    assert!(output.stdout.contains("WR holds in all "), "{}", output.stdout);
    let said = output.stderr;
    let go_on = said
        .lines()
        .find_map(|line| line.strip_prefix("stopped; to go on: doublehold "))
        .expect("it says how");
    assert!(go_on.starts_with("check single "), "{go_on}");
    for asked in ["--seed ", "--weather calm", "--predicate WR", "--out doublehold-check"] {
        assert!(go_on.contains(asked), "{go_on} lacks {asked}");
    }
}

/// The last seed is one as any other, and one run is not "1 runs".
#[test]
fn the_last_seed_can_be_run() {
    let folder = Folder::new();
    let args =
        ["check", "set-ex", "--weather", "calm", "--seed", "18446744073709551615", "--runs", "1", "--ascii"];
    let output = folder.doublehold(&args).answer();
    let text = output.stdout;
    assert!(text.contains("\n1 run, seed 18446744073709551615, 6 grants\n"), "{text}");
    assert!(output.stderr.starts_with("1 run in "), "{}", output.stderr);
}

#[test]
fn what_was_never_decided_says_which_limit_to_raise_and_which_run_it_was() {
    let folder = Folder::new();
    let args = [
        "check",
        "single",
        "--weather",
        "calm",
        "--set",
        "limits.events=100",
        "--runs",
        "2",
        "--junit",
        "j.xml",
    ];
    let output = folder.doublehold(&args).answer();
    let text = output.stdout;
    assert_eq!(output.status, Some(3), "{text}");
    assert_text(
        text,
        str![[r#"
single with limits.events=100 under calm: 1 node, 3 clients, 2 rounds each
2 runs, seeds 1 to 2, 2 grants

  rule              holds  violated  inconclusive  first seed  rate (95 %)
  P1 claim overlap      0         0             2           -            -
  P2 valid overlap      0         0             2           -            -
  P3 stale effect       0         0             2           -            -
  P4 data anomaly       0         0             2           -            -
  WR wrong release      0         0             2           -            -
  LV liveness           0         0             2           -            -

  LV: the lock goes to who asks within 60 s, counted from the last fault (the bound of a lock's
  usual world)

  rate -: violated in fewer than ten runs, which says little beyond that it happens, or never
  decided

  inconclusive, first from seed 1: the run used up its budget of events (raise `limits.events`, or
  let less happen)

no fault struck: there is none in the scenario and none in the weather

INCONCLUSIVE: nothing was found, and not everything was tried
  P1 was never decided; from seed 1: the run used up its budget of events (raise `limits.events`, or
    let less happen)
    that run again: doublehold check single --weather calm --set 'limits.events=100' --seed 1 --runs 1
  P2 was never decided; from seed 1: the run used up its budget of events (raise `limits.events`, or
    let less happen)
    that run again: doublehold check single --weather calm --set 'limits.events=100' --seed 1 --runs 1
  P3 was never decided; from seed 1: the run used up its budget of events (raise `limits.events`, or
    let less happen)
    that run again: doublehold check single --weather calm --set 'limits.events=100' --seed 1 --runs 1
  P4 was never decided; from seed 1: the run used up its budget of events (raise `limits.events`, or
    let less happen)
    that run again: doublehold check single --weather calm --set 'limits.events=100' --seed 1 --runs 1
  WR was never decided; from seed 1: the run used up its budget of events (raise `limits.events`, or
    let less happen)
    that run again: doublehold check single --weather calm --set 'limits.events=100' --seed 1 --runs 1
  LV was never decided; from seed 1: the run used up its budget of events (raise `limits.events`, or
    let less happen)
    that run again: doublehold check single --weather calm --set 'limits.events=100' --seed 1 --runs 1

"#]],
    );
    let junit = folder.read("j.xml");
    assert!(junit.contains("<skipped message=\"inconclusive: WR was never decided; "), "{junit}");
}

/// What was not asked about is no pass either where it is violated: it is named.
#[test]
fn what_is_violated_and_was_not_asked_about_is_named() {
    let folder = Folder::new();
    let args = ["check", "set-ex", "--weather", "calm", "--predicate", "WR", "--runs", "32"];
    let output = folder.doublehold(&args).answer();
    let text = output.stdout;
    assert_text(
        text,
        str![[r#"
set-ex under calm: 1 node, 3 clients, 2 rounds each
32 runs, seeds 1 to 32, 192 grants

  rule                         holds  violated  inconclusive  first seed          rate (95 %)
  P1 claim overlap, not asked      0        32             0           1  100 % (89 to 100 %)
  P2 valid overlap, not asked      0        32             0           1  100 % (89 to 100 %)
  P3 stale effect, not asked       0        32             0           1  100 % (89 to 100 %)
  P4 data anomaly, not asked       0        32             0           1  100 % (89 to 100 %)
  WR wrong release                32         0             0           -          at most 9 %
  LV liveness, not asked          32         0             0           -          at most 9 %

  LV: the lock goes to who asks within 60 s, counted from the last fault (the bound of a lock's
  usual world)

no fault struck: there is none in the scenario and none in the weather

nothing found: WR holds in all 32 runs
not asked about, and violated in 32 runs: P1 (32 times, first from seed 1), P2 (32 times, first from
  seed 1), P3 (32 times, first from seed 1) and P4 (32 times, first from seed 1)

"#]],
    );
}

#[test]
fn why_tells_a_remedy_from_what_prevents_everything_and_needs_a_violation() {
    let folder = Folder::new();
    let text = folder.doublehold(&["why", "clock-jump"]).env("COLUMNS", "80").ends(0).stdout;
    let of =
        |change: &str| text.lines().find(|line| line.contains(change)).unwrap_or_else(|| panic!("{text}"));
    let gone = of("without: C has its wall clock");
    assert!(gone.contains("GONE") && gone.contains("0 of 200"), "{text}");
    assert!(of("without the client c2").contains("0 of 200, at most 1.5 %"), "{text}");
    assert!(of("with lock.jitter = false").contains("still"));
    assert!(of("with lock.node_timeout = none").contains("no lock"));
    assert!(text.lines().any(|line| line.contains("<==") && line.contains("stepped by +10 s")), "{text}");
    assert_eq!(text.lines().find(|line| line.chars().count() > 80), None, "{text}");
    let nothing = folder.doublehold(&["why", "quiet"]).ends(3);
    assert_text(
        nothing.stderr,
        str![[r#"
the run of `quiet` from seed 1 violates nothing that was asked about
hint: `check` finds runs that do, and `list` has scenarios

"#]],
    );
}

#[test]
fn weathers_are_listed_and_shown() {
    let folder = Folder::new();
    let list = folder.doublehold(&["weather"]).answer().stdout;
    for name in ["calm", "datacenter", "cloud", "hostile", "no-clock-faults", "no-amnesia", "pauses-only"] {
        assert!(list.lines().any(|line| line.split(' ').next() == Some(name)), "{list}");
    }
    let cloud = folder.doublehold(&["weather", "cloud"]).answer().stdout;
    folder.write("mine.toml", &cloud);
    let args = ["check", "single", "--weather", "mine.toml", "--runs", "32", "--predicate", "WR"];
    assert!(folder.doublehold(&args).answer().stdout.contains("32 runs"));
}
