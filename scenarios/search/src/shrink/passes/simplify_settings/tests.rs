//! Every plainer value that is proposed, against changes of the file's text.

use doublehold_scenarios::format::Source;
use doublehold_scenarios::{LeanEngine, Prepared};

use super::*;
use crate::shrink::edits::{assert_same, edit, rich};

fn text(path: &str, value: &str) -> Scenario {
    edit(path, Some(value.into()))
}

#[test]
fn each_law_is_tried_at_its_middle_and_its_ends_and_what_is_fixed_stays() {
    let expected = [
        // The middle of a log-normal law is its median; of others the mean of both ends, to two digits.
        ("network.delay", "1200us"),
        ("network.links.1.delay", "15ms"),
        ("network.links.1.delay", "10ms"),
        ("network.links.1.delay", "20ms"),
        ("nodes.fsync_time", "2500us"),
        ("nodes.fsync_time", "1ms"),
        ("nodes.fsync_time", "4ms"),
        ("clients.0.retry", "210ms"),
        ("clients.0.retry", "100ms"),
        ("clients.0.retry", "333ms"),
        ("clients.0.program.2", "work 770ms"),
        ("clients.0.program.2", "work 50ms"),
        ("clients.0.program.2", "work 1500ms"),
    ];
    // The second says nothing, and waits for up to 200 ms.
    let of_c2 = ["0s", "100ms", "200ms"].map(|retry| text("clients.1.retry", retry));
    let expected = expected.into_iter().map(|(path, value)| text(path, value));
    assert_same(fix_laws(&rich()), expected.chain(of_c2));
}

#[test]
fn a_law_whose_middle_is_its_end_is_tried_twice() {
    let narrow = edit("network.delay", Some("10ms..10100us".into()));
    let of_delay = |candidate: &Candidate| {
        let Candidate::Whole(scenario) = candidate else { panic!("no fault was changed") };
        scenario.link.delay != narrow.link.delay
    };
    assert_eq!(fix_laws(&narrow).iter().filter(|candidate| of_delay(candidate)).count(), 2);
}

#[test]
fn each_setting_is_left_out_once() {
    assert_same(
        remove_settings(&rich()),
        [
            text("network.loss", "0/1"),
            edit("nodes.command_time.B", None),
            edit("network.links.0", None),
            text("network.links.1.loss", "0/1"),
            edit("network.links.1", None),
            edit("network.links.2", None),
            edit("clients.1.ttl", None),
            edit("clients.1.start", None),
        ],
    );
}

#[test]
fn what_is_said_of_replicas_is_left_out_once() {
    let read = |nodes: &str| {
        let text = format!(
            "claim = 'a master is watched'\nlock = {{ algorithm = 'single', ttl = '2s' }}\nsentinels = {{}}\n\
             nodes = {{ names = ['A', 'B'], master = 'A', {nodes} }}\n\
             clients = [{{ name = 'c1', program = ['acquire', 'release'] }}]"
        );
        Source { name: "watched".into(), file: "watched.toml".into(), text, ..Source::default() }
            .read()
            .unwrap()
    };
    assert_same(
        remove_settings(&read("replica_serve_stale_data = false, replica_priority = { B = 10, others = 7 }")),
        [
            read("replica_priority = { B = 10, others = 7 }"),
            read("replica_serve_stale_data = false, replica_priority = 7"),
        ],
    );
}

#[test]
fn a_loss_is_tried_as_always_and_as_one_in_two_where_it_is_no_better() {
    assert_same(
        raise_chances(&rich()),
        [
            text("faults.1.probability", "1/1"),
            text("faults.1.probability", "1/2"),
            text("faults.4.probability", "1/1"),
        ],
    );
}

/// What has no end in the run may have none in the file, but for a stop: a process that never goes on is dead.
#[test]
fn only_what_is_not_over_is_for_good() {
    let run = LeanEngine.prepare(&rich()).expect("it can be run").run(1);
    let lasts = |place: usize| {
        let report = &run.faults[place];
        report.from.is_some() && report.until.is_none()
    };
    assert_same(
        remove_ends(&rich(), &run),
        [1, 3, 5, 6].into_iter().filter(|place| lasts(*place)).map(without_end),
    );
    let mut over = run.clone();
    over.faults.iter_mut().for_each(|report| (report.from, report.until) = (Some(report_start()), None));
    assert_same(remove_ends(&rich(), &over), [1, 3, 5, 6].map(without_end));
    over.faults.iter_mut().for_each(|report| report.until = Some(report_start()));
    assert_same(remove_ends(&rich(), &over), []);
    over.faults.iter_mut().for_each(|report| (report.from, report.until) = (None, None));
    assert_same(remove_ends(&rich(), &over), []);
}

fn without_end(fault: usize) -> Scenario {
    edit(&format!("faults.{fault}.for"), None)
}

fn report_start() -> doublehold_history::TrueNs {
    doublehold_history::TrueNs(1)
}
