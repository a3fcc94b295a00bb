//! A client's lane: waiting as dots, its claim as a bar that fades when its own deadline has passed, writes as letters.

use doublehold_history::TrueNs;

use super::pen::Pen;
use crate::picture::facts::Facts;
use crate::picture::legend::Sign;
use crate::picture::story::{Story, StoryEvent};
use crate::picture::view::{ClaimBar, ClientLane, WriteFate};
use crate::style::Paint;

/// Every instant at which something that matters begins or ends.
pub(super) fn moments(lane: &ClientLane, facts: &Facts<'_>) -> Vec<TrueNs> {
    let waits = lane.waits.iter().filter(|wait| wait.call.is_none_or(|call| facts.matters(call)));
    let mut moments: Vec<TrueNs> = waits.flat_map(|wait| [wait.from, wait.to]).collect();
    let claims = || lane.claims.iter().filter(|claim| facts.matters(claim.grant));
    moments.extend(claims().flat_map(|claim| [claim.from, claim.to]));
    moments.extend(claims().flat_map(|claim| claim.valid.iter().map(|(_, to)| *to)));
    let writes = || lane.writes.iter().filter(|write| facts.matters(write.grant));
    moments.extend(writes().flat_map(|write| [write.sent, write.arrived]).flatten());
    moments
}

pub(super) fn draw(lane: &ClientLane, pen: &mut Pen<'_>, facts: &Facts<'_>, story: &Story) {
    let paint = Paint::Client(facts.place_of(lane.host));
    pen.row(&lane.label, paint);
    for wait in &lane.waits {
        pen.fill(wait.from, wait.to, Sign::Asks, Paint::Dim);
    }
    for claim in &lane.claims {
        draw_claim(claim, pen, paint);
    }
    let refused = |event: &&StoryEvent| event.refused == Some(lane.lock) && event.host == Some(lane.host);
    for event in story.events.iter().filter(refused) {
        pen.fill(event.at, event.at, Sign::Refused, paint);
    }
    for write in &lane.writes {
        let Some(sent) = write.sent else { continue };
        if pen.column(write.arrived.unwrap_or(facts.run.ended)) > pen.column(sent) + 1 {
            pen.fill(sent, sent, Sign::Sent, paint);
        }
    }
    for write in &lane.writes {
        let (sign, paint) = match write.fate {
            WriteFate::Applied => (Sign::Wrote, Paint::Strong),
            WriteFate::Late => (Sign::WroteLate, Paint::Bad),
            WriteFate::Refused => (Sign::WriteRefused, Paint::Bad),
            WriteFate::Lost => (Sign::WriteLost, Paint::Bad),
            WriteFate::UnderWay => continue,
        };
        write.arrived.into_iter().for_each(|at| pen.fill(at, at, sign, paint));
    }
}

/// What no valid span covers is past the deadline. A claim given back at once was never late.
fn draw_claim(claim: &ClaimBar, pen: &mut Pen<'_>, paint: Paint) {
    let late = claim.valid != [(claim.from, claim.to)] && claim.from < claim.to;
    let sign = if late { Sign::Overdue } else { Sign::Holds };
    pen.fill(claim.from, claim.to, sign, paint);
    for &(from, to) in &claim.valid {
        pen.fill(from, to, Sign::Holds, paint);
    }
}
