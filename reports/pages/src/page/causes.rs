//! The faults that a rate comes from. Runs that are divided by their faults say it: the rate is a sum over strata, and
//! each stratum has the faults that its runs had.
//!
//! A stratum with one cause counts for that cause, whatever the number of its faults; one with several counts for their
//! combination. So shares are of what was seen, and add up to one.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_statistics::Part;
use doublehold_sweeps::results::Results;
use doublehold_sweeps::sweep::StudyHeader;

use super::rates::Figures;

/// The shares of a rate by causes: each a set of names, with its share, the largest first.
pub(crate) fn shares(results: &Results, figures: &Figures, predicate: Predicate) -> Vec<(Vec<String>, f64)> {
    let header = &results.header;
    let Some(cell) = results.cells.get(&figures.cell) else { return Vec::new() };
    let mut parts: BTreeMap<Vec<String>, f64> = BTreeMap::new();
    for (number, row) in &cell.strata {
        let Part::Counted(part) = cell.part(header, row, predicate) else { continue };
        let share = part.decided_part().estimate().unwrap_or(0.0);
        let names = header.strata.get(*number as usize).map(|faults| faults.keys().cloned().collect());
        if share > 0.0 {
            *parts.entry(names.unwrap_or_default()).or_default() += share * row.weight();
        }
    }
    let sum: f64 = parts.values().sum();
    let mut shares: Vec<(Vec<String>, f64)> =
        parts.into_iter().map(|(names, part)| (names, part / sum)).collect();
    shares.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    shares
}

/// The share of one cause alone.
pub(crate) fn share_of(shares: &[(Vec<String>, f64)], cause: &str) -> f64 {
    shares.iter().find(|(names, _)| matches!(&names[..], [one] if one == cause)).map_or(0.0, |(_, it)| *it)
}

/// A cause in words: `pauses`, `crashes of nodes`.
pub(crate) fn words(cause: &str) -> String {
    let (kind, whom) = cause.split_once('[').map_or((cause, ""), |(kind, rest)| (kind, rest));
    let kind = match kind {
        "pause" => "pauses",
        "suspend" => "suspended machines",
        "clock-step" => "steps of clocks",
        "clock-drift" => "clocks that drift",
        "clock-freeze" => "clocks that freeze",
        "crash" => "crashes",
        "power-loss" => "losses of power",
        "cut" => "partitions",
        "slow" => "slow links",
        "loss" => "lost packets",
        "packet-delay" => "late packets",
        "reset-connections" => "reset connections",
        "promote" => "failovers",
        other => other,
    };
    let Some((hosts, count)) = whom.split_once(']') else { return kind.to_owned() };
    let hosts = hosts.replace('>', " from ").replace(',', ", ");
    let of = match hosts.split_once(" from ") {
        Some((from, to)) => {
            format!(" between {} and {}", from.replace(", ", " and "), to.replace(", ", " and "))
        }
        None => format!(" of {}", hosts.replace(", ", " and ")),
    };
    format!("{kind}{of}{}", count.replace('#', ", no. "))
}

/// The lengths and sizes of a cause's faults, as its lines say them: `for 10s..30s`.
pub(crate) fn lengths(header: &StudyHeader, cause: &str) -> Vec<String> {
    let mut lengths = Vec::new();
    for design in &header.designs {
        for (line, _) in
            design.weather.iter().zip(design.line_names()).filter(|(_, name)| name.is_meant_by(cause))
        {
            let kept = line.rest.iter().filter(|(key, _)| ["for", "by"].contains(&key.as_str())).cloned();
            let words = super::world::fault_words(&kept.collect::<Vec<_>>());
            if !words.is_empty() && !lengths.contains(&words) {
                lengths.push(words);
            }
        }
    }
    lengths
}

/// True if a source of a cause's rate says that it is a guess.
pub(crate) fn is_guess(header: &StudyHeader, cause: &str) -> bool {
    sources(header, cause).any(|source| source.to_lowercase().contains("guess"))
}

/// True if the study itself sets the rate of a cause.
pub(crate) fn is_set(header: &StudyHeader, cause: &str) -> bool {
    sources(header, cause).any(|source| source.starts_with("Set "))
}

fn sources<'a>(header: &'a StudyHeader, cause: &'a str) -> impl Iterator<Item = &'a str> {
    header.designs.iter().flat_map(move |design| {
        let named = design.weather.iter().zip(design.line_names());
        named.filter(move |(_, name)| name.is_meant_by(cause)).map(|(line, _)| line.source.as_str())
    })
}
