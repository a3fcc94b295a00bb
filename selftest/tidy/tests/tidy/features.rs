//! Features of dependencies: every member asks for the same ones, so that no command builds a crate again.
//!
//! Cargo builds a crate once for each set of features, and everything above it with it. Which features a command asks
//! for depends on the packages that it selects: all (`cargo run`, `cargo test --workspace`) or one (`cargo test -p`).

use std::collections::BTreeSet;
use std::process::Command;

use super::root;

/// Crates of ours that differ: properties and PNG files are for tests only, and the crate of features is empty.
const DIFFER: [&str; 3] = ["doublehold ", "doublehold-cli ", "doublehold-features "];

/// Returns every package with its features, as cargo takes them for these packages and kinds of dependencies:
/// `name version|a,b`.
fn packages(selected: &[&str], edges: &str) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--locked", "--offline", "--prefix", "none", "--no-dedupe", "--format", "{p}|{f}"]);
    let output = cargo.args(["--edges", edges]).args(selected).current_dir(root()).output();
    let output = output.expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Cargo marks a feature that it has printed already.
    String::from_utf8_lossy(&output.stdout).lines().map(|line| line.replace(" (*)", "")).collect()
}

/// Returns the lines of `some` that `all` has not, but for the crates that may differ.
fn missing(some: &BTreeSet<String>, all: &BTreeSet<String>) -> Vec<String> {
    let differs = |line: &&String| !DIFFER.iter().any(|name| line.starts_with(name));
    some.difference(all).filter(differs).cloned().collect()
}

fn members() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("Cargo.lock")).expect("a lock file");
    let locked: toml::Table = text.parse().expect("TOML");
    let packages = locked["package"].as_array().expect("packages");
    let ours = packages.iter().filter(|package| package.get("source").is_none());
    ours.map(|package| package["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn each_command_asks_for_the_same_features() {
    let all = packages(&["--workspace"], "normal,build,dev");
    let mut again = missing(&packages(&["--workspace"], "no-dev"), &all);
    let members = members();
    assert!(members.len() > 15, "only {} members", members.len());
    for member in &members {
        let built = missing(&packages(&["-p", member], "normal,build,dev"), &all);
        again.extend(built.into_iter().map(|line| format!("-p {member}: {line}")));
    }
    assert!(
        again.is_empty(),
        "these are built again with other features than `cargo test --workspace` has; ask for all of them in \
         selftest/features/Cargo.toml:\n{again:#?}"
    );
}

#[test]
fn a_crate_with_fewer_features_is_built_again() {
    let of = |line: &str| BTreeSet::from([line.to_owned()]);
    assert_eq!(missing(&of("tokio v1|net"), &of("tokio v1|net,rt")), ["tokio v1|net"]);
    assert!(missing(&of("tokio v1|net"), &of("tokio v1|net")).is_empty());
}
