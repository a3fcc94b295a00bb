//! Hostile files: they try to write on the terminal, keep their reader waiting, lead it elsewhere, or take all memory.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{DIVIDED, STUDY, doublehold, swept, told};

#[test]
fn what_a_file_says_is_shown_and_not_obeyed() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let header = r#"{"version":3,"scenario":"x","seed":1,"clients":["c1"],"nodes":["A"],"locks":["s"],"objects":["s"],"bounds":{"obtain_within_ns":null,"obtain_free_within_ns":null},"keys_watched":true}"#;
    let event = "{\"at\":1,\"type\":\"\\u001b]0;OWNED\\u0007\\u001b[2Jall hold\\u202e\",\"client\":0}";
    fs::write(folder.path().join("history.jsonl"), format!("{header}\n{event}\n")).expect("it is ours");
    let output = doublehold(&["judge", "history.jsonl"], folder.path());
    let told = told(&output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("not an event: unknown variant `\u{fffd}]0;OWNED"), "{told:?}");
    assert!(!told.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{told:?}");
}

/// Clears the screen, sets a title, hides a line, turns the direction of writing.
const OBEYED: &str = "\u{1b}[2J\u{1b}]0;OWNED\u{7}\r\u{202e}";

#[test]
fn names_and_sentences_of_files_and_what_was_typed_are_shown_and_not_obeyed() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let write =
        |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("the folder is ours");
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
    let obeyed = |text: &[u8]| String::from_utf8_lossy(text).contains(['\u{1b}', '\u{7}', '\r', '\u{202e}']);
    let shown = |arguments: &[&str]| {
        let output = doublehold(arguments, folder.path());
        assert!(!obeyed(&output.stdout) && !obeyed(&output.stderr), "{arguments:?}: {output:?}");
        output
    };
    assert!(shown(&["run", "mine.toml", "--plan", "mine.plan"]).status.success());
    assert!(shown(&["replay", "mine.plan"]).status.success());
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
fn ends_soon(arguments: &[&str], folder: &Path) -> Option<i32> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_doublehold"));
    let quiet = command.args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = quiet.spawn().expect("the program starts");
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
    let folder = tempfile::tempdir().expect("a temporary directory");
    let pipe = |name: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is ours");
        assert!(Command::new("mkfifo").arg(path).status().expect("it is there").success());
    };
    fs::write(folder.path().join("study.toml"), STUDY).expect("the folder is ours");
    ["records/runs.jsonl", "parts/runs.1-of-2.jsonl", "history.jsonl"].into_iter().for_each(pipe);
    for command in [
        &["report", "records"][..],
        &["merge", "records", "--out", "merged"],
        &["merge", "parts", "--out", "merged"],
        &["sweep", "study.toml", "--out", "records"],
        &["judge", "history.jsonl"],
        &["judge", "records/runs.jsonl"],
    ] {
        assert_eq!(ends_soon(command, folder.path()), Some(2), "{command:?}");
    }
}

#[test]
fn a_link_in_a_folder_of_records_is_replaced_and_not_followed() {
    let (folder, _) = swept(DIVIDED);
    let elsewhere = folder.path().join("precious");
    fs::write(&elsewhere, "mine").expect("the folder is ours");
    for name in ["report.html", "report.md", "cells.csv", "cells.json"] {
        symlink(&elsewhere, folder.path().join("swept").join(name)).expect("the folder is ours");
    }
    let output = doublehold(&["report", "swept"], folder.path());
    assert!(output.status.success(), "{}", told(&output));
    assert_eq!(fs::read_to_string(&elsewhere).expect("it is there"), "mine");
    assert!(!folder.path().join("swept/report.html").is_symlink());
}

#[test]
fn a_sweep_writes_nothing_where_links_in_its_folder_lead() {
    let (folder, _) = swept(STUDY);
    let at = |name: &str| folder.path().join(name);
    let link = |to: &str, name: &str| symlink(to, at(name)).expect("the folder is ours");
    fs::write(at("precious"), "mine").expect("the folder is ours");
    fs::create_dir(at("elsewhere")).expect("the folder is ours");
    link("../precious", "swept/examples.jsonl");
    link("../elsewhere", "swept/examples");
    let output = doublehold(&["sweep", "study.toml", "--out", "swept"], folder.path());
    assert!(output.status.success(), "{}", told(&output));
    assert!(fs::read_dir(at("swept/examples")).expect("it is there").count() > 0);
    assert_eq!(fs::read_dir(at("elsewhere")).expect("it is there").count(), 0);

    fs::create_dir(at("merged")).expect("the folder is ours");
    link("../precious", "merged/runs.jsonl");
    let output = doublehold(&["merge", "swept", "--out", "merged"], folder.path());
    assert!(output.status.success(), "{}", told(&output));

    fs::create_dir(at("new")).expect("the folder is ours");
    link("../made", "new/runs.jsonl");
    let output = doublehold(&["sweep", "study.toml", "--out", "new"], folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(
        told(&output).contains("they are a link to another file\nhint: put the file itself there"),
        "{}",
        told(&output)
    );
    assert!(!at("made").exists());
    assert_eq!(fs::read_to_string(at("precious")).expect("it is there"), "mine");
}

#[test]
fn a_folder_without_a_name_is_none() {
    let (folder, _) = swept(DIVIDED);
    for command in [
        &["report", "swept", "--out", ""][..],
        &["merge", "swept", "--out", ""],
        &["sweep", "study.toml", "--out", ""],
    ] {
        let output = doublehold(command, folder.path());
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        assert!(told(&output).contains("a folder has a name\nhint: "), "{}", told(&output));
    }
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
    fs::write(folder.path().join("swept/runs.jsonl"), text).expect("the folder is ours");
    let program = env!("CARGO_BIN_EXE_doublehold");
    let limited = format!("ulimit -v 1200000 && exec '{program}' report swept");
    let output =
        Command::new("sh").args(["-c", &limited]).current_dir(folder.path()).output().expect("a shell");
    assert!(output.status.success(), "{}", told(&output));
}
