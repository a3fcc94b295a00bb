//! Being asked to stop in the middle of a search: the first SIGINT or SIGTERM is noted, and the search ends when it
//! looks, with what it has found. A later one ends the program.
//!
//! What comes within [`AT_ONCE`] of the first is the same request: `timeout` asks the program and then its whole group,
//! a terminal and a script may both pass one on. Writing down what was found takes longer than the few milliseconds
//! between those, and a person who asks twice takes longer, too.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::cleanup;
use crate::serve::signals::Signals;

/// For how long after the first request others are the same one.
const AT_ONCE: Duration = Duration::from_secs(1);

static ASKED: OnceLock<Arc<AtomicI32>> = OnceLock::new();

/// Listens from now on.
pub(crate) fn listen() -> Stopping {
    let asked = ASKED.get_or_init(|| {
        let asked = Arc::new(AtomicI32::new(0));
        let noted = asked.clone();
        // Without a thread to listen, signals end the program at once: better than no program.
        let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(move || note(&noted));
        asked
    });
    Stopping(asked.clone())
}

/// Whether a search listens: then it says what a signal does, and nobody else.
pub(crate) fn is_listening() -> bool {
    ASKED.get().is_some()
}

/// Whether somebody asked.
#[derive(Clone, Debug)]
pub(crate) struct Stopping(Arc<AtomicI32>);

impl Stopping {
    /// The status that a shell reports for the signal, if one came.
    pub(crate) fn signal_status(&self) -> Option<u8> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            status => u8::try_from(status).ok(),
        }
    }
}

fn note(asked: &AtomicI32) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
    runtime.block_on(async {
        let Ok(mut signals) = Signals::listen() else { return };
        asked.store(signals.next().await.exit_status(), Ordering::Relaxed);
        let first = Instant::now();
        loop {
            let status = signals.next().await.exit_status();
            if first.elapsed() >= AT_ONCE {
                cleanup::clean_up_and_exit(status);
            }
        }
    });
}
