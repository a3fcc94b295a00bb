//! The answer of `why` in words: the moments at which the share of futures jumps, and the result of each change with
//! how sure that is.
//!
//! Counts come from the library of scenarios; this file decides what they are worth. A moment is marked if the share
//! differs from the one before by more than chance would have it (Fisher's exact test). Of a hundred tables of a run in
//! which nothing was decided, one at most has a mark (Bonferroni: each comparison has its part of that hundredth). The
//! futures of neighbouring moments share their seeds, which makes chance differences smaller and the test more careful.

use doublehold_diagnosis::why::{
    Caveat, ChangeOutcome, FUTURES, Point, TRIALS, TrialCounts, TriedChange, Why,
};
use doublehold_render::layout::{align_left, align_right, columns, wrap};
use doublehold_scenarios::{Scenario, Seed};
use doublehold_statistics::{
    Confidence, Paired, PartlyDecided, Proportion, Scale, bound_words, chance_of_difference, range_words,
    rate_words,
};
use doublehold_text::{clean, duration, every};

/// The share of tables that may mark a moment at which nothing was decided.
const FALSE_MARKS: f64 = 0.01;
/// A change that leaves more than this part of the violations has moved them rather than removed them.
const RARER: u64 = 4;

/// The whole answer, in lines of this width.
pub(super) fn text(why: &Why, scenario: &Scenario, seed: Seed, width: usize) -> String {
    let name = clean(&scenario.name);
    let title = format!("why {} in the run of {name} from seed {seed}", why.target);
    format!("{}\n{}{}", wrap(&title, "", "  ", width), moments(&why.points, width), changes(why, width))
}

/// The table of moments, each with the number of futures that came out the same from it on.
fn moments(points: &[Point], width: usize) -> String {
    let title = format!(
        "When it was decided: of {FUTURES} futures with the same past up to a moment, fresh randomness after it and \
         none of the faults that had not struck, so many come out the same."
    );
    let mut text = wrap(&title, "", "", width);
    text += "\n        time   the same\n";
    let jumps = jumps(points);
    for (place, point) in points.iter().enumerate() {
        let mark = if jumps.contains(&place) { "<==" } else { "" };
        let at = align_right(&duration(point.at.0), 12);
        let head = format!("{at}  {:>4} of {FUTURES}  {}  ", point.same, align_left(mark, 3));
        text += &row(&head, &point.happened.join("; "), width);
    }
    let (head, what) = match jumps.is_empty() {
        true => ("", "no moment decided it: it is as likely from the beginning as at the end"),
        false => ("  <==  ", "more or fewer than before, beyond chance: something was decided here"),
    };
    format!("{text}\n{}", wrap(what, head, &" ".repeat(head.len()), width))
}

/// The fewest columns that words get beside numbers; with fewer left they stand below, since a sentence would take a
/// dozen lines there.
const BESIDE_MIN: usize = 24;
/// The indent of words that stand below: past the words of the first column, so that those can still be run through.
const BELOW: usize = 12;

/// Numbers, and words beside them or below.
fn row(head: &str, words: &str, width: usize) -> String {
    let indent = columns(head);
    if indent + BESIDE_MIN <= width {
        return wrap(words, head, &" ".repeat(indent), width);
    }
    let below = " ".repeat(BELOW);
    format!("{}\n{}", head.trim_end(), wrap(words, &below, &below, width))
}

/// The points before which something was decided: between them and the point before, the share rises or falls by more
/// than chance would have it.
fn jumps(points: &[Point]) -> Vec<usize> {
    let allowed = FALSE_MARKS / points.len().saturating_sub(1).max(1) as f64;
    let share = |point: usize| Proportion::new(points[point].same, FUTURES);
    let is_jump = |point: &usize| chance_of_difference(share(point - 1), share(*point)) < allowed;
    (1..points.len()).filter(is_jump).collect()
}

/// The table of changes with a verdict on each, and the meanings of these verdicts.
fn changes(why: &Why, width: usize) -> String {
    let base = why.as_it_is;
    let title = format!(
        "What would have changed it. Where this run does it no more, {TRIALS} others were made, with faults moved by a \
         little and from other seeds; as it is, {} of them do it.",
        share(base)
    );
    let mut text = format!("\n{}\n", wrap(&title, "", "", width));
    text += "  this run  others\n";
    let verdicts: Vec<Verdict> = why.changes.iter().map(|changed| Verdict::new(changed, base)).collect();
    for (changed, verdict) in why.changes.iter().zip(&verdicts) {
        let counts = match changed.came {
            ChangeOutcome::Gone(tried) => share(tried),
            ChangeOutcome::Still | ChangeOutcome::NoLock => String::new(),
        };
        let head = format!("  {}  {}  ", align_left(verdict.word(), 8), align_left(&counts, COUNTS));
        let doubted = changed.caveat.filter(|_| *verdict == Verdict::Moot);
        let caveat = doubted.map_or(String::new(), |it| format!(" ({})", caveat(it)));
        let what = format!("{}{caveat}", changed.what);
        text += &row(&head, &what, width);
    }
    text.push('\n');
    for verdict in Verdict::ALL.into_iter().filter(|verdict| verdicts.contains(verdict)) {
        let head = format!("  {}: ", verdict.word());
        text += &wrap(verdict.meaning(), &head, "    ", width);
    }
    if !verdicts.contains(&Verdict::Gone) {
        let none = "no single change removes it: two things would each have been enough, or nothing tried prevents it";
        text += &format!("\n{}", wrap(none, "", "  ", width));
    }
    text
}

/// The width of the column of counts: `0 of 200, 20 undecided, at most 15 %`.
const COUNTS: usize = 37;

/// `0 of 200, at most 1.5 %`.
fn share(tried: TrialCounts) -> String {
    let counted = PartlyDecided::new(tried.violated, tried.undecided, TRIALS);
    let some = format!("{} of {TRIALS}", tried.violated);
    if tried.violated == 0 {
        let bound = counted
            .upper_bound(Confidence::P95)
            .map_or(String::new(), |at_most| format!(", {}", bound_words(at_most, Scale::Share)));
        let undecided = match tried.undecided {
            0 => String::new(),
            undecided => format!(", {undecided} undecided"),
        };
        return format!("{some}{undecided}{bound}");
    }
    let (Some(range), Some(interval)) = (counted.range(), counted.exact(Confidence::P95)) else {
        return some;
    };
    match tried.undecided {
        0 => format!("{some}: {}", rate_words(range.low, interval, Scale::Share)),
        _ => format!("{some}: {}", range_words(range, interval, Scale::Share)),
    }
}

/// The verdict on a change, by comparison with the scenario as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Gone,
    Rarer,
    Moves,
    Luck,
    Moot,
    NoLock,
    Still,
}

impl Verdict {
    const ALL: [Verdict; 7] = every!(Verdict: Gone, Rarer, Moves, Luck, Moot, NoLock, Still);

    fn new(changed: &TriedChange, base: TrialCounts) -> Verdict {
        let tried = match changed.came {
            ChangeOutcome::Still => return Verdict::Still,
            ChangeOutcome::NoLock => return Verdict::NoLock,
            ChangeOutcome::Gone(tried) => tried,
        };
        // An undecided trial counts as a violation, which speaks against the change.
        let most = tried.violated + tried.undecided;
        let is_rarer = is_fewer(tried, base) && most.saturating_mul(RARER) <= base.violated;
        if changed.caveat.is_some() {
            return Verdict::Moot;
        }
        match (tried.without_grant * 2 > TRIALS, tried.violated, is_rarer) {
            (true, ..) => Verdict::NoLock,
            (false, 0, true) => Verdict::Gone,
            (false, 0, false) => Verdict::Luck,
            (false, _, true) => Verdict::Rarer,
            (false, _, false) => Verdict::Moves,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Verdict::Gone => "GONE",
            Verdict::Rarer => "rarer",
            Verdict::Moves => "moves",
            Verdict::Luck => "luck",
            Verdict::Moot => "moot",
            Verdict::NoLock => "no lock",
            Verdict::Still => "still",
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Verdict::Gone => {
                "this run does it no more, and no other did; the bound is what is not excluded, at 95 %"
            }
            Verdict::Rarer => {
                "this run does it no more, and others do it less than a quarter as often as without the change, which \
                 narrows or moves the moment at which a fault has to strike"
            }
            Verdict::Moves => {
                "this run does it no more, and others do: the change only moves the moment at which a fault has to strike"
            }
            Verdict::Luck => {
                "this run does it no more, and too few others do it as it is, or decide it with the change, to tell more"
            }
            Verdict::Moot => {
                "this run does it no more, and that is no remedy, for the reason beside it: the change says nothing \
                 about the cause, and moved the moment, or the predicate asks something else then"
            }
            Verdict::NoLock => "nobody is granted the lock any more, which prevents everything",
            Verdict::Still => "this run does it all the same",
        }
    }
}

/// True if the change has fewer violating trials than the scenario as it is, beyond chance. Each trial is a pair: the
/// same seed, and the same moves.
fn is_fewer(tried: TrialCounts, base: TrialCounts) -> bool {
    let (only_first, only_second) = (base.violated - tried.both, tried.violated - tried.both);
    let neither = TRIALS - tried.both - only_first - only_second;
    let pairs = Paired { both: tried.both, only_first, only_second, neither };
    pairs.interval(Confidence::P99).is_some_and(|interval| interval.low > 0.0)
}

fn caveat(caveat: Caveat) -> &'static str {
    match caveat {
        Caveat::NoDeadline => "no deadline then: P2 asks what P1 asks",
        Caveat::NewDeadline => "a deadline then, and none as it is: P2 asks what P1 asked before",
        Caveat::UncheckedNumbers => {
            "numbers that the resource does not look at: requests take longer, and that is all"
        }
        Caveat::GuardsData => "which writes are taken, and not who holds the lock",
        Caveat::OtherWaits => "when the lock asks again, and nothing else",
    }
}

#[cfg(test)]
mod tests {
    use doublehold_history::{Predicate, TrueNs};
    use doublehold_search::shrink::Target;

    use super::*;

    fn points(shares: &[u64]) -> Vec<Point> {
        let point = |&same: &u64| Point { at: TrueNs(same), happened: vec!["it".to_owned()], same };
        shares.iter().map(point).collect()
    }

    #[test]
    fn a_jump_is_a_rise_or_a_fall_beyond_chance() {
        assert_eq!(jumps(&points(&[50, 52, 100, 100])), [2]);
        assert_eq!(jumps(&points(&[92, 20, 20, 100])), [1, 3]);
        assert_eq!(jumps(&points(&[50])), [0_usize; 0]);
        // Alone it is beyond chance (0.0034), and among so many others it is not.
        assert_eq!(jumps(&points(&[0, 8])), [1]);
        let many = [vec![0; 20], vec![8; 20]].concat();
        assert_eq!(jumps(&points(&many)), [0_usize; 0]);
    }

    fn tried(violated: u64, both: u64) -> TrialCounts {
        TrialCounts { violated, both, ..TrialCounts::default() }
    }

    fn verdict(came: ChangeOutcome, caveat: Option<Caveat>) -> Verdict {
        let changed = TriedChange { what: "with a change".to_owned(), caveat, came };
        Verdict::new(&changed, tried(120, 120))
    }

    #[test]
    fn what_is_gone_in_this_run_alone_is_not_called_gone() {
        assert_eq!(verdict(ChangeOutcome::Gone(tried(0, 0)), None), Verdict::Gone);
        assert_eq!(verdict(ChangeOutcome::Gone(tried(110, 60)), None), Verdict::Moves);
        assert_eq!(verdict(ChangeOutcome::Gone(tried(12, 10)), None), Verdict::Rarer);
        assert_eq!(verdict(ChangeOutcome::Still, None), Verdict::Still);
        assert_eq!(verdict(ChangeOutcome::NoLock, None), Verdict::NoLock);
        let nobody = TrialCounts { without_grant: 150, ..TrialCounts::default() };
        assert_eq!(verdict(ChangeOutcome::Gone(nobody), None), Verdict::NoLock);
        let undecided = TrialCounts { undecided: 100, ..TrialCounts::default() };
        assert_eq!(verdict(ChangeOutcome::Gone(undecided), None), Verdict::Luck);
        let caveats = [Caveat::NoDeadline, Caveat::NewDeadline, Caveat::UncheckedNumbers];
        for caveat in caveats.into_iter().chain([Caveat::GuardsData, Caveat::OtherWaits]) {
            assert_eq!(verdict(ChangeOutcome::Gone(tried(0, 0)), Some(caveat)), Verdict::Moot);
        }
        let changed =
            TriedChange { what: String::new(), caveat: None, came: ChangeOutcome::Gone(tried(0, 0)) };
        assert_eq!(Verdict::new(&changed, tried(4, 4)), Verdict::Luck, "four are soon none by chance");
    }

    #[test]
    fn every_count_has_its_bound_or_its_interval() {
        assert_eq!(share(tried(0, 0)), "0 of 200, at most 1.5 %");
        assert_eq!(
            share(TrialCounts { undecided: 10, ..TrialCounts::default() }),
            "0 of 200, 10 undecided, at most 8.4 %"
        );
        assert_eq!(share(tried(120, 0)), "120 of 200: 60 % (53 to 67 %)");
        assert_eq!(
            share(TrialCounts { undecided: 20, ..tried(80, 0) }),
            "80 of 200: 40 to 50 % (33 to 57 %)"
        );
    }

    fn changed_in_four_ways() -> Why {
        let changed = |what: &str, caveat, came| TriedChange { what: what.to_owned(), caveat, came };
        Why {
            target: Target::Violates(Predicate::P2),
            points: points(&[0, 100]),
            as_it_is: tried(120, 120),
            changes: vec![
                changed("without: r2 is promoted", None, ChangeOutcome::Gone(tried(0, 0))),
                changed("with lock.clock = boot", None, ChangeOutcome::Gone(tried(110, 60))),
                changed(
                    "with lock.fencing = true",
                    Some(Caveat::UncheckedNumbers),
                    ChangeOutcome::Gone(tried(0, 0)),
                ),
                changed("with lock.clock = wall", None, ChangeOutcome::Still),
            ],
        }
    }

    #[test]
    fn the_table_tells_counts_caveats_and_what_its_words_mean() {
        let text = changes(&changed_in_four_ways(), 100);
        for line in [
            "as it is, 120 of 200: 60 % (53 to 67 %) of them do it.",
            "  GONE      0 of 200, at most 1.5 %                without: r2 is promoted\n",
            "  moves     110 of 200: 55 % (48 to 62 %)          with lock.clock = boot\n",
            "  moot      0 of 200, at most 1.5 %                with lock.fencing = true (numbers that",
            "  still                                            with lock.clock = wall\n",
            "  moves: this run does it no more, and others do: the change only moves the moment",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(!text.contains("luck:") && !text.contains("no single change"), "{text}");
    }

    #[test]
    fn no_line_is_wider_than_asked_and_the_room_is_used() {
        let mut why = changed_in_four_ways();
        let step = "C has its wall clock stepped by +10 s, at c1's grant".to_owned();
        why.points[1].happened = vec![step, "c1's key expires on C".to_owned()];
        for width in [60, 80, 120] {
            let without_remedy = Why { changes: why.changes.split_off(3), ..why.clone() };
            let text =
                [moments(&why.points, width), changes(&why, width), changes(&without_remedy, width)].concat();
            why.changes.extend(without_remedy.changes);
            let widest = text.lines().map(columns).max().expect("lines");
            assert!((width - 20..=width).contains(&widest), "{widest} columns of {width}:\n{text}");
        }
    }
}
