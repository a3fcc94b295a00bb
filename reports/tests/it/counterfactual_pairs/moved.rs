//! The account of a run in which one fact is put elsewhere: after an instant instead of before it, on another node, to
//! another client, grant or lock. What rests on the fact is no more told, and what does not rest on it stays.
//!
//! The runs are those of the tables. Their evidence stays as it was: only what is told beside it is tried.

mod lost;

use std::sync::Arc;
use std::time::Duration;

use doublehold_history::{CallId, ClientId, EventKind, LockId};
use doublehold_render::picture::account;
use doublehold_scenarios::SimEngine;
use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::report::{KeyOrigin, KeySpan, Report};

use crate::counterfactual_pairs::edit::{
    after, before, event, expires, fault, granted, happens, host, key, rewrite, wait,
};
use crate::counterfactual_pairs::{run, table};

/// A fact that is put elsewhere, and the account then; `SAME` if it is as before.
struct Moved {
    /// The beginning of a rule of the tables, of which it is the right case; after `not: `, the wrong one.
    rule: &'static str,
    what: &'static str,
    change: fn(&mut Report),
    told: &'static str,
}

const SAME: &str = "the same";
const NONE: &str = "";

const LATE_WRITES: &[Moved] = &[
    Moved {
        rule: "P3: a write was on its way",
        what: "the write was sent when the later grant was there",
        change: |report| {
            let later = granted(report, 1).0;
            rewrite(report, |at, what| match what {
                EventKind::WriteSent { client: ClientId(0), .. } => Some((later, what)),
                _ => Some((at, what)),
            });
        },
        told: NONE,
    },
    Moved {
        rule: "P3: a write was on its way",
        what: "the same grant sent another write when the first had arrived",
        change: |report| {
            let (_, sent) = event(report, |what| match what {
                EventKind::WriteSent { client: ClientId(0), .. } => Some(what.clone()),
                _ => None,
            });
            report.history.push(after(report.ended), sent);
        },
        told: SAME,
    },
];

const WAITS: &[Moved] = &[
    Moved {
        rule: "LV: a dead client's key keeps",
        what: "the client died after the wait",
        change: |report| {
            let end = after(wait(report).1);
            rewrite(report, |at, what| match what {
                EventKind::Died { .. } => Some((end, what)),
                _ => Some((at, what)),
            });
        },
        told: NONE,
    },
    Moved {
        rule: "LV: a dead client's key keeps",
        what: "the key is another lock's",
        change: |report| key(report, "c1", "A").lock = LockId(1),
        told: NONE,
    },
    Moved {
        rule: "LV: a dead client's key keeps",
        what: "the key was gone right before the wait's end",
        change: |report| expires(report, before(wait(report).1)),
        told: NONE,
    },
    Moved {
        rule: "LV: a dead client's key keeps",
        what: "the key was gone at the wait's end",
        change: |report| expires(report, wait(report).1),
        told: SAME,
    },
    Moved {
        rule: "LV: a dead client's key keeps",
        what: "the key was set, and the client died, at the wait's beginning",
        change: |report| {
            let from = wait(report).0;
            key(report, "c1", "A").from = from;
            happens(report, |what| matches!(what, EventKind::Died { .. }), from);
        },
        told: SAME,
    },
    Moved {
        rule: "LV: a dead client's key keeps",
        what: "the key was set after the wait's beginning",
        change: |report| {
            let it = after(wait(report).0);
            key(report, "c1", "A").from = it;
        },
        told: NONE,
    },
    Moved {
        rule: "LV: keys on more than half",
        what: "one of the keys is another client's",
        change: |report| {
            let it = host(report, "c2");
            key(report, "c1", "C").client = it;
        },
        told: NONE,
    },
    Moved {
        rule: "LV: keys on more than half",
        what: "one of the keys outlived its lease, and the others did not",
        change: |report| {
            let (from, ()) = event(report, |what| matches!(what, EventKind::Died { .. }).then_some(()));
            Arc::make_mut(&mut report.scenario).lock.ttl = Duration::from_millis(21_500);
            for node in ["B", "C"] {
                key(report, "c1", node).from = from;
            }
        },
        told: SAME,
    },
    Moved {
        rule: "not: LV: an extension begins the lease anew",
        what: "the extension was another grant's",
        change: |report| {
            rewrite(report, |at, what| match what {
                EventKind::Extended { client, deadline, .. } => {
                    Some((at, EventKind::Extended { client, grant: CallId(99), deadline }))
                }
                _ => Some((at, what)),
            });
        },
        told: "c1's process is gone, and its key stays on A for longer than its lease",
    },
];

const WRONG_KEYS: &[Moved] = &[
    Moved {
        rule: "WR: the releasing client's own key had expired",
        what: "its own key expired after the deletion",
        change: |report| expires(report, report.ended),
        told: NONE,
    },
    Moved {
        rule: "WR: the releasing client's own key had expired",
        what: "its own key expired on another node",
        change: |report| {
            let it = host(report, "c1");
            key(report, "c1", "A").node = it;
        },
        told: NONE,
    },
];

const FAILOVERS: &[Moved] = &[
    Moved {
        rule: "the master that had the key was dead",
        what: "the promoted node had had the key",
        change: |report| {
            let node = host(report, "R");
            let copy = KeySpan {
                node,
                origin: KeyOrigin::Replicated,
                until: None,
                ..key(report, "c1", "M").clone()
            };
            report.keys.push(copy);
        },
        told: NONE,
    },
    Moved {
        rule: "the master that had the key was dead",
        what: "the promotion was before the key was set",
        change: |report| {
            let it = before(key(report, "c1", "M").from);
            fault(report, "promote").from = Some(it);
        },
        told: NONE,
    },
    Moved {
        rule: "the master that had the key was dead",
        what: "the promotion was after the next grant",
        change: |report| {
            let it = after(granted(report, 1).0);
            fault(report, "promote").from = Some(it);
        },
        told: NONE,
    },
    Moved {
        rule: "the master that had the key was dead",
        what: "another node was promoted",
        change: |report| {
            let it = host(report, "M");
            fault(report, "promote").hosts = vec![it];
        },
        told: NONE,
    },
    Moved {
        rule: "the master that had the key was dead",
        what: "the master died before it had the key",
        change: |report| {
            let it = before(key(report, "c1", "M").from);
            fault(report, "crash").from = Some(it);
        },
        told: "R was promoted without c1's key, and granted the lock to c2",
    },
    Moved {
        rule: "the master that had the key was dead",
        what: "another host died",
        change: |report| {
            let it = host(report, "c1");
            fault(report, "crash").hosts = vec![it];
        },
        told: "R was promoted without c1's key, and granted the lock to c2",
    },
    Moved {
        rule: "the master that had the key was dead",
        what: "what died had the key from its file",
        change: |report| key(report, "c1", "M").origin = KeyOrigin::Loaded,
        told: "R was promoted without c1's key, and granted the lock to c2",
    },
];

const LATE_GRANTS: &[Moved] = &[
    Moved {
        rule: "a lock without a deadline takes what comes",
        what: "the grant has a key that began after it",
        change: |report| {
            let from = after(granted(report, 0).0);
            let later = KeySpan { from, until: None, ..key(report, "c1", "A").clone() };
            report.keys.push(later);
        },
        told: SAME,
    },
    Moved {
        rule: "a lock without a deadline takes what comes",
        what: "the key expired right after the grant",
        change: |report| expires(report, after(granted(report, 0).0)),
        told: NONE,
    },
    Moved {
        rule: "the wall clock that measured the lease was set back",
        what: "another's clock was set back",
        change: |report| {
            let it = host(report, "c2");
            fault(report, "clock-step").hosts = vec![it];
        },
        told: "c1 was granted the lock when its key had expired on A, and its own deadline was still to come",
    },
    Moved {
        rule: "the wall clock that measured the lease was set back",
        what: "it was set back after the grant",
        change: |report| {
            let it = after(granted(report, 0).0);
            fault(report, "clock-step").from = Some(it);
        },
        told: "c1 was granted the lock when its key had expired on A, and its own deadline was still to come",
    },
    Moved {
        rule: "the wall clock that measured the lease was set back",
        what: "it was set back when the client asked",
        change: |report| {
            let (at, ()) = event(report, |what| {
                matches!(what, EventKind::AcquireStarted { client: ClientId(0), .. }).then_some(())
            });
            fault(report, "clock-step").from = Some(at);
        },
        told: SAME,
    },
    Moved {
        rule: "the wall clock that measured the lease was set back",
        what: "it was set back at the grant",
        change: |report| {
            let at = granted(report, 0).0;
            fault(report, "clock-step").from = Some(at);
        },
        told: SAME,
    },
    Moved {
        rule: "the wall clock that measured the lease was set back",
        what: "it never was",
        change: |report| fault(report, "clock-step").from = None,
        told: "c1 was granted the lock when its key had expired on A, and its own deadline was still to come",
    },
    Moved {
        rule: "a monotonic clock stands still in a suspension",
        what: "it was a pause",
        change: |report| fault(report, "suspend").fault = Fault::pause("c1").lasting(Duration::from_secs(12)),
        told: "c1 was granted the lock when its key had expired on A while it was paused, and its own deadline was still to come",
    },
];

#[test]
fn what_rests_on_a_fact_is_told_of_no_run_in_which_the_fact_is_elsewhere() {
    let tables = ["expired.toml", "lost.toml", "late.toml", "others.toml"].map(|file| table(file).twins);
    let told = |report: &Report| account(report).map_or(String::new(), |it| it.words);
    let mut wrong = Vec::new();
    for it in [LATE_WRITES, WAITS, WRONG_KEYS, lost::LOST, FAILOVERS, LATE_GRANTS].into_iter().flatten() {
        let rule = it.rule.trim_start_matches("not: ");
        let twin = tables.iter().flatten().find(|twin| twin.rule.starts_with(rule)).expect(rule);
        let [what, other] = &twin.change;
        let world = if it.rule != rule { twin.world.replace(what, other) } else { twin.world.clone() };
        let (_, mut report) = run(twin, &world, &SimEngine);
        let before = told(&report);
        (it.change)(&mut report);
        let (after, expected) = (told(&report), if it.told == SAME { &before } else { it.told });
        if after != expected {
            wrong.push(format!("{}, and {}:\n  told {after:?}\n   not {expected:?}", it.rule, it.what));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
