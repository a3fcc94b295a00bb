//! How a lock was lost, in words: what happened, in order, and no cause.

use doublehold_diagnosis::finding::{
    ChangedWrongKey, Deletion, Finding, Freed, GrantedLate, HolderCall, KeyLost, LeftBehind, Loss, LossKind,
    MeantFor, Meanwhile, PromotedWithout, WentBy, WrongChange,
};
use doublehold_history::ClientId;
use doublehold_text::{clean, duration, signed_duration};

use crate::picture::facts::Facts;

/// A sentence in two parts, between which the cause stands.
pub(super) struct Sentence {
    /// What happened.
    pub(super) first: String,
    /// What followed from it.
    pub(super) then: String,
}

/// The sentence of a finding.
pub(super) fn sentence(facts: &Facts<'_>, finding: &Finding) -> Sentence {
    let alone = |first: String| Sentence { first, then: String::new() };
    let followed = |first: String, freed: &Option<Freed>| Sentence {
        first,
        then: freed.as_ref().map_or(String::new(), |freed| freed_words(facts, freed)),
    };
    match finding {
        Finding::KeyLost(it) => followed(key_lost(facts, it), &it.freed),
        Finding::GrantedLate(it) => followed(granted_late(facts, it), &it.freed),
        Finding::PromotedWithout(it) => followed(promoted_without(facts, it), &it.freed),
        Finding::WroteLate { client, next, on_its_way_ns } => {
            let ([name, next], long) =
                ([*client, *next].map(|it| facts.client(it)), duration(*on_its_way_ns));
            alone(format!(
                "{name}'s write was on its way for {long}, and {next} was granted the lock meanwhile"
            ))
        }
        Finding::ChangedWrongKey(it) => alone(changed_wrong_key(facts, it)),
        Finding::LeftBehind(it) => alone(left_behind(facts, it)),
        Finding::RefusedLate { client, stopped, figures } => {
            let (name, figures) = (facts.client(*client), clean(figures));
            let after =
                stopped.map_or(String::new(), |stop| format!("was {stop} while it asked for the lock, and "));
            alone(format!("{name} {after}refused a grant that came too late: {figures}"))
        }
    }
}

fn key_lost(facts: &Facts<'_>, it: &KeyLost) -> String {
    let ways: Vec<String> = it.losses.iter().map(|loss| loss_words(facts, it, loss)).collect();
    let next = facts.client(it.next);
    let by = match it.granted_by.as_slice() {
        [] => String::new(),
        nodes => format!(" by {}", facts.host_list(nodes)),
    };
    format!("{}, and {next} was granted the lock{by}", ways.join(", "))
}

fn loss_words(facts: &Facts<'_>, it: &KeyLost, Loss { nodes, how }: &Loss) -> String {
    let (holder, nodes) = (facts.client(it.holder), facts.host_list(nodes));
    match how {
        LossKind::ExpiredEarly => format!("{holder}'s key expired on {nodes} before its time"),
        LossKind::Expired { meanwhile } => {
            format!(
                "{holder}'s key expired on {nodes} while {}",
                meanwhile_words(facts, it.holder, meanwhile)
            )
        }
        LossKind::SessionEnded { meanwhile } => {
            format!(
                "{holder}'s session ended on {nodes} while {}",
                meanwhile_words(facts, it.holder, meanwhile)
            )
        }
        LossKind::Forgotten => format!("{nodes} forgot {holder}'s key"),
        LossKind::Flushed => format!("{holder}'s key was flushed from {nodes}"),
        LossKind::Evicted => format!("{holder}'s key was evicted from {nodes}"),
        LossKind::Overwritten { ahead_ns } => {
            let taker = facts.client(it.next);
            let ahead = ahead_ns.map_or(String::new(), |by| {
                format!(", whose wall clock was {} ahead of {holder}'s,", duration(by))
            });
            format!("{taker}{ahead} overwrote {holder}'s key on {nodes}")
        }
        LossKind::DeletedByHolder(call) => {
            let call = match call {
                HolderCall::Asking => "'s late clean-up of an earlier attempt",
                HolderCall::Extending => "'s extension",
                HolderCall::Holding => "",
            };
            format!("{holder}{call} deleted its own key on {nodes}")
        }
        LossKind::DeletedByAnother(deletion) => deleted_by_another(facts, deletion, &holder, &nodes),
    }
}

fn deleted_by_another(facts: &Facts<'_>, it: &Deletion, holder: &str, nodes: &str) -> String {
    let who = facts.client(it.by);
    let (own, then) = match &it.own_expired {
        Some(meanwhile) => {
            let meanwhile = meanwhile_words(facts, it.by, meanwhile);
            (format!("{who}'s key expired on {nodes} while {meanwhile}; "), "then ")
        }
        None => (String::new(), ""),
    };
    let key = if who == holder { "its own key".to_owned() } else { format!("{holder}'s key") };
    format!("{own}{who}'s {} on {nodes}", deletion_words(facts, it.meant, &key, then))
}

/// `release deleted c1's key`: of a command that was meant for another.
fn deletion_words(facts: &Facts<'_>, meant: MeantFor, holders_key: &str, then: &str) -> String {
    let release = facts.run.release;
    match meant {
        MeantFor::OwnGrant => format!("{release} {then}deleted {holders_key}"),
        MeantFor::NoGrant => {
            format!("{release} after an attempt that was not granted {then}deleted {holders_key}")
        }
        MeantFor::EarlierGrant => format!("late {release} of an earlier grant {then}deleted its own key"),
        MeantFor::LaterGrant => format!("{release} of a later grant {then}deleted its own key"),
    }
}

fn granted_late(facts: &Facts<'_>, it: &GrantedLate) -> String {
    let (name, nodes) = (facts.client(it.client), facts.host_list(&it.nodes));
    let meanwhile = it.stopped.map_or(String::new(), |stop| format!(" while it was {stop}"));
    let went_by = match it.went_by {
        None => String::new(),
        Some(WentBy::NoDeadline) => ", and it computes no deadline".to_owned(),
        Some(WentBy::PassedDeadline) => ", and it took a grant whose own deadline had passed".to_owned(),
        Some(WentBy::WallClockStepped(by_ns)) => {
            let by = signed_duration(by_ns);
            format!(", and the wall clock that it measured the lease with was stepped by {by}")
        }
        Some(WentBy::StoppedMonotonicClock) => {
            ", and the monotonic clock that it measured the lease with stood still".to_owned()
        }
        Some(WentBy::ComingDeadline) => ", and its own deadline was still to come".to_owned(),
    };
    format!("{name} was granted the lock when its key had expired on {nodes}{meanwhile}{went_by}")
}

fn promoted_without(facts: &Facts<'_>, it: &PromotedWithout) -> String {
    let [holder, next] = [it.holder, it.next].map(|client| facts.client(client));
    let died = it.died.map_or(String::new(), |(master, how)| format!("{} {how}, ", facts.host(master)));
    format!(
        "{died}{} was promoted without {holder}'s key, and granted the lock to {next}",
        facts.host(it.node)
    )
}

/// What followed: the first holder's release deleted the next one's key, and let another in.
fn freed_words(facts: &Facts<'_>, it: &Freed) -> String {
    let (who, whose, release) = (facts.client(it.by), facts.client(it.whose), facts.run.release);
    let let_in = it
        .let_in
        .map_or(String::new(), |client| format!(", and {} was granted the lock", facts.client(client)));
    format!("; {who}'s {release} then deleted {whose}'s key on {}{let_in}", facts.node(it.node))
}

fn meanwhile_words(facts: &Facts<'_>, client: ClientId, meanwhile: &Meanwhile) -> String {
    let name = facts.client(client);
    match meanwhile {
        Meanwhile::Stopped { state, in_release } => {
            format!("{name} was {state}{}", if *in_release { " in its release" } else { "" })
        }
        Meanwhile::Releasing => format!("{name}'s release was under way"),
        Meanwhile::WaitedFor(lock) => format!("{name} waited for {}", facts.the_lock(*lock)),
        Meanwhile::Writing => format!("{name}'s write was on its way"),
        Meanwhile::Working => format!("{name} was still at work"),
    }
}

fn changed_wrong_key(facts: &Facts<'_>, it: &ChangedWrongKey) -> String {
    let ([name, holder], node) = ([it.client, it.holder].map(|it| facts.client(it)), facts.node(it.node));
    match &it.change {
        WrongChange::DeletedAfterOwnExpired => {
            let release = facts.run.release;
            format!("{name}'s own key had expired on {node}, and its {release} deleted {holder}'s key there")
        }
        WrongChange::DeletedOwn(meant) => {
            format!("{name}'s {} on {node}", deletion_words(facts, *meant, "its own key", ""))
        }
        WrongChange::CleanedUp => {
            let key =
                if it.client == it.holder { "its own key".to_owned() } else { format!("{holder}'s key") };
            format!("{name} cleaned up after an attempt that was not granted, and deleted {key} on {node}")
        }
        WrongChange::MovedExpiry(left) => {
            let left = left.as_ref().map_or(String::new(), |it| format!("; {}", left_behind(facts, it)));
            format!("{name} was not granted the lock, and moved the expiry of {holder}'s key on {node}{left}")
        }
    }
}

fn left_behind(facts: &Facts<'_>, it: &LeftBehind) -> String {
    let (name, nodes) = (facts.host(it.client), facts.host_list(&it.nodes));
    let long = if it.outlives_lease { " for longer than its lease" } else { "" };
    match it.is_abandoned {
        true => format!("{name} left the lock without giving it back, and its key stays on {nodes}{long}"),
        false => format!("{name}'s process is gone, and its key stays on {nodes}{long}"),
    }
}
