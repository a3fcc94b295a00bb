//! Histories, traces and plans that a run wrote: they say what the run did, are judged and replayed, and what is none
//! of them is refused.

use std::io::BufReader;

use doublehold_history::{History, judge};
use serde_json::Value;
use snapbox::str;

use crate::kit::{self, Ask, Folder, assert_text, doublehold};

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
    what_a_judgement_shows(&folder);

    let lines = folder.read("history.jsonl");
    let (header, _) = lines.split_once('\n').expect("a header");
    let unbounded = header.replace("30000000000", "null");
    let ended = r#"{"at":9,"type":"run_ended","outcome":"completed"}"#;
    folder.write("quiet.jsonl", format!("{unbounded}\n{ended}\n"));
    // Nobody was granted anything: that is no pass.
    folder.doublehold(&["judge", "quiet.jsonl"]).prints(3);
    folder.write("cut.jsonl", header);
    assert_text(
        folder.doublehold(&["judge", "cut.jsonl"]).prints(3),
        str![[r#"
lease-pause: a history of 2 clients and 0 events, 0 s of true time


  c1
  c2

       ┴
  time 0 s
  true time runs to the right, in order but not to scale


  rule                came out      violated means
  P1  claim overlap   inconclusive  two clients both believed they held the lock
        the history was cut short: it has no `run_ended`
  P2  valid overlap   inconclusive  as P1, before either's own deadline
  P3  stale effect    inconclusive  a write was applied after a later grant
  P4  data anomaly    inconclusive  the data is what no turn-taking would leave
  WR  wrong release   inconclusive  a command changed another grant's key
  LV  liveness        inconclusive  a wait was longer than its bound

INCONCLUSIVE: nothing is violated, and not all of it was decided

"#]],
    );
    what_is_no_history(&folder, header);
}

fn what_a_judgement_shows(folder: &Folder) {
    let text = folder.doublehold(&["judge", "history.jsonl"]).prints(1);
    assert_text(
        text,
        str![[r#"
lease-pause: a history of 2 clients and 68 events, 21.037 s of true time

               ①   ②                   ③          ④              ⑤  ⑥                      ⑦   ⑧   ⑨
  c1       ····████████████████████████▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒›▒▒L▒▒▒
  c2           ····○······························████████████›██w██
  P1                                              ▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀ c1 and c2 both hold: 1.009 s

       ┴───────┴───┴───────────────────┴──────────┴──────────────┴──┴──────────────────────┴───┴───┴
  time 0 s     0.017 s                 9.906 s    10.491 s          11.499 s                21.037 s
  · asks for the lock   ○ is refused   █ believes it holds the lock
  ▒ still believes it, past its own deadline   › write sent   w write applied
  L late write applied   ▀ double hold   true time runs to the right, in order but not to scale

  ①  0.017 s  c1 is granted "stock"
  ②  0.025 s  c2 is refused: taken (22 times, until 9.886 s)
  ③  9.906 s  c1's own deadline passes on its monotonic clock
  ④ 10.491 s  c2 is granted "stock", while c1 still believes in its own grant: double hold
  ⑤ 11.497 s  the resource applies c2's version 1
  ⑥ 11.499 s  c2 calls release; end of its double hold with c1, after 1.009 s
  ⑦ 21.028 s  late write: the resource applies c1's version 2, 10.537 s after c2 was granted the
              lock, computed from version 0
  ⑧ 21.031 s  c1 calls release
  ⑨ 21.037 s  c1 learns that it no longer held the lock

  rule                came out      violated means
  P1  claim overlap   violated      two clients both believed they held the lock
        c1 and c2 both held "stock" for 1.009 s of true time, from 10.491 s to 11.499 s; on c1's
        monotonic clock from 10.491 s to 11.499 s; on c2's monotonic clock from 10.491 s to 11.499 s
  P2  valid overlap   holds         as P1, before either's own deadline
  P3  stale effect    violated      a write was applied after a later grant
        c1's write of "stock" (version 2) was applied at 21.028 s, 10.537 s after c2 had been
        granted "stock" at 10.491 s; c1 wrote under its grant of 0.017 s
  P4  data anomaly    violated      the data is what no turn-taking would leave
        lost update on "stock": c1 (grant 1) read version 0, c2 (grant 24) wrote version 1, and c1
        overwrote it with version 2 without having seen it
  WR  wrong release   holds         a command changed another grant's key
  LV  liveness        holds         a wait was longer than its bound
  a grant has the number of its acquire call in the run; refused calls are counted, too

VIOLATED: the events above prove it

"#]],
    );
}

fn what_is_no_history(folder: &Folder, header: &str) {
    folder.write("empty.jsonl", "");
    folder.write("bad.jsonl", format!("{header}\n{{\"at\":1}}\n"));
    folder.write("old.jsonl", header.replace("\"version\":3", "\"version\":2"));
    let bad = ["missing.jsonl", ".", "empty.jsonl", "bad.jsonl", "old.jsonl"].map(|file| ["judge", file]);
    assert_text(
        folder.refusals(&bad),
        str![[r#"
$ doublehold judge missing.jsonl
error: cannot read history `missing.jsonl`: No such file or directory (os error 2)
hint: name a file that `run --history` wrote; scenarios/history/HISTORY.md describes each line

$ doublehold judge .
error: cannot read history `.`: it is a directory
hint: name a file that `run --history` wrote; scenarios/history/HISTORY.md describes each line

$ doublehold judge empty.jsonl
error: cannot read history `empty.jsonl`: the history is empty: its first line must be a header
hint: name a file that `run --history` wrote; scenarios/history/HISTORY.md describes each line

$ doublehold judge bad.jsonl
error: cannot read history `bad.jsonl`: line 2, column 8: not an event: missing field `type`
hint: name a file that `run --history` wrote; scenarios/history/HISTORY.md describes each line

$ doublehold judge old.jsonl
error: cannot read history `old.jsonl`: line 1: the history has version 2, this program reads version 3: record it again
hint: name a file that `run --history` wrote; scenarios/history/HISTORY.md describes each line

"#]],
    );
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
    what_is_no_plan(&folder, &text);
}

fn what_is_no_plan(folder: &Folder, plan: &str) {
    folder.write("newer.plan", plan.replace("plan = 2", "plan = 3"));
    folder.write("no.plan", "seed = 1");
    folder.write("empty.plan", "");
    let refused = ["newer.plan", "no.plan", "missing.plan", "empty.plan", "."].map(|plan| ["replay", plan]);
    assert_text(
        folder.refusals(&refused),
        str![[r#"
$ doublehold replay newer.plan
error: cannot replay plan `newer.plan`: it was written by doublehold [VERSION] as plan format 3, and this program reads formats up to 2
hint: replay it with that version, or make the run again: `doublehold run lease-pause --seed 1`

$ doublehold replay no.plan
error: cannot read plan `no.plan`: line 1: the file has no `plan`
hint: a plan is the file that `run --plan` writes: use it as it was written, or `run` a scenario file

$ doublehold replay missing.plan
error: cannot read plan `missing.plan`: No such file or directory (os error 2)
hint: name a file that exists and that you may read

$ doublehold replay empty.plan
error: cannot read plan `empty.plan`: it is empty
hint: name the file that `run NAME --plan FILE` wrote

$ doublehold replay .
error: cannot read plan `.`: it is a directory
hint: name the file that `run NAME --plan FILE` wrote

"#]],
    );
}
