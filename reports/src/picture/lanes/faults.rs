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
    word: &'static str,
    sign: Sign,
}

impl Stretch {
    /// The first column after the fault and its word.
    fn end(&self) -> usize {
        if self.holds_word() { self.to } else { self.to.max(self.from + 1) + columns(self.word) + 1 }
    }

    /// Whether its word fits inside.
    fn holds_word(&self) -> bool {
        self.to >= self.from + columns(self.word) + 2
    }
}

/// Whether anything happened to the host.
pub(super) fn strike(facts: &Facts<'_>, host: HostIndex) -> bool {
    struck(facts, host).next().is_some()
}

fn struck<'a>(facts: &Facts<'a>, host: HostIndex) -> impl Iterator<Item = (TrueNs, &'a FaultReport)> {
    let faults =
        facts.run.faults.iter().filter(move |fault| !is_of_link(fault) && fault.hosts.contains(&host));
    faults.filter_map(|fault| Some((fault.from?, fault)))
}

pub(super) fn draw(pen: &mut Pen<'_>, facts: &Facts<'_>, host: HostIndex) {
    let mut stretches: Vec<Stretch> =
        struck(facts, host).map(|(from, fault)| stretch(from, fault, pen, facts)).collect();
    stretches.sort_by_key(|stretch| (stretch.from, stretch.word));
    stretches.dedup_by(|a, b| (a.from, a.to, a.word) == (b.from, b.to, b.word));
    while !stretches.is_empty() {
        pen.row("", Paint::Plain);
        let mut free = 0;
        stretches.retain(|stretch| {
            let fits = stretch.from >= free;
            if fits {
                draw_one(pen, stretch, facts);
                free = stretch.end() + 1;
            }
            !fits
        });
    }
}

fn stretch(from: TrueNs, fault: &FaultReport, pen: &Pen<'_>, facts: &Facts<'_>) -> Stretch {
    let lasts = fault.until != Some(from) && lasts_by_kind(fault);
    let column = pen.column(from);
    let to = if lasts { pen.column(fault.until.unwrap_or(facts.run.ended)).max(column + 1) } else { column };
    let sign = if lasts { Sign::Fault } else { Sign::Struck };
    Stretch { from: column, to, word: fault.fault.effect.kind().state, sign }
}

/// Without an end in the report, a stopped host stays stopped; a clock that was stepped does not go on being stepped.
fn lasts_by_kind(fault: &FaultReport) -> bool {
    let once = [Nature::ClockOnce, Nature::Disk, Nature::Role];
    fault.until.is_some() || !once.contains(&fault.fault.effect.kind().nature)
}

fn draw_one(pen: &mut Pen<'_>, stretch: &Stretch, facts: &Facts<'_>) {
    pen.fill_columns(stretch.from, stretch.to, stretch.sign, Paint::Fault);
    let (after, width) = (stretch.to.max(stretch.from + 1), pen.column(facts.run.ended) + 1);
    let word_at = match (stretch.holds_word(), after + columns(stretch.word) <= width) {
        (true, _) => stretch.from + (stretch.to - stretch.from - columns(stretch.word)) / 2,
        (false, true) => after,
        // At the right edge the word goes before the sign.
        (false, false) => stretch.from.saturating_sub(columns(stretch.word)),
    };
    pen.last_row().write(word_at, stretch.word, Paint::Fault);
}
