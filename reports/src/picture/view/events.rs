//! The whole history in words, event by event: what evidence points to.
//!
//! The story's sentences are about what matters; these leave nothing out but readings of clocks.

use doublehold_history::{CallId, EventKind, KeyEnd, KeyOp, ReleaseOutcome, TrueNs};
use doublehold_scenarios::scenario::HostIndex;
use doublehold_text::clean;
use serde::Serialize;

use super::clients::deadline_words;
use crate::picture::facts::Facts;

/// One event of the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EventLine {
    /// When.
    pub at: TrueNs,
    /// The client that it is about.
    pub host: Option<HostIndex>,
    /// The acquire call that it belongs to.
    pub call: Option<CallId>,
    /// What happened.
    pub words: String,
}

pub(super) fn lines(facts: &Facts<'_>) -> Vec<EventLine> {
    let events = facts.run.history.events().iter();
    let line = |event: &doublehold_history::Event| {
        let client = event.what.client();
        Some(EventLine {
            at: event.at,
            host: client.and_then(|client| facts.host_of(client)),
            call: event.what.call(),
            words: clean(&words(&event.what, facts)?),
        })
    };
    events.filter_map(line).collect()
}

/// `None` for what is nothing that happened.
fn words(what: &EventKind, facts: &Facts<'_>) -> Option<String> {
    let name = what.client().map(|client| facts.client(client)).unwrap_or_default();
    let of = |call: CallId| format!("{} (call {})", facts.the_lock(facts.lock_of(call)), call.0);
    Some(match what {
        EventKind::AcquireStarted { call, .. } => format!("{name} asks for {}", of(*call)),
        EventKind::Granted { grant, fencing, deadline, .. } => {
            let fencing = fencing.map(|number| format!(", with fencing number {number}"));
            let until = deadline.map(|it| format!(", until {}", deadline_words(it, &name)));
            format!(
                "{name} is granted {}{}{}",
                of(*grant),
                fencing.unwrap_or_default(),
                until.unwrap_or_default()
            )
        }
        EventKind::Refused { call, why, .. } => format!("{name} is refused {}: {why}", of(*call)),
        EventKind::AcquireUnknown { call, why, .. } => {
            format!("{name} does not learn whether it was granted {}: {why}", of(*call))
        }
        EventKind::DeadlinePassed { grant, .. } => format!("{name}'s own deadline for {} passes", of(*grant)),
        EventKind::ExpiryNoticed { grant, .. } => {
            format!("{name} stops: its lease of {} is over, or lost", of(*grant))
        }
        EventKind::LossNotice { grant, notice, .. } => {
            let notice = clean(notice);
            format!("{name}'s library says {notice}, while it holds {}", of(*grant))
        }
        EventKind::Extended { grant, deadline, .. } => {
            let until = deadline.map(|it| format!(", until {}", deadline_words(it, &name)));
            format!("{name} extends {}{}", of(*grant), until.unwrap_or_default())
        }
        EventKind::ExtendFailed { grant, why, .. } => format!("{name} cannot extend {}: {why}", of(*grant)),
        EventKind::Abandoned { grant, .. } => format!("{name} leaves {} without giving it back", of(*grant)),
        EventKind::ReleaseCalled { grant, .. } => format!("{name} calls release of {}", of(*grant)),
        EventKind::ReleaseReturned { grant, outcome, .. } => {
            let outcome = match outcome {
                ReleaseOutcome::Released => "it was its own",
                ReleaseOutcome::NotOwner => "it no longer held it",
                ReleaseOutcome::Unknown => "it does not learn what became of it",
            };
            format!("{name}'s release of {} returns: {outcome}", of(*grant))
        }
        EventKind::Died { .. } => format!("{name}'s process is gone"),
        EventKind::Restarted { .. } => format!("{name} runs again, remembering nothing"),
        EventKind::GaveUp { call, .. } => {
            format!("{name} gives up asking for {}{}", of(*call), facts.left_out(*call))
        }
        EventKind::Clocks { .. } => return None,
        EventKind::Inconclusive { why: words }
        | EventKind::Unattributed { why: words, .. }
        | EventKind::Struck { what: words, .. } => words.clone(),
        EventKind::RunEnded { .. } => "the run ends".to_owned(),
        EventKind::ReadDone { .. }
        | EventKind::WriteSent { .. }
        | EventKind::WriteApplied { .. }
        | EventKind::WriteRefused { .. }
        | EventKind::WriteLost { .. }
        | EventKind::KeyTouched { .. }
        | EventKind::KeySet { .. }
        | EventKind::KeyGone { .. } => effect(what, &name, facts),
    })
}

/// What was done to the resource or to a key.
fn effect(what: &EventKind, name: &str, facts: &Facts<'_>) -> String {
    let header = facts.run.history.header();
    let under = |grant: &CallId| format!("under grant {}", grant.0);
    match what {
        EventKind::ReadDone { grant, object, version, .. } => {
            format!("{name} has read version {version} of {}, {}", header.object(*object), under(grant))
        }
        EventKind::WriteSent { grant, object, based_on, .. } => {
            let based_on = based_on.map(|version| format!(", computed from version {version}"));
            let object = header.object(*object);
            format!("{name} sends a write of {object}{}, {}", based_on.unwrap_or_default(), under(grant))
        }
        EventKind::WriteApplied { grant, object, version, .. } => {
            let object = header.object(*object);
            format!("the resource applies {name}'s write of {object} as version {version}, {}", under(grant))
        }
        EventKind::WriteRefused { grant, object, why, .. } => {
            let object = header.object(*object);
            format!("the resource refuses {name}'s write of {object}, {}: {why}", under(grant))
        }
        EventKind::WriteLost { grant, object, version, acknowledged, .. } => {
            let object = header.object(*object);
            let told = if *acknowledged { ", and was told that it is committed" } else { "" };
            format!("{name}'s version {version} of {object} is lost, {}{told}", under(grant))
        }
        EventKind::KeyTouched { node, by, held, op, .. } => {
            let (node, op) = (header.node(*node), if *op == KeyOp::Release { "deletes" } else { "changes" });
            format!("{name}'s call {} {op} the key of grant {} on {node}", by.0, held.0)
        }
        EventKind::KeySet { node, grant, .. } => {
            format!("{} has the key of call {} from now on", header.node(*node), grant.0)
        }
        EventKind::KeyGone { node, grant, how, .. } => {
            format!(
                "{} no longer has the key of call {}: it {}",
                header.node(*node),
                grant.0,
                end_words(*how)
            )
        }
        _ => String::new(),
    }
}

fn end_words(how: KeyEnd) -> &'static str {
    match how {
        KeyEnd::Expired => "has expired",
        KeyEnd::Deleted => "was deleted",
        KeyEnd::Overwritten => "was overwritten",
        KeyEnd::Forgotten => "is forgotten",
        KeyEnd::Flushed => "was flushed",
        KeyEnd::Evicted => "was evicted",
        KeyEnd::SessionEnded => "is gone with its session",
    }
}
