//! `check --shard` and `check --sum`: the sum of all parts is the search that one process makes, byte for byte, and
//! what is no set of parts is refused.

use serde_json::Value;
use snapbox::str;

use crate::kit::{Ask, Folder, assert_text, json};

/// Nobody is granted the lock in some runs, and nothing is read or written in any.
const SELDOM: &str = r#"
claim = "seldom"
lock = { algorithm = "single", ttl = "2s", request_timeout = "100ms" }
nodes = { names = ["A"] }
network = { delay = "1ms" }
[[clients]]
name = "c1"
program = ["try", "work 1s", "release"]
start = "1s"
[weather]
for = "2s"
swarm = false
at_steps = "0/1"
[[weather.faults]]
kind = "cut"
from = "clients"
to = "A"
every = "1s"
for = "500ms"
"#;

/// Nobody is ever granted it.
fn never() -> String {
    SELDOM.to_owned()
        + "[[faults]]\nkind = \"cut\"\nfrom = \"c1\"\nto = \"A\"\nat = \"0s\"\nfor = \"1050ms\"\n"
}

/// Everything that a search leaves: what it prints in both formats, its files, its exit status.
#[derive(Debug, PartialEq)]
struct Left {
    status: Option<i32>,
    json: String,
    text: String,
    junit: String,
    markdown: String,
    found: Vec<(String, String)>,
}

/// Makes a search with these arguments, which may add up parts.
fn search(folder: &Folder, arguments: &[&str]) -> Left {
    for leftover in ["s.md", "out"] {
        let path = folder.path(leftover);
        std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path)).unwrap_or_default();
    }
    let files = ["--out", "out", "--junit", "j.xml", "--markdown", "s.md"];
    let json =
        folder.doublehold(&["check"]).args(arguments).args(["--out", "out", "--format", "json"]).answer();
    let text = folder.doublehold(&["check"]).args(arguments).args(files).answer();
    assert_eq!(json.status, text.status, "{}", text.stderr);
    let names = std::fs::read_dir(folder.path("out")).into_iter().flatten().map(|file| file.expect("a file"));
    let mut found: Vec<(String, String)> = names
        .map(|file| {
            let text = std::fs::read_to_string(file.path()).expect("a text");
            (file.file_name().to_str().expect("a name").to_owned(), text)
        })
        .collect();
    found.sort();
    let (junit, markdown) = (folder.read("j.xml"), folder.read("s.md"));
    Left { status: text.status, json: json.stdout, text: text.stdout, junit, markdown, found }
}

/// Makes the parts, and returns their names.
fn parts(folder: &Folder, arguments: &[&str], of: u64) -> Vec<String> {
    let part = |number: u64| {
        let shard = format!("{number}/{of}");
        let part = ["--shard", &shard, "--format", "json", "--out", "parts"];
        let answer = folder.doublehold(&["check"]).args(arguments).args(part).answer();
        let name = format!("p{number}.json");
        folder.write(&name, &answer.stdout);
        let conclusion = json(&answer.stdout)["conclusion"].clone();
        let status = match conclusion.as_str().expect("a word") {
            "nothing-found" => 0,
            "violated" => 1,
            _ => 3,
        };
        assert_eq!(answer.status, Some(status), "{}", answer.stderr);
        name
    };
    (1..=of).map(part).collect()
}

#[test]
fn the_sum_of_all_parts_is_the_search_of_one_process() {
    let folder = Folder::new();
    folder.write("seldom.toml", SELDOM);
    folder.write("never.toml", never());
    let rare = "[[faults]]\nkind = \"pause\"\nhost = \"clients\"\nevery = \"9y\"\nfor = \"1s\"\n";
    folder.write("rare.toml", rare);
    // Each with its status, and the number of its parts.
    let searches: [(&[&str], i32, u64); 5] = [
        (&["setnx", "--seed", "900", "--runs", "100", "--predicate", "P1,WR"], 1, 3),
        (&["single", "--weather", "pauses-only", "--predicate", "WR", "--runs", "70"], 0, 2),
        (&["single", "--weather", "rare.toml", "--runs", "10"], 3, 2),
        (&["seldom.toml", "--runs", "60"], 0, 7),
        (&["never.toml", "--runs", "9"], 3, 9),
    ];
    for (arguments, status, of) in searches {
        let whole = search(&folder, &[arguments, &["--keep-going"]].concat());
        assert_eq!(whole.status, Some(status), "{arguments:?}: {}", whole.text);
        let mut names = parts(&folder, arguments, of);
        names.rotate_left(1);
        let sum: Vec<&str> = arguments.iter().copied().chain(["--sum"]).collect();
        let sum: Vec<&str> = sum.into_iter().chain(names.iter().map(String::as_str)).collect();
        assert_eq!(search(&folder, &sum), whole, "{arguments:?}");
    }
}

/// What the searches above are about: runs that show nothing are counted, and not in all parts.
#[test]
fn parts_differ_in_what_was_seen() {
    let folder = Folder::new();
    folder.write("seldom.toml", SELDOM);
    let names = parts(&folder, &["seldom.toml", "--runs", "60"], 7);
    let of = |pick: fn(&Value) -> u64| -> Vec<u64> {
        names.iter().map(|name| pick(&json(&folder.read(name)))).collect()
    };
    let runs = of(|part| part["runs"].as_u64().expect("a number"));
    assert_eq!(runs, [9, 9, 9, 9, 8, 8, 8]);
    let not_seen = of(|part| part["predicates"]["P1"]["not_seen"].as_u64().expect("a number"));
    assert!(not_seen.iter().sum::<u64>() > 0 && not_seen != runs, "{not_seen:?}");
    let nothing_read = of(|part| part["predicates"]["P4"]["not_seen"].as_u64().expect("a number"));
    assert_eq!(nothing_read, runs);
    let part = json(&folder.read("p3.json"));
    assert_eq!((&part["part"]["number"], &part["part"]["of"]), (&3.into(), &7.into()));
    assert_eq!((&part["first_seed"], &part["part"]["first_seed"]), (&"19".into(), &"1".into()));
    assert!(part["title"].as_str().expect("a text").ends_with(", part 3 of 7"), "{part:#}");
}

/// A part makes all of its runs: another may have found nothing yet.
#[test]
fn a_part_goes_on_after_everything_was_found() {
    let folder = Folder::new();
    let search = ["setnx", "--seed", "900", "--runs", "200", "--predicate", "P1"];
    let stopped = folder.doublehold(&["check"]).args(search).args(["--format", "json"]).ends(1).stdout;
    assert!(json(&stopped)["runs"].as_u64() < Some(200), "{stopped}");
    let part =
        folder.doublehold(&["check"]).args(search).args(["--shard", "1/1", "--format", "json"]).ends(1);
    assert_eq!(json(&part.stdout)["runs"], 200);
}

/// The first and the second of two parts of five runs, and the third of three.
fn made() -> Folder {
    let folder = Folder::new();
    folder.write("mine.toml", SELDOM);
    let search = ["mine.toml", "--runs", "5"];
    parts(&folder, &search, 2);
    let [one, two] = ["p1.json", "p2.json"].map(|name| folder.read(name));
    parts(&folder, &search, 3);
    folder.write("p1.json", one);
    folder.write("p2.json", two);
    folder
}

/// Sums of these files, each of five runs unless it says otherwise, and what is said to them.
fn refusals(folder: &Folder, sums: &[&[&str]]) -> String {
    let commands = sums.iter().map(|files| {
        let runs: &[&str] = if files.contains(&"--runs") { &[] } else { &["--runs", "5"] };
        [&["check", "mine.toml"], runs, &["--sum"], files].concat()
    });
    folder.refusals(&commands.collect::<Vec<_>>())
}

#[test]
fn what_is_no_set_of_parts_is_refused_by_file() {
    let folder = made();
    folder.write("again.json", folder.read("p1.json"));
    folder.write("text.json", "so many runs\n");
    let whole = folder.doublehold(&["check", "mine.toml", "--runs", "5", "--format", "json"]).answer();
    folder.write("whole.json", whole.stdout);
    let sums: [&[&str]; 7] = [
        &["p1.json"],
        &["p3.json"],
        &["p1.json", "again.json"],
        &["p1.json", "p3.json"],
        &["text.json"],
        &["whole.json"],
        &["nowhere.json"],
    ];
    assert_text(
        refusals(&folder, &sums),
        str![[r#"
$ doublehold check mine.toml --runs 5 --sum p1.json
error: of 2 parts, one is missing: 2
hint: name them too; `--shard 2/2` instead of `--sum` makes one

$ doublehold check mine.toml --runs 5 --sum p3.json
error: of 3 parts, some are missing: 1 and 2
hint: name them too; `--shard 1/3` instead of `--sum` makes one

$ doublehold check mine.toml --runs 5 --sum p1.json again.json
error: cannot add up `again.json`: it is part 1 of 2, and so is `p1.json`
hint: name each part once

$ doublehold check mine.toml --runs 5 --sum p1.json p3.json
error: cannot add up `p3.json`: it is one of 3 parts, and `p1.json` is one of 2
hint: name the parts of one division: leave the others out

$ doublehold check mine.toml --runs 5 --sum text.json
error: cannot add up `text.json`: it is not a result of `check`: expected value at line 1 column 1
hint: name files that `check --shard I/N --format json` printed

$ doublehold check mine.toml --runs 5 --sum whole.json
error: cannot add up `whole.json`: it is the result of a whole search, and of no part
hint: name files that `check --shard I/N --format json` printed

$ doublehold check mine.toml --runs 5 --sum nowhere.json
error: cannot add up `nowhere.json`: it cannot be read: No such file or directory (os error 2)
hint: name files that `check --shard I/N --format json` printed

"#]],
    );
    assert!(!folder.has("doublehold-check"), "nothing was made");
}

#[test]
fn a_part_that_is_not_as_it_was_made_is_refused() {
    let folder = made();
    let two = folder.read("p2.json");
    folder.write("short.json", two.replacen("\"runs\": 2", "\"runs\": 1", 1));
    folder.write("odd.json", two.replacen("\"holds\": 2", "\"holds\": 1", 1));
    folder.write("kind.json", two.replace("\"kind\": \"cut\"", "\"kind\": \"rut\""));
    let signed = |name: &str, sign: &str| {
        let signed = two.replacen("\"nondeterminism\": null", &format!("\"nondeterminism\": {sign}"), 1);
        assert_ne!(signed, two);
        folder.write(name, signed);
    };
    signed("word.json", "{ \"sign\": \"sleeps\", \"seed\": \"4\" }");
    signed("seed.json", "{ \"sign\": \"real-time\", \"seed\": \"4\" }");
    signed("seedless.json", "{ \"sign\": \"other-run\", \"seed\": null }");
    let sums: [&[&str]; 6] = [
        &["p1.json", "short.json"],
        &["p1.json", "odd.json"],
        &["p1.json", "kind.json"],
        &["p1.json", "word.json"],
        &["p1.json", "seed.json"],
        &["p1.json", "seedless.json"],
    ];
    assert_text(
        refusals(&folder, &sums),
        str![[r#"
$ doublehold check mine.toml --runs 5 --sum p1.json short.json
error: cannot add up `short.json`: it has 1 run, and part 2 of 2 has 2
hint: make that part again

$ doublehold check mine.toml --runs 5 --sum p1.json odd.json
error: cannot add up `odd.json`: its counts of P1 are not those of 2 runs
hint: make that part again

$ doublehold check mine.toml --runs 5 --sum p1.json kind.json
error: cannot add up `kind.json`: `rut` is not a kind of fault
hint: make that part again

$ doublehold check mine.toml --runs 5 --sum p1.json word.json
error: cannot add up `word.json`: `sleeps` of seed 4 is not a sign of nondeterminism
hint: make that part again

$ doublehold check mine.toml --runs 5 --sum p1.json seed.json
error: cannot add up `seed.json`: `real-time` of seed 4 is not a sign of nondeterminism
hint: make that part again

$ doublehold check mine.toml --runs 5 --sum p1.json seedless.json
error: cannot add up `seedless.json`: `other-run` of no seed is not a sign of nondeterminism
hint: make that part again

"#]],
    );
    let version = |it: &str| format!("\"program\": \"{it}\"");
    folder.write("older.json", two.replace(&version(env!("CARGO_PKG_VERSION")), &version("0.0.1")));
    let older = refusals(&folder, &[&["older.json"]]);
    assert!(older.contains("another search: the program's version is `0.0.1` in it, and `"), "{older}");
}

#[test]
fn parts_of_another_search_are_refused_with_what_differs() {
    let folder = made();
    let sums: [&[&str]; 3] = [
        &["p1.json", "p2.json", "--runs", "6"],
        &["p1.json", "--predicate", "P1"],
        &["p1.json", "--seed", "2"],
    ];
    assert_text(
        refusals(&folder, &sums),
        str![[r#"
$ doublehold check mine.toml --sum p1.json p2.json --runs 6
error: cannot add up `p1.json`: it is of another search: the seeds are `--seed 1 --runs 5` in it, and `--seed 1 --runs 6` here
hint: make the parts with this command, with `--shard I/N` instead of `--sum`

$ doublehold check mine.toml --runs 5 --sum p1.json --predicate P1
error: cannot add up `p1.json`: it is of another search: the command is `doublehold check mine.toml` in it, and `doublehold check mine.toml --predicate P1` here
hint: make the parts with this command, with `--shard I/N` instead of `--sum`

$ doublehold check mine.toml --runs 5 --sum p1.json --seed 2
error: cannot add up `p1.json`: it is of another search: the seeds are `--seed 1 --runs 5` in it, and `--seed 2 --runs 5` here
hint: make the parts with this command, with `--shard I/N` instead of `--sum`

"#]],
    );
    // Another file under the same name.
    folder.write("mine.toml", SELDOM.replace("ttl = \"2s\"", "ttl = \"3s\""));
    assert_text(
        refusals(&folder, &[&["p1.json", "p2.json"]]),
        str![[r#"
$ doublehold check mine.toml --runs 5 --sum p1.json p2.json
error: cannot add up `p1.json`: it is of another search: the same seeds give other runs, since the program or a file that the command names has changed
hint: make the parts with this command, with `--shard I/N` instead of `--sum`

"#]],
    );
}

#[test]
fn a_part_of_no_number_of_runs_is_refused() {
    let folder = Folder::new();
    let parts: [&[&str]; 4] = [
        &["check", "single", "--runs", "5", "--shard", "1/6"],
        &["check", "single", "--shard", "1/2"],
        &["check", "single", "--for", "5s", "--shard", "1/2"],
        &["check", "single", "--runs", "5", "--shard", "1/2", "--sum", "p1.json"],
    ];
    assert_text(
        folder.refusals(&parts),
        str![[r#"
$ doublehold check single --runs 5 --shard 1/6
error: `--shard 1/6` of 5 runs: some parts would have none
hint: make at most 5 parts of it, or more `--runs`

$ doublehold check single --shard 1/2
error: the following required arguments were not provided:
  --runs <N>

Usage: doublehold check --runs <N> --shard <I/N> <LOCK|NAME|FILE>

For more information, try '--help'.

$ doublehold check single --for 5s --shard 1/2
error: the argument '--for <TIME>' cannot be used with '--shard <I/N>'

Usage: doublehold check --for <TIME> <LOCK|NAME|FILE>

For more information, try '--help'.

$ doublehold check single --runs 5 --shard 1/2 --sum p1.json
error: the argument '--shard <I/N>' cannot be used with '--sum <FILE>...'

Usage: doublehold check --runs <N> --shard <I/N> <LOCK|NAME|FILE>

For more information, try '--help'.

"#]],
    );
}
