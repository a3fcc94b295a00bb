//! The known-bad locks of this family, and the worlds that show each.

use doublehold::check::{Event, Fault, Mark, Predicate, When, World};

use super::super::scenes::*;
use super::super::searches::*;
use super::{Flaw, kind};
use crate::locks::library;
use crate::{BadLock, Kind};

use Predicate::{LV, P2, P3, WR};

/// All of them.
pub(in super::super) fn bad_locks() -> Vec<BadLock> {
    [acquire_bugs(), identity_bugs(), lease_bugs(), death_bugs(), extend_bugs(), release_bugs()].concat()
}

/// The lock of this folder with a flaw, and its control.
fn flaw_and_control(name: &'static str, flaw: Flaw) -> (Kind, Kind) {
    (kind(name, flaw), kind("plain", Flaw::None))
}

/// A known-bad lock whose name is that of its lock.
fn table_entry(
    locks: (Kind, Kind),
    source: &'static str,
    breaks: &'static [Predicate],
    what: &'static str,
    worlds: Worlds,
) -> BadLock {
    bad_lock((locks.0.name(), source), breaks, what, locks, worlds)
}

fn with_faults(world: World, faults: impl IntoIterator<Item = Fault>) -> World {
    faults.into_iter().fold(world, World::fault)
}

fn acquire_bugs() -> Vec<BadLock> {
    // c1's SET is answered late; c1 asks again, finds its own value, and stops.
    let stop = oversleeps(When::from(Event::executed("GET").by("c1"))).optional();
    let second = node().client("c1", TURN).client("c2", ["acquire", "read", "work 6s", "write", "release"]);
    let answered_late = || late_reply(nth_arrived(Mark::Acquire, 1), ms(1500));
    vec![
        table_entry(
            flaw_and_control("get-then-set", Flaw::CheckThenSet),
            "spring-integration INT-4126",
            &[P2],
            "The key is looked at and then set: two who look at the same time both have the lock.",
            Worlds::quiet(turns(2)),
        ),
        table_entry(
            flaw_and_control("refresh-without-compare", Flaw::RefreshUnchecked),
            "redisson#84",
            &[P2],
            "Whoever finds its own value sets the key again without comparing: by then it may be another's.",
            Worlds::new(turns(2).rounds(3), with_faults(starts(second, 1, When::from(s(2))), [answered_late(), stop]))
                .surviving(
                    "It takes a late reply, and then a stop of nearly a lease right between two commands: no weather did \
                     both in 20,000 runs. Shown with both written out.",
                ),
        ),
        table_entry(
            flaw_and_control("resent-set-nx-is-foreign", Flaw::ResentAndForeign),
            "go-redis#2985",
            &[LV],
            "SET NX is sent again after a lost reply, and the no that answers its own key counts as another's.",
            Worlds::new(
                free_long_before_a_lease_ends(node().clients(2, SHORT_TURN).rounds(20)),
                with_faults(free_soon(turns(2)), [answered_late()]),
            ),
        ),
        table_entry(
            flaw_and_control("sleeps-out-the-lease", Flaw::SleepsOutTheLease),
            "redisson#763",
            &[LV],
            "A waiter that missed the message of the release sleeps until the holder's lease would have ended.",
            Worlds::quiet(free_soon(turns(2))),
        ),
    ]
}

fn identity_bugs() -> Vec<BadLock> {
    // c1's first SET is answered late; when its clean-up arrives, the key has ended and is c1's again.
    let late_clean_up =
        [late_reply(nth_arrived(Mark::Acquire, 1), ms(1500)), late_request(at("c1", Mark::Refusal), s(12))];
    let late_release = [late_request(at("c1", Mark::Release), s(4))];
    let alone = node().clients(1, ["acquire", "work 5s", "release"]).rounds(2);
    vec![
        table_entry(
            flaw_and_control("tokens-from-four", Flaw::TinyToken),
            "node-redlock#22",
            &[WR],
            "Tokens come from a tiny space, so that a late release meets another's key with its own token.",
            Worlds::quiet(node().clients(2, LONG_TURN).rounds(3)),
        ),
        table_entry(
            flaw_and_control("token-compared-by-prefix", Flaw::PrefixCompare),
            "bsm/redislock#66",
            &[P2],
            "Taking again compares as many bytes as one's own name has: `job1` takes over the lock of `job10`.",
            Worlds::quiet(turns(3)),
        ),
        table_entry(
            flaw_and_control("clean-up-in-the-background", Flaw::CleanUpLater),
            "aioredlock lock_identifier (S)",
            &[WR],
            "A failed call is cleaned up in the background, by a token that the next call has as well.",
            Worlds::new(turns(2).rounds(4), with_faults(alone.clone(), late_clean_up)),
        ),
        table_entry(
            flaw_and_control("token-per-object", Flaw::TokenPerObject),
            "redis-py#489",
            &[WR],
            "The token is the lock object's and not the hold's: a late release of one hold frees the next.",
            Worlds::new(turns(2).rounds(4), with_faults(alone, late_release)),
        ),
    ]
}

fn lease_bugs() -> Vec<BadLock> {
    let short = node().clients(2, ["acquire", "read", "work 300ms..600ms", "write", "release"]).ttl(ms(900));
    // c1 takes a second lock when the first has not much time left, and then makes sure of the first.
    let both = ["acquire stock", "work 7s", "acquire orders", "extend stock", "work 6s", "release stock"];
    let both = node().locks(["stock", "orders"]).client("c1", both);
    let both = both.client("c2", ["acquire stock", "work 5s", "release stock"]);
    vec![
        table_entry(
            flaw_and_control("lease-truncated-to-seconds", Flaw::TtlTruncated),
            "bsm/redislock#71",
            &[P2],
            "The lease is cut to whole seconds, and one of less becomes 0, which deletes the key.",
            Worlds::quiet(short),
        ),
        table_entry(
            flaw_and_control("lease-per-object", Flaw::LeasePerObject),
            "redisson#4818",
            &[P2],
            "The end of a lease is the lock object's and not the hold's: that of one key is believed of another.",
            Worlds::quiet(c1_first(both)),
        ),
    ]
}

/// Locks that outlive a holder that dies.
fn death_bugs() -> Vec<BadLock> {
    let dies_as = |mark| dies("c1", at("c1", mark));
    let holder_dies = || with_faults(free_after_a_lease(c1_first(turns(2))), [dies_as(Mark::Grant)]);
    let extends = || node().clients(2, ["acquire", "extend", "work 1s..3s", "release"]);
    let third = node().client("c1", SHORT_TURN).client("c2", TURN).client("c3", TURN);
    let third = starts(starts(third, 1, at("c1", Mark::Grant)), 2, at("c2", Mark::Grant));
    // The library's lease is 30 s.
    let short = patient(deaths_only(turns(2).rounds(4).ttl(s(4))).obtain_free_within(s(15)), s(60));
    vec![
        table_entry(
            flaw_and_control("setnx-then-pexpire", Flaw::TwoSteps),
            "redis-py#569",
            &[LV],
            "SETNX and PEXPIRE are two commands: who dies between them locks everybody out for ever.",
            Worlds::new(
                free_some_time(turns(2).rounds(4)),
                with_faults(free_after_a_lease(turns(2)), [dies("c1", nth_arrived(Mark::Acquire, 1))]),
            ),
        ),
        table_entry(
            library("no-lease", "redis-py", |at| at, |at| at.with("expiry", "px")),
            "redis-py, default of no timeout (S)",
            &[LV],
            "The key has no end, and stays when its holder dies.",
            Worlds::new(free_some_time(turns(2).rounds(4)), holder_dies()),
        ),
        table_entry(
            flaw_and_control("lease-argument-ignored", Flaw::LeaseIgnored),
            "redisson RedissonFencedLock.lockAndGetToken (S)",
            &[LV],
            "The caller's lease is dropped on the way, and the library's own of 30 s is taken.",
            Worlds::new(short, holder_dies()),
        ),
        table_entry(
            flaw_and_control("lease-times-1000-per-try", Flaw::LeaseTimes1000),
            "redisson#5484",
            &[LV],
            "Each try inside a call converts the lease once more from seconds to milliseconds.",
            Worlds::new(
                free_some_time(node().clients(3, SHORT_TURN).rounds(8)),
                with_faults(free_after_a_lease(third), [dies("c2", at("c2", Mark::Grant))]),
            ),
        ),
        table_entry(
            flaw_and_control("extension-in-wrong-unit", Flaw::ExtendUnits),
            "redlock-rb#37",
            &[LV],
            "An extension gives milliseconds to EXPIRE, and lasts a thousand times as long.",
            Worlds::new(
                free_some_time(extends().rounds(4)),
                with_faults(free_after_a_lease(c1_first(extends())), [dies_as(Mark::Extend)]),
            ),
        ),
    ]
}

/// Takes the lock, writes at once, gives it back.
const QUICK: [&str; 4] = ["acquire", "read", "write", "release"];

fn extend_bugs() -> Vec<BadLock> {
    // c2 has the lock, or had it, when c1 wakes and asks for an extension.
    let overtaken = |program: &[&'static str]| {
        let world = node().client("c1", CAREFUL_TURN).client("c2", program.iter().copied());
        with_faults(c1_first(world), [oversleeps(at("c1", Mark::Read))])
    };
    let held = || overtaken(&["acquire", "read", "work 5s", "write", "release"]);
    let slow = ["acquire", "read", "work 4s..8s", "extend", "write", "release"];
    let comes_and_goes = c1_first(node().client("c1", slow).client("c2", QUICK));
    // Nodes' clocks end leases there, and nobody is stopped between asking and writing.
    let search = || strike_at_times(node().clients(2, CAREFUL_TURN).rounds(4));
    vec![
        table_entry(
            flaw_and_control("one-node-extension-sets-if-absent", Flaw::ExtendSets),
            "redlock-rb#36",
            &[P3],
            "An extension makes the key anew where it is gone, though another had the lock in between.",
            Worlds::new(strike_at_times(c1_oversleeps_only(comes_and_goes)), overtaken(&QUICK))
                .under("pauses-only"),
        ),
        table_entry(
            library(
                "extension-overwrites",
                "shedlock",
                |at| at.with("release", "compare-and-delete"),
                |at| at.with("extend_by", "compare"),
            ),
            "ShedLock#2583",
            &[WR, P3],
            "An extension is SET XX: it takes the key from whoever has it.",
            Worlds::new(search(), held()).under("clocks-only"),
        ),
        table_entry(
            flaw_and_control("extension-unchecked", Flaw::ExtendUnchecked),
            "redisson#597",
            &[WR, P3],
            "An extension is PEXPIRE: it prolongs the key whoever has it, and says yes.",
            Worlds::new(search(), held()).under("clocks-only"),
        ),
        table_entry(
            flaw_and_control("one-node-lost-is-transient", Flaw::LostIsTransient),
            "bsm/redislock#88",
            &[P3],
            "An extension that is told that the lock is lost takes it for an error that will pass.",
            Worlds::new(search(), held()).under("clocks-only"),
        ),
    ]
}

fn release_bugs() -> Vec<BadLock> {
    let stops_in_release = oversleeps(at("c1", Mark::Release).delay_by(ms(2)));
    vec![
        table_entry(
            library("delete-unchecked", "shedlock", |at| at, |at| at.with("release", "compare-and-delete")),
            "ShedLock#2584",
            &[WR],
            "A release is DEL, whoever has the key.",
            Worlds::quiet(node().clients(2, LONG_TURN)),
        ),
        table_entry(
            flaw_and_control("get-then-del", Flaw::GetThenDelete),
            "spring-integration GH-8699, redis-mutex RedisMutex#unlock (S)",
            &[WR],
            "A release looks at the key and then deletes it: in between it may become another's.",
            Worlds::new(turns(2).rounds(3), with_faults(turns(2).rounds(3), [stops_in_release]))
                .under("pauses-only"),
        ),
        table_entry(
            flaw_and_control("retried-release-unchecked", Flaw::RetryUnchecked),
            "redisson#4871",
            &[WR],
            "A release that was not answered is sent again as DEL, when the next has the lock.",
            Worlds::new(
                turns(2).rounds(4),
                with_faults(c1_first(turns(2)), [late_reply(nth_arrived(Mark::Release, 1), ms(1500))]),
            ),
        ),
        table_entry(
            flaw_and_control("token-forgotten-before-release", Flaw::ForgetsToken),
            "redis-py#3847",
            &[LV],
            "The token is forgotten before the node has acknowledged the release, which cannot be asked for again.",
            Worlds::new(
                free_long_before_a_lease_ends(node().clients(2, SHORT_TURN).rounds(20)),
                with_faults(free_soon(c1_first(turns(2))), [reset(nth_sent(Mark::Release, 1))]),
            ),
        ),
    ]
}
