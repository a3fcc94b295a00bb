//! A key with a token and a watchdog that renews it: the holder works as long as it likes, and needs no deadline.
//!
//! `extend` asks nobody: it says what the watchdog knows, as a job does that looks whether it may go on. It ends the
//! claim where the lock is lost, or was not renewed in time.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use doublehold::check::{
    Acquired, Env, Event, Extended, Fault, Grant, Lock, Mark, MonotonicTime, Nodes, Predicate, Ratio,
    Refusal, Released, Token, Way as Link, World,
};

use super::lease::Lease;
use super::scenes::*;
use super::searches::*;
use super::watchdog::{Hold, OnError, Watchdog, WatchdogOptions};
use super::{TIMEOUT, Way};
use crate::locks::library;
use crate::node::{COMPARE_AND_DELETE, COMPARE_AND_EXTEND, Node, Silence, is_yes, release_outcome};
use crate::{BadLock, Kind};

use Predicate::{LV, P1, P3};

/// What is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    RegisteredLate,
    FailedReleaseKeepsIt,
    NeverRenewsAgain,
    ErrorReleases,
    OneSlot,
    NoCap,
    IntervalUnderflows,
    FlagNotTime,
    ReleaseForEver,
}

/// One client's lock.
struct Renewing {
    way: Way,
    node: Node,
    flaw: Flaw,
    watchdogs: Watchdogs,
    /// A renewal failed once.
    gave_up: bool,
}

/// Those at work, by their resource.
type Watchdogs = Arc<Mutex<BTreeMap<String, Watchdog>>>;

impl Lock for Renewing {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let token = Token::draw(&self.way.env);
        let lease = Lease::start(&self.way.env, ttl).await;
        let answer = self.node.set_nx_px(resource, token.as_bytes(), ttl).await;
        let why = match answer {
            Ok(_) if is_yes(&answer) => match lease.too_late(&self.way.env).await {
                None => {
                    self.start_watchdog(resource, &token, ttl, lease.valid_until());
                    return Acquired::Granted(Grant::new(resource, token));
                }
                Some(why) => Acquired::Refused(why),
            },
            Ok(_) => return Acquired::Refused(Refusal::Taken),
            Err(Silence::Lost) => Silence::Lost.into_acquired(),
            Err(silence) => return silence.into_acquired(),
        };
        let _ignored = self.node.delete(resource, token.as_bytes()).await;
        why
    }

    async fn extend(&mut self, grant: &mut Grant, _: Duration) -> Extended {
        let Some(watched) = self.watchdog(&grant.resource).map(|it| it.watched) else {
            return Extended::NotOwner;
        };
        // WRONG: a flag stays as it is until the watchdog wakes, however long it slept.
        let over = self.flaw != Flaw::FlagNotTime && self.way.env.monotonic().await >= watched.lease_end();
        if watched.is_lost() || over { Extended::NotOwner } else { Extended::Extended { deadline: None } }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        // WRONG with `FailedReleaseKeepsIt`: it is stopped only once the release was answered.
        let stops_first = self.flaw != Flaw::FailedReleaseKeepsIt;
        if stops_first {
            self.stop(&grant.resource);
        }
        let mut outcome = release_outcome(self.node.delete(&grant.resource, grant.token.as_bytes()).await);
        // WRONG: a lock that is lost cannot be given back.
        while self.flaw == Flaw::ReleaseForEver && outcome != Released::Released {
            self.way.sleep(ms(200)).await;
            outcome = release_outcome(self.node.delete(&grant.resource, grant.token.as_bytes()).await);
        }
        if !stops_first && outcome == Released::Released {
            self.stop(&grant.resource);
        }
        outcome
    }
}

impl Renewing {
    /// Starts a watchdog.
    fn start_watchdog(&mut self, resource: &str, token: &Token, ttl: Duration, until: MonotonicTime) {
        if self.gave_up {
            return;
        }
        let (key, token) = (resource.to_owned(), token.as_bytes().to_vec());
        let hold = Hold { key, token, ttl, renew: COMPARE_AND_EXTEND, release: COMPARE_AND_DELETE };
        let (way, habits, slot, watchdogs) =
            (self.way.clone(), self.watchdog_options(ttl), self.slot(resource), self.watchdogs.clone());
        let start = move |way: &Way| {
            let watchdog = Watchdog::start(way, hold, until, habits);
            watchdogs.lock().unwrap_or_else(PoisonError::into_inner).insert(slot, watchdog);
        };
        if self.flaw == Flaw::RegisteredLate {
            // WRONG: a release that is quicker finds no watchdog to stop.
            self.way.env.spawn(async move {
                way.sleep(ms(20)).await;
                start(&way);
            });
        } else {
            start(&way);
        }
    }

    fn watchdog_options(&self, ttl: Duration) -> WatchdogOptions {
        let good = WatchdogOptions::correct(ttl);
        match self.flaw {
            // WRONG: the lease is not over, and the holder works on.
            Flaw::ErrorReleases => WatchdogOptions { on_error: OnError::Releases, ..good },
            // WRONG: the lock of a holder that is stuck is kept for ever.
            Flaw::NoCap => WatchdogOptions { most: None, ..good },
            // WRONG: half a second before a lease of less is in 584 million years.
            Flaw::IntervalUnderflows => {
                let before = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX).wrapping_sub(500);
                WatchdogOptions { interval: Duration::from_millis(before), ..good }
            }
            _ => good,
        }
    }

    /// Where the watchdog of a resource is found again.
    fn slot(&self, resource: &str) -> String {
        // WRONG: the watchdog of the next lock takes the place of this one's, which nobody finds any more.
        if self.flaw == Flaw::OneSlot { String::new() } else { resource.to_owned() }
    }

    fn watchdog(&self, resource: &str) -> Option<Watchdog> {
        self.watchdogs.lock().unwrap_or_else(PoisonError::into_inner).get(&self.slot(resource)).cloned()
    }

    fn stop(&mut self, resource: &str) {
        let slot = self.slot(resource);
        let stopped = self.watchdogs.lock().unwrap_or_else(PoisonError::into_inner).remove(&slot);
        if let Some(watchdog) = stopped {
            watchdog.stop();
            // WRONG: what failed once is given up, for later locks as well.
            self.gave_up |= self.flaw == Flaw::NeverRenewsAgain && watchdog.watched.has_failed();
        }
    }
}

fn kind(name: &'static str, flaw: Flaw) -> Kind {
    Kind::new(name, Nodes::One, move |env, nodes| {
        let way = Way { env, name: nodes[0].clone() };
        Renewing { node: way.node(), way, flaw, watchdogs: Watchdogs::default(), gave_up: false }
    })
}

/// All of them.
pub(super) fn bad_locks() -> Vec<BadLock> {
    [renewal_bugs(), watchdog_bugs(), end_bugs()].concat()
}

/// The lock of this file with a flaw, and its control.
fn flaw_and_control(name: &'static str, flaw: Flaw) -> (Kind, Kind) {
    (kind(name, flaw), kind("renewing", Flaw::None))
}

fn table_entry(
    locks: (Kind, Kind),
    source: &'static str,
    breaks: &'static [Predicate],
    what: &'static str,
    worlds: Worlds,
) -> BadLock {
    bad_lock((locks.0.name(), source), breaks, what, locks, worlds)
}

/// The share of a lease after which the library renews: its user may choose.
const THIRD: Ratio = Ratio { numerator: 1, denominator: NonZeroU32::new(3).unwrap() };

/// Work for several leases.
const JOB: [&str; 5] = ["acquire", "read", "work 15s..20s", "write", "release"];

/// Jobs for several leases, each of which is longer than any fault.
fn long_jobs() -> World {
    let jobs = node().clients(2, ["acquire", "read", "work 100s..150s", "write", "release"]);
    networks_only(retries(jobs.ttl(s(50)), s(2)))
}

fn renewal_bugs() -> Vec<BadLock> {
    // The first renewal of c1 is not answered.
    let no_answer = |world: World| {
        let cut = Fault::cut(Link::between("c1", "A"));
        world.fault(cut.at(at("c1", Mark::Grant).delay_by(s(3))).lasting(s(2)))
    };
    let jobs = || no_answer(node().clients(2, JOB));
    vec![
        table_entry(
            library(
                "renewal-ends-with-an-error",
                "python-redis-lock",
                // A driver that sends a renewal again has no error yet when the cut is over.
                |at| {
                    let at = at.with("driver", "redis-py-5").with("request_timeout", TIMEOUT);
                    at.with("expiry", "px").with("renew_every", THIRD)
                },
                |at| at.with("renew_stops_on_error", false),
            ),
            "python-redis-lock _lock_renewer, ShedLock KeepAliveLockProvider (S)",
            &[P1],
            "One renewal that fails ends the schedule without a word, and the job works on.",
            Worlds::new(long_jobs(), jobs()),
        ),
        table_entry(
            flaw_and_control("renewal-never-again", Flaw::NeverRenewsAgain),
            "redisson#2515",
            &[P1],
            "After one renewal that failed no later lock of that name is renewed either.",
            Worlds::new(long_jobs().rounds(2), jobs().rounds(2)),
        ),
        table_entry(
            flaw_and_control("failed-renewal-releases", Flaw::ErrorReleases),
            "aioredlock auto-extend (S)",
            &[P1],
            "A renewal that fails gives the lock back, while its lease lasts and the job works on.",
            Worlds::new(long_jobs(), jobs()),
        ),
    ]
}

fn watchdog_bugs() -> Vec<BadLock> {
    let two_locks = ["acquire stock", "acquire orders", "release stock", "work 25s", "release orders"];
    let two_locks = node().locks(["stock", "orders"]).client("c1", two_locks);
    let two_locks = two_locks.client("c2", ["acquire orders", "work 1s", "release orders"]);
    let two_locks = starts(two_locks, 1, at("c1", Mark::Grant).delay_by(s(2)));
    let short = node().clients(2, ["acquire", "read", "work 1s..2s", "write", "release"]).ttl(ms(400));
    let asleep = node().clients(2, CAREFUL_TURN).fault(oversleeps(at("c1", Mark::Extending)));
    vec![
        table_entry(
            flaw_and_control("one-slot-for-watchdogs", Flaw::OneSlot),
            "spring-integration GH-10446",
            &[P1],
            "A second lock's watchdog takes the place of the first's: to release one stops the other's.",
            Worlds::quiet(two_locks),
        ),
        table_entry(
            flaw_and_control("renewal-interval-underflows", Flaw::IntervalUnderflows),
            "rslock using() (S)",
            &[P1],
            "The watchdog is to wake 500 ms before the lease ends, in unsigned arithmetic: a shorter one is not renewed.",
            Worlds::quiet(short),
        ),
        table_entry(
            flaw_and_control("held-is-a-flag", Flaw::FlagNotTime),
            "node-redlock#283",
            &[P3],
            "Whether the lock is held is a flag that the watchdog clears when it wakes next, not a time.",
            Worlds::new(strike_at_times(node().clients(2, CAREFUL_TURN).rounds(4)), asleep)
                .under("pauses-only"),
        ),
    ]
}

fn end_bugs() -> Vec<BadLock> {
    let release_is_lost = |world: World| free_after_a_lease(world).fault(reset(nth_sent(Mark::Release, 1)));
    let at_once = || node().clients(2, ["acquire", "release"]);
    // Longer than a lease and all faults, shorter than a watchdog keeps a lock that nobody has.
    let some_time =
        |world: World| networks_only(free_some_time(world.rounds(4)).ttl(s(50)).obtain_free_within(s(150)));
    let stuck = node().client("c1", ["acquire", "work 2m", "release"]).client("c2", TURN);
    let stuck = patient(c1_first(stuck).obtain_within(s(85)), s(90));
    let both = ["acquire stock", "work 5s", "acquire orders", "work 1s", "release stock", "release orders"];
    let both = node().locks(["stock", "orders"]).client("c1", both);
    let both = both.client("c2", ["acquire orders", "work 1s", "release orders"]);
    let both = starts(both, 1, at("c1", Mark::Grant).then(Event::mark("c1", Mark::Grant), 1));
    let hangs = both.clone().obtain_within(s(25)).with(|scenario| scenario.limits.time = s(150));
    // Longer than a pause, shorter than a watchdog keeps a lock for a caller that does not come back.
    let may_hang = both.ttl(s(8)).obtain_within(s(35)).with(|scenario| scenario.limits.time = s(150));
    vec![
        table_entry(
            flaw_and_control("watchdog-registered-late", Flaw::RegisteredLate),
            "redisson#7272",
            &[LV],
            "A release that is quicker than the start of the watchdog does not stop it.",
            Worlds::new(some_time(at_once()), release_is_lost(at_once())),
        ),
        table_entry(
            flaw_and_control("failed-release-leaves-watchdog", Flaw::FailedReleaseKeepsIt),
            "redisson#1966",
            &[LV],
            "A release that fails leaves the watchdog on, which keeps the key that nobody holds.",
            Worlds::new(some_time(turns(2)), release_is_lost(turns(2))),
        ),
        table_entry(
            flaw_and_control("renewal-without-cap", Flaw::NoCap),
            "redisson#3521",
            &[LV],
            "The watchdog renews for as long as the process lives, also for a worker that is stuck.",
            Worlds::quiet(stuck),
        ),
        table_entry(
            flaw_and_control("release-insists", Flaw::ReleaseForEver),
            "node-redlock#313",
            &[LV],
            "The release of a lost lock is tried for ever, and its caller never gives back what else it holds.",
            Worlds::new(may_hang, hangs.fault(oversleeps(at("c1", Mark::Grant)))).under("pauses-only"),
        ),
    ]
}
