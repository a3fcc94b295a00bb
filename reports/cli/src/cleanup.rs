//! Files that are not yet results: removed when SIGTERM or SIGINT end the program before they are.
//!
//! A command registers each file before it is made and takes it off the list when it is whole and in its place. Until
//! the first one is registered, signals end the program as they always do. Where a search listens for them, it says
//! what they do: see [`crate::stopping`]. Not covered: being killed for good, and panics.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use crate::serve::signals::Signals;
use crate::stopping;

static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The list. While it is held the program does not end by a signal, so that a file can be moved and taken off at once.
pub(crate) fn unfinished_files() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    static WATCH: Once = Once::new();
    if !stopping::is_listening() {
        WATCH.call_once(|| {
            // Without a thread to watch, signals end the program and leave files behind: better than no program.
            let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(clean_up_when_stopped);
        });
    }
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn clean_up_when_stopped() {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
    let status = runtime.block_on(async { Some(Signals::listen().ok()?.next().await.exit_status()) });
    if let Some(status) = status {
        clean_up_and_exit(status);
    }
}

/// Ends the program with this status, without leaving files behind.
pub(crate) fn clean_up_and_exit(status: i32) -> ! {
    let unfinished = unfinished_files();
    for file in unfinished.iter() {
        let _ignored = fs::remove_file(file);
    }
    std::process::exit(status);
}
