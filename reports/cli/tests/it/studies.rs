//! `doublehold studies`: the ready ones with their times.

use doublehold_sweeps::study::{Study, bundled_studies};

use crate::kit::{Ask, doublehold};

#[test]
fn the_ready_studies_are_listed_with_what_they_ask_and_their_times() {
    let list = doublehold(&["studies"]).env("COLUMNS", "100").prints(0);
    let words = list.split_whitespace().collect::<Vec<_>>().join(" ");
    for found in bundled_studies() {
        let study = Study::load(found.name).expect("it is ours");
        let row = format!("{} {} (", found.name, study.question);
        let (_, rest) = words.split_once(&row).unwrap_or_else(|| panic!("{row}: {list}"));
        let (brackets, _) = rest.split_once(')').expect("an end");
        let cells = study.grid().cells();
        let plural = if cells == 1 { "" } else { "s" };
        assert_eq!(brackets, format!("{cells} cell{plural}; about {}", study.usual_time()));
    }
    assert!(words.contains("times are those of two cores, at 3,000 runs a second"), "{list}");
}
