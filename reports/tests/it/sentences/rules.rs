//! Which facts a sentence may be made from: one rule for each kind, checked against the run as [`Seen`] reads it.

use std::collections::BTreeMap;
use std::time::Duration;

use doublehold_history::{ClientId, EventKind, ReleaseOutcome, TrueNs};
use doublehold_scenarios::report::{FaultReport, KeyEnd, KeyOrigin, KeySpan};
use doublehold_scenarios::scenario::{HostIndex, Step};
use doublehold_sim::{Event, Fault};
use regex_lite::Captures;

use crate::sentences::faults::{end_of, kind_of, link_over, loaded, nothing_else_stops, over, starts_again};
use crate::sentences::seen::{Seen, between, says};
use crate::sentences::touches;
use crate::sentences::{failovers, grants};

/// A kind of sentence, and whether what it says is so. `None`: it names what is not there.
pub(crate) struct Rule {
    pub(crate) says: &'static str,
    pub(crate) holds: fn(&Seen<'_>, TrueNs, &Captures<'_>) -> Option<bool>,
}

pub(crate) const RULES: &[Rule] = &[
    Rule {
        says: r"^(?<by>\w+) finds (?<node>\w+) down, as a quorum of Sentinels does$",
        holds: failovers::found_down,
    },
    Rule { says: r"^(?<node>\w+) is promoted by (?<by>\w+), and is a master$", holds: failovers::promoted },
    Rule {
        says: r"^(?<by>\w+) tells clients (?<to>\w+) instead of (?<from>\w+)$",
        holds: failovers::switched,
    },
    Rule {
        says: r"^(?<by>\w+) makes (?<node>\w+) follow (?<master>\w+); its clients are disconnected$",
        holds: failovers::converted,
    },
    Rule {
        says: r"^(?<by>\w+) finds no replica of (?<node>\w+) to promote, and gives up$",
        holds: failovers::found_no_replica,
    },
    Rule {
        says: r"^(?<by>\w+) finds its clock odd, and does nothing for 30 s$",
        holds: failovers::distrusted_clock,
    },
    Rule {
        says: r#"^(?<who>\w+) is granted "(?<lock>[^"]+)"(?: by (?<nodes>.+?))?(?:, with fencing number (?<number>\d+))?(?:, while (?<others>.+) still believes? in (?:its|their) own grants?: double hold)?$"#,
        holds: grants::granted,
    },
    Rule {
        says: r"^(?<who>\w+) (?<verb>is refused|does not learn whether it was granted the lock): (?<why>.*?)(?:; (?<took>[\d.]+ \S+) had passed since it asked, and the lease is (?<lease>[\d.]+ \S+))?(?: \((?<count>\d+) times, until (?<until>[\d.]+ s)\))?$",
        holds: refused,
    },
    Rule {
        says: r"^(?<who>\w+)'s own deadline passes on its (?<clock>\w+) clock(?:; (?<again>\w+) is (?<stopped>[\w ]+) and cannot notice)?$",
        holds: deadline_passed,
    },
    Rule {
        says: r"^(?<who>\w+) (?<what>calls release|notices that its lease has expired, and stops|is told that its lease is lost, and stops|stops, its lease being lost)(?<ends>(?:; end of its double hold with \w+, after [^;]+)*)$",
        holds: claim_ended,
    },
    Rule { says: r"^(?<who>\w+)'s library says (?<word>.+)$", holds: library_said },
    Rule {
        says: r"^(?<who>\w+) extends its lease$",
        holds: |seen, at, it| {
            let who = seen.client(&it["who"])?;
            Some(
                seen.history(at)
                    .any(|what| matches!(what, EventKind::Extended { client, .. } if *client == who)),
            )
        },
    },
    Rule {
        says: r"^(?<who>\w+) cannot extend its lease: (?<why>.+)$",
        holds: |seen, at, it| {
            let who = seen.client(&it["who"])?;
            let failed = |what: &EventKind| matches!(what, EventKind::ExtendFailed { client, why, .. } if *client == who && *why == it["why"]);
            Some(seen.history(at).any(failed))
        },
    },
    Rule { says: r"^(?<who>\w+) learns that it no longer held the lock$", holds: no_longer_held },
    Rule {
        says: r"^(?<who>\w+)'s process is gone(?<claim>, and with it its claims?)?$",
        holds: process_gone,
    },
    Rule {
        says: r"^(?<who>\w+) runs again, remembering nothing$",
        holds: |seen, at, it| {
            let who = seen.client(&it["who"])?;
            let booted = Event::Booted { host: seen.world(seen.host_of(who)) };
            let restarted = seen
                .history(at)
                .any(|what| matches!(what, EventKind::Restarted { client } if *client == who));
            Some(restarted && seen.trace(at).any(|event| *event == booted))
        },
    },
    Rule {
        says: r"^(?<who>\w+) gives up(?:, and leaves out: (?<left>.+?)(?:, and (?<more>\d+) more)?)?$",
        holds: gives_up,
    },
    Rule { says: r"^(?<who>\w+) sends its write, which is on its way for (?<long>.+)$", holds: long_way },
    Rule {
        says: r"^(?<late>late write: )?the resource applies (?<who>\w+)'s version (?<version>\d+)(?:, (?<long>[\d.]+ \S+) after (?<later>\w+) was granted the lock)?(?:, computed from version (?<basis>\d+))?$",
        holds: applied,
    },
    Rule {
        says: r"^the resource refuses (?<who>\w+)'s write: (?<why>.+)$",
        holds: |seen, at, it| {
            let who = seen.client(&it["who"])?;
            let refused = |what: &EventKind| matches!(what, EventKind::WriteRefused { client, why, .. } if *client == who && *why == it["why"]);
            Some(seen.history(at).any(refused))
        },
    },
    Rule {
        says: r"^lost write: the resource does not have (?<who>\w+)'s committed version (?<version>\d+)$",
        holds: |seen, at, it| {
            let who = seen.client(&it["who"])?;
            let lost = |what: &EventKind| matches!(what, EventKind::WriteLost { client, version, acknowledged: true, .. } if *client == who && version.to_string() == it["version"]);
            Some(seen.history(at).any(lost))
        },
    },
    Rule {
        says: r"^(?<who>\w+)'s (?<what>release|clean-up after an attempt) deletes (?<holder>\w+)'s key on (?<node>\w+)$",
        holds: touches::deletes_anothers,
    },
    Rule {
        says: r"^(?<who>\w+)'s (?<what>release|clean-up|extension) of (?<which>an earlier|a later) (?<kind>grant|attempt) (?<did>deletes|changes) its own key on (?<node>\w+)$",
        holds: touches::touches_its_own,
    },
    Rule {
        says: r"^(?<who>\w+)'s (?<what>extension|attempt) (?:changes|moves the expiry of) (?<holder>\w+)'s key on (?<node>\w+)$",
        holds: touches::changes_anothers,
    },
    Rule {
        says: r"^(?<who>\w+)'s key is overwritten on (?<nodes>.+)$",
        holds: |seen, at, it| Some(lost(seen, at, it, KeyEnd::Overwritten)?.is_some()),
    },
    Rule {
        says: r"^(?<who>\w+)'s (?<how>key expires|session ends) on (?<nodes>.+)$",
        holds: |seen, at, it| Some(lost(seen, at, it, end_of(&it["how"]))?.is_some()),
    },
    Rule {
        says: r"^(?<who>\w+)'s key is (?<how>flushed|evicted) from (?<nodes>.+)$",
        holds: |seen, at, it| Some(lost(seen, at, it, end_of(&it["how"]))?.is_some()),
    },
    Rule { says: r"^(?<who>\w+)'s key is gone from (?<nodes>.+)'s memory$", holds: gone_from_memory },
    Rule { says: r"^(?<node>\w+) has (?<who>\w+)'s key again, from its file$", holds: loaded },
    Rule {
        says: r"^(?<who>.+) (?:goes|go) on where (?:it was|they were) stopped$",
        holds: |seen, at, it| {
            Some(over(seen, at, &it["who"], &["pause"])? && nothing_else_stops(seen, at, &it["who"])?)
        },
    },
    Rule {
        says: r"^(?<who>.+) (?:wakes|wake) up$",
        holds: |seen, at, it| over(seen, at, &it["who"], &["suspend"]),
    },
    Rule { says: r"^(?<who>.+) starts? again$", holds: starts_again },
    Rule { says: r"^the cut is healed$", holds: |seen, at, _| link_over(seen, at, &["cut"]) },
    Rule { says: r"^the link is as before$", holds: |seen, at, _| link_over(seen, at, &["slow", "loss"]) },
    Rule {
        says: r"^the step of (?<who>.+)'s wall clock is taken back$",
        holds: |seen, at, it| over(seen, at, &it["who"], &["clock-step"]),
    },
    Rule {
        says: r"^(?<who>.+)'s clocks run as before$",
        holds: |seen, at, it| over(seen, at, &it["who"], &["clock-drift"]),
    },
    Rule {
        says: r"^(?<who>.+)'s clock runs again$",
        holds: |seen, at, it| over(seen, at, &it["who"], &["clock-freeze"]),
    },
    Rule {
        says: r"^over, with another like it going on: (?<words>.+)$",
        holds: |seen, at, it| {
            let one = seen
                .faults()
                .find(|(_, fault)| fault.until == Some(at) && fault.fault.words() == it["words"])?
                .1;
            let other = |fault: &&FaultReport| !std::ptr::eq(*fault, one) && kind_of(fault) == kind_of(one);
            let goes_on = seen.faults().map(|(_, fault)| fault).filter(other);
            Some(
                goes_on
                    .into_iter()
                    .any(|fault| fault.from < Some(at) && fault.until.is_none_or(|until| until > at)),
            )
        },
    },
];

/// The first of a row of refusals for one reason, which a grant or another reason ends.
fn refused(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    let who = seen.client(&it["who"])?;
    let clean = |why: &str| why.split_whitespace().collect::<Vec<_>>().join(" ");
    let outcomes = seen.all().filter(|(when, _)| *when >= at).filter_map(|(when, what)| match what {
        EventKind::Granted { client, .. } if *client == who => Some((when, None)),
        EventKind::Refused { client, why, .. } if *client == who => {
            Some((when, Some(("is refused", clean(why)))))
        }
        EventKind::AcquireUnknown { client, why, .. } if *client == who => {
            Some((when, Some(("does not learn whether it was granted the lock", clean(why)))))
        }
        _ => None,
    });
    if let (Some(took), Some(lease)) = (it.name("took"), it.name("lease")) {
        let asked = seen.all().take_while(|(when, _)| *when <= at).filter_map(|(when, what)| match what {
            EventKind::AcquireStarted { client, .. } if *client == who => Some(when),
            _ => None,
        });
        let took_so_long = says(took.as_str(), between(asked.last()?, at));
        let refused = seen.history(at).any(|what| match what {
            EventKind::Refused { client, why, .. } | EventKind::AcquireUnknown { client, why, .. } => {
                *client == who && clean(why) == it["why"]
            }
            _ => false,
        });
        return Some(refused && took_so_long && says(lease.as_str(), seen.report.scenario.lock.ttl));
    }
    let said = Some((&it["verb"], it["why"].to_owned()));
    let row: Vec<TrueNs> =
        outcomes.take_while(|(_, outcome)| *outcome == said).map(|(when, _)| when).collect();
    let counted = match (it.name("count"), it.name("until")) {
        (Some(count), Some(until)) => {
            let last = *row.last()?;
            count.as_str().parse() == Ok(row.len()) && says(until.as_str(), between(TrueNs(0), last))
        }
        _ => row.len() == 1,
    };
    Some(row.first() == Some(&at) && counted)
}

fn library_said(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    let who = seen.client(&it["who"])?;
    Some(seen.history(at).any(|what| match what {
        EventKind::LossNotice { client, notice, .. } => *client == who && *notice == it["word"],
        _ => false,
    }))
}

fn deadline_passed(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    let who = seen.client(&it["who"])?;
    let passed = seen.history(at).find_map(|what| match what {
        EventKind::DeadlinePassed { client, grant } if *client == who => Some(*grant),
        _ => None,
    })?;
    let on_clock = seen.all().any(|(_, what)| match what {
        EventKind::Granted { grant, deadline: Some(deadline), .. } => {
            *grant == passed && deadline.clock.as_str() == &it["clock"]
        }
        _ => false,
    });
    let stops =
        [("paused", "pause"), ("suspended", "suspend"), ("crashed", "crash"), ("no power", "power-loss")];
    let kind = it
        .name("stopped")
        .map(|word| stops.iter().find(|(said, _)| *said == word.as_str()).map(|(_, kind)| *kind));
    let host = seen.host_of(who);
    let lasting: Vec<&str> = seen
        .faults()
        .filter(|(_, fault)| {
            fault.hosts.contains(&host) && stops.iter().any(|(_, kind)| *kind == kind_of(fault))
        })
        .filter(|(_, fault)| {
            fault.from.is_some_and(|from| from <= at) && fault.until.is_none_or(|until| at < until)
        })
        .map(|(_, fault)| kind_of(fault))
        .collect();
    let stopped = kind.map_or(lasting.is_empty(), |kind| kind.is_some_and(|kind| lasting.contains(&kind)));
    let same = it.name("again").is_none_or(|again| again.as_str() == &it["who"]);
    Some(on_clock && stopped && same && seen.claims_at(who, at))
}

fn claim_ended(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    let who = seen.client(&it["who"])?;
    let ended = seen.history(at).find_map(|what| match what {
        EventKind::ReleaseCalled { client, grant } if *client == who && &it["what"] == "calls release" => {
            Some(*grant)
        }
        EventKind::ExpiryNoticed { client, grant } if *client == who && &it["what"] != "calls release" => {
            Some(*grant)
        }
        _ => None,
    })?;
    // An extension that failed at this instant told it so; otherwise its own clock did.
    let told =
        seen.history(at).any(|what| matches!(what, EventKind::ExtendFailed { grant, .. } if *grant == ended));
    if &it["what"] != "calls release" && told != it["what"].contains("lost") {
        return Some(false);
    }
    let noticed =
        |what: &EventKind| matches!(what, EventKind::ExpiryNoticed { grant, .. } if *grant == ended);
    let claim = seen.claims.iter().find(|claim| claim.grant == ended && claim.to == Some(at));
    // It may have noticed before that its claim was over, or at this very instant, which has a sentence of its own.
    let noticed = &it["what"] == "calls release" && seen.history(at).any(noticed);
    let Some(claim) = claim.filter(|_| !noticed) else { return Some(it["ends"].is_empty()) };
    // Where another grant of its own goes on, a double hold ends only with the other's.
    let goes_on = seen.claims.iter().any(|own| {
        own.client == who && own.grant != ended && own.from <= at && own.to.is_none_or(|to| at < to)
    });
    let mut over: BTreeMap<ClientId, TrueNs> = BTreeMap::new();
    for other in seen.claims.iter().filter(|other| other.client != who && other.from < at) {
        if other.to == Some(at) || (!goes_on && other.to.is_none_or(|to| to > at)) {
            let from = claim.from.max(other.from);
            over.entry(other.client).and_modify(|first| *first = from.min(*first)).or_insert(from);
        }
    }
    over.retain(|_, from| *from < at);
    for said in it["ends"].split("; end of its double hold with ").filter(|said| !said.is_empty()) {
        let (other, long) = said.split_once(", after ")?;
        let from = over.remove(&seen.client(other)?)?;
        if !says(long, between(from, at)) {
            return Some(false);
        }
    }
    Some(over.is_empty())
}

/// Fewer nodes than would have been needed gave the key up.
/// What is left out is all that its program has after a step that asks, but for releases: by their first words, since
/// files write the rest.
fn gives_up(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    let who = seen.client(&it["who"])?;
    let gave_up =
        seen.history(at).any(|what| matches!(what, EventKind::GaveUp { client, .. } if *client == who));
    let told = it.name("left").map_or(Vec::new(), |left| left.as_str().split(", ").collect());
    let more = it.name("more").map_or(Some(0), |more| more.as_str().parse().ok())?;
    let word = |step: &Step| match step {
        Step::Acquire(_) => Some("acquire"),
        Step::Try(..) => Some("try"),
        Step::Read(_) => Some("read"),
        Step::Work(_) => Some("work"),
        Step::Check(_) => Some("check"),
        Step::Prepare(_) => Some("prepare"),
        Step::Write(_) => Some("write"),
        Step::Extend(_) => Some("extend"),
        Step::Release(_) => None,
    };
    let program = &seen.report.scenario.clients[who.0 as usize].program;
    let asks = (0..program.len()).filter(|place| matches!(program[*place], Step::Acquire(_) | Step::Try(..)));
    let mut left_out = asks.map(|place| program[place + 1..].iter().filter_map(word).collect::<Vec<_>>());
    let is_so = |steps: Vec<&str>| {
        steps.len() == told.len() + more && steps.iter().zip(&told).all(|(step, told)| told.starts_with(step))
    };
    Some(gave_up && left_out.any(is_so))
}

fn no_longer_held(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    let who = seen.client(&it["who"])?;
    let learnt = seen.history(at).find_map(|what| match what {
        EventKind::ReleaseReturned { client, grant, outcome: ReleaseOutcome::NotOwner } if *client == who => {
            Some(*grant)
        }
        _ => None,
    })?;
    let called = seen.all().find_map(|(when, what)| match what {
        EventKind::ReleaseCalled { grant, .. } if *grant == learnt => Some(when),
        _ => None,
    })?;
    // Where the key was set, and not on nodes that replicate it: one that is promoted lets it expire by a DEL.
    let released = |key: &&KeySpan| {
        key.grant == learnt
            && key.origin == KeyOrigin::Executed
            && key.until.is_some_and(|(until, how)| how == KeyEnd::Deleted && called <= until && until <= at)
    };
    let votes = seen.report.votes.get(&learnt).map_or(0, Vec::len);
    Some(seen.report.keys.iter().filter(released).count() < votes.max(1))
}

fn process_gone(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    let who = seen.client(&it["who"])?;
    let died = seen.history(at).any(|what| matches!(what, EventKind::Died { client } if *client == who));
    let ended = seen.claims.iter().any(|claim| claim.client == who && claim.died && claim.to == Some(at));
    Some(died && ended == it.name("claim").is_some())
}

fn long_way(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    let who = seen.client(&it["who"])?;
    let sent = seen.history(at).find_map(|what| match what {
        EventKind::WriteSent { client, grant, .. } if *client == who => Some(*grant),
        _ => None,
    })?;
    let arrived = seen.all().filter(|(when, _)| *when > at).find_map(|(when, what)| match what {
        EventKind::WriteApplied { grant, .. }
        | EventKind::WriteRefused { grant, .. }
        | EventKind::WriteLost { grant, acknowledged: true, .. }
            if *grant == sent =>
        {
            Some(when)
        }
        _ => None,
    })?;
    Some(says(&it["long"], between(at, arrived)))
}

fn applied(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    let who = seen.client(&it["who"])?;
    let (written, basis) = seen.history(at).find_map(|what| match what {
        EventKind::WriteApplied { client, grant, version, based_on, .. }
            if *client == who && it["version"].parse() == Ok(*version) =>
        {
            Some((*grant, based_on.filter(|basis| basis + 1 != *version)))
        }
        _ => None,
    })?;
    let own = seen.claims.iter().find(|claim| claim.grant == written)?;
    // A grant within another is of its hold, which has its place since the first.
    let hold = seen.claims.iter().find(|claim| claim.grant == own.hold)?;
    let mut later = seen
        .claims
        .iter()
        .filter(|claim| claim.hold != own.hold && hold.from < claim.from && claim.from <= at);
    let late = match (it.name("long"), it.name("later")) {
        (Some(long), Some(name)) => {
            let name = seen.client(name.as_str())?;
            it.name("late").is_some()
                && later.any(|claim| claim.client == name && says(long.as_str(), between(claim.from, at)))
        }
        _ => it.name("late").is_none() && later.next().is_none(),
    };
    let said = it.name("basis").and_then(|basis| basis.as_str().parse().ok());
    Some(late && said == basis)
}

/// The nodes whose keys of a client ended in one way at, or shortly after, an instant; and the client believed in them.
fn lost(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>, how: KeyEnd) -> Option<Option<Vec<HostIndex>>> {
    let who = seen.client(&it["who"])?;
    let nodes = seen.hosts(&it["nodes"])?;
    let ended = |node: &HostIndex| {
        let mut ends = seen.keys(&it["who"]).filter(|key| key.node == *node).filter_map(|key| key.until);
        ends.any(|(until, end)| {
            end == how && at <= until && between(at, until) <= Duration::from_millis(100 * nodes.len() as u64)
        })
    };
    let first = seen.keys(&it["who"]).any(|key| key.until == Some((at, how)));
    Some((nodes.iter().all(ended) && first && seen.claims_at(who, at)).then_some(nodes))
}

fn gone_from_memory(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    let Some(nodes) = lost(seen, at, it, KeyEnd::Forgotten)? else { return Some(false) };
    let died = |node: &HostIndex| {
        let host = seen.world(*node);
        seen.trace(at).any(|event| match event {
            Event::Fault { fault: Fault::Crash { host: it } | Fault::LosePower { host: it, .. } } => {
                *it == host
            }
            _ => false,
        })
    };
    Some(nodes.iter().any(died))
}
