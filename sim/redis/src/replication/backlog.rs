//! The last bytes of a node's history, by offset: what replicas are sent, and what one that comes back may have missed.
//!
//! Offsets count bytes: offset n is the end of the n-th byte ever propagated.

use std::collections::VecDeque;

/// A window of the history that ends now.
#[derive(Debug)]
pub(crate) struct Backlog {
    bytes: VecDeque<u8>,
    end: u64,
    capacity: usize,
}

impl Backlog {
    /// An empty window that keeps at least the last `capacity` bytes.
    pub(crate) fn new(capacity: usize) -> Backlog {
        Backlog { bytes: VecDeque::new(), end: 0, capacity }
    }

    /// Forgets everything; the history goes on at `offset`.
    pub(crate) fn restart_at(&mut self, offset: u64) {
        self.bytes.clear();
        self.end = offset;
    }

    /// Keeps another number of bytes from now on.
    pub(crate) fn resize(&mut self, capacity: u64) {
        self.capacity = usize::try_from(capacity).unwrap_or(usize::MAX);
    }

    /// Adds to the end. Drops what is older than the capacity, except what a reader at `slowest` has still to read.
    pub(crate) fn append(&mut self, bytes: &[u8], slowest: Option<u64>) {
        self.bytes.extend(bytes);
        self.end += bytes.len() as u64;
        let kept_from = self.end.saturating_sub(self.capacity as u64).min(slowest.unwrap_or(u64::MAX));
        let too_old = kept_from.saturating_sub(self.start()) as usize;
        self.bytes.drain(..too_old.min(self.bytes.len()));
    }

    /// Appends at most `limit` bytes from offset `from` on to `into`; returns the offset reached, `None` if the window
    /// does not reach back to `from`.
    pub(crate) fn read(&self, from: u64, limit: usize, into: &mut Vec<u8>) -> Option<u64> {
        if !self.covers(from) {
            return None;
        }
        let skipped = (from - self.start()) as usize;
        let taken = (self.bytes.len() - skipped).min(limit);
        let (head, tail) = self.bytes.as_slices();
        let in_head = head.get(skipped.min(head.len())..).unwrap_or_default();
        let in_head = &in_head[..taken.min(in_head.len())];
        let tail_skipped = skipped.saturating_sub(head.len());
        into.extend_from_slice(in_head);
        into.extend_from_slice(&tail[tail_skipped..tail_skipped + taken - in_head.len()]);
        Some(from + taken as u64)
    }

    /// Whether everything after offset `from` is still here.
    pub(crate) fn covers(&self, from: u64) -> bool {
        (self.start()..=self.end).contains(&from)
    }

    /// Where the window begins.
    pub(crate) fn start(&self) -> u64 {
        self.end - self.bytes.len() as u64
    }

    /// Bytes in the window.
    pub(crate) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_keeps_its_capacity_and_reads_by_offset() {
        let mut backlog = Backlog::new(4);
        backlog.restart_at(100);
        backlog.append(b"abcdef", None);
        assert_eq!((backlog.start(), backlog.len()), (102, 4));
        let mut read = Vec::new();
        assert_eq!(backlog.read(103, 2, &mut read), Some(105));
        assert_eq!(backlog.read(105, 9, &mut read), Some(106));
        assert_eq!(read, b"def");
        assert_eq!(backlog.read(101, 9, &mut read), None, "dropped");
        assert_eq!(backlog.read(107, 9, &mut read), None, "not yet written");
    }

    #[test]
    fn a_slow_reader_holds_the_window_open() {
        let mut backlog = Backlog::new(2);
        backlog.append(b"abcd", Some(1));
        let mut read = Vec::new();
        assert_eq!(backlog.read(1, 9, &mut read), Some(4));
        assert_eq!(read, b"bcd");
    }

    #[test]
    fn reading_across_the_wrap_of_the_ring_loses_nothing() {
        let mut backlog = Backlog::new(5);
        let mut expected = Vec::new();
        for round in 0..100_u8 {
            let from = backlog.start() + backlog.len();
            backlog.append(&[round, round + 1, round + 2], None);
            let mut read = Vec::new();
            backlog.read(from, 9, &mut read).expect("just written");
            expected.clear();
            expected.extend([round, round + 1, round + 2]);
            assert_eq!(read, expected);
        }
    }
}
