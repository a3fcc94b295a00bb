//! Left key: no key stays with a token that nobody will use again.
//!
//! A client is done with a token when its release returned, when its attempt was refused or came to nothing, or when
//! its process died. What stays on a node after that, until its time is up, keeps everybody else out for nothing. A
//! key that its node has no end for keeps everybody out for ever.
//!
//! A key with an end is excused where the lock could not, or would not, do better:
//!
//! - its client died: that is what an end is for
//! - any fault had struck by then: the command that takes it away may be lost or late
//! - the release itself gave it its end: it is left on purpose, for a least time
//!
//! A key without an end is excused by nothing. Assumes that a key which several calls mark alike is left when all of
//! its client's are done. Not modelled: copies on replicas, which follow their master.

use doublehold_history::TrueNs;
use doublehold_text::duration;

use super::calls::{Call, Done, DoneHow, calls};
use super::{Breach, Report, RuleVerdict, host_name, was_struck};
use crate::report::{KeyEnd, KeyOrigin, LeasedKey};
use doublehold_history::instant;

const NO_KEYS: &str = "no client was done with a key that was seen";

pub(super) fn ask(report: &Report) -> RuleVerdict {
    let calls = calls(&report.history);
    let mut judged = false;
    let mut broken = Vec::new();
    for key in report.leases.keys.iter().filter(|key| key.span.origin != KeyOrigin::Replicated) {
        let Some(owner) = calls.get(&key.span.grant) else { continue };
        // Another client that marks its keys alike has none here: it would have set it anew.
        let owners = key.calls.iter().filter_map(|call| calls.get(call));
        let owners: Vec<&Call> = owners.filter(|call| call.client == owner.client).collect();
        let Some((done, own)) = all_done(&owners).zip(owner.done) else { continue };
        judged = true;
        if is_left(report, key, &owners, done) {
            broken.push(breach(report, key, done, own.how));
        }
    }
    RuleVerdict::new(broken, judged, NO_KEYS)
}

/// When the last of these calls was done, if all are.
fn all_done(calls: &[&Call]) -> Option<Done> {
    let done: Option<Vec<Done>> = calls.iter().map(|call| call.done).collect();
    done?.into_iter().max_by_key(|done| done.at)
}

fn is_left(report: &Report, key: &LeasedKey, owners: &[&Call], done: Done) -> bool {
    let is_there = match key.span.until {
        None => true,
        Some((at, KeyEnd::Expired)) => at > done.at,
        // Somebody took it away, or the node lost it.
        Some(_) => false,
    };
    let Some(last) = key.leases.last() else { return false };
    if !is_there || last.ends.is_none() {
        return is_there && key.span.until.is_none();
    }
    let left_on_purpose =
        owners.iter().any(|call| call.release_called.is_some_and(|called| called <= last.from));
    done.how != DoneHow::Died && !left_on_purpose && !was_struck(report, since(key, done))
}

/// Since when it is there for nobody: a late command may have made it anew.
fn since(key: &LeasedKey, done: Done) -> TrueNs {
    key.span.from.max(done.at)
}

fn breach(report: &Report, key: &LeasedKey, done: Done, own: DoneHow) -> Breach {
    let (client, node) = (host_name(report, key.span.client), host_name(report, key.span.node));
    let (from, until) = (since(key, done), key.leases.last().and_then(|lease| lease.ends));
    let why = match own {
        DoneHow::NotGranted => "was not granted the lock",
        DoneHow::Released | DoneHow::ReleaseUnknown => "gave the lock back",
        DoneHow::Died => "died",
    };
    let length = match until {
        None => "for ever: it has no end".to_owned(),
        Some(until) => {
            let length = duration(until.since(from));
            format!("for {length}, until its time is up")
        }
    };
    let (call, since) = (key.span.grant, instant(from));
    Breach {
        at: from,
        until,
        client: client.to_owned(),
        call,
        node: Some(key.span.node),
        words: format!(
            "{client} {why} and its key of call {} stays on {node} from {since} on {length}",
            call.0
        ),
    }
}
