//! The facts that the one sentence before the list may be made from: the events that led to the first violation.

use std::time::Duration;

use doublehold_history::{CallId, ClientId, ClockKind, EventKind, KeyOp, TrueNs};
use doublehold_scenarios::report::{KeyEnd, KeyOrigin, KeySpan};
use doublehold_scenarios::scenario::HostIndex;
use doublehold_sim::{Event, Fault};
use regex_lite::Captures;

use crate::sentences::faults::{end_of, is_stopped, kind_of};
use crate::sentences::seen::{Claim, Seen, between, clock_of, says};
use crate::sentences::touches;

/// A kind of cause, and whether what it says is so. `None`: it names what is not there.
pub(crate) struct Rule {
    pub(crate) says: &'static str,
    pub(crate) holds: fn(&Seen<'_>, &Captures<'_>) -> Option<bool>,
}

pub(crate) const RULES: &[Rule] = &[
    Rule {
        says: r"^(?<who>\w+)'s key expired on (?<nodes>.+) before its time, and (?<later>\w+) was granted the lock(?: by (?<by_nodes>.+))?$",
        holds: |seen, it| {
            let early = |key: &KeySpan, until: TrueNs| {
                between(set_at(seen, key), until) < seen.report.scenario.lock.ttl.mul_f64(0.91)
            };
            Some(lost(seen, it, KeyEnd::Expired, early)? && granted_by(seen, it)?)
        },
    },
    Rule {
        says: r"^(?<who>\w+)'s key was (?<how>flushed|evicted) from (?<nodes>[\w, ]+), and (?<later>\w+) was granted the lock(?: by (?<by_nodes>.+))?$",
        holds: |seen, it| Some(lost(seen, it, end_of(&it["how"]), |_, _| true)? && granted_by(seen, it)?),
    },
    Rule {
        says: r"^(?<nodes>.+) forgot (?<who>\w+)'s key, and (?<later>\w+) was granted the lock(?: by (?<by_nodes>.+))?$",
        holds: |seen, it| {
            let died = |key: &KeySpan, until: TrueNs| {
                let node = seen.world(key.node);
                seen.trace(until).any(|event| {
                    let Event::Fault { fault } = event else { return false };
                    matches!(fault, Fault::Crash { host } | Fault::LosePower { host, .. } if *host == node)
                })
            };
            Some(lost(seen, it, KeyEnd::Forgotten, died)? && granted_by(seen, it)?)
        },
    },
    Rule {
        says: r"^(?<who>\w+)'s (?<end>key expired|session ended) on (?<nodes>.+) while (?<again>\w+)(?<meanwhile> was still at work| was paused| was suspended|'s write was on its way), and (?<later>\w+) was granted the lock(?: by (?<by_nodes>.+))?$",
        holds: |seen, it| {
            let (who, same) = (seen.client(&it["who"])?, it["who"] == it["again"]);
            let how = if &it["end"] == "key expired" { KeyEnd::Expired } else { KeyEnd::SessionEnded };
            let lived = |key: &KeySpan, until: TrueNs| {
                let lived = between(set_at(seen, key), until);
                let its_time =
                    how == KeyEnd::SessionEnded || lived >= seen.report.scenario.lock.ttl.mul_f64(0.9);
                its_time && seen.claims_at(who, until)
            };
            let so = is_at(seen, it, how)?;
            Some(same && so && lost(seen, it, how, lived)? && granted_by(seen, it)?)
        },
    },
    Rule {
        says: r"^(?<who>\w+)'s key expired on (?<nodes>.+) while (?<again>\w+)(?<meanwhile> was (?<stop>paused|suspended)(?<within> in its release)?|'s release was under way| was still at work)$",
        holds: |seen, it| {
            let who = seen.client(&it["who"])?;
            let at = ends(seen, it, KeyEnd::Expired)?.into_iter().map(|(_, at)| at).max()?;
            let called = seen.all().any(|(when, what)| {
                when <= at && matches!(what, EventKind::ReleaseCalled { client, .. } if *client == who)
            });
            let kind = match it.name("stop").map(|stop| stop.as_str()) {
                Some("paused") => Some("pause"),
                Some(_) => Some("suspend"),
                None => None,
            };
            let stopped = kind.is_none_or(|kind| is_stopped(seen, who, at, kind));
            let releasing = it.name("within").is_some() || it["meanwhile"].ends_with("under way");
            Some(it["who"] == it["again"] && stopped && releasing == called)
        },
    },
    Rule {
        says: r"^(?<who>\w+) (?:was (?<stop>paused|suspended) while it asked for the lock, and )?refused a grant that came too late: (?<took>[\d.]+ \S+) had passed on its (?<clock>\w+) clock, (?<allowed>[\d.]+ \S+) were allowed$",
        holds: refused_too_late,
    },
    Rule {
        says: r"^(?<who>\w+) was granted the lock when its key had expired on (?<nodes>.+?)(?: while it was (?<stop>paused|suspended))?, and (?:it (?<none>computes no deadline)|it took a grant whose own deadline (?<passed>had passed)|its own deadline was (?<coming>still to come)|the wall clock that it measured the lease with was stepped by -(?<by>[\d.]+ \S+)|the monotonic clock that it measured the lease with (?<still>stood still))$",
        holds: |seen, it| {
            let who = seen.client(&it["who"])?;
            let ends = ends(seen, it, KeyEnd::Expired)?;
            let stopped = it.name("stop").is_none_or(|stop| {
                let kind = if stop.as_str() == "paused" { "pause" } else { "suspend" };
                ends.iter().all(|(_, at)| is_stopped(seen, who, *at, kind))
            });
            let grant = ends.first()?.0.grant;
            let granted = seen.claims.iter().find(|claim| claim.grant == grant)?.from;
            let overlaps = seen.claims.iter().any(|claim| {
                claim.client != who && claim.from < granted && claim.to.is_none_or(|to| granted < to)
            });
            let late = overlaps && ends.iter().all(|(_, at)| *at <= granted);
            Some(stopped && late && took_it_because(seen, it, who, grant)?)
        },
    },
    Rule {
        says: r"^(?:(?<dead>\w+) (?<how>crashed|lost power), )?(?<node>\w+) was promoted without (?<who>\w+)'s key, and granted the lock to (?<later>\w+)$",
        holds: |seen, it| {
            let (node, later) = (seen.host(&it["node"])?, seen.client(&it["later"])?);
            let never = !seen.keys(&it["who"]).any(|key| key.node == node);
            let claim = overlapping(seen, seen.client(&it["who"])?, later)?;
            let promoted = seen.faults().any(|(_, fault)| {
                kind_of(fault) == "promote"
                    && fault.hosts == [node]
                    && fault.from.is_some_and(|at| at < claim.from)
            });
            let died = it.name("dead").is_none_or(|dead| {
                let kind = if &it["how"] == "crashed" { "crash" } else { "power-loss" };
                let dead = seen.host(dead.as_str());
                let had = seen.keys(&it["who"]).any(|key| Some(key.node) == dead);
                had && seen.faults().any(|(_, fault)| {
                    kind_of(fault) == kind
                        && Some(fault.hosts[0]) == dead
                        && fault.from.is_some_and(|at| at < claim.from)
                })
            });
            Some(never && promoted && died && executed(seen, node, &it["later"], claim))
        },
    },
    Rule {
        says: r"^(?<who>\w+)(?<how>'s late clean-up of an earlier attempt|'s extension|) deleted its own key on (?<nodes>.+?), and (?<later>\w+) was granted the lock(?: by (?<by_nodes>.+))?$",
        holds: |seen, it| {
            // The claim went on: it overlaps the next one, so this was no release of the holder's own.
            let by_itself = |key: &KeySpan, until: TrueNs| {
                let own = |by: CallId, held: CallId| by == held && held == key.grant;
                let mut at_once = seen.history(until);
                let touched =
                    at_once.any(|it| matches!(it, EventKind::KeyTouched { by, held, .. } if own(*by, *held)));
                let mut later = seen.all().filter(|(at, _)| *at >= until);
                let extending = later.any(|(_, what)| match what {
                    EventKind::Extended { grant, .. } | EventKind::ExtendFailed { grant, .. } => {
                        *grant == key.grant
                    }
                    _ => false,
                });
                touched && extending == (&it["how"] == "'s extension")
            };
            Some(lost(seen, it, KeyEnd::Deleted, by_itself)? && granted_by(seen, it)?)
        },
    },
    Rule {
        says: r"^(?<by>\w+)'s (?<release>release|plain DEL) (?<none>after an attempt that was not granted )?(?<then>then )?deleted (?<who>\w+)'s key on (?<nodes>.+?)(?:, and (?<later>\w+) was granted the lock(?: by (?<by_nodes>.+))?)?$",
        holds: |seen, it| Some(touches::freed_anothers(seen, it)? && let_in(seen, it)?),
    },
    Rule {
        says: r"^(?<who>\w+)'s (?:late (?<release>release|plain DEL) of an earlier grant|(?<again>release|plain DEL) of a later grant|(?<none>release|plain DEL) after an attempt that was not granted) (?:then )?deleted its own key on (?<nodes>.+?)(?:, and (?<later>\w+) was granted the lock(?: by (?<by_nodes>.+))?)?$",
        holds: |seen, it| Some(touches::freed_its_own(seen, it)? && let_in(seen, it)?),
    },
    Rule {
        says: r"^(?<taker>\w+)(?:, whose wall clock was (?<ahead>[\d.]+ \S+) ahead of (?<again>\w+)'s,)? overwrote (?<who>\w+)'s key on (?<nodes>.+), and (?<later>\w+) was granted the lock(?: by (?<by_nodes>.+))?$",
        holds: |seen, it| {
            let set = |key: &KeySpan, until: TrueNs| {
                seen.keys(&it["later"]).any(|other| other.node == key.node && other.from == until)
            };
            let ahead = it.name("ahead").is_none_or(|ahead| {
                is_ahead(seen, it, ahead.as_str()) == Some(true) && it["again"] == it["who"]
            });
            let taker = it["taker"] == it["later"] && granted_by(seen, it)?;
            Some(lost(seen, it, KeyEnd::Overwritten, set)? && ahead && taker)
        },
    },
    Rule {
        says: r"^(?<who>\w+)'s write was on its way for (?<long>.+), and (?<later>\w+) was granted the lock meanwhile$",
        holds: |seen, it| {
            let (who, later) = (seen.client(&it["who"])?, seen.client(&it["later"])?);
            Some(seen.all().any(|(at, what)| match what {
                EventKind::WriteApplied { client, grant, .. } if *client == who => {
                    let sent = sent_at(seen, |it| it == *grant);
                    sent.is_some_and(|sent| {
                        let granted = seen
                            .claims
                            .iter()
                            .any(|claim| claim.client == later && sent < claim.from && claim.from < at);
                        granted && says(&it["long"], between(sent, at))
                    })
                }
                _ => false,
            }))
        },
    },
    Rule {
        says: r"^(?<by>\w+)'s own key had expired on (?<node>\w+), and its (?:release|plain DEL) deleted (?<who>\w+)'s key there$",
        holds: |seen, it| {
            let (by, node) = (seen.client(&it["by"])?, seen.host(&it["node"])?);
            let touched = seen.all().find_map(|(at, what)| match what {
                EventKind::KeyTouched { client, by: meant, held, op: KeyOp::Release, .. }
                    if *client == by && meant != held =>
                {
                    Some((at, *meant))
                }
                _ => None,
            });
            let (at, meant) = touched?;
            let own = seen.keys(&it["by"]).find(|key| key.node == node && key.grant == meant)?;
            let deleted =
                seen.keys(&it["who"]).any(|key| key.node == node && key.until == Some((at, KeyEnd::Deleted)));
            let expired = own.until.is_some_and(|(until, how)| how == KeyEnd::Expired && until <= at);
            Some(deleted && expired)
        },
    },
    Rule {
        says: r"^(?<by>\w+) cleaned up after an attempt that was not granted, and deleted (?:(?<who>\w+)'s|its own) key on (?<node>\w+)$",
        holds: |seen, it| {
            let (by, node) = (seen.client(&it["by"])?, seen.host(&it["node"])?);
            let who = it.name("who").map_or(&it["by"], |who| who.as_str());
            let touched = seen.all().find_map(|(at, what)| match what {
                EventKind::KeyTouched { client, by: meant, held, .. } if *client == by && meant != held => {
                    Some((at, *meant))
                }
                _ => None,
            });
            let (at, meant) = touched?;
            let deleted =
                seen.keys(who).any(|key| key.node == node && key.until == Some((at, KeyEnd::Deleted)));
            let granted = seen.claims.iter().any(|claim| claim.grant == meant && claim.from <= at);
            let named = it.name("who").is_none_or(|who| who.as_str() != &it["by"]);
            Some(deleted && named && !granted)
        },
    },
    Rule {
        says: r"^(?<by>\w+) was not granted the lock, and moved the expiry of (?<who>\w+)'s key on (?<node>\w+)$",
        holds: |seen, it| {
            let (by, node) = (seen.client(&it["by"])?, seen.host(&it["node"])?);
            let (at, meant) = seen.all().find_map(|(at, what)| match what {
                EventKind::KeyTouched { client, by: meant, held, op: KeyOp::Extend, .. }
                    if *client == by && meant != held =>
                {
                    Some((at, *meant))
                }
                _ => None,
            })?;
            let there = seen.keys(&it["who"]).any(|key| {
                key.node == node && key.from < at && key.until.is_none_or(|(until, _)| at < until)
            });
            Some(there && !seen.claims.iter().any(|claim| claim.grant == meant))
        },
    },
    Rule {
        says: r"^(?<who>\w+)'s process is gone, and its key stays on (?<nodes>.+?)(?<long> for longer than its lease)?$",
        holds: |seen, it| {
            let (who, nodes) = (seen.client(&it["who"])?, seen.hosts(&it["nodes"])?);
            let died = seen.all().find_map(|(at, what)| {
                matches!(what, EventKind::Died { client } if *client == who).then_some(at)
            })?;
            // A wait of at least a second began and ended, or did not end, while the key was there.
            let stays = |node: &HostIndex| {
                seen.keys(&it["who"]).any(|key| {
                    key.node == *node
                        && key.from <= died
                        && key.until.is_none_or(|(until, _)| between(died, until) > Duration::from_secs(1))
                        && it.name("long").is_some()
                            == (between(key.from, key.until.map_or(seen.report.ended, |(until, _)| until))
                                > seen.report.scenario.lock.ttl)
                })
            };
            Some(nodes.iter().all(stays))
        },
    },
];

/// Whether a client took a grant whose lease was over for the reason that a sentence gives.
fn took_it_because(seen: &Seen<'_>, it: &Captures<'_>, who: ClientId, grant: CallId) -> Option<bool> {
    let (at, deadline, reading) = seen.all().find_map(|(at, what)| match what {
        EventKind::Granted { grant: granted, deadline, reading, .. } if *granted == grant => {
            Some((at, *deadline, (*reading)?))
        }
        _ => None,
    })?;
    if it.name("none").is_some() {
        return Some(deadline.is_none());
    }
    let asked = seen.asked(grant)?;
    let passed = seen.all().any(|(when, what)| {
        matches!(what, EventKind::DeadlinePassed { grant: of, .. } if *of == grant) && when <= at
    });
    if it.name("passed").is_some() {
        return Some(passed);
    }
    if it.name("coming").is_some() {
        return Some(deadline.is_some() && !passed);
    }
    if it.name("still").is_some() {
        let slept = Duration::from_nanos(reading.boot_ns - reading.monotonic_ns);
        let measured = deadline?.clock == ClockKind::Monotonic;
        return Some(
            measured && it.name("stop")?.as_str() == "suspended" && slept > seen.report.scenario.lock.ttl,
        );
    }
    let host = seen.world(seen.host_of(who));
    let stepped = seen.trace.iter().any(|record| match record.event {
        Event::Fault { fault: Fault::StepClock { host: of, by_ns } } => {
            let back = u64::try_from(-by_ns).is_ok_and(|ns| says(&it["by"], Duration::from_nanos(ns)));
            of == host && back && (asked.0..at.0).contains(&record.at.0)
        }
        _ => false,
    });
    Some(deadline?.clock == ClockKind::Wall && stepped)
}

/// Nothing is violated, and a client refused a grant by the figures of the sentence: no more time than truly passed, of
/// a lease less what is published to be given up for drift.
fn refused_too_late(seen: &Seen<'_>, it: &Captures<'_>) -> Option<bool> {
    let who = seen.client(&it["who"])?;
    let (at, call) = seen.all().find_map(|(at, what)| match what {
        EventKind::Refused { client, call, why } if *client == who && why.contains(&it["allowed"]) => {
            Some((at, *call))
        }
        _ => None,
    })?;
    let asked = seen.asked(call)?;
    let ttl = seen.report.scenario.lock.ttl;
    let allowed = says(&it["allowed"], ttl - ttl / 100 - Duration::from_millis(2));
    let took = Duration::from_secs_f64(it["took"].split(' ').next()?.parse().ok()?);
    let bounds = took > ttl - ttl / 100 - Duration::from_millis(3)
        && took <= between(asked, at) + Duration::from_micros(500);
    let stopped = it.name("stop").is_none_or(|stop| {
        let kind = if stop.as_str() == "paused" { "pause" } else { "suspend" };
        let host = seen.host_of(who);
        seen.faults().any(|(_, fault)| {
            kind_of(fault) == kind
                && fault.hosts.contains(&host)
                && fault.from.is_some_and(|from| asked <= from && from < at)
        })
    });
    let clock = clock_of(&seen.report.scenario.lock);
    let harmless = seen.report.verdicts.iter().all(|(_, verdict)| verdict.evidence().is_empty());
    Some(allowed && bounds && stopped && harmless && clock == it["clock"])
}

/// Whether the later client of a sentence, if it has one, was granted the lock as it says.
fn let_in(seen: &Seen<'_>, it: &Captures<'_>) -> Option<bool> {
    if it.name("later").is_some() { granted_by(seen, it) } else { Some(true) }
}

/// Whether the later client's clock was ahead by so much when it was granted the lock, and the first one's lease over
/// by that clock alone.
fn is_ahead(seen: &Seen<'_>, it: &Captures<'_>, ahead: &str) -> Option<bool> {
    let (who, later) = (seen.client(&it["who"])?, seen.client(&it["later"])?);
    let offset = |client: ClientId| seen.report.scenario.hosts[seen.host_of(client).0].wall_offset_ns;
    let by_ns = u64::try_from(offset(later) - offset(who)).ok()?;
    let mut grants = seen.all().filter_map(|(_, what)| match what {
        EventKind::Granted { client, deadline, reading, .. } => Some((*client, *deadline, (*reading)?)),
        _ => None,
    });
    let ends = grants.find(|(client, ..)| *client == who)?.1?.reading_ns;
    let reads = grants.find(|(client, ..)| *client == later)?.2.wall_ns;
    Some(says(ahead, Duration::from_nanos(by_ns)) && reads >= ends && reads - by_ns as i64 <= ends)
}

/// True if the holder was at what the sentence says when its last key ended in this way.
fn is_at(seen: &Seen<'_>, it: &Captures<'_>, how: KeyEnd) -> Option<bool> {
    let who = seen.client(&it["who"])?;
    let last = ends(seen, it, how)?.into_iter().map(|(_, at)| at).max()?;
    Some(match &it["meanwhile"] {
        " was paused" => is_stopped(seen, who, last, "pause"),
        " was suspended" => is_stopped(seen, who, last, "suspend"),
        " was still at work" => {
            let stops = ["pause", "suspend", "crash", "power-loss"];
            !under_way(seen, who, last) && !stops.iter().any(|kind| is_stopped(seen, who, last, kind))
        }
        _ => under_way(seen, who, last),
    })
}

/// The key of a client on each of the nodes that a sentence names, and when it ended in this way. A node that has it
/// again from its file had executed the command before.
fn ends<'a>(seen: &Seen<'a>, it: &Captures<'_>, how: KeyEnd) -> Option<Vec<(&'a KeySpan, TrueNs)>> {
    let of = |node: HostIndex| {
        let mut keys =
            seen.keys(&it["who"]).filter(move |key| key.node == node && key.origin != KeyOrigin::Replicated);
        keys.find_map(|key| key.until.filter(|(_, end)| *end == how).map(|(at, _)| (key, at)))
    };
    seen.hosts(&it["nodes"])?.into_iter().map(of).collect()
}

/// When a node had the key for the first time: what it has again from its file, it had before it died.
fn set_at(seen: &Seen<'_>, key: &KeySpan) -> TrueNs {
    let same = |other: &&KeySpan| (other.node, other.grant) == (key.node, key.grant);
    seen.report.keys.iter().filter(same).map(|other| other.from).min().unwrap_or(key.from)
}

/// Whether on each node that a sentence names the client's key ended in this way, as `so` has it, before the later
/// grant.
fn lost(
    seen: &Seen<'_>,
    it: &Captures<'_>,
    how: KeyEnd,
    so: impl Fn(&KeySpan, TrueNs) -> bool,
) -> Option<bool> {
    let claim = overlapping(seen, seen.client(&it["who"])?, seen.client(&it["later"])?)?;
    let nodes = seen.hosts(&it["nodes"])?;
    let ended = |node: &HostIndex| {
        let keys = seen.keys(&it["who"]).filter(|key| key.node == *node);
        keys.filter_map(|key| Some((key, key.until?)))
            .any(|(key, (at, end))| end == how && at <= claim.from && so(key, at))
    };
    Some(!nodes.is_empty() && nodes.iter().all(ended))
}

/// The first claim of `later` that began while `holder` had one.
fn overlapping<'s>(seen: &'s Seen<'_>, holder: ClientId, later: ClientId) -> Option<&'s Claim> {
    seen.claims
        .iter()
        .find(|claim| claim.client == later && holder != later && seen.claims_at(holder, claim.from))
}

/// Whether the nodes that a sentence says granted the lock executed the later client's command.
fn granted_by(seen: &Seen<'_>, it: &Captures<'_>) -> Option<bool> {
    let claim = overlapping(seen, seen.client(&it["who"])?, seen.client(&it["later"])?)?;
    let Some(nodes) = it.name("by_nodes") else { return Some(true) };
    let nodes = seen.hosts(nodes.as_str())?;
    Some(nodes.iter().all(|node| executed(seen, *node, &it["later"], claim)))
}

fn executed(seen: &Seen<'_>, node: HostIndex, client: &str, claim: &Claim) -> bool {
    let mut keys = seen.keys(client).filter(|key| key.node == node && key.grant == claim.grant);
    keys.any(|key| key.origin == KeyOrigin::Executed && key.from <= claim.from)
}

fn sent_at(seen: &Seen<'_>, wanted: impl Fn(CallId) -> bool) -> Option<TrueNs> {
    seen.all().find_map(|(at, what)| match what {
        EventKind::WriteSent { grant, .. } if wanted(*grant) => Some(at),
        _ => None,
    })
}

/// Whether a write of the client's claim at this instant had been sent and had not arrived.
fn under_way(seen: &Seen<'_>, who: ClientId, at: TrueNs) -> bool {
    let claim = seen
        .claims
        .iter()
        .find(|claim| claim.client == who && claim.from <= at && claim.to.is_none_or(|to| at < to));
    let Some(claim) = claim else { return false };
    let count = |wanted: fn(&EventKind) -> Option<CallId>| {
        seen.all().filter(|(when, what)| *when <= at && wanted(what) == Some(claim.grant)).count()
    };
    let sent = count(|what| if let EventKind::WriteSent { grant, .. } = what { Some(*grant) } else { None });
    let arrived = count(|what| match what {
        EventKind::WriteApplied { grant, .. } | EventKind::WriteRefused { grant, .. } => Some(*grant),
        _ => None,
    });
    arrived < sent
}
