//! Which faults wait for their moment, have struck, and are over: what AWAIT waits for, and what a verdict doubts.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use doublehold_sim_redis::wait::Wakers;

/// How much is named of what a fault let pass.
const PASSED_NAMED: usize = 8;

/// Stands in every sentence about a fault that waits.
pub(crate) const NOT_STRUCK: &str = "has not struck";

/// How far a fault has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Progress {
    Waits,
    Struck,
    Over,
}

struct Entry {
    /// As it was typed.
    typed: String,
    /// The beginning of a sentence about what it let pass: `c1 has sent A`. `None`: it waits for a moment.
    who: Option<String>,
    passed: Vec<String>,
    progress: Progress,
    needs: Needs,
}

/// The progress that a fault has to make for a test to have shown something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nowhere.
    Nothing,
    /// It has to strike.
    Strike,
    /// It has to be over: what it has delayed has come.
    End,
}

/// All faults that wait for something, or did.
#[derive(Default)]
pub(crate) struct Ledger(Mutex<State>);

#[derive(Default)]
struct State {
    entries: Vec<Entry>,
    /// Counts the times that all were given up: a fault of before is none of those that are there now.
    generation: u64,
    wakers: Wakers,
}

/// A fault's place in the ledger. The fault is over when this is dropped after it has struck.
pub(crate) struct Ticket {
    ledger: Arc<Ledger>,
    place: usize,
    generation: u64,
}

impl Ledger {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A fault begins to wait.
    pub(crate) fn enter(self: &Arc<Self>, typed: String, who: Option<String>, needs: Needs) -> Ticket {
        let mut state = self.state();
        state.entries.push(Entry { typed, who, passed: Vec::new(), progress: Progress::Waits, needs });
        let place = state.entries.len() - 1;
        Ticket { ledger: Arc::clone(self), place, generation: state.generation }
    }

    /// Gives up all.
    pub(crate) fn clear(&self) {
        let mut state = self.state();
        state.entries.clear();
        state.generation += 1;
        state.wakers.wake();
    }

    /// Ends when all have struck; if `over`, when what they do is done too.
    pub(crate) async fn all_struck(&self, over: bool) {
        let least = if over { Progress::Over } else { Progress::Struck };
        poll_fn(|cx| {
            let mut state = self.state();
            if state.entries.iter().all(|entry| entry.needs == Needs::Nothing || entry.progress >= least) {
                return Poll::Ready(());
            }
            state.wakers.register(cx);
            Poll::Pending
        })
        .await;
    }

    /// Those that have not struck yet, and have to, each with what it let pass.
    pub(crate) fn waiting(&self) -> Vec<String> {
        let state = self.state();
        let waits = |it: &&Entry| it.progress == Progress::Waits && it.needs != Needs::Nothing;
        state.entries.iter().filter(waits).map(Entry::waits).collect()
    }

    /// Those that have not come as far as they have to.
    pub(crate) fn missing(&self) -> Vec<String> {
        let state = self.state();
        let missing = state.entries.iter().filter_map(|entry| match (entry.progress, entry.needs) {
            (Progress::Waits, Needs::Strike | Needs::End) => Some(entry.waits()),
            (Progress::Struck, Needs::End) => Some(format!("{}: `AWAIT OVER` waits for that", entry.lasts())),
            _ => None,
        });
        missing.collect()
    }

    /// All that have struck and are not over.
    pub(crate) fn under_way(&self) -> Vec<String> {
        let state = self.state();
        let under_way = state.entries.iter().filter(|entry| entry.progress == Progress::Struck);
        under_way.map(Entry::lasts).collect()
    }
}

impl Entry {
    fn waits(&self) -> String {
        let passed = if self.passed.is_empty() { "nothing".to_owned() } else { self.passed.join(", ") };
        match &self.who {
            Some(who) => format!("`{}` {NOT_STRUCK}: {who} {passed} since", self.typed),
            None if self.passed.is_empty() => {
                format!("`{}` {NOT_STRUCK}: what it waits for has not happened", self.typed)
            }
            None => format!("`{}` {NOT_STRUCK}: of what it waits for, {passed} has happened", self.typed),
        }
    }

    fn lasts(&self) -> String {
        format!("`{}` has struck and is not over", self.typed)
    }
}

impl Ticket {
    fn with<R: Default>(&self, look: impl FnOnce(&mut Entry, &mut Wakers) -> R) -> R {
        let mut state = self.ledger.state();
        let State { entries, generation, wakers } = &mut *state;
        match entries.get_mut(self.place) {
            Some(entry) if *generation == self.generation => look(entry, wakers),
            _ => R::default(),
        }
    }

    /// Notes what it let pass.
    pub(crate) fn let_pass(&self, what: impl FnOnce() -> String) {
        self.with(|entry, _| {
            if entry.passed.len() < PASSED_NAMED {
                entry.passed.push(what());
            }
        });
    }

    pub(crate) fn strike(&self) {
        self.with(|entry, wakers| {
            entry.progress = entry.progress.max(Progress::Struck);
            wakers.wake();
        });
    }

    /// Ends when all faults were given up.
    pub(crate) async fn given_up(&self) {
        poll_fn(|cx| {
            let mut state = self.ledger.state();
            if state.generation != self.generation {
                return Poll::Ready(());
            }
            state.wakers.register(cx);
            Poll::Pending
        })
        .await;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.with(|entry, wakers| {
            if entry.progress == Progress::Struck {
                entry.progress = Progress::Over;
                wakers.wake();
            }
        });
    }
}
