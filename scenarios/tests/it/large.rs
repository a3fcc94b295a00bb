//! Scenarios with many hosts and many holders: what they cost grows with what happens in them.

use doublehold_history::{EventKind, Evidence, Predicate, Verdict};
use doublehold_scenarios::{Engine, LeanEngine, Report, format::Source};

fn run(text: String) -> Report {
    let source = Source { name: "large".into(), file: "large.toml".into(), text, ..Source::default() };
    LeanEngine.run(&source.read().expect("it is well formed"), 1)
}

fn clients(count: usize, program: &str, rounds: u32) -> String {
    let client = |number| {
        format!(
            "[[clients]]\nname = \"c{number}\"\nprogram = {program}\nrounds = {rounds}\ngive_up_after = \"10h\"\n"
        )
    };
    (1..=count).map(client).collect()
}

/// The lease is over long before the work, so all hold at last.
fn holders(count: usize) -> String {
    let setup = "claim = \"everybody holds\"\nstory = \"The lease is short.\"\n[expect]\n[lock]\n\
         algorithm = \"single\"\nttl = \"10ms\"\nelapsed_check = false\n[nodes]\nnames = [\"A\"]\n[limits]\ntime = \"5h\"\n";
    format!("{setup}{}", clients(count, "[\"acquire\", \"read\", \"work 2h\", \"release\"]", 1))
}

#[test]
fn evidence_of_hundreds_of_holders_shows_the_clocks_of_the_first_and_costs_no_square() {
    let report = run(holders(200));
    let Verdict::Violated(evidence) = report.verdicts.get(Predicate::P1) else {
        panic!("all hold at once: {:?}", report.verdict_words())
    };
    assert_eq!(evidence.len(), 200 * 199 / 2, "every pair of them");
    for listed in &evidence[..400] {
        let Evidence::Overlap(overlap) = listed else { panic!("{listed:?}") };
        let read = |span: &doublehold_history::ClockSpan| span.from.is_some() && span.to.is_some();
        assert!(overlap.clocks.iter().all(read), "{overlap:?}");
    }
    let readings =
        report.history.events().iter().filter(|event| matches!(event.what, EventKind::Clocks { .. })).count();
    assert!(readings <= 200 * 2 * 33, "{readings} readings for 400 beginnings and ends of claims");
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
