//! How long a sender waits for an acknowledgement before it sends again: TCP's estimate of the round trip (RFC 6298).
//!
//! Each end measures what it sends and how long an answer would take, which is what an acknowledgement does: the delay
//! of a segment, and the latest delay the other way. What was sent twice, or was delayed by a fault of its own, is no
//! measure. Integer arithmetic, with the weights of the RFC.
//!
//! The least timeout is Linux's 200 ms (which Linux adds to the round trip; here it is the whole, so that the instants
//! of the back-off are round numbers). A retransmission that is not necessary, because an acknowledgement is late,
//! changes nothing but load and is not modelled.

use std::time::Duration;

use crate::time::nanos;

/// Before anything was measured.
const FIRST: Duration = Duration::from_secs(1);
/// Linux's `TCP_RTO_MIN`.
const LEAST: Duration = Duration::from_millis(200);
/// The longest wait between two retransmissions (Linux's `TCP_RTO_MAX`).
pub(super) const MOST: Duration = Duration::from_secs(120);

/// An estimate of the round trip, if there was a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RoundTrip(Option<Estimate>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Estimate {
    smoothed_ns: u64,
    variation_ns: u64,
}

impl RoundTrip {
    #[inline(always)]
    pub(super) fn measure(&mut self, round_trip: Duration) {
        const MOST_NS: u64 = MOST.as_secs() * 1_000_000_000;
        let sample = nanos(round_trip).min(MOST_NS);
        self.0 = Some(match self.0 {
            None => Estimate { smoothed_ns: sample, variation_ns: sample / 2 },
            Some(Estimate { smoothed_ns, variation_ns }) => Estimate {
                variation_ns: (3 * variation_ns + smoothed_ns.abs_diff(sample)) / 4,
                smoothed_ns: (7 * smoothed_ns + sample) / 8,
            },
        });
    }

    /// The wait before the first retransmission.
    pub(super) fn timeout(&self) -> Duration {
        let Some(Estimate { smoothed_ns, variation_ns }) = self.0 else { return FIRST };
        Duration::from_nanos(smoothed_ns + 4 * variation_ns).clamp(LEAST, MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(samples: impl IntoIterator<Item = u64>) -> u64 {
        let mut estimate = RoundTrip::default();
        samples.into_iter().for_each(|ms| estimate.measure(Duration::from_millis(ms)));
        estimate.timeout().as_millis() as u64
    }

    #[test]
    fn the_timeout_is_one_second_at_first_then_three_round_trips_and_never_below_200_ms() {
        for (round_trip, timeout) in
            [(0, 200), (10, 200), (66, 200), (67, 201), (1000, 3000), (50_000, 120_000)]
        {
            assert_eq!(after([round_trip]), timeout, "{round_trip} ms");
        }
        assert_eq!(after([]), 1000);
    }

    #[test]
    fn the_timeout_of_a_steady_round_trip_falls_towards_it_and_not_below() {
        let timeouts: Vec<u64> = (1..40).map(|count| after(vec![1000; count])).collect();
        assert_eq!(timeouts[..4], [3000, 2500, 2125, 1843]);
        assert!(timeouts.windows(2).all(|pair| pair[1] <= pair[0]), "{timeouts:?}");
        assert!(timeouts.iter().all(|timeout| (1000..=3000).contains(timeout)), "{timeouts:?}");
    }

    #[test]
    fn the_timeout_follows_a_round_trip_that_changes() {
        let slow = [4, 4, 4].into_iter().chain([2000; 20]);
        assert!(after(slow) >= 2000);
        let quick_again = [2000; 20].into_iter().chain([4; 100]);
        assert_eq!(after(quick_again), 200);
    }
}
