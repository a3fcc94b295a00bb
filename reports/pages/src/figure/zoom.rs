//! Which stretches of a run are worth a panel of their own, at a scale at which single messages can be read.

use doublehold_history::{Predicate, TrueNs};
use doublehold_render::picture::view::{View, WriteFate};

/// A stretch of true time and what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ZoomPanel {
    pub(super) from: TrueNs,
    pub(super) to: TrueNs,
    pub(super) words: String,
}

/// More than these do not fit on a page.
const MOST: usize = 2;
/// A stretch that takes more than one part in so many of the run can be read in the run's own panel.
const WORTH_IT: u64 = 6;

/// The zoom panels of a run, in order of time, none of which overlap.
pub(super) fn find_zoom_panels(view: &View) -> Vec<ZoomPanel> {
    let mut zooms: Vec<ZoomPanel> = Vec::new();
    for zoom in candidates(view) {
        let is_known = zooms.iter().any(|other| other.words == zoom.words);
        let is_small = zoom.to.since(zoom.from).saturating_mul(WORTH_IT) < view.ended.0;
        let overlaps = zooms.iter().any(|other| zoom.from < other.to && other.from < zoom.to);
        if is_small && !is_known && !overlaps && zooms.len() < MOST {
            zooms.push(zoom);
        }
    }
    zooms.sort_by_key(|zoom| zoom.from);
    zooms
}

/// The most telling first.
fn candidates(view: &View) -> Vec<ZoomPanel> {
    let mut candidates = Vec::new();
    if let Some(overlap) = view.lanes.overlaps.last() {
        // The last is one of valid claims, if there are such.
        let first =
            view.lanes.overlaps.iter().find(|it| it.predicate == overlap.predicate).unwrap_or(overlap);
        let asked = call_start(view, first.grants[1].0).unwrap_or(first.from);
        candidates.push(around(asked, first.from, "the double hold begins", view));
        // A call that took long is shown from shortly before its end.
        candidates.push(around(shortly_before(first.from, None), first.from, "the double hold begins", view));
    }
    let late = view
        .lanes
        .clients
        .iter()
        .flat_map(|lane| &lane.writes)
        .find(|write| matches!(write.fate, WriteFate::Late | WriteFate::Refused | WriteFate::Lost));
    if let Some((write, at)) = late.and_then(|write| Some((write, write.arrived?))) {
        let words = match write.fate {
            WriteFate::Late => "the late write",
            WriteFate::Lost => "the lost write",
            _ => "the refused write",
        };
        candidates.push(around(shortly_before(at, write.sent), at, words, view));
    }
    for evidence in view.evidence.iter().filter(|evidence| evidence.predicate == Predicate::WR) {
        let request =
            view.messages.iter().rev().find(|message| message.arrived.is_some_and(|at| at <= evidence.to));
        let from = shortly_before(evidence.to, request.map(|message| message.sent));
        candidates.push(around(from, evidence.to, "the wrong release", view));
    }
    for line in view.story.iter().filter(|line| line.proves) {
        candidates.push(around(shortly_before(line.at, None), line.at, &line.words, view));
    }
    if candidates.is_empty()
        && let Some(claim) =
            view.lanes.clients.iter().flat_map(|lane| &lane.claims).min_by_key(|claim| claim.from)
    {
        let asked = call_start(view, claim.grant.0).unwrap_or(claim.from);
        candidates.push(around(asked, claim.from, "the first grant", view));
    }
    candidates
}

/// An instant, or not long before another: a message that was on its way for long would leave no detail.
fn shortly_before(at: TrueNs, from: Option<TrueNs>) -> TrueNs {
    const SHORTLY_NS: u64 = 5_000_000;
    TrueNs(at.0.saturating_sub(SHORTLY_NS)).max(from.unwrap_or_default())
}

/// When an acquire call began.
fn call_start(view: &View, call: u64) -> Option<TrueNs> {
    view.events.iter().find(|event| event.call.is_some_and(|it| it.0 == call)).map(|event| event.at)
}

/// What happens from one instant to another, with some of what comes before and after.
fn around(from: TrueNs, to: TrueNs, words: &str, view: &View) -> ZoomPanel {
    const LEAST_NS: u64 = 2_000_000;
    let margin = (to.since(from) / 3).max(LEAST_NS);
    let to = TrueNs(to.0.saturating_add(margin).min(view.ended.0));
    ZoomPanel { from: TrueNs(from.0.saturating_sub(margin)), to, words: words.to_owned() }
}
