//! What is tried: faults as words of `DOUBLEHOLD`, each at a step that was seen in calm.

use std::collections::BTreeSet;
use std::time::Duration;

use doublehold_history::{EventKind, History, claims};
use doublehold_text::{exact_duration, list};

use crate::serve::control::{Request, is_of_driver};

/// A lease, where the command tells none.
const LEASE: Duration = Duration::from_secs(10);

/// The most by which a request is late: beyond what clients wait for, and within most leases.
const LATE: Duration = Duration::from_secs(3);

/// One try: what it is called, and the words that strike it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Try {
    pub(crate) name: String,
    pub(crate) words: Vec<String>,
}

/// What was seen in calm.
pub(crate) struct Calm<'a> {
    /// One for each RESET of the command, and at least one.
    pub(crate) histories: &'a [History],
    /// In the order in which they arrived.
    pub(crate) requests: &'a [Request],
    /// The names of the nodes.
    pub(crate) nodes: &'a [String],
    /// The time that the command took.
    pub(crate) time: Duration,
}

impl Calm<'_> {
    /// All tries: of nodes first, then of the requests of each client.
    pub(crate) fn tries(&self) -> Vec<Try> {
        let mut tries = self.of_nodes();
        for client in self.clients() {
            for command in self.commands_of(client) {
                tries.extend(self.of_request(client, &command));
            }
        }
        tries
    }

    /// Everybody who told anything, in the order in which they began.
    fn clients(&self) -> Vec<&str> {
        let mut known = BTreeSet::new();
        let all = self.histories.iter().flat_map(|history| &history.header().clients);
        all.map(String::as_str).filter(|client| known.insert(*client)).collect()
    }

    /// The longest lease that any client told.
    fn lease(&self) -> Duration {
        let events = self.histories.iter().flat_map(History::events);
        let leases = events.filter_map(|event| match &event.what {
            EventKind::Granted { deadline: Some(deadline), .. } => {
                Some(u64::try_from(deadline.reading_ns).ok()?.saturating_sub(event.at.0))
            }
            _ => None,
        });
        leases.max().map_or(LEASE, |ns| Duration::from_millis(ns.div_ceil(1_000_000)))
    }

    /// The node without which a holder of a bare majority has none, and the nodes that such a holder does not have.
    fn decisive(&self) -> Option<(&String, &[String])> {
        let majority = self.nodes.len() / 2 + 1;
        Some((self.nodes.get(majority - 1)?, self.nodes.get(majority..)?))
    }

    /// What befalls a node right after a grant. Of several nodes, whoever is granted the lock has a bare majority: the
    /// others refuse writes until then.
    fn of_nodes(&self) -> Vec<Try> {
        let Some((node, absent)) = self.decisive() else { return Vec::new() };
        let lease = self.lease();
        let (down, back) = absent_until_a_grant(absent);
        let at = "AT *'s grant DO";
        let ms = lease.as_millis();
        let tried = |what: String, words: &[String]| Try {
            name: format!("{what} at the first grant{}", in_words(absent)),
            words: down.iter().chain(words).chain(&back).cloned().collect(),
        };
        vec![
            tried(
                format!("{node}'s clock jumps by {}", exact_duration(lease)),
                &[format!("{at} CLOCK {node} {ms}")],
            ),
            // As a restart without persistence does, which clients would notice by their connections, too.
            tried(format!("{node} forgets"), &[format!("{at} FLUSH {node}")]),
            tried(
                format!("{node} stops for {}", exact_duration(lease)),
                &[format!("{at} PAUSE {node} {ms}")],
            ),
        ]
    }

    /// The time by which a request is late: it arrives while the command still runs.
    fn lateness(&self) -> Duration {
        let half = u64::try_from(self.time.as_millis() / 2).unwrap_or(u64::MAX);
        LATE.min(Duration::from_millis(half))
    }

    /// How long a client held the lock at most, in whole milliseconds.
    pub(crate) fn longest_hold(&self) -> Duration {
        let claims = self.histories.iter().flat_map(claims);
        let held = claims.map(|claim| claim.span.to.since(claim.span.from));
        held.max().map_or(LATE, |ns| Duration::from_millis(ns / 1_000_000))
    }

    /// The commands that a client sent to the first node, in the order in which they first came.
    fn commands_of(&self, client: &str) -> Vec<String> {
        let theirs =
            self.requests.iter().filter(|it| it.client == client && Some(&it.node) == self.nodes.first());
        let mut known = BTreeSet::new();
        let commands = theirs.map(|it| it.command.clone()).filter(|it| !is_of_driver(it.as_bytes()));
        commands.filter(|command| known.insert(command.clone())).collect()
    }

    fn of_request(&self, client: &str, command: &str) -> Vec<Try> {
        let Some(node) = self.nodes.first() else { return Vec::new() };
        let late = self.lateness();
        let ms = late.as_millis();
        let tried = |what: String, word: String| Try {
            name: format!("{client}'s {command} to {node} {what}"),
            words: vec![word],
        };
        let late = exact_duration(late);
        let mut tries = vec![
            tried(format!("arrives {late} late"), format!("HOLD {client} {node} {ms} {command}")),
            tried("loses its reply".to_owned(), format!("DROP {client} {node} {command}")),
            tried(format!("is sent again {late} later"), format!("REPEAT {client} {node} {ms} {command}")),
        ];
        if let Some((_, absent @ [_, ..])) = self.decisive()
            && command != "SET"
        {
            // As late as a holder works: what cleans up after a failed attempt comes when the next one has succeeded.
            let late = self.longest_hold();
            let (down, back) = absent_until_a_grant(absent);
            let hold = format!("HOLD {client} {node} {} {command}", late.as_millis());
            tries.push(Try {
                name: format!(
                    "{client}'s {command} to {node} arrives {} late, {} refuse writes until a grant",
                    exact_duration(late),
                    list(absent)
                ),
                words: down.into_iter().chain([hold]).chain(back).collect(),
            });
        }
        tries
    }
}

/// The words by which nodes vote for nobody until the first grant. They refuse at once: to a node that is down some
/// drivers connect again for longer than a lease.
fn absent_until_a_grant(absent: &[String]) -> (Vec<String>, Vec<String>) {
    let back = absent.iter().map(|node| format!("AT *'s grant DO REFUSE-WRITES {node} OFF"));
    (absent.iter().map(|node| format!("REFUSE-WRITES {node}")).collect(), back.collect())
}

fn in_words(absent: &[String]) -> String {
    match absent {
        [] => String::new(),
        [node] => format!(" ({node} refuses writes until then)"),
        nodes => format!(" ({} refuse writes until then)", list(nodes)),
    }
}

#[cfg(test)]
mod tests {
    use doublehold_history::Header;

    use super::*;

    fn names(nodes: &[&str]) -> Vec<String> {
        nodes.iter().map(|&name| name.to_owned()).collect()
    }

    fn request(client: &str, node: &str, command: &str) -> Request {
        Request { client: client.to_owned(), node: node.to_owned(), command: command.to_owned() }
    }

    fn words(nodes: &[&str], requests: &[Request]) -> Vec<String> {
        let histories = [History::new(Header::new("calm", 0, &["c1", "c2"], &["lock"]))];
        let nodes = names(nodes);
        let calm = Calm { histories: &histories, requests, nodes: &nodes, time: Duration::from_secs(9) };
        calm.tries().into_iter().map(|it| it.words.join("; ")).collect()
    }

    #[test]
    fn one_node_is_the_one_that_decides() {
        assert_eq!(
            words(&["A"], &[]),
            ["AT *'s grant DO CLOCK A 10000", "AT *'s grant DO FLUSH A", "AT *'s grant DO PAUSE A 10000",]
        );
    }

    #[test]
    fn of_five_nodes_a_bare_majority_is_held_and_its_last_node_struck() {
        let words = words(&["A", "B", "C", "D", "E"], &[]);
        let back = "AT *'s grant DO REFUSE-WRITES D OFF; AT *'s grant DO REFUSE-WRITES E OFF";
        assert_eq!(
            words[0],
            format!("REFUSE-WRITES D; REFUSE-WRITES E; AT *'s grant DO CLOCK C 10000; {back}")
        );
    }

    #[test]
    fn each_command_of_each_client_is_a_step_and_those_of_drivers_are_none() {
        let requests = [
            request("c1", "A", "HELLO"),
            request("c1", "A", "SET"),
            request("c1", "A", "SET"),
            request("c1", "B", "EVAL"),
            request("c2", "A", "DEL"),
        ];
        assert_eq!(
            words(&["A", "B", "C"], &requests)[3..],
            [
                "HOLD c1 A 3000 SET",
                "DROP c1 A SET",
                "REPEAT c1 A 3000 SET",
                "HOLD c2 A 3000 DEL",
                "DROP c2 A DEL",
                "REPEAT c2 A 3000 DEL",
                "REFUSE-WRITES C; HOLD c2 A 3000 DEL; AT *'s grant DO REFUSE-WRITES C OFF",
            ]
        );
    }
}
