//! The causes of a violation as a clause: only those that runs without them have shown.

use doublehold_diagnosis::{AnyOf, Cause, Found, Overran, What};
use doublehold_history::{ClientId, Evidence, Predicate, instant};
use doublehold_scenarios::Scenario;
use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::scenario::RatePpb;
use doublehold_text::{clean, duration, join_names, list};

use crate::picture::facts::Facts;

/// The clause after `because`; `None` if no cause is known, or nobody asked.
pub(super) fn clause(facts: &Facts<'_>, predicate: Predicate, evidence: &Evidence) -> Option<String> {
    let (scenario, causes) = facts.causes?;
    let Found::Known { needed, any, chance } = &causes.found else { return None };
    if !causes.told.is_of(predicate, evidence) {
        return None;
    }
    let all =
        |causes: &[Cause]| -> Vec<String> { causes.iter().map(|it| clean(&words(scenario, it))).collect() };
    let needed = all(needed);
    let needed = match needed.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        [one, other] => Some(format!("{one} and {other}, both together")),
        several => Some(format!("{}, all together", list(several))),
    };
    let any = any.as_ref().map(|any| any_words(scenario, any));
    let chance = (!chance.is_empty()).then(|| format!("by chance also because {}", list(&all(chance))));
    let parts: Vec<String> = [needed, any, chance].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Numbers in words, from zero to the most alike causes of which every choice is tried.
const NUMBERS: [&str; 8] = ["no", "one", "two", "three", "four", "five", "six", "seven"];

/// `either A or B: each would have been enough`.
fn any_words(scenario: &Scenario, AnyOf { count, of }: &AnyOf) -> String {
    let all: Vec<String> = of.iter().map(|it| clean(&words(scenario, it))).collect();
    if *count > 1 {
        let all = join_alike(scenario, of).unwrap_or_else(|| list(&all));
        let count = NUMBERS.get(*count).map_or_else(|| count.to_string(), ToString::to_string);
        return format!("{all}; any {count} of them would have been enough");
    }
    match all.as_slice() {
        [one, other] => format!("either {one} or {other}: each would have been enough"),
        several => format!("{}: any one of these would have been enough", join_names(several, "or")),
    }
}

/// `the clocks of A to E ran fast by 1/12`: clocks that are all wrong in the same way.
fn join_alike(scenario: &Scenario, of: &[Cause]) -> Option<String> {
    let hosts = of.iter().map(|it| if let What::Clocks(host) = it.what { Some(host) } else { None });
    let hosts = hosts.collect::<Option<Vec<_>>>()?;
    let hosts: Vec<_> = hosts.into_iter().map(|host| scenario.hosts.get(host.0)).collect::<Option<_>>()?;
    let names = list(&hosts.iter().map(|host| clean(&host.name)).collect::<Vec<_>>());
    let first = hosts.first()?;
    Some(format!("the clocks of {names} {}", clocks_were(first.drift, first.wall_offset_ns)))
}

fn clocks_were(drift: RatePpb, offset_ns: i64) -> String {
    let ahead = if offset_ns > 0 { "ahead" } else { "behind" };
    match (drift, offset_ns) {
        (RatePpb(0), offset) => format!("were {} {ahead}", duration(offset.unsigned_abs())),
        (drift, 0) => format!("ran off by {drift}"),
        (drift, _) => format!("were wrong and ran off by {drift}"),
    }
}

/// A cause as a clause in the past tense.
pub(crate) fn words(scenario: &Scenario, cause: &Cause) -> String {
    let did = |place: &usize| scenario.faults.get(*place).map(Fault::did).unwrap_or_default();
    let client = |client: ClientId| {
        let host = scenario.clients.get(client.0 as usize).and_then(|it| scenario.hosts.get(it.host.0));
        host.map(|host| host.name.clone()).unwrap_or_default()
    };
    let words = match &cause.what {
        What::Fault(places) => places.first().map(did).unwrap_or_default(),
        What::Failover(places) => {
            let mut parts: Vec<String> = places.iter().map(did).collect();
            parts.dedup();
            format!("there was a failover ({})", list(&parts))
        }
        What::Overrun(of, how) => {
            let name = client(*of);
            match how {
                Overran::Worked => format!("{name} worked past its lease"),
                Overran::Held => format!("{name} held on past its lease"),
                Overran::ByDeadline => format!("{name} went by a deadline after the end of its lease"),
                Overran::Sent => format!("what {name} had sent arrived when its lease was over"),
            }
        }
        What::Promotion(host) => scenario
            .hosts
            .get(host.0)
            .map_or(String::new(), |host| format!("Sentinels made {} the master", host.name)),
        What::Clocks(host) => scenario.hosts.get(host.0).map_or(String::new(), |host| match host.drift {
            RatePpb(0) => {
                let ahead = if host.wall_offset_ns > 0 { "ahead" } else { "behind" };
                let by = duration(host.wall_offset_ns.unsigned_abs());
                format!("{}'s wall clock was {by} {ahead}", host.name)
            }
            _ => format!("{}'s clocks {}", host.name, clocks_were(host.drift, host.wall_offset_ns)),
        }),
    };
    if cause.has_twin { format!("{words} at {}", instant(cause.began)) } else { words }
}
