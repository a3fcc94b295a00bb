//! Records that somebody has spoilt, line by line, and those of older versions. Every command that reads records
//! refuses what no sweep writes, with the line, and reads what an older version wrote.

mod hostile;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use serde_json::{Value, json};

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
strata = { faults = 1, by_weight = 20 }
[set]
"clients.count" = 2
"clients.rounds" = 1
[[designs]]
name = "one"
lock = "single"
"#;

fn doublehold(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_doublehold"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).output().expect("the program starts")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The records of each study, made once and in two shards: of those no examples are made, which take longest.
static RECORDS: LazyLock<String> = LazyLock::new(|| records(STUDY));
static DIVIDED_RECORDS: LazyLock<String> = LazyLock::new(|| records(DIVIDED));

fn records(study: &str) -> String {
    let folder = tempfile::tempdir().expect("a temporary directory");
    fs::write(folder.path().join("study.toml"), study).expect("the folder is ours");
    for arguments in [
        &["sweep", "study.toml", "--out", "swept", "--shard", "1/2"][..],
        &["sweep", "study.toml", "--out", "swept", "--shard", "2/2"],
        &["merge", "swept"],
    ] {
        let output = doublehold(arguments, folder.path());
        assert!(output.status.success(), "{}", told(&output));
    }
    fs::read_to_string(folder.path().join("swept/runs.jsonl")).expect("it was written")
}

/// A folder with the records of a study, which is called `study.toml` there, and their lines. Without examples.
fn swept(study: &str) -> (tempfile::TempDir, Vec<Value>) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    fs::write(folder.path().join("study.toml"), study).expect("the folder is ours");
    let text = if study == STUDY { &*RECORDS } else { &*DIVIDED_RECORDS };
    fs::create_dir(folder.path().join("swept")).expect("the folder is ours");
    fs::write(folder.path().join("swept/runs.jsonl"), text).expect("the folder is ours");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    (folder, lines)
}

/// Asserts that all commands that read records refuse these and say why. A sweep may say instead that they are of
/// another sweep.
fn assert_refused(folder: &Path, lines: &[Value], why: &str) {
    let text: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    let place = folder.join("spoilt");
    fs::create_dir_all(&place).expect("the folder is ours");
    fs::write(place.join("runs.jsonl"), &text).expect("the folder is ours");
    for command in [
        &["report", "spoilt"][..],
        &["merge", "spoilt", "--out", "merged"],
        &["sweep", "study.toml", "--out", "spoilt"],
    ] {
        let output = doublehold(command, folder);
        let told = told(&output);
        assert_eq!(output.status.code(), Some(2), "{command:?} with {why}: {told}");
        let is_of_study = command[0] == "sweep" && told.contains("they are of another sweep");
        assert!(told.contains(why) || is_of_study, "{command:?} with {why}: {told}");
        assert!(told.contains("\nhint: "), "{told}");
    }
    assert_eq!(
        fs::read_to_string(place.join("runs.jsonl")).expect("it is there"),
        text,
        "{why}: it was left alone"
    );
    assert!(!place.join("report.html").exists() && !folder.join("merged/runs.jsonl").exists(), "{why}");
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
        assert_refused(folder.path(), &lines, why);
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
        assert_refused(folder.path(), &lines, why);
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
        assert_refused(folder.path(), &lines, why);
    }
}

#[test]
fn a_torn_last_line_is_told_by_a_merge_too() {
    let (folder, lines) = swept(STUDY);
    let whole: Vec<String> = lines.iter().map(|line| line.to_string() + "\n").collect();
    // Cut in the middle; and whole in length, but not in what is in it, as after a power loss.
    let (last, before) = whole.split_last().expect("there are lines");
    for torn in [last[..100].to_owned(), "\0".repeat(99) + "\n"] {
        fs::write(folder.path().join("swept/runs.jsonl"), before.concat() + &torn)
            .expect("the folder is ours");
        let output = doublehold(&["merge", "swept", "--out", "merged"], folder.path());
        assert!(output.status.success(), "{}", told(&output));
        assert!(told(&output).contains("runs.jsonl` ended in the middle of a line"), "{}", told(&output));
        let merged = fs::read_to_string(folder.path().join("merged/runs.jsonl")).expect("it was written");
        assert_eq!(merged.lines().count(), before.len());
        let output = doublehold(&["report", "swept"], folder.path());
        assert!(
            output.status.success() && told(&output).contains("end in the middle of a line"),
            "{}",
            told(&output)
        );
    }
}

#[test]
fn partial_records_say_so_wherever_they_are_shown() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    fs::write(folder.path().join("study.toml"), STUDY).expect("the folder is ours");
    let output = doublehold(&["sweep", "study.toml", "--out", "parts", "--shard", "2/3"], folder.path());
    // Twelve batches, four of them of 100 runs: 4,400 runs in thirds.
    assert!(told(&output).contains("in this part: about"), "{}", told(&output));
    let output = doublehold(&["merge", "parts", "--out", "merged"], folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(told(&output).contains("of 3 shards, some are missing: 1 and 3\nhint: "), "{}", told(&output));
    assert!(told(&output).contains("`--partial` takes what there is"), "{}", told(&output));
    let output = doublehold(&["merge", "--partial", "parts", "--out", "merged"], folder.path());
    assert!(output.status.success(), "{}", told(&output));
    assert!(told(&output).contains("these records are partial: shard 2 of 3"), "{}", told(&output));
    let output = doublehold(&["report", "merged"], folder.path());
    assert!(
        told(&output).contains("These are partial records, merged from shard 2 of 3:"),
        "{}",
        told(&output)
    );
    let read =
        |name: &str| fs::read_to_string(folder.path().join("merged").join(name)).expect("it was written");
    assert!(
        read("report.html").contains("These are partial records")
            && read("cells.json").contains("\"is_partial\":true")
    );
    let output = doublehold(&["sweep", "study.toml", "--out", "merged"], folder.path());
    assert!(told(&output).contains("merged with `--partial`\nhint: "), "{}", told(&output));
}

/// Files that doublehold 0.1.0 wrote when shards were dealt out in turn: a whole study, and its two shards.
#[test]
fn records_of_the_first_format_are_read_and_merged() {
    let kept = |name: &str| -> PathBuf {
        [env!("CARGO_MANIFEST_DIR"), "tests", "it", "spoilt", name].iter().collect()
    };
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("parts")).expect("the folder is ours");
    for number in [1, 2] {
        let name = format!("{number}-of-2.jsonl");
        fs::copy(kept(&format!("format-1.{name}")), path("parts").join(format!("runs.{name}")))
            .expect("it is there");
    }
    let output = doublehold(&["merge", "parts", "--out", "merged"], folder.path());
    assert!(output.status.success(), "{}", told(&output));
    let whole = fs::read_to_string(kept("format-1.jsonl")).expect("it is there");
    assert_eq!(fs::read_to_string(path("merged/runs.jsonl")).expect("it was written"), whole);
    let output = doublehold(&["report", "merged"], folder.path());
    assert!(output.status.success(), "{}", told(&output));
    // A sweep divides otherwise now, so it does not go on.
    let header: Value = serde_json::from_str(whole.lines().next().expect("a header")).expect("JSON");
    fs::write(path("old.toml"), header["text"].as_str().expect("a text")).expect("the folder is ours");
    let output = doublehold(&["sweep", "old.toml", "--out", "parts", "--shard", "1/2"], folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(told(&output).contains("the format is `1` in it and `2` in this sweep"), "{}", told(&output));
}
