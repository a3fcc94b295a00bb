//! The lanes: everything with a beginning and an end, drawn from the axis' columns.
//!
//! Clients come first with what happened to each beneath it, then the double holds, then the nodes, then the links. Of
//! several locks, each client and each node has a lane for every one. A Sentinel and the resource have a lane only if a
//! fault strikes them: writes stand in the lanes of the clients that made them.

mod clients;
mod faults;
mod links;
mod nodes;
mod overlaps;
mod pen;

use doublehold_history::TrueNs;
use doublehold_scenarios::scenario::{HostIndex, Role};

use self::pen::Pen;
use super::axis::Axis;
use super::canvas::Canvas;
use super::facts::Facts;
use super::legend::UsedSigns;
use super::story::Story;
use super::view::Lanes;
use crate::style::{Paint, Style};

/// Every instant that deserves a column: where something in a lane begins or ends, as far as it matters.
pub(super) fn moments(lanes: &Lanes, facts: &Facts<'_>) -> Vec<TrueNs> {
    let mut moments = vec![facts.run.ended];
    moments.extend(lanes.clients.iter().flat_map(|lane| clients::moments(lane, facts)));
    moments.extend(lanes.faults.iter().flat_map(|fault| [Some(fault.from), fault.until]).flatten());
    let keys = || facts.run.keys.iter().filter(|key| facts.matters(key.grant));
    moments.extend(keys().map(|key| key.from));
    moments.extend(keys().filter_map(|key| key.until.map(|(at, _)| at)));
    moments.retain(|at| *at <= facts.run.ended);
    moments
}

/// Draws every lane; returns what the legend has to explain.
pub(super) fn draw(
    lanes: &Lanes,
    facts: &Facts<'_>,
    canvas: &mut Canvas,
    axis: &Axis,
    story: &Story,
    style: &Style,
) -> UsedSigns {
    let (mut pen, ended) = (Pen::new(canvas, axis, style), facts.run.ended);
    let faults = |pen: &mut Pen<'_>, host| faults::draw(&lanes.faults, pen, host, ended);
    for lanes in lanes.clients.chunk_by(|one, next| one.host == next.host) {
        lanes.iter().for_each(|lane| clients::draw(lane, &mut pen, facts, story));
        faults(&mut pen, lanes[0].host);
    }
    overlaps::draw(&lanes.overlaps, &mut pen);
    pen.row("", Paint::Plain);
    for lanes in lanes.nodes.chunk_by(|one, next| one.host == next.host) {
        lanes.iter().for_each(|lane| nodes::draw(lane, &mut pen, facts));
        faults(&mut pen, lanes[0].host);
    }
    let struck = |host: &HostIndex| faults::strike(&lanes.faults, *host);
    for host in facts.hosts(Role::Sentinel).chain(facts.hosts(Role::Resource)).filter(struck) {
        pen.row(&facts.host(host), Paint::Plain);
        faults(&mut pen, host);
    }
    links::draw(&lanes.faults, &mut pen, ended);
    pen.into_used()
}
