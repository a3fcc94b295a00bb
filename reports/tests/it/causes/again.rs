//! A check of the causes in a sentence, without any of the code that found them: the sentence is read, the things that
//! it names are taken out of the scenario, and the run is made again.

use std::time::Duration;

use doublehold_history::instant;
use doublehold_history::{ClientId, EventKind, Evidence, Predicate, Verdict, Verdicts};
use doublehold_scenarios::report::Report;
use doublehold_scenarios::scenario::{RatePpb, Scenario};
use doublehold_scenarios::{Engine, Prepared, PreparedSim, Seed};

const NEAR_NS: u64 = 100_000_000;

/// The claim of a sentence.
#[derive(Debug, Default)]
pub(crate) struct Claim {
    /// Without any one of these it is gone.
    pub(crate) needed: Vec<Named>,
    /// So many of these are enough.
    pub(crate) any: Option<(usize, Vec<Named>)>,
    /// Without any one of these it is gone here, and not always elsewhere.
    pub(crate) chance: Vec<Named>,
}

impl Claim {
    fn names(&self) -> impl Iterator<Item = &Named> {
        self.needed.iter().chain(&self.chance).chain(self.any.iter().flat_map(|(_, of)| of))
    }
}

/// A thing that a sentence names.
#[derive(Clone, Debug)]
pub(crate) enum Named {
    Faults(Vec<usize>),
    Lease(String),
    Clocks(String),
    /// By Sentinels, whomever.
    Promotion,
}

/// Reads what follows `because`. `Err` with what is left over that it cannot read.
pub(crate) fn read(report: &Report, words: &str) -> Result<Option<Claim>, String> {
    let Some((_, rest)) = words.split_once(", because ") else { return Ok(None) };
    let mut claim = Claim::default();
    let parts: Vec<&str> = rest.split("; ").collect();
    for (place, part) in parts.iter().enumerate() {
        if let Some(part) = part.strip_prefix("by chance also because ") {
            claim.chance = named(report, part)?;
            continue;
        }
        let next = parts.get(place + 1).and_then(|it| it.strip_prefix("any "));
        if let Some(count) = next.and_then(|it| it.strip_suffix(" of them would have been enough")) {
            let count =
                ["no", "one", "two", "three", "four", "five", "six"].iter().position(|it| *it == count);
            claim.any = Some((count.ok_or("a number")?, named(report, part)?));
        } else if part.ends_with("would have been enough") && !part.starts_with("any ") {
            let part = part.trim_end_matches(": each would have been enough");
            let part = part.trim_end_matches(": any one of these would have been enough");
            claim.any = Some((1, named(report, part)?));
        } else if place == 0 {
            let part = part.replace(", both together", "").replace(", all together", "");
            claim.needed = named(report, &part)?;
        }
    }
    Ok(Some(claim))
}

/// What some words name. `Err` with what is left over.
fn named(report: &Report, words: &str) -> Result<Vec<Named>, String> {
    let (mut left, mut named) = (words.to_owned(), Vec::new());
    if let Some((before, rest)) = left.clone().split_once("there was a failover (") {
        let (inside, after) = rest.split_once(')').ok_or("a failover without an end")?;
        let (parts, over) = phrases(report, inside);
        if !over.is_empty() {
            return Err(over);
        }
        let faults =
            parts.into_iter().flat_map(|part| if let Named::Faults(faults) = part { faults } else { vec![] });
        named.push(Named::Faults(faults.collect()));
        left = format!("{before}{after}");
    }
    if let Some((hosts, _)) = left.strip_prefix("the clocks of ").and_then(|it| it.split_once(" ran off by"))
    {
        return Ok(hosts.replace(" and ", ", ").split(", ").map(|it| Named::Clocks(it.to_owned())).collect());
    }
    let (more, over) = phrases(report, &left);
    named.extend(more);
    if !over.is_empty() || named.is_empty() {
        return Err(format!("{over:?} of {words}"));
    }
    Ok(named)
}

/// Every phrase that is in some words, and what is left of those beside connectives.
fn phrases(report: &Report, words: &str) -> (Vec<Named>, String) {
    let mut known = known(report);
    known.sort_by_key(|(phrase, _)| std::cmp::Reverse(phrase.len()));
    let (mut left, mut named) = (words.to_owned(), Vec::new());
    for (phrase, what) in known {
        if left.contains(&phrase) {
            left = left.replacen(&phrase, "", 1);
            named.push(what);
        }
    }
    for connective in ["either", "and", "or", ","] {
        left = left.replace(connective, "");
    }
    (named, left.trim().to_owned())
}

/// All phrases that there can be: of faults, those that are alike in words are one.
fn known(report: &Report) -> Vec<(String, Named)> {
    let scenario = &report.scenario;
    let mut known = Vec::new();
    for strike in report.faults.iter().filter(|it| it.from.is_some()) {
        let alike = |other: &&(usize, &doublehold_scenarios::fault::Fault)| {
            other.1.effect.kind().word == strike.fault.effect.kind().word
                && other.1.effect.hosts() == strike.fault.effect.hosts()
        };
        let all: Vec<_> = scenario.faults.iter().enumerate().collect();
        let kind: Vec<usize> = all.iter().filter(alike).map(|(place, _)| *place).collect();
        let same = all.iter().filter(|(_, other)| **other == strike.fault).map(|(place, _)| *place).collect();
        let at = strike.from.map(instant).unwrap_or_default();
        known.push((format!("{} at {at}", strike.fault.did()), Named::Faults(same)));
        known.push((strike.fault.did(), Named::Faults(kind)));
    }
    for host in &scenario.hosts {
        known.push((format!("Sentinels made {} the master", host.name), Named::Promotion));
        for words in ["worked past its lease", "held on past its lease"] {
            known.push((format!("{} {words}", host.name), Named::Lease(host.name.clone())));
        }
        known.push((
            format!("what {} had sent arrived when its lease was over", host.name),
            Named::Lease(host.name.clone()),
        ));
        let offset = doublehold_text::duration(host.wall_offset_ns.unsigned_abs());
        let side = if host.wall_offset_ns > 0 { "ahead" } else { "behind" };
        known.push((
            format!("{}'s wall clock was {offset} {side}", host.name),
            Named::Clocks(host.name.clone()),
        ));
        for off in ["1/3", "-1/4", "1/50", "1/2"] {
            known
                .push((format!("{}'s clocks ran off by {off}", host.name), Named::Clocks(host.name.clone())));
        }
    }
    known
}

/// The reason why a claim is untrue of the run it was made of; `None` if it is true.
pub(crate) fn untrue<E>(engine: &E, report: &Report, claim: &Claim) -> Option<String>
where
    E: Engine<Prepared = PreparedSim>,
{
    let told = Violation::of(report)?;
    let happens = |without: &[&Named]| {
        let scenario = without_these(&report.scenario, without);
        told.is_in(&engine.prepare(&scenario).expect("it can be run").judge(report.seed).verdicts)
    };
    if let Some(it) = claim.needed.iter().chain(&claim.chance).find(|it| happens(&[it])) {
        return Some(format!("there without {it:?}"));
    }
    let (count, all) = claim.any.as_ref()?;
    let choices = |size: usize| (0_u32..1 << all.len()).filter(move |it| it.count_ones() as usize == size);
    let without = |kept: u32| -> Vec<&Named> {
        all.iter().enumerate().filter(|(place, _)| kept >> place & 1 == 0).map(|(_, it)| it).collect()
    };
    choices(*count)
        .find(|kept| !happens(&without(*kept)))
        .map(|kept| format!("not there without {:?}", without(kept)))
        .or_else(|| {
            let kept = choices(*count - 1).find(|kept| happens(&without(*kept)))?;
            Some(format!("there without {:?}", without(kept)))
        })
}

/// Faults that a sentence leaves out and that are necessary: without one it is gone here, and from at least three
/// quarters of five other seeds that had it, which nobody else tries.
pub(crate) fn left_out<E>(engine: &E, report: &Report, claim: &Claim) -> Vec<String>
where
    E: Engine<Prepared = PreparedSim>,
{
    let Some(told) = Violation::of(report) else { return Vec::new() };
    let faults = &report.scenario.faults;
    let is_named =
        |place: usize| claim.names().any(|it| matches!(it, Named::Faults(faults) if faults.contains(&place)));
    let struck = |place: usize| {
        let strikes = report.faults.iter().filter(|it| it.fault == faults[place]);
        strikes.filter_map(|it| it.from).any(|at| at.0 <= told.moment)
    };
    let prepare = |scenario: &Scenario| engine.prepare(scenario).expect("it can be run");
    let whole = prepare(&without_these(&report.scenario, &[]));
    let others = (1..=60).filter_map(|seed| {
        let seed = Seed(77_000 + seed);
        Some((seed, Violation::nearest(&whole.judge(seed).verdicts, &told)?))
    });
    let others: Vec<(Seed, Violation)> = others.take(5).collect();
    let is_necessary = |place: usize| {
        let same = (0..faults.len()).filter(|other| faults[*other] == faults[place]).collect();
        let left = prepare(&without_these(&report.scenario, &[&Named::Faults(same)]));
        if told.is_in(&left.judge(report.seed).verdicts) {
            return false;
        }
        let gone = others.iter().filter(|(seed, told)| !told.is_in(&left.judge(*seed).verdicts)).count();
        !others.is_empty() && gone * 4 >= others.len() * 3
    };
    let unnamed = (0..faults.len()).filter(|place| struck(*place) && !is_named(*place));
    unnamed.filter(|place| is_necessary(*place)).map(|place| faults[place].to_string()).collect()
}

/// Counts how many of 20 seeds, which nobody else tries, do it with all of a claim and without (any one, or all).
pub(crate) fn elsewhere<E>(engine: &E, report: &Report, claim: &Claim) -> (u64, u64)
where
    E: Engine<Prepared = PreparedSim>,
{
    let Some(told) = Violation::of(report) else { return (0, 0) };
    let count = |without: &[&Named]| {
        let prepared = engine.prepare(&without_these(&report.scenario, without)).expect("it can be run");
        (1..=20).filter(|seed| told.is_in_with_roles(&prepared.judge(Seed(77_000 + seed)).verdicts)).count()
            as u64
    };
    let needed = claim.needed.iter().map(|it| count(&[it])).max().unwrap_or(0);
    let any = claim.any.as_ref().map_or(0, |(_, named)| count(&named.iter().collect::<Vec<_>>()));
    (count(&[]), needed.max(any))
}

/// The reason why a sentence is odd: it gives as the cause what it says has happened, or it says that a client worked
/// which was stopped between its grant and the violation.
pub(crate) fn odd(report: &Report, words: &str) -> Option<String> {
    let (happened, because) = words.split_once(", because ")?;
    let told = Violation::of(report)?;
    let twice =
        because.contains("was granted the lock when") && happened.contains("was granted the lock when");
    let stopped = |name: &str| {
        let host = report.scenario.hosts.iter().position(|host| host.name == name);
        let mut granted = report.history.events().iter().filter(|event| {
            matches!(event.what, EventKind::Granted { client, .. }
                if report.history.header().client(client) == name && event.at.0 <= told.from)
        });
        let granted = granted.next_back().map_or(0, |event| event.at.0);
        report.faults.iter().any(|strike| {
            let stops = ["pause", "suspend"].contains(&strike.fault.effect.kind().word);
            let is_its = strike.hosts.iter().any(|hit| Some(hit.0) == host);
            let within = strike.from.is_some_and(|from| from.0 < told.from)
                && strike.until.is_none_or(|until| until.0 > granted);
            stops && is_its && within
        })
    };
    let worked = because.split(" worked past its lease").next().and_then(|it| it.split(' ').next_back());
    let worked = worked.filter(|_| because.contains(" worked past its lease"));
    match worked {
        _ if twice => Some("the cause is what happened".to_owned()),
        Some(name) if stopped(name) => Some(format!("{name} was stopped")),
        _ => None,
    }
}

fn without_these(scenario: &Scenario, these: &[&Named]) -> Scenario {
    let mut left = scenario.clone();
    left.weather = None;
    let gone: Vec<usize> = these
        .iter()
        .flat_map(|it| if let Named::Faults(faults) = it { faults.clone() } else { vec![] })
        .collect();
    left.faults = scenario
        .faults
        .iter()
        .enumerate()
        .filter(|(place, _)| !gone.contains(place))
        .map(|(_, it)| it.clone())
        .collect();
    left.faults.iter_mut().for_each(|fault| fault.optional = true);
    for named in these {
        let of = |name: &str| scenario.hosts.iter().position(|host| host.name == *name).expect("a host");
        match named {
            Named::Faults(_) => {}
            Named::Lease(name) => {
                let host = of(name);
                let client = left.clients.iter_mut().find(|client| client.host.0 == host).expect("a client");
                client.ttl = Some(Duration::from_secs(7_200));
            }
            // They find nobody down.
            Named::Promotion => {
                left.sentinels.as_mut().expect("some").down_after = Duration::from_secs(7_200);
            }
            Named::Clocks(name) => {
                let host = &mut left.hosts[of(name)];
                (host.wall_offset_ns, host.drift) = (0, RatePpb(0));
            }
        }
    }
    left
}

/// The first piece of evidence: its predicate, its clients, and when it began and was over.
struct Violation {
    predicate: Predicate,
    who: Vec<ClientId>,
    from: u64,
    to: u64,
    /// After it nothing can have caused it.
    moment: u64,
}

impl Violation {
    fn of(report: &Report) -> Option<Violation> {
        let violated =
            report.verdicts.iter().find_map(|(it, verdict)| Some((it, verdict.evidence().first()?)));
        let (predicate, evidence) = violated?;
        Violation::from_evidence(predicate, evidence)
    }

    fn from_evidence(predicate: Predicate, evidence: &Evidence) -> Option<Violation> {
        let (who, from, to) = span(evidence)?;
        let is_wait = predicate == Predicate::LV;
        Some(Violation { predicate, who, from, to, moment: if is_wait { to } else { from } })
    }

    /// The same in another run, the nearest in time.
    fn nearest(verdicts: &Verdicts, told: &Violation) -> Option<Violation> {
        let all = verdicts.get(told.predicate).evidence().iter();
        all.filter_map(|it| Violation::from_evidence(told.predicate, it))
            .filter(|it| told.is_same(&it.who, |who| who == told.who))
            .min_by_key(|it| it.from.abs_diff(told.from))
    }

    /// True if the same clients do it within 100 ms of it, whoever is first.
    fn is_in(&self, verdicts: &Verdicts) -> bool {
        let sorted = |who: &[ClientId]| {
            let mut who = who.to_vec();
            who.sort_unstable();
            who
        };
        self.any(verdicts, |who| sorted(who) == sorted(&self.who))
    }

    /// The same with the same client first.
    fn is_in_with_roles(&self, verdicts: &Verdicts) -> bool {
        self.any(verdicts, |who| who == self.who)
    }

    fn is_same(&self, who: &[ClientId], is_pair: impl Fn(&[ClientId]) -> bool) -> bool {
        let of_holds = matches!(self.predicate, Predicate::P1 | Predicate::P2);
        if of_holds { is_pair(who) } else { who.iter().any(|it| self.who.contains(it)) }
    }

    fn any(&self, verdicts: &Verdicts, is_pair: impl Fn(&[ClientId]) -> bool) -> bool {
        let Verdict::Violated(evidence) = verdicts.get(self.predicate) else { return false };
        evidence.iter().filter_map(span).any(|(who, from, to)| {
            self.is_same(&who, &is_pair) && from <= self.to + NEAR_NS && self.from <= to + NEAR_NS
        })
    }
}

fn span(evidence: &Evidence) -> Option<(Vec<ClientId>, u64, u64)> {
    Some(match evidence {
        Evidence::Overlap(it) => (it.clients.to_vec(), it.from.0, it.to.0),
        Evidence::StaleWrite(it) => (vec![it.client], it.at.0, it.at.0),
        Evidence::WrongKey(it) => (vec![it.client], it.at.0, it.at.0),
        Evidence::Waited(it) => (it.clients.clone(), it.from.0, it.to.0),
        Evidence::LongWait(it) => (vec![it.client], it.from.0, it.to.0),
        Evidence::Cycle(_) | Evidence::LostWrite(_) | Evidence::Omitted { .. } => return None,
    })
}
