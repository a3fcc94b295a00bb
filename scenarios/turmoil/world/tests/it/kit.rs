//! A story that both worlds tell: beside what its hosts write down, everything that a run says of itself is compared,
//! and each event of its connections and disks.

use std::sync::Arc;
use std::time::Duration;

use doublehold_sim::{
    Budget, DelayLaw, Event, Fault, Keep, LinkSpec, ObserverLike, PlannedFault, Seed, SimTime, Trigger,
    World, WorldLike,
};
use doublehold_sim_turmoil::TurmoilWorld;

use super::Lines;

/// Takes a line, and writes the true time in milliseconds before it.
pub(crate) type Write = Arc<dyn Fn(&str) + Send + Sync>;
pub(crate) type Planned<'a> = &'a [(Trigger, Fault, Option<u64>)];

pub(crate) const MS: fn(u64) -> Duration = Duration::from_millis;

/// Adds hosts that do something.
pub(crate) trait Story {
    fn tell<W: WorldLike>(world: &mut W, write: &Write);
}

/// All that is known of a run: what its hosts wrote, how it ended, and the events of its connections and disks.
#[derive(Debug, PartialEq)]
pub(crate) struct Account {
    pub(crate) lines: Vec<String>,
    pub(crate) run: String,
    pub(crate) events: Vec<String>,
}

pub(crate) fn told<W: WorldLike, S: Story>(
    faults: Planned<'_>,
    reseeded: Option<Seed>,
    budget: Budget,
) -> Account {
    let links = LinkSpec::lossless(DelayLaw::Fixed(MS(10)));
    let mut world = W::build(Seed(1), links, Keep::Events);
    let (lines, observer) = (Lines::default(), world.observer());
    let written = lines.clone();
    let write: Write = Arc::new(move |line| {
        let at = observer.true_time().0 / 1_000_000;
        written.lock().expect("nobody panics").push(format!("{at} {line}"));
    });
    S::tell(&mut world, &write);
    for (trigger, fault, lasting_ms) in faults {
        let (trigger, lasting) = (trigger.clone(), lasting_ms.map(MS));
        world.plan(PlannedFault { trigger, faults: vec![fault.clone()], lasting });
    }
    if let Some(seed) = reseeded {
        world.reseed_at(SimTime(50_000_000), seed);
    }
    let run = world.run(budget);
    let events = world.take_trace().into_iter().filter(|record| is_compared(&record.event));
    let events = events.map(|record| format!("{} {:?}", record.at.0, record.event)).collect();
    let run = format!(
        "{:?} at {}, {} messages, {:?}, late until {}",
        run.outcome, run.ended.0, run.messages, run.faults, run.last_late.0
    );
    drop(world);
    Account { lines: lines.lock().expect("nobody panics").clone(), run, events }
}

/// Tasks are run and clocks are read in another order; what happens between machines and on disks is the same.
fn is_compared(event: &Event) -> bool {
    use Event::{Accepted, Connecting, Delivered, Ended, Held, Sent, Synced};
    matches!(
        event,
        Accepted { .. }
            | Connecting { .. }
            | Delivered { .. }
            | Ended { .. }
            | Held { .. }
            | Sent { .. }
            | Synced { .. }
    )
}

#[track_caller]
pub(crate) fn alike<S: Story>(faults: Planned<'_>, expected: &[&str]) -> Account {
    within::<S>(faults, Budget::default(), expected)
}

#[track_caller]
pub(crate) fn within<S: Story>(faults: Planned<'_>, budget: Budget, expected: &[&str]) -> Account {
    let [kernels, turmoils] =
        [told::<World, S>(faults, None, budget), told::<TurmoilWorld, S>(faults, None, budget)];
    assert_eq!(kernels.lines, expected, "in the kernel's world");
    assert_eq!(turmoils, kernels, "in turmoil's world, beside the kernel's");
    kernels
}
