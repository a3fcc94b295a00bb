//! `[lock]`: renewal of a lease beside its holder, and what a holder is told.

use doublehold_history::{EventKind, Predicate};
use doublehold_scenarios::report::KeyEnd;

use crate::keyword_effects::row::{ONE, REDLOCK, Row, Sets, TWO, check};
use crate::keyword_effects::seen::{MS, SEC, Seen, applied, gaps};

pub(crate) fn rows() -> Vec<Row> {
    [intervals(), counted(), ends(), news(), other_news(), releases()].into_iter().flatten().collect()
}

#[test]
fn every_switch_of_renewal_does_what_it_says() {
    check(&rows());
}

/// One client, and a job of a queue.
const JOB: &str = r#"
    claim = "one worker takes a job and finishes it"
    lock = { algorithm = "job", ttl = "10s" }
    nodes = { names = ["A"] }
    network = { delay = "1ms" }
    clients = [{ name = "c1", program = ["acquire", "read", "work 1s", "write", "release"] }]
"#;
const LONG: (&str, &str) = ("clients.0.program", "['acquire', 'read', 'work 25s', 'write', 'release']");
/// The same, and the holder asks before it writes.
const CHECKS: (&str, &str) =
    ("clients.0.program", "['acquire', 'read', 'work 25s', 'check', 'write', 'release']");
const EVERY: (&str, &str) = ("lock.renew_every", "3s");
/// The lease is lost while c1 is at work.
const LOST: (&str, &str) = ("faults", "[{ kind = 'flush', host = 'A', at = \"4s after c1's grant\" }]");
/// Nothing goes to or fro for so long, from the second renewal on.
const CUT: (&str, &str) = (
    "faults",
    "[{ kind = 'cut', from = 'c1', to = 'A', both_ways = true, for = '60s', at = \"the 2nd c1's extending\" }]",
);

/// When c1's lease was about to be renewed.
fn renewals(seen: &Seen) -> Vec<u64> {
    seen.marks("c1", "extending")
}

fn extended(what: &EventKind) -> bool {
    matches!(what, EventKind::Extended { .. })
}

fn failed(what: &EventKind) -> bool {
    matches!(what, EventKind::ExtendFailed { .. })
}

fn noticed(what: &EventKind) -> bool {
    matches!(what, EventKind::ExpiryNoticed { .. })
}

/// Whether the renewals were so far apart, and each as the history has it.
fn are_apart(seen: &Seen, wanted: std::ops::Range<u64>) -> bool {
    let renewed = renewals(seen);
    renewed.len() > 2
        && gaps(&renewed).iter().all(|gap| wanted.contains(gap))
        && seen.times("c1", extended).len() == renewed.len()
}

/// Whether the key of c1 was there until it was given back.
fn lasts(seen: &Seen, node: &str) -> bool {
    let spans = seen.keys(node, "c1");
    let Some((until, how)) = spans.last().and_then(|span| span.until) else { return false };
    how != KeyEnd::Expired && until.0 >= seen.marks("c1", "release")[0]
}

fn intervals() -> Vec<Row> {
    vec![
        Row {
            word: "lock.renew_every",
            claim: "a key is there as long as the work is, and the deadline moves with it",
            both: &[("clients.0.program", "['acquire', 'work 25s', 'check', 'release']")],
            with: &[EVERY],
            turns: &[(Predicate::P1, "violated", "holds")],
            shows: |without, with| {
                renewals(without).is_empty()
                    && !lasts(without, "A")
                    && without.times("c1", noticed).len() == 1
                    && with.times("c1", noticed).is_empty()
                    && lasts(with, "A")
                    && are_apart(with, 3 * SEC..3 * SEC + MS)
            },
            ..Row::on(TWO)
        },
        Row {
            word: "lock.renew_every",
            claim: "a share is one of the ttl",
            both: &[LONG, EVERY],
            with: &[("lock.renew_every", "1/5")],
            shows: |_, with| are_apart(with, 2 * SEC..2 * SEC + MS),
            ..Row::on(ONE)
        },
        Row {
            word: "lock.renew_every",
            claim: "a majority of nodes is asked, and each key lasts",
            both: &[LONG],
            with: &[EVERY],
            shows: |without, with| {
                let nodes = ["A", "B", "C"];
                nodes.iter().all(|node| !lasts(without, node) && lasts(with, node))
                    && are_apart(with, 3 * SEC..3 * SEC + MS)
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.renew_every",
            claim: "a job's lock lasts as long as its work",
            both: &[LONG],
            with: &[EVERY],
            shows: |without, with| !lasts(without, "A") && lasts(with, "A"),
            ..Row::on(JOB)
        },
    ]
}

fn counted() -> Vec<Row> {
    vec![
        Row {
            word: "lock.renew_every",
            claim: "a key with a list lasts as long as its holder's work",
            both: &[LONG, ("lock.algorithm", "list")],
            with: &[EVERY],
            shows: |without, with| !lasts(without, "A") && lasts(with, "A"),
            ..Row::on(JOB)
        },
        Row {
            word: "lock.renew_every=none",
            claim: "nothing is renewed",
            both: &[LONG, EVERY],
            with: &[("lock.renew_every", "none")],
            shows: |_, with| renewals(with).is_empty() && !lasts(with, "A"),
            ..Row::on(ONE)
        },
        Row {
            word: "lock.renew_from=reply",
            claim: "an interval begins when the renewal before was answered",
            both: &[LONG, EVERY],
            with: &[("lock.renew_from", "reply")],
            shows: |without, with| {
                are_apart(without, 3 * SEC..3 * SEC + MS)
                    && are_apart(with, 3 * SEC + 2 * MS..3 * SEC + 9 * MS)
            },
            ..Row::on(ONE)
        },
        Row {
            word: "lock.renew_from=send",
            claim: "an interval begins when the renewal before was sent",
            both: &[LONG, EVERY, ("lock.renew_from", "reply")],
            with: &[("lock.renew_from", "send")],
            shows: |_, with| are_apart(with, 3 * SEC..3 * SEC + MS),
            ..Row::on(ONE)
        },
    ]
}

/// The network fails for 2 s when the lease is renewed for the first time.
const SHORT_CUT: (&str, &str) = (
    "faults",
    "[{ kind = 'cut', from = 'c1', to = 'A', both_ways = true, for = '2s', at = \"the 1st c1's extending\" }]",
);

fn ends() -> Vec<Row> {
    vec![
        Row {
            word: "lock.renew_stops_on_error",
            claim: "the first renewal that is not answered is the last",
            both: &[LONG, EVERY, SHORT_CUT],
            with: &[("lock.renew_stops_on_error", "true")],
            shows: |without, with| {
                renewals(without).len() > 5
                    && lasts(without, "A")
                    && renewals(with).len() == 1
                    && with.times("c1", failed).len() == 1
                    && !lasts(with, "A")
            },
            ..Row::on(ONE)
        },
        Row {
            word: "lock.renew_cap",
            claim: "a lease is renewed twice and no more",
            both: &[LONG, EVERY],
            with: &[("lock.renew_cap", "2")],
            shows: |without, with| renewals(without).len() == 8 && with.times("c1", extended).len() == 2,
            ..Row::on(ONE)
        },
    ]
}

fn news() -> Vec<Row> {
    vec![
        Row {
            word: "lock.told_on_loss=callback",
            claim: "a holder stops its work when a renewal is refused",
            both: &[LONG, EVERY, LOST],
            with: &[("lock.told_on_loss", "callback")],
            shows: |without, with| {
                let refused = with.times("c1", failed);
                without.times("c1", applied).len() == 1
                    && without.times("c1", noticed).is_empty()
                    && with.times("c1", noticed) == refused
                    && refused[0] < with.marks("c1", "grant")[0] + 7 * SEC
                    && with.times("c1", applied).is_empty()
                    && !with.marks("c1", "release").is_empty()
            },
            ..Row::on(ONE)
        },
        Row {
            word: "lock.told_on_loss=callback",
            claim: "a holder that does not mind works on",
            both: &[LONG, EVERY, LOST, ("lock.told_on_loss", "callback")],
            with: &[("clients.0.on_lost_lock", "go-on")],
            shows: |_, with| with.times("c1", noticed).is_empty() && with.times("c1", applied).len() == 1,
            ..Row::on(ONE)
        },
        Row {
            word: "lock.told_on_loss=none",
            claim: "a holder works on with a lock that it has lost",
            both: &[LONG, EVERY, LOST, ("lock.told_on_loss", "callback")],
            with: &[("lock.told_on_loss", "none")],
            shows: |_, with| with.times("c1", applied).len() == 1 && with.times("c1", noticed).is_empty(),
            ..Row::on(ONE)
        },
        Row {
            word: "lock.told_on_loss=at-release",
            claim: "a release of what is lost asks no node",
            both: &[LONG, EVERY, LOST],
            with: &[("lock.told_on_loss", "at-release")],
            shows: |without, with| {
                let since = |seen: &Seen| {
                    let release = seen.marks("c1", "release")[0];
                    seen.sent("c1", "A").into_iter().filter(|(at, _)| *at >= release).count()
                };
                with.times("c1", applied).len() == 1 && since(without) > 0 && since(with) == 0
            },
            ..Row::on(ONE)
        },
    ]
}

/// A holder that has to ask, or hears of it late, or when its lease must have ended.
fn other_news() -> Vec<Row> {
    vec![
        Row {
            word: "lock.told_on_loss=flag",
            claim: "a holder that asks hears that the last renewal was refused",
            both: &[CHECKS, EVERY, LOST, ("lock.elapsed_check", "false")],
            with: &[("lock.told_on_loss", "flag")],
            shows: |without, with| {
                without.times("c1", noticed).is_empty()
                    && without.times("c1", applied).len() == 1
                    && with.times("c1", noticed).len() == 1
                    && renewals(with).len() > 5
                    && with.times("c1", applied).is_empty()
            },
            ..Row::on(ONE)
        },
        Row {
            word: "lock.told_on_loss=flag",
            claim: "a renewal that succeeds sets the flag right again",
            both: &[CHECKS, EVERY, ("lock.told_on_loss", "flag")],
            with: &[SHORT_CUT],
            shows: |_, with| {
                with.times("c1", failed).len() == 1
                    && with.times("c1", noticed).is_empty()
                    && with.times("c1", applied).len() == 1
            },
            ..Row::on(ONE)
        },
        Row {
            word: "lock.told_on_loss=when-due",
            claim: "a holder hears that its lease must have ended when the next renewal is due",
            both: &[LONG, EVERY, CUT, ("lock.told_on_loss", "callback")],
            with: &[("lock.told_on_loss", "when-due")],
            shows: |without, with| {
                let [at] = with.times("c1", noticed)[..] else { return false };
                without.times("c1", noticed).is_empty()
                    // Four intervals after the renewal that succeeded, where a lease is three and a third.
                    && (12 * SEC..12 * SEC + MS).contains(&(at - renewals(with)[0]))
            },
            ..Row::on(ONE)
        },
        Row {
            word: "lock.told_on_loss=lease-end",
            claim: "a holder stops a lease after the last renewal that succeeded was sent, by its own clock",
            both: &[LONG, EVERY, CUT, ("lock.told_on_loss", "callback")],
            with: &[("lock.told_on_loss", "lease-end")],
            shows: |without, with| {
                let [at] = with.times("c1", noticed)[..] else { return false };
                without.times("c1", noticed).is_empty()
                    && (10 * SEC..10 * SEC + MS).contains(&(at - renewals(with)[0]))
            },
            ..Row::on(ONE)
        },
    ]
}

/// c1 gives the lock back after 7 s, and its release is on the way for 3 s; the node knows the scripts.
const SLOW_RELEASE: Sets = &[
    ("clients.0.program", "['acquire', 'work 7s', 'release', 'work 20s']"),
    EVERY,
    ("nodes.scripts", "loaded"),
    ("lock.request_timeout", "9s"),
    ("lock.extend_if_missing", "true"),
    ("faults", "[{ kind = 'packet-delay', from = 'c1', to = 'A', by = '3s', at = \"c1's release\" }]"),
    ("lock.stop_on_release", "before"),
];
/// The same, and the watchdog is stopped later.
const AFTER: Sets = &[
    SLOW_RELEASE[0],
    SLOW_RELEASE[1],
    SLOW_RELEASE[2],
    SLOW_RELEASE[3],
    SLOW_RELEASE[4],
    SLOW_RELEASE[5],
    ("lock.stop_on_release", "after"),
];
/// The release is lost with its connection.
const LOST_RELEASE: Sets = &[
    ("clients.0.program", "['acquire', 'work 7s', 'release', 'work 20s']"),
    EVERY,
    ("faults", "[{ kind = 'reset-connections', from = 'c1', to = 'A', at = \"c1's release\" }]"),
    ("lock.stop_on_release", "after"),
];

/// Those that came after the release was called.
fn renewed_later(seen: &Seen) -> usize {
    let release = seen.marks("c1", "release")[0];
    renewals(seen).into_iter().filter(|at| *at > release).count()
}

fn releases() -> Vec<Row> {
    vec![
        Row {
            word: "lock.stop_on_release=after",
            claim: "a renewal follows the release, and sets the key anew; nobody's lease is extended by it",
            both: SLOW_RELEASE,
            with: &[("lock.stop_on_release", "after")],
            shows: |without, with| {
                let keys = with.keys("A", "c1").len();
                renewed_later(without) == 0
                    && renewed_later(with) == 1
                    && keys == without.keys("A", "c1").len() + 1
                    && with.times("c1", extended) == without.times("c1", extended)
            },
            ..Row::on(ONE)
        },
        Row {
            word: "lock.stop_on_release=before",
            claim: "no renewal follows the release",
            both: AFTER,
            with: &[("lock.stop_on_release", "before")],
            shows: |without, with| renewed_later(without) == 1 && renewed_later(with) == 0,
            ..Row::on(ONE)
        },
        Row {
            word: "lock.stop_on_release=confirmed",
            claim: "a release that nobody answered leaves the watchdog at work",
            both: LOST_RELEASE,
            with: &[("lock.stop_on_release", "confirmed")],
            shows: |without, with| {
                renewed_later(without) == 0
                    && renewed_later(with) > 5
                    && with.times("c1", extended) == without.times("c1", extended)
            },
            ..Row::on(ONE)
        },
    ]
}
