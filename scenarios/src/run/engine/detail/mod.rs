//! Makes a run's [`Detail`] of its trace and of what the kernel captured beside it.

mod messages;
mod phrases;
mod resp3;
mod scripts;

use doublehold_sim::{Capture, Clocks, Record, SimTime};

use crate::detail::{ClockLine, Detail, HostClocks};
use crate::model::cast::Cast;
use crate::model::scenario::{HostIndex, Scenario};
use crate::run::clocks;
use crate::run::engine::world::EPOCH;
use crate::run::recorder::Recorder;

/// The detail of a run that ended at `ended`.
pub(in crate::run) fn detail(
    scenario: &Scenario,
    (cast, recorder): (&Cast, &Recorder),
    trace: &[Record],
    captured: &Capture,
    ended: SimTime,
) -> Detail {
    let hosts = (0..scenario.hosts.len()).map(HostIndex);
    Detail {
        epoch_ns: EPOCH,
        messages: messages::messages(scenario, (cast, recorder), trace, &captured.sent),
        clocks: hosts
            .map(|host| HostClocks { host, lines: lines(&changes(cast, captured, host), ended) })
            .collect(),
    }
}

/// The clocks of one host from each change on. Of several changes at one instant only the last leaves a line.
fn changes<'a>(cast: &Cast, captured: &'a Capture, host: HostIndex) -> Vec<(SimTime, &'a Clocks)> {
    let in_world = cast.world_id(cast.machine(host));
    let mut changes: Vec<(SimTime, &Clocks)> = Vec::new();
    for (at, _, clocks) in captured.clocks.iter().filter(|(_, of, _)| *of == in_world) {
        if changes.last().is_some_and(|(last, _)| last == at) {
            changes.pop();
        }
        changes.push((*at, clocks));
    }
    changes
}

fn lines(changes: &[(SimTime, &Clocks)], ended: SimTime) -> Vec<ClockLine> {
    let ends = changes.iter().skip(1).map(|(at, _)| *at).chain([ended]);
    let line = |((from, running), to): (&(SimTime, &Clocks), SimTime)| ClockLine {
        from: clocks::true_time(*from),
        to: clocks::true_time(to),
        first: clocks::reading(running.read(*from)),
        last: clocks::reading(running.read(to)),
    };
    changes.iter().zip(ends).map(line).collect()
}
