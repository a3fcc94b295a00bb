//! `doublehold check`, as a user and a CI job call it.

use std::fs;

use crate::kit::{Answer, Ask, Folder, shell, unwrapped};

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
    let enough = folder.doublehold(&[&quiet[..], &["--runs", "300"]].concat()).answer();
    let text = enough.stdout;
    assert_eq!(enough.status, Some(0), "{text}");
    assert!(text.contains("nothing found: WR holds in all 300 runs"), "{text}");
    assert!(text.contains("at most 1 %"), "{text}");
    assert!(!folder.has("doublehold-check"), "an empty folder is left behind");

    folder.write(
        "rare.toml",
        "[[faults]]\nkind = \"pause\"\nhost = \"clients\"\nevery = \"9y\"\nfor = \"1s\"\n",
    );
    let never = folder.doublehold(&["check", "single", "--weather", "rare.toml", "--runs", "64"]).answer();
    let text = never.stdout;
    assert_eq!(never.status, Some(3), "{text}");
    assert!(text.contains("INCONCLUSIVE") && text.contains("pause never struck"), "{text}");
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

#[test]
fn what_cannot_be_is_refused_before_the_first_run() {
    let folder = Folder::new();
    folder.write("file", "");
    let storm = "[[faults]]\nkind = \"pause\"\nhost = \"clients\"\nevery = \"1ms\"\nfor = \"1s\"\n";
    folder.write("storm.toml", storm);
    let nobody = "[[faults]]\nkind = \"pause\"\nhost = \"replicas\"\nevery = \"9s\"\nfor = \"1s\"\n";
    folder.write("nobody.toml", nobody);
    let refused: [(&[&str], &str); 16] = [
        (
            &["--seed", "18446744073709551614", "--runs", "3"],
            "there are only 2 seeds from there on\nhint: name",
        ),
        (&["--jobs", "100000"], "invalid value '100000'"),
        (&["--weather", "nobody.toml"], "the weather strikes nobody here: there is no host for its pause"),
        (&["--runs", "0"], "1..="),
        (&["--for", "0s"], "makes no run"),
        (&["--for", "9y"], "use at most `720h`, which is 30 days: `--seed` goes on"),
        (&["--for", "soon"], "must be a duration"),
        (&["--for", "1s", "--runs", "5"], "cannot be used with"),
        (&["--jobs", "0"], "invalid value '0'"),
        (&["--predicate", "P9"], "the predicates are P1"),
        (&["--weather", "clod"], "did you mean `cloud`?"),
        (
            &["--weather", "storm.toml"],
            "`faults.0.every` is 1 ms, and the weather lasts 20 s: that is more than 100 faults on one host in a run",
        ),
        (
            &["--set", "weather.for=90m"],
            "`weather.for` is 90 min and `limits.time` 1 h: weather must end before the run",
        ),
        (&["--weather", "none.toml"], "cannot read weather `none.toml`"),
        (&["--out", "file/x"], "cannot write counterexamples to `file/x`"),
        (&["--junit", "nowhere/j.xml"], "cannot write the JUnit result to `nowhere/j.xml`"),
    ];
    for (arguments, cause) in refused {
        let output = folder.doublehold(&[&["check", "single"], arguments].concat()).ends(2);
        assert!(output.stderr.contains(cause), "{arguments:?}: {}", output.stderr);
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    let nothing = folder.doublehold(&["check", "redlok"]).ends(2);
    assert!(nothing.stderr.contains("did you mean `redlock`?"), "{}", nothing.stderr);
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
    let why = "the run used up its budget of events (raise `limits.events`, or let less happen)";
    let unwrapped = unwrapped(&text);
    assert!(unwrapped.contains(&format!("inconclusive, first from seed 1: {why}")), "{text}");
    let again = "doublehold check single --weather calm --set 'limits.events=100' --seed 1 --runs 1";
    assert!(
        unwrapped.contains(&format!("WR was never decided; from seed 1: {why} that run again: {again}")),
        "{text}"
    );
    assert!(text.contains("\n  rate -: "), "{text}");
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
    assert!(text.contains("set-ex under calm:") && text.contains("no fault struck"), "{text}");
    assert!(text.contains("not asked about, and violated in 32 runs: P1 ("), "{text}");
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
    assert!(nothing.stderr.contains("violates nothing"), "{}", nothing.stderr);
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
