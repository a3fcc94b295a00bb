//! `judge` of histories that a stranger wrote by hand: what nobody saw is no pass, on the terminal and in files for CI.

use crate::kit::{Ask, Folder};

/// The least header, and two clients who hold at once. Nobody recorded clocks, nodes, a resource or bounds.
const OVERLAP: &str = r#"{"version":3,"scenario":"shop","clients":["anna","bob"],"locks":["stock"]}
{"at":1000000,"type":"acquire_started","client":0,"call":1,"lock":0}
{"at":2000000,"type":"granted","client":0,"grant":1,"lock":0,"token":"2a"}
{"at":4000000,"type":"acquire_started","client":1,"call":2,"lock":0}
{"at":5000000,"type":"granted","client":1,"grant":2,"lock":0,"token":"2b"}
{"at":6000000,"type":"release_called","client":0,"grant":1}
{"at":7000000,"type":"release_called","client":1,"grant":2}
{"at":9000000,"type":"run_ended","outcome":"completed"}
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("overlap.jsonl", OVERLAP);
    let alone: String = OVERLAP
        .lines()
        .filter(|line| !line.contains(r#""client":1"#))
        .map(|line| format!("{line}\n"))
        .collect();
    folder.write("alone.jsonl", alone);
    let empty: String = OVERLAP
        .lines()
        .filter(|line| !line.contains(r#""client":"#))
        .map(|line| format!("{line}\n"))
        .collect();
    folder.write("empty.jsonl", empty);
    folder
}

#[test]
fn a_history_in_which_nobody_was_granted_the_lock_is_no_pass() {
    let folder = folder();
    let told = folder.doublehold(&["judge", "empty.jsonl"]).prints(3);
    assert!(told.contains("nobody was granted the lock") && !told.contains("holds"), "{told}");
    folder.doublehold(&["judge", "alone.jsonl"]).prints(0);
    folder.doublehold(&["judge", "overlap.jsonl"]).prints(1);
}

/// P1 was seen, P3 was not, and of WR nobody knows.
#[test]
fn the_exit_status_is_about_the_predicates_that_were_asked_for() {
    let folder = folder();
    let judge =
        |history: &str, predicates: &str| folder.doublehold(&["judge", history, "--predicate", predicates]);
    judge("alone.jsonl", "P1").prints(0);
    judge("overlap.jsonl", "P1").prints(1);
    judge("overlap.jsonl", "P3").prints(3);
    for predicates in ["P3", "P1,P3", "P4", "WR", "LV"] {
        let told = judge("alone.jsonl", predicates).prints(3);
        let about = predicates.replace(',', " and ");
        assert!(told.contains(&format!("asked about {about}: INCONCLUSIVE")), "{told}");
    }
}

#[test]
fn ci_is_told_that_what_nobody_saw_was_skipped() {
    let folder = folder();
    folder
        .doublehold(&[
            "judge",
            "overlap.jsonl",
            "--junit",
            "it.xml",
            "--markdown",
            "it.md",
            "--timeline",
            "it.svg",
        ])
        .prints(1);
    let xml = folder.read("it.xml");
    assert!(xml.contains(r#"tests="6" skipped="4" failures="2""#), "{xml}");
    assert!(
        xml.contains(r#"<skipped message="inconclusive: nothing was read or written under the lock"/>"#),
        "{xml}"
    );
    let page = folder.read("it.md");
    assert!(page.contains("| P1 claim overlap | violated | anna and bob both held"), "{page}");
    assert!(
        page.contains("| P4 data anomaly | skipped | nothing was read or written under the lock |"),
        "{page}"
    );
    let drawn = folder.read("it.svg");
    assert!(drawn.contains("hold: 1 ms, from 0.005 s to 0.006 s") && drawn.contains("anna"), "{drawn}");
    let asked = ["judge", "alone.jsonl", "--predicate", "P1", "--junit", "asked.xml"];
    folder.doublehold(&asked).prints(0);
    assert!(folder.read("asked.xml").contains(r#"tests="1" skipped="0" failures="0""#));
}

#[test]
fn no_result_is_written_over_the_history_or_another_result() {
    let folder = folder();
    for files in [["--junit", "overlap.jsonl", "--markdown", "it.md"], ["--junit", "it", "--markdown", "it"]]
    {
        let refused = folder.doublehold(&[&["judge", "overlap.jsonl"], &files[..]].concat()).ends(2).stderr;
        assert!(refused.contains("have the same file"), "{refused}");
    }
    assert_eq!(folder.read("overlap.jsonl"), OVERLAP);
}
