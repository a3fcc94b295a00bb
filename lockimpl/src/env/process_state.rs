//! What a library keeps once in a process, and not once in each lock object: its client id, its table of local
//! mutexes, its one watchdog.
//!
//! Assumes that whoever runs a process makes a store with it and drops it with it. Does not model a library that is
//! loaded twice.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The statics of one process. Clones are handles to the same.
///
/// ```
/// use doublehold_lockimpl::ProcessState;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// let process = ProcessState::default();
/// process.get::<AtomicU64>().fetch_add(1, Ordering::Relaxed);
/// assert_eq!(process.clone().get::<AtomicU64>().load(Ordering::Relaxed), 1);
/// ```
#[derive(Clone, Default)]
pub struct ProcessState(Arc<Mutex<BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>>>);

impl ProcessState {
    /// The process's one value of this type: made when it is first asked for.
    pub fn get<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The order of type ids differs between builds. Nothing here goes through them in order.
        let value = values.entry(TypeId::of::<T>()).or_insert_with(|| Arc::<T>::default()).clone();
        drop(values);
        value.downcast().unwrap_or_default()
    }
}

impl fmt::Debug for ProcessState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProcessState")
    }
}
