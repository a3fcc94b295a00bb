//! A check of the causes in a sentence, without any of the code that found them: the sentence is read, the things that
//! it names are taken out of the scenario, and the run is made again.

use std::time::Duration;

use doublehold_history::instant;
use doublehold_history::{ClientId, Evidence, Predicate, Verdict, Verdicts};
use doublehold_scenarios::report::Report;
use doublehold_scenarios::scenario::{RatePpb, Scenario};
use doublehold_scenarios::{Engine, Prepared, PreparedSim, Seed};

const NEAR_NS: u64 = 100_000_000;

/// The claim of a sentence.
#[derive(Debug)]
pub(crate) enum Claim {
    /// Without any one of these it is gone.
    Each(Vec<Named>),
    /// Without all of these it is gone, and with any one of them it is there.
    Either(Vec<Named>),
}

/// A thing that a sentence names.
#[derive(Clone, Debug)]
pub(crate) enum Named {
    Faults(Vec<usize>),
    Lease(String),
    Clocks(String),
}

/// Reads what follows `because`. `Err` with what is left over that it cannot read.
pub(crate) fn read(report: &Report, words: &str) -> Result<Option<Claim>, String> {
    let Some((_, rest)) = words.split_once(", because ") else { return Ok(None) };
    let rest = rest.split_once("; ").map_or(rest, |(rest, _)| rest);
    let is_either = rest.ends_with("would have been enough");
    let mut left = rest.trim_end_matches(": each would have been enough").to_owned();
    left = left
        .trim_end_matches(": any one of these would have been enough")
        .replace(", both together", "")
        .replace(", all together", "");
    let mut named = Vec::new();
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
    let (more, over) = phrases(report, &left);
    named.extend(more);
    if !over.is_empty() || named.is_empty() {
        return Err(format!("{over:?} of {rest}"));
    }
    Ok(Some(if is_either { Claim::Either(named) } else { Claim::Each(named) }))
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
        for words in ["worked past its lease", "was granted the lock when its lease was over"] {
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
    match claim {
        Claim::Each(named) => {
            named.iter().find(|it| happens(&[it])).map(|it| format!("there without {it:?}"))
        }
        Claim::Either(named) => {
            let all: Vec<&Named> = named.iter().collect();
            if happens(&all) {
                return Some("there without all of them".to_owned());
            }
            (0..all.len()).find_map(|kept| {
                let others: Vec<&Named> =
                    all.iter().enumerate().filter(|(place, _)| *place != kept).map(|(_, it)| *it).collect();
                (!happens(&others)).then(|| format!("not there with {:?} alone", all[kept]))
            })
        }
    }
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
    let without = match claim {
        Claim::Each(named) => named.iter().map(|it| count(&[it])).max().unwrap_or(0),
        Claim::Either(named) => count(&named.iter().collect::<Vec<_>>()),
    };
    (count(&[]), without)
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
            Named::Clocks(name) => {
                let host = &mut left.hosts[of(name)];
                (host.wall_offset_ns, host.drift) = (0, RatePpb(0));
            }
        }
    }
    left
}

/// The first piece of evidence: its predicate, its clients, and its beginning.
struct Violation {
    predicate: Predicate,
    who: Vec<ClientId>,
    from: u64,
}

impl Violation {
    fn of(report: &Report) -> Option<Violation> {
        let violated =
            report.verdicts.iter().find_map(|(it, verdict)| Some((it, verdict.evidence().first()?)));
        let (predicate, evidence) = violated?;
        let (who, from, _) = span(evidence)?;
        Some(Violation { predicate, who, from })
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

    fn any(&self, verdicts: &Verdicts, is_pair: impl Fn(&[ClientId]) -> bool) -> bool {
        let Verdict::Violated(evidence) = verdicts.get(self.predicate) else { return false };
        let of_holds = matches!(self.predicate, Predicate::P1 | Predicate::P2);
        evidence.iter().filter_map(span).any(|(who, from, to)| {
            let same = if of_holds { is_pair(&who) } else { who.iter().any(|it| self.who.contains(it)) };
            same && from <= self.from + NEAR_NS && self.from <= to + NEAR_NS
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
        Evidence::Cycle(_) | Evidence::Omitted { .. } => return None,
    })
}
