//! Worlds in which the rate of violations is known: the closed forms, each derived so that it can be checked line by
//! line. The worlds are the `.toml` files beside this one; `ends.rs` tries the ends of every interval named here.
//!
//! # What all of them have in common
//!
//! Every way takes 100 µs and no step takes time, so a run depends on its random faults and on nothing else. A fault
//! strikes at a whole microsecond of the weather's window, each slot of the window (there are 32) as likely as any
//! other and independent of them, and each microsecond of a slot alike. It lasts as long as was drawn.
//!
//! A client's first SET takes three round trips: the connection is asked for at 0.2 ms (after that to the resource),
//! is there at 0.4 ms, when the SET leaves, which is executed at 0.5 ms and answered at 0.6 ms. So c1's key is set in
//! the node's millisecond 0, and is gone from the first millisecond above the lease on.
//!
//! What is left out: runs with more faults than the study's strata, where there is one stratum. They weigh less than
//! half as much as the mean number of faults, 7 × 10⁻⁷ of the rate or less; a repetition of the estimate is at least
//! ten thousand times less precise.

/// How many slots a window has.
const SLOTS: i32 = 32;
/// The last microsecond at which a pause finds that c1's SET has not been sent: after such a pause it is sent when c1
/// goes on. Either it is there before c2's, or c2 has been and gone; in both cases the two take turns.
const UNSENT_US: u64 = 400;
/// When c1 has its grant.
const GRANT_US: u64 = 600;

/// A world, and what is known of it.
pub(crate) struct World {
    /// Its name in tables.
    pub(crate) name: &'static str,
    /// Its study.
    pub(crate) study: &'static str,
    /// How likely a run is to violate P1.
    pub(crate) per_run: f64,
    /// How many grants a run has on average. In all these worlds c1 and c2 are granted once each, whatever strikes.
    pub(crate) grants: f64,
}

/// All of them.
pub(crate) fn worlds() -> Vec<World> {
    let world = |name, study, per_run| World { name, study, per_run, grants: 2.0 };
    vec![
        world("a pause of up to 10 s, one a month", "pause-uniform", pause_uniform()),
        world("a log-normal pause, one a year", "pause-log-normal", pause_log_normal()),
        world("many pauses of 3 s", "pause-many", pause_many()),
        world("the same, runs shared out by weight", "pause-shared", pause_many()),
        world("a failover, one a month", "failover", failover()),
    ]
}

/// How likely just one fault is, if `mean` are expected: one slot is hit, and each other is not.
fn one(mean: f64) -> f64 {
    let chance = mean / f64::from(SLOTS);
    mean * (1.0 - chance).powi(SLOTS - 1)
}

/// A world of a lease that a pause may outlive, in microseconds.
pub(crate) struct Lease {
    /// The window of the weather.
    pub(crate) window: u64,
    /// How long c1 works.
    pub(crate) work: u64,
    /// When c2 is granted if c1 has not given its lock back.
    pub(crate) other: u64,
}

/// `pause-world.toml`. c2's requests are executed at 500.3 ms and every 100.2 ms from then on (100 ms of waiting, a
/// way there and one back). The first in a millisecond above 2,000 is that at 2,003.3 ms; c2 is granted 0.1 ms later.
pub(crate) const LONG: Lease = Lease { window: 3_200_000, work: 1_000_000, other: 2_003_400 };

/// `short-world.toml`. c2's are executed at 50.3 ms and every 50.2 ms from then on; the first above 400 ms is that at
/// 401.7 ms.
pub(crate) const SHORT: Lease = Lease { window: 600_000, work: 300_000, other: 401_800 };

impl Lease {
    /// How likely a run with one pause is to violate P1: the mean over all instants of the window of how likely a pause
    /// that begins there is to last until c2 is granted. `lasts(ms)` is how likely one lasts for so many milliseconds
    /// or more; lengths are whole milliseconds.
    ///
    /// - A pause up to 400 µs violates nothing: see [`UNSENT_US`].
    /// - One from there to 600 µs delays c1's reading of its reply to the end of the pause. c1 works from then on, so
    ///   its claim ends so much after the pause as it works. That it may begin after c2's is all the same: c2 claims
    ///   from `other` until all pauses are over, however long they are.
    /// - One from 601 µs until c1's work is over, that microsecond included, delays c1's release to the end of the
    ///   pause if that is later. A pause that ends at `other` or earlier delays it to before c2's grant.
    /// - One after that comes when c1 has said that it releases.
    pub(crate) fn violated(&self, lasts: impl Fn(u64) -> f64) -> f64 {
        let early = (UNSENT_US + 1..=GRANT_US).map(|at| self.other - self.work - at);
        let late = (GRANT_US + 1..=GRANT_US + self.work).map(|at| self.other - at);
        // The chance changes only with the millisecond, so that it is computed a thousand times and not a million.
        let mut last = (0, lasts(0));
        let mut sum = 0.0;
        for longer_than in early.chain(late) {
            let ms = longer_than / 1_000 + 1;
            if ms != last.0 {
                last = (ms, lasts(ms));
            }
            sum += last.1;
        }
        sum / self.window as f64
    }
}

/// One pause in 720 h, of any length from 0 to 10 s alike, and the violations of those that are alone.
fn pause_uniform() -> f64 {
    let mean = 3.2 / (720.0 * 3600.0);
    one(mean) * LONG.violated(|ms| 1.0 - ms as f64 / 10_000.0)
}

/// The same pauses beside pauses of up to 100 ms, one in 24 h, which end long before c2 is granted: the violations of
/// runs with one pause, which is a long one in about one of 31.
pub(crate) fn pause_two_lines() -> f64 {
    let hours = |every: f64| 3.2 / (every * 3600.0);
    let no_short = (1.0 - hours(24.0) / f64::from(SLOTS)).powi(SLOTS);
    one(hours(720.0)) * no_short * LONG.violated(|ms| 1.0 - ms as f64 / 10_000.0)
}

/// The same share as an integral, to be compared with the sum: pauses begin at any instant `s` and are of any length
/// `D`, uniform in 0 to 10 s, so `P(D > x) = 1 - x / 10`, and with `g` the grant, `G` c2's and `W` the window
///
/// `1/W ∫ from g to g + 1 of (1 - (G - s) / 10) ds = (1 - (G - g - 1/2) / 10) / W`.
///
/// Left out are the 0.2 ms in which the reply is under way (at most 0.2 ms / W = 6 × 10⁻⁵), and that lengths are
/// rounded down to milliseconds (on average half of one: 0.5 ms / 10 s / W = 2 × 10⁻⁵).
pub(crate) fn uniform_integral() -> f64 {
    let (window, grant, other) = (3.2, 0.000_6, 2.003_4);
    (1.0 - (other - grant - 0.5) / 10.0) / window
}

/// One pause in 8,760 h, log-normal with a median of 100 ms and σ = 1.
fn pause_log_normal() -> f64 {
    let mean = 0.6 / (8_760.0 * 3600.0);
    one(mean) * SHORT.violated(|ms| above((ms as f64 / 100.0).ln()))
}

/// The probability that a normal number is `z` or more: near the middle a series,
/// `1/2 - φ(z) (z + z³/3 + z⁵/(3·5) + …)`, and beyond it Laplace's continued fraction,
/// `φ(z) / (z + 1/(z + 2/(z + 3/(z + …))))`.
///
/// Nothing of it is the program's, which draws by interpolating in a table (`sim/src/normal.rs`).
pub(crate) fn above(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - above(-z);
    }
    let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
    if z > 3.0 {
        return density / (1..200).rev().fold(z, |rest, k| z + f64::from(k) / rest);
    }
    let (mut sum, mut term) = (0.0, z);
    for k in 1..100 {
        sum += term;
        term *= z * z / (2.0 * f64::from(k) + 1.0);
    }
    0.5 - density * sum
}

/// A pause of 3 s in each slot of 100 ms with a chance of 1/32, and any number of them: no strata, but slot by slot.
///
/// A pause that begins from 401 µs until c1's work is over at 1,000.6 ms lasts until 3 s at least, and c2 is granted at
/// 2.0034 s: it violates P1 whatever else strikes, since no pause shortens another. One that begins later violates
/// nothing. One that begins until 400 µs violates nothing either, and makes harmless whatever comes after it: c1 is
/// stopped until 3 s or later, and when it asks, c2 has the lock, for longer than pauses strike: the two take turns.
///
/// So with `p = 1/32`: either slot 0 is hit, which harms with 99,599 of its 100,000 microseconds; or it is not, and
/// then a hit harms in slots 1 to 9, and in slot 10 with its first 601 microseconds.
fn pause_many() -> f64 {
    let hit = 1.0 / f64::from(SLOTS);
    let (first, last) = (99_599.0 / 100_000.0, 601.0 / 100_000.0);
    hit * first + (1.0 - hit) * (1.0 - (1.0 - hit).powi(9) * (1.0 - hit * last))
}

/// The promotions of R1 that lose c1's key, by their microsecond: the first and the last.
///
/// c1's SET is executed on M at 1,500.5 ms: c1 starts at 1.5 s, is connected 0.2 ms later, asks M for its role (0.2 ms
/// there and back), and its SET is 0.1 ms under way. The stream brings it to R1 200 ms later, at 1,700.5 ms.
///
/// *Too late.* The operator on R1's machine connects to its own node (20 µs there, 20 µs back) and types `REPLICAOF NO
/// ONE` (20 µs): R1 is master 60 µs after the promotion, and takes no more of M's stream. It misses the SET if that is
/// before 1,700.5 ms, so if R1 is promoted before 1,700.44 ms. At that very instant the SET, which was sent earlier,
/// comes first.
///
/// *Too early.* Of the second command, `CONFIG REWRITE`, the fsync takes 1 ms, the reply is there 20 µs later, and the
/// operator connects to M: 0.1 ms there, 200 ms back, and 0.1 ms for `REPLICAOF R1`. So M is told 1.08 + 200.2 =
/// 201.28 ms after the promotion. If that is before 1,500.5 ms, M refuses c1's SET, and c1 finds R1: so if R1 is
/// promoted before 1,299.22 ms. At that very instant both arrive at once, and the order was sent first.
///
/// Whatever is in between loses the key: c2 asks at 3.5 s, when the last promotion (3 s) and all that follows from it
/// (0.2 s) is over, finds the master, and is granted, while c1 works until 4.0006 s.
pub(crate) const LOSING_US: (u64, u64) = (1_299_221, 1_700_439);

/// One promotion in 720 h, in a window of 3 s.
fn failover() -> f64 {
    let mean = 3.0 / (720.0 * 3600.0);
    one(mean) * (LOSING_US.1 - LOSING_US.0 + 1) as f64 / 3e6
}
