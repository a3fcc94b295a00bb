//! Which stretches of a run are worth a panel of their own, at a scale at which single messages can be read.

use doublehold_history::TrueNs;

use crate::picture::view::View;

/// A stretch of true time and what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inset {
    pub(super) from: TrueNs,
    pub(super) to: TrueNs,
    pub(super) words: String,
}

/// More than these do not fit on a page.
const MOST: usize = 2;
/// A stretch that takes more than one part in so many of the run can be read in the run's own panel.
const WORTH_IT: u64 = 6;

/// The insets of a run, in order of time, none of which overlap.
pub(super) fn insets(view: &View) -> Vec<Inset> {
    let mut insets: Vec<Inset> = Vec::new();
    for inset in candidates(view) {
        let is_small = inset.to.since(inset.from).saturating_mul(WORTH_IT) < view.ended.0;
        let overlaps = insets.iter().any(|other| inset.from < other.to && other.from < inset.to);
        if is_small && !overlaps && insets.len() < MOST {
            insets.push(inset);
        }
    }
    insets.sort_by_key(|inset| inset.from);
    insets
}

/// The most telling first.
fn candidates(view: &View) -> Vec<Inset> {
    let mut candidates = Vec::new();
    if let Some(overlap) = view.lanes.overlaps.last() {
        // The last is one of valid claims, if there are such.
        let first =
            view.lanes.overlaps.iter().find(|it| it.predicate == overlap.predicate).unwrap_or(overlap);
        let asked = asked(view, first.grants[1].0).unwrap_or(first.from);
        candidates.push(around(asked, first.from, "the double hold begins", view));
    }
    for evidence in &view.evidence {
        let last = evidence
            .events
            .iter()
            .rev()
            .map(|place| &view.events[*place])
            .find(|event| event.at <= evidence.to);
        if let Some(event) = last {
            let near = view.messages.iter().rev().find(|it| it.sent <= event.at && it.arrived.is_some());
            let from = near.map_or(event.at, |message| message.sent);
            candidates.push(around(from, event.at, &event.words, view));
        }
    }
    if candidates.is_empty()
        && let Some(claim) =
            view.lanes.clients.iter().flat_map(|lane| &lane.claims).min_by_key(|claim| claim.from)
    {
        let asked = asked(view, claim.grant.0).unwrap_or(claim.from);
        candidates.push(around(asked, claim.from, "the first grant", view));
    }
    candidates
}

/// When an acquire call began.
fn asked(view: &View, call: u64) -> Option<TrueNs> {
    view.events.iter().find(|event| event.call.is_some_and(|it| it.0 == call)).map(|event| event.at)
}

/// What happens from one instant to another, with some of what comes before and after.
fn around(from: TrueNs, to: TrueNs, words: &str, view: &View) -> Inset {
    let margin = (to.since(from) / 3).max(500_000);
    let to = TrueNs(to.0.saturating_add(margin).min(view.ended.0));
    Inset { from: TrueNs(from.0.saturating_sub(margin)), to, words: words.to_owned() }
}
