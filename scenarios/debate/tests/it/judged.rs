//! Rows: counted from runs, and held against what was predicted and said.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use doublehold_debate::{
    DebateCase, DebateClaim, Ends, Measured, NotSeen, Prediction, Says, VerdictCount, cases, claims, rows,
    tallies,
};
use doublehold_history::Predicate;

fn claim<'a>(claims: &'a [DebateClaim], id: &str) -> &'a DebateClaim {
    claims.iter().find(|claim| claim.id == id).expect("a claim of this number")
}

#[test]
fn undecided_runs_confirm_nothing() {
    let decided = VerdictCount { holds: 20, ..VerdictCount::default() };
    let open = VerdictCount { holds: 19, undecided: 1, ..VerdictCount::default() };
    assert!(decided.is(Prediction::Holds) && !open.is(Prediction::Holds));
    assert_eq!((decided.confirms(Says::Holds), open.confirms(Says::Holds)), (Some(true), None));
    let some = VerdictCount { holds: 18, violated: 1, not_seen: 0, undecided: 1 };
    assert!(some.is(Prediction::Sometimes) && !some.is(Prediction::Violated));
    assert_eq!((some.confirms(Says::Holds), some.confirms(Says::Violated)), (Some(false), Some(true)));
}

/// Kleppmann: a pause while replies are on their way makes two holders. It does not, with the elapsed check.
#[test]
fn a_refuted_statement_is_its_authors() {
    let claims = claims().unwrap();
    let rows = rows(&[claim(&claims, "L2")], NonZeroUsize::MIN, || {}).unwrap();
    let tallies = tallies(&rows);
    let kleppmann = tallies.iter().find(|tally| tally.who == "Kleppmann").unwrap();
    let (_, refuted) = kleppmann.of[&Predicate::P2];
    assert!(refuted > 0, "{kleppmann:?}");
    let first = &rows[0].outcomes[0].measured;
    assert!(
        matches!(first, Measured::Verdicts(_, counts) if counts.iter().all(|(.., count)| count.violated == 0))
    );
}

#[test]
fn rows_are_the_same_on_any_number_of_threads_and_each_case_is_told_of() {
    let claims = claims().unwrap();
    let chosen = [claim(&claims, "S5"), claim(&claims, "L2"), claim(&claims, "S8")];
    let told = AtomicUsize::new(0);
    let on = |jobs| {
        let jobs = NonZeroUsize::new(jobs).unwrap();
        let rows = rows(&chosen, jobs, || {
            told.fetch_add(1, Ordering::Relaxed);
        });
        format!("{:?}", rows.unwrap())
    };
    assert_eq!(on(1), on(3));
    assert_eq!(told.into_inner(), 2 * cases(&chosen));
}

/// A claim with its attacks and nothing else, so that no other case is run.
fn only_attacks(claim: &DebateClaim) -> DebateClaim {
    let mut claim = claim.clone();
    if let Ok(cases) = &mut claim.cases {
        cases.retain(DebateCase::is_attack);
    }
    claim
}

/// Outside of the scope of a finding, the opposite comes out: that is why the finding says no more.
#[test]
fn every_attack_refutes_what_the_finding_would_be_without_its_scope() {
    let claims: Vec<DebateClaim> = claims().unwrap().iter().map(only_attacks).collect();
    let chosen: Vec<&DebateClaim> = claims.iter().collect();
    let jobs = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    assert!(cases(&chosen) > 100);
    rows(&chosen, jobs, || {}).unwrap();
}

fn refusal(planted: &DebateClaim) -> String {
    rows(&[planted], NonZeroUsize::MIN, || {}).unwrap_err().to_string()
}

#[test]
fn an_attack_that_missed_its_own_prediction_is_told() {
    let claims = claims().unwrap();
    let mut planted = only_attacks(claim(&claims, "L2"));
    if let Ok([DebateCase::Run(attack), ..]) = planted.cases.as_deref_mut() {
        attack.expect = [(Predicate::P2, Prediction::Holds)].into();
    }
    let told = "L2: its attack `suspend-in-flight` did not come out as predicted: correct its `expect`";
    assert_eq!(refusal(&planted), told);
}

/// The same run inside the scope: the finding holds for the attack, too.
#[test]
fn an_attack_that_refutes_nothing_is_told() {
    let claims = claims().unwrap();
    let mut planted = only_attacks(claim(&claims, "L2"));
    if let Ok(cases) = &mut planted.cases {
        let mut inside = cases[0].clone();
        if let DebateCase::Run(run) = &mut inside {
            run.is_attack = false;
        }
        cases.push(inside);
    }
    assert_eq!(
        refusal(&planted),
        "L2: its attack `suspend-in-flight` refutes nothing: the finding holds there too, so widen its `scope`"
    );
}

/// Of R6, nothing is seen above: c1 is refused there. Below it is not.
#[test]
fn an_end_that_is_not_as_the_threshold_states_is_refused_with_its_own_way_out() {
    let claims = claims().unwrap();
    let with = |stated: Option<Ends>| {
        let mut planted = claim(&claims, "R6").clone();
        let cases = planted.cases.as_mut().unwrap();
        cases.retain(|case| matches!(case, DebateCase::Threshold(threshold) if threshold.not_seen.is_some()));
        let DebateCase::Threshold(threshold) = &mut cases[0] else { unreachable!("only those are left") };
        threshold.not_seen = stated.map(|side| NotSeen { side, why: "c1 is refused".to_owned() });
        refusal(&planted)
    };
    let seen = "R6: `min-replicas/too-soon` at 14000ms shows something of the predicate, and `not_seen` says nothing \
                is seen there: leave out `not_seen`";
    assert_eq!(with(Some(Ends::Below)), seen);
    let hollow = "R6: `min-replicas/too-soon` at 19000ms shows nothing of the predicate: choose an end at which two \
                  clients want the lock at once, or state the side under `not_seen`";
    assert_eq!(with(None), hollow);
}

/// T6 is confirmed where the pause comes before the look, and refuted where it comes after.
#[test]
fn a_sentence_that_is_silent_about_one_side_is_refused() {
    let claims = claims().unwrap();
    let mut planted = claim(&claims, "T6").clone();
    if let (Some(finding), Ok(cases)) = (&mut planted.finding, &mut planted.cases) {
        cases.truncate(3);
        finding.when = Some("right where the pause begins before the look".to_owned());
    }
    let error = rows(&[&planted], NonZeroUsize::MIN, || {}).unwrap_err().to_string();
    assert_eq!(error, "T6: of P3 it came out wrong somewhere, and its `when` does not say where");
}
