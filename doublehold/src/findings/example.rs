//! A counterexample in words: its first seed, its size before and after shrinking, and its files.

use std::fmt::Write as _;

use doublehold_diagnosis::counterexample::Counterexample;
use doublehold_scenarios::fault::Fault;
use doublehold_search::shrink::Size;
use doublehold_search::shrink::Target;
use doublehold_text::clean;

use super::{ReplayHints, WRITES, several};
use doublehold_render::layout::wrap;

/// The text about a counterexample: its first seed, its size before and after shrinking, and where it is. All lines
/// have this width but those to be pasted.
pub fn words_of(example: &Counterexample, shown: &ReplayHints, width: usize) -> String {
    let line = |text: &str, first: &str| wrap(text, first, "    ", width);
    let Counterexample { target, first, shrunk, is_real, .. } = example;
    let mut text = wrap(&format!("{target}, first from seed {first}"), "", "    ", width);
    let after = format!("{}, in {}", size(shrunk.after), several(shrunk.replays, "run"));
    let beside = " ".repeat("  shrunk from ".len());
    text += &wrap(&size(shrunk.before), "  shrunk from ", &beside, width);
    text += &wrap(&after, "      to     ", &beside, width);
    if !shrunk.is_minimal {
        text += &line("not minimal: there were not enough runs to try every change", "  ");
    }
    for cause in causes(&shrunk.scenario.faults) {
        text += &line(&cause, "  - ");
    }
    for window in &shrunk.windows {
        text += &line(&format!("the same happens with {window}"), "  ");
    }
    let (same, of) = shrunk.others;
    text += &line(&format!("the same happens from {same} of {of} other seeds"), "  ");
    if !is_real {
        let lean =
            "seen through lean connections only, and not through redis-rs: the difference is worth a look";
        text += &line(lean, "  ");
    }
    for file in &shown.files {
        writeln!(text, "  file: {}", clean(file)).expect(WRITES);
    }
    if same < of / 2 {
        let luck = format!("mostly luck of seed {}: from another its scenario may show nothing", shrunk.seed);
        text += &line(&luck, "  ");
    }
    if !shown.run.is_empty() {
        writeln!(text, "  run it: {}", clean(&shown.run)).expect(WRITES);
    }
    if !shown.replay.is_empty() {
        writeln!(text, "  replay: {}", clean(&shown.replay)).expect(WRITES);
    }
    text
}

/// `1 fault, 2 clients, 6 steps, 1 node`.
fn size(size: Size) -> String {
    let Size { faults, clients, steps, nodes } = size;
    let parts = [(faults, "fault"), (clients, "client"), (steps, "step"), (nodes, "node")];
    parts.map(|(count, what)| several(count as u64, what)).join(", ")
}

/// The faults that it takes, each in words, or that it takes none.
pub fn causes(faults: &[Fault]) -> Vec<String> {
    match faults {
        [] => vec!["no fault at all: delays and interleavings are enough".to_owned()],
        faults => faults.iter().map(|fault| clean(&fault.to_string())).collect(),
    }
}

/// The name of a target in files and test names.
pub fn name_of(target: Target) -> String {
    match target {
        Target::Violates(predicate) => predicate.as_str().to_owned(),
        Target::Panics => "panic".to_owned(),
    }
}
