//! Scenarios with many hosts: what they cost grows with what happens in them.

use doublehold_scenarios::{Engine, Keep, LeanEngine, Report, format::Source};

fn run(text: String) -> Report {
    let source = Source { name: "large".into(), file: "large.toml".into(), text, ..Source::default() };
    LeanEngine.run(&source.read().expect("it is well formed"), 1, Keep::History)
}

fn clients(count: usize, program: &str, rounds: u32) -> String {
    let client = |number| {
        format!(
            "[[clients]]\nname = \"c{number}\"\nprogram = {program}\nrounds = {rounds}\ngive_up_after = \"10h\"\n"
        )
    };
    (1..=count).map(client).collect()
}

#[test]
fn a_lock_on_hundreds_of_nodes_and_a_thousand_idle_hosts_runs() {
    let names: Vec<String> = (0..1_000).map(|node| format!("\"N{node}\"")).collect();
    let setup = format!(
        "claim = \"it is granted\"\nstory = \"Many nodes.\"\n[expect]\n[lock]\nalgorithm = \"redlock\"\n\
         order = \"parallel\"\nttl = \"10s\"\n[nodes]\nnames = [{}]\n",
        names.join(", ")
    );
    let report = run(format!("{setup}{}", clients(1, "[\"acquire\", \"work 1s\", \"release\"]", 1)));
    let votes: Vec<usize> = report.votes.values().map(Vec::len).collect();
    assert_eq!(votes, [1_000], "{:?}", report.notes);
}
