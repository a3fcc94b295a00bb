//! What happened to a host, beneath its lane: a shaded stretch while a fault lasts, a sign where one strikes once.
//!
//! Faults that would cover each other get rows of their own. Faults of links are drawn by themselves.

use doublehold_history::TrueNs;
use doublehold_scenarios::scenario::HostIndex;

use super::pen::Pen;
use crate::layout::columns;
use crate::picture::legend::Sign;
use crate::picture::view::FaultSpan;
use crate::style::Paint;

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
pub(super) fn strike(faults: &[FaultSpan], host: HostIndex) -> bool {
    struck(faults, host).next().is_some()
}

/// What struck a host.
fn struck(faults: &[FaultSpan], host: HostIndex) -> impl Iterator<Item = &FaultSpan> {
    faults.iter().filter(move |fault| !fault.of_link && fault.hosts.contains(&host))
}

pub(super) fn draw(faults: &[FaultSpan], pen: &mut Pen<'_>, host: HostIndex, ended: TrueNs) {
    let mut stretches: Vec<Stretch> = struck(faults, host).map(|fault| stretch(fault, pen, ended)).collect();
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

fn stretch(fault: &FaultSpan, pen: &Pen<'_>, ended: TrueNs) -> Stretch {
    let column = pen.column(fault.from);
    let to = if fault.lasts { pen.column(fault.until.unwrap_or(ended)).max(column + 1) } else { column };
    let word = if fault.again { "" } else { fault.kind.state };
    let (wide, after) = (columns(word), to.max(column + 1));
    let word_at = match (to >= column + wide + 2, after + wide <= pen.column(ended) + 1) {
        (true, _) => column + (to - column - wide) / 2,
        (false, true) => after,
        // At the right edge the word goes before the sign.
        (false, false) => column.saturating_sub(wide),
    };
    Stretch { from: column, to, word, word_at, sign: if fault.lasts { Sign::Fault } else { Sign::Struck } }
}
