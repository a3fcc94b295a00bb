//! Faults of links, beneath the nodes: one row for each kind, since a cut has two ends and is one fault.
//!
//! Faults of a kind that go on at one time are one shade; the list of events says which links each of them struck.

use doublehold_history::TrueNs;
use doublehold_scenarios::fault::{Effect, Kind, Nature};

use super::pen::Pen;
use crate::layout::columns;
use crate::picture::legend::Sign;
use crate::picture::view::FaultSpan;
use crate::style::Paint;

/// The kinds of faults of links, in the order of their rows: links first, then messages.
fn kinds(faults: &[FaultSpan]) -> Vec<Kind> {
    let mut kinds = Effect::kinds();
    kinds.retain(|kind| faults.iter().any(|fault| fault.of_link && fault.kind == *kind));
    kinds.sort_by_key(|kind| kind.nature == Nature::Message);
    kinds
}

/// Faults that share columns.
struct Shade<'a> {
    from: usize,
    to: usize,
    faults: Vec<&'a FaultSpan>,
}

pub(super) fn draw(faults: &[FaultSpan], pen: &mut Pen<'_>, ended: TrueNs) {
    let mut label = "links";
    for kind in kinds(faults) {
        let shades = shades(faults, pen, kind, ended);
        pen.row(std::mem::take(&mut label), Paint::Plain);
        for shade in &shades {
            let sign = if shade.to > shade.from { Sign::Link } else { Sign::Struck };
            pen.fill_columns(shade.from, shade.to, sign, Paint::Fault);
        }
        let end = pen.column(ended) + 1;
        for shade in &shades {
            label_shade(pen, shade, kind, end);
        }
    }
}

fn shades<'a>(faults: &'a [FaultSpan], pen: &Pen<'_>, kind: Kind, ended: TrueNs) -> Vec<Shade<'a>> {
    let struck = faults.iter().filter(|fault| fault.kind == kind);
    let mut stretches: Vec<(usize, usize, &FaultSpan)> = struck
        .map(|fault| {
            let (column, until) = (pen.column(fault.from), fault.until.unwrap_or(ended));
            (column, if fault.lasts { pen.column(until).max(column + 1) } else { column }, fault)
        })
        .collect();
    stretches.sort_by_key(|&(from, to, _)| (from, to));
    let mut shades: Vec<Shade<'_>> = Vec::new();
    for (from, to, fault) in stretches {
        match shades.last_mut() {
            Some(shade) if from <= shade.to => {
                shade.to = shade.to.max(to);
                shade.faults.push(fault);
            }
            _ => shades.push(Shade { from, to, faults: vec![fault] }),
        }
    }
    shades
}

/// Writes into or beside a shade what it is: the fault's own words, or the longest that fits.
fn label_shade(pen: &mut Pen<'_>, shade: &Shade<'_>, kind: Kind, end: usize) {
    let many = shade.faults.len() > 1;
    let mut choices = vec![if many { kind.state_of_several } else { kind.state }.to_owned()];
    if !many {
        choices.insert(0, shade.faults[0].words.clone());
    }
    let row = pen.last_row();
    for (index, words) in choices.iter().enumerate() {
        let (width, after) = (columns(words), shade.to.max(shade.from + 1));
        if shade.to >= shade.from + width + 2 {
            return row.write(shade.from + (shade.to - shade.from - width) / 2, words, Paint::Fault);
        }
        let before = shade.from.checked_sub(width);
        let is_last = index + 1 == choices.len();
        let beside = [Some(after).filter(|at| at + width <= end), before].into_iter().flatten();
        if let Some(at) = beside.into_iter().find(|at| is_last && row.is_blank(*at, at + width)) {
            return row.write(at, words, Paint::Fault);
        }
    }
}
