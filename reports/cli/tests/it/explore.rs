//! `explore` as a user meets it: what it says, what it writes, and that it can be stopped.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

use serde_json::Value;
use snapbox::str;

use crate::kit::{self, Answer, Ask, Folder, assert_text, doublehold, shell, verdicts};

const SETNX: [&str; 4] = ["explore", "setnx-expire", "--kinds", "pause"];

#[test]
fn what_is_found_is_printed_the_same_on_any_number_of_threads() {
    let on = |jobs: &str| doublehold(&SETNX).args(["--jobs", jobs]).ends(1).stdout;
    let one = on("1");
    assert_eq!(one, on("2"));
    assert!(one.contains("kinds: pause (for 2 s or 6 s)\n"), "{one}");
    // A placement that does nothing has a trace of its own all the same.
    assert!(
        one.contains("; different traces (a fault is in its own, so that not each does anything)"),
        "{one}"
    );
    assert!(!one.contains("different runs"), "{one}");
    assert!(one.contains("\nP1  in "), "{one}");
    assert!(one.contains("    pause at write (1): c1 pauses for 6 s, at c1's write\n"), "{one}");
}

#[test]
fn that_nothing_was_found_is_said_plainly() {
    let nodes = ["--set", "nodes.names=[\"A\",\"B\",\"C\"]"];
    let redlock = ["explore", "redlock", "--kinds", "clock-step", "--predicate", "P2,WR"];
    let text = doublehold(&redlock).args(nodes).ends(0).stdout;
    assert_text(
        text,
        str![[r#"
redlock: every placement of at most 1 fault, seed 1
  world: 3 nodes, 2 clients, 1 round each; lock redlock, ttl 4 s, its switches as by default;
    messages take 1 ms
  kinds: clock-step (by +6 s or -6 s)
  steps of the run without faults: 230 (2 acquire, 68 arrival, 6 boot, 2 check, 42 clock read, 30
    command, 2 grant, 2 read, 2 release, 68 send, 4 timer, 2 write)
  placements tried: 460; different traces (a fault is in its own, so that not each does anything),
    with the one without faults: 461

all 460 placements of at most 1 fault of kind clock-step tried: P2 and WR hold
not tried: other worlds, seeds, kinds or magnitudes, and moments between two steps

"#]],
    );
}

#[test]
fn what_was_not_decided_is_inconclusive_and_says_which_limit_it_met() {
    let args = ["explore", "single", "--kinds", "pause", "--predicate", "P2,LV", "--set", "limits.events=60"];
    let text = doublehold(&args).args(["--set", "lock.elapsed_check=true"]).ends(3).stdout;
    assert_text(
        text,
        str![[r#"
single: every placement of at most 1 fault, seed 1
  world: 1 node, 2 clients, 1 round each; lock single, ttl 4 s, with elapsed_check = true, its other
    switches as by default; messages take 1 ms
  kinds: pause (for 2 s or 6 s)
  steps of the run without faults: 22 (2 acquire, 4 arrival, 4 boot, 5 clock read, 1 command, 1
    grant, 1 read, 4 send)
  placements tried: 44; different traces (a fault is in its own, so that not each does anything),
    with the one without faults: 27
  LV: a wait counts from the end of the last fault, and is too long after 60 s

INCONCLUSIVE: P2 is not decided in 27 runs: the run used up its budget of events (raise
  `limits.events`, or let less happen)
INCONCLUSIVE: LV is not decided in 27 runs: the run used up its budget of events (raise
  `limits.events`, or let less happen)

"#]],
    );
    let folder = Folder::new();
    let scenario = "claim = \"no bound\"\nlock = { algorithm = \"single\", ttl = \"10s\" }\nnodes = { names = [\"A\"] }\n\
                    clients = [{ name = \"c1\", program = [\"acquire\", \"work 1s\", \"release\"] }]\n";
    folder.write("mine.toml", scenario);
    let search = |predicates: &str| {
        folder.doublehold(&["explore", "mine.toml", "--kinds", "clock-step", "--predicate", predicates])
    };
    assert_text(
        search("LV,P2").ends(0).stdout,
        str![[r#"
mine: every placement of at most 1 fault, seed 1
  world: 1 node, 1 client, 1 round each; lock single, ttl 10 s, its switches as by default; messages
    take 1 ms to 5 ms
  kinds: clock-step (by +12 s or -12 s)
  steps of the run without faults: 31 (1 acquire, 8 arrival, 3 boot, 4 clock read, 4 command, 1
    grant, 1 release, 8 send, 1 timer)
  placements tried: 62; different traces (a fault is in its own, so that not each does anything),
    with the one without faults: 63
  delays or the like are random here, and each placement is one draw of them: another `--seed` may
    show more

LV was not asked about: no bound stated
all 62 placements of at most 1 fault of kind clock-step tried: P2 holds
not tried: other worlds, seeds, kinds or magnitudes, and moments between two steps

"#]],
    );
    // Where nothing else was asked, that is no pass.
    search("LV").ends(3);
}

#[test]
fn each_minimal_example_is_written_as_a_scenario_that_shows_it() {
    let folder = Folder::new();
    let out = folder.path("found");
    let json =
        doublehold(&SETNX).args(["--predicate", "P3,WR", "--out", &out, "--format", "json"]).ends(1).stdout;
    let found = kit::json(&json);
    let mut shown = 0;
    for looked_for in found["looked_for"].as_array().expect("a list") {
        for sort in looked_for["minimal"].as_array().expect("a list") {
            let Some(file) = sort["file"].as_str() else {
                assert_eq!(sort["through_redis_rs"], false, "{sort}");
                continue;
            };
            let written = fs::read_to_string(file).expect("it was written");
            assert!(
                written.contains("optional = false") && !written.contains("optional = true"),
                "{written}"
            );
            let run_it = format!(": doublehold run {file} --seed 1\n\n");
            assert!(
                written.starts_with("# run it with its seed, ") && written.contains(&run_it),
                "{written}"
            );
            // As expected is what the file says: that the predicate is violated.
            doublehold(&["run", file]).ends(0);
            shown += 1;
        }
    }
    assert!(shown >= 4, "{json}");
}

/// The names of all fields, but for those of a fault and the names of steps.
fn fields(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(name, value)| {
            names.insert(name.clone());
            if name != "example" && name != "steps" {
                fields(value, names);
            }
        }),
        Value::Array(values) => values.iter().for_each(|value| fields(value, names)),
        _ => {}
    }
}

#[test]
fn the_page_about_json_has_every_field() {
    let json = doublehold(&SETNX).args(["--format", "json"]).ends(1).stdout;
    let mut names = BTreeSet::new();
    fields(&kit::json(&json), &mut names);
    let page = include_str!("../../../JSON.md");
    let (_, section) = page.split_once("\n## A search over placements\n").expect("its section");
    let section = section.split("\n## ").next().unwrap_or(section);
    let said: BTreeSet<String> = section.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let missing: Vec<&String> = names.difference(&said).collect();
    assert!(missing.is_empty(), "the page does not say {missing:?}");
}

#[test]
fn a_minimal_example_of_a_scenario_can_be_pasted() {
    let text =
        doublehold(&["explore", "lease-pause", "--kinds", "pause", "--predicate", "P3"]).ends(1).stdout;
    let line = text.lines().find(|line| line.contains("doublehold run")).expect("a line to paste");
    let words = shlex::split(line.trim()).expect("a line of a shell");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let run = doublehold(&words[1..]).answer().stdout;
    assert_text(
        verdicts(&run),
        str![[r#"
  rule                came out      expected            violated means
  P1  claim overlap   violated      violated            two clients both believed they held the lock
        c1 and c2 both held "stock" for 2.543 s of true time, from 10.489 s to 13.032 s; on c1's
        monotonic clock from 10.489 s to 13.032 s; on c2's monotonic clock from 10.489 s to 13.032 s
  P2  valid overlap   holds         holds               as P1, before either's own deadline
  P3  stale effect    violated      violated            a write was applied after a later grant
        c1's write of "stock" (version 1) was applied at 13.030 s, 2.541 s after c2 had been granted
        "stock" at 10.489 s; c1 wrote under its grant of 0.017 s
  P4  data anomaly    violated      violated            the data is what no turn-taking would leave
        lost update on "stock": c2 (grant 24) read version 0, c1 (grant 1) wrote version 1, and c2
        overwrote it with version 2 without having seen it
  WR  wrong release   holds         holds               a command changed another grant's key
  LV  liveness        holds         holds               a wait was longer than its bound
  a grant has the number of its acquire call in the run; refused calls are counted, too

as expected: the verdicts are those the file expects, with what was set, too
replay: doublehold run lease-pause --seed 1 --set "faults=[{ at = \"resource's 2nd message from c1\", for = \"12s\", host = \"resource\", kind = \"pause\" }]"

"#]],
    );
}

/// A search counts waits from the end of the last fault, and the line to paste says so to a scenario that does not.
#[test]
fn a_wait_is_counted_from_the_end_of_the_last_fault() {
    let folder = Folder::new();
    let scenario = "claim = \"sends again\"\nnodes = { names = [\"A\"] }\nlimits = { obtain_within = \"60s\" }\n\
                    lock = { algorithm = \"single\", ttl = \"1h\", transport_retries = 3 }\n\
                    clients = [{ name = \"c1\", program = [\"acquire\", \"release\"] }]\n";
    folder.write("again.toml", scenario);
    let search = |kind: &str| {
        folder.doublehold(&["explore", "again.toml", "--kinds", kind, "--predicate", "LV"]).answer().stdout
    };
    let told = "  LV: a wait counts from the end of the last fault, and is too long after 60 s\n";
    let cut = search("cut");
    assert!(cut.contains(told) && cut.contains(" tried: LV holds\n"), "{cut}");
    let reset = search("reset-connections");
    assert!(reset.contains(told) && reset.contains("VIOLATED: LV\n"), "{reset}");
    let lines: Vec<&str> = reset.lines().filter(|line| line.contains("doublehold run")).collect();
    assert!(!lines.is_empty(), "{reset}");
    for line in lines {
        let words = shlex::split(line.trim()).expect("a line of a shell");
        assert!(words.contains(&"limits.after_faults=true".to_owned()), "{line}");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let run = folder.doublehold(&words[1..]).answer().stdout;
        assert!(run.contains("LV  liveness        violated"), "{run}");
    }
}

#[test]
fn what_was_kept_is_gone_on_with() {
    let folder = Folder::new();
    let search = ["explore", "setnx-expire", "--kinds", "pause", "--resume", "search.json"];
    let whole = folder.doublehold(&search).ends(1).stdout;
    assert_eq!(folder.doublehold(&search).ends(1).stdout, whole);
    let other = ["explore", "setnx-expire", "--kinds", "crash", "--resume", "search.json"];
    assert_text(
        folder.refusals(&[other]),
        str![[r#"
$ doublehold explore setnx-expire --kinds crash --resume search.json
error: cannot go on with `search.json`: it is of another search: its kinds are pause, and crash was asked for
hint: name a file that this search wrote when it was stopped, or one that is not there yet

"#]],
    );
    folder.write("search.json", "");
    assert_text(
        folder.refusals(&[search]),
        str![[r#"
$ doublehold explore setnx-expire --kinds pause --resume search.json
error: cannot go on with `search.json`: it is empty
hint: name a file that this search wrote when it was stopped, or one that is not there yet

"#]],
    );
    folder.write("search.json", "{}");
    assert_text(
        folder.refusals(&[search]),
        str![[r#"
$ doublehold explore setnx-expire --kinds pause --resume search.json
error: cannot go on with `search.json`: it is no interrupted search: missing field `explore` at line 1 column 2
hint: name a file that this search wrote when it was stopped, or one that is not there yet

"#]],
    );
}

/// A search that takes long, stopped as Ctrl-C does; what it printed is kept, and the line that goes on is one.
#[cfg(unix)]
#[test]
fn a_search_that_is_stopped_says_what_it_found_and_how_to_go_on() {
    let folder = Folder::new();
    let arguments = ["explore", "setnx-expire", "--kinds", "pause,crash", "--faults", "2"];
    let mut command = folder.doublehold(&arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the binary starts");
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    let pid = child.id().to_string();
    // A second request comes right after the first, as from `timeout`: nothing is lost by that.
    let both = format!("kill -INT {pid} && sleep 0.02 && kill -TERM {pid} || true");
    shell(&both, &[]).ends(0);
    let stopped = Answer::from(child.wait_with_output().expect("it ends"));
    // On a busy machine both are there when the program looks, and it cannot tell which came first.
    assert!(matches!(stopped.status, Some(130 | 143)), "{:?}: {}", stopped.status, stopped.stderr);
    assert!(stopped.stdout.contains("\nSTOPPED after "), "{}", stopped.stdout);
    let line = stopped.stderr.lines().last().expect("a last line");
    let again =
        "stopped; to go on: doublehold explore setnx-expire --faults 2 --seed 1 --kinds 'pause,crash'";
    assert_eq!(line, format!("{again} --resume setnx-expire.explore.json"));
    let kept = folder.read("setnx-expire.explore.json");
    assert!(kept.contains("\"batches\":"), "{kept}");
}

/// A killed search had kept what it found up to some batch, and going on with that comes to what one that was never
/// killed comes to.
#[cfg(unix)]
#[test]
fn a_search_that_is_killed_loses_little() {
    let folder = Folder::new();
    let file = folder.path("search.json");
    let search = ["explore", "redlock", "--kinds", "pause,crash,cut", "--jobs", "1"];
    let kept = [&search[..], &["--resume", &file]].concat();
    let mut child = doublehold(&kept).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    // Its place is made first, and what is kept is put there at once.
    while fs::read_to_string(&file).unwrap_or_default().is_empty() {
        assert_eq!(child.try_wait().expect("it can be asked"), None, "it ended before it kept anything");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().expect("it runs");
    child.wait().expect("it was killed");
    assert!(fs::read_to_string(&file).expect("it was kept").contains("\"batches\":"));
    assert_eq!(doublehold(&kept).ends(1).stdout, doublehold(&search).ends(1).stdout);
}

#[test]
fn what_cannot_be_searched_is_refused_before_anything_is_run() {
    let folder = Folder::new();
    let refused: [&[&str]; 6] = [
        &["explore", "single", "--faults", "0"],
        &["explore", "single", "--kinds", ""],
        &["explore", "single", "--kinds", "puase"],
        &["explore", "single", "--jobs", "0"],
        &["explore", "single", "--predicate", "P9"],
        &["explore", "quiet", "--rounds", "2"],
    ];
    assert_text(
        folder.refusals(&refused),
        str![[r#"
$ doublehold explore single --faults 0
error: 0 faults cannot be placed
hint: name a number from 1 to 5

$ doublehold explore single --kinds ''
error: no kind of fault is named, so there is nothing to place
hint: name some of `pause`, `suspend`, `crash`, `power-loss`, `clock-step`, `clock-freeze`, `cut`, `packet-delay`, `duplicate`, `reset-connections`, `slow-node`, `flush`, `evict` and `promote`

$ doublehold explore single --kinds puase
error: there is no kind of fault `puase`
hint: did you mean `pause`?

$ doublehold explore single --jobs 0
error: invalid value '0' for '--jobs <N>': 0 is not in 1..=65535

For more information, try '--help'.

$ doublehold explore single --predicate P9
error: invalid value 'P9' for '--predicate <P1,P2,…>': the predicates are P1, P2, P3, P4, WR, LV

For more information, try '--help'.

$ doublehold explore quiet --rounds 2
error: a scenario has its own clients and rounds
hint: leave out `--clients` and `--rounds`, or name a lock (see `locks`)

"#]],
    );
    let nowhere = folder.doublehold(&["explore", "single", "--resume", "/nowhere/file"]).refused();
    assert!(nowhere.contains("cannot write the search to `/nowhere/file`"), "{nowhere}");
    let endless = folder.doublehold(&["explore", "single", "--faults", "4"]).refused();
    assert!(
        endless.contains("placements of at most 4 faults would be tried, which takes about "),
        "{endless}"
    );
    assert!(
        endless.contains("hint: name fewer `--kinds` or `--faults`, or make the world smaller"),
        "{endless}"
    );
}
