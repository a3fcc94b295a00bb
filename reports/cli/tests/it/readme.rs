//! The README shows what the program prints: every line of its first picture is a line of the real output. Its pieces
//! of Rust are those of the examples, and its recipe for CI is the one that CI runs.

use crate::kit::{Ask, Folder, doublehold};

use doublehold_history::Predicate;

#[test]
fn the_readmes_picture_is_what_its_command_prints() {
    let readme = include_str!("../../../../README.md");
    let (_, block) = readme.split_once("$ cargo run -- run clock-jump\n").expect("the first command");
    let (shown, _) = block.split_once("```").expect("the end of the block");
    let printed =
        doublehold(&["run", "clock-jump", "--color", "never"]).env("COLUMNS", "100").answer().stdout;
    for line in shown.lines() {
        assert!(
            printed.lines().any(|real| real.trim_end() == line),
            "the README shows a line nobody prints: {line}"
        );
    }
    assert!(shown.lines().count() > 10, "the README shows a picture");
}

/// Numbers are of one machine and one day; which workloads they are of is not.
#[test]
fn the_page_of_speeds_has_the_workloads_that_the_benchmark_runs() {
    let (_, section) =
        include_str!("../../../../docs/performance.md").split_once("## Speed").expect("a section");
    let (section, _) = section.split_once("\n## ").expect("its end");
    let rows = section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| |"));
    let named: Vec<&str> = rows.filter_map(|line| line.split('|').nth(1)).map(str::trim).collect();
    let bench = include_str!("../../../../scenarios/benches/speed.rs");
    let (_, list) = bench.split_once("const WORKLOADS: [&str; ").expect("the benchmark's list");
    let (list, _) = list.split_once("];").expect("its end");
    let run: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    assert_eq!(named, run);
}

#[test]
fn the_readmes_pieces_of_rust_are_those_of_the_examples() {
    let pieces: Vec<&str> = include_str!("../../../../README.md").split("```rust\n").skip(1).collect();
    let examples = [include_str!("../../../../examples/own-lock/tests/beside.rs")];
    assert_eq!(pieces.len(), examples.len());
    for (piece, example) in pieces.into_iter().zip(examples) {
        let (shown, _) = piece.split_once("```").expect("the end of the block");
        assert!(example.contains(shown), "the example has another world than the README:\n{shown}");
    }
}

#[test]
fn the_turmoil_test_that_its_page_shows_is_that_of_the_example() {
    let page = include_str!("../../../../examples/turmoil-test/README.md");
    let (_, block) = page.split_once("```rust\n").expect("a piece of Rust");
    let (shown, _) = block.split_once("```").expect("the end of the block");
    let example = include_str!("../../../../examples/turmoil-test/tests/lock.rs");
    assert!(example.contains(shown), "the example has another test than the README:\n{shown}");
}

/// The commands of the README's recipe for CI. `.ci/recipe` runs them; here is what they are to be.
fn recipe() -> Vec<String> {
    let (_, block) = include_str!("../../../../README.md").split_once("```yaml\n").expect("a recipe");
    let (block, _) = block.split_once("```").expect("its end");
    assert_eq!(block.matches("DOUBLEHOLD:").count(), 1, "one place says where doublehold comes from");
    let mut commands: Vec<String> = Vec::new();
    for line in block.lines() {
        let text = line.trim();
        if let Some(command) = text.strip_prefix("- run: ") {
            commands.push(command.trim_start_matches('>').to_owned());
        } else if text.starts_with("- uses:") {
            commands.push(String::new());
        } else if let Some(command) = commands.last_mut().filter(|_| line.starts_with("          ")) {
            *command = format!("{command} {text}").trim().to_owned();
        }
    }
    commands.retain(|command| !command.is_empty() && !command.starts_with("name: "));
    commands
}

#[test]
fn the_recipe_for_ci_tries_the_users_own_lock_for_what_is_lost_too() {
    let commands = recipe();
    let place = |wanted: &str| commands.iter().position(|command| command.starts_with(wanted)).expect(wanted);
    assert!(place("git clone \"$DOUBLEHOLD\" ../doublehold") < place("cargo test"), "{commands:?}");
    assert!(place("cargo install --locked --path ../doublehold/reports") < place("doublehold check"));
    let check = &commands[place("doublehold check")];
    assert!(!check.contains("--for"), "what is tried depends on the machine: {check}");
    let ci = include_str!("../../../../.ci/run");
    assert!(ci.lines().any(|line| line.starts_with(".ci/recipe")), "CI runs it");
    let folder = Folder::new();
    let few = check.replace("--runs 20000", "--runs 300").replace("\"$GITHUB_STEP_SUMMARY\"", "summary.md");
    assert!(few.contains("--predicate P2,P4 --runs 300"), "{few}");
    folder.doublehold(&few.split_whitespace().skip(1).collect::<Vec<_>>()).ends(0);
    assert!(["lock.xml", "summary.md"].iter().all(|it| folder.at().join(it).is_file()));
}

#[test]
fn the_readme_says_which_rust_it_takes_and_whom_it_quotes() {
    let readme = include_str!("../../../../README.md");
    let rust = env!("CARGO_PKG_RUST_VERSION");
    assert!(readme.contains(&format!("Rust {rust} or later and a C compiler")), "{rust}");
    for source in ["martin.kleppmann.com/2016/02/08/", "antirez.com/news/101", "redis.io/docs/latest/"] {
        assert!(readme.contains(source), "{source}");
    }
}

#[test]
fn every_document_that_lists_the_predicates_names_all() {
    let documents = [
        ("README.md", include_str!("../../../../README.md")),
        ("ARCHITECTURE.md", include_str!("../../../../ARCHITECTURE.md")),
        ("FORMAT.md", include_str!("../../../../scenarios/FORMAT.md")),
        ("STUDIES.md", include_str!("../../../../scenarios/sweeps/STUDIES.md")),
        ("SWEEPS.md", include_str!("../../../SWEEPS.md")),
        ("JSON.md", include_str!("../../../JSON.md")),
    ];
    for (name, text) in documents {
        let named =
            |it: &Predicate| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == it.as_str());
        let missing: Vec<Predicate> = Predicate::ALL.into_iter().filter(|it| !named(it)).collect();
        assert!(missing.is_empty(), "{name} says nothing of {missing:?}");
    }
}
