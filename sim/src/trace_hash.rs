//! What "the same run" means: a hash over every event of a trace, with its true time.
//!
//! Same plan and same rules give the same hash in any build, on any thread, alone or after a thousand other runs. The
//! first difference anywhere changes everything after it; a kept trace then shows which event it was.
//!
//! An event goes in as a few words of 64 bits: which kind it is and its short fields share one, and each longer field
//! has its own. No field is cut short, and the kind comes first, so two different events never give the same words.
//!
//! The hash compares runs. It is no protection against somebody who looks for two runs with one hash.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::time::SimTime;
use crate::trace::{Event, HostId};

/// The digest of a whole run's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceHash(pub u64);

impl TraceHash {
    /// Names the rules by which events become a hash. Raised whenever the same run would get another hash, so that a
    /// hash that was written down can be told from one that never could be equal.
    ///
    /// 1: events by their derived `Hash`. 2: events as packed words. 3: log-normal delays by the normal's quantile.
    pub const RULES: u32 = 3;
}

impl fmt::Display for TraceHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A digest of bytes that were sent.
pub fn digest(bytes: &[u8]) -> u64 {
    let mut rolling = Rolling::default();
    rolling.write(bytes);
    rolling.0
}

/// Multiply-fold hashing, one word at a time. Written out because the standard hashers promise no stable result, and
/// because it runs for every event: one multiplication of 64 by 64 bits and one fold per word.
#[derive(Debug)]
pub(crate) struct Rolling(u64);

impl Default for Rolling {
    fn default() -> Rolling {
        Rolling(0x243f_6a88_85a3_08d3) // the first digits of pi: a number that nobody chose
    }
}

impl Rolling {
    pub(crate) fn hash(&self) -> TraceHash {
        TraceHash(self.0)
    }

    #[inline(always)]
    fn mix(&mut self, word: u64) {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15; // 2^64 ÷ golden ratio
        let product = u128::from(self.0 ^ word) * u128::from(ODD);
        // The high half folds back in; adding the word keeps a state of zero from absorbing what follows.
        self.0 = (product as u64 ^ (product >> 64) as u64).wrapping_add(word.rotate_left(23));
    }

    #[inline(always)]
    fn mix_all<const WORDS: usize>(&mut self, words: [u64; WORDS]) {
        for word in &words {
            self.mix(*word);
        }
    }

    /// Takes in one event. The numbers of the kinds are part of the rules: a new kind gets the next one.
    ///
    /// Always inlined: where the kind is known, all but its own words falls away.
    #[inline(always)]
    pub(crate) fn event(&mut self, at: SimTime, event: &Event) {
        self.mix(at.0);
        match *event {
            Event::Booted { host } => self.mix(head(1, 0, host.0)),
            Event::Ran { host } => self.mix(head(2, 0, host.0)),
            Event::ClockRead { host, clock, reading } => {
                self.mix_all([head(3, clock as u8, host.0), reading as u64]);
            }
            Event::TimerFired { host } => self.mix(head(4, 0, host.0)),
            Event::Connecting { connection, from, to } => {
                self.mix_all([head(5, 0, 0), pair(from, to), connection.0]);
            }
            Event::Accepted { connection, host } => self.mix_all([head(6, 0, host.0), connection.0]),
            Event::Sent { connection, from, to, bytes, digest } => {
                self.mix_all([head(7, 0, bytes), pair(from, to), connection.0, digest]);
            }
            Event::Delivered { connection, from, to, bytes } => {
                self.mix_all([head(8, 0, bytes), pair(from, to), connection.0]);
            }
            Event::Held { connection, from, to } => {
                self.mix_all([head(9, 0, 0), pair(from, to), connection.0]);
            }
            Event::Ended { connection, host, how } => {
                self.mix_all([head(10, how as u8, host.0), connection.0]);
            }
            Event::Synced { host, durable } => self.mix_all([head(11, 0, host.0), durable]),
            Event::Fault { ref fault } => {
                // Faults are few, so they keep their derived `Hash`: a new one needs no line here.
                self.mix(head(12, 0, 0));
                fault.hash(self);
            }
            Event::Mark { host, ref label, about } => {
                let whom = about.map_or(0, |about| u64::from(about.0));
                self.mix_all([head(13, u8::from(about.is_some()), host.0), whom]);
                self.write(label.as_bytes());
            }
        }
    }
}

/// The first word of an event: its kind, a choice among few, and a number.
#[inline]
fn head(kind: u8, choice: u8, number: u32) -> u64 {
    u64::from(kind) | u64::from(choice) << 8 | u64::from(number) << 32
}

#[inline]
fn pair(from: HostId, to: HostId) -> u64 {
    u64::from(from.0) | u64::from(to.0) << 32
}

impl Hasher for Rolling {
    /// The length first, then the bytes by eights. The last eight may repeat some of those before: they say more than
    /// a word filled up with zeros would, and need no copy.
    fn write(&mut self, bytes: &[u8]) {
        self.mix(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        match (rest, bytes.last_chunk::<8>()) {
            ([], _) => {}
            (_, Some(last)) => self.mix(u64::from_le_bytes(*last)),
            (short, None) => self.mix(short.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))),
        }
    }

    // Integers go in by value, not by their bytes in memory: a big-endian machine must agree.
    fn write_u8(&mut self, n: u8) {
        self.mix(u64::from(n));
    }
    fn write_u32(&mut self, n: u32) {
        self.mix(u64::from(n));
    }
    fn write_u64(&mut self, n: u64) {
        self.mix(n);
    }
    fn write_i64(&mut self, n: i64) {
        self.mix(n as u64);
    }
    fn write_usize(&mut self, n: usize) {
        self.mix(n as u64);
    }
    fn write_isize(&mut self, n: isize) {
        self.mix(n as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::clock::ClockKind;
    use crate::fault::Fault;
    use crate::trace::{ConnectionId, End};

    fn hash(at: u64, events: &[Event]) -> u64 {
        let mut rolling = Rolling::default();
        events.iter().for_each(|event| rolling.event(SimTime(at), event));
        rolling.0
    }

    const A: HostId = HostId(1);
    const B: HostId = HostId(2);
    /// Differs from `A` in the highest bit alone, which a word that is too narrow would cut off.
    const FAR: HostId = HostId(1 | 1 << 31);

    /// Events with one field changed after the other; each list begins with the event that the others are changed from.
    fn neighbours() -> Vec<Vec<Event>> {
        let c = ConnectionId(7);
        let far = ConnectionId(7 | 1 << 63);
        let host = |event: fn(HostId) -> Event| [A, B, FAR].map(event).to_vec();
        let read = |host, clock, reading| Event::ClockRead { host, clock, reading };
        let connecting = |connection, from, to| Event::Connecting { connection, from, to };
        let accepted = |connection, host| Event::Accepted { connection, host };
        let sent = |connection, from, to, bytes, digest| Event::Sent { connection, from, to, bytes, digest };
        let delivered = |connection, from, to, bytes| Event::Delivered { connection, from, to, bytes };
        let held = |connection, from, to| Event::Held { connection, from, to };
        let ended = |connection, host, how| Event::Ended { connection, host, how };
        let synced = |host, durable| Event::Synced { host, durable };
        let fault = |fault| Event::Fault { fault };
        let mark = |host, label: &'static str, about| Event::Mark { host, label: label.into(), about };
        vec![
            host(|host| Event::Booted { host }),
            host(|host| Event::Ran { host }),
            host(|host| Event::TimerFired { host }),
            vec![
                read(A, ClockKind::Wall, 5),
                read(FAR, ClockKind::Wall, 5),
                read(A, ClockKind::Monotonic, 5),
                read(A, ClockKind::Boot, 5),
                read(A, ClockKind::Wall, -5),
                read(A, ClockKind::Wall, 5 | 1 << 62),
            ],
            vec![connecting(c, A, B), connecting(far, A, B), connecting(c, FAR, B), connecting(c, A, FAR)],
            vec![accepted(c, A), accepted(far, A), accepted(c, FAR)],
            vec![
                sent(c, A, B, 3, 9),
                sent(far, A, B, 3, 9),
                sent(c, FAR, B, 3, 9),
                sent(c, A, FAR, 3, 9),
                sent(c, A, B, 3 | 1 << 31, 9),
                sent(c, A, B, 3, 9 | 1 << 63),
            ],
            vec![
                delivered(c, A, B, 3),
                delivered(far, A, B, 3),
                delivered(c, FAR, B, 3),
                delivered(c, A, FAR, 3),
                delivered(c, A, B, 3 | 1 << 31),
            ],
            vec![held(c, A, B), held(far, A, B), held(c, FAR, B), held(c, A, FAR), held(c, B, A)],
            vec![
                ended(c, A, End::Refused),
                ended(far, A, End::Refused),
                ended(c, FAR, End::Refused),
                ended(c, A, End::Reset),
                ended(c, A, End::TimedOut),
                ended(c, A, End::Finished),
            ],
            vec![synced(A, 3), synced(FAR, 3), synced(A, 3 | 1 << 63)],
            vec![
                fault(Fault::Pause { host: A }),
                fault(Fault::Pause { host: FAR }),
                fault(Fault::Resume { host: A }),
                fault(Fault::StepClock { host: A, by_ns: 1 }),
                fault(Fault::StepClock { host: A, by_ns: -1 }),
                fault(Fault::Signal { host: A, signal: "a".into() }),
                fault(Fault::Signal { host: A, signal: "b".into() }),
            ],
            vec![
                mark(A, "a", None),
                mark(FAR, "a", None),
                mark(A, "b", None),
                mark(A, "", None),
                mark(A, "a", Some(HostId(0))),
                mark(A, "a", Some(B)),
                mark(A, "a", Some(FAR)),
            ],
        ]
    }

    #[test]
    fn every_field_of_every_event_counts_and_so_do_its_kind_and_its_time() {
        let mut kinds = BTreeSet::new();
        let mut hashes = BTreeSet::new();
        for event in neighbours().into_iter().flatten() {
            kinds.insert(kind(&event));
            for at in [1, 2, 1 | 1 << 63] {
                assert!(hashes.insert(hash(at, std::slice::from_ref(&event))), "{event:?} at {at}");
            }
        }
        assert_eq!(kinds, (1..=KINDS).collect(), "every kind has its list");
    }

    const KINDS: u8 = 13;

    /// Exhaustive, so that a new event cannot be left out of the list above.
    fn kind(event: &Event) -> u8 {
        match event {
            Event::Booted { .. } => 1,
            Event::Ran { .. } => 2,
            Event::ClockRead { .. } => 3,
            Event::TimerFired { .. } => 4,
            Event::Connecting { .. } => 5,
            Event::Accepted { .. } => 6,
            Event::Sent { .. } => 7,
            Event::Delivered { .. } => 8,
            Event::Held { .. } => 9,
            Event::Ended { .. } => 10,
            Event::Synced { .. } => 11,
            Event::Fault { .. } => 12,
            Event::Mark { .. } => KINDS,
        }
    }

    #[test]
    fn the_order_of_events_counts() {
        let (a, b) = (Event::Ran { host: A }, Event::Ran { host: B });
        assert_ne!(hash(1, &[a.clone(), b.clone()]), hash(1, &[b, a]));
    }

    #[test]
    fn every_byte_of_a_text_counts_and_so_does_its_length() {
        let mut digests = BTreeSet::new();
        for length in 0..40 {
            let text = vec![b'x'; length];
            assert!(digests.insert(digest(&text)), "{length} times x");
            for changed in 0..length {
                for flipped in [1, 0x80] {
                    let mut other = text.clone();
                    other[changed] ^= flipped;
                    assert!(digests.insert(digest(&other)), "byte {changed} of {length}");
                }
            }
        }
        // Zeros, where a word that is filled up looks like a longer text.
        for length in 1..40 {
            assert!(digests.insert(digest(&vec![0; length])), "{length} zeros");
        }
    }

    #[test]
    fn a_change_of_one_bit_of_a_word_changes_about_half_of_the_hash() {
        let base = hash(1 << 20, &[Event::Synced { host: A, durable: 0 }, Event::Ran { host: A }]);
        for bit in 0..64 {
            let other =
                hash(1 << 20, &[Event::Synced { host: A, durable: 1 << bit }, Event::Ran { host: A }]);
            let changed = (base ^ other).count_ones();
            assert!((12..=52).contains(&changed), "bit {bit} changes {changed} of 64");
        }
    }
}
