//! Which facts the evidence beneath the verdicts may be made from: one rule for each kind of sentence.

use doublehold_history::{CallId, ClientId, ClockKind, EventKind, KeyOp, TrueNs};
use regex_lite::Captures;

use crate::sentences::seen::{Seen, between, says};
use crate::sentences::touches;
use crate::sentences::waits;

/// A kind of evidence, and whether what it says is so. `None`: it names what is not there.
pub(crate) struct Rule {
    pub(crate) says: &'static str,
    pub(crate) holds: fn(&Seen<'_>, &Captures<'_>) -> Option<bool>,
}

pub(crate) const RULES: &[Rule] = &[
    Rule {
        says: r#"^(?<one>\w+) and (?<other>\w+) both (?<validly>validly )?held "[^"]+" for (?<long>[\d.]+ \S+) of true time, from (?<from>[\d.]+ s) (?:to|until the run ended at) (?<to>[\d.]+ s)(?<clocks>(?:; on \w+'s \w+ clock from [^;]+)*)$"#,
        holds: overlap,
    },
    Rule {
        says: r#"^(?<who>\w+)'s write of "[^"]+" \(version (?<version>\d+)\) was applied at (?<at>[\d.]+ s), (?<long>[\d.]+ \S+) after (?<later>\w+)(?: itself)? had been granted "[^"]+" at (?<granted>[\d.]+ s); (?<again>\w+) wrote under its grant of (?<own>[\d.]+ s)$"#,
        holds: stale_write,
    },
    Rule {
        says: r#"^lost update on "[^"]+": (?<one>\w+) \(grant (?<grant>\d+)\) read version (?<read>\d+), (?<other>\w+) \(grant (?<between>\d+)\) wrote version (?<wrote>\d+), and (?<again>\w+) overwrote it with version (?<over>\d+) without having seen it$"#,
        holds: lost_update,
    },
    Rule {
        says: r#"^lost write: (?<who>\w+) \(grant (?<grant>\d+)\) was told that version (?<version>\d+) of "[^"]+" is committed, and since (?<at>[\d.]+ s) the resource does not have it$"#,
        holds: lost_write,
    },
    Rule {
        says: r#"^(?<who>\w+)'s release of grant (?<by>\d+) deleted the key of "[^"]+" on (?<node>\w+) at (?<at>[\d.]+ s), while it held the token of (?<holder>\w+) \(grant (?<held>\d+)\)$"#,
        holds: |seen, it| Some(wrong_key(seen, it)? && is_granted_by_then(seen, it)?),
    },
    Rule {
        says: r#"^(?<who>\w+)'s acquire call (?<by>\d+), cleaning up after an attempt, deleted the key of "[^"]+" on (?<node>\w+) at (?<at>[\d.]+ s), while it held the token of (?<holder>\w+) \(grant (?<held>\d+)\)$"#,
        holds: |seen, it| {
            let by = CallId(it["by"].parse().ok()?);
            let later = seen.claims.iter().any(|claim| claim.grant == by) && !is_granted_by_then(seen, it)?;
            Some(wrong_key(seen, it)? && later)
        },
    },
    Rule {
        says: r#"^(?<who>\w+)'s cleaning up after attempt (?<by>\d+), which was not granted, deleted the key of "[^"]+" on (?<node>\w+) at (?<at>[\d.]+ s), while it held the token of (?<holder>\w+) \(grant (?<held>\d+)\)$"#,
        holds: |seen, it| {
            let by = CallId(it["by"].parse().ok()?);
            Some(wrong_key(seen, it)? && !seen.claims.iter().any(|claim| claim.grant == by))
        },
    },
    Rule {
        says: r#"^(?<who>\w+)'s (?<call>extension of grant|acquire call) (?<by>\d+) changed the key of "[^"]+" on (?<node>\w+) at (?<at>[\d.]+ s), while it held the token of (?<holder>\w+) \(grant (?<held>\d+)\)$"#,
        holds: touches::wrong_extension,
    },
    Rule {
        says: r#"^(?<who>\w+)'s attempt (?<by>\d+), which was not granted, moved the expiry of the key of "[^"]+" on (?<node>\w+) at (?<at>[\d.]+ s), while it held the token of (?<holder>\w+) \(grant (?<held>\d+)\)$"#,
        holds: |seen, it| {
            let by = CallId(it["by"].parse().ok()?);
            Some(moved_expiry(seen, it)? && !seen.claims.iter().any(|claim| claim.grant == by))
        },
    },
    Rule {
        says: r#"^(?<who>.+) waited (?<long>[\d.]+ \S+) for "(?<lock>[^"]+)" while nobody claimed it, from (?<from>[\d.]+ s) until (?<how>it was obtained|the run ended|nobody waited any more) at (?<to>[\d.]+ s); the bound for a free lock is (?<bound>[\d.]+ \S+)$"#,
        holds: waits::free,
    },
    Rule {
        says: r#"^(?<who>\w+) waited (?<long>[\d.]+ \S+) for "(?<lock>[^"]+)", (?:while nobody held it|(?:(?<part>[\d.]+ \S+) of it )?while (?<holders>.+) held it): it asked at (?<from>[\d.]+ s) and (?<how>was granted|gave up|died|was still waiting when the run ended) at (?<to>[\d.]+ s); the bound for any wait is (?<bound>[\d.]+ \S+)$"#,
        holds: waits::any,
    },
];

/// Whether a text such as `12.031 s` names this moment.
pub(crate) fn is(text: &str, at: TrueNs) -> bool {
    says(text, between(TrueNs(0), at))
}

/// Both claimed from the later grant to the end of the first claim; a valid overlap lies within that.
fn overlap(seen: &Seen<'_>, it: &Captures<'_>) -> Option<bool> {
    let (one, other) = (seen.client(&it["one"])?, seen.client(&it["other"])?);
    let (mut held, end) = (false, |to: Option<TrueNs>| to.unwrap_or(seen.report.ended));
    for a in seen.claims.iter().filter(|claim| claim.client == one) {
        for b in seen.claims.iter().filter(|claim| claim.client == other) {
            let (from, to) = (a.from.max(b.from), end(a.to).min(end(b.to)));
            let whole = is(&it["from"], from) && is(&it["to"], to) && says(&it["long"], between(from, to));
            let within = || says_within(&it["from"], from, to) && says_within(&it["to"], from, to);
            held |= from < to && if it.name("validly").is_some() { within() } else { whole };
        }
    }
    let mut clocks = it["clocks"].split("; on ").filter(|said| !said.is_empty());
    Some(held && clocks.all(|said| clock_reads(seen, it, said) == Some(true)))
}

/// Whether a moment lies between two others, give or take the millisecond it is rounded to.
fn says_within(text: &str, from: TrueNs, to: TrueNs) -> bool {
    let Ok(seconds) = text.trim_end_matches(" s").parse::<f64>() else { return false };
    let ns = (seconds * 1e9) as u64;
    (from.0.saturating_sub(1_000_000)..=to.0 + 1_000_000).contains(&ns)
}

/// `c1's monotonic clock from 0.269 s to 1.280 s`: what the client's clocks were seen to read at the two moments.
fn clock_reads(seen: &Seen<'_>, it: &Captures<'_>, said: &str) -> Option<bool> {
    let (who, rest) = said.split_once("'s ")?;
    let (clock, rest) = rest.split_once(" clock from ")?;
    let (from, to) = rest.split_once(" to ")?;
    let (who, clock) = (
        seen.client(who)?,
        [ClockKind::Monotonic, ClockKind::Boot].into_iter().find(|it| it.as_str() == clock),
    );
    let Some(clock) = clock else { return Some(from < to) }; // a date, which the history crate's own tests read
    let read = |at: &str, text: &str| {
        seen.all().any(|(when, what)| match what {
            EventKind::Clocks { client, reading } => {
                let ns = u64::try_from(reading.clock_ns(clock)).unwrap_or(u64::MAX);
                *client == who && is(at, when) && is(text, TrueNs(ns))
            }
            _ => false,
        })
    };
    Some(read(&it["from"], from) && read(&it["to"], to))
}

fn stale_write(seen: &Seen<'_>, it: &Captures<'_>) -> Option<bool> {
    let (who, later) = (seen.client(&it["who"])?, seen.client(&it["later"])?);
    let (at, grant) = seen.all().find_map(|(at, what)| match what {
        EventKind::WriteApplied { client, grant, version, .. }
            if *client == who && it["version"].parse() == Ok(*version) =>
        {
            Some((at, *grant))
        }
        _ => None,
    })?;
    let own = seen.claims.iter().find(|claim| claim.grant == grant)?;
    let overtaken = seen.claims.iter().any(|claim| {
        let then = own.from < claim.from && claim.from <= at && is(&it["granted"], claim.from);
        let then = then && claim.hold != own.hold;
        claim.client == later && then && says(&it["long"], between(claim.from, at))
    });
    Some(is(&it["at"], at) && is(&it["own"], own.from) && overtaken && it["again"] == it["who"])
}

fn lost_write(seen: &Seen<'_>, it: &Captures<'_>) -> Option<bool> {
    let (who, grant) = (seen.client(&it["who"])?, CallId(it["grant"].parse().ok()?));
    let (version, lost_at) = (it["version"].parse().ok()?, &it["at"]);
    let is_it = |(at, what): (TrueNs, &EventKind)| match *what {
        EventKind::WriteLost { client, grant: of, version: made, acknowledged, .. } => {
            acknowledged && (client, of, made) == (who, grant, version) && is(lost_at, at)
        }
        _ => false,
    };
    Some(seen.all().any(is_it))
}

fn lost_update(seen: &Seen<'_>, it: &Captures<'_>) -> Option<bool> {
    let number = |name: &str| it[name].parse::<u64>().ok();
    let (one, other) = (seen.client(&it["one"])?, seen.client(&it["other"])?);
    let (first, second) = (CallId(number("grant")?), CallId(number("between")?));
    let (read, wrote, over) = (number("read")?, number("wrote")?, number("over")?);
    let saw = seen.all().any(|(_, what)| {
        let EventKind::ReadDone { client, grant, version, .. } = what else { return false };
        (*client, *grant, *version) == (one, first, read)
    });
    let applied = |who: ClientId, by: CallId, made: u64| {
        seen.all().any(|(_, what)| {
            let EventKind::WriteApplied { client, grant, version, .. } = what else { return false };
            (*client, *grant, *version) == (who, by, made)
        })
    };
    let blind = read < wrote && wrote < over && it["again"] == it["one"];
    Some(saw && blind && applied(other, second, wrote) && applied(one, first, over))
}

/// The key was there, before and after.
fn moved_expiry(seen: &Seen<'_>, it: &Captures<'_>) -> Option<bool> {
    let (who, node, holder) = (seen.client(&it["who"])?, seen.host(&it["node"])?, seen.host(&it["holder"])?);
    let (by, held) = (CallId(it["by"].parse().ok()?), CallId(it["held"].parse().ok()?));
    let at = seen.all().find_map(|(at, what)| match what {
        EventKind::KeyTouched { client, by: meant, held: of, op: KeyOp::Extend, .. } => {
            ((*client, *meant, *of) == (who, by, held) && is(&it["at"], at)).then_some(at)
        }
        _ => None,
    });
    let there = |at: TrueNs| {
        seen.report.keys.iter().any(|key| {
            (key.node, key.grant, key.client) == (node, held, holder)
                && key.from < at
                && key.until.is_none_or(|(until, _)| at < until)
        })
    };
    Some(at.is_some_and(there) && by != held)
}

/// Whether the call that deleted a key had been granted when it did.
fn is_granted_by_then(seen: &Seen<'_>, it: &Captures<'_>) -> Option<bool> {
    let by = CallId(it["by"].parse().ok()?);
    let mut deletions = touches::touches(seen).filter(|touch| touch.op == KeyOp::Release && touch.by == by);
    let at = deletions.find(|touch| is(&it["at"], touch.at))?.at;
    Some(seen.claims.iter().any(|claim| claim.grant == by && claim.from <= at))
}

fn wrong_key(seen: &Seen<'_>, it: &Captures<'_>) -> Option<bool> {
    let (who, node, holder) = (seen.client(&it["who"])?, seen.host(&it["node"])?, seen.host(&it["holder"])?);
    let (by, held) = (CallId(it["by"].parse().ok()?), CallId(it["held"].parse().ok()?));
    let touched = seen.all().any(|(at, what)| match what {
        EventKind::KeyTouched { client, by: meant, held: of, op: KeyOp::Release, .. } => {
            (*client, *meant, *of) == (who, by, held) && is(&it["at"], at)
        }
        _ => false,
    });
    let gone = seen.report.keys.iter().any(|key| {
        (key.node, key.grant, key.client) == (node, held, holder)
            && key.until.is_some_and(|(until, _)| is(&it["at"], until))
    });
    Some(touched && gone && by != held)
}
