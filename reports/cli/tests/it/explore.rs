//! `explore` as a user meets it: what it says, what it writes, and that it can be stopped.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::kit::{self, Answer, Ask, Folder, doublehold, shell, unwrapped};

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
    let text = doublehold(&args).args(["--set", "lock.elapsed_check=true"]).ends(3).stdout;
    let said = unwrapped(&text);
    assert!(said.contains(", with elapsed_check = true, its other switches as by default; "), "{text}");
    assert!(
        said.contains(" INCONCLUSIVE: P2 is not decided in ")
            && said.contains("(raise `limits.events`, or let less"),
        "{text}"
    );
    assert!(!text.contains("not tried: "), "{text}");
    let folder = Folder::new();
    let scenario = "claim = \"no bound\"\nlock = { algorithm = \"single\", ttl = \"10s\" }\nnodes = { names = [\"A\"] }\n\
                    clients = [{ name = \"c1\", program = [\"acquire\", \"work 1s\", \"release\"] }]\n";
    folder.write("mine.toml", scenario);
    let unbounded =
        doublehold(&["explore", &folder.path("mine.toml"), "--kinds", "clock-step", "--predicate", "LV,P2"])
            .ends(0)
            .stdout;
    assert!(unbounded.contains("LV was not asked about: no bound stated"), "{unbounded}");
    assert!(!unbounded.contains("INCONCLUSIVE"), "{unbounded}");
    // Where nothing else was asked, that is no pass.
    doublehold(&["explore", &folder.path("mine.toml"), "--kinds", "clock-step", "--predicate", "LV"]).ends(3);
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
    assert!(run.contains("P3  stale effect    violated      violated"), "{line}\n{run}");
}

#[test]
fn what_was_kept_is_gone_on_with() {
    let folder = Folder::new();
    let file = folder.path("search.json");
    let whole = doublehold(&SETNX).args(["--resume", &file]).ends(1).stdout;
    assert_eq!(doublehold(&SETNX).args(["--resume", &file]).ends(1).stdout, whole);
    let other = doublehold(&["explore", "setnx-expire", "--kinds", "crash", "--resume", &file]).answer();
    assert_eq!(other.status, Some(2));
    let refused = other.stderr;
    assert!(
        refused.contains("it is of another search: its kinds are pause, and crash was asked for\nhint: "),
        "{refused}"
    );
    folder.write("search.json", "");
    let empty = doublehold(&SETNX).args(["--resume", &file]).answer();
    assert!(empty.stderr.contains(": it is empty\nhint: name a file that this search wrote"), "{empty:?}");
    folder.write("search.json", "{}");
    assert_eq!(doublehold(&SETNX).args(["--resume", &file]).answer().status, Some(2));
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
    assert_eq!(stopped.status, Some(130), "{}", stopped.stderr);
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
    while !std::path::Path::new(&file).exists() {
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
    let refused = |arguments: &[&str]| doublehold(arguments).refused();
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
