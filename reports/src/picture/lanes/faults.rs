//! What happened to a host, beneath its lane: a shaded stretch while a fault lasts, a sign where one strikes once.
//!
//! Faults that would cover each other get rows of their own.

use doublehold_history::TrueNs;
use doublehold_scenarios::report::FaultReport;
use doublehold_scenarios::scenario::{FaultKind, HostIndex};

use super::Used;
use crate::picture::axis::Axis;
use crate::picture::canvas::{Canvas, Row};
use crate::picture::facts::{Facts, fault_word};
use crate::picture::legend::Sign;
use crate::style::{Paint, Style};
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
    let faults = facts.report.faults.iter().filter(move |fault| fault.hosts.contains(&host));
    faults.filter_map(|fault| Some((fault.from?, fault)))
}

pub(super) fn draw(
    canvas: &mut Canvas,
    axis: &Axis,
    facts: &Facts<'_>,
    host: HostIndex,
    style: &Style,
    used: &mut Used,
) {
    let mut stretches: Vec<Stretch> =
        struck(facts, host).map(|(from, fault)| stretch(from, fault, axis, facts)).collect();
    stretches.sort_by_key(|stretch| (stretch.from, stretch.word));
    stretches.dedup_by(|a, b| (a.from, a.to, a.word) == (b.from, b.to, b.word));
    while !stretches.is_empty() {
        let row = canvas.row("", Paint::Plain);
        let mut free = 0;
        stretches.retain(|stretch| {
            let fits = stretch.from >= free;
            if fits {
                draw_one(row, stretch, canvas_width(axis, facts), style, used);
                free = stretch.end() + 1;
            }
            !fits
        });
    }
}

fn canvas_width(axis: &Axis, facts: &Facts<'_>) -> usize {
    axis.column(facts.report.ended) + 1
}

fn stretch(from: TrueNs, fault: &FaultReport, axis: &Axis, facts: &Facts<'_>) -> Stretch {
    let lasts = fault.until != Some(from) && lasts_by_kind(fault);
    let column = axis.column(from);
    let to =
        if lasts { axis.column(fault.until.unwrap_or(facts.report.ended)).max(column + 1) } else { column };
    let sign = match fault.kind {
        _ if !lasts => Sign::Struck,
        FaultKind::Cut | FaultKind::Slow | FaultKind::Loss => Sign::Link,
        _ => Sign::Fault,
    };
    Stretch { from: column, to, word: fault_word(fault.kind), sign }
}

/// Without an end in the report, a stopped host stays stopped, and a cut stays cut; a clock that was stepped does not
/// go on being stepped.
fn lasts_by_kind(fault: &FaultReport) -> bool {
    use FaultKind::{ClockStep, Disk, Follow, PacketDelay, Promote, Start};
    fault.until.is_some() || !matches!(fault.kind, ClockStep | Disk | Follow | PacketDelay | Promote | Start)
}

fn draw_one(row: &mut Row, stretch: &Stretch, width: usize, style: &Style, used: &mut Used) {
    let sign = stretch.sign;
    used.insert(sign);
    row.fill(stretch.from, stretch.to, sign.glyph(style), Paint::Fault);
    let after = stretch.to.max(stretch.from + 1);
    let word_at = match (stretch.holds_word(), after + columns(stretch.word) <= width) {
        (true, _) => stretch.from + (stretch.to - stretch.from - columns(stretch.word)) / 2,
        (false, true) => after,
        // At the right edge the word goes before the sign.
        (false, false) => stretch.from.saturating_sub(columns(stretch.word)),
    };
    row.write(word_at, stretch.word, Paint::Fault);
}
