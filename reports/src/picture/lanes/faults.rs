//! What happened to a host, beneath its lane: a shaded stretch while a fault lasts, a sign where one strikes once.
//!
//! Faults that would cover each other get rows of their own. Faults of links are drawn by themselves.

use doublehold_history::TrueNs;
use doublehold_scenarios::fault::Nature;
use doublehold_scenarios::report::FaultReport;
use doublehold_scenarios::scenario::HostIndex;

use super::links::is_of_link;
use super::pen::Pen;
use crate::picture::facts::Facts;
use crate::picture::legend::Sign;
use crate::style::Paint;
use crate::words::columns;

/// A fault as it is to be drawn.
struct Stretch {
    from: usize,
    /// The first column after it; equal to `from` for a fault that strikes once.
    to: usize,
    /// Nothing for one that strikes again: the first time says what it is.
    word: &'static str,
    word_at: usize,
    sign: Sign,
}

impl Stretch {
    /// The first column of the fault and its word.
    fn start(&self) -> usize {
        self.from.min(self.word_at)
    }

    /// The first column after both.
    fn end(&self) -> usize {
        self.to.max(self.from + 1).max(self.word_at + columns(self.word))
    }
}

/// Whether anything happened to the host.
pub(super) fn strike(facts: &Facts<'_>, host: HostIndex) -> bool {
    struck(facts, host).next().is_some()
}

/// What struck a host and when, and whether for the first time.
fn struck<'a>(facts: &Facts<'a>, host: HostIndex) -> impl Iterator<Item = (TrueNs, &'a FaultReport, bool)> {
    let all = facts.run.faults;
    let faults = all.iter().enumerate();
    let faults = faults.filter(move |(_, fault)| !is_of_link(fault) && fault.hosts.contains(&host));
    faults.filter_map(move |(index, fault)| {
        let again = fault.fault.each && index > 0 && all[index - 1].fault == fault.fault;
        Some((fault.from?, fault, !again))
    })
}

pub(super) fn draw(pen: &mut Pen<'_>, facts: &Facts<'_>, host: HostIndex) {
    let mut stretches: Vec<Stretch> = struck(facts, host)
        .map(|(from, fault, is_first)| stretch(from, fault, is_first, pen, facts))
        .collect();
    stretches.sort_by_key(|stretch| (stretch.from, stretch.word));
    stretches.dedup_by(|a, b| (a.from, a.to, a.word) == (b.from, b.to, b.word));
    while !stretches.is_empty() {
        pen.row("", Paint::Plain);
        let mut free = 0;
        stretches.retain(|stretch| {
            let fits = stretch.start() >= free;
            if fits {
                pen.fill_columns(stretch.from, stretch.to, stretch.sign, Paint::Fault);
                pen.last_row().write(stretch.word_at, stretch.word, Paint::Fault);
                free = stretch.end() + usize::from(!stretch.word.is_empty());
            }
            !fits
        });
    }
}

fn stretch(from: TrueNs, fault: &FaultReport, is_first: bool, pen: &Pen<'_>, facts: &Facts<'_>) -> Stretch {
    let lasts = fault.until != Some(from) && lasts_by_kind(fault);
    let (column, ended) = (pen.column(from), facts.run.ended);
    let to = if lasts { pen.column(fault.until.unwrap_or(ended)).max(column + 1) } else { column };
    let word = if is_first { fault.fault.effect.kind().state } else { "" };
    let (wide, after) = (columns(word), to.max(column + 1));
    let word_at = match (to >= column + wide + 2, after + wide <= pen.column(ended) + 1) {
        (true, _) => column + (to - column - wide) / 2,
        (false, true) => after,
        // At the right edge the word goes before the sign.
        (false, false) => column.saturating_sub(wide),
    };
    Stretch { from: column, to, word, word_at, sign: if lasts { Sign::Fault } else { Sign::Struck } }
}

/// Without an end in the report, a stopped host stays stopped; a clock that was stepped does not go on being stepped.
fn lasts_by_kind(fault: &FaultReport) -> bool {
    let once = [Nature::ClockOnce, Nature::Disk, Nature::Role];
    fault.until.is_some() || !once.contains(&fault.fault.effect.kind().nature)
}
