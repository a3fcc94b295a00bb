//! Whether an event that a fault waits for can happen at all. A fault that waits for ever makes a scenario that passes
//! because nothing happened, so what can be told from the file is refused here.
//!
//! Decision: "Every plan can be read, because the reader accepts whatever a run can contain"
//! (docs/decisions/scenarios.md).

use std::time::Duration;

use doublehold_lockimpl::Facts;
use doublehold_text::shorten;
use doublehold_text::suggest;

use super::hosts::Hosts;
use super::lock::Chosen;
use super::problem::Result;
use super::section::Field;
use crate::model::scenario::{ClientSetup, HostIndex, Role, Step};
use crate::model::when::{Event, Mark};

/// What is known of the scenario when events are read.
pub(super) struct Setting<'a> {
    pub(super) hosts: &'a Hosts,
    pub(super) clients: &'a [ClientSetup],
    pub(super) lock: &'a Chosen<'a>,
    /// The node all others replicate.
    pub(super) master: Option<HostIndex>,
    /// The standby of a database.
    pub(super) standby: Option<HostIndex>,
    /// True if the resource asks nodes.
    pub(super) resource_asks: bool,
    pub(super) time_limit: Duration,
}

impl Setting<'_> {
    /// The host of that name, if it has the role that a word of the grammar asks for.
    fn expect_role(&self, field: &Field<'_>, name: &str, role: Role, word: &str) -> Result<()> {
        let host = self.host(field, name)?;
        let is_client = role == Role::Client;
        if if is_client { self.hosts.is_client(host) } else { self.hosts.role(host) == role } {
            return Ok(());
        }
        let named = || self.hosts.hosts_of_role(role).into_iter().map(|host| self.hosts.name(host)).collect();
        let names: Vec<&str> = if is_client { self.hosts.clients() } else { named() };
        let what = if is_client { "client" } else { "node" };
        let cause = format!("`{}`: `{word} {name}` names no {what}, so the event cannot happen", field.path);
        Err(field.problem(cause, format!("the {what}s are {}", suggest::list(&names))))
    }

    fn host(&self, field: &Field<'_>, name: &str) -> Result<HostIndex> {
        self.hosts.find(name).ok_or_else(|| self.hosts.unknown_host(name, field))
    }

    /// Refuses an event that no run of this scenario can contain.
    pub(super) fn check_reachable(&self, field: &Field<'_>, event: &Event) -> Result<()> {
        let host = |name: &str| self.hosts.machine(self.host(field, name)?, field);
        let why_not = match event {
            Event::Executed { command, client, node } => {
                client.iter().try_for_each(|name| self.expect_role(field, name, Role::Client, "for"))?;
                node.iter().try_for_each(|name| self.expect_role(field, name, Role::Node, "on"))?;
                let unknown = self.commands().filter(|sent| !sent.contains(&command.as_str()));
                unknown.map(|sent| format!("the clients of this lock send {}", suggest::list(&sent)))
            }
            Event::Mark { client, mark } => self.why_never(self.host(field, client)?, *mark),
            Event::ClockRead { host: name } => {
                let never = "only the code of clients reads clocks where a fault can wait for it";
                (self.hosts.role(host(name)?) != Role::Client).then(|| never.to_owned())
            }
            Event::Timer { client: name } => {
                let never = "only the code of clients has timers that a fault can wait for";
                (self.hosts.role(host(name)?) != Role::Client).then(|| never.to_owned())
            }
            Event::Boot { host: name } => host(name).map(|_| None)?,
            Event::Sent { from, to } | Event::Received { from, by: to } => {
                let talk = self.talk(host(from)?, host(to)?);
                (!talk).then(|| self.who_talks())
            }
        };
        let Some(hint) = why_not else { return Ok(()) };
        let cause = format!("`{}`: `{}` cannot happen", field.path, shorten(&event.to_string()));
        Err(field.problem(cause, hint))
    }

    fn why_never(&self, host: HostIndex, mark: Mark) -> Option<String> {
        let Some(client) = self.clients.iter().find(|client| client.host == host) else {
            return Some(format!(
                "`{}` runs no program; the clients are {}",
                self.hosts.name(host),
                suggest::list(&self.hosts.clients())
            ));
        };
        let has = |wanted: fn(&Step) -> bool| client.program.iter().any(wanted);
        let (happens, lacking) = match mark {
            Mark::Acquire | Mark::Grant | Mark::Refusal => {
                (has(|step| matches!(step, Step::Acquire(_) | Step::Try(..))), "acquire")
            }
            Mark::Read => (has(|step| matches!(step, Step::Read(_))), "read"),
            Mark::Check | Mark::Expiry => (has(|step| matches!(step, Step::Check(_))), "check"),
            Mark::Write => (has(|step| matches!(step, Step::Write(_))), "write"),
            // Of a lock of which nobody says what it sends, nobody says that it renews nothing beside its holder.
            Mark::Extending | Mark::Extend if self.lock.facts.renews || self.lock.facts.sends.is_none() => {
                (has(|step| matches!(step, Step::Acquire(_) | Step::Try(..))), "acquire")
            }
            Mark::Extending | Mark::Extend => (has(|step| matches!(step, Step::Extend(_))), "extend"),
            Mark::Release => (has(|step| matches!(step, Step::Release(_))), "release"),
        };
        if !happens {
            return Some(format!(
                "the program of `{}` has no `{lacking}` step: add one",
                self.hosts.name(host)
            ));
        }
        // A renewal may set a flag, by which a check finds a lock over that computes no deadline.
        if mark == Mark::Expiry && !self.lock.facts.deadline && !self.lock.facts.renews {
            return Some(format!(
                "the lock computes no deadline: {}",
                self.lock.way_to(|facts| facts.deadline)
            ));
        }
        None
    }

    /// Every command that can reach a node from this scenario's clients; `None` if the lock does not say.
    fn commands(&self) -> Option<Vec<&'static str>> {
        commands(self.clients, &self.lock.facts)
    }

    /// True if the two ever have a connection. A node has one with itself once its operator is told of a failover or a
    /// flush, who types into it over its own network. Such an order need not be in the file: weather may draw it.
    fn talk(&self, one: HostIndex, other: HostIndex) -> bool {
        use Role::{Client, Node, Resource, Sentinel, Thread};
        match (self.hosts.role(one), self.hosts.role(other)) {
            (Client | Thread(_), Node | Resource) | (Node | Resource, Client | Thread(_)) => true,
            (Node, Node) if self.standby.is_some() => one != other,
            (Node, Node) => self.master.is_some() || one == other,
            (Client | Thread(_) | Node | Sentinel, Sentinel) | (Sentinel, Client | Thread(_) | Node) => true,
            (Resource, Node) | (Node, Resource) => self.resource_asks,
            (Client | Thread(_), Client | Thread(_)) | (Resource, _) | (_, Resource) => false,
        }
    }

    fn who_talks(&self) -> String {
        let nodes = match (self.master, self.standby) {
            (Some(_), _) => ", nodes with each other, and one that is told its role with itself",
            (None, Some(_)) => ", and a standby with its primary",
            (None, None) => "",
        };
        let resource = if self.resource_asks { ", the resource with nodes" } else { "" };
        format!("clients talk with nodes and with the resource{resource}{nodes}")
    }
}

/// Every command that such clients of a lock can send to a node; `None` if the lock does not say.
pub(crate) fn commands(clients: &[ClientSetup], lock: &Facts) -> Option<Vec<&'static str>> {
    let mut steps = clients.iter().flat_map(|client| &client.program);
    let extends = steps.any(|step| matches!(step, Step::Extend(_)));
    let sends = lock.sends.as_ref()?;
    let to_extend: &[&str] = if extends { &sends.to_extend } else { &[] };
    let mut commands = [&sends.to_hold[..], to_extend].concat();
    commands.sort_unstable();
    commands.dedup();
    Some(commands)
}
