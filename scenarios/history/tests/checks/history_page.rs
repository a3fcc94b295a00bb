//! HISTORY.md shows a history that is one, and describes every event and every field of the format.

use std::collections::BTreeSet;

use doublehold_history::*;
use serde_json::Value;

const PAGE: &str = include_str!("../../HISTORY.md");

fn example() -> &'static str {
    let (_, block) = PAGE.split_once("```jsonl\n").expect("the page has an example");
    block.split_once("```").expect("the example ends").0
}

#[test]
fn the_pages_example_is_a_history_with_the_verdicts_that_it_says() {
    let history = History::read_jsonl(example().as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let mut written = Vec::new();
    history.write_jsonl(&mut written).expect("a buffer takes everything");
    assert_eq!(String::from_utf8(written).expect("JSON is UTF-8"), example());
    let verdicts = judge(&history);
    let violated: Vec<Predicate> =
        verdicts.iter().filter(|(_, verdict)| !verdict.evidence().is_empty()).map(|(it, _)| it).collect();
    assert_eq!(violated, [Predicate::P1, Predicate::P3]);
    assert_eq!(verdicts.get(Predicate::WR).as_str(), "inconclusive");
    assert_eq!(verdicts.overall(&history, &[]), Overall::Violated);
}

/// One of each kind. A new kind is missing in `kinds_are_all_here` until it is here too.
fn one_of_each() -> Vec<EventKind> {
    let (client, call, grant, lock) = (ClientId(0), CallId(1), CallId(1), LockId(0));
    let (node, object, why) = (NodeId(0), ObjectId(0), String::new());
    let reading = Reading { wall_ns: 0, monotonic_ns: 0, boot_ns: 0 };
    let deadline = Some(Deadline { clock: ClockKind::Wall, reading_ns: 0 });
    let (fencing, based_on, highest_seen, version, value) = (None, None, None, 1, 1);
    vec![
        EventKind::AcquireStarted { client, call, lock },
        EventKind::Granted {
            client,
            grant,
            lock,
            token: String::new(),
            fencing,
            deadline,
            reading: Some(reading),
            within: None,
        },
        EventKind::Refused { client, call, why: why.clone() },
        EventKind::AcquireUnknown { client, call, why: why.clone() },
        EventKind::DeadlinePassed { client, grant },
        EventKind::ExpiryNoticed { client, grant },
        EventKind::Extended { client, grant, deadline },
        EventKind::ExtendFailed { client, grant, why: why.clone() },
        EventKind::ReleaseCalled { client, grant },
        EventKind::ReleaseReturned { client, grant, outcome: ReleaseOutcome::Released },
        EventKind::Died { client },
        EventKind::Restarted { client },
        EventKind::GaveUp { client, call },
        EventKind::Clocks { client, reading },
        EventKind::ReadDone { client, grant, object, version, value },
        EventKind::WriteSent { client, grant, object, based_on },
        EventKind::WriteApplied { client, grant, object, version, based_on, value, fencing },
        EventKind::WriteRefused { client, grant, object, why: why.clone(), fencing, highest_seen },
        EventKind::KeyTouched { client, node, lock, by: call, held: grant, op: KeyOp::Release },
        EventKind::Unattributed { node: Some(node), lock, why: why.clone() },
        EventKind::Inconclusive { why },
        EventKind::RunEnded { outcome: RunOutcome::Completed },
        EventKind::Abandoned { client, grant },
        EventKind::KeySet { node, lock, grant },
        EventKind::KeyGone { node, lock, grant, how: KeyEnd::Expired },
        EventKind::Struck { what: String::new(), node: Some(node) },
        EventKind::LossNotice { client, grant, notice: String::new(), recovered: true },
        EventKind::WriteLost { client, grant, object, version, acknowledged: true },
    ]
}

#[test]
fn every_event_has_a_row_with_its_fields_and_no_others() {
    let rows: Vec<Vec<&str>> =
        PAGE.lines().filter(|line| line.starts_with("| `")).map(|line| line.split('|').collect()).collect();
    let words =
        |cell: &str| -> BTreeSet<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let events = one_of_each();
    for what in &events {
        let Value::Object(mut fields) = serde_json::to_value(what).expect("JSON") else {
            panic!("an object")
        };
        let name = fields.remove("type").expect("a type");
        let name = format!("`{}`", name.as_str().expect("a text"));
        let row = rows
            .iter()
            .find(|row| row[1].trim() == name && row.len() == 5)
            .unwrap_or_else(|| panic!("no row for {name}"));
        assert_eq!(words(row[2]), fields.keys().cloned().collect(), "{name}");
    }
    let described = rows.iter().filter(|row| row.len() == 5 && row[1] != " `type` ").count();
    assert_eq!(described, events.len(), "a row for an event that is none");
}

/// The compiler refuses this match when a kind is added: then [`one_of_each`] lacks it.
#[test]
fn kinds_are_all_here() {
    let number = |what: &EventKind| match what {
        EventKind::AcquireStarted { .. } => 0,
        EventKind::Granted { .. } => 1,
        EventKind::Refused { .. } => 2,
        EventKind::AcquireUnknown { .. } => 3,
        EventKind::DeadlinePassed { .. } => 4,
        EventKind::ExpiryNoticed { .. } => 5,
        EventKind::Extended { .. } => 6,
        EventKind::ExtendFailed { .. } => 7,
        EventKind::ReleaseCalled { .. } => 8,
        EventKind::ReleaseReturned { .. } => 9,
        EventKind::Died { .. } => 10,
        EventKind::Restarted { .. } => 11,
        EventKind::GaveUp { .. } => 12,
        EventKind::Clocks { .. } => 13,
        EventKind::ReadDone { .. } => 14,
        EventKind::WriteSent { .. } => 15,
        EventKind::WriteApplied { .. } => 16,
        EventKind::WriteRefused { .. } => 17,
        EventKind::KeyTouched { .. } => 18,
        EventKind::Unattributed { .. } => 19,
        EventKind::Inconclusive { .. } => 20,
        EventKind::RunEnded { .. } => 21,
        EventKind::Abandoned { .. } => 22,
        EventKind::KeySet { .. } => 23,
        EventKind::KeyGone { .. } => 24,
        EventKind::Struck { .. } => 25,
        EventKind::LossNotice { .. } => 26,
        EventKind::WriteLost { .. } => 27,
    };
    let numbers: Vec<usize> = one_of_each().iter().map(number).collect();
    assert_eq!(numbers, (0..28).collect::<Vec<_>>());
}

#[test]
fn every_word_of_the_header_and_of_outcomes_is_explained() {
    let words: BTreeSet<&str> = PAGE.split('`').skip(1).step_by(2).collect();
    let watched = Header { keys_watched: true, error_ns: 1, ..Header::new("", 0, &[], &[]) };
    let Value::Object(header) = serde_json::to_value(watched).expect("JSON") else { panic!("an object") };
    let Value::Object(bounds) = header["bounds"].clone() else { panic!("an object") };
    let word = |value: Value| value.as_str().expect("a text").to_owned();
    let outcomes = [
        RunOutcome::Completed,
        RunOutcome::Stalled,
        RunOutcome::EventBudget,
        RunOutcome::TimeBudget,
        RunOutcome::MemoryBudget,
        RunOutcome::Halted,
    ];
    let releases = [ReleaseOutcome::Released, ReleaseOutcome::NotOwner, ReleaseOutcome::Unknown];
    let ops = [KeyOp::Release, KeyOp::Extend];
    let ends = [
        KeyEnd::Expired,
        KeyEnd::Deleted,
        KeyEnd::Overwritten,
        KeyEnd::Forgotten,
        KeyEnd::Flushed,
        KeyEnd::Evicted,
        KeyEnd::SessionEnded,
    ];
    let clocks = [ClockKind::Wall, ClockKind::Monotonic, ClockKind::Boot];
    let all = header
        .keys()
        .chain(bounds.keys())
        .cloned()
        .chain(outcomes.map(|it| word(serde_json::to_value(it).expect("JSON"))))
        .chain(ends.map(|it| word(serde_json::to_value(it).expect("JSON"))))
        .chain(releases.map(|it| word(serde_json::to_value(it).expect("JSON"))))
        .chain(ops.map(|it| word(serde_json::to_value(it).expect("JSON"))))
        .chain(clocks.map(|it| word(serde_json::to_value(it).expect("JSON"))));
    let missing: Vec<String> = all.filter(|word| !words.contains(word.as_str())).collect();
    assert!(missing.is_empty(), "the page does not say {missing:?}");
    assert!(PAGE.contains(&format!("version {}", Header::VERSION)));
}
