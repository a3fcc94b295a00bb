//! A list: elements in an order, cheap at both ends.

use std::collections::VecDeque;

use super::ELEMENT_BYTES;

/// One of a list's ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Where index 0 is.
    Left,
    Right,
}

impl End {
    /// LEFT or RIGHT, in any case.
    pub(crate) fn from_word(word: &[u8]) -> Option<End> {
        match word {
            _ if word.eq_ignore_ascii_case(b"LEFT") => Some(End::Left),
            _ if word.eq_ignore_ascii_case(b"RIGHT") => Some(End::Right),
            _ => None,
        }
    }

    /// What is told of who adds to this end.
    pub(crate) fn push_event(self) -> &'static str {
        match self {
            End::Left => "lpush",
            End::Right => "rpush",
        }
    }

    /// What is told of who takes from this end.
    pub(crate) fn pop_event(self) -> &'static str {
        match self {
            End::Left => "lpop",
            End::Right => "rpop",
        }
    }

    pub(crate) fn name(self) -> &'static [u8] {
        match self {
            End::Left => b"LEFT",
            End::Right => b"RIGHT",
        }
    }
}

/// A key's list. Redis' encoding is a quicklist, however short it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct List {
    elements: VecDeque<Vec<u8>>,
    size: u64,
}

fn element_size(element: &[u8]) -> u64 {
    (element.len() + ELEMENT_BYTES) as u64
}

impl List {
    pub(crate) fn len(&self) -> usize {
        self.elements.len()
    }

    /// Bytes it takes, about.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn get(&self, index: usize) -> Option<&[u8]> {
        self.elements.get(index).map(Vec::as_slice)
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &[u8]> + ExactSizeIterator {
        self.elements.iter().map(Vec::as_slice)
    }

    pub(crate) fn push(&mut self, end: End, element: &[u8]) {
        self.size += element_size(element);
        match end {
            End::Left => self.elements.push_front(element.to_vec()),
            End::Right => self.elements.push_back(element.to_vec()),
        }
    }

    pub(crate) fn pop(&mut self, end: End) -> Option<Vec<u8>> {
        let popped = match end {
            End::Left => self.elements.pop_front(),
            End::Right => self.elements.pop_back(),
        }?;
        self.size -= element_size(&popped);
        Some(popped)
    }

    /// Replaces an element; false if there is none at `index`.
    pub(crate) fn set(&mut self, index: usize, element: &[u8]) -> bool {
        let Some(old) = self.elements.get_mut(index) else { return false };
        self.size = self.size + element_size(element) - element_size(old);
        old.clear();
        old.extend_from_slice(element);
        true
    }

    /// Puts an element where `index` is; what was there and behind it moves to the right.
    pub(crate) fn insert(&mut self, index: usize, element: &[u8]) {
        self.size += element_size(element);
        self.elements.insert(index.min(self.elements.len()), element.to_vec());
    }

    /// Removes up to `count` elements equal to this one, going from `end`; how many there were.
    pub(crate) fn remove(&mut self, element: &[u8], from: End, count: usize) -> usize {
        let matches = self.elements.iter().filter(|found| *found == element).count();
        let removed = matches.min(count);
        // Going from the left, those of the right are kept; whoever goes from the right passes by the others first.
        let mut passed = if from == End::Left { 0 } else { matches - removed };
        let mut left = removed;
        self.elements.retain(|found| {
            if found != element || left == 0 {
                return true;
            }
            if passed > 0 {
                passed -= 1;
                return true;
            }
            left -= 1;
            false
        });
        self.size -= removed as u64 * element_size(element);
        removed
    }

    /// Removes all but the elements from `first` on, `count` of them; how many it removed.
    pub(crate) fn keep(&mut self, first: usize, count: usize) -> usize {
        let before = self.elements.len();
        self.elements.truncate(first.saturating_add(count));
        self.elements.drain(..first.min(self.elements.len()));
        self.size = self.elements.iter().map(|element| element_size(element)).sum();
        before - self.elements.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(elements: &str) -> List {
        let mut list = List::default();
        elements.split(' ').for_each(|element| list.push(End::Right, element.as_bytes()));
        list
    }

    #[test]
    fn removing_begins_at_the_end_that_is_asked_for() {
        for (from, count, expected) in [
            (End::Left, 1, "b a c a"),
            (End::Right, 1, "a b a c"),
            (End::Right, 2, "a b c"),
            (End::Left, 9, "b c"),
        ] {
            let mut changed = list("a b a c a");
            changed.remove(b"a", from, count);
            assert_eq!(changed, list(expected), "{from:?} {count}");
        }
    }

    #[test]
    fn the_size_is_that_of_the_elements_whatever_was_done() {
        let mut changed = list("a bb ccc dddd");
        changed.pop(End::Left);
        changed.set(0, b"longer than before");
        changed.insert(1, b"x");
        changed.keep(1, 2);
        changed.remove(b"none", End::Left, 5);
        assert_eq!(changed, list("x ccc"));
    }
}
