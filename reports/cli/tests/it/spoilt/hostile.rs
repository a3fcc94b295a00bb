//! Hostile files: they try to write on the terminal, keep their reader waiting, lead it elsewhere, or take all memory.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;
use snapbox::str;

use super::{DIVIDED, STUDY, swept};
use crate::kit::{Ask, Folder, assert_text, command, shell};

#[test]
fn what_a_file_says_is_shown_and_not_obeyed() {
    let folder = Folder::new();
    let header = r#"{"version":3,"scenario":"x","seed":1,"clients":["c1"],"nodes":["A"],"locks":["s"],"objects":["s"],"bounds":{"obtain_within_ns":null,"obtain_free_within_ns":null},"keys_watched":true}"#;
    let event = "{\"at\":1,\"type\":\"\\u001b]0;OWNED\\u0007\\u001b[2Jall hold\\u202e\",\"client\":0}";
    folder.write("history.jsonl", format!("{header}\n{event}\n"));
    let told = folder.doublehold(&["judge", "history.jsonl"]).refused();
    assert!(!told.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{told:?}");
    assert_text(
        told,
        str![[r#"
error: cannot read history `history.jsonl`: line 2, column 72: not an event: unknown variant `�]0;OWNED��[2Jall hold�`, expected one of `acquire_started`, `granted`, `refused`, `acquire_unknown`, `deadline_passed`, `expiry_noticed`, `loss_notice`, `extended`, `extend_failed`, `abandoned`, `release_called`, `release_returned`, `died`, `restarted`, `gave_up`, `clocks`, `read_done`, `write_sent`, `write_applied`, `write_refused`, `write_lost`, `key_touched`, `key_set`, `key_gone`, `struck`, `unattributed`, `inconclusive`, `run_ended`
hint: name a file that `run --history` wrote; scenarios/history/HISTORY.md describes each line

"#]],
    );
}

/// Clears the screen, sets a title, hides a line, turns the direction of writing.
const OBEYED: &str = "\u{1b}[2J\u{1b}]0;OWNED\u{7}\r\u{202e}";

#[test]
fn names_and_sentences_of_files_and_what_was_typed_are_shown_and_not_obeyed() {
    let folder = Folder::new();
    let write = |name: &str, text: &str| folder.write(name, text);
    let escaped: String = OBEYED.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let texts = ["claim", "source", "story", "id"].map(|key| format!("{key} = \"it {escaped}\"\n")).concat();
    let world = |host: &str, step: &str| {
        format!(
            "{texts}lock = {{ algorithm = \"single\", ttl = \"2s\", name = \"stock{escaped}\" }}\n\
             nodes = {{ names = [\"A\"] }}\n\
             clients = [{{ name = \"c1\", program = [\"acquire\", \"work 1s\", \"{step}\"] }}]\n\
             faults = [{{ kind = \"pause\", host = \"{host}\", for = \"1s\", at = \"c1's grant\" }}]\n"
        )
    };
    let named = format!("mine{}.toml", OBEYED.replace('/', ""));
    write("mine.toml", &world("c1", "release"));
    write(&named, &world("c1", "release"));
    write("host.toml", &world(&format!("c1{escaped}"), "release"));
    write("step.toml", &world("c1", &format!("release{escaped}")));
    write("raw.toml", &format!("claim = \"{OBEYED}\"\n"));
    let obeyed = |text: &str| text.contains(['\u{1b}', '\u{7}', '\r', '\u{202e}']);
    let shown = |arguments: &[&str]| {
        let output = folder.doublehold(arguments).answer();
        assert!(!obeyed(&output.stdout) && !obeyed(&output.stderr), "{arguments:?}: {output:?}");
        output
    };
    assert_eq!(shown(&["run", "mine.toml", "--plan", "mine.plan"]).status, Some(0));
    assert_eq!(shown(&["replay", "mine.plan"]).status, Some(0));
    for file in ["mine.toml", &named, "host.toml", "step.toml", "raw.toml", "mine.plan", OBEYED] {
        for command in ["list", "run", "replay", "judge", "report", "merge", "sweep"] {
            shown(&[command, file]);
        }
        shown(&["check", file, "--runs", "2"]);
        shown(&["list", "quiet", file]);
    }
    shown(&[OBEYED]);
    shown(&["run", "quiet", "--seed", OBEYED]);
}

/// Ends it if it has not ended by itself soon.
fn ends_soon(arguments: &[&str], folder: &Folder) -> Option<i32> {
    let mut command = folder.doublehold(arguments);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(30) {
        if let Some(status) = child.try_wait().expect("it is ours") {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("it runs");
    child.wait().expect("it was killed");
    None
}

#[test]
fn nobody_waits_for_a_pipe_that_stands_where_a_file_should() {
    let folder = Folder::new();
    let pipe = |name: &str| {
        let path = folder.at().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is ours");
        command("mkfifo").arg(path).ends(0);
    };
    folder.write("study.toml", STUDY);
    ["records/runs.jsonl", "parts/runs.1-of-2.jsonl", "history.jsonl"].into_iter().for_each(pipe);
    for command in [
        &["report", "records"][..],
        &["merge", "records", "--out", "merged"],
        &["merge", "parts", "--out", "merged"],
        &["sweep", "study.toml", "--out", "records"],
        &["judge", "history.jsonl"],
        &["judge", "records/runs.jsonl"],
    ] {
        assert_eq!(ends_soon(command, &folder), Some(2), "{command:?}");
    }
}

#[test]
fn a_link_in_a_folder_of_records_is_replaced_and_not_followed() {
    let (folder, _) = swept(DIVIDED);
    let elsewhere = folder.at().join("precious");
    fs::write(&elsewhere, "mine").expect("the folder is ours");
    for name in ["report.html", "report.md", "cells.csv", "cells.json"] {
        symlink(&elsewhere, folder.at().join("swept").join(name)).expect("the folder is ours");
    }
    folder.doublehold(&["report", "swept"]).ends(0);
    assert_eq!(fs::read_to_string(&elsewhere).expect("it is there"), "mine");
    assert!(!folder.at().join("swept/report.html").is_symlink());
}

#[test]
fn a_sweep_writes_nothing_where_links_in_its_folder_lead() {
    let (folder, _) = swept(STUDY);
    let at = |name: &str| folder.at().join(name);
    let link = |to: &str, name: &str| symlink(to, at(name)).expect("the folder is ours");
    folder.write("precious", "mine");
    fs::create_dir(at("elsewhere")).expect("the folder is ours");
    link("../precious", "swept/examples.jsonl");
    link("../elsewhere", "swept/examples");
    folder.doublehold(&["sweep", "study.toml", "--out", "swept"]).ends(0);
    assert!(fs::read_dir(at("swept/examples")).expect("it is there").count() > 0);
    assert_eq!(fs::read_dir(at("elsewhere")).expect("it is there").count(), 0);

    fs::create_dir(at("merged")).expect("the folder is ours");
    link("../precious", "merged/runs.jsonl");
    folder.doublehold(&["merge", "swept", "--out", "merged"]).ends(0);

    fs::create_dir(at("new")).expect("the folder is ours");
    link("../made", "new/runs.jsonl");
    assert_text(
        folder.refusals(&[["sweep", "study.toml", "--out", "new"]]),
        str![[r#"
$ doublehold sweep study.toml --out new
4 cells of at most 1,100 runs each, 4,400 in all: about [TIME]
error: cannot use the records `new/runs.jsonl`: they are a link to another file
hint: put the file itself there, or sweep into another folder with `--out DIR`

"#]],
    );
    assert!(!at("made").exists());
    assert_eq!(folder.read("precious"), "mine");
}

#[test]
fn a_folder_without_a_name_is_none() {
    let (folder, _) = swept(DIVIDED);
    let refused: [&[&str]; 3] = [
        &["report", "swept", "--out", ""],
        &["merge", "swept", "--out", ""],
        &["sweep", "study.toml", "--out", ""],
    ];
    assert_text(
        folder.refusals(&refused),
        str![[r#"
$ doublehold report swept --out ''
error: cannot write the report to ``: a folder has a name
hint: name a folder that you may write to, or one that is not there yet

$ doublehold merge swept --out ''
error: cannot write records to ``: a folder has a name
hint: name a folder that you may write to, or one that is not there yet

$ doublehold sweep study.toml --out ''
1 cell of at most 100 runs each, 100 in all: about [TIME]
error: cannot write records to ``: a folder has a name
hint: name a folder that you may write to, or one that is not there yet

"#]],
    );
}

/// A hundred million points, and four batches: a map of all would take 1.6 GB.
#[test]
fn a_grid_that_was_hardly_begun_takes_little_memory() {
    let (folder, mut lines) = swept(STUDY);
    let values: Vec<String> = (0..10_000).map(|value| format!("{value}s")).collect();
    lines[0]["axes"] =
        json!([{ "key": "lock.ttl", "values": values }, { "key": "clients.retry", "values": values }]);
    lines.truncate(9);
    let text: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    folder.write("swept/runs.jsonl", text);
    let limited = "ulimit -v 1200000 && exec \"$0\" report swept";
    shell(limited, &[]).current_dir(folder.at()).ends(0);
}
