//! The catalogue parses, whole; names, changes and plans find their way.

use doublehold_scenarios::catalog;

#[test]
fn every_scenario_and_variant_of_the_catalogue_parses() {
    let entries = catalog::entries().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(entries.len(), 53, "{:#?}", entries.iter().map(|entry| &entry.name).collect::<Vec<_>>());
}
