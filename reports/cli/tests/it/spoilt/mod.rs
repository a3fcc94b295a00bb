//! Records that somebody has spoilt, line by line, and those of older versions. Every command that reads records
//! refuses what no sweep writes, with the line, and reads what an older version wrote.

mod hostile;

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use serde_json::{Value, json};
use snapbox::str;

use crate::kit::{Ask, Folder, assert_text};

/// Two designs at two points: four cells of three batches, the last of them short; and the same divided.
const STUDY: &str = r#"
question = "Which of two?"
weather = "pauses-only"
runs = 1100
[set]
"clients.count" = 2
"clients.rounds" = 1
[[designs]]
name = "one"
lock = "single"
[[designs]]
name = "two"
lock = "single"
set = { "lock.elapsed_check" = true }
[grid]
"lock.ttl" = ["1s", "4s"]
"#;
const DIVIDED: &str = r#"
question = "How rarely?"
weather = "pauses-only"
runs = 40
strata = { by = "kind", faults = 1, by_weight = 20 }
[set]
"clients.count" = 2
"clients.rounds" = 1
[[designs]]
name = "one"
lock = "single"
"#;

/// The records of each study, made once and in two shards: of those no examples are made, which take longest.
static RECORDS: LazyLock<String> = LazyLock::new(|| records(STUDY));
static DIVIDED_RECORDS: LazyLock<String> = LazyLock::new(|| records(DIVIDED));

fn records(study: &str) -> String {
    let folder = Folder::new();
    folder.write("study.toml", study);
    for arguments in [
        &["sweep", "study.toml", "--out", "swept", "--shard", "1/2"][..],
        &["sweep", "study.toml", "--out", "swept", "--shard", "2/2"],
        &["merge", "swept"],
    ] {
        folder.doublehold(arguments).ends(0);
    }
    folder.read("swept/runs.jsonl")
}

/// A folder with the records of a study, which is called `study.toml` there, and their lines. Without examples.
fn swept(study: &str) -> (Folder, Vec<Value>) {
    let folder = Folder::new();
    folder.write("study.toml", study);
    let text = if study == STUDY { &*RECORDS } else { &*DIVIDED_RECORDS };
    fs::create_dir(folder.at().join("swept")).expect("the folder is ours");
    folder.write("swept/runs.jsonl", text);
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    (folder, lines)
}

/// Asserts that all commands that read records refuse these and say why. A sweep may say instead that they are of
/// another sweep.
fn assert_refused(folder: &Folder, lines: &[Value], why: &str) {
    let text: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    fs::create_dir_all(folder.path("spoilt")).expect("the folder is ours");
    folder.write("spoilt/runs.jsonl", &text);
    for command in [
        &["report", "spoilt"][..],
        &["merge", "spoilt", "--out", "merged"],
        &["sweep", "study.toml", "--out", "spoilt"],
    ] {
        let told = folder.doublehold(command).ends(2).stderr;
        let is_of_study = command[0] == "sweep" && told.contains("they are of another sweep");
        assert!(told.contains(why) || is_of_study, "{command:?} with {why}: {told}");
        assert!(told.contains("\nhint: "), "{told}");
    }
    assert_eq!(folder.read("spoilt/runs.jsonl"), text, "{why}: it was left alone");
    assert!(!folder.has("spoilt/report.html") && !folder.has("merged/runs.jsonl"), "{why}");
}

type Spoil = fn(&mut Vec<Value>);

fn more(value: &mut Value, by: u64) {
    *value = json!(value.as_u64().expect("a number") + by);
}

/// The line of the first batch that violates P1, which has neighbours.
fn violating(lines: &[Value]) -> usize {
    let is_so = |line: &Value| line["predicates"]["P1"]["violated"].as_u64().is_some_and(|it| it > 0);
    lines.iter().position(is_so).expect("a lease of 1 s is lost")
}

#[test]
fn a_spoilt_line_is_named_by_whoever_reads_it() {
    let spoilt: &[(Spoil, &str)] = &[
        (|it| it.insert(6, it[5].clone()), "line 7: the batch 1 of cell 1 is there twice"),
        (|it| it.push(it[12].clone()), "line 14: the batch 2 of cell 3 is there twice"),
        (|it| it.extend(it[1..].to_vec()), "line 14: the batch 0 of cell 0 is not where it belongs"),
        (|it| it.swap(5, 6), "line 6: batches are missing before batch 2 of cell 1"),
        (|it| drop(it.remove(5)), "line 6: batches are missing before batch 2 of cell 1"),
        (|it| drop(it.remove(1)), "line 2: batches are missing before batch 1 of cell 0"),
        (
            |it| more(&mut it[5]["seed"], 1),
            "line 6: the batch 1 of cell 1 begins with seed 502, and 501 is due",
        ),
        (
            |it| more(&mut it[0]["seed"], 500),
            "line 2: the batch 0 of cell 0 begins with seed 1, and 501 is due",
        ),
        (|it| it[5]["runs"] = json!(400), "line 6: the batch 1 of cell 1 has 400 runs, and 500 are due"),
        (|it| it[3]["runs"] = json!(500), "line 4: the batch 2 of cell 0 has 500 runs, and 100 are due"),
        (
            |it| it[5]["cell"] = json!(9),
            "line 6: the batch 1 of cell 9 is of a cell that the study does not have",
        ),
        (
            |it| it[5]["batch"] = json!(3),
            "line 6: the batch 3 of cell 1 is beyond the 1100 runs that there are",
        ),
        (|it| it[5]["batch"] = json!(u64::MAX), "is beyond the 1100 runs that there are"),
        (|it| it[5]["panicked"] = json!(501), "line 6: the batch 1 of cell 1 counts more runs than it has"),
        (|it| it[5]["missed"] = json!(-1), "line 6 is no batch"),
        (
            |it| it[5]["weight"] = json!(7.0),
            "line 6: the batch 1 of cell 1 does not say how likely its stratum is",
        ),
        (
            |it| it[0]["runs"] = json!(8_000),
            "line 1: its header says that `runs` is `8000`, and its text `1100`",
        ),
        (
            |it| it[0]["question"] = json!("Another?"),
            "line 1: its header says that the question is `Another?`",
        ),
        (|it| it[0]["batch"] = json!(250), "line 1: its batches have 250 runs"),
        (
            |it| it[0]["seed"] = json!(u64::MAX),
            "line 1: its seeds begin with 18446744073709551615 and go beyond",
        ),
        (|it| it[0]["shard"] = json!([5, 4]), "line 1: it is shard 5 of 4"),
        (|it| it[0]["strata"] = json!([]), "line 1: the study has no strata"),
        (
            |it| it[0]["designs"].as_array_mut().expect("designs").reverse(),
            "line 1: its header says that design 1 is `two`, and its text `one`",
        ),
        (|it| drop(it[0]["designs"].as_array_mut().expect("designs").pop()), "the number of designs is `1`"),
    ];
    let (folder, lines) = swept(STUDY);
    for (spoil, why) in spoilt {
        let mut lines = lines.clone();
        spoil(&mut lines);
        assert_refused(&folder, &lines, why);
    }
}

#[test]
fn a_batch_whose_numbers_cannot_be_is_named() {
    type Spoil = fn(&mut Value);
    let spoilt: &[(Spoil, &str)] = &[
        (|it| more(&mut it["predicates"]["P1"]["violated"], 50), "marks other runs than it counts (P1)"),
        (|it| it["predicates"]["P1"]["violated"] = json!(0), "marks other runs than it counts (P1)"),
        (|it| it["predicates"]["P1"]["violations"] = json!(""), "marks other runs than it counts (P1)"),
        (|it| it["predicates"]["P1"]["violations"] = json!("zz"), "marks runs by what is no digit (P1)"),
        (
            |it| it["predicates"]["P4"]["doubts"] = json!("0".repeat(125) + "8"),
            "marks runs that it does not have (P4)",
        ),
        (|it| it["predicates"]["P4"]["undecided"] = json!(3), "marks other runs than it counts (P4)"),
        (
            |it| {
                let count = it["predicates"]["P1"].clone();
                it["predicates"]["P1"]["undecided"] = count["violated"].clone();
                it["predicates"]["P1"]["doubts"] = count["violations"].clone();
            },
            "marks a run as violated and as undecided (P1)",
        ),
        (
            |it| it["predicates"]["P1"]["incidents"] = json!({ "sum": 0, "squares": 0 }),
            "counts violations that",
        ),
        (
            |it| more(&mut it["predicates"]["P1"]["incidents"]["sum"], 100_000),
            "counts violations that so many runs",
        ),
        (|it| it["predicates"]["P1"]["undecided"] = json!(u64::MAX), "counts more runs than it has (P1)"),
        (|it| more(&mut it["grants"]["sum"], 9_000), "has `grants` that do not add up"),
        (|it| it["grants"]["squares"] = json!(1), "has `grants` that do not add up"),
        (|it| it["operated_ms"]["squares"] = json!(0), "has `operated_ms` that do not add up"),
        (|it| more(&mut it["obtained"]["count"], 1), "has `obtained` that do not add up"),
        (|it| more(&mut it["obtained"]["sum_us"], 1_000_000_000), "has `obtained` that do not add up"),
        (|it| it["obtained"]["max_ns"] = json!(1), "has `obtained` that do not add up"),
        (|it| it["obtained"]["buckets"]["33"] = json!(7), "has `obtained` that do not add up"),
        (
            |it| it["grants"] = json!({ "sum": 0, "squares": 0 }),
            "has more waits that ended with the lock than grants",
        ),
        (|it| it["overlaps"]["P1"]["max_ns"] = json!(1), "has `overlaps` that do not add up"),
        (|it| it["overlaps"]["WR"] = it["overlaps"]["P1"].clone(), "has overlaps that no violation has (WR)"),
    ];
    let (folder, lines) = swept(STUDY);
    let at = violating(&lines);
    for (spoil, why) in spoilt {
        let mut lines = lines.clone();
        spoil(&mut lines[at]);
        assert_refused(&folder, &lines, why);
    }
}

#[test]
fn strata_that_do_not_fit_are_named() {
    let spoilt: &[(Spoil, &str)] = &[
        (|it| it[1]["weight"] = json!(1.0), "the strata of cell 0 weigh more than all runs do"),
        (|it| it[1]["weight"] = json!(0.0), "the strata of cell 0 weigh less than all runs do"),
        (|it| it[1]["weight"] = Value::Null, "does not say how likely its stratum is"),
        (|it| it[1]["beyond"] = json!(-0.1), "does not say how likely its stratum is"),
        (|it| it[2]["beyond"] = json!(0.0), "says how likely no stratum is, which is for the first to say"),
        (
            |it| it[2]["planned"] = json!(1_000),
            "is of 1000 runs, and no stratum of the study has more than 60",
        ),
        (|it| more(&mut it[2]["planned"], 1), "runs, and"),
        (|it| it[2]["stratum"] = json!(2), "is of a stratum that the study does not have"),
        (|it| it[2]["seed"] = json!(1), "begins with seed 1, and 1000000001 is due"),
    ];
    let (folder, lines) = swept(DIVIDED);
    assert_eq!(lines.len(), 3, "no fault, and one pause");
    for (spoil, why) in spoilt {
        let mut lines = lines.clone();
        spoil(&mut lines);
        assert_refused(&folder, &lines, why);
    }
}

#[test]
fn a_torn_last_line_is_told_by_a_merge_too() {
    let (folder, lines) = swept(STUDY);
    let whole: Vec<String> = lines.iter().map(|line| line.to_string() + "\n").collect();
    // Cut in the middle; and whole in length, but not in what is in it, as after a power loss.
    let (last, before) = whole.split_last().expect("there are lines");
    for torn in [last[..100].to_owned(), "\0".repeat(99) + "\n"] {
        folder.write("swept/runs.jsonl", before.concat() + &torn);
        let output = folder.doublehold(&["merge", "swept", "--out", "merged"]).ends(0);
        assert!(output.stderr.contains("runs.jsonl` ended in the middle of a line"), "{}", output.stderr);
        let merged = folder.read("merged/runs.jsonl");
        assert_eq!(merged.lines().count(), before.len());
        let output = folder.doublehold(&["report", "swept"]).answer();
        assert!(
            output.status == Some(0) && output.stderr.contains("end in the middle of a line"),
            "{}",
            output.stderr
        );
    }
}

#[test]
fn partial_records_say_so_wherever_they_are_shown() {
    let folder = Folder::new();
    folder.write("study.toml", STUDY);
    let output = folder.doublehold(&["sweep", "study.toml", "--out", "parts", "--shard", "2/3"]).answer();
    // Twelve batches, four of them of 100 runs: 4,400 runs in thirds.
    assert!(output.stderr.contains("in this part: about"), "{}", output.stderr);
    assert_text(
        folder.refusals(&[["merge", "parts", "--out", "merged"]]),
        str![[r#"
$ doublehold merge parts --out merged
error: cannot use the records `parts/runs.2-of-3.jsonl`: of 3 shards, some are missing: 1 and 3
hint: name them too; `--shard 1/3` makes one that was not swept, and `--partial` takes what there is

"#]],
    );
    let output = folder.doublehold(&["merge", "--partial", "parts", "--out", "merged"]).ends(0);
    assert_text(
        output.stderr,
        str![[r#"
these records are partial: shard 2 of 3

"#]],
    );
    assert_text(
        folder.doublehold(&["report", "merged"]).ends(0).stderr,
        str![[r#"
These are partial records, merged from shard 2 of 3: what the other runs came to is not in here.
The sweep is not finished: these are 1,600 runs of the 4,400 that were planned.

"#]],
    );
    let read = |name: &str| folder.read(&format!("merged/{name}"));
    assert!(
        read("report.html").contains("These are partial records")
            && read("cells.json").contains("\"is_partial\":true")
    );
    assert_text(
        folder.refusals(&[["sweep", "study.toml", "--out", "merged"]]),
        str![[r#"
$ doublehold sweep study.toml --out merged
4 cells of at most 1,100 runs each, 4,400 in all: about [TIME]
error: cannot use the records `merged/runs.jsonl`: they are a part of a study, merged with `--partial`
hint: merge them again once all shards are finished, or sweep into another folder

"#]],
    );
}

/// Files that doublehold 0.1.0 wrote when shards were dealt out in turn: a whole study, and its two shards.
#[test]
fn records_of_the_first_format_are_read_and_merged() {
    let kept = |name: &str| -> PathBuf {
        [env!("CARGO_MANIFEST_DIR"), "tests", "it", "spoilt", name].iter().collect()
    };
    let folder = Folder::new();
    fs::create_dir_all(folder.path("parts")).expect("the folder is ours");
    for number in [1, 2] {
        let name = format!("{number}-of-2.jsonl");
        fs::copy(kept(&format!("format-1.{name}")), folder.path(&format!("parts/runs.{name}")))
            .expect("it is there");
    }
    folder.doublehold(&["merge", "parts", "--out", "merged"]).ends(0);
    let whole = fs::read_to_string(kept("format-1.jsonl")).expect("it is there");
    assert_eq!(folder.read("merged/runs.jsonl"), whole);
    folder.doublehold(&["report", "merged"]).ends(0);
    // A sweep divides otherwise now, so it does not go on.
    let header: Value = serde_json::from_str(whole.lines().next().expect("a header")).expect("JSON");
    folder.write("old.toml", header["text"].as_str().expect("a text"));
    let again = ["sweep", "old.toml", "--out", "parts", "--shard", "1/2"];
    assert_text(
        folder.refusals(&[again]),
        str![[r#"
$ doublehold sweep old.toml --out parts --shard 1/2
2 cells of at most 1,100 runs each, 1,100 in this part: about [TIME]
error: cannot use the records `parts/runs.1-of-2.jsonl`: they are of another sweep: the format is `1` in it and `2` in this sweep
hint: sweep into another folder with `--out DIR`, or remove this one

"#]],
    );
}
