//! Checks records as they are read, and refuses those that no sweep writes: the code that adds up and divides relies on
//! them. It compares a batch with its header, its place in the order, the batches before it, and its own numbers.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_statistics::{Confidence, PartlyDecided};

use super::header_check;
use crate::sweep::{BATCH, Batch, Counted, FORMAT, HandOut, Order, PredicateCount, StudyHeader, Sums, Unit};

/// The way out of what is wrong with a batch.
const CUT: &str =
    "the file was changed: cut it off before that line and sweep again, or sweep into another folder";
/// The way out of what is wrong with a header.
const ANEW: &str = "the file was changed: sweep again into another folder";
/// The way out of a gap.
const GO_ON: &str = "go on with each shard (`--shard I/N`) and merge them again, take what there is with \
                     `merge --partial`, or sweep into another folder";

/// The mistake, and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InvalidRecords {
    pub(crate) cause: String,
    pub(crate) hint: &'static str,
}

/// Reads along, batch by batch.
pub(crate) struct RecordsChecker {
    header: StudyHeader,
    /// The batches that are to come, where all of them are; parts have some of them, in the same order.
    whole: Option<Order>,
    /// The place of the last batch.
    last: Option<u64>,
    strata: BTreeMap<(u64, u64), StratumFacts>,
}

/// The facts that a batch states of its stratum: how likely it is, how likely no stratum is, and its planned runs.
type StratumFacts = (Option<f64>, Option<f64>, Option<u64>);

/// Tells whether what was counted tells a rate as precisely as a study wants it.
pub fn is_precise(width: Option<f64>) -> impl Fn(Counted) -> bool + Send + 'static {
    move |Counted { violated, undecided, runs }| {
        let interval = PartlyDecided::new(violated, undecided, runs).wilson(Confidence::P95);
        width.zip(interval).is_some_and(|(width, interval)| interval.width() <= width)
    }
}

impl RecordsChecker {
    pub(crate) fn new(header: &StudyHeader) -> Result<RecordsChecker, InvalidRecords> {
        if let Some(cause) = check_header(header) {
            return Err(InvalidRecords { cause, hint: ANEW });
        }
        // A sweep of format 1 may have had enough by another rule.
        let is_other = header.sweep < FORMAT && header.precision.is_some();
        let is_whole = header.shard == [1, 1] && header.partial.is_none() && !is_other;
        let width = header.precision.as_ref().and_then(|precision| ratio(&precision.width));
        let whole = is_whole.then(|| Order::from_records(header, is_precise(width)));
        Ok(RecordsChecker { header: header.clone(), whole, last: None, strata: BTreeMap::new() })
    }

    /// Takes in the next batch.
    pub(crate) fn next(&mut self, batch: &Batch) -> Result<(), InvalidRecords> {
        let named = |wrong: String| format!("the batch {} of cell {} {wrong}", batch.batch, batch.cell);
        let own = check_place(&self.header, batch).or_else(|| check_runs(&self.header, batch));
        if let Some(wrong) = own.or_else(|| check_counts(batch)).or_else(|| check_sums(batch)) {
            return Err(InvalidRecords { cause: named(wrong), hint: CUT });
        }
        let place = Order::place_of(&self.header, batch);
        if self.last == Some(place) {
            return Err(InvalidRecords { cause: named("is there twice".to_owned()), hint: CUT });
        }
        match self.next_expected() {
            _ if self.last.is_some_and(|last| place < last) => Err(misplaced_error(batch)),
            Some(Some(due)) if due.place < place => Err(gap(batch)),
            Some(due) if due.is_none_or(|due| due.place != place) => Err(misplaced_error(batch)),
            _ => Ok(()),
        }?;
        let said = (batch.weight, batch.beyond, batch.planned);
        if *self.strata.entry((batch.cell, batch.stratum)).or_insert(said) != said && batch.batch > 0 {
            let wrong = "says otherwise than the batches before it how likely its stratum is";
            return Err(InvalidRecords { cause: named(wrong.to_owned()), hint: CUT });
        }
        self.last = Some(place);
        if let Some(order) = &mut self.whole {
            order.add_batch(batch);
        }
        Ok(())
    }

    /// The batch that is due, if there is one; not known of parts.
    fn next_expected(&mut self) -> Option<Option<Unit>> {
        self.whole.as_mut().map(|order| match order.hand_out() {
            HandOut::Run(unit) => Some(unit),
            HandOut::Wait | HandOut::Done => None,
        })
    }

    /// Checks, after the last batch, that the weights of each cell's strata add up.
    pub(crate) fn end(&self) -> Result<(), InvalidRecords> {
        let mut cells: BTreeMap<u64, Vec<StratumFacts>> = BTreeMap::new();
        for ((cell, _), said) in &self.strata {
            cells.entry(*cell).or_default().push(*said);
        }
        let wrong = |strata: &[StratumFacts]| {
            let weights: f64 = strata.iter().map(|(weight, ..)| weight.unwrap_or(1.0)).sum();
            let whole = weights + strata.iter().find_map(|(_, beyond, _)| *beyond).unwrap_or(0.0);
            let is_all = strata.len() == self.header.strata.len() && strata.iter().all(|it| it.2.is_some());
            // Sums of floats are off by far less.
            let is_less = is_all && whole < 0.999;
            if is_probability(whole) { is_less.then_some("less") } else { Some("more") }
        };
        match cells.iter().find_map(|(cell, strata)| Some((cell, wrong(strata)?))) {
            None => Ok(()),
            Some((cell, than)) => {
                let cause = format!("the strata of cell {cell} weigh {than} than all runs do");
                Err(InvalidRecords { cause, hint: ANEW })
            }
        }
    }
}

fn misplaced_error(batch: &Batch) -> InvalidRecords {
    let (number, cell) = (batch.batch, batch.cell);
    InvalidRecords { cause: format!("the batch {number} of cell {cell} is not where it belongs"), hint: CUT }
}

fn gap(batch: &Batch) -> InvalidRecords {
    let cause = format!(
        "batches are missing before batch {} of cell {}, as where shards are merged that are not finished",
        batch.batch, batch.cell
    );
    InvalidRecords { cause, hint: GO_ON }
}

/// The mistake in a header, if there is one.
fn check_header(header: &StudyHeader) -> Option<String> {
    let empty = header.axes.iter().find(|axis| axis.values.is_empty());
    let [number, of] = header.shard;
    if header.designs.is_empty() {
        Some("the study has no designs".to_owned())
    } else if let Some(axis) = empty {
        Some(format!("the axis `{}` has no values", axis.key))
    } else if header.strata.is_empty() {
        Some("the study has no strata".to_owned())
    } else if header.batch != BATCH {
        Some(format!("its batches have {} runs, and those of every sweep have {BATCH}", header.batch))
    } else if !(1..=of).contains(&number) {
        Some(format!("it is shard {number} of {of}"))
    } else if header.last_seed().is_none() {
        Some(format!("its seeds begin with {} and go beyond the largest", header.seed))
    } else {
        header_check::contradiction(header)
    }
}

/// The mistake in a batch's cell, stratum or weights, if there is one.
fn check_place(header: &StudyHeader, batch: &Batch) -> Option<String> {
    let is_divided = header.strata.len() > 1;
    let weight = if is_divided { batch.weight } else { batch.weight.or(Some(1.0)) };
    let wrong = if batch.cell >= header.grid().cells() {
        "is of a cell that the study does not have"
    } else if batch.stratum >= header.strata.len() as u64 {
        "is of a stratum that the study does not have"
    } else if !weight.is_some_and(is_probability) || !batch.beyond.is_none_or(is_probability) {
        "does not say how likely its stratum is"
    } else if batch.beyond.is_some() && batch.stratum > 0 {
        "says how likely no stratum is, which is for the first to say"
    } else {
        return None;
    };
    Some(wrong.to_owned())
}

/// The mistake in a batch's number of runs or first seed, if there is one.
fn check_runs(header: &StudyHeader, batch: &Batch) -> Option<String> {
    let most = header.runs.saturating_add(header.by_weight);
    let planned = batch.planned.unwrap_or(if header.by_weight == 0 { header.runs } else { most });
    if batch.runs > BATCH {
        return Some("has more runs than batches have".to_owned());
    }
    if planned > most {
        return Some(format!("is of {planned} runs, and no stratum of the study has more than {most}"));
    }
    let Some(first) = batch.batch.checked_mul(BATCH).filter(|first| *first < planned.max(1)) else {
        return Some(format!("is beyond the {planned} runs that there are"));
    };
    // A stratum that cannot come has one batch without a run.
    let due = BATCH.min(planned - first);
    let is_known = header.strata.len() == 1 || batch.planned.is_some();
    if is_known && batch.runs != due && batch.weight != Some(0.0) {
        return Some(format!("has {} runs, and {due} are due", batch.runs));
    }
    match header.first_seed(batch.stratum, batch.batch) {
        seed if seed == Some(batch.seed) => None,
        Some(seed) => Some(format!("begins with seed {}, and {seed} is due", batch.seed)),
        None => Some("is beyond the largest seed".to_owned()),
    }
}

/// The mistake in a batch's counts of a predicate, if there is one.
fn check_counts(batch: &Batch) -> Option<String> {
    if batch.panicked > batch.runs {
        return Some("counts more runs than it has".to_owned());
    }
    let none = PredicateCount::default();
    let of = |predicate: Predicate| batch.predicates.get(&predicate).unwrap_or(&none);
    let wrong = Predicate::ALL.into_iter().find_map(|it| Some((it, check_count(of(it), batch.runs)?)));
    if let Some((predicate, wrong)) = wrong {
        return Some(format!("{wrong} ({predicate})"));
    }
    let is_odd = |(predicate, overlaps): (&Predicate, &crate::sweep::Durations)| {
        let has_overlaps = matches!(predicate, Predicate::P1 | Predicate::P2);
        !has_overlaps || overlaps.count > of(*predicate).incidents.sum
    };
    let odd = batch.overlaps.iter().find(|(predicate, overlaps)| is_odd((predicate, overlaps)));
    odd.map(|(predicate, _)| format!("has overlaps that no violation has ({predicate})"))
}

fn check_count(count: &PredicateCount, runs: u64) -> Option<&'static str> {
    let is_hex = |digits: &str| digits.chars().all(|it| it.is_ascii_hexdigit());
    let (violating, doubtful): (Vec<u64>, Vec<u64>) =
        (count.violating().collect(), count.doubtful().collect());
    if count.violated.saturating_add(count.undecided) > runs {
        Some("counts more runs than it has")
    } else if !is_hex(&count.violations) || !is_hex(&count.doubts) {
        Some("marks runs by what is no digit")
    } else if violating.iter().chain(&doubtful).any(|run| *run >= runs) {
        Some("marks runs that it does not have")
    } else if violating.len() as u64 != count.violated || doubtful.len() as u64 != count.undecided {
        Some("marks other runs than it counts")
    } else if violating.iter().any(|run| doubtful.binary_search(run).is_ok()) {
        Some("marks a run as violated and as undecided")
    } else if count.incidents.sum < count.violated || !can_be(count.incidents, count.violated) {
        Some("counts violations that so many runs cannot have")
    } else {
        None
    }
}

/// The mistake in a batch's sums, if there is one.
fn check_sums(batch: &Batch) -> Option<String> {
    let overlaps = batch.overlaps.values().map(|it| ("overlaps", it));
    let sum = batch.sums().into_iter().find(|(_, sums)| !can_be(*sums, batch.runs)).map(|(what, _)| what);
    let length =
        || batch.durations().into_iter().chain(overlaps).find(|(_, it)| !it.can_be()).map(|(what, _)| what);
    if let Some(what) = sum.or_else(length) {
        return Some(format!("has `{what}` that do not add up"));
    }
    (batch.obtained.count > batch.grants.sum)
        .then(|| "has more waits that ended with the lock than grants".to_owned())
}

/// True if so many whole numbers can have this sum, and their squares the other. They can as long as the squares are
/// between those of numbers that are all alike and of one number that is all there is.
fn can_be(Sums { sum, squares }: Sums, numbers: u64) -> bool {
    let (sum, squares) = (u128::from(sum), u128::from(squares));
    // Squares that are too large to be added up stay at the largest number.
    let is_full = squares == u128::from(u64::MAX);
    let most = sum.saturating_mul(sum);
    squares >= sum && squares <= most && (is_full || most <= squares.saturating_mul(numbers.into()))
}

/// But for what sums of floats are off.
fn is_probability(weight: f64) -> bool {
    (0.0..=1.0 + 1e-9).contains(&weight)
}

/// `1/50` as a number.
fn ratio(text: &str) -> Option<f64> {
    let (of, parts) = text.split_once('/')?;
    Some(of.parse::<f64>().ok()? / parts.parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_so_many_numbers() {
        let sums = |numbers: &[u64]| {
            let mut sums = Sums::default();
            numbers.iter().for_each(|number| sums.add(*number));
            sums
        };
        for numbers in [&[0, 0, 0][..], &[1, 0, 1], &[3, 3, 3], &[9, 0, 0], &[u64::MAX / 2, 1, 0]] {
            assert!(can_be(sums(numbers), 3), "{numbers:?}");
        }
        let Sums { sum, squares } = sums(&[3, 4, 5]);
        for (sum, squares) in [(sum * 10, squares), (sum, squares * 10), (sum, sum - 1), (0, 1), (1, 0)] {
            assert!(!can_be(Sums { sum, squares }, 3), "{sum} and {squares}");
        }
        // So many alike have the least squares that there can be.
        assert!(can_be(Sums { sum: 30, squares: 300 }, 3) && !can_be(Sums { sum: 30, squares: 299 }, 3));
    }

    #[test]
    fn what_is_undecided_makes_no_rate_precise() {
        let is_precise = is_precise(Some(0.02));
        let counted = |violated, undecided| Counted { violated, undecided, runs: 4_000 };
        assert!(is_precise(counted(40, 0)), "1 %, and between 0.7 and 1.4 %");
        assert!(!is_precise(counted(40, 400)), "between 0.7 and 12 %");
        assert!(!is_precise(counted(0, 400)) && !is_precise(counted(0, 4_000)));
        assert!(!super::is_precise(None)(counted(40, 0)), "of a width that nobody can read");
    }

    fn header(changes: &[(&str, serde_json::Value)]) -> StudyHeader {
        let designs = ["one", "two"].map(|name| {
            serde_json::json!({ "name": name, "about": "", "weather": [], "strikes_for": "", "world": "" })
        });
        let mut header = serde_json::json!({
            "sweep": FORMAT, "program": "0.0.0", "study": "made-up", "question": "?", "assumptions": [],
            "designs": designs, "axes": [], "strata": [{}], "runs": 4_000, "batch": BATCH, "seed": 1,
            "shard": [1, 1], "fingerprint": [], "text": "",
        });
        changes.iter().for_each(|(key, value)| header[key] = value.clone());
        serde_json::from_value(header).expect("a header")
    }

    /// Checks batches of these cells and numbers, one after another, and returns the cause of the first refusal.
    fn said(header: &StudyHeader, batches: &[(u64, u64)]) -> Option<String> {
        let mut checker = RecordsChecker::new(header).expect("a header of a sweep");
        let batch = |&(cell, batch): &(u64, u64)| Batch {
            cell,
            batch,
            seed: 1 + batch * BATCH,
            runs: BATCH,
            ..Batch::default()
        };
        batches.iter().map(batch).find_map(|batch| checker.next(&batch).err()).map(|it| it.cause)
    }

    #[test]
    fn batches_of_parts_come_in_the_order_of_the_study() {
        let part = header(&[("shard", serde_json::json!([1, 2]))]);
        assert_eq!(said(&part, &[(0, 0), (0, 3), (1, 1), (0, 4), (1, 4)]), None);
        for (batches, cause) in [
            (&[(0, 0), (1, 0), (0, 2)][..], "the batch 2 of cell 0 is not where it belongs"),
            (&[(0, 4), (1, 3)], "the batch 3 of cell 1 is not where it belongs"),
            (&[(0, 0), (1, 0), (0, 0)], "the batch 0 of cell 0 is not where it belongs"),
            (&[(0, 0), (1, 0), (1, 0)], "the batch 0 of cell 1 is there twice"),
        ] {
            assert_eq!(said(&part, batches).as_deref(), Some(cause), "{batches:?}");
        }
    }

    #[test]
    fn all_batches_of_a_stratum_say_how_likely_it_is() {
        let changes =
            [("strata", serde_json::json!([{}, { "pause": 1 }])), ("shard", serde_json::json!([1, 2]))];
        let said = |second: Option<f64>| {
            let mut checker = RecordsChecker::new(&header(&changes)).expect("a header of a sweep");
            let batch = |number: u64, weight| Batch {
                batch: number,
                seed: 1 + number * BATCH,
                runs: BATCH,
                weight,
                ..Batch::default()
            };
            checker.next(&batch(0, Some(0.5))).expect("the first");
            checker.next(&batch(1, second)).err().map(|it| it.cause)
        };
        assert_eq!(said(Some(0.5)), None);
        let cause =
            "the batch 1 of cell 0 says otherwise than the batches before it how likely its stratum is";
        assert_eq!(said(Some(0.4)).as_deref(), Some(cause));
    }

    /// A batch of a stratum that does not say how many runs are planned: nothing else limits it.
    #[test]
    fn no_batch_has_more_runs_than_batches_have() {
        let divided = header(&[("strata", serde_json::json!([{}, { "pause": 1 }]))]);
        let said = |runs| check_runs(&divided, &Batch { runs, seed: 1, ..Batch::default() });
        assert_eq!(said(BATCH), None);
        assert_eq!(said(BATCH + 1).as_deref(), Some("has more runs than batches have"));
    }

    /// Of six runs: the last place that there is, and the first that there is not.
    #[test]
    fn a_count_that_cannot_be_is_named() {
        let said = |violated: u64, undecided, violations: &str, doubts: &str| {
            let incidents = Sums { sum: violated, squares: violated };
            let (violations, doubts) = (violations.to_owned(), doubts.to_owned());
            check_count(
                &PredicateCount { violated, undecided, incidents, violations, doubts, seeds: vec![] },
                6,
            )
        };
        assert_eq!((said(2, 1, "9", "04"), said(1, 1, "04", "08")), (None, None));
        assert_eq!(said(5, 2, "f8", "0"), Some("counts more runs than it has"));
        for wrong in [said(1, 0, "z", ""), said(0, 1, "", "z")] {
            assert_eq!(wrong, Some("marks runs by what is no digit"));
        }
        for wrong in [said(1, 0, "02", ""), said(0, 1, "", "02")] {
            assert_eq!(wrong, Some("marks runs that it does not have"));
        }
        for wrong in [said(2, 0, "8", ""), said(0, 2, "", "8"), said(0, 0, "8", "")] {
            assert_eq!(wrong, Some("marks other runs than it counts"));
        }
        assert_eq!(said(1, 1, "8", "8"), Some("marks a run as violated and as undecided"));
    }

    #[test]
    fn a_batch_is_within_the_runs_that_its_stratum_has() {
        let said = |by_weight: u64, number: u64, runs: u64| {
            let header = StudyHeader { by_weight, ..header(&[]) };
            check_runs(&header, &Batch { batch: number, seed: 1 + number * BATCH, runs, ..Batch::default() })
        };
        assert_eq!((said(0, 7, BATCH), said(1, 8, 1)), (None, None));
        assert_eq!(said(0, 8, BATCH).as_deref(), Some("is beyond the 4000 runs that there are"));
        assert_eq!(said(0, 7, 1).as_deref(), Some("has 1 runs, and 500 are due"));
    }

    #[test]
    fn overlaps_are_of_double_holds_and_no_more_than_there_are() {
        let count = |predicate, overlaps: u64| {
            let incidents = Sums { sum: 1, squares: 1 };
            let violations = "8".to_owned();
            let one = PredicateCount { violated: 1, incidents, violations, ..PredicateCount::default() };
            let mut durations = crate::sweep::Durations::default();
            (0..overlaps).for_each(|_| durations.add(1_000_000));
            let overlaps = [(predicate, durations)].into();
            check_counts(&Batch {
                runs: 4,
                predicates: [(predicate, one)].into(),
                overlaps,
                ..Batch::default()
            })
        };
        assert_eq!((count(Predicate::P1, 1), count(Predicate::P2, 1)), (None, None));
        for (predicate, overlaps) in [(Predicate::P1, 2), (Predicate::WR, 1)] {
            let cause = format!("has overlaps that no violation has ({predicate})");
            assert_eq!(count(predicate, overlaps), Some(cause));
        }
    }

    #[test]
    fn a_cell_that_had_enough_has_no_more_batches() {
        let first_round = [0, 1].map(|cell| [0, 1, 2, 3].map(|batch| (cell, batch))).concat();
        let also = |more: (u64, u64)| [&first_round[..], &[more]].concat();
        let precise =
            |width: &str| header(&[("precision", serde_json::json!({ "predicate": "P2", "width": width }))]);
        let (soon, never) = (precise("1/2"), precise("1/1000000"));
        assert_eq!(said(&soon, &first_round), None);
        let cause = "the batch 4 of cell 0 is not where it belongs";
        assert_eq!(said(&soon, &also((0, 4))).as_deref(), Some(cause));
        assert_eq!(said(&never, &also((0, 4))), None);
    }
}
