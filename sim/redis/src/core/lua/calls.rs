//! What a script's commands answered, to be answered again.
//!
//! A script that outgrows the thread's shared state starts again in a state of its own. Its commands have been executed
//! by then and are not executed twice: they get the replies they got. All else a script can see (its arguments, the
//! time, random numbers) is the same again, so it comes to the same point, and from there on its commands are executed.

/// The replies so far, and how many of them were given out again.
#[derive(Debug, Default)]
pub(super) struct Calls {
    bytes: Vec<u8>,
    /// Where each reply ends, and what it cost.
    ends: Vec<(usize, u64)>,
    next: usize,
    /// In a state of its own: nothing has to be kept any more.
    again: bool,
}

impl Calls {
    /// The next reply is the first one again.
    pub(super) fn begin_again(&mut self) {
        (self.next, self.again) = (0, true);
    }

    /// Writes the reply that this call got before, and tells its cost; `None` if it was not made before.
    pub(super) fn answer_again(&mut self, out: &mut Vec<u8>) -> Option<u64> {
        if !self.again {
            return None;
        }
        let &(end, cost) = self.ends.get(self.next)?;
        let start = self.next.checked_sub(1).map_or(0, |last| self.ends[last].0);
        self.next += 1;
        out.extend_from_slice(&self.bytes[start..end]);
        Some(cost)
    }

    /// Keeps a reply; how many bytes are kept now.
    pub(super) fn keep(&mut self, reply: &[u8], cost: u64) -> usize {
        if !self.again {
            self.bytes.extend_from_slice(reply);
            self.ends.push((self.bytes.len(), cost));
        }
        self.bytes.len() + self.ends.len() * size_of::<(usize, u64)>()
    }
}
