//! Whether an event that a fault waits for can happen at all. A fault that waits for ever makes a scenario that passes
//! because nothing happened, so what can be told from the file is refused here.

use std::time::Duration;

use super::hosts::Hosts;
use super::lock::Chosen;
use super::problem::Result;
use super::section::{Field, shorten};
use super::suggest;
use super::when::EventWords;
use crate::scenario::{ClientSetup, HostIndex, Role, Step};

/// What is known of the scenario when events are read.
pub(super) struct Setting<'a> {
    pub(super) hosts: &'a Hosts,
    pub(super) clients: &'a [ClientSetup],
    pub(super) lock: &'a Chosen<'a>,
    /// The node all others replicate.
    pub(super) master: Option<HostIndex>,
    pub(super) time_limit: Duration,
}

impl Setting<'_> {
    /// The host, if it has the role that a word of the grammar asks for.
    pub(super) fn expect_role(
        &self,
        field: &Field<'_>,
        host: HostIndex,
        role: Role,
        word: &str,
    ) -> Result<HostIndex> {
        if self.hosts.role(host) == role {
            return Ok(host);
        }
        let names: Vec<&str> = self.hosts.of(role).into_iter().map(|host| self.hosts.name(host)).collect();
        let what = if role == Role::Client { "client" } else { "node" };
        let cause = format!(
            "`{}`: `{word} {}` names no {what}, so the event cannot happen",
            field.path,
            self.hosts.name(host)
        );
        Err(field.problem(cause, format!("the {what}s are {}", suggest::list(&names))))
    }

    /// Refuses an event that no run of this scenario can contain.
    pub(super) fn check_possible(&self, field: &Field<'_>, event: &EventWords) -> Result<()> {
        let refused = |hint: String| {
            let cause = format!("`{}`: `{}` cannot happen", field.path, shorten(&event.in_words(self)));
            Err(field.problem(cause, hint))
        };
        match *event {
            EventWords::Executed { ref command, .. } => {
                let Some(sent) = self.commands() else { return Ok(()) };
                if sent.contains(&command.as_str()) {
                    return Ok(());
                }
                refused(format!("the clients of this lock send {}", suggest::list(&sent)))
            }
            EventWords::Moment { client, moment } => match self.why_never(client, moment) {
                Some(why) => refused(why),
                None => Ok(()),
            },
            EventWords::ClockRead { host } if self.hosts.role(host) != Role::Client => {
                refused("only the code of clients reads clocks where a fault can wait for it".to_owned())
            }
            EventWords::Sent { from, to } if !self.talk(from, to) => refused(self.who_talks()),
            EventWords::Received { by, from } if !self.talk(from, by) => refused(self.who_talks()),
            EventWords::ClockRead { .. }
            | EventWords::Boot { .. }
            | EventWords::Sent { .. }
            | EventWords::Received { .. } => Ok(()),
        }
    }

    fn why_never(&self, host: HostIndex, moment: &str) -> Option<String> {
        let Some(client) = self.clients.iter().find(|client| client.host == host) else {
            let names: Vec<&str> =
                self.hosts.of(Role::Client).into_iter().map(|host| self.hosts.name(host)).collect();
            return Some(format!(
                "`{}` runs no program; the clients are {}",
                self.hosts.name(host),
                suggest::list(&names)
            ));
        };
        let has = |wanted: &[Step]| client.program.iter().any(|step| wanted.contains(step));
        let (happens, lacking) = match moment {
            "acquire" | "grant" | "refusal" => (has(&[Step::Acquire, Step::Try]), "acquire"),
            "read" => (has(&[Step::Read]), "read"),
            "check" | "expiry" => (has(&[Step::Check]), "check"),
            "write" => (has(&[Step::Write]), "write"),
            "extend" => (has(&[Step::Extend]), "extend"),
            _ => (has(&[Step::Release]), "release"),
        };
        if !happens {
            return Some(format!(
                "the program of `{}` has no `{lacking}` step: add one",
                self.hosts.name(host)
            ));
        }
        if moment == "expiry" && !self.lock.facts.deadline {
            return Some(format!(
                "the lock computes no deadline: {}",
                self.lock.way_to(|facts| facts.deadline)
            ));
        }
        None
    }

    /// Every command that can reach a node from this scenario's clients; `None` if the lock does not say.
    fn commands(&self) -> Option<Vec<&'static str>> {
        let extends = self.clients.iter().any(|client| client.program.contains(&Step::Extend));
        let sends = self.lock.facts.sends.as_ref()?;
        let to_extend: &[&str] = if extends { &sends.to_extend } else { &[] };
        let mut commands = [&sends.to_hold[..], to_extend].concat();
        commands.sort_unstable();
        commands.dedup();
        Some(commands)
    }

    /// Whether the two ever have a connection.
    fn talk(&self, one: HostIndex, other: HostIndex) -> bool {
        match (self.hosts.role(one), self.hosts.role(other)) {
            (Role::Client, Role::Node | Role::Resource) | (Role::Node | Role::Resource, Role::Client) => true,
            (Role::Node, Role::Node) => self.master.is_some() && one != other,
            (Role::Client, Role::Client) | (Role::Resource, _) | (_, Role::Resource) => false,
        }
    }

    fn who_talks(&self) -> String {
        let nodes = if self.master.is_some() { ", and nodes with each other" } else { "" };
        format!("clients talk with nodes and with the resource{nodes}")
    }
}
