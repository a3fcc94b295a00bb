//! `sweep` and `merge` as a user meets them: what they write, that nothing is lost or made twice, and what is refused.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use snapbox::str;

use crate::kit::{Ask, Folder, assert_text, doublehold, shell};

/// Two designs at two points: four cells of three batches, the last of them short.
const SMALL: &str = r#"
question = "how often is a lease too short?"
weather = "pauses-only"
runs = 1100

[set]
"clients.count" = 2
"clients.rounds" = 1

[[designs]]
name = "single"
lock = "single"

[[designs]]
name = "checked"
lock = "single"
set = { "lock.elapsed_check" = true }

[grid]
"lock.ttl" = ["1s", "4s"]
"#;

/// The same without a grid, for as little as it takes.
pub(crate) const TINY: &str = r#"
question = "how often?"
weather = "pauses-only"
runs = 40

[[designs]]
name = "single"
lock = "single"
"#;

/// The first of the two, without a grid: one cell.
fn one_design() -> &'static str {
    SMALL.split_once("[[designs]]\nname = \"checked\"").expect("it has two").0
}

/// The same without a violation, so that no examples are made.
fn calm(study: &str) -> String {
    study.replace("pauses-only", "calm")
}

#[test]
fn a_sweep_writes_the_same_on_any_number_of_threads_and_after_being_killed() {
    let folder = Folder::new();
    let study = folder.write("study.toml", calm(one_design()).replace("runs = 1100", "runs = 2100"));
    doublehold(&["sweep", &study, "--jobs", "1", "--out", &folder.path("one")]).ends(0);
    doublehold(&["sweep", &study, "--jobs", "3", "--out", &folder.path("three")]).ends(0);
    let whole = folder.read("one/runs.jsonl");
    assert_eq!(whole, folder.read("three/runs.jsonl"));
    assert_eq!(whole.lines().count(), 1 + 5);

    let out = folder.path("killed");
    let mut kills = 0;
    loop {
        let mut child = doublehold(&["sweep", &study, "--out", &out])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let before = lines(&folder, "killed/runs.jsonl");
        let began = Instant::now();
        // Killed as soon as it has written something, or when it is done.
        while lines(&folder, "killed/runs.jsonl") <= before.max(1)
            && began.elapsed() < Duration::from_secs(60)
        {
            if child.try_wait().expect("it is ours").is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        if child.try_wait().expect("it is ours").is_some_and(|status| status.success()) {
            break;
        }
        kills += 1;
        child.kill().expect("it runs");
        child.wait().expect("it was killed");
    }
    assert!(kills >= 2, "it was killed {kills} times");
    assert_eq!(whole, folder.read("killed/runs.jsonl"));
}

/// The number of lines of a file that may not be there yet.
fn lines(folder: &Folder, name: &str) -> usize {
    fs::read_to_string(folder.path(name)).map_or(0, |text| text.lines().count())
}

#[test]
fn a_torn_line_is_dropped_and_told_of() {
    let folder = Folder::new();
    let study = folder.write("study.toml", calm(TINY));
    let out = folder.path("out");
    doublehold(&["sweep", &study, "--out", &out]).ends(0);
    let whole = folder.read("out/runs.jsonl");
    let header = whole.find('\n').expect("it has lines");
    for length in [header / 2, header + 1, whole.len() - 1, whole.len()] {
        folder.write("out/runs.jsonl", &whole[..length]);
        let told = doublehold(&["sweep", &study, "--out", &out]).ends(0).stderr;
        assert_eq!(whole, folder.read("out/runs.jsonl"), "cut after {length}");
        let is_torn = ![header + 1, whole.len()].contains(&length);
        assert_eq!(told.contains("which was dropped"), is_torn, "cut after {length}: {told}");
        assert_eq!(told.contains("going on after 40 runs"), length == whole.len(), "{told}");
    }
}

#[test]
fn shards_of_one_folder_are_merged_where_they_are() {
    let folder = Folder::new();
    let study = folder.write("study.toml", calm(one_design()));
    doublehold(&["sweep", &study, "--out", &folder.path("whole")]).ends(0);
    for index in ["0", "1"] {
        let out = folder.path("out");
        let mut command = doublehold(&["sweep", &study, "--out", &out]);
        let told = command.env("JOB_COMPLETION_INDEX", index).env("JOB_COMPLETIONS", "2").answer().stderr;
        assert!(told.contains("of 2, as JOB_COMPLETION_INDEX says"), "{told}");
    }
    let out = folder.path("out");
    doublehold(&["merge", &out]).ends(0);
    assert_eq!(folder.read("whole/runs.jsonl"), folder.read("out/runs.jsonl"));
    // Once more: the result of the first is no shard.
    doublehold(&["merge", &out]).ends(0);
    assert_eq!(folder.read("whole/runs.jsonl"), folder.read("out/runs.jsonl"));
}

/// Each task of an array makes its part, and none the whole study.
#[test]
fn a_task_of_an_array_runs_its_part_or_is_refused() {
    let folder = Folder::new();
    folder.write("study.toml", calm(TINY));
    let task = |variables: &[(&str, &str)]| {
        let mut command = folder.doublehold(&["sweep", "study.toml", "--out", "parts"]);
        command.envs(variables.iter().copied());
        command
    };
    let batch = task(&[("AWS_BATCH_JOB_ARRAY_INDEX", "1"), ("AWS_BATCH_JOB_ARRAY_SIZE", "2")]).ends(0);
    assert!(batch.stderr.contains("part 2 of 2, as AWS_BATCH_JOB_ARRAY_INDEX says"), "{}", batch.stderr);
    let range = [("SGE_TASK_FIRST", "5"), ("SGE_TASK_LAST", "8"), ("SGE_TASK_STEPSIZE", "3")];
    let grid_engine = task(&[&[("SGE_TASK_ID", "5")], &range[..]].concat()).ends(0);
    assert!(grid_engine.stderr.contains("part 1 of 2, as SGE_TASK_ID says"), "{}", grid_engine.stderr);
    assert_eq!(folder.doublehold(&["merge", "parts"]).prints(0), "parts/runs.jsonl\n");
    for name in ["PBS_ARRAY_INDEX", "PBS_ARRAYID", "LSB_JOBINDEX"] {
        let told = task(&[(name, "1")]).refused();
        assert!(told.contains(&format!("as `{name}` says")) && told.contains("type `--shard I/N`"), "{told}");
        task(&[(name, "1")]).args(["--shard", "1/2"]).ends(0);
    }
}

/// All but the first three shards have no runs: they differ in their headers alone.
#[cfg(unix)]
#[test]
fn more_shards_are_merged_than_a_process_may_open() {
    let folder = Folder::new();
    folder.write("study.toml", calm(one_design()));
    folder.doublehold(&["sweep", "study.toml", "--out", "whole"]).ends(0);
    for shard in ["1/200", "2/200", "3/200"] {
        folder.doublehold(&["sweep", "study.toml", "--out", "parts", "--shard", shard]).ends(0);
    }
    let third = folder.read("parts/runs.3-of-200.jsonl");
    let header = third.split_inclusive('\n').next().expect("a header");
    for number in 4..=200 {
        let header = header.replacen("\"shard\":[3,200]", &format!("\"shard\":[{number},200]"), 1);
        folder.write(&format!("parts/runs.{number}-of-200.jsonl"), header);
    }
    let merge = r#"ulimit -n 24 && exec "$0" merge parts --out merged"#;
    assert_eq!(shell(merge, &[]).current_dir(folder.at()).prints(0), "merged/runs.jsonl\n");
    assert_eq!(folder.read("whole/runs.jsonl"), folder.read("merged/runs.jsonl"));
}

#[test]
fn what_cannot_be_merged_is_refused() {
    let folder = Folder::new();
    folder.write("study.toml", calm(TINY));
    let shard = |number: &str, out: &str| {
        folder.doublehold(&["sweep", "study.toml", "--shard", number, "--out", out]).ends(0);
    };
    shard("1/2", "a");
    shard("2/2", "b");
    shard("1/1", "whole");
    folder.write("study.toml", calm(TINY).replace("how often?", "how seldom?"));
    shard("2/2", "other");
    fs::create_dir(folder.path("newer")).expect("the folder is ours");
    folder.write("newer/runs.1-of-2.jsonl", "{\"sweep\":99,\"program\":\"9.9.9\"}\n");
    let merges: [&[&str]; 5] = [&["a"], &["whole", "whole"], &["nowhere"], &["a", "other"], &["newer", "b"]];
    let merges = merges.map(|shards| [&["merge", "--out", "merged"], shards].concat());
    assert_text(
        folder.refusals(&merges),
        str![[r#"
$ doublehold merge --out merged a
error: cannot use the records `a/runs.1-of-2.jsonl`: of 2 shards, one is missing: 2
hint: name them too; `--shard 2/2` makes one that was not swept, and `--partial` takes what there is

$ doublehold merge --out merged whole whole
error: cannot use the records `whole/runs.jsonl`: they are of a whole study, and of no shard
hint: leave the file out; `doublehold report DIR DIR` makes one page of several sweeps

$ doublehold merge --out merged nowhere
error: cannot read the records `nowhere`: No such file or directory (os error 2)
hint: name a folder that `doublehold sweep` wrote to

$ doublehold merge --out merged a other
error: cannot use the records `other/runs.2-of-2.jsonl`: they and `a/runs.1-of-2.jsonl` are not of one study: the study's text differs: line 2 is `question = "how seldom?"` in it and `question = "how often?"` in `a/runs.1-of-2.jsonl`
hint: sweep one text of the study; or leave one of them out

$ doublehold merge --out merged newer b
error: cannot use the records `newer/runs.1-of-2.jsonl`: it was written by doublehold 9.9.9 as format 99 of records, and this program reads formats 1 to 2
hint: use that version, or sweep again into another folder

"#]],
    );
    assert!(!folder.has("merged/runs.jsonl"));
}

#[test]
fn records_of_another_study_are_left_alone() {
    let folder = Folder::new();
    let sweep = ["sweep", "study.toml", "--out", "out"];
    folder.write("study.toml", calm(TINY));
    folder.doublehold(&sweep).ends(0);
    let before = folder.read("out/runs.jsonl");
    folder.write("study.toml", calm(TINY).replace("runs = 40", "runs = 41"));
    assert_text(
        folder.refusals(&[sweep]),
        str![[r#"
$ doublehold sweep study.toml --out out
1 cell of at most 41 runs each, 41 in all: about [TIME]
error: cannot use the records `out/runs.jsonl`: they are of another sweep: the study's text differs: line 4 is `runs = 40` in it and `runs = 41` in this sweep
hint: sweep into another folder with `--out DIR`, or remove this one

"#]],
    );
    assert_eq!(before, folder.read("out/runs.jsonl"));
    let damaged = before.replacen("\"grants\"", "\"grunts\"", 1) + "{}\n";
    folder.write("out/runs.jsonl", damaged);
    folder.write("study.toml", calm(TINY));
    assert_text(
        folder.refusals(&[sweep]),
        str![[r#"
$ doublehold sweep study.toml --out out
1 cell of at most 40 runs each, 40 in all: about [TIME]
error: cannot use the records `out/runs.jsonl`: line 2 is no batch: unknown field `grunts`, expected one of `cell`, `stratum`, `…
hint: the file was changed: cut it off before that line and sweep again, or begin anew in another folder

"#]],
    );
}

#[test]
fn a_grid_without_end_says_how_long_it_takes_and_does_not_begin() {
    let folder = Folder::new();
    let values: Vec<String> = (1..=100).map(|value| format!("\"{value}ms\"")).collect();
    let keys =
        ["lock.ttl", "clients.retry", "network.delay", "clients.work", "weather.pause.every", "weather.for"];
    let axes: Vec<String> = keys.iter().map(|key| format!("\"{key}\" = [{}]\n", values.join(", "))).collect();
    let many = format!("{TINY}[grid]\n{}", axes.concat());
    let study = folder.write("study.toml", many);
    let told = doublehold(&["sweep", &study, "--out", &folder.path("out")]).refused();
    assert!(
        told.contains("1,000,000,000,000 cells of at most 40 runs each, 40,000,000,000,000 in all"),
        "{told}"
    );
    assert!(told.contains("years at") && told.contains("say `--yes`"), "{told}");
    assert!(!folder.has("out"));
}

#[test]
fn two_sweeps_do_not_write_to_one_file() {
    let folder = Folder::new();
    let study = folder.write("study.toml", SMALL.replace("runs = 1100", "runs = 50000"));
    let out = folder.path("out");
    let mut first = doublehold(&["sweep", &study, "--out", &out])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    while lines(&folder, "out/runs.jsonl") == 0 {
        std::thread::sleep(Duration::from_millis(2));
    }
    let told = doublehold(&["sweep", &study, "--out", &out]).refused();
    first.kill().expect("it runs");
    first.wait().expect("it was killed");
    assert_text(
        folder.hidden(&told),
        str![[r#"
4 cells of at most 50,000 runs each, 200,000 in all: about [TIME]
error: cannot use the records `[FOLDER]/out/runs.jsonl`: another sweep is writing them
hint: wait for it, or sweep into another folder with `--out DIR`

"#]],
    );
}

/// One node has no replica that could be promoted, so this kind of fault cannot come.
#[test]
fn a_divided_sweep_plans_what_it_makes_and_is_finished_then() {
    let folder = Folder::new();
    let study = folder.write(
        "study.toml",
        r#"
question = "how often?"
runs = 40
strata = { faults = 1, by_weight = 500 }

[weather]
for = "5s"

[[weather.faults]]
kind = "pause"
host = "clients"
every = "1h"
for = "3s"

[[weather.faults]]
kind = "promote"
host = "replicas"
every = "1h"
[[designs]]
name = "single"
lock = "single"
"#,
    );
    let out = folder.path("out");
    let told = doublehold(&["sweep", &study, "--out", &out, "--jobs", "1"]).ends(0).stderr;
    assert!(told.contains("1 cell of at most 620 runs each"), "{told}");
    let records = folder.read("out/runs.jsonl");
    let batches =
        records.lines().skip(1).map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let counts: Vec<[u64; 3]> = batches
        .map(|batch| ["stratum", "runs", "planned"].map(|key| batch[key].as_u64().unwrap_or(0)))
        .collect();
    assert_eq!(counts, [[0, 500, 537], [0, 37, 537], [1, 42, 42], [2, 0, 0]]);
    doublehold(&["report", &out]).ends(0);
    let page = folder.read("out/report.md");
    assert!(page.contains("579 runs in all") && !page.contains("not finished"), "{page}");
    assert!(page.contains("| 1 promote | 0 % | 0 | cannot come |"), "{page}");
}
