//! Histories as files: what is written is read back, and what is no history is refused with its line.

use doublehold_history::{History, judge};
use proptest::prelude::*;

use crate::random::{cases, histories};

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn a_written_history_is_read_back_equal(history in histories(60)) {
        let mut file = Vec::new();
        history.write_jsonl(&mut file).expect("a Vec takes everything");
        let read = History::read_jsonl(file.as_slice()).expect("we wrote it");
        prop_assert_eq!(&read, &history);
    }

    #[test]
    fn no_file_makes_reading_or_judging_panic(history in histories(30), cut in any::<prop::sample::Index>(), byte: u8) {
        let mut file = Vec::new();
        history.write_jsonl(&mut file).expect("a Vec takes everything");
        let cut = cut.index(file.len());
        file[cut] = byte;
        if let Ok(read) = History::read_jsonl(file.as_slice()) {
            prop_assert_eq!(judge(&read).iter().count(), 6);
        }
        file.truncate(cut);
        if let Ok(read) = History::read_jsonl(file.as_slice()) {
            prop_assert!(read.events().len() <= history.events().len());
        }
    }
}

const HEADER: &str = r#"{"version":3,"scenario":"s","seed":7,"clients":["c1","c2"],"nodes":["A"],"locks":["stock"],"objects":["x"],"bounds":{"obtain_within_ns":null,"obtain_free_within_ns":null}}"#;
const STARTED: &str = r#"{"at":5,"type":"acquire_started","client":0,"call":1,"lock":0}"#;

fn refusal(file: impl AsRef<[u8]>) -> String {
    History::read_jsonl(file.as_ref()).expect_err("this is no history").to_string()
}

#[test]
fn a_file_that_is_no_history_is_refused_with_line_and_cause() {
    let cases = [
        ("", "the history is empty: its first line must be a header"),
        ("\n", "line 1, column 0: not a history's header: EOF while parsing a value"),
        (
            "[]",
            "line 1, column 2: not a history's header: invalid length 0, expected struct Versioned with 1 element",
        ),
        (
            r#"{"version":1,"anything":0}"#,
            "line 1: the history has version 1, this program reads version 3: record it again",
        ),
        (r#"{"version":3}"#, "line 1, column 13: not a history's header: missing field `scenario`"),
    ];
    for (file, expected) in cases {
        assert_eq!(refusal(file), expected, "for {file:?}");
    }
}

#[test]
fn an_event_that_cannot_be_is_refused_with_line_and_cause() {
    let granted = r#"{"at":6,"type":"granted","client":0,"grant":1,"lock":0,"token":"2a","fencing":null,"deadline":null,"reading":{"wall_ns":0,"monotonic_ns":0,"boot_ns":0}}"#;
    let applied = r#"{"at":7,"type":"write_applied","client":0,"grant":1,"object":0,"version":1,"based_on":0,"value":3,"fencing":null}"#;
    let ended = r#"{"at":9,"type":"run_ended","outcome":"completed"}"#;
    let cases: [(&[&str], &str); 13] = [
        (&[&STARTED[..30]], "line 2, column 30: not an event: EOF while parsing a string"),
        (
            &[r#"{"at":5,"type":"acquired"}"#],
            "line 2, column 26: not an event: unknown variant `acquired`, expected one of",
        ),
        (&[r#"{"at":5,"type":"died","client":0,"cause":"x"}"#], "unknown field `cause`"),
        (
            &[r#"{"at":-5,"type":"died","client":0}"#],
            "line 2, column 8: not an event: invalid value: integer `-5`",
        ),
        (
            &[STARTED, r#"{"at":5,"type":"died","client":2}"#],
            "line 3: unknown client 2: the header names 2 of them, counted from 0",
        ),
        (
            &[STARTED, r#"{"at":4,"type":"died","client":0}"#],
            "line 3: `at` is 4, but the line before has 5: sort the events by `at`",
        ),
        (&[STARTED, STARTED], "line 3: grant 1 is started twice: every acquire call has its own id"),
        (&[granted], "line 2: grant 1 was never started: record `acquire_started` first"),
        (&[STARTED, granted, granted], "line 4: grant 1 is granted twice"),
        (
            &[STARTED, r#"{"at":6,"type":"gave_up","client":1,"call":1}"#],
            "line 3: grant 1 was started by client 0, not by client 1",
        ),
        (
            &[
                STARTED,
                r#"{"at":6,"type":"key_touched","client":0,"node":0,"lock":0,"by":1,"held":2,"op":"release"}"#,
            ],
            "line 3: grant 2 was never started",
        ),
        (&[STARTED, applied, applied], "line 4: object `x` gets version 1 twice"),
        (&[ended, ended], "line 3: an event after `run_ended`: it must be the last line"),
    ];
    for (lines, expected) in cases {
        let found = refusal(format!("{HEADER}\n{}\n", lines.join("\n")));
        assert!(found.contains(expected), "{found}\n   should say: {expected}");
    }
}

#[test]
fn a_header_says_that_keys_were_watched_or_nothing_of_it() {
    let says = format!("{},\"keys_watched\":true}}", HEADER.strip_suffix('}').expect("an object"));
    for (header, watched) in [(HEADER, false), (&says, true)] {
        let file = format!("{header}\n");
        let history = History::read_jsonl(file.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(history.header().keys_watched, watched);
        let mut written = Vec::new();
        history.write_jsonl(&mut written).expect("a Vec takes everything");
        assert_eq!(String::from_utf8(written).expect("JSON"), file);
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let mut file = format!("{HEADER}\n").into_bytes();
    file.extend([0xff, b'\n']);
    assert_eq!(refusal(file), "line 2: not UTF-8: a history is JSON text, one object a line");
}

#[test]
fn a_line_without_end_is_refused_without_being_read_whole() {
    /// A gigabyte of spaces, of which little is read.
    struct Endless(u64);
    impl std::io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            buffer.fill(b' ');
            self.0 += buffer.len() as u64;
            assert!(self.0 < 4 << 20, "the line should have been given up by now");
            Ok(buffer.len())
        }
    }
    let refused = History::read_jsonl(std::io::BufReader::new(Endless(0))).expect_err("this is no history");
    assert_eq!(refused.to_string(), "line 1: longer than 1048576 bytes: a history has one object a line");
}

#[test]
fn a_history_cut_between_lines_is_read_and_nothing_holds_in_it() {
    let history = History::read_jsonl(format!("{HEADER}\n{STARTED}\n").as_bytes()).expect("whole lines");
    for (predicate, verdict) in judge(&history).iter() {
        assert_eq!(verdict.as_str(), "inconclusive", "{predicate}");
    }
}
