//! The files: complete, and about scenarios that there are.

use doublehold_debate::{DebateCase, claims, posts};
use doublehold_scenarios::catalog;

/// How many claims each letter has; those with a letter behind their number (`L4b`) come besides.
const NUMBERED: [(&str, usize); 8] =
    [("S", 17), ("R", 16), ("L", 26), ("T", 11), ("F", 16), ("Q", 5), ("W", 13), ("C", 20)];

#[test]
fn no_claim_is_left_out() {
    let claims = claims().unwrap();
    let ids: Vec<&str> = claims.iter().map(|claim| claim.id.as_str()).collect();
    for (letter, count) in NUMBERED {
        let of_letter: Vec<&str> = ids.iter().copied().filter(|id| id.starts_with(letter)).collect();
        for number in 1..=count {
            assert!(of_letter.contains(&format!("{letter}{number}").as_str()), "{letter}{number} is missing");
        }
    }
    assert_eq!(ids.len(), NUMBERED.iter().map(|(_, count)| count).sum::<usize>() + 1);
}

#[test]
fn every_case_is_a_scenario_that_can_be_read_with_its_changes() {
    for claim in &claims().unwrap() {
        for case in claim.cases.iter().flatten() {
            let setup = case.setup();
            let mut tried = vec![setup.sets()];
            if let DebateCase::Threshold(threshold) = case {
                tried = [threshold.low, threshold.high]
                    .map(|value| {
                        let keys = threshold.keys().into_iter();
                        let varied = keys.map(|key| (key.to_owned(), threshold.text(value)));
                        setup.sets().into_iter().chain(varied).collect()
                    })
                    .into();
            }
            for sets in tried {
                let read = catalog::load(&setup.scenario, &sets);
                assert!(
                    read.is_ok(),
                    "{}: {} with {sets:?}: {}",
                    claim.id,
                    setup.scenario,
                    read.unwrap_err()
                );
            }
        }
    }
}

/// A statement about a predicate of which nothing is predicted would be counted nowhere.
#[test]
fn what_an_author_says_is_also_predicted() {
    for claim in &claims().unwrap() {
        for case in claim.cases.iter().flatten() {
            if let DebateCase::Run(run) = case {
                for predicate in run.says.keys() {
                    assert!(
                        run.expect.contains_key(predicate),
                        "{}: {predicate} of {}",
                        claim.id,
                        run.setup.scenario
                    );
                }
            }
        }
    }
}

#[test]
fn a_threshold_lies_between_its_ends() {
    for claim in &claims().unwrap() {
        for case in claim.cases.iter().flatten() {
            if let DebateCase::Threshold(threshold) = case {
                let tried = threshold.low as f64..threshold.high as f64;
                assert!(threshold.step > 0 && tried.contains(&threshold.predicted), "{}", claim.id);
            }
        }
    }
}

#[test]
fn the_paragraphs_of_the_posts_name_claims_that_there_are() {
    let claims = claims().unwrap();
    for post in posts().unwrap() {
        for part in &post.parts {
            for id in &part.claims {
                assert!(claims.iter().any(|claim| claim.id == *id), "{}: {id}", post.title);
            }
        }
    }
}

/// The page says of each claim what it does not say: so nothing is left to be taken for more than was run.
#[test]
fn every_finding_that_is_run_names_its_scope_and_is_attacked_or_says_why_not() {
    for claim in &claims().unwrap() {
        let attacks = claim.cases.iter().flatten().filter(|case| case.is_attack()).count();
        let reason = claim.finding.as_ref().and_then(|finding| finding.no_attack.as_ref());
        assert_eq!(claim.finding.is_some(), claim.cases.is_ok(), "{}", claim.id);
        assert_eq!(attacks > 0 || reason.is_some(), claim.cases.is_ok(), "{}", claim.id);
    }
}
