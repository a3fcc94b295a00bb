//! What is odd about records, said before anything is made of them.

use std::collections::BTreeSet;

use doublehold_history::Predicate;
use doublehold_sweeps::records::shards;
use doublehold_text::list;
use doublehold_text::{group_digits, several};

use super::Material;
use super::measure::Measure;

pub(crate) fn notes(material: &Material) -> Vec<String> {
    let mut notes = Vec::new();
    if material.results.is_torn {
        notes.push(format!(
            "The records in `{}` end in the middle of a line, which was left out. Sweep again to go on.",
            material.place
        ));
    }
    if let Some(partial) = &material.results.header.partial {
        notes.push(format!(
            "These are partial records, merged from {}: what the other runs came to is not in here.",
            shards(partial)
        ));
    }
    let (runs, planned) = (material.results.runs(), material.results.planned_runs());
    let header = &material.results.header;
    if runs < planned {
        let share = format!("{} of the {} that were planned", several(runs, "run"), group_digits(planned));
        notes.push(match &header.precision {
            None => format!("The sweep is not finished: these are {share}."),
            Some(precision) => format!(
                "These are {share}: a cell has had enough once the 95 % interval of {} is no wider than {}, or the sweep \
                 is not finished.",
                precision.predicate, precision.width
            ),
        });
    }
    notes.extend(quiet(material));
    if Measure::choose(header) == Measure::Runs && !header.usage.grants.is_empty() {
        notes.push(
            "`use` says how often the lock is granted, and this page tells no months all the same: the weather of its \
             designs does not claim the rates of the field (`claims = \"field\"`)."
                .to_owned(),
        );
    }
    let lines = || header.designs.iter().flat_map(|design| &design.weather);
    if lines().any(|line| line.source.starts_with("Set for this page")) {
        let set: BTreeSet<String> = lines()
            .filter(|line| line.source.starts_with("Set for this page"))
            .map(|line| format!("{} every {}", line.kind, line.every))
            .collect();
        notes.push(format!(
            "Rates were set for this page, without a run: {}. Sentences of the study below may speak of its own.",
            list(&set.into_iter().collect::<Vec<_>>())
        ));
    }
    notes
}

/// The evidence against the word of a study that nothing goes wrong without a fault, by predicate.
fn quiet(material: &Material) -> Vec<String> {
    let results = &material.results;
    let of_predicate = |predicate: Predicate| {
        let wrong = results.cells.iter().filter(|(_, cell)| cell.fails_without_faults(predicate));
        let designs: BTreeSet<&str> =
            wrong.map(|(cell, _)| results.header.designs[results.place(*cell).0].name.as_str()).collect();
        (results.header.quiet_holds && !designs.is_empty()).then(|| {
            format!(
                "The study takes it for granted that nothing goes wrong without a fault (`quiet = \"holds\"`). Of \
                 {predicate} that is not so with {}, whose few runs without a fault are counted for it like all others \
                 here. `quiet = \"unknown\"` with `by_weight` gives them as many as they need.",
                list(&designs.into_iter().collect::<Vec<_>>())
            )
        })
    };
    Predicate::ALL.into_iter().filter_map(of_predicate).collect()
}
