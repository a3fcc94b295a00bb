//! The disk's claims: what a crash keeps, what a power loss leaves, and what an fsync covers.

use doublehold_sim::{DelayLaw, Event, Fault, Host, HostId, HostSpec};

use crate::story::{Story, ms};

/// What a second process finds in `file` when the first one did `first`, and the host then lost power (or crashed) at
/// 100 ms and came back. An fsync takes 10 ms.
fn left_by<F>(fault: impl Fn(HostId) -> Vec<Fault>, first: impl Fn(Host) -> F + 'static) -> String
where
    F: Future<Output = ()> + Send + 'static,
{
    left_with_seed(1, fault, first)
}

fn left_with_seed<F>(
    seed: u64,
    fault: impl Fn(HostId) -> Vec<Fault>,
    first: impl Fn(Host) -> F + 'static,
) -> String
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut story = Story::seeded(seed, crate::story::link(1));
    let found = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let find = found.clone();
    let spec = HostSpec { fsync_time: DelayLaw::Fixed(ms(10)), ..HostSpec::new("node") };
    let host = story.world.add_host(spec.essential(), move |host| {
        let (find, first) = (find.clone(), (host.clocks().wall.0 == 0).then(|| first(host.clone())));
        async move {
            match first {
                Some(first) => {
                    first.await;
                    std::future::pending().await
                }
                None => {
                    *find.lock().expect("no panic") = String::from_utf8_lossy(&host.read_file("file")).into()
                }
            }
        }
    });
    let trigger = doublehold_sim::Trigger::At(doublehold_sim::SimTime::ZERO.after(ms(100)));
    story.plan(trigger, fault(host), None);
    story.at(200, Fault::Start { host });
    story.run();
    found.lock().expect("no panic").clone()
}

fn crash(host: HostId) -> Vec<Fault> {
    vec![Fault::Crash { host }]
}

fn power_loss(host: HostId) -> Vec<Fault> {
    vec![Fault::LosePower { host, torn_tail: false }]
}

fn torn(host: HostId) -> Vec<Fault> {
    vec![Fault::LosePower { host, torn_tail: true }]
}

#[test]
fn a_crash_keeps_what_was_written() {
    assert_eq!(left_by(crash, |host| async move { host.append("file", b"written") }), "written");
}

#[test]
fn a_power_loss_leaves_what_was_synced() {
    let left = left_by(power_loss, |host| async move {
        host.append("file", b"synced,");
        host.fsync("file").await;
        host.append("file", b"written");
    });
    assert_eq!(left, "synced,");
}

#[test]
fn a_file_never_synced_is_empty_after_a_power_loss() {
    assert_eq!(left_by(power_loss, |host| async move { host.append("file", b"written") }), "");
}

#[test]
fn an_fsync_covers_what_was_written_before_it_began_and_no_later_bytes() {
    let left = left_by(power_loss, |host| async move {
        host.append("file", b"before,");
        let writer = host.clone();
        host.spawn(async move {
            writer.sleep(ms(5)).await; // the fsync takes 10 ms
            writer.append("file", b"meanwhile");
        });
        host.fsync("file").await;
    });
    assert_eq!(left, "before,");
}

#[test]
fn an_fsync_that_is_not_done_when_the_power_goes_covers_nothing() {
    for (begins, left) in [(89, "synced"), (91, "")] {
        let found = left_by(power_loss, move |host| async move {
            host.append("file", b"synced");
            host.sleep(ms(begins)).await;
            host.fsync("file").await;
        });
        assert_eq!(found, left, "begun at {begins} ms");
    }
}

#[test]
fn an_fsync_that_a_power_loss_interrupted_covers_nothing_of_the_next_process() {
    let mut story = Story::new();
    let spec = HostSpec { fsync_time: DelayLaw::Fixed(ms(100)), ..HostSpec::new("node") };
    let log = story.log();
    let host = story.world.add_host(spec.essential(), move |host| {
        let log = log.clone();
        async move {
            log.say(format!("{:?}", String::from_utf8_lossy(&host.read_file("file"))));
            match host.clocks().wall.0 / 1_000_000 {
                0 => {
                    host.append("file", b"one");
                    host.fsync("file").await; // until 100 ms
                }
                60 => {
                    host.append("file", b"two");
                    std::future::pending().await
                }
                _ => {}
            }
        }
    });
    story.during(50, 60, Fault::LosePower { host, torn_tail: false });
    story.during(150, 200, Fault::LosePower { host, torn_tail: false });
    story.tells(&["0ms \"\"", "60ms \"\"", "200ms \"\""]);
}

#[test]
fn an_fsync_under_way_when_the_process_crashes_still_completes() {
    for (power_goes, expected) in [(105, "200ms \"\""), (115, "200ms \"x\"")] {
        let mut story = Story::new();
        let spec = HostSpec { fsync_time: DelayLaw::Fixed(ms(10)), ..HostSpec::new("node") };
        let log = story.log();
        let host = story.world.add_host(spec.essential(), move |host| {
            let log = log.clone();
            async move {
                if host.clocks().wall.0 > 0 {
                    return log.say(format!("{:?}", String::from_utf8_lossy(&host.read_file("file"))));
                }
                host.append("file", b"x");
                host.sleep(ms(100)).await;
                host.fsync("file").await;
            }
        });
        story.at(102, Fault::Crash { host });
        story.at(power_goes, Fault::LosePower { host, torn_tail: false });
        story.at(200, Fault::Start { host });
        story.tells(&[expected]);
    }
}

#[test]
fn a_torn_tail_is_a_prefix_of_what_was_not_synced_and_every_length_occurs() {
    let mut lengths = std::collections::BTreeSet::new();
    for seed in 0..60 {
        let left = left_with_seed(seed, torn, |host| async move {
            host.append("file", b"ab");
            host.fsync("file").await;
            host.append("file", b"cdef");
        });
        assert!(left.len() >= 2 && "abcdef".starts_with(&left), "{left:?}");
        lengths.insert(left.len());
    }
    assert_eq!(Vec::from_iter(lengths), [2, 3, 4, 5, 6]);
}

#[test]
fn a_lying_fsync_makes_nothing_durable() {
    let mut story = Story::new();
    let host = story.essential("node", |host, log| async move {
        if host.clocks().wall.0 > 0 {
            return log.say(String::from_utf8_lossy(&host.read_file("file")));
        }
        host.append("file", b"honest,");
        host.fsync("file").await;
        host.sleep(ms(50)).await;
        host.append("file", b"lost");
        host.fsync("file").await;
        log.say("synced");
        std::future::pending().await
    });
    story.at(20, Fault::LieOnFsync { host });
    story.at(100, Fault::LosePower { host, torn_tail: false });
    story.at(200, Fault::Start { host });
    story.tells(&["52ms synced", "200ms honest,"]);
}

#[test]
fn a_rolled_back_disk_is_the_snapshot_and_survives_the_next_power_loss() {
    let mut story = Story::new();
    let host = story.essential("node", |host, log| async move {
        log.say(String::from_utf8_lossy(&host.read_file("file")));
        if host.clocks().wall.0 >= 300_000_000 {
            return;
        }
        host.append("file", b"x");
        host.sleep(ms(50)).await;
        host.append("file", b"y");
        host.fsync("file").await;
        std::future::pending().await
    });
    story.at(20, Fault::SnapshotDisk { host });
    story.at(100, Fault::Crash { host });
    story.at(110, Fault::RollBackDisk { host });
    story.at(200, Fault::Start { host });
    story.at(210, Fault::LosePower { host, torn_tail: false });
    story.at(300, Fault::Start { host });
    story.tells(&["0ms ", "200ms x", "300ms x"]);
}

#[test]
fn without_a_snapshot_a_roll_back_empties_the_disk() {
    let roll_back = |host| vec![Fault::Crash { host }, Fault::RollBackDisk { host }];
    assert_eq!(left_by(roll_back, |host| async move { host.append("file", b"x") }), "");
}

#[test]
fn a_replaced_file_is_the_old_or_the_new_and_never_a_mixture() {
    let replace = |sync_after: bool| {
        left_by(torn, move |host| async move {
            host.append("file", b"the old content");
            host.fsync("file").await;
            host.replace("file", b"NEW");
            if sync_after {
                host.fsync("file").await;
            }
        })
    };
    assert_eq!(replace(false), "the old content");
    assert_eq!(replace(true), "NEW");
}

#[test]
fn a_file_that_a_replacement_made_is_not_torn() {
    for seed in 0..20 {
        let left = left_with_seed(seed, torn, |host| async move { host.replace("file", b"whole") });
        assert_eq!(left, "", "nothing was there before, and no fsync ended");
    }
}

#[test]
fn an_fsync_begun_before_a_replacement_does_not_cover_it() {
    let left = left_by(power_loss, |host| async move {
        host.append("file", b"old");
        host.fsync("file").await;
        let writer = host.clone();
        host.spawn(async move {
            writer.sleep(ms(5)).await;
            writer.replace("file", b"new and longer");
        });
        host.fsync("file").await;
    });
    assert_eq!(left, "old");
}

#[test]
fn an_fsync_begun_before_a_truncation_does_not_cover_what_follows_it() {
    let left = left_by(power_loss, |host| async move {
        host.append("file", b"0123456789");
        let writer = host.clone();
        host.spawn(async move {
            writer.sleep(ms(5)).await;
            writer.truncate("file", 4);
            writer.append("file", b"abcdef");
        });
        host.fsync("file").await;
    });
    assert_eq!(left, "0123");
}

#[test]
fn of_two_overlapping_fsyncs_the_earlier_takes_nothing_back() {
    let left = left_by(power_loss, |host| async move {
        host.append("file", b"a");
        let other = host.clone();
        host.spawn(async move {
            other.append("file", b"b");
            other.fsync("file").await;
        });
        host.fsync("file").await;
        host.sleep(ms(20)).await;
    });
    assert_eq!(left, "ab");
}

#[test]
fn a_truncation_counts_once_it_is_synced() {
    for (sync, expected) in [(false, "long"), (true, "lo")] {
        let left = left_by(power_loss, move |host| async move {
            host.append("file", b"long");
            host.fsync("file").await;
            host.truncate("file", 2);
            if sync {
                host.fsync("file").await;
            }
        });
        assert_eq!(left, expected);
    }
}

#[test]
fn giving_up_on_an_fsync_does_not_recall_it() {
    let left = left_by(power_loss, |host| async move {
        host.append("file", b"x");
        let soon = host.clocks().monotonic.after(ms(1));
        assert!(host.race(host.fsync("file"), soon).await.is_err());
    });
    assert_eq!(left, "x");
}

#[test]
fn an_fsync_reports_how_much_is_durable() {
    let mut story = Story::new();
    story.essential("node", |host, _| async move {
        host.append("file", b"12345");
        host.fsync("file").await;
    });
    story.run();
    let synced = story.world.take_trace().into_iter().find_map(|record| match record.event {
        Event::Synced { durable, .. } => Some((record.at.0, durable)),
        _ => None,
    });
    assert_eq!(synced, Some((1_000_000, 5)));
}
