//! Panics of code under test, which each run catches: of those at one place in the code, the first is shown.
//!
//! Panic hooks belong to the whole process. Ours is put before the one that is there, once, and hides nothing but what
//! a check has shown before, and that a lock found no tokio runtime: panics of anything else, and a lock's at another
//! place, are shown as ever.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic;
use std::sync::{Arc, Mutex, Once, PoisonError};

use doublehold_scenarios::report::Summary;
use doublehold_scenarios::{Prepared, Report, Seed, wants_runtime};

/// Where code of one check has panicked: file, line, column.
type PanicPlaces = Arc<Mutex<BTreeSet<(String, u32, u32)>>>;

thread_local! {
    /// Of the check whose run is under way on this thread.
    static SHOWN: RefCell<Option<PanicPlaces>> = const { RefCell::new(None) };
}

/// Runs as its scenario does, and shows each panic once.
pub struct QuietPanics<P> {
    prepared: Arc<P>,
    shown: PanicPlaces,
}

impl<P> QuietPanics<P> {
    /// A preparation whose panics are of a check of its own.
    pub fn new(prepared: P) -> QuietPanics<P> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |what| {
                if what.location().is_none_or(is_new) && !is_want_of_runtime(what.payload()) {
                    before(what);
                }
            }));
        });
        QuietPanics { prepared: Arc::new(prepared), shown: PanicPlaces::default() }
    }

    /// The preparation, for threads of its own.
    pub fn share_prepared(&self) -> Arc<P> {
        self.prepared.clone()
    }

    /// Does something with the preparation, or another one of the same lock.
    pub fn hush<T>(&self, run: impl FnOnce(&P) -> T) -> T {
        let _until_its_end = ShownGuard(SHOWN.replace(Some(self.shown.clone())));
        run(&self.prepared)
    }
}

/// The check whose run is under way on this thread, if one is.
pub fn current_check() -> CurrentCheck {
    CurrentCheck(SHOWN.with_borrow(Clone::clone))
}

/// A check, for other threads that run worlds for it.
#[derive(Clone)]
pub struct CurrentCheck(Option<PanicPlaces>);

impl CurrentCheck {
    /// Runs something for the check, each of whose panics is shown once.
    pub fn hush<T>(self, run: impl FnOnce() -> T) -> T {
        let _until_its_end = ShownGuard(SHOWN.replace(self.0));
        run()
    }
}

/// Whether it is a panic of a run that shows no more than that tokio is used, which the run then provides for or says.
fn is_want_of_runtime(payload: &dyn Any) -> bool {
    let is_in_run = SHOWN.try_with(|shown| shown.borrow().is_some()).unwrap_or(false);
    is_in_run && wants_runtime(payload)
}

/// Whether a panic is to be shown. Outside of runs every one is, and so is one of a thread that is at its end.
fn is_new(at: &panic::Location<'_>) -> bool {
    let shown = SHOWN.try_with(|shown| shown.borrow().clone()).ok().flatten();
    shown.is_none_or(|shown| {
        let mut places = shown.lock().unwrap_or_else(PoisonError::into_inner);
        places.insert((at.file().to_owned(), at.line(), at.column()))
    })
}

/// Whose run was under way before; it is again when this is dropped.
struct ShownGuard(Option<PanicPlaces>);

impl Drop for ShownGuard {
    fn drop(&mut self) {
        SHOWN.set(self.0.take());
    }
}

impl<P: Prepared> Prepared for QuietPanics<P> {
    type Record = P::Record;

    fn judge(&self, seed: impl Into<Seed>) -> Summary {
        self.hush(|prepared| prepared.judge(seed))
    }

    fn run(&self, seed: impl Into<Seed>) -> Report {
        self.hush(|prepared| prepared.run(seed))
    }

    fn run_traced(&self, seed: impl Into<Seed>) -> (Report, Vec<P::Record>) {
        self.hush(|prepared| prepared.run_traced(seed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of one place in the code: every panic outside of checks, and the first of each check.
    #[test]
    fn a_panic_is_new_outside_of_checks_and_once_in_each() {
        let at = panic::Location::caller();
        let twice = || [is_new(at), is_new(at)];
        assert_eq!(twice(), [true, true]);
        let (one, other) = (QuietPanics::new(()), QuietPanics::new(()));
        assert_eq!(one.hush(|()| twice()), [true, false]);
        let here = one.hush(|()| current_check());
        let elsewhere = std::thread::scope(|scope| scope.spawn(|| here.hush(twice)).join());
        assert_eq!(elsewhere.expect("it does not panic"), [false, false], "on another thread, too");
        assert_eq!(one.hush(|()| [other.hush(|()| is_new(at)), is_new(at)]), [true, false]);
        assert_eq!(twice(), [true, true]);
    }
}
