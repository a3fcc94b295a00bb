//! Features of dependencies: with tests and without they are the same, so that nothing is built twice.
//!
//! Cargo builds a crate once for each set of features, and all that stands above it with it. A development dependency
//! that asks for one feature more would let `cargo test` build again what `cargo run` had built.

use std::collections::BTreeSet;
use std::process::Command;

use super::root;

/// Two that stay: properties are for tests, and a proc macro of one crate alone.
const DIFFER: [&str; 2] = ["doublehold ", "syn v2."];

/// Every package with its features, as `cargo build` takes them with these kinds of dependencies: `name version|a,b`.
fn built(edges: &str) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--workspace", "--locked", "--offline", "--prefix", "none", "--no-dedupe"]);
    let output = cargo.args(["--format", "{p}|{f}", "--edges", edges]).current_dir(root()).output();
    let output = output.expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn tests_ask_for_no_feature_that_the_program_has_not() {
    let (program, tests) = (built("no-dev"), built("normal,build,dev"));
    let twice = program.difference(&tests).filter(|line| !DIFFER.iter().any(|name| line.starts_with(name)));
    let twice: Vec<_> = twice.collect();
    assert!(
        twice.is_empty(),
        "`cargo test` builds these again with more features; ask for them in reports/cli/Cargo.toml too:\n{twice:#?}"
    );
    assert!(program.len() > 100, "{} packages", program.len());
}
