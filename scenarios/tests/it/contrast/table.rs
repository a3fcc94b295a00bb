//! What decides the verdict of each entry that has no contrast in its own file.

use doublehold_history::Predicate::{self, LV, P1, P2, P3, P4, WR};

pub(super) type Sets = &'static [(&'static str, &'static str)];

/// An entry, what decides its verdict, in words and as `--set`, and what the verdict turns to.
pub(super) struct Contrast {
    pub(super) entry: &'static str,
    pub(super) because: &'static str,
    pub(super) sets: Sets,
    pub(super) turns: &'static [(Predicate, &'static str)],
}

pub(super) const fn contrast(
    entry: &'static str,
    because: &'static str,
    sets: Sets,
    turns: &'static [(Predicate, &'static str)],
) -> Contrast {
    Contrast { entry, because, sets, turns }
}

pub(super) const HOLDS: &[(Predicate, &str)] = &[(P1, "holds"), (P2, "holds"), (P3, "holds"), (P4, "holds")];
const VIOLATED: &[(Predicate, &str)] =
    &[(P1, "violated"), (P2, "violated"), (P3, "violated"), (P4, "violated")];
/// What turns where a deadline that has passed keeps P2 either way.
const HARMLESS: &[(Predicate, &str)] = &[(P1, "holds"), (P3, "holds"), (P4, "holds")];
const HARMFUL: &[(Predicate, &str)] = &[(P1, "violated"), (P3, "violated"), (P4, "violated")];

/// Whoever is first is paused between its check and its write.
const PAUSE: Sets = &[(
    "faults",
    "[{ kind = 'pause', host = 'c1', for = '15s', at = \"c1's check\" }, \
     { kind = 'pause', host = 'c2', for = '15s', at = \"c2's check\" }, \
     { kind = 'pause', host = 'c3', for = '15s', at = \"c3's check\" }]",
)];
/// The holder is told by its own clock.
const TOLD_IN_TIME: Sets = &[("lock.told_on_loss", "lease-end")];
const RENEWS_ON: Sets = &[("lock.renew_stops_on_error", "false")];
const WHOLE_LEASE: Sets = &[("lock.lease_from", "lease")];
const SHORT_PAUSE: Sets = &[("faults.0.for", "3s")];
/// A SET that is repeated at once, and what turns where a client that lost its lock notices that before it writes.
const SOON: Sets = &[("faults.0.after", "2s")];
const UNHARMED: &[(Predicate, &str)] = &[(P3, "holds"), (P4, "holds")];
const SHORT_DELAY: Sets = &[("faults.0.by", "3s")];
const FORGETS_AND_IS_BACK: Sets = &[("nodes.persistence", "none"), ("faults.1.for", "0s")];
const NONE_FORGOT: Sets = &[("clients.1.start", "0.5s after c1's grant")];
const ONE_FORGOT: Sets = &[("clients.1.start", "1.5s after c1's grant")];
const LATE_AND_LET_IN: Sets = &[PAUSE[0], ("resource", "{ fencing = 'off', fence_reads = false }")];
const NOBODY_LOOKS: Sets = &[("lock.elapsed_check", "false"), ("lock.node_timeout", "none")];
/// Three nodes whose clocks run five times too fast, and work that such a lease does not last for.
const FAST_NODES: Sets = &[
    ("clocks", "{ A = { drift = '4/1' }, B = { drift = '4/1' }, C = { drift = '4/1' } }"),
    (
        "clients",
        "[{ name = 'c1', program = ['acquire', 'work 5s', 'check', 'release'], retry = '250ms..750ms' }, \
         { name = 'c2', program = ['acquire', 'work 5s', 'check', 'release'], retry = '250ms..750ms' }, \
         { name = 'c3', program = ['acquire', 'work 5s', 'check', 'release'], retry = '250ms..750ms' }]",
    ),
];

pub(super) const CONTRASTS: &[Contrast] = &[
    contrast("quiet", "nothing goes wrong", PAUSE, HARMFUL),
    contrast("quiet/single", "nothing goes wrong", PAUSE, HARMFUL),
    contrast("quiet/replicated", "nothing goes wrong", PAUSE, HARMFUL),
    contrast("quiet/redlock", "nothing goes wrong", PAUSE, HARMFUL),
    contrast("work-outlives-ttl", "the lease is shorter than the work", &[("lock.ttl", "40s")], HOLDS),
    contrast(
        "work-outlives-ttl/deadline",
        "the lock computes a deadline",
        &[("lock.elapsed_check", "false")],
        &[(P2, "violated")],
    ),
    contrast(
        "plain-del-frees-another",
        "the release does not compare",
        &[("lock.release", "compare-and-delete")],
        &[(WR, "holds")],
    ),
    contrast(
        "token-release",
        "the release compares",
        &[("lock.release", "plain-delete")],
        &[(WR, "violated")],
    ),
    contrast("lease-pause", "the pause is longer than the lease", SHORT_PAUSE, HARMLESS),
    contrast("lease-pause/single", "the pause is longer than the lease", SHORT_PAUSE, HARMLESS),
    contrast("lease-pause/replicated", "the pause is longer than the lease", SHORT_PAUSE, HARMLESS),
    contrast("lease-pause/redlock", "the pause is longer than the lease", SHORT_PAUSE, HARMLESS),
    contrast("duplicate-set", "the copy comes while the lease lasts, and finds the key", SOON, UNHARMED),
    contrast("packet-delay-90s", "the delay is longer than the lease", SHORT_DELAY, HARMLESS),
    contrast("packet-delay-90s/single", "the delay is longer than the lease", SHORT_DELAY, HARMLESS),
    contrast("packet-delay-90s/redlock", "the delay is longer than the lease", SHORT_DELAY, HARMLESS),
    contrast(
        "fencing-33-34",
        "the resource looks at numbers",
        &[("resource.fencing", "off")],
        &[(P3, "violated"), (P4, "violated")],
    ),
    contrast("clock-jump", "the clock jumps by a lease", &[("faults.1.by", "+1s")], HOLDS),
    contrast("clock-jump/k3-one-jump", "the clock jumps by a lease", &[("faults.1.by", "+1s")], HOLDS),
    contrast("clock-jump/k4-one-jump", "only one clock jumps", &[("faults.1.host", "['C', 'D']")], VIOLATED),
    contrast("clock-jump/k4-two-jumps", "two clocks jump", &[("faults.1.host", "C")], HOLDS),
    contrast(
        "clock-jump/k5-two-jumps",
        "only two clocks jump",
        &[("faults.0.host", "['C', 'D', 'E']")],
        VIOLATED,
    ),
    contrast("clock-jump/k5-three-jumps", "three clocks jump", &[("faults.0.host", "['C', 'D']")], HOLDS),
    contrast("eviction/flush", "C is flushed", &[("faults.1.host", "D")], HOLDS),
    contrast("eviction/k4-two-nodes", "both forget", &[("faults.2.host", "E")], HOLDS),
    contrast("eviction/k5-three-nodes", "three of them forget", &[("faults.0.host", "['C', 'D']")], HOLDS),
    contrast(
        "supervised-restart/power-loss",
        "the clock can jump",
        &[("nodes.restart_clock", "monotonic")],
        HOLDS,
    ),
    contrast("watchdog-paused/no-watchdog", "nobody renews the lease", &[("lock.renew_every", "1/3")], HOLDS),
    contrast("watchdog-cut-off/told-when-refused", "no renewal comes through", TOLD_IN_TIME, HOLDS),
    contrast("watchdog-cut-off/told-at-release", "the release comes after the write", TOLD_IN_TIME, HOLDS),
    contrast(
        "watchdog-cut-off/ends-at-first-failure",
        "the task ends",
        &[("lock.renew_stops_on_error", "false")],
        HOLDS,
    ),
    contrast(
        "python-redis-lock-renewal/goes-on",
        "the second renewal is due after the lease",
        &[("lock.renew_every", "1/3")],
        HOLDS,
    ),
    contrast(
        "distributedlock-redis-told-late/late-reply",
        "the extension is not due when the lease must have ended",
        TOLD_IN_TIME,
        UNHARMED,
    ),
    contrast(
        "bull-one-failure/goes-on",
        "the second renewal is due after the lease",
        &[("lock.renew_every", "1/3")],
        HOLDS,
    ),
    contrast("bull-one-failure/often-is-not-enough", "the first failure ends it", RENEWS_ON, HOLDS),
    contrast(
        "min-replicas/one-on-each-side",
        "R1 asks for a replica",
        &[("nodes.min_replicas_to_write", "0")],
        &[(P1, "violated"), (P2, "violated")],
    ),
    contrast("stale-master/empty", "M keeps nothing", &[("nodes.persistence", "always")], HOLDS),
    contrast("stale-master/snapshot", "M's snapshot is older", &[("nodes.persistence", "always")], HOLDS),
    contrast("crash-restart", "C forgets", &[("nodes.persistence", "always")], HOLDS),
    contrast(
        "crash-restart/none/process-crash/at-once",
        "C forgets",
        &[("nodes.persistence", "everysec")],
        HOLDS,
    ),
    contrast(
        "crash-restart/none/process-crash/delayed",
        "C is away for a lease",
        &[("faults.1.for", "0s")],
        VIOLATED,
    ),
    contrast("crash-restart/none/power-loss/at-once", "C forgets", &[("nodes.persistence", "always")], HOLDS),
    contrast(
        "crash-restart/none/power-loss/delayed",
        "C is away for a lease",
        &[("faults.1.for", "6s")],
        VIOLATED,
    ),
    contrast(
        "crash-restart/none/power-loss/too-early",
        "C is back within the lease",
        &[("faults.1.for", "12s")],
        HOLDS,
    ),
    contrast(
        "crash-restart/everysec/process-crash/at-once",
        "the machine goes on, and writes what it was given",
        &[("faults.1.kind", "power-loss")],
        VIOLATED,
    ),
    contrast(
        "crash-restart/everysec/process-crash/delayed",
        "C remembers, and is away for a lease: either is enough",
        FORGETS_AND_IS_BACK,
        VIOLATED,
    ),
    contrast(
        "crash-restart/everysec/power-loss/at-once",
        "C replies before its fsync",
        &[("nodes.persistence", "always")],
        HOLDS,
    ),
    contrast(
        "crash-restart/everysec/power-loss/delayed",
        "C is away for a lease",
        &[("faults.1.for", "0s")],
        VIOLATED,
    ),
    contrast(
        "crash-restart/always/process-crash/at-once",
        "C remembers",
        &[("nodes.persistence", "none")],
        VIOLATED,
    ),
    contrast(
        "crash-restart/always/process-crash/delayed",
        "C remembers, and is away for a lease: either is enough",
        FORGETS_AND_IS_BACK,
        VIOLATED,
    ),
    contrast(
        "crash-restart/always/power-loss/at-once",
        "C replies after its fsync",
        &[("nodes.persistence", "everysec")],
        VIOLATED,
    ),
    contrast(
        "crash-restart/always/power-loss/delayed",
        "C remembers, and is away for a lease: either is enough",
        FORGETS_AND_IS_BACK,
        VIOLATED,
    ),
    contrast("gc-in-flight", "the lock looks at the time", &[("lock.elapsed_check", "false")], VIOLATED),
    contrast(
        "gc-in-flight/sequential",
        "the lock looks at the time",
        &[("lock.elapsed_check", "false")],
        VIOLATED,
    ),
    contrast(
        "gc-in-flight-no-check",
        "the lock does not look at the time",
        &[("lock.elapsed_check", "true")],
        HARMLESS,
    ),
    contrast(
        "gc-in-flight-no-check/no-deadline",
        "the lock does not say until when it is good",
        &[("lock.unchecked_deadline", "true")],
        &[(P2, "holds")],
    ),
    contrast("suspend-in-flight", "the clock stood still", &[("lock.clock", "boot")], HOLDS),
    contrast("suspend-in-flight/boot-clock", "the clock ran on", &[("lock.clock", "monotonic")], VIOLATED),
    contrast(
        "suspend-in-flight/node-timeouts",
        "the client gives up before the retransmission",
        &[("lock.node_timeout", "none")],
        VIOLATED,
    ),
    contrast(
        "suspend-in-flight/node-timeouts/before-retransmission",
        "the machine wakes right before a retransmission",
        &[("faults.0.for", "12s")],
        HOLDS,
    ),
    contrast(
        "suspend-in-flight/node-timeouts/replies-unread",
        "the clock stood still",
        &[("lock.clock", "boot")],
        HOLDS,
    ),
    // What a client believes while its machine is suspended, no clock can change.
    contrast(
        "suspend-in-flight/while-held",
        "the clock stood still",
        &[("lock.clock", "boot")],
        &[(P2, "holds"), (P3, "holds"), (P4, "holds")],
    ),
    contrast("wall-clock-step-back", "the clock can be set back", &[("lock.clock", "monotonic")], HOLDS),
    contrast(
        "wall-clock-step-back/monotonic-clock",
        "the clock cannot be set back",
        &[("lock.clock", "wall")],
        VIOLATED,
    ),
    contrast(
        "failover-before-replication",
        "the replicas do not hear of the key",
        &[("faults.0", "{ from = 'R1', to = 'R2' }")],
        HOLDS,
    ),
    // A power loss also takes what is on its way to the replicas: here the other reason has to do.
    contrast(
        "failover-before-replication/power-loss",
        "the promotion comes while the lease lasts",
        &[("faults.2.at", "12s after c1's grant")],
        HOLDS,
    ),
    contrast(
        "failover-before-replication/late-promotion",
        "the promotion comes when the lease is over",
        &[("faults.2.at", "1s after c1's grant")],
        VIOLATED,
    ),
    contrast(
        "clocks-years-apart",
        "clocks run at one rate",
        FAST_NODES,
        &[(P1, "violated"), (P2, "violated")],
    ),
    contrast(
        "clocks-years-apart/wall-clock",
        "clocks run at one rate",
        FAST_NODES,
        &[(P1, "violated"), (P2, "violated")],
    ),
    contrast(
        "setnx-no-expiry/holder-comes-back",
        "the key has no end",
        &[("lock.algorithm", "single")],
        &[(LV, "holds")],
    ),
    contrast(
        "setnx-expire-in-multi/two-ask-rarely",
        "a refusal prolongs the lease",
        &[("lock.algorithm", "single")],
        &[(WR, "holds"), (LV, "holds")],
    ),
    contrast(
        "setnx-then-expire/server-dies/append-only-file",
        "A remembers",
        &[("nodes.persistence", "none")],
        &[(LV, "holds")],
    ),
    contrast(
        "setnx-then-expire/server-dies/expire-not-written",
        "A remembers half",
        &[("nodes.persistence", "none")],
        &[(LV, "holds")],
    ),
    contrast("setnx-then-expire/reply-lost", "the reply is lost", &[("faults", "[]")], &[(LV, "holds")]),
    contrast(
        "late-ok/asleep",
        "the lock does not look at the time",
        &[("lock.elapsed_check", "true")],
        HOLDS,
    ),
    contrast("node-dies/none/power-loss/at-once", "A forgets", &[("nodes.persistence", "always")], HOLDS),
    contrast(
        "node-dies/everysec/power-loss/at-once",
        "A replies before its fsync",
        &[("nodes.persistence", "always")],
        HOLDS,
    ),
    contrast("late-clean-up/three-nodes", "attempts share a token", &[("lock.token", "attempt")], HOLDS),
    contrast(
        "split-brain/promoted-late",
        "the cut lasts, and M does not hear of the promotion",
        &[("faults.0.for", "10s")],
        HOLDS,
    ),
    contrast(
        "wait-one-of-two/all/forgotten/master-back",
        "R2 forgets",
        &[("nodes.persistence", "always")],
        HOLDS,
    ),
    contrast("holder-dies/cut-off", "the lease ends", &[("lock.ttl", "30s")], &[(LV, "violated")]),
    contrast(
        "split-votes/two-clients-four-nodes",
        "both wait equally long",
        &[("lock.jitter", "true")],
        &[(LV, "holds")],
    ),
    contrast("lost-keys/restarts", "A has forgotten", NONE_FORGOT, HOLDS),
    contrast("lost-keys/n1", "A has forgotten", NONE_FORGOT, HOLDS),
    contrast("lost-keys/n2", "A and B have forgotten", ONE_FORGOT, HOLDS),
    contrast("lost-keys/n3", "A has forgotten", NONE_FORGOT, HOLDS),
    contrast("lost-keys/n4", "A and B have forgotten", ONE_FORGOT, HOLDS),
    contrast("lost-keys/n6", "A and B have forgotten", ONE_FORGOT, HOLDS),
    contrast("lost-keys/n7", "A has forgotten", NONE_FORGOT, HOLDS),
    contrast("crash-restart/always/power-loss/lying-disk", "C's disk lies", &[("faults.3.host", "A")], HOLDS),
    contrast(
        "crash-restart/always/power-loss/rolled-back",
        "C forgets",
        &[("faults.3.at", "c1's grant")],
        HOLDS,
    ),
    contrast("delayed-restart/extended", "C is away", &[("nodes.restart_after", "0s")], VIOLATED),
    contrast("lease-pause/without-a-check", "the pause is longer than the lease", SHORT_PAUSE, HARMLESS),
    contrast(
        "plain-delete/overrun",
        "a plain DEL",
        &[("lock.release", "compare-and-delete")],
        &[(P2, "holds")],
    ),
    contrast("replies-late/cut", "the lock looks at the time", &[("lock.elapsed_check", "false")], VIOLATED),
    contrast("replies-late/node-timeouts", "c1 does not wait, and looks at the time", NOBODY_LOOKS, VIOLATED),
    contrast("two-halves/odd", "c2 has no majority", &[("faults.1.to", "A")], &[(LV, "holds")]),
    contrast(
        "redis-plus-plus/first-node",
        "a node without an answer ends the call",
        &[("lock.on_node_error", "no-vote")],
        &[(LV, "holds")],
    ),
    contrast(
        "asks-only-a-majority/by-the-switch",
        "the first three nodes only are asked",
        &[("lock.subset", "all")],
        &[(LV, "holds")],
    ),
    contrast("under-no-clock-faults", "a majority is needed", &[("lock.quorum", "1")], &[(P2, "violated")]),
    contrast("under-pauses", "the resource looks at numbers", LATE_AND_LET_IN, &[(P4, "violated")]),
    contrast("paused-watchdog/not-renewed", "the pause is too long for the rest", SHORT_PAUSE, HOLDS),
    contrast("clock-rates/three-fast", "1 % is given up", &[("lock.drift_ratio", "2/11")], &[(P2, "holds")]),
    contrast(
        "clock-rates/slewed-by-chrony",
        "1 % is given up",
        &[("lock.drift_ratio", "1/10")],
        &[(P2, "holds")],
    ),
    contrast("node-clock-step/set-right", "the clock was an hour behind", &[("faults.0.by", "+4s")], HOLDS),
    contrast(
        "numbers-without-a-lock/versions",
        "versions are compared",
        &[("resource.version_check", "false")],
        &[(P4, "violated")],
    ),
    contrast(
        "woken-by-a-message/nodes-own-word",
        "a node that tells nobody of its keys",
        &[("nodes.notify_keyspace_events", "")],
        &[(LV, "violated")],
    ),
    contrast("redis-py/no-retry", "the key has no end", &[("lock.expiry", "px")], &[(LV, "holds")]),
    contrast(
        "symfony-lock/second-lost",
        "the first command takes the key for 300 s",
        &[("lock.initial_ttl", "5s")],
        &[(LV, "holds")],
    ),
    contrast("redsync/context-timeout", "nobody waits for it", &[("faults.0.by", "300ms")], HOLDS),
    contrast("multi-lock/elapsed", "members have a shorter lease at first", WHOLE_LEASE, HOLDS),
    contrast("multi-lock/majority", "members have a shorter lease at first", WHOLE_LEASE, HOLDS),
];
