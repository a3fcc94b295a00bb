//! What is odd about records, said before anything is made of them.

use super::Material;
use crate::findings::{grouped, several};

pub(crate) fn notes(material: &Material) -> Vec<String> {
    let mut notes = Vec::new();
    if material.results.is_torn {
        notes.push(format!(
            "The records in `{}` end in the middle of a line, which was left out. Sweep again to go on.",
            material.place
        ));
    }
    let (runs, planned) = (material.results.runs(), material.results.planned_runs());
    let header = &material.results.header;
    if runs < planned {
        let share = format!("{} of the {} that were planned", several(runs, "run"), grouped(planned));
        notes.push(match &header.precision {
            None => format!("The sweep is not finished: these are {share}."),
            Some(precision) => format!(
                "These are {share}: a cell has had enough once the 95 % interval of {} is no wider than {}, or the sweep \
                 is not finished.",
                precision.predicate, precision.width
            ),
        });
    }
    notes
}
