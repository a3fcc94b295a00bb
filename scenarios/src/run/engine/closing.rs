//! What only the end of a run can tell: which faults struck and when they were over, how the run ended, and what that
//! makes of its history.

use std::collections::BTreeMap;

use doublehold_history::{CallId, ClientId, EventKind, History, RunOutcome, TrueNs};
use doublehold_sim::{Outcome, Run, SimTime, Struck};
use doublehold_text as words;
use doublehold_text::exact_duration;

use crate::format::step_text;
use crate::model::cast::Cast;
use crate::model::fault::{Fault, Nature};
use crate::model::scenario::{HostIndex, Limits, Scenario, Step};
use crate::report::FaultReport;
use crate::report::{Hit, StruckAt};
use crate::run::clocks;

/// What became of each fault, for those who count.
pub(in crate::run) fn hits(faults: &[Fault], struck: &[Vec<Struck>]) -> Vec<Hit> {
    let hit = |(fault, struck): (&Fault, &Vec<Struck>)| Hit {
        kind: fault.effect.kind().word,
        place: StruckAt::from_when(&fault.at),
        struck: struck.len() as u64,
        first: struck.first().map(|it| clocks::true_time(it.from)),
    };
    faults.iter().zip(struck).map(hit).collect()
}

/// What clients left out because they gave up calls, each at the step at a place of its program: all steps after it but
/// releases.
pub(in crate::run) fn left_out(
    scenario: &Scenario,
    history: &History,
    gave_up_at: &BTreeMap<CallId, usize>,
) -> BTreeMap<CallId, Vec<String>> {
    let steps = |client: ClientId, place: usize| {
        let program = scenario.clients[client.0 as usize].program.iter().skip(place + 1);
        let left_out = program.filter(|step| !matches!(step, Step::Release(_)));
        left_out.map(|step| step_text(step, scenario)).collect()
    };
    let given_up = history.events().iter().filter_map(|event| match event.what {
        EventKind::GaveUp { client, call } => Some((call, steps(client, *gave_up_at.get(&call)?))),
        _ => None,
    });
    given_up.collect()
}

/// Each fault once for every time that it struck, and once without times if it never did.
pub(in crate::run) fn fault_reports(
    scenario: &Scenario,
    cast: &Cast,
    struck: &[Vec<Struck>],
) -> Vec<FaultReport> {
    let reports = |(fault, struck): (&Fault, &Vec<Struck>)| {
        let named = fault.effect.hosts();
        // What befalls a process befalls its threads, each of which is drawn.
        let threads = |host: HostIndex| {
            let threads: Vec<HostIndex> = cast.threads(host).collect();
            if threads.is_empty() { vec![host] } else { threads }
        };
        let named = named.0.iter().filter_map(|name| cast.host(name).ok());
        let mut hosts: Vec<HostIndex> = named.flat_map(threads).collect();
        if matches!(fault.effect.kind().nature, Nature::Link | Nature::Message) {
            hosts.sort_unstable();
        }
        let report = |from, until: Option<SimTime>| FaultReport {
            fault: fault.clone(),
            hosts: hosts.clone(),
            from,
            until: until.map(clocks::true_time),
        };
        let never = struck.is_empty().then(|| report(None, None));
        let times = struck.iter().map(|it| report(Some(clocks::true_time(it.from)), it.until));
        never.into_iter().chain(times).collect::<Vec<_>>()
    };
    scenario.faults.iter().zip(struck).flat_map(reports).collect()
}

/// Which limit ended the run, and the way out.
pub(in crate::run) fn limit_met(limits: &Limits, run: &Run) -> Option<String> {
    let (key, value) = match run.outcome {
        Outcome::Completed | Outcome::Stalled | Outcome::Halted => return None,
        Outcome::EventBudget => ("events", limits.events.to_string()),
        Outcome::TimeBudget => ("time", exact_duration(limits.time)),
        Outcome::MemoryBudget => ("memory", words::bytes(limits.memory)),
    };
    // Steps of code count towards `limits.events` as well, where they do not show in the trace.
    let after = match run.outcome {
        Outcome::EventBudget => String::new(),
        _ => format!(", after {} events", run.events),
    };
    Some(format!("the run met `limits.{key}`, which is {value}{after}: raise it, or let less happen"))
}

/// Writes what only the end of the run can tell: which faults never struck or were never over, and how the run ended.
pub(in crate::run) fn close_history(history: &mut History, scenario: &Scenario, run: &Run) {
    let ended = clocks::true_time(run.ended);
    let (faults, starts) = run.faults.split_at(scenario.faults.len());
    for (fault, struck) in scenario.faults.iter().zip(faults).filter(|(fault, _)| !fault.optional) {
        let what = match &struck[..] {
            [] => "never fired",
            _ if fault.lasting.is_some() && struck.iter().any(|it| it.until.is_none()) => {
                "was not over when the run ended"
            }
            _ => continue,
        };
        let why = format!("the fault `{} {}` {what}", fault.words(), fault.moment());
        history.push(ended, EventKind::Inconclusive { why });
    }
    let waiting = scenario.clients.iter().filter_map(|client| Some((client, client.start.as_ref()?)));
    for ((client, start), _) in waiting.zip(starts).filter(|(_, struck)| struck.is_empty()) {
        let name = &scenario.hosts[client.host.0].name;
        let why = format!("the start of {name}, {}, never came", start.words());
        history.push(ended, EventKind::Inconclusive { why });
    }
    history.push(ended, EventKind::RunEnded { outcome: outcome(run.outcome) });
}

/// When the last fault was over: what lasts when it was taken back, or with the run; a late message when it was to
/// arrive; all else when it struck.
pub(in crate::run) fn faults_over(faults: &[Fault], run: &Run) -> TrueNs {
    let over = |fault: &Fault, struck: &Struck| match fault.lasting {
        Some(_) => struck.until.unwrap_or(run.ended),
        None => struck.from,
    };
    let struck = faults.iter().zip(&run.faults);
    let times = struck.flat_map(|(fault, struck)| struck.iter().map(move |it| over(fault, it)));
    clocks::true_time(times.fold(run.last_late.min(run.ended), SimTime::max))
}

pub(in crate::run) fn outcome(outcome: Outcome) -> RunOutcome {
    match outcome {
        Outcome::Completed => RunOutcome::Completed,
        Outcome::Stalled => RunOutcome::Stalled,
        Outcome::EventBudget => RunOutcome::EventBudget,
        Outcome::TimeBudget => RunOutcome::TimeBudget,
        Outcome::MemoryBudget => RunOutcome::MemoryBudget,
        Outcome::Halted => RunOutcome::Halted,
    }
}
