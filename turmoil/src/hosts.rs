//! The parts of a host that turmoil lacks: a wall clock of its own, pauses, a disk, and randomness for what they run.
//!
//! Times are true, from the beginning of the simulation. What is to strike is written down with its time; a clock or a
//! process asks when it gets there. So nothing here has to be told that time passes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use doublehold_sim::parts::Disk;
use doublehold_sim::{Seed, Stream};

/// The first reading of every wall clock: 14 November 2023, in microseconds since 1970. turmoil's own epoch is the
/// machine's time unless it is set, and would differ between two runs.
const FIRST_WALL_US: i64 = 1_700_000_000_000_000;

/// All hosts, by name.
#[derive(Clone)]
pub(crate) struct Hosts(Arc<Mutex<All>>);

struct All {
    seed: Seed,
    by_name: BTreeMap<String, HostState>,
}

/// The parts of a host that turmoil does not have.
pub(crate) struct HostState {
    pub(crate) disk: Disk,
    pub(crate) random: Stream,
    /// Steps of the wall clock, in microseconds, in the order in which they were asked for.
    steps: Vec<(Duration, i64)>,
    pauses: Vec<Range<Duration>>,
    /// The guest that stands on it; `None` for a name that was only struck.
    pub(crate) stands: Option<Stands>,
}

/// The two sorts of guests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stands {
    Node,
    Process,
}

impl Hosts {
    pub(crate) fn new(seed: u64) -> Hosts {
        Hosts(Arc::new(Mutex::new(All { seed: Seed(seed), by_name: BTreeMap::new() })))
    }

    /// Does something with a host, which is there as soon as it is named.
    pub(crate) fn with_host<T>(&self, name: &str, act: impl FnOnce(&mut HostState) -> T) -> T {
        let mut all = self.lock();
        let All { seed, by_name } = &mut *all;
        if !by_name.contains_key(name) {
            by_name.insert(name.to_owned(), HostState::new(*seed, name));
        }
        act(by_name.get_mut(name).expect("it was put there"))
    }

    /// The first name that is struck by what cannot strike it, and why.
    pub(crate) fn struck_in_vain(&self) -> Option<String> {
        let why = |(name, host): (&String, &HostState)| match host.stands {
            None => Some(format!("`{name}` is no node or process of these guests: nothing would strike it")),
            Some(Stands::Node) if !host.pauses.is_empty() => Some(format!(
                "`{name}` is a node, and only a process can be paused: `Sim::hold` holds a node's links"
            )),
            Some(_) => None,
        };
        self.lock().by_name.iter().find_map(why)
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HostState {
    fn new(seed: Seed, name: &str) -> HostState {
        HostState {
            disk: Disk::default(),
            random: Stream::new(seed, name),
            steps: Vec::new(),
            pauses: Vec::new(),
            stands: None,
        }
    }

    /// Plans a step of the wall clock.
    pub(crate) fn step_wall(&mut self, at: Duration, by_us: i64) {
        self.steps.push((at, by_us));
    }

    /// The wall clock, in microseconds since 1970.
    pub(crate) fn wall_us(&self, now: Duration) -> i64 {
        let steps: i64 = self.steps.iter().filter(|(at, _)| *at <= now).map(|(_, by_us)| by_us).sum();
        FIRST_WALL_US.saturating_add(micros(now)).saturating_add(steps)
    }

    /// Plans a pause.
    pub(crate) fn pause(&mut self, from: Duration, lasting: Duration) {
        self.pauses.push(from..from.saturating_add(lasting));
    }

    /// True if the process stands still at this time.
    pub(crate) fn is_paused(&self, now: Duration) -> bool {
        self.pauses.iter().any(|pause| pause.contains(&now))
    }
}

/// Whole microseconds.
pub(crate) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
