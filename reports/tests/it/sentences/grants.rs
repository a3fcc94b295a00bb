//! What a grant may rest on: a key that a node set, one that it found and took for its client's, or an outer grant.

use std::collections::BTreeSet;

use doublehold_history::{CallId, ClientId, EventKind, KeyOp, TrueNs};
use doublehold_scenarios::report::KeyOrigin;
use doublehold_scenarios::scenario::{HostIndex, Role};
use doublehold_sim::Event;
use regex_lite::Captures;

use crate::sentences::seen::Seen;
use crate::sentences::touches::{Touch, is_there, touches};

pub(crate) fn granted(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    let (who, grant) = (seen.client(&it["who"])?, seen.granted(at, &it["who"])?);
    let nodes = match it.name("nodes") {
        Some(nodes) => seen.hosts(nodes.as_str())?,
        None => vec![HostIndex(0)],
    };
    let all = seen.report.scenario.hosts.iter().filter(|host| host.role == Role::Node).count();
    let nobody_asked = needs_nobody(seen, who, grant, at);
    let named = it.name("nodes").is_some() == (all > 1 && !nobody_asked);
    let numbered = seen.history(at).any(|what| {
        let number = it.name("number").and_then(|number| number.as_str().parse().ok());
        matches!(what, EventKind::Granted { grant: given, fencing, .. } if *given == grant && *fencing == number)
    });
    let others = seen.claims.iter().filter(|claim| claim.client != who && seen.claims_at(claim.client, at));
    let others: BTreeSet<ClientId> = others.map(|claim| claim.client).collect();
    let names: Vec<ClientId> = match it.name("others") {
        Some(names) => {
            seen.hosts(names.as_str())?.into_iter().filter_map(|host| client_of(seen, host)).collect()
        }
        None => Vec::new(),
    };
    let said: BTreeSet<ClientId> = names.iter().copied().collect();
    let told = others == said && names.len() == said.len();
    // A service tells of the lock in its own time, and a dead lease of etcd 3.4 is none: it has answered at least.
    let has_answered = || seen.asked(grant).is_some_and(|asked| answered(seen, nodes[0], who, asked, at));
    let on_service = seen.report.scenario.service.is_some() && has_answered();
    let voted = nobody_asked || on_service || nodes.iter().all(|node| voted(seen, *node, who, grant, at));
    Some(named && numbered && told && voted && [&it["lock"]] == seen.report.scenario.lock.names[..])
}

fn client_of(seen: &Seen<'_>, host: HostIndex) -> Option<ClientId> {
    (0..seen.report.scenario.clients.len() as u32).map(ClientId).find(|client| seen.host_of(*client) == host)
}

/// The commands that set a lock's key.
const SETTING: [&str; 4] = ["SET", "EVALSHA", "SETNX", "GETSET"];

/// A node said yes: it executed the client's command, which set the key or took one that was there for the client's,
/// and its reply was there before the grant.
fn voted(seen: &Seen<'_>, node: HostIndex, who: ClientId, grant: CallId, at: TrueNs) -> bool {
    let keys = seen.report.keys.iter().filter(|key| key.grant == grant && key.node == node && key.from <= at);
    let mut set = keys.filter(|key| key.origin == KeyOrigin::Executed);
    let said_yes = |when: TrueNs| executed(seen, node, who, when) && answered(seen, node, who, when, at);
    set.any(|key| said_yes(key.from)) || found(seen, node, who, grant, at).is_some_and(said_yes)
}

/// When a node found a key of another thread of the client's process, within the call that was granted: it cannot tell
/// them apart, so it left the key and moved its expiry.
fn found(seen: &Seen<'_>, node: HostIndex, who: ClientId, grant: CallId, at: TrueNs) -> Option<TrueNs> {
    let asked = seen.asked(grant)?;
    let of_process = |touch: &Touch| {
        seen.claims.iter().any(|claim| {
            claim.grant == touch.held
                && claim.client != who
                && seen.machine_of(claim.client) == seen.machine_of(who)
        })
    };
    let mut moved = touches(seen).filter(|touch| {
        (touch.client, touch.by, touch.node, touch.op) == (who, grant, node, KeyOp::Extend)
            && (asked..=at).contains(&touch.at)
    });
    moved.find(|touch| of_process(touch) && is_there(seen, node, touch.held, touch.at)).map(|touch| touch.at)
}

/// Whether a node executed a command of the client's at an instant that may set a key.
fn executed(seen: &Seen<'_>, node: HostIndex, who: ClientId, at: TrueNs) -> bool {
    let client = seen.world(seen.host_of(who));
    seen.trace(at).any(|event| {
        matches!(event, Event::Mark { host, label, about: Some(about) }
            if *host == seen.world(node) && *about == client && SETTING.contains(&label.as_ref()))
    })
}

/// Whether a node's reply to what it executed came to the client's machine by an instant.
fn answered(seen: &Seen<'_>, node: HostIndex, who: ClientId, since: TrueNs, by: TrueNs) -> bool {
    let (node, machine) = (seen.world(node), seen.world(seen.machine_of(who)));
    let replies = seen.trace.iter().filter(|record| (since.0..=by.0).contains(&record.at.0));
    let mut delivered = replies.filter_map(|record| match record.event {
        Event::Delivered { from, to, .. } => Some((from, to)),
        _ => None,
    });
    delivered.any(|ends| ends == (node, machine))
}

/// Whether a grant is within another that its client has, and no node was asked for it: it rests on that one alone.
fn needs_nobody(seen: &Seen<'_>, who: ClientId, grant: CallId, at: TrueNs) -> bool {
    let Some(asked) = seen.asked(grant) else { return false };
    let Some(inner) = seen.claims.iter().find(|claim| claim.grant == grant) else { return false };
    let has_outer = seen.claims.iter().any(|claim| {
        (claim.client, claim.grant) == (who, inner.hold)
            && claim.grant != grant
            && claim.from <= asked
            && claim.to.is_none_or(|to| at < to)
    });
    let client = seen.world(seen.host_of(who));
    let is_node = |host| {
        let hosts = seen.report.scenario.hosts.iter().zip((0..).map(HostIndex));
        hosts.filter(|(it, _)| it.role == Role::Node).any(|(_, node)| seen.world(node) == host)
    };
    let meanwhile = seen.trace.iter().filter(|record| (asked.0..=at.0).contains(&record.at.0));
    let mut commands = meanwhile.filter_map(|record| match &record.event {
        Event::Mark { host, about: Some(about), .. } => Some((*host, *about)),
        _ => None,
    });
    has_outer && !commands.any(|(host, about)| about == client && is_node(host))
}
