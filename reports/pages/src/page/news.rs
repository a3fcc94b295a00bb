//! The yield of work under a lock, and the moments at which holders hear that they have lost it.
//!
//! A lock can be safe and useless: it keeps others out for long, or the resource refuses what its holders worked at.
//! And what a holder hears too late, only the resource can do something about. Neither is a violation, so no rate shows
//! it.
//!
//! Shares count each stratum by its weight. They have no intervals: the numbers of losses stand beside them.

use doublehold_history::Predicate;
use doublehold_statistics::Exposure;
use doublehold_sweeps::results::Cell;
use doublehold_sweeps::sweep::Batch;
use doublehold_text::{digits, end, group_digits, rough_beside, several, share};
use serde::Serialize;

use super::distribution::Distribution;
use super::document::{Block, Entry, Line, Table};
use super::model::PageModel;
use super::outcome;
use super::rates::{Figures, SURE};
use super::rounding;

/// A sentence tells the share of so many lost locks: it is at most a tenth off then.
const FEWEST_LOST: u64 = 100;

/// The title of the table.
const TITLE: &str = "What each design costs, and who hears of a loss";

/// The yield of work.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Work {
    /// The writes in a run that the resource applied.
    #[serde(rename = "applied_per_run", serialize_with = "rounding::mean")]
    pub(crate) applied: Exposure,
    /// Those that it refused.
    #[serde(rename = "refused_per_run", serialize_with = "rounding::mean")]
    pub(crate) refused: Exposure,
    /// The grants in a run that holders gave up, since they found the lock lost.
    #[serde(rename = "given_up_per_run", serialize_with = "rounding::mean")]
    pub(crate) given_up: Exposure,
}

/// The moments at which holders heard that they had lost the lock to another client.
#[derive(Clone, Debug, Default)]
pub(crate) struct News {
    /// The number of locks that were lost.
    pub(crate) lost: u64,
    /// The time from the news to the next grant.
    pub(crate) before: Distribution,
    /// The time from the next grant to the news.
    pub(crate) after: Distribution,
    /// The weight of those that never heard of it.
    never: f64,
}

impl Work {
    pub(crate) fn from_cell(cell: &Cell) -> Work {
        Work { applied: cell.applied(), refused: cell.refused(), given_up: cell.given_up() }
    }
}

/// The mean of a run; `None` if too little of it is known.
pub(crate) fn mean(of: &Exposure) -> Option<f64> {
    of.mean(SURE).map(|(mean, _)| mean)
}

impl News {
    /// Adds the runs of a stratum, each of which counts for so much.
    pub(crate) fn add(&mut self, row: &Batch, each: f64) {
        self.lost += row.told_before.count + row.told_after.count + row.never_told;
        self.before.add(&row.told_before, each);
        self.after.add(&row.told_after, each);
        self.never += row.never_told as f64 * each;
    }

    /// The share of holders that heard of it before the next one was granted the lock; `None` if no lock was lost.
    pub(crate) fn share_before(&self) -> Option<f64> {
        self.share(self.before.mass())
    }

    /// The share that heard of it after that.
    pub(crate) fn share_after(&self) -> Option<f64> {
        self.share(self.after.mass())
    }

    /// The share that never heard of it.
    pub(crate) fn share_never(&self) -> Option<f64> {
        self.share(self.never)
    }

    fn share(&self, part: f64) -> Option<f64> {
        let all = self.before.mass() + self.after.mass() + self.never;
        (all > 0.0).then(|| part / all)
    }
}

/// The sentence about holders that hear of a loss in time, over all designs that lose locks.
fn sentence(model: &PageModel<'_>, cells: &[&Figures]) -> Option<String> {
    let known = cells.iter().filter(|cell| cell.news.lost >= FEWEST_LOST);
    let told: Vec<(f64, &Figures)> =
        known.filter_map(|cell| Some((cell.news.share_before()?, *cell))).collect();
    let (most, with) = told.iter().rev().copied().max_by(|one, other| one.0.total_cmp(&other.0))?;
    let least = told.iter().map(|it| it.0).fold(1.0, f64::min);
    let heard = "heard of that before the next one had it; who hears later can still stop before it writes";
    Some(match () {
        () if most == 0.0 => format!("None of those who lost the lock {heard}."),
        () if told.len() == 1 => format!("Of those who lost the lock, {} {heard}.", part_words(most)),
        () => format!(
            "Of those who lost the lock, {} to {} (`{}`) {heard}.",
            part_words(least).trim_end_matches(" %"),
            part_words(most),
            model.name(with.design)
        ),
    })
}

/// The table of work, recovery and news. It is folded: with it open, what would change the answer is a screen further
/// down.
pub(crate) fn table(model: &PageModel<'_>, point: u64) -> Block {
    let cells: Vec<&Figures> = model.at(point).collect();
    let words = [
        "design",
        outcome::heading(Predicate::P1),
        outcome::heading(Predicate::P4),
        "writes applied in an hour without a break",
        "work in vain",
        "time to the next holder after one died",
        "heard of the loss before the next holder had the lock",
        "heard after that",
        "never heard",
    ];
    let deaths = cells.iter().filter_map(|cell| cell.recovered.mean()).fold(0.0, f64::max);
    let row = |cell: &&Figures| {
        vec![
            Entry::line(Line::default().code(model.name(cell.design))),
            rate(model, cell, Predicate::P1),
            rate(model, cell, Predicate::P4),
            goodput(cell),
            in_vain(model, cell),
            recovery(&cell.recovered, deaths),
            heard(cell.news.share_before(), &cell.news.before, cell.news.lost),
            heard(cell.news.share_after(), &cell.news.after, cell.news.lost),
            Entry::from_text(cell.news.share_never().map_or_else(|| "none lost".to_owned(), part_words)),
        ]
    };
    let head = words.iter().map(|word| Entry::from_text(*word)).collect();
    let table = Table { head, rows: cells.iter().map(row).collect(), words: 1 };
    let sentence = sentence(model, &cells).map(|words| Block::Paragraph(Line::from_backticks(&words)));
    Block::details(Line::from_text(TITLE), sentence.into_iter().chain([Block::Table(table)]).collect())
}

/// A share of losses in words: of a few hundred of them, more than two digits say nothing.
fn part_words(part: f64) -> String {
    if part > 0.0 && part < 0.001 { "under 0.1 %".to_owned() } else { format!("{} %", end(part * 100.0)) }
}

/// A rate and its interval, as the table of all rates has them.
fn rate(model: &PageModel<'_>, cell: &Figures, predicate: Predicate) -> Entry {
    let (value, interval) = model.words(cell, predicate);
    let entry = Entry::line(Line::default().strong(value));
    if interval.is_empty() { entry } else { entry.below(Line::from_text(interval)) }
}

fn goodput(cell: &Figures) -> Entry {
    let hours = cell.mean_hours().filter(|hours| *hours > 0.0);
    let per_hour = mean(&cell.work.applied).zip(hours).map(|(applied, hours)| applied / hours);
    // Records of an earlier version have no such count.
    let counted = per_hour.filter(|applied| *applied > 0.0);
    Entry::from_text(counted.map_or_else(|| "none counted".to_owned(), digits))
}

/// The amount of work in vain, in the page's unit, and of what kind it is.
fn in_vain(model: &PageModel<'_>, cell: &Figures) -> Entry {
    let Work { applied, refused, given_up } = &cell.work;
    let (Some(applied), Some(refused), Some(given_up)) = (mean(applied), mean(refused), mean(given_up))
    else {
        return Entry::from_text("unknown");
    };
    let vain = refused + given_up;
    if vain == 0.0 {
        return Entry::from_text(if applied > 0.0 { "nothing refused" } else { "none counted" });
    }
    let per_grant = cell.mean_grants().and_then(|grants| model.measure.per_grant(vain / grants));
    let amount = per_grant.unwrap_or_else(|| share(vain / (vain + applied)));
    let kind = match refused / vain {
        1.0 => "refused by the resource".to_owned(),
        0.0 => "given up by the holder".to_owned(),
        refused => format!("{} of it refused, the rest given up", part_words(refused)),
    };
    Entry::from_text(amount).below(Line::from_text(kind))
}

/// The share that heard at one side of the next grant, and by how much.
fn heard(part: Option<f64>, side: &Distribution, lost: u64) -> Entry {
    let Some(part) = part else { return Entry::from_text("none lost") };
    let counted = format!("{} of {}", group_digits(side.count), several(lost, "lost lock"));
    let entry = Entry::from_text(part_words(part)).with_title(counted);
    match side.quantile(0.5) {
        Some(median) => {
            entry.below(Line::from_text(format!("median {}", rough_beside(median, side.longest))))
        }
        None => entry,
    }
}

fn recovery(spread: &Distribution, largest: f64) -> Entry {
    let length = |value: f64| rough_beside(value, largest);
    match (spread.mean(), spread.mean_error()) {
        (Some(mean), Some(error)) if error >= mean => {
            let most = length(mean + error);
            Entry::from_text(format!("mean {}, at most {most}", length(mean)))
                .below(Line::from_text(several(spread.count, "death")))
        }
        (Some(mean), Some(error)) => Entry::from_text(format!("mean {} ± {}", length(mean), length(error)))
            .below(Line::from_text(several(spread.count, "death"))),
        (Some(mean), None) => {
            Entry::from_text(length(mean)).below(Line::from_text(several(spread.count, "death")))
        }
        _ => Entry::from_text("not seen"),
    }
}
