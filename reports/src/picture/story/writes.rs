//! Writes as events: sent long before they arrive, applied, applied too late, refused.

use std::collections::BTreeMap;

use doublehold_history::{CallId, ClientId, EventKind, KeyOp, TrueNs, duration};

use super::{Rank, Told};
use crate::picture::facts::Facts;
use crate::words::clean;

/// A write that is on its way for longer than this is told twice: when it is sent and when it arrives.
const LONG_WAY_NS: u64 = 1_000_000_000;

pub(super) fn tell(facts: &Facts<'_>) -> Vec<Told> {
    let mut told = Vec::new();
    let mut sent: BTreeMap<CallId, TrueNs> = BTreeMap::new();
    for event in facts.report.history.events() {
        let at = event.at;
        match &event.what {
            EventKind::WriteSent { grant, .. } => {
                sent.insert(*grant, at);
            }
            EventKind::WriteApplied { client, grant, version, based_on, .. } => {
                told.extend(long_way(facts, *client, sent.remove(grant), at));
                told.push(applied(facts, at, *client, *grant, *version, *based_on));
            }
            EventKind::WriteRefused { client, grant, why, .. } => {
                told.extend(long_way(facts, *client, sent.remove(grant), at));
                let words = format!("the resource refuses {}'s write: {}", facts.client(*client), clean(why));
                told.push(Told::new(at, Rank::Proof, facts.host_of(*client), words));
            }
            EventKind::KeyTouched { client, by, held, node, op, .. } if by != held => {
                let name = facts.client(*client);
                let node = clean(&facts.report.history.header().node(*node));
                let holder =
                    facts.claim(*held).map_or("another grant".to_owned(), |claim| facts.client(claim.client));
                let words = match op {
                    KeyOp::Release => format!("{name}'s release deletes {holder}'s key on {node}"),
                    KeyOp::Extend => {
                        format!("{name}'s extension moves the expiry of {holder}'s key on {node}")
                    }
                };
                told.push(Told::new(at, Rank::Proof, facts.host_of(*client), words));
            }
            _ => {}
        }
    }
    told
}

fn long_way(facts: &Facts<'_>, client: ClientId, sent: Option<TrueNs>, arrived: TrueNs) -> Option<Told> {
    let sent = sent.filter(|sent| arrived.since(*sent) >= LONG_WAY_NS)?;
    let words = format!(
        "{} sends its write, which is on its way for {}",
        facts.client(client),
        duration(arrived.since(sent))
    );
    Some(Told::new(sent, Rank::Cause, facts.host_of(client), words))
}

fn applied(
    facts: &Facts<'_>,
    at: TrueNs,
    client: ClientId,
    grant: CallId,
    version: u64,
    based_on: Option<u64>,
) -> Told {
    let name = facts.client(client);
    let mut words = match facts.stale(grant, version) {
        Some(stale) => {
            let later = facts.client(stale.later_client);
            format!(
                "late write: the resource applies {name}'s version {version}, {} after {later} was granted the lock",
                duration(at.since(stale.later_granted_at))
            )
        }
        None => format!("the resource applies {name}'s version {version}"),
    };
    if let Some(based_on) = based_on.filter(|based_on| based_on + 1 != version) {
        words.push_str(&format!(", computed from version {based_on}"));
    }
    let rank = match (facts.stale(grant, version), facts.is_involved(grant)) {
        (Some(_), _) => Rank::Proof,
        (None, true) => Rank::Cause,
        (None, false) => Rank::Routine,
    };
    Told::new(at, rank, facts.host_of(client), words)
}
