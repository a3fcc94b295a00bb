//! Being asked to stop in the middle of a search: the first SIGINT or SIGTERM is noted, and the search ends when it
//! looks; the second ends the program.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};

use crate::serve::Signals;

/// Listens from now on.
pub(crate) fn listen() -> Stopping {
    static ASKED: OnceLock<Arc<AtomicI32>> = OnceLock::new();
    let asked = ASKED.get_or_init(|| {
        let asked = Arc::new(AtomicI32::new(0));
        let noted = asked.clone();
        // Without a thread to listen, signals end the program at once: better than no program.
        let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(move || note(&noted));
        asked
    });
    Stopping(asked.clone())
}

/// Whether somebody asked.
#[derive(Clone, Debug)]
pub(crate) struct Stopping(Arc<AtomicI32>);

impl Stopping {
    /// The status that a shell reports for the signal, if one came.
    pub(crate) fn asked(&self) -> Option<u8> {
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
        std::process::exit(signals.next().await.exit_status());
    });
}
