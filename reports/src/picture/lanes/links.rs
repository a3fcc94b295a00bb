//! Faults of links, beneath the nodes: one row for each kind, since a cut has two ends and is one fault.
//!
//! Faults of a kind that go on at one time are one shade; the list of events says which links each of them struck.

use doublehold_history::words::clean;
use doublehold_scenarios::fault::{Effect, Kind, Nature};
use doublehold_scenarios::report::FaultReport;

use super::pen::Pen;
use crate::picture::facts::Facts;
use crate::picture::legend::Sign;
use crate::style::Paint;
use crate::words::columns;

/// Whether a fault is of a link, and not of a host.
pub(super) fn is_of_link(fault: &FaultReport) -> bool {
    matches!(fault.fault.effect.kind().nature, Nature::Link | Nature::Message)
}

/// The kinds of faults of links, in the order of their rows: links first, then messages.
fn kinds(facts: &Facts<'_>) -> Vec<Kind> {
    let mut kinds = Effect::kinds();
    kinds.retain(|kind| {
        facts.run.faults.iter().any(|fault| is_of_link(fault) && fault.fault.effect.kind() == *kind)
    });
    kinds.sort_by_key(|kind| kind.nature == Nature::Message);
    kinds
}

/// Faults that share columns.
struct Shade<'a> {
    from: usize,
    to: usize,
    faults: Vec<&'a FaultReport>,
}

pub(super) fn draw(pen: &mut Pen<'_>, facts: &Facts<'_>) {
    let mut label = "links";
    for kind in kinds(facts) {
        let shades = shades(pen, facts, kind);
        if shades.is_empty() {
            continue;
        }
        pen.row(std::mem::take(&mut label), Paint::Plain);
        for shade in &shades {
            let sign = if shade.to > shade.from { Sign::Link } else { Sign::Struck };
            pen.fill_columns(shade.from, shade.to, sign, Paint::Fault);
        }
        let end = pen.column(facts.run.ended) + 1;
        for shade in &shades {
            label_shade(pen, shade, kind, end);
        }
    }
}

fn shades<'a>(pen: &Pen<'_>, facts: &Facts<'a>, kind: Kind) -> Vec<Shade<'a>> {
    let struck = facts.run.faults.iter().filter(|fault| fault.fault.effect.kind() == kind);
    let mut stretches: Vec<(usize, usize, &FaultReport)> = struck
        .filter_map(|fault| {
            let from = fault.from?;
            let lasts = kind.nature != Nature::Message && fault.until != Some(from);
            let column = pen.column(from);
            let until = fault.until.unwrap_or(facts.run.ended);
            Some((column, if lasts { pen.column(until).max(column + 1) } else { column }, fault))
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
        choices.insert(0, clean(&shade.faults[0].fault.words()));
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
