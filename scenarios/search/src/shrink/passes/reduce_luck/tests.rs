//! What may make a violation one of more seeds, against changes of the file's text.

use super::*;
use crate::shrink::edits::{assert_same, edit, rich};

#[test]
fn each_client_is_made_to_wait_for_each_other() {
    let starts = [
        ("clients.0.start", "c2's grant"),
        ("clients.0.start", "c2's acquire"),
        ("clients.1.start", "c1's grant"),
        ("clients.1.start", "c1's acquire"),
    ];
    assert_same(make_clients_wait(&rich()), starts.map(|(path, start)| edit(path, Some(start.into()))));
}

#[test]
fn each_length_of_a_fault_and_of_work_is_tried_as_the_next_longer_round_one() {
    let longer = [
        ("faults.0.for", "10s"),
        ("faults.1.for", "10s"),
        ("faults.2.by", "-50ms"),
        ("faults.3.for", "5s"),
        ("faults.3.by", "5/1000"),
        ("faults.5.for", "5s"),
        ("faults.6.for", "10s"),
        ("faults.6.by", "100ms"),
        ("clients.1.program.4", "work 5s"),
    ];
    assert_same(strengthen_faults(&rich()), longer.map(|(path, value)| edit(path, Some(value.into()))));
}
