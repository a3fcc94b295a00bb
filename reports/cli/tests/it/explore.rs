//! `explore` as a user meets it: what it says, what it writes, and that it can be stopped.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn doublehold(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_doublehold"));
    command.args(arguments).stdin(Stdio::null());
    for variable in ["NO_COLOR", "COLUMNS", "LC_ALL", "LC_CTYPE", "TERM"] {
        command.env_remove(variable);
    }
    command.env("LANG", "C.UTF-8");
    command
}

fn output(arguments: &[&str]) -> Output {
    doublehold(arguments).output().expect("the binary starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

/// Runs and expects this status; returns standard output.
fn ends(status: i32, arguments: &[&str]) -> String {
    let output = output(arguments);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout).to_owned()
}

/// What is printed, whatever the status.
fn text_of_stdout(arguments: &[&str]) -> String {
    text(&output(arguments).stdout).to_owned()
}

/// A directory of one test, gone when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("doublehold-explore-{}-{test}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary directory");
        Folder(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ignored = fs::remove_dir_all(&self.0);
    }
}

const SETNX: [&str; 4] = ["explore", "setnx-expire", "--kinds", "pause"];

#[test]
fn what_is_found_is_printed_the_same_on_any_number_of_threads() {
    let on = |jobs: &str| ends(1, &[&SETNX[..], &["--jobs", jobs]].concat());
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
    let text = ends(0, &[&redlock[..], &nodes].concat());
    let mut last = text.lines().rev();
    assert!(
        last.next().expect("there are lines").starts_with("not tried: other worlds, seeds, kinds or "),
        "{text}"
    );
    let last = last.next().expect("there are lines");
    let world =
        "  world: 3 nodes, 2 clients, 1 round each; lock redlock, ttl 4 s, its switches as by default;";
    assert!(text.contains(world), "{text}");
    assert!(last.starts_with("all 460 placements") && last.ends_with(" tried: P2 and WR hold"), "{last}");
    assert!(last.contains(" placements of at most 1 fault of kind clock-step tried: "), "{last}");
}

#[test]
fn what_was_not_decided_is_inconclusive_and_says_which_limit_it_met() {
    let args = ["explore", "single", "--kinds", "pause", "--predicate", "P2,LV", "--set", "limits.events=60"];
    let text = ends(3, &[&args[..], &["--set", "lock.elapsed_check=true"]].concat());
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(", with elapsed_check = true, its other switches as by default; "), "{text}");
    assert!(
        said.contains(" INCONCLUSIVE: P2 is not decided in ")
            && said.contains("(raise `limits.events`, or let less"),
        "{text}"
    );
    assert!(!text.contains("not tried: "), "{text}");
    let folder = Folder::new("unbounded");
    let scenario = "claim = \"no bound\"\nlock = { algorithm = \"single\", ttl = \"10s\" }\nnodes = { names = [\"A\"] }\n\
                    clients = [{ name = \"c1\", program = [\"acquire\", \"work 1s\", \"release\"] }]\n";
    fs::write(folder.path("mine.toml"), scenario).expect("it can be written");
    let unbounded =
        ends(0, &["explore", &folder.path("mine.toml"), "--kinds", "clock-step", "--predicate", "LV,P2"]);
    assert!(unbounded.contains("LV was not asked about: no bound stated"), "{unbounded}");
    assert!(!unbounded.contains("INCONCLUSIVE"), "{unbounded}");
    // Where nothing else was asked, that is no pass.
    ends(3, &["explore", &folder.path("mine.toml"), "--kinds", "clock-step", "--predicate", "LV"]);
}

#[test]
fn each_minimal_example_is_written_as_a_scenario_that_shows_it() {
    let folder = Folder::new("out");
    let out = folder.path("found");
    let json = ends(1, &[&SETNX[..], &["--predicate", "P3,WR", "--out", &out, "--format", "json"]].concat());
    let found: Value = serde_json::from_str(&json).expect("JSON");
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
            ends(0, &["run", file]);
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
    let json = ends(1, &[&SETNX[..], &["--format", "json"]].concat());
    let mut names = BTreeSet::new();
    fields(&serde_json::from_str(&json).expect("JSON"), &mut names);
    let page = include_str!("../../../JSON.md");
    let (_, section) = page.split_once("\n## A search over placements\n").expect("its section");
    let section = section.split("\n## ").next().unwrap_or(section);
    let said: BTreeSet<String> = section.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let missing: Vec<&String> = names.difference(&said).collect();
    assert!(missing.is_empty(), "the page does not say {missing:?}");
}

#[test]
fn a_minimal_example_of_a_scenario_can_be_pasted() {
    let text = ends(1, &["explore", "lease-pause", "--kinds", "pause", "--predicate", "P3"]);
    let line = text.lines().find(|line| line.contains("doublehold run")).expect("a line to paste");
    let words = shlex::split(line.trim()).expect("a line of a shell");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let run = text_of_stdout(&words[1..]);
    assert!(run.contains("P3  stale effect    violated      violated"), "{line}\n{run}");
}

#[test]
fn what_was_kept_is_gone_on_with() {
    let folder = Folder::new("resume");
    let file = folder.path("search.json");
    let whole = ends(1, &[&SETNX[..], &["--resume", &file]].concat());
    assert_eq!(ends(1, &[&SETNX[..], &["--resume", &file]].concat()), whole);
    let other = output(&["explore", "setnx-expire", "--kinds", "crash", "--resume", &file]);
    assert_eq!(other.status.code(), Some(2));
    let refused = text(&other.stderr);
    assert!(
        refused.contains("it is of another search: its kinds are pause, and crash was asked for\nhint: "),
        "{refused}"
    );
    fs::write(&file, "").expect("it can be written");
    let empty = output(&[&SETNX[..], &["--resume", &file]].concat());
    assert!(
        text(&empty.stderr).contains(": it is empty\nhint: name a file that this search wrote"),
        "{empty:?}"
    );
    fs::write(&file, "{}").expect("it can be written");
    assert_eq!(output(&[&SETNX[..], &["--resume", &file]].concat()).status.code(), Some(2));
}

/// A search that takes long, stopped as Ctrl-C does; what it printed is kept, and the line that goes on is one.
#[cfg(unix)]
#[test]
fn a_search_that_is_stopped_says_what_it_found_and_how_to_go_on() {
    let folder = Folder::new("stopped");
    let arguments = ["explore", "setnx-expire", "--kinds", "pause,crash", "--faults", "2"];
    let mut command = doublehold(&arguments);
    command.current_dir(&folder.0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the binary starts");
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    let pid = child.id().to_string();
    // A second request comes right after the first, as from `timeout`: nothing is lost by that.
    let both = format!("kill -INT {pid} && sleep 0.02 && kill -TERM {pid} || true");
    assert!(Command::new("sh").args(["-c", &both]).status().expect("there is a shell").success());
    let stopped = child.wait_with_output().expect("it ends");
    assert_eq!(stopped.status.code(), Some(130), "{}", text(&stopped.stderr));
    assert!(text(&stopped.stdout).contains("\nSTOPPED after "), "{}", text(&stopped.stdout));
    let line = text(&stopped.stderr).lines().last().expect("a last line");
    let again =
        "stopped; to go on: doublehold explore setnx-expire --faults 2 --seed 1 --kinds 'pause,crash'";
    assert_eq!(line, format!("{again} --resume setnx-expire.explore.json"));
    let kept = fs::read_to_string(folder.path("setnx-expire.explore.json")).expect("it was kept");
    assert!(kept.contains("\"batches\":"), "{kept}");
}

/// A killed search had kept what it found up to some batch, and going on with that comes to what one that was never
/// killed comes to.
#[cfg(unix)]
#[test]
fn a_search_that_is_killed_loses_little() {
    let folder = Folder::new("killed");
    let file = folder.path("search.json");
    let search = ["explore", "redlock", "--kinds", "pause,crash,cut", "--jobs", "1"];
    let kept = [&search[..], &["--resume", &file]].concat();
    let mut child = doublehold(&kept).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    while !std::path::Path::new(&file).exists() {
        assert_eq!(child.try_wait().expect("it can be asked"), None, "it ended before it kept anything");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().expect("it runs");
    child.wait().expect("it was killed");
    assert!(fs::read_to_string(&file).expect("it was kept").contains("\"batches\":"));
    assert_eq!(ends(1, &kept), ends(1, &search));
}

#[test]
fn what_cannot_be_searched_is_refused_before_anything_is_run() {
    let refused = |arguments: &[&str]| {
        let output = output(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
        text(&output.stderr).to_owned()
    };
    let single = |more: &[&str]| refused(&[&["explore", "single"], more].concat());
    assert!(single(&["--faults", "0"]).contains("hint: name a number from 1 to 5"));
    assert!(
        single(&["--kinds", ""])
            .contains("no kind of fault is named, so there is nothing to place\nhint: name")
    );
    assert!(single(&["--kinds", "puase"]).contains("did you mean `pause`?"));
    let endless = single(&["--faults", "4"]);
    assert!(
        endless.contains("placements of at most 4 faults would be tried, which takes about "),
        "{endless}"
    );
    assert!(
        endless.contains("hint: name fewer `--kinds` or `--faults`, or make the world smaller"),
        "{endless}"
    );
    assert!(single(&["--jobs", "0"]).contains("--jobs"));
    assert!(single(&["--predicate", "P9"]).contains("the predicates are"));
    assert!(single(&["--resume", "/nowhere/file"]).contains("cannot write the search to `/nowhere/file`"));
    assert!(
        refused(&["explore", "quiet", "--rounds", "2"]).contains("a scenario has its own clients and rounds")
    );
}
