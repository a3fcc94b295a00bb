//! Runs made by hand, each with the verdict that a rule has to come to.

use std::collections::BTreeMap;
use std::time::Duration;

use doublehold_history::{
    CallId, ClientId, EventKind, Header, History, KeyOp, LockId, NodeId, ReleaseOutcome, TrueNs, judge,
};
use doublehold_sim::Seed;

use super::{Rule, RuleVerdict, ask};
use crate::build::World;
use crate::model::fault::{Effect, Fault, Names};
use crate::model::scenario::HostIndex;
use crate::model::when::When;
use crate::report::{
    FaultReport, KeyEnd, KeyLease, KeyOrigin, KeySpan, LeasedKey, Leases, Report, SentRequest,
    StatedDeadline, TraceHash,
};
use doublehold_lockimpl::descriptors;

const LOCK: LockId = LockId(0);
const C1: ClientId = ClientId(0);

/// Nodes `A`, `B`, `C` are hosts 0 to 2, the resource is 3, `c1` and `c2` are 4 and 5.
const C1_HOST: HostIndex = HostIndex(4);

/// A run to be made. All times are milliseconds.
struct Made {
    events: Vec<(u64, EventKind)>,
    leases: Leases,
    faults: Vec<FaultReport>,
    votes: BTreeMap<CallId, Vec<HostIndex>>,
}

fn ms(at: u64) -> TrueNs {
    TrueNs(at * 1_000_000)
}

/// A run in which c1 asked for the lock at 0 and was granted it at 2.
fn granted() -> Made {
    asked().with(
        2,
        EventKind::Granted {
            client: C1,
            grant: CallId(1),
            lock: LOCK,
            token: "aa".to_owned(),
            fencing: None,
            deadline: None,
            reading: None,
            within: None,
        },
    )
}

/// A run in which c1 asked for the lock at 0.
fn asked() -> Made {
    let made =
        Made { events: Vec::new(), leases: Leases::default(), faults: Vec::new(), votes: BTreeMap::new() };
    made.with(0, EventKind::AcquireStarted { client: C1, call: CallId(1), lock: LOCK })
}

impl Made {
    fn with(mut self, at: u64, what: EventKind) -> Made {
        self.events.push((at, what));
        self
    }

    fn refused(self, at: u64) -> Made {
        self.with(at, EventKind::Refused { client: C1, call: CallId(1), why: "taken".to_owned() })
    }

    fn released(self, called: u64, returned: u64) -> Made {
        let (client, grant, outcome) = (C1, CallId(1), ReleaseOutcome::Released);
        self.with(called, EventKind::ReleaseCalled { client, grant })
            .with(returned, EventKind::ReleaseReturned { client, grant, outcome })
    }

    fn died(self, at: u64) -> Made {
        self.with(at, EventKind::Died { client: C1 })
    }

    /// c1's lock says at `stated` that its grant lasts until `passes`.
    fn until(mut self, stated: u64, passes: u64) -> Made {
        let (stated, passes) = (ms(stated), ms(passes));
        self.leases.deadlines.push(StatedDeadline { client: C1_HOST, grant: CallId(1), stated, passes });
        self
    }

    /// A node has the key of c1's call from 1 on, and gave it these ends.
    fn key(mut self, node: usize, ends: &[(u64, Option<u64>)], until: Option<(u64, KeyEnd)>) -> Made {
        let span = KeySpan {
            node: HostIndex(node),
            lock: LOCK,
            grant: CallId(1),
            client: C1_HOST,
            origin: KeyOrigin::Executed,
            is_token: true,
            from: ms(1),
            until: until.map(|(at, how)| (ms(at), how)),
        };
        let lease = |(from, ends): &(u64, Option<u64>)| KeyLease { from: ms(*from), ends: ends.map(ms) };
        let leases = ends.iter().map(lease).collect();
        self.leases.keys.push(LeasedKey { span, calls: [CallId(1)].into(), leases });
        self
    }

    /// All keys so far are marked by this call, too.
    fn marked_by(mut self, call: u64) -> Made {
        self.leases.keys.iter_mut().for_each(|key| key.calls = [CallId(1), CallId(call)].into());
        self
    }

    fn votes(mut self, nodes: &[usize]) -> Made {
        self.votes.insert(CallId(1), nodes.iter().map(|node| HostIndex(*node)).collect());
        self
    }

    fn sent(mut self, at: u64, node: usize) -> Made {
        self.leases.sent.push(SentRequest { at: ms(at), call: CallId(1), node: Some(HostIndex(node)) });
        self
    }

    fn renewal(mut self, at: u64) -> Made {
        self.leases.renewals.push((ms(at), CallId(1)));
        self
    }

    fn struck(mut self, at: u64, host: usize, effect: Effect) -> Made {
        let when = When::from(Duration::from_millis(at));
        let fault = Fault { effect, at: when, lasting: None, each: false, optional: false };
        self.faults.push(FaultReport {
            fault,
            hosts: vec![HostIndex(host)],
            from: Some(ms(at)),
            until: None,
        });
        self
    }

    fn report(self) -> Report {
        let world = World::new("made").nodes(["A", "B", "C"]).clients(2, ["acquire", "release"]);
        let scenario = world.scenario("redlock", descriptors()).expect("it makes sense");
        let mut header = Header::new("made", 1, &["c1", "c2"], &["stock"]);
        header.nodes = ["A", "B", "C"].map(str::to_owned).to_vec();
        let mut history = History::new(header);
        self.events.into_iter().for_each(|(at, what)| history.push(ms(at), what));
        Report {
            scenario: scenario.into(),
            seed: Seed(1),
            engine: "sim",
            verdicts: judge(&history),
            told: None,
            history,
            faults: self.faults,
            keys: Vec::new(),
            leases: self.leases,
            votes: self.votes,
            extends: BTreeMap::new(),
            left_out: BTreeMap::new(),
            ended: ms(60_000),
            events: 0,
            messages: 0,
            trace_hash: TraceHash(0),
            replays: None,
            announcements: Vec::new(),
            notes: Vec::new(),
            panicked: None,
        }
    }
}

/// Compares the verdict of a rule in words: `holds`, `off`, or the sentences of what breaks it.
fn compare(rule: Rule, table: Vec<(&str, Made, &str)>) {
    for (name, made, expected) in table {
        let verdict = ask(rule, &made.report());
        let words = match &verdict {
            RuleVerdict::Broken(breaches) => {
                let words: Vec<&str> = breaches.iter().map(|breach| breach.words.as_str()).collect();
                words.join("; ")
            }
            other => other.as_str().to_owned(),
        };
        assert_eq!(words, expected, "{name}: {verdict:?}");
    }
}

fn step(host: &str) -> Effect {
    Effect::ClockStep { hosts: Names(vec![host.to_owned()]), by_ns: 1_000_000_000 }
}

fn pause(host: &str) -> Effect {
    Effect::Pause { hosts: Names(vec![host.to_owned()]) }
}

#[test]
fn a_deadline_may_not_lie_after_the_end_of_its_keys() {
    let one = |ends: &[(u64, Option<u64>)]| granted().until(2, 100).key(0, ends, None);
    let three = |ends: [u64; 3]| {
        let made = granted().until(2, 100).votes(&[0, 1, 2]);
        ends.into_iter().enumerate().fold(made, |made, (node, end)| made.key(node, &[(1, Some(end))], None))
    };
    let late = "c1 believes in grant 1 for up to 10 ms after its key is gone on A";
    compare(
        Rule::Margin,
        vec![
            ("the key ends when the deadline passes", one(&[(1, Some(100))]), "holds"),
            ("the key ends before", one(&[(1, Some(90))]), late),
            ("the key has no end", one(&[(1, None)]), "holds"),
            ("it was set without an end, and given one at once", one(&[(1, None), (1, Some(90))]), late),
            ("an extension came later than what was told", one(&[(1, Some(90)), (50, Some(150))]), late),
            ("an extension came before", one(&[(1, Some(50)), (2, Some(150))]), "holds"),
            ("a release let it end early", one(&[(1, Some(100)), (50, Some(60))]), "holds"),
            ("a majority keeps it", three([90, 100, 110]), "holds"),
            (
                "a majority does not",
                three([90, 95, 110]),
                "c1 believes in grant 1 for up to 5 ms after fewer than 2 nodes have its key, when it is gone on B",
            ),
            (
                "two of three have it, and one ends early",
                granted().until(2, 100).votes(&[0, 1]).key(0, &[(1, Some(90))], None).key(
                    1,
                    &[(1, Some(110))],
                    None,
                ),
                "c1 believes in grant 1 for up to 10 ms after fewer than 2 nodes have its key, when it is gone on A",
            ),
            ("it told no deadline", granted().key(0, &[(1, Some(90))], None), "off"),
            ("the keys were not seen", granted().until(2, 100), "off"),
            (
                "the deadline had passed when it was told",
                granted().until(2, 2).key(0, &[(1, Some(1))], None),
                "holds",
            ),
            ("A's clock was stepped", one(&[(1, Some(90))]).struck(5, 0, step("A")), "off"),
            (
                "B's clock was stepped, and A alone matters",
                one(&[(1, Some(90))]).struck(5, 1, step("B")),
                late,
            ),
            ("A's clock was stepped later", one(&[(1, Some(90))]).struck(101, 0, step("A")), late),
            ("c1 was paused, which stops no clock", one(&[(1, Some(90))]).struck(5, 4, pause("c1")), late),
            ("it was released long before", one(&[(1, Some(90))]).released(5, 6), late),
        ],
    );
}

#[test]
fn a_key_may_not_stay_when_its_client_is_done_with_its_token() {
    let given_back = |end, until| granted().released(5, 7).key(0, &[(1, end)], until);
    let stays = "c1 gave the lock back and its key of call 1 stays on A from 0.007 s on for 93 ms, until its time is up";
    compare(
        Rule::LeftKey,
        vec![
            ("the release deletes it", given_back(Some(100), Some((6, KeyEnd::Deleted))), "holds"),
            ("it is deleted later", given_back(Some(100), Some((9, KeyEnd::Deleted))), "holds"),
            ("its time is up before", given_back(Some(6), Some((6, KeyEnd::Expired))), "holds"),
            ("it stays", given_back(Some(100), Some((100, KeyEnd::Expired))), stays),
            ("it is there when the run ends", given_back(Some(100), None), stays),
            (
                "it has no end",
                given_back(None, None),
                "c1 gave the lock back and its key of call 1 stays on A from 0.007 s on for ever: it has no end",
            ),
            (
                "a fault may have kept its end away",
                given_back(Some(100), None).struck(3, 0, pause("A")),
                "holds",
            ),
            ("a fault came too late for that", given_back(Some(100), None).struck(8, 0, pause("A")), stays),
            (
                "no fault excuses a key without an end",
                given_back(None, None).struck(3, 0, pause("A")),
                "c1 gave the lock back and its key of call 1 stays on A from 0.007 s on for ever: it has no end",
            ),
            (
                "the release gave it its end",
                granted().released(5, 7).key(0, &[(1, Some(100)), (6, Some(20))], None),
                "holds",
            ),
            (
                "its client marks another call's keys alike, which is not over",
                given_back(Some(100), None)
                    .with(6, EventKind::AcquireStarted { client: C1, call: CallId(2), lock: LOCK })
                    .marked_by(2),
                "off",
            ),
            (
                "another call of its client marks its keys alike, and is over later",
                given_back(Some(100), None)
                    .with(6, EventKind::AcquireStarted { client: C1, call: CallId(2), lock: LOCK })
                    .with(20, EventKind::Refused { client: C1, call: CallId(2), why: "taken".to_owned() })
                    .marked_by(2),
                "c1 gave the lock back and its key of call 1 stays on A from 0.020 s on for 80 ms, until its time is \
                 up",
            ),
            ("its client still has the grant", granted().key(0, &[(1, Some(100))], None), "off"),
            (
                "a death leaves it until its time is up",
                granted().died(5).key(0, &[(1, Some(100))], None),
                "holds",
            ),
            (
                "a death leaves it for ever",
                granted().died(5).key(0, &[(1, None)], None),
                "c1 died and its key of call 1 stays on A from 0.005 s on for ever: it has no end",
            ),
            (
                "a refused attempt leaves it",
                asked().refused(4).key(0, &[(1, Some(100))], None),
                "c1 was not granted the lock and its key of call 1 stays on A from 0.004 s on for 96 ms, until its \
                 time is up",
            ),
        ],
    );
}

#[test]
fn a_command_may_not_be_sent_for_a_grant_that_is_over() {
    let released = || granted().released(5, 7).key(0, &[(1, Some(100))], Some((6, KeyEnd::Deleted)));
    let late = "c1 sends a request for grant 1 to A 1 ms after its release returned";
    let touched = |by: u64| {
        let (grant, later) = (CallId(by), CallId(2));
        let (client, lock, fencing) = (C1, LOCK, None);
        let (token, reading, within, deadline) = ("aa".to_owned(), None, None, None);
        let again =
            EventKind::Granted { client, grant: later, lock, token, fencing, deadline, reading, within };
        let touch = EventKind::KeyTouched {
            client,
            node: NodeId(0),
            lock,
            by: grant,
            held: later,
            op: KeyOp::Release,
        };
        let asks = EventKind::AcquireStarted { client, call: later, lock };
        asked().refused(4).sent(1, 0).with(5, asks).with(8, again).with(9, touch)
    };
    compare(
        Rule::LateCommand,
        vec![
            ("all was sent before", released().sent(1, 0).sent(5, 0), "holds"),
            ("one is sent as the release returns", released().sent(7, 0), "holds"),
            ("one is sent when the release has returned", released().sent(8, 0), late),
            ("two are, and one says it", released().sent(8, 0).sent(9, 0), late),
            ("the release goes on at another node", released().votes(&[0, 1, 2]).sent(900, 1), "holds"),
            (
                "one is sent to one of several nodes much later",
                released().votes(&[0, 1, 2]).sent(1_008, 0),
                "c1 sends a request for grant 1 to A 1.001 s after its release returned",
            ),
            ("a fault may have kept it back", released().sent(8, 0).struck(3, 0, pause("A")), "holds"),
            ("the grant is not over", granted().sent(8, 0), "off"),
            ("an attempt that came to nothing cleans up", asked().refused(4).sent(8, 0), "holds"),
            (
                "it deletes the key of the next grant",
                touched(1),
                "c1 changes the key of its grant 2 on A by a command of call 1, which came to nothing 5 ms before",
            ),
            ("a grant deletes its own key", touched(2), "holds"),
            ("a renewal begins before", released().sent(1, 0).renewal(4), "holds"),
            (
                "a renewal begins in the release",
                released().sent(1, 0).renewal(6),
                "c1 begins to renew grant 1 1 ms after it was told to release",
            ),
            (
                "a renewal begins when the lock has told that it is lost",
                granted()
                    .sent(1, 0)
                    .with(4, EventKind::ExpiryNoticed { client: C1, grant: CallId(1) })
                    .renewal(6),
                "c1 begins to renew grant 1 2 ms after it was told that it is lost",
            ),
        ],
    );
}
