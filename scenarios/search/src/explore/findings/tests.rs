//! What is counted of a search, against the definitions: random sets of faults that come to random runs, some of them
//! to the run of another, listed as a search lists them.

use doublehold_scenarios::catalog;
use doublehold_scenarios::model::when::{Event, Mark, Nth};
use doublehold_sim::{Seed, Stream};

use super::*;

const FINDINGS: [Target; 3] =
    [Target::Violates(Predicate::P1), Target::Violates(Predicate::P2), Target::Panics];

/// Every set of at most so many of some places, smaller ones first.
fn sets(places: &[Place], most: usize) -> Vec<Vec<Place>> {
    let of = |mask: u32| -> Vec<Place> {
        places.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1).map(|(_, it)| it.clone()).collect()
    };
    let mut sets: Vec<Vec<Place>> = (0..1 << places.len()).map(of).collect();
    sets.retain(|set| set.len() <= most);
    sets.sort_by_key(Vec::len);
    sets
}

fn has(set: &[Place], part: &[Place]) -> bool {
    part.len() < set.len() && part.iter().all(|place| set.contains(place))
}

#[test]
fn counts_groups_and_examples_are_those_of_the_definitions() {
    let kinds = Kinds::parse(&["pause", "crash"], &catalog::load("lease-pause", &[]).unwrap()).unwrap();
    // Most are of one group, of which not every example is kept.
    let marks = [(Mark::Check, 1), (Mark::Check, 0), (Mark::Check, 3), (Mark::Write, 0)];
    let mut places: Vec<Place> = (1..=2)
        .flat_map(|nth| {
            marks.map(|(mark, choice)| Place { at: Nth { event: Event::mark("c1", mark), nth }, choice })
        })
        .collect();
    places.remove(7);
    let mut stream = Stream::new(Seed(1), "found");
    for case in 0..100 {
        let most = 1 + case % 3;
        // What a run shows follows from its hash.
        let hashes = 4 + stream.below(60);
        let shown: Vec<TriedPlacement> = (0..hashes)
            .map(|hash| TriedPlacement {
                hash: hash * 1_000,
                findings: FINDINGS.into_iter().filter(|_| stream.below(3) == 0).collect(),
                unsaid: Predicate::ALL.into_iter().filter(|_| stream.below(6) == 0).collect(),
            })
            .collect();
        let mut sets = sets(&places, most);
        // Faults strike in any order.
        sets.iter_mut().filter(|_| stream.below(2) == 0).for_each(|set| set.reverse());
        let tried: Vec<(Vec<Place>, TriedPlacement)> =
            sets.into_iter().map(|set| (set, shown[stream.below(hashes) as usize].clone())).collect();
        let mut found = Explored::default();
        tried.iter().for_each(|(places, run)| found.add(places, run, most, &kinds));

        let firsts: Vec<&(Vec<Place>, TriedPlacement)> = tried
            .iter()
            .enumerate()
            .filter(|(at, (_, run))| tried[..*at].iter().all(|(_, before)| before.hash != run.hash))
            .map(|(_, it)| it)
            .collect();
        let of_size = |size: usize| tried.iter().filter(|(set, _)| set.len() == size).count() as u64;
        assert_eq!(found.tried, (1..=most).map(of_size).collect::<Vec<_>>());
        assert_eq!(found.placements(), tried.len() as u64 - 1);
        assert_eq!(found.distinct_traces(), firsts.len() as u64);
        for finding in FINDINGS {
            let shows = |run: &TriedPlacement| run.findings.contains(&finding);
            assert_eq!(found.runs_with(finding), firsts.iter().filter(|(_, run)| shows(run)).count() as u64);
            let mut expected: BTreeMap<Group, MinimalPlacements> = BTreeMap::new();
            for (set, _) in firsts.iter().filter(|(_, run)| shows(run)) {
                if tried.iter().any(|(part, run)| has(set, part) && shows(run)) {
                    continue;
                }
                let kind = |place: &Place| if place.choice < 2 { "pause" } else { "crash" };
                let group: Group =
                    set.iter().map(|place| (kind(place), place.at.event.step().as_str())).collect();
                let none = MinimalPlacements { count: 0, examples: Vec::new() };
                let minimal = expected.entry(group).or_insert(none);
                minimal.count += 1;
                if minimal.count <= 4 {
                    minimal.examples.push(set.clone());
                }
            }
            let minimal = found.findings.get(&finding).map(|it| it.minimal.clone()).unwrap_or_default();
            assert_eq!(minimal, expected, "{finding} of {tried:?}");
        }
        for predicate in Predicate::ALL {
            let undecided = || firsts.iter().filter(|(_, run)| run.unsaid.contains(&predicate));
            let first = undecided().next().map(|(set, _)| set.clone());
            let expected = first.map(|example| UndecidedRuns { runs: undecided().count() as u64, example });
            assert_eq!(found.unsaid.get(&predicate), expected.as_ref(), "{predicate}");
        }
    }
}
