//! The lanes: everything with a beginning and an end, drawn from the axis' columns.
//!
//! Clients come first with what happened to each beneath it, then the double holds, then the nodes. The resource has a
//! lane only if a fault strikes it: its writes stand in the lanes of the clients that made them.

mod clients;
mod faults;
mod nodes;
mod overlaps;

use std::collections::BTreeSet;

use doublehold_history::TrueNs;
use doublehold_scenarios::scenario::{HostIndex, Role};

use super::axis::Axis;
use super::canvas::Canvas;
use super::facts::Facts;
use super::legend::Sign;
use super::story::Story;
use crate::style::{Paint, Style};

use self::clients::ClientLane;

/// All lanes, gathered from a report and not yet drawn.
pub(super) struct Lanes<'a> {
    facts: &'a Facts<'a>,
    style: &'a Style,
    clients: Vec<ClientLane>,
}

/// Which signs were used, for the legend.
type Used = BTreeSet<Sign>;

impl<'a> Lanes<'a> {
    pub(super) fn new(facts: &'a Facts<'a>, style: &'a Style) -> Lanes<'a> {
        Lanes { facts, style, clients: clients::gather(facts) }
    }

    /// Every instant that deserves a column: where something in a lane begins or ends, as far as it matters.
    pub(super) fn moments(&self) -> Vec<TrueNs> {
        let report = self.facts.report;
        let mut moments = vec![report.ended];
        moments.extend(self.clients.iter().flat_map(|lane| lane.moments(self.facts)));
        moments.extend(report.faults.iter().flat_map(|fault| [fault.from, fault.until]).flatten());
        let keys = || report.keys.iter().filter(|key| self.facts.matters(key.grant));
        moments.extend(keys().map(|key| key.from));
        moments.extend(keys().filter_map(|key| key.until.map(|(at, _)| at)));
        moments.retain(|at| *at <= report.ended);
        moments
    }

    /// Draws every lane; returns the signs that were used.
    pub(super) fn draw(&self, canvas: &mut Canvas, axis: &Axis, story: &Story) -> Used {
        let mut used = Used::new();
        for (number, lane) in self.clients.iter().enumerate() {
            lane.draw(canvas, axis, story, number, self.facts, self.style, &mut used);
            faults::draw(canvas, axis, self.facts, lane.host, self.style, &mut used);
        }
        overlaps::draw(canvas, axis, self.facts, self.style, &mut used);
        canvas.row("", Paint::Plain);
        for host in self.hosts(Role::Node) {
            nodes::draw(canvas, axis, self.facts, host, self.style, &mut used);
            faults::draw(canvas, axis, self.facts, host, self.style, &mut used);
        }
        for host in self.hosts(Role::Resource).filter(|host| faults::strike(self.facts, *host)) {
            canvas.row(&self.facts.host(host), Paint::Plain);
            faults::draw(canvas, axis, self.facts, host, self.style, &mut used);
        }
        used
    }

    fn hosts(&self, role: Role) -> impl Iterator<Item = HostIndex> {
        let hosts = self.facts.report.scenario.hosts.iter().enumerate();
        hosts.filter(move |(_, host)| host.role == role).map(|(index, _)| HostIndex(index))
    }
}
