//! Facts of how a holder lost its key, moved.

use doublehold_history::{CallId, ClientId, EventKind, KeyOp, NodeId, TrueNs};
use doublehold_scenarios::report::{KeyEnd, KeySpan};

use super::{Moved, NONE, SAME};
use crate::counterfactual_pairs::edit::{
    after, before, deletes, deletion, end, expires, fault, granted, happens, host, key, rewrite,
};

pub(super) const LOST: &[Moved] = &[
    Moved {
        rule: "the holder was still at work",
        what: "the next holder's key was there before the first one's was gone",
        change: |report| {
            let end = end(key(report, "c1", "A"));
            key(report, "c2", "A").from = before(end);
        },
        told: NONE,
    },
    Moved {
        rule: "the holder was still at work",
        what: "the first holder has another key there after the next grant",
        change: |report| {
            let from = after(key(report, "c2", "A").from);
            let again = KeySpan { from, until: None, ..key(report, "c1", "A").clone() };
            report.keys.push(again);
        },
        told: SAME,
    },
    Moved {
        rule: "not: the holder was still at work",
        what: "the write had arrived right before the key expired",
        change: |report| {
            let end = end(key(report, "c1", "A"));
            happens(
                report,
                |what| matches!(what, EventKind::WriteApplied { client: ClientId(0), .. }),
                before(end),
            );
        },
        told: "c1's key expired on A while c1 was still at work, and c2 was granted the lock",
    },
    Moved {
        rule: "not: the holder was still at work",
        what: "the write arrived when the key expired",
        change: |report| {
            let end = end(key(report, "c1", "A"));
            happens(report, |what| matches!(what, EventKind::WriteApplied { client: ClientId(0), .. }), end);
        },
        told: "c1's key expired on A while c1 was still at work, and c2 was granted the lock",
    },
    Moved {
        rule: "not: the holder was still at work",
        what: "the write was sent when the key expired",
        change: |report| {
            let end = end(key(report, "c1", "A"));
            happens(report, |what| matches!(what, EventKind::WriteSent { client: ClientId(0), .. }), end);
        },
        told: SAME,
    },
    Moved {
        rule: "not: the holder was still at work",
        what: "the write was sent right after the key expired",
        change: |report| {
            let end = end(key(report, "c1", "A"));
            happens(
                report,
                |what| matches!(what, EventKind::WriteSent { client: ClientId(0), .. }),
                after(end),
            );
        },
        told: "c1's key expired on A while c1 was still at work, and c2 was granted the lock",
    },
    Moved {
        rule: "the holder was still at work",
        what: "the key lived for just as long as a clock that is a tenth fast makes of its lease",
        change: |report| {
            let at = TrueNs(key(report, "c1", "A").from.0 + 9_090_909_091);
            expires(report, at);
        },
        told: SAME,
    },
    Moved {
        rule: "the holder was still at work",
        what: "the key lived for a little less",
        change: |report| {
            let at = TrueNs(key(report, "c1", "A").from.0 + 9_090_909_090);
            expires(report, at);
        },
        told: "c1's key expired on A before its time, and c2 was granted the lock",
    },
    Moved {
        rule: "the holder was still at work",
        what: "the next holder released the key at the instant at which it expired",
        change: |report| {
            let at = end(key(report, "c1", "A"));
            deletes(report, at, 0);
        },
        told: SAME,
    },
    Moved {
        rule: "a failed extension deletes its own key",
        what: "another deleted that key on another node at the same instant",
        change: |report| {
            let (at, held) = (end(key(report, "c1", "A")), granted(report, 0).1);
            let EventKind::KeyTouched { client, lock, by, held, op, .. } = deletion(report, held) else {
                return;
            };
            let elsewhere = EventKind::KeyTouched { client, node: NodeId(1), lock, by, held, op };
            report.history.push(at, elsewhere);
        },
        told: SAME,
    },
    Moved {
        rule: "a failed extension deletes its own key",
        what: "another deleted that key there before, and it was set again",
        change: |report| {
            let at = before(end(key(report, "c1", "A")));
            deletes(report, at, 0);
        },
        told: SAME,
    },
    Moved {
        rule: "a failed extension deletes its own key",
        what: "another deleted another grant's key there at the same instant",
        change: |report| {
            let at = end(key(report, "c1", "A"));
            deletes(report, at, 1);
        },
        told: SAME,
    },
    Moved {
        rule: "a failed extension deletes its own key",
        what: "the holder had called release by then",
        change: |report| {
            let (at, grant) = (end(key(report, "c1", "A")), granted(report, 0).1);
            report.history.push(at, EventKind::ReleaseCalled { client: ClientId(0), grant });
        },
        told: NONE,
    },
    Moved {
        rule: "a failed extension deletes its own key",
        what: "the extension began after the deletion",
        change: |report| {
            let at = after(end(key(report, "c1", "A")));
            report.extends.values_mut().for_each(|began| *began = vec![at]);
        },
        told: "c1's late clean-up of an earlier attempt deleted its own key on A, and c2 was granted the lock by A and C",
    },
    Moved {
        rule: "not: a failed extension deletes its own key",
        what: "the holder was paused when its key expired on one node, and not on the last",
        change: |report| {
            let (client, late) = (host(report, "c1"), end(key(report, "c1", "C")));
            let early = TrueNs(late.0 - 500_000_000);
            key(report, "c1", "B").until = Some((early, KeyEnd::Expired));
            let pause = fault(report, "pause");
            (pause.hosts, pause.from, pause.until) = (vec![client], Some(before(early)), Some(after(early)));
        },
        told: SAME,
    },
    Moved {
        rule: "an attempt's clean-up deletes the keys on all nodes",
        what: "a third client deleted the key on B",
        change: |report| {
            let third = granted(report, 2).1;
            rewrite(report, |at, mut what| {
                if let EventKind::KeyTouched { client, by, node: NodeId(1), op: KeyOp::Release, .. } =
                    &mut what
                {
                    (*client, *by) = (ClientId(2), third);
                }
                Some((at, what))
            });
        },
        told: "c2's plain DEL after an attempt that was not granted deleted c1's key on A and C, c3's plain DEL after \
               an attempt that was not granted deleted c1's key on B, and c2 was granted the lock by A, B and C",
    },
    Moved {
        rule: "an attempt's clean-up deletes the keys on all nodes",
        what: "the call had been granted by then",
        change: |report| {
            let is_it = |what: &EventKind| matches!(what, EventKind::Granted { client: ClientId(1), .. });
            happens(report, is_it, TrueNs(0));
        },
        told: "c2's plain DEL deleted c1's key on A, B and C, and c2 was granted the lock by A, B and C",
    },
    Moved {
        rule: "an attempt's clean-up deletes the keys on all nodes",
        what: "they were the holder's own attempts before, and were refused",
        change: |report| {
            rewrite(report, |at, mut what| {
                if let EventKind::KeyTouched { client, by, op: KeyOp::Release, .. } = &mut what {
                    (*client, *by) = (ClientId(0), CallId(0));
                }
                Some((at, what))
            });
        },
        told: "c1's plain DEL after an attempt that was not granted deleted its own key on A, B and C, and c2 was \
               granted the lock by A, B and C",
    },
    Moved {
        rule: "a SET without NX overwrites the key",
        what: "the taker's key began elsewhere at that instant, and here later",
        change: |report| {
            let elsewhere = KeySpan { node: host(report, "c1"), ..key(report, "c2", "A").clone() };
            let own = key(report, "c2", "A");
            own.from = after(own.from);
            report.keys.push(elsewhere);
        },
        told: NONE,
    },
    Moved {
        rule: "by the taker's clock the lease was over",
        what: "the lease was not over by the taker's clock either",
        change: |report| {
            rewrite(report, |at, mut what| {
                if let EventKind::Granted { client: ClientId(0), deadline: Some(deadline), .. } = &mut what {
                    deadline.reading_ns += 3_600_000_000_000;
                }
                Some((at, what))
            });
        },
        told: "c2 overwrote c1's key on A, and c2 was granted the lock",
    },
    Moved {
        rule: "the holder's release was under way",
        what: "the release had returned right before the key expired",
        change: |report| {
            let end = end(key(report, "c1", "A"));
            rewrite(report, |at, what| match what {
                EventKind::ReleaseReturned { client: ClientId(0), .. } => Some((before(end), what)),
                _ => Some((at, what)),
            });
        },
        told: "c1's plain DEL deleted c2's key on A, and c3 was granted the lock",
    },
    Moved {
        rule: "the holder's release was under way",
        what: "the releasing client's own key expired after the deletion",
        change: |report| expires(report, report.ended),
        told: "c1's plain DEL deleted c2's key on A, and c3 was granted the lock",
    },
    Moved {
        rule: "somebody came in by the deletion",
        what: "the next was granted the lock before the deletion",
        change: |report| {
            rewrite(report, |at, what| match what {
                EventKind::KeyTouched { op: KeyOp::Release, .. } => {
                    Some((TrueNs(at.0 + 1_000_000_000), what))
                }
                _ => Some((at, what)),
            });
        },
        told: "c1's key expired on A while c1 was still at work, and c2 was granted the lock; c1's plain DEL then \
               deleted c2's key on A",
    },
];
