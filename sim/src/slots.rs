//! Slabs whose keys say what they are keys of, so that a connection's key never finds a segment.

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use slab::Slab;

/// Names a slot. Like a slab's, it may name another thing once the first was removed: what must notice that compares a
/// number of its own.
pub(crate) struct Key<T> {
    slot: u32,
    of: PhantomData<fn() -> T>,
}

/// Things in numbered slots. A slot that became free is the first to be used again.
pub(crate) struct Slots<T>(Slab<T>);

impl<T> Key<T> {
    #[inline(always)]
    fn new(slot: usize) -> Key<T> {
        let slot = u32::try_from(slot).expect("memory ends before four billion slots do");
        Key { slot, of: PhantomData }
    }
}

impl<T> Slots<T> {
    #[inline(always)]
    pub(crate) fn insert(&mut self, value: T) -> Key<T> {
        Key::new(self.0.insert(value))
    }

    #[inline(always)]
    pub(crate) fn remove(&mut self, key: Key<T>) -> T {
        self.0.remove(key.slot as usize)
    }

    pub(crate) fn get(&self, key: Key<T>) -> Option<&T> {
        self.0.get(key.slot as usize)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// In the order of their slots.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Key<T>, &T)> {
        self.0.iter().map(|(slot, value)| (Key::new(slot), value))
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|(_, value)| value)
    }
}

impl<T> Index<Key<T>> for Slots<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, key: Key<T>) -> &T {
        &self.0[key.slot as usize]
    }
}

impl<T> IndexMut<Key<T>> for Slots<T> {
    #[inline(always)]
    fn index_mut(&mut self, key: Key<T>) -> &mut T {
        &mut self.0[key.slot as usize]
    }
}

impl<T> Default for Slots<T> {
    fn default() -> Slots<T> {
        Slots(Slab::new())
    }
}

// Written out because deriving would ask the same of `T`.

impl<T> Clone for Key<T> {
    fn clone(&self) -> Key<T> {
        *self
    }
}

impl<T> Copy for Key<T> {}

impl<T> PartialEq for Key<T> {
    fn eq(&self, other: &Key<T>) -> bool {
        self.slot == other.slot
    }
}

impl<T> Eq for Key<T> {}

impl<T> PartialOrd for Key<T> {
    fn partial_cmp(&self, other: &Key<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Key<T> {
    fn cmp(&self, other: &Key<T>) -> Ordering {
        self.slot.cmp(&other.slot)
    }
}

impl<T> fmt::Debug for Key<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slot {}", self.slot)
    }
}
