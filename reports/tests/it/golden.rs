//! What a reader sees, word for word, of hand-made reports: `tests/golden/*`, which are read in review.
//!
//! Hand-made, so that they change only when the drawing does. After a wanted change, `UPDATE_GOLDEN=1 cargo test -p
//! doublehold --test it golden` writes the files anew; look at the difference.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use doublehold_history::{
    Bounds, CallId, ClientId, ClockKind, Deadline, EventKind, Header, History, LockId, ObjectId, Predicate,
    Reading, ReleaseOutcome, RunOutcome, TrueNs, judge,
};
use doublehold_pages::figure;
use doublehold_render::picture::view::View;
use doublehold_render::style::Style;
use doublehold_render::{json, picture, text};
use doublehold_scenarios::detail::{ClockLine, Detail, HostClocks, Message, Phrase, PhraseKind};
use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::report::{FaultReport, KeyEnd, KeyOrigin, KeySpan, Leases, Report, TraceHash};
use doublehold_scenarios::scenario::{Expected, HostIndex};
use doublehold_scenarios::when::When;
use doublehold_scenarios::{Seed, catalog};

const C1: ClientId = ClientId(0);
const C2: ClientId = ClientId(1);
const STOCK: LockId = LockId(0);
const OBJECT: ObjectId = ObjectId(0);
/// The hosts of `story.toml`: three nodes, the resource, two clients.
const CLIENT_HOSTS: [HostIndex; 2] = [HostIndex(4), HostIndex(5)];

fn golden(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "golden", name].iter().collect()
}

fn assert_golden(name: &str, actual: &str) {
    let path = golden(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, actual).expect("the golden file can be written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == actual,
        "{name} differs (UPDATE_GOLDEN=1 accepts)\n--- expected\n{expected}\n--- actual\n{actual}"
    );
}

/// A report told event by event, times in milliseconds.
struct Recording(Report);

impl Recording {
    fn new() -> Recording {
        let path = golden("story.toml");
        let scenario = catalog::load(path.to_str().expect("a path of this repository"), &[])
            .expect("story.toml is right");
        let mut header = Header::new("story", 7, &["c1", "c2"], &["stock"]);
        header.keys_watched = true;
        header.nodes = ["A", "B", "C"].map(str::to_owned).to_vec();
        header.objects = vec!["stock".to_owned()];
        header.bounds = Bounds { obtain_within_ns: Some(30_000_000_000), ..Bounds::default() };
        let history = History::new(header);
        Recording(Report {
            scenario: Arc::new(scenario),
            seed: Seed(7),
            engine: "sim",
            verdicts: judge(&history),
            told: None,
            history,
            faults: Vec::new(),
            keys: Vec::new(),
            leases: Leases::default(),
            votes: BTreeMap::new(),
            extends: BTreeMap::new(),
            left_out: BTreeMap::new(),
            ended: TrueNs(0),
            events: 1234,
            messages: 321,
            trace_hash: TraceHash(0xfeed),
            replays: None,
            announcements: Vec::new(),
            notes: Vec::new(),
            panicked: None,
        })
    }

    fn at(mut self, ms: u64, what: EventKind) -> Recording {
        self.0.history.push(ns(ms), what);
        self
    }

    fn asks(self, ms: u64, client: ClientId, grant: u64) -> Recording {
        self.at(ms, EventKind::AcquireStarted { client, call: CallId(grant), lock: STOCK })
    }

    fn granted(self, ms: u64, client: ClientId, grant: u64, deadline_ms: u64) -> Recording {
        let deadline =
            Some(Deadline { clock: ClockKind::Monotonic, reading_ns: deadline_ms as i64 * 1_000_000 });
        let (grant, token) = (CallId(grant), "2a".to_owned());
        self.at(
            ms,
            EventKind::Granted {
                client,
                grant,
                lock: STOCK,
                token,
                fencing: None,
                deadline,
                reading: Some(reading(ms)),
                within: None,
            },
        )
    }

    fn writes(
        self,
        sent: u64,
        ms: u64,
        client: ClientId,
        grant: u64,
        (based_on, version): (u64, u64),
    ) -> Recording {
        let (grant, based_on) = (CallId(grant), Some(based_on));
        let applied = EventKind::WriteApplied {
            client,
            grant,
            object: OBJECT,
            version,
            based_on,
            value: version,
            fencing: None,
        };
        self.at(sent, EventKind::WriteSent { client, grant, object: OBJECT, based_on }).at(ms, applied)
    }

    fn releases(self, ms: u64, client: ClientId, grant: u64, outcome: ReleaseOutcome) -> Recording {
        let grant = CallId(grant);
        self.at(ms, EventKind::ReleaseCalled { client, grant })
            .at(ms + 3, EventKind::ReleaseReturned { client, grant, outcome })
    }

    /// The keys of a grant on all three nodes, one millisecond after each other.
    fn keys(mut self, client: ClientId, grant: u64, from: u64, until: Option<(u64, KeyEnd)>) -> Recording {
        for node in 0..3 {
            let later = |ms: u64| ns(ms + node as u64);
            let client = CLIENT_HOSTS[client.0 as usize];
            let until = until.map(|(ms, how)| (later(ms), how));
            self.0.keys.push(KeySpan {
                node: HostIndex(node),
                lock: LockId(0),
                grant: CallId(grant),
                client,
                origin: KeyOrigin::Executed,
                is_token: true,
                from: later(from),
                until,
            });
        }
        self
    }

    fn fault(mut self, fault: Fault, host: HostIndex, from: Option<u64>, until: Option<u64>) -> Recording {
        let (from, until) = (from.map(ns), until.map(ns));
        self.0.faults.push(FaultReport { fault, hosts: vec![host], from, until });
        self
    }

    fn ends(mut self, ms: u64, outcome: RunOutcome) -> Report {
        self.0.ended = ns(ms);
        self.0.history.push(ns(ms), EventKind::RunEnded { outcome });
        self.0.verdicts = judge(&self.0.history);
        self.0
    }
}

fn pause_of_c1() -> Fault {
    Fault::pause("c1").lasting(Duration::from_secs(20)).at(when("c1's check"))
}

fn when(text: &str) -> When {
    text.parse().expect("a moment")
}

fn ns(ms: u64) -> TrueNs {
    TrueNs(ms * 1_000_000)
}

fn reading(ms: u64) -> Reading {
    Reading { wall_ns: ms as i64 * 1_000_000, monotonic_ns: ms * 1_000_000, boot_ns: ms * 1_000_000 }
}

/// c1 is paused past its deadline, c2 writes, c1 writes over it: what the story says. Its clock is stepped meanwhile,
/// and c2 sets each key in the instant in which c1's expires.
fn paused() -> Report {
    Recording::new()
        .asks(0, C1, 1)
        .granted(20, C1, 1, 10_000)
        .asks(30, C2, 2)
        .at(40, EventKind::Refused { client: C2, call: CallId(2), why: "0 of the 2 votes needed".into() })
        .at(240, EventKind::Refused { client: C2, call: CallId(2), why: "0 of the 2 votes needed".into() })
        .keys(C1, 1, 10, Some((10_011, KeyEnd::Expired)))
        .at(10_000, EventKind::DeadlinePassed { client: C1, grant: CallId(1) })
        .granted(10_050, C2, 3, 20_030)
        .keys(C2, 3, 10_011, Some((11_072, KeyEnd::Deleted)))
        .writes(11_050, 11_055, C2, 3, (0, 1))
        .releases(11_070, C2, 3, ReleaseOutcome::Released)
        .at(
            21_000,
            EventKind::ReadDone { client: C1, grant: CallId(1), object: OBJECT, version: 0, value: 0 },
        )
        .writes(21_020, 21_025, C1, 1, (0, 2))
        .releases(21_030, C1, 1, ReleaseOutcome::NotOwner)
        .fault(pause_of_c1(), CLIENT_HOSTS[0], Some(1_020), Some(21_020))
        .fault(
            Fault::clock_step("c1", -5_000_000_000).at(when("4s after c1's check")),
            CLIENT_HOSTS[0],
            Some(5_020),
            None,
        )
        .ends(21_040, RunOutcome::Completed)
}

/// C's clock jumps while c1 holds; the write of c1 spends 90 s in the network; a node crashes and stays down.
fn jumped() -> Report {
    let mut report = Recording::new()
        .asks(0, C1, 1)
        .granted(20, C1, 1, 100_000)
        .keys(C1, 1, 10, Some((18, KeyEnd::Expired)))
        .asks(25, C2, 2)
        .granted(60, C2, 2, 100_000)
        .keys(C2, 2, 50, None)
        .writes(1_000, 91_005, C1, 1, (0, 1))
        .releases(91_010, C1, 1, ReleaseOutcome::NotOwner)
        .fault(Fault::clock_step("C", 10_000_000_000).at(when("c1's grant")), HostIndex(2), Some(20), None)
        .fault(
            Fault::packet_delay("c1", "resource", Duration::from_secs(90)).at(when("c1's write")),
            HostIndex(3),
            Some(1_000),
            None,
        )
        .fault(Fault::crash("B").at(when("31s")), HostIndex(1), Some(31_000), None)
        .ends(91_020, RunOutcome::Completed);
    // c1 was granted the lock by B and C, c2 by A and C; C dropped c1's key in between, and B lost it in its crash.
    report.keys[1].until = Some((ns(31_000), KeyEnd::Forgotten));
    report.keys.remove(4);
    report.keys.remove(0);
    report
}

/// Nothing happens, and the fault that the scenario is about never strikes.
fn vacuous() -> Report {
    let mut recorded = Recording::new()
        .asks(0, C1, 1)
        .granted(20, C1, 1, 10_000)
        .keys(C1, 1, 10, None)
        .at(
            30,
            EventKind::Inconclusive {
                why: "the fault `c1 pauses for 20 s at c1's check` never fired".into(),
            },
        )
        .fault(pause_of_c1(), CLIENT_HOSTS[0], None, None);
    recorded.0.notes.push("a script on A passed its instruction limit".to_owned());
    recorded.ends(40, RunOutcome::TimeBudget)
}

#[test]
fn a_late_write_reads_as_a_story_in_ascii() {
    assert_golden(
        "paused.ascii.txt",
        &text::render_run(&paused(), "doublehold run story --seed 7", &Style::ASCII),
    );
}

#[test]
fn a_late_write_reads_as_a_story_in_unicode() {
    assert_golden(
        "paused.unicode.txt",
        &text::render_run(&paused(), "doublehold run story --seed 7", &Style::UNICODE),
    );
}

#[test]
fn a_double_hold_that_was_not_expected_is_said_loudly() {
    assert_golden(
        "jumped.unicode.txt",
        &text::render_run(&jumped(), "doublehold run story --seed 7", &Style::UNICODE),
    );
}

#[test]
fn a_run_in_which_the_fault_never_struck_proves_nothing() {
    assert_golden(
        "vacuous.ascii.txt",
        &text::render_run(&vacuous(), "doublehold run story --seed 7", &Style::ASCII),
    );
}

/// One message each way, one that is held, and a clock that is stepped: what a run kept of it besides its report.
fn detail() -> Detail {
    let message = |from: usize, to: usize, sent: u64, arrived: Option<u64>, words: &str| Message {
        connection: 1,
        from: HostIndex(from),
        to: HostIndex(to),
        sent: ns(sent),
        arrived: arrived.map(ns),
        held: if arrived.is_some() { Vec::new() } else { vec![ns(sent + 1)] },
        bytes: 40,
        phrases: vec![Phrase {
            kind: PhraseKind::Request,
            number: 0,
            words: words.to_owned(),
            short: words.to_owned(),
            meaning: None,
        }],
    };
    let clocks = |host: usize| HostClocks {
        host: HostIndex(host),
        lines: [(0, 5_020, 0), (5_020, 21_040, if host == 4 { 5_000 } else { 0 })]
            .map(|(from, to, back)| {
                let shown =
                    |ms: u64| Reading { wall_ns: reading(ms).wall_ns - back * 1_000_000, ..reading(ms) };
                ClockLine { from: ns(from), to: ns(to), first: shown(from), last: shown(to) }
            })
            .to_vec(),
    };
    let messages = vec![
        message(4, 0, 2, Some(10), "SET stock … NX PX 10000"),
        message(0, 4, 10, Some(20), "OK"),
        message(5, 2, 10_040, None, "SET stock … NX PX 10000"),
        message(4, 3, 21_020, Some(21_025), "write stock, computed from version 0"),
    ];
    Detail { epoch_ns: 0, messages, clocks: (0..6).map(clocks).collect() }
}

#[test]
fn a_late_write_is_drawn_to_scale() {
    let view = View::from_run(&paused(), Some(detail()));
    assert_golden("paused.svg", &figure::svg(&view, &figure::Options::default()));
}

#[test]
fn colours_change_no_character() {
    let colored = text::render_run(
        &paused(),
        "doublehold run story --seed 7",
        &Style { color: true, ..Style::UNICODE },
    );
    assert!(colored.contains("\x1b[1;31m"), "a double hold is red");
    let mut plain = String::new();
    for (index, part) in colored.split("\x1b[").enumerate() {
        plain.push_str(if index == 0 { part } else { part.split_once('m').expect("a whole sequence").1 });
    }
    assert_eq!(plain, text::render_run(&paused(), "doublehold run story --seed 7", &Style::UNICODE));
}

#[test]
fn every_width_fits_and_ascii_is_ascii() {
    for report in [paused(), jumped(), vacuous()] {
        for width in Style::NARROWEST..=Style::MAX_WIDTH {
            let style = Style { width, ..Style::ASCII };
            let drawn = text::render_run(&report, "doublehold run story --seed 7", &style);
            assert!(drawn.is_ascii(), "{drawn}");
            assert_eq!(drawn.contains("no lanes: they need 72"), width < Style::MIN_WIDTH, "{drawn}");
            assert_eq!(drawn.contains("believes it holds the lock"), width >= Style::MIN_WIDTH, "{drawn}");
            let widest = drawn.lines().map(str::len).max().unwrap_or(0);
            assert!(widest <= width, "{widest} columns at width {width}:\n{drawn}");
        }
    }
}

#[test]
fn every_number_of_the_list_stands_above_the_lanes() {
    // Three events in the last instant of the run, at the right edge.
    let crowded = Recording::new()
        .asks(0, C1, 1)
        .granted(20, C1, 1, 10_000)
        .asks(30, C2, 2)
        .granted(500, C2, 2, 10_000)
        .writes(9_000, 9_000, C2, 2, (0, 1))
        .at(9_000, EventKind::ReleaseCalled { client: C2, grant: CallId(2) })
        .at(9_000, EventKind::ReleaseCalled { client: C1, grant: CallId(1) })
        .ends(9_000, RunOutcome::Completed);
    for report in [paused(), jumped(), crowded] {
        let drawn = picture::picture(&report, &Style::ASCII);
        let above: Vec<&str> =
            drawn.lines().next().expect("a first line").split("").filter(|it| !" ".contains(it)).collect();
        let listed = drawn
            .split_once("\n\n  1 ")
            .expect("a list")
            .1
            .lines()
            .filter(|line| line.contains(" s  "))
            .count();
        assert_eq!(above.len(), listed, "{drawn}");
    }
}

#[test]
fn json_has_the_promised_fields() {
    let run: serde_json::Value =
        serde_json::from_str(&json::render_run(&paused(), "doublehold run story --seed 7").expect("JSON"))
            .expect("JSON");
    assert_eq!(run["scenario"], "story");
    assert_eq!(run["seed"], "7");
    assert_eq!(run["engine"], "sim");
    assert_eq!(run["as_expected"], true);
    assert_eq!(
        run["verdicts"],
        serde_json::json!({"P1": "violated", "P2": "holds", "P3": "violated", "P4": "violated", "WR": "holds", "LV": "holds"})
    );
    assert_eq!(
        run["overlaps"],
        serde_json::json!([{
            "predicate": "P1", "clients": ["c1", "c2"], "lock": "stock",
            "from_ns": 10_050_000_000_u64, "to_ns": 11_070_000_000_u64, "open_ended": false
        }])
    );
    assert_eq!(run["faults"][0]["fired"], true);
    assert_eq!(run["faults"][0]["kind"], "pause");
    assert_eq!(run["faults"][0]["hosts"], serde_json::json!(["c1"]));
    assert_eq!(run["faults"][0]["from_ns"], 1_020_000_000_u64);
    assert_eq!(run["trace_hash"], "000000000000feed");
    assert_eq!(run["events"], 1234);
    assert_eq!(run["true_time_ns"], 21_040_000_000_u64);
    assert_eq!(run["replay"], "doublehold run story --seed 7");
    let words = run["evidence"]["P1"]["words"][0].as_str().expect("a sentence");
    assert!(words.starts_with(r#"c1 and c2 both held "stock" for 1.02 s of true time"#), "{words}");
}

#[test]
fn json_tells_a_fault_that_never_struck_and_a_verdict_that_contradicts() {
    let run: serde_json::Value =
        serde_json::from_str(&json::render_run(&vacuous(), "").expect("JSON")).expect("JSON");
    assert_eq!((&run["as_expected"], &run["judgement"]), (&false.into(), &"inconclusive".into()));
    assert_eq!(
        (&run["faults"][0]["fired"], &run["faults"][0]["from_ns"]),
        (&false.into(), &serde_json::Value::Null)
    );
    let mut contradicted = paused();
    Arc::make_mut(&mut contradicted.scenario).expect.insert(Predicate::P2, Expected::Violated);
    let run: serde_json::Value =
        serde_json::from_str(&json::render_run(&contradicted, "").expect("JSON")).expect("JSON");
    assert_eq!((&run["as_expected"], &run["judgement"]), (&false.into(), &"contradicted".into()));
}
