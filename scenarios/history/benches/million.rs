//! A million operations (half a million acquires and as many releases): how long each check takes, and reading
//! them from a file; then all checks on the history of one short run, as a sweep does it. Prints, asserts
//! nothing about time.
//!
//! Half a million grants of one lock among ten clients, each given back when the next is taken, with every
//! thousandth claim held too long: overlaps to find, but few.

#![expect(clippy::print_stdout, reason = "a benchmark's output is its purpose")]

use std::hint::black_box;
use std::time::Instant;

use doublehold_history::{
    Bounds, CallId, ClientId, EventKind, Header, History, LockId, ObjectId, Predicate, Reading, RunOutcome,
    TrueNs, check, judge,
};

const GRANTS: u64 = 500_000;

fn main() {
    let history = history(GRANTS);
    println!("{} events", history.events().len());
    for predicate in Predicate::ALL {
        let start = Instant::now();
        let verdict = check(predicate, &history);
        let (found, took) = (verdict.evidence().len(), start.elapsed());
        println!(
            "{predicate}  {:9.3} ms  {} ({found} pieces of evidence)",
            took.as_secs_f64() * 1e3,
            verdict.as_str()
        );
    }
    let mut file = Vec::new();
    let start = Instant::now();
    history.write_jsonl(&mut file).expect("a Vec takes everything");
    println!("write {:7.3} ms  {} MB", start.elapsed().as_secs_f64() * 1e3, file.len() / 1_000_000);
    let start = Instant::now();
    let read = History::read_jsonl(file.as_slice()).expect("we wrote it");
    println!("read  {:7.3} ms", start.elapsed().as_secs_f64() * 1e3);
    assert!(read == history, "what was written must be read back");
    one_run();
}

fn one_run() {
    const TIMES: u32 = 20_000;
    let history = history(10);
    let start = Instant::now();
    for _ in 0..TIMES {
        black_box(judge(black_box(&history)));
    }
    println!(
        "judge {:7.3} µs  {} events",
        start.elapsed().as_secs_f64() * 1e6 / f64::from(TIMES),
        history.events().len()
    );
}

fn history(grants: u64) -> History {
    let names: Vec<String> = (1..=10).map(|number| format!("c{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut header = Header::new("million", 1, &names, &["stock"]);
    header.objects = vec!["x".to_owned()];
    header.bounds =
        Bounds { obtain_within_ns: Some(1_000), obtain_free_within_ns: Some(1_000), ..Bounds::default() };
    let mut history = History::new(header);
    let (lock, object) = (LockId(0), ObjectId(0));
    let mut late = None;
    for number in 0..grants {
        let at = |offset: u64| TrueNs(number * 100 + offset);
        let (client, grant) = (ClientId((number % 10) as u32), CallId(number));
        let reading = Reading { wall_ns: at(1).0 as i64, monotonic_ns: at(1).0, boot_ns: at(1).0 };
        let token = format!("{number:040x}");
        history.push(at(0), EventKind::AcquireStarted { client, call: grant, lock });
        history.push(
            at(1),
            EventKind::Granted {
                client,
                grant,
                lock,
                token,
                fencing: None,
                deadline: None,
                reading: Some(reading),
                within: None,
            },
        );
        if let Some((client, grant)) = late.take() {
            history.push(at(2), EventKind::ReleaseCalled { client, grant });
        }
        history.push(at(3), EventKind::ReadDone { client, grant, object, version: number, value: number });
        let (version, based_on) = (number + 1, Some(number));
        history.push(
            at(4),
            EventKind::WriteApplied { client, grant, object, version, based_on, value: 0, fencing: None },
        );
        if number % 1_000 == 0 {
            late = Some((client, grant));
        } else {
            history.push(at(99), EventKind::ReleaseCalled { client, grant });
        }
    }
    history.push(TrueNs(grants * 100), EventKind::RunEnded { outcome: RunOutcome::Completed });
    history
}
