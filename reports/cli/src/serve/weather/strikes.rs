//! Faults that wait for a request: it is held, executed without a reply, or executed once more.
//!
//! Each strikes once, at the first request that fits: of its client, at its node, with its text.

use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use doublehold_sim_redis::resp::Args;
use doublehold_sim_redis::wait::Wakers;

/// How many requests are named that a fault let pass.
const PASSED_NAMED: usize = 8;

/// What befalls a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blow {
    /// It arrives so much later, and what its connection brings behind it.
    Hold(Duration),
    /// It is executed, and the connection ends before its reply has left.
    Drop,
    /// It is executed, and once more so much later, over a connection of its own.
    Repeat(Duration),
}

/// A fault, and the request that it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Strike {
    pub(crate) blow: Blow,
    /// Whose request; `None`: any client's.
    pub(crate) client: Option<String>,
    /// The node that it is sent to, by name.
    pub(crate) node: String,
    /// A part of it, in any case; its words stand one space apart.
    pub(crate) text: Option<String>,
}

/// As it was typed.
impl fmt::Display for Strike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, ms) = match self.blow {
            Blow::Hold(by) => ("HOLD", Some(by.as_millis())),
            Blow::Drop => ("DROP", None),
            Blow::Repeat(after) => ("REPEAT", Some(after.as_millis())),
        };
        write!(f, "{word} {} {}", self.client.as_deref().unwrap_or("*"), self.node)?;
        ms.map_or(Ok(()), |ms| write!(f, " {ms}"))?;
        self.text.as_ref().map_or(Ok(()), |text| write!(f, " {text}"))
    }
}

/// How far a fault has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Progress {
    Waits,
    Struck,
    Over,
}

struct Armed {
    strike: Strike,
    progress: Progress,
    /// The first requests of its client at its node that it let pass, by their first words.
    passed: Vec<String>,
}

/// All faults that wait for a request, or did.
#[derive(Default)]
pub(crate) struct Strikes {
    state: Mutex<State>,
    /// How many wait: most requests look at no more than this.
    waiting: AtomicUsize,
}

#[derive(Default)]
struct State {
    all: Vec<Armed>,
    /// Counts the times that all were given up: what strikes then is none of those that are there now.
    generation: u64,
    wakers: Wakers,
}

/// A fault that has struck; it is over when this is dropped.
pub(super) struct Struck {
    strikes: Arc<Strikes>,
    place: usize,
    generation: u64,
    pub(super) blow: Blow,
}

impl Drop for Struck {
    fn drop(&mut self) {
        let mut state = self.strikes.state();
        if state.generation == self.generation {
            state.all[self.place].progress = Progress::Over;
            state.wakers.wake();
        }
    }
}

impl Struck {
    /// Ends when all faults were given up.
    pub(super) async fn given_up(&self) {
        poll_fn(|cx| {
            let mut state = self.strikes.state();
            if state.generation != self.generation {
                return Poll::Ready(());
            }
            state.wakers.register(cx);
            Poll::Pending
        })
        .await;
    }
}

impl Strikes {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a fault wait for its request, from now on.
    pub(crate) fn arm(&self, strike: Strike) {
        self.state().all.push(Armed { strike, progress: Progress::Waits, passed: Vec::new() });
        self.waiting.fetch_add(1, Ordering::Release);
    }

    /// Gives up all, those that wait and those that have struck.
    pub(crate) fn give_up(&self) {
        let mut state = self.state();
        state.all.clear();
        state.generation += 1;
        self.waiting.store(0, Ordering::Release);
        state.wakers.wake();
    }

    pub(super) fn is_any_waiting(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }

    /// The fault that strikes this request, if one does.
    pub(super) fn strike(
        self: &Arc<Self>,
        client: Option<&str>,
        node: &str,
        request: &Args<'_>,
    ) -> Option<Struck> {
        let mut state = self.state();
        let generation = state.generation;
        let of_client = |it: &Armed| it.strike.client.as_deref().is_none_or(|wanted| Some(wanted) == client);
        let text = text_of(request);
        let mut waiting = state
            .all
            .iter_mut()
            .enumerate()
            .filter(|(_, it)| it.progress == Progress::Waits && it.strike.node == node && of_client(it));
        let (place, armed) = waiting.find_map(|(place, it)| {
            let wanted = it.strike.text.as_deref().unwrap_or_default().to_ascii_lowercase();
            if text.contains(&wanted) {
                return Some((place, it));
            }
            if it.passed.len() < PASSED_NAMED {
                it.passed.push(String::from_utf8_lossy(request.at(0)).to_ascii_uppercase());
            }
            None
        })?;
        armed.progress = Progress::Struck;
        let blow = armed.strike.blow;
        state.wakers.wake();
        self.waiting.fetch_sub(1, Ordering::Release);
        Some(Struck { strikes: Arc::clone(self), place, generation, blow })
    }

    /// Ends when all have struck; if `over`, when what they do is done too.
    pub(crate) async fn all_struck(&self, over: bool) {
        let least = if over { Progress::Over } else { Progress::Struck };
        poll_fn(|cx| {
            let mut state = self.state();
            if state.all.iter().all(|it| it.progress >= least) {
                return Poll::Ready(());
            }
            state.wakers.register(cx);
            Poll::Pending
        })
        .await;
    }

    /// Those that have not struck yet, each with what it let pass.
    pub(crate) fn waiting(&self) -> Vec<String> {
        let state = self.state();
        let waiting = state.all.iter().filter(|it| it.progress == Progress::Waits);
        let sentence = |it: &Armed| {
            let who = it.strike.client.as_deref().unwrap_or("no client whatever");
            let node = &it.strike.node;
            let passed = match it.passed.as_slice() {
                [] => format!("{who} has sent {node} nothing since"),
                passed => format!("{who} has sent {node} {} since", passed.join(", ")),
            };
            format!("`{}` has not struck: {passed}", it.strike)
        };
        waiting.map(sentence).collect()
    }

    /// All that have struck and are not over.
    pub(crate) fn under_way(&self) -> Vec<String> {
        let state = self.state();
        let under_way = state.all.iter().filter(|it| it.progress == Progress::Struck);
        under_way.map(|it| format!("`{}` has struck and is not over", it.strike)).collect()
    }
}

/// A request's words, one space apart, in lower case.
fn text_of(request: &Args<'_>) -> String {
    let words: Vec<_> =
        request.iter().map(|word| String::from_utf8_lossy(word).to_ascii_lowercase()).collect();
    words.join(" ")
}
