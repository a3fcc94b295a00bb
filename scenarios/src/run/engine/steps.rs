//! The steps of the protocol in a run: everything at which a fault can be told to strike.
//!
//! A time drawn at random almost never falls into the microseconds between a check and the write that follows it, and
//! a step does every time. So whoever looks for faults that matter (weather, a systematic search) asks a run for its
//! steps, and places faults at them.
//!
//! Steps are named as scenario files name moments, by the n-th event of a kind: what is placed at one can be written
//! down. Left out is what no file can name: the turns of tasks, and commands that only a driver sends.

use std::collections::BTreeMap;

use doublehold_history::TrueNs;
use doublehold_sim::{self as sim, Record};

use crate::model::cast::{Cast, Member};
use crate::model::scenario::HostIndex;
use crate::model::when::{Event, Mark, Nth, StepKind};

/// The steps of a run and when it came by each, in order. `is_sent` says which commands a file may name.
pub(crate) fn steps(trace: &[Record], cast: &Cast, is_sent: impl Fn(&str) -> bool) -> Vec<(TrueNs, Nth)> {
    let mut seen: BTreeMap<(StepKind, String), u32> = BTreeMap::new();
    let events = trace
        .iter()
        .filter_map(|record| Some((TrueNs(record.at.0), file_event(&record.event, cast, &is_sent)?)));
    let count = |(at, event): (TrueNs, Event)| {
        let nth = seen.entry((event.step(), event.to_string())).or_insert(0);
        *nth += 1;
        (at, Nth { nth: *nth, event })
    };
    events.map(count).collect()
}

/// An event of the kernel as a file names it.
fn file_event(event: &sim::Event, cast: &Cast, is_sent: impl Fn(&str) -> bool) -> Option<Event> {
    let host = |host: sim::HostId| cast.host_from_world(host);
    let name = |host: HostIndex| cast.name(host).to_owned();
    Some(match event {
        sim::Event::TimerFired { host: at } => {
            let at = host(*at)?;
            runs_locks(cast, at).then(|| Event::Timer { client: name(at) })?
        }
        sim::Event::Booted { host: at } => Event::Boot { host: name(host(*at)?) },
        sim::Event::ClockRead { host: at, .. } => {
            let at = host(*at)?;
            runs_locks(cast, at).then(|| Event::ClockRead { host: name(at) })?
        }
        sim::Event::Sent { from, to, .. } => Event::Sent { from: name(host(*from)?), to: name(host(*to)?) },
        sim::Event::Delivered { from, to, .. } => {
            Event::Received { by: name(host(*to)?), from: name(host(*from)?) }
        }
        sim::Event::Mark { host: at, label, about } => {
            let at = host(*at)?;
            match cast.member(at) {
                Member::Client(_) | Member::Process => {
                    let mark = Mark::ALL.into_iter().find(|mark| mark.as_str() == label.as_ref())?;
                    // Of several threads it says which.
                    let client = about.map_or(Some(at), host)?;
                    Event::Mark { client: name(client), mark }
                }
                Member::Node(_) => {
                    let client = host((*about)?)?;
                    let is_client = matches!(cast.member(client), Member::Client(_));
                    (is_client && is_sent(label)).then(|| Event::Executed {
                        command: label.to_string(),
                        client: Some(name(client)),
                        node: Some(name(at)),
                    })?
                }
                Member::Sentinel(_) | Member::Resource => return None,
            }
        }
        _ => return None,
    })
}

/// Whether a host's code is that of clients.
fn runs_locks(cast: &Cast, host: HostIndex) -> bool {
    matches!(cast.member(host), Member::Client(_) | Member::Process)
}
