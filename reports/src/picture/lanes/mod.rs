//! The lanes: everything with a beginning and an end, drawn from the axis' columns.
//!
//! Clients come first with what happened to each beneath it, then the double holds, then the nodes, then the links. Of
//! several locks, each client and each node has a lane for every one. The resource has a lane only if a fault strikes
//! it: its writes stand in the lanes of the clients that made them.

mod clients;
mod faults;
mod links;
mod nodes;
mod overlaps;
mod pen;

use doublehold_history::TrueNs;
use doublehold_scenarios::scenario::{HostIndex, Role};

use super::axis::Axis;
use super::canvas::Canvas;
use super::facts::Facts;
use super::legend::Used;
use super::story::Story;
use crate::style::{Paint, Style};

use self::clients::ClientLane;
use self::pen::Pen;

/// All lanes, gathered from a report and not yet drawn.
pub(super) struct Lanes<'a> {
    facts: &'a Facts<'a>,
    /// Of each client, a lane for every lock.
    clients: Vec<Vec<ClientLane>>,
}

impl<'a> Lanes<'a> {
    pub(super) fn new(facts: &'a Facts<'a>) -> Lanes<'a> {
        Lanes { facts, clients: clients::gather(facts) }
    }

    /// Every instant that deserves a column: where something in a lane begins or ends, as far as it matters.
    pub(super) fn moments(&self) -> Vec<TrueNs> {
        let run = &self.facts.run;
        let mut moments = vec![run.ended];
        moments.extend(self.clients.iter().flatten().flat_map(|lane| lane.moments(self.facts)));
        moments.extend(run.faults.iter().flat_map(|fault| [fault.from, fault.until]).flatten());
        let keys = || run.keys.iter().filter(|key| self.facts.matters(key.grant));
        moments.extend(keys().map(|key| key.from));
        moments.extend(keys().filter_map(|key| key.until.map(|(at, _)| at)));
        moments.retain(|at| *at <= run.ended);
        moments
    }

    /// Draws every lane; returns what the legend has to explain.
    pub(super) fn draw(&self, canvas: &mut Canvas, axis: &Axis, story: &Story, style: &Style) -> Used {
        let (facts, mut pen) = (self.facts, Pen::new(canvas, axis, style));
        for (place, lanes) in self.clients.iter().enumerate() {
            lanes.iter().for_each(|lane| lane.draw(&mut pen, facts, story, place));
            facts.run.clients.get(place).into_iter().for_each(|host| faults::draw(&mut pen, facts, *host));
        }
        overlaps::draw(&mut pen, facts);
        pen.row("", Paint::Plain);
        for host in self.hosts(Role::Node) {
            facts.locks().for_each(|lock| nodes::draw(&mut pen, facts, host, lock));
            faults::draw(&mut pen, facts, host);
        }
        for host in self.hosts(Role::Resource).filter(|host| faults::strike(facts, *host)) {
            pen.row(&facts.host(host), Paint::Plain);
            faults::draw(&mut pen, facts, host);
        }
        links::draw(&mut pen, facts);
        pen.used()
    }

    fn hosts(&self, role: Role) -> impl Iterator<Item = HostIndex> {
        let hosts = self.facts.run.hosts.iter().enumerate();
        hosts.filter(move |(_, (_, of))| *of == role).map(|(index, _)| HostIndex(index))
    }
}
