//! Small histories with a story: the rules at their edges, and evidence as a reader sees it.

use doublehold_history::{
    CallId, ClientId, EventKind, Evidence, Header, History, KeyOp, NodeId, ObjectId, Overall, Predicate,
    RunOutcome, Verdict, check, judge,
};

use crate::story::{C1, C2, C3, STOCK, Story, X};

fn verdicts(history: &History) -> Vec<&'static str> {
    judge(history).iter().map(|(_, verdict)| verdict.as_str()).collect()
}

fn words(predicate: Predicate, history: &History) -> Vec<String> {
    check(predicate, history).evidence().iter().map(|it| it.sentence(history.header())).collect()
}

fn intervals(predicate: Predicate, history: &History) -> Vec<(u64, u64)> {
    let interval = |evidence: &Evidence| match evidence {
        Evidence::Overlap(it) => (it.from.0 / 1_000_000, it.to.0 / 1_000_000),
        other => panic!("not an overlap: {other:?}"),
    };
    check(predicate, history).evidence().iter().map(interval).collect()
}

#[test]
fn a_holder_paused_between_check_and_write_breaks_everything_but_its_deadline() {
    // c1  [== check |--- paused ---------------| write ]
    // c2                   [== read, write ==============]
    let history = Story::new()
        .granted_until(2_000, (C1, 1), Some(111_890))
        .reads(2_010, (C1, 1), X, 0)
        .deadline_passes(11_890, (C1, 1))
        .clocks(12_031, C1)
        .granted_until(12_031, (C2, 2), Some(121_921))
        .reads(12_040, (C2, 2), X, 0)
        .writes(12_050, (C2, 2), X, 1, Some(0))
        .writes(18_842, (C1, 1), X, 2, Some(0))
        .clocks(18_843, C1)
        .clocks(18_843, C2)
        .releases(18_843, (C1, 1))
        .releases(19_000, (C2, 2))
        .completes(20_000);

    assert_eq!(verdicts(&history), ["violated", "holds", "violated", "violated", "holds", "inconclusive"]);
    assert_eq!(
        words(Predicate::P1, &history),
        [
            r#"c1 and c2 both held "stock" for 6.812 s of true time, from 12.031 s to 18.843 s; on c1's monotonic clock from 112.031 s to 118.843 s; on c2's monotonic clock from 112.031 s to 118.843 s"#
        ]
    );
    assert_eq!(
        words(Predicate::P3, &history),
        [
            r#"c1's write of "x" (version 2) was applied at 18.842 s, 6.811 s after c2 had been granted "stock" at 12.031 s; c1 wrote under its grant of 2.000 s"#
        ]
    );
    assert_eq!(
        words(Predicate::P4, &history),
        [
            r#"lost update on "x": c1 (grant 1) read version 0, c2 (grant 2) wrote version 1, and c1 overwrote it with version 2 without having seen it"#
        ]
    );
}

#[test]
fn a_release_that_deletes_the_next_holders_key_lets_a_third_in() {
    let delete = EventKind::KeyTouched {
        client: C1,
        node: NodeId(0),
        lock: STOCK,
        by: CallId(1),
        held: CallId(2),
        op: KeyOp::Release,
    };
    let history = Story::new()
        .waits(0, (C1, 1))
        .granted(1, (C1, 1))
        .waits(2, (C2, 2))
        .granted(30_001, (C2, 2))
        .releases(35_000, (C1, 1))
        .at(35_001, delete)
        .granted(35_002, (C3, 3))
        .releases(40_001, (C2, 2))
        .releases(41_000, (C3, 3))
        .completes(50_000);
    assert_eq!(intervals(Predicate::P1, &history), [(30_001, 35_000), (35_002, 40_001)]);
    assert_eq!(
        words(Predicate::WR, &history),
        [
            r#"c1's release of grant 1 deleted the key of "stock" on A at 35.001 s, while it held the token of c2 (grant 2)"#
        ]
    );
}

#[test]
fn a_key_deleted_while_cleaning_up_after_a_failed_attempt_is_not_blamed_on_a_grant() {
    let by = |by| EventKind::KeyTouched {
        client: C2,
        node: NodeId(0),
        lock: STOCK,
        by: CallId(by),
        held: CallId(1),
        op: KeyOp::Release,
    };
    let history =
        Story::new().waits(0, (C1, 1)).granted(1, (C1, 1)).waits(2, (C2, 2)).at(3, by(2)).completes(9);
    assert_eq!(
        words(Predicate::WR, &history),
        [
            r#"c2's cleaning up after attempt 2, which was not granted, deleted the key of "stock" on A at 0.003 s, while it held the token of c1 (grant 1)"#
        ]
    );
}

#[test]
fn a_key_deleted_before_the_call_was_granted_is_not_blamed_on_the_release_of_its_grant() {
    let delete = EventKind::KeyTouched {
        client: C2,
        node: NodeId(0),
        lock: STOCK,
        by: CallId(2),
        held: CallId(1),
        op: KeyOp::Release,
    };
    let history = Story::new()
        .waits(0, (C1, 1))
        .granted(1, (C1, 1))
        .waits(2, (C2, 2))
        .at(3, delete)
        .granted(4, (C2, 2))
        .completes(9);
    assert_eq!(
        words(Predicate::WR, &history),
        [
            r#"c2's acquire call 2, cleaning up after an attempt, deleted the key of "stock" on A at 0.003 s, while it held the token of c1 (grant 1)"#
        ]
    );
}

#[test]
fn a_change_of_a_key_that_nobody_can_attribute_makes_wr_inconclusive_and_nothing_else() {
    let why = "nobody knows".to_owned();
    let history = Story::bound(9_000)
        .granted(0, (C1, 1))
        .at(5, EventKind::Unattributed { node: Some(NodeId(0)), lock: STOCK, why: why.clone() })
        .completes(9);
    assert_eq!(judge(&history).get(Predicate::WR), &Verdict::Inconclusive(why));
    assert_eq!(
        verdicts(&history),
        ["holds", "holds", "inconclusive", "inconclusive", "inconclusive", "holds"]
    );
}

/// Nothing was granted; granted, and nothing read or written; and both.
#[test]
fn what_nobody_saw_is_not_said_to_hold() {
    let doubts = |history: &History| -> Vec<Option<String>> {
        let verdicts = judge(history);
        verdicts.iter().map(|(_, verdict)| verdict.doubt().map(str::to_owned)).collect()
    };
    let watched = || {
        let mut header = Story::bound(9_000).0.header().clone();
        header.keys_watched = true;
        Story(History::new(header))
    };
    let [nobody, nothing] = ["nobody was granted the lock", "nothing was read or written under the lock"];
    let [nobody, nothing] = [nobody, nothing].map(|why| Some(why.to_owned()));
    let quiet = watched().completes(9);
    assert_eq!(doubts(&quiet), [nobody.clone(), nobody.clone(), nobody.clone(), nobody, None, None]);
    assert_eq!(judge(&quiet).overall(&quiet, &[]), Overall::Inconclusive, "it shows nothing");
    assert_eq!(judge(&quiet).overall(&quiet, &[Predicate::WR]), Overall::Holds, "that is seen");
    let granted = watched().waits(0, (C1, 1)).granted(0, (C1, 1)).releases(5, (C1, 1)).completes(9);
    assert_eq!(doubts(&granted), [None, None, nothing.clone(), nothing, None, None]);
    assert_eq!(judge(&granted).overall(&granted, &[]), Overall::Holds, "nobody asked about data");
    assert_eq!(judge(&granted).overall(&granted, &[Predicate::P3]), Overall::Inconclusive);
    assert_eq!(judge(&granted).overall(&granted, &[Predicate::P1]), Overall::Holds);
    // What was cut short is that, whatever was seen.
    let cut = watched().0;
    assert!(doubts(&cut).iter().all(|why| why.as_deref().is_some_and(|why| why.contains("cut short"))));
}

#[test]
fn a_history_whose_nodes_nobody_watched_says_nothing_about_their_keys() {
    let story = |watched| {
        let mut header = Story::bound(9_000).0.header().clone();
        header.keys_watched = watched;
        Story(History::new(header)).waits(0, (C1, 1)).granted(0, (C1, 1)).releases(5, (C1, 1))
    };
    let unseen = story(false).completes(9);
    let why = "nobody watched the keys of nodes: clients of `doublehold serve` need names, by CLIENT SETNAME, \
               and a lock that is a string; a record of your own needs `key_touched` whenever a release or an \
               extension changes a key, and say `\"keys_watched\":true` in the header";
    assert_eq!(judge(&unseen).get(Predicate::WR), &Verdict::Inconclusive(why.to_owned()));
    assert_eq!(
        verdicts(&unseen),
        ["holds", "holds", "inconclusive", "inconclusive", "inconclusive", "holds"]
    );
    assert_eq!(judge(&unseen).overall(&unseen, &[]), Overall::Holds, "nobody promised to watch");
    assert_eq!(judge(&story(true).completes(9)).get(Predicate::WR), &Verdict::Holds);

    // Written before the header said so: somebody saw a key.
    let (client, node, op) = (C1, NodeId(0), KeyOp::Release);
    let touch =
        |held| EventKind::KeyTouched { client, node, lock: STOCK, by: CallId(1), held: CallId(held), op };
    assert_eq!(
        verdicts(&story(false).at(6, touch(1)).completes(9)),
        ["holds", "holds", "inconclusive", "inconclusive", "holds", "holds"]
    );
    let wrong = story(false).at(6, touch(2)).completes(9);
    assert_eq!(judge(&wrong).get(Predicate::WR).as_str(), "violated");
}

#[test]
fn a_release_and_a_grant_at_one_instant_do_not_overlap_in_either_order() {
    let grant_first = Story::new().granted(0, (C1, 1)).granted(5, (C2, 2)).releases(5, (C1, 1)).completes(9);
    let release_first =
        Story::new().granted(0, (C1, 1)).releases(5, (C1, 1)).granted(5, (C2, 2)).completes(9);
    assert_eq!(check(Predicate::P1, &grant_first), Verdict::Holds);
    assert_eq!(check(Predicate::P1, &release_first), Verdict::Holds);
}

#[test]
fn a_claim_given_back_at_once_overlaps_one_that_it_lies_strictly_inside_of() {
    let history = Story::new()
        .granted(0, (C1, 1))
        .clocks(5, C1)
        .granted(5, (C2, 2))
        .releases(5, (C2, 2))
        .releases(8, (C1, 1))
        .completes(9);
    assert_eq!(intervals(Predicate::P1, &history), [(5, 5)]);
    assert_eq!(intervals(Predicate::P2, &history), [(5, 5)]);
    assert_eq!(
        words(Predicate::P1, &history),
        [
            r#"c1 and c2 both held "stock" at 0.005 s of true time, and only then; on c1's monotonic clock at 100.005 s; on c2's monotonic clock at 100.005 s"#
        ]
    );
}

#[test]
fn a_claim_given_back_at_once_only_touches_one_that_begins_or_ends_at_that_instant() {
    let at_once = |ms| Story::new().granted(0, (C1, 1)).granted(ms, (C2, 2)).releases(ms, (C2, 2));
    let histories = [
        at_once(0).releases(5, (C1, 1)).completes(9),
        at_once(5).releases(5, (C1, 1)).completes(9),
        at_once(9).completes(9),
        // Two of no length at one instant touch as well: either may have come first.
        at_once(0).releases(0, (C1, 1)).completes(9),
    ];
    for history in histories {
        assert_eq!(check(Predicate::P1, &history), Verdict::Holds);
        assert_eq!(check(Predicate::P2, &history), Verdict::Holds);
    }
}

#[test]
fn a_claim_given_back_at_once_is_valid_unless_its_deadline_had_passed() {
    let passed_at_once = |story: Story| {
        story.deadline_passes(5, (C2, 2)).releases(5, (C2, 2)).releases(8, (C1, 1)).completes(9)
    };
    let own = passed_at_once(Story::new().granted(0, (C1, 1)).granted(5, (C2, 2)));
    let others = Story::new()
        .granted(0, (C1, 1))
        .deadline_passes(5, (C1, 1))
        .granted(5, (C2, 2))
        .releases(5, (C2, 2))
        .completes(9);
    for history in [own, others] {
        assert_eq!(intervals(Predicate::P1, &history), [(5, 5)]);
        assert_eq!(intervals(Predicate::P2, &history), []);
    }
}

#[test]
fn one_clients_own_two_grants_do_not_overlap_each_other_but_both_overlap_anothers() {
    let history = Story::new()
        .granted(0, (C1, 1))
        .granted(1, (C1, 2))
        .granted(2, (C2, 3))
        .releases(4, (C1, 1))
        .completes(9);
    assert_eq!(intervals(Predicate::P1, &history), [(2, 4), (2, 9)]);
}

#[test]
fn a_dead_client_claims_nothing() {
    let history = Story::new()
        .granted(0, (C1, 1))
        .at(3, EventKind::Died { client: C1 })
        .granted(3, (C2, 2))
        .completes(9);
    assert_eq!(check(Predicate::P1, &history), Verdict::Holds);
}

#[test]
fn a_deadline_that_passed_before_acquire_returned_leaves_no_valid_claim() {
    let observed =
        Story::new().deadline_passes(4, (C1, 1)).granted(5, (C1, 1)).granted(6, (C2, 2)).completes(9);
    let read_off = Story::new().granted_until(5, (C1, 1), Some(100_005)).granted(6, (C2, 2)).completes(9);
    for history in [observed, read_off] {
        assert_eq!(intervals(Predicate::P1, &history), [(6, 9)]);
        assert_eq!(intervals(Predicate::P2, &history), []);
    }
}

#[test]
fn a_late_extension_makes_a_claim_valid_again_but_not_for_the_time_in_between() {
    let history = Story::new()
        .granted(0, (C1, 1))
        .granted(0, (C2, 2))
        .deadline_passes(3, (C1, 1))
        .extended(5, (C1, 1))
        .deadline_passes(7, (C1, 1))
        .completes(9);
    assert_eq!(intervals(Predicate::P2, &history), [(0, 3), (5, 7)]);
}

#[test]
fn a_claim_that_never_ends_lasts_until_the_run_ends() {
    let history = Story::new().granted(0, (C1, 1)).granted(1_000, (C2, 2)).completes(9_000);
    let words = words(Predicate::P1, &history);
    let expected = r#"c1 and c2 both held "stock" for 8 s of true time, from 1.000 s until the run ended at 9.000 s; c2's monotonic clock read 101.000 s when it began"#;
    assert_eq!(words, [expected]);
}

#[test]
fn a_late_write_of_a_lock_that_was_properly_released_is_stale() {
    let history = Story::new().granted(0, (C1, 1)).releases(2, (C1, 1)).granted(3, (C2, 2)).writes(
        4,
        (C1, 1),
        X,
        1,
        None,
    );
    let history = history.completes(9);
    assert_eq!(verdicts(&history), ["holds", "holds", "violated", "holds", "holds", "inconclusive"]);
}

#[test]
fn blind_writes_in_any_order_are_no_anomaly() {
    let history = Story::new().writes(1, (C2, 2), X, 1, None).writes(2, (C1, 1), X, 2, None).completes(9);
    assert_eq!(check(Predicate::P4, &history), Verdict::Holds);
}

#[test]
fn a_holder_that_writes_first_and_reads_again_loses_nothing() {
    // The fence write comes after a late write of the last holder, and replaces what was read before it.
    let history = Story::new()
        .reads(1, (C2, 2), X, 0)
        .writes(2, (C1, 1), X, 1, Some(0))
        .writes(3, (C2, 2), X, 2, None)
        .reads(4, (C2, 2), X, 2)
        .writes(5, (C2, 2), X, 3, Some(2))
        .completes(9);
    assert_eq!(check(Predicate::P4, &history), Verdict::Holds);
}

#[test]
fn a_reader_whose_writes_were_all_refused_lost_nothing() {
    let refused = EventKind::WriteRefused {
        client: C1,
        grant: CallId(1),
        object: X,
        why: "stale".to_owned(),
        fencing: Some(33),
        highest_seen: Some(34),
    };
    let y = ObjectId(1);
    let history = Story::new()
        .reads(1, (C1, 1), X, 0)
        .writes(2, (C2, 2), X, 1, None)
        .writes(3, (C2, 2), y, 1, None)
        .reads(4, (C1, 1), y, 1)
        .at(5, refused)
        .releases(6, (C1, 1))
        .completes(9);
    assert_eq!(check(Predicate::P4, &history), Verdict::Holds);
}

#[test]
fn a_read_belongs_to_the_grant_it_was_made_under_and_feeds_no_later_grants_write() {
    // c1's second grant writes what it computed under its first: to the data a blind write.
    let history = Story::new()
        .reads(1, (C1, 1), X, 0)
        .writes(2, (C1, 1), X, 1, Some(0))
        .releases(3, (C1, 1))
        .writes(4, (C1, 2), X, 2, Some(0))
        .completes(9);
    assert_eq!(check(Predicate::P4, &history), Verdict::Holds);
}

#[test]
fn a_version_that_a_write_names_counts_as_read_where_reads_were_not_recorded() {
    let history =
        Story::new().writes(1, (C1, 1), X, 1, Some(0)).writes(2, (C2, 2), X, 2, Some(0)).completes(9);
    assert_eq!(
        words(Predicate::P4, &history),
        [
            r#"lost update on "x": c2 (grant 2) read version 0, c1 (grant 1) wrote version 1, and c2 overwrote it with version 2 without having seen it"#
        ]
    );
}

#[test]
fn other_anomalies_are_named_and_explained() {
    let y = ObjectId(1);
    let skew = Story::new()
        .reads(1, (C1, 1), X, 0)
        .reads(1, (C2, 2), y, 0)
        .reads(2, (C1, 1), y, 0)
        .reads(2, (C2, 2), X, 0)
        .writes(3, (C1, 1), X, 1, Some(0))
        .writes(4, (C2, 2), y, 1, Some(0))
        .completes(9);
    let torn = Story::new()
        .writes(1, (C2, 2), X, 1, None)
        .reads(2, (C1, 1), X, 1)
        .reads(3, (C1, 1), y, 0)
        .writes(4, (C2, 2), y, 1, None)
        .releases(5, (C1, 1))
        .completes(9);
    let interleaved = Story::new()
        .writes(1, (C1, 1), X, 1, None)
        .writes(2, (C2, 2), X, 2, None)
        .writes(3, (C1, 1), X, 3, None)
        .completes(9);
    let cases = [
        (
            skew,
            r#"write skew: no serial order explains that c1 (grant 1) read version 0 of "y" before c2 (grant 2) wrote version 1, and c2 (grant 2) read version 0 of "x" before c1 (grant 1) wrote version 1"#,
        ),
        (
            torn,
            r#"inconsistent read: no serial order explains that c2 (grant 2) wrote version 1 of "x" before c1 (grant 1) read version 1, and c1 (grant 1) read version 0 of "y" before c2 (grant 2) wrote version 1"#,
        ),
        (
            interleaved,
            r#"interleaved writes: no serial order explains that c1 (grant 1) wrote version 1 of "x" before c2 (grant 2) wrote version 2, and c2 (grant 2) wrote version 2 of "x" before c1 (grant 1) wrote version 3"#,
        ),
    ];
    for (history, expected) in cases {
        assert_eq!(words(Predicate::P4, &history), [expected]);
    }
}

#[test]
fn a_free_lock_nobody_obtains_in_time_is_a_liveness_violation_and_retries_are_one_wait() {
    let refused = EventKind::Refused { client: C2, call: CallId(2), why: "held".to_owned() };
    let story = || {
        Story::free_bound(10_000)
            .granted(0, (C1, 1))
            .waits(1_000, (C2, 2))
            .at(1_500, refused.clone())
            .at(2_000, EventKind::Died { client: C1 })
            .waits(8_000, (C2, 3))
    };
    let in_time = story().granted(12_000, (C2, 3)).completes(20_000);
    assert_eq!(check(Predicate::LV, &in_time), Verdict::Holds);
    let late = story().waits(9_000, (C3, 4)).granted(12_001, (C2, 3)).completes(20_000);
    assert_eq!(
        words(Predicate::LV, &late),
        [
            r#"c2 and c3 waited 10.001 s for "stock" while nobody claimed it, from 2.000 s until it was obtained at 12.001 s; the bound for a free lock is 10 s"#
        ]
    );
    let gave_up = story().at(12_500, EventKind::GaveUp { client: C2, call: CallId(3) }).completes(20_000);
    assert_eq!(
        words(Predicate::LV, &gave_up),
        [
            r#"c2 waited 10.5 s for "stock" while nobody claimed it, from 2.000 s until nobody waited any more at 12.500 s; the bound for a free lock is 10 s"#
        ]
    );
    let never = story().completes(20_000);
    assert_eq!(
        words(Predicate::LV, &never),
        [
            r#"c2 waited 18 s for "stock" while nobody claimed it, from 2.000 s until the run ended at 20.000 s; the bound for a free lock is 10 s"#
        ]
    );
}

#[test]
fn a_wait_longer_than_any_may_be_is_a_liveness_violation_whoever_holds_the_lock() {
    let story = || Story::bound(30_000).granted(0, (C1, 1)).waits(1_000, (C2, 2));
    let in_time = story().releases(31_000, (C1, 1)).granted(31_000, (C2, 2)).completes(40_000);
    assert_eq!(check(Predicate::LV, &in_time), Verdict::Holds);
    let cases = [
        (
            story().gives_up(191_000, (C2, 2)).completes(200_000),
            r#"c2 waited 190 s for "stock", while c1 held it: it asked at 1.000 s and gave up at 191.000 s; the bound for any wait is 30 s"#,
        ),
        (
            story().releases(21_000, (C1, 1)).granted(32_000, (C2, 2)).completes(40_000),
            r#"c2 waited 31 s for "stock", 20 s of it while c1 held it: it asked at 1.000 s and was granted at 32.000 s; the bound for any wait is 30 s"#,
        ),
        (
            story().releases(500, (C1, 1)).completes(32_000),
            r#"c2 waited 31 s for "stock", while nobody held it: it asked at 1.000 s and was still waiting when the run ended at 32.000 s; the bound for any wait is 30 s"#,
        ),
        (
            story()
                .releases(21_000, (C1, 1))
                .granted(21_000, (C3, 3))
                .at(41_000, EventKind::Died { client: C2 })
                .completes(50_000),
            r#"c2 waited 40 s for "stock", while c1 and c3 held it: it asked at 1.000 s and died at 41.000 s; the bound for any wait is 30 s"#,
        ),
    ];
    for (history, expected) in cases {
        assert_eq!(words(Predicate::LV, &history), [expected]);
    }
}

#[test]
fn a_client_that_dies_or_gives_up_before_the_bound_has_missed_nothing() {
    let waits = || Story::bound(30_000).granted(0, (C1, 1)).waits(1_000, (C2, 2));
    let died = waits().at(31_000, EventKind::Died { client: C2 }).completes(90_000);
    let gave_up = waits().gives_up(31_000, (C2, 2)).completes(90_000);
    let again =
        waits().gives_up(20_000, (C2, 2)).waits(20_000, (C2, 3)).gives_up(50_000, (C2, 3)).completes(90_000);
    for history in [died, gave_up, again] {
        assert_eq!(check(Predicate::LV, &history), Verdict::Holds);
    }
}

#[test]
fn a_run_may_promise_both_bounds_and_miss_both() {
    let mut header = Story::bound(30_000).0.header().clone();
    header.bounds.obtain_free_within_ns = Some(10_000_000_000);
    let history = Story(History::new(header)).waits(0, (C1, 1)).completes(40_000);
    assert_eq!(
        words(Predicate::LV, &history),
        [
            r#"c1 waited 40 s for "stock" while nobody claimed it, from 0.000 s until the run ended at 40.000 s; the bound for a free lock is 10 s"#,
            r#"c1 waited 40 s for "stock", while nobody held it: it asked at 0.000 s and was still waiting when the run ended at 40.000 s; the bound for any wait is 30 s"#,
        ]
    );
}

#[test]
fn a_stalled_world_is_no_pass_and_its_waits_never_end() {
    let waiting = Story::bound(10_000).granted(0, (C1, 1)).waits(1_000, (C2, 2));
    let history = waiting.ends(2_000, RunOutcome::Stalled);
    assert_eq!(
        verdicts(&history),
        ["inconclusive", "inconclusive", "inconclusive", "inconclusive", "inconclusive", "violated"]
    );
    assert_eq!(
        words(Predicate::LV, &history),
        [r#"c2 has waited for "stock" since 1.000 s and always will: the world stalled at 2.000 s"#]
    );
}

#[test]
fn a_run_that_used_up_its_budget_proves_violations_but_nothing_else() {
    let overlap = || Story::bound(1).granted(0, (C1, 1)).granted(1, (C2, 2));
    for outcome in [RunOutcome::EventBudget, RunOutcome::TimeBudget, RunOutcome::MemoryBudget] {
        let history = overlap().ends(9, outcome);
        let rest = ["inconclusive"; 4];
        assert_eq!(verdicts(&history), [&["violated", "violated"], &rest[..]].concat());
    }
}

#[test]
fn a_run_that_was_ended_proves_violations_and_says_why_it_proves_nothing_else() {
    let why = "script abc on A met the limit of 100 instructions";
    let overlap = Story::bound(1).granted(0, (C1, 1)).granted(1, (C2, 2));
    let history = overlap.at(8, EventKind::Inconclusive { why: why.to_owned() }).ends(9, RunOutcome::Halted);
    assert_eq!(verdicts(&history), [&["violated", "violated"], &["inconclusive"; 4][..]].concat());
    assert_eq!(judge(&history).get(Predicate::P3), &Verdict::Inconclusive(why.to_owned()));
}

#[test]
fn a_fault_that_never_fired_makes_holding_inconclusive() {
    let why = "the fault `pause c1` never fired".to_owned();
    let history = Story::new().at(1, EventKind::Inconclusive { why: why.clone() }).completes(9);
    let expected = Verdict::Inconclusive(why);
    assert_eq!(judge(&history).get(Predicate::P1), &expected);
}

#[test]
fn claims_that_share_less_than_the_error_of_the_instants_decide_nothing() {
    let exact_to = |error_ns| {
        let header = Header { error_ns, ..Header::new("recorded", 0, &["c1", "c2"], &["stock"]) };
        Story(History::new(header)).granted(0, (C1, 1)).granted(5, (C2, 2))
    };
    let verdict = |story: Story| judge(&story.completes(99)).get(Predicate::P1).clone();
    assert_eq!(verdict(exact_to(4_000_000).releases(9, (C1, 1))).as_str(), "violated", "they share 4 ms");
    let doubt = verdict(exact_to(4_000_001).releases(9, (C1, 1)));
    assert_eq!(
        doubt.doubt(),
        Some("two clients both held the lock for less than 4 ms, which is how exact the instants are")
    );
    assert_eq!(
        verdict(exact_to(1_000_000_000)).as_str(),
        "violated",
        "both still hold when the history ends"
    );
}

#[test]
fn evidence_is_listed_up_to_a_limit_and_says_so() {
    // 500 clients hold at once: 124,750 pairs.
    let mut history = History::new(Header::new("crowd", 7, &[], &["stock"]));
    for id in 0..500 {
        let story = Story(history).granted(u64::from(id), (ClientId(id), u64::from(id)));
        history = story.0;
    }
    let verdict = check(Predicate::P1, &history);
    let evidence = verdict.evidence();
    assert_eq!(evidence.len(), Verdict::MAX_EVIDENCE + 1);
    let last = evidence.last().map(|it| it.sentence(history.header()));
    assert_eq!(last.as_deref(), Some("P1 was violated more often than the 25000 times listed"));
}

#[test]
fn ids_the_header_does_not_name_still_make_a_sentence() {
    let mut history = History::new(Header::new("nameless", 7, &[], &[]));
    history = Story(history).granted(0, (C1, 1)).granted(1, (C2, 2)).completes(2);
    assert!(
        words(Predicate::P1, &history)[0].starts_with(r#"client 0 and client 1 both held "lock 0" for 1 ms"#)
    );
}

#[test]
fn an_event_recorded_late_takes_its_place_in_time_after_those_of_its_instant() {
    let history = Story::new().clocks(1, C1).clocks(5, C1).clocks(9, C1).clocks(5, C2).0;
    let order: Vec<_> =
        history.events().iter().map(|event| (event.at.0 / 1_000_000, event.what.client())).collect();
    assert_eq!(order, [(1, Some(C1)), (5, Some(C1)), (5, Some(C2)), (9, Some(C1))]);
}

#[test]
fn predicates_are_read_by_name_and_unknown_ones_are_told_the_known() {
    for predicate in Predicate::ALL {
        assert_eq!(predicate.as_str().parse(), Ok(predicate));
        assert_eq!(predicate.as_str().to_lowercase().parse(), Ok(predicate));
    }
    let error = "P5".parse::<Predicate>().expect_err("there is no P5");
    assert_eq!(error.to_string(), "unknown predicate `P5`: it is one of `P1`, `P2`, `P3`, `P4`, `WR`, `LV`");
}

#[test]
fn verdicts_serialise_under_the_names_reports_use() {
    let history = Story::new().granted(0, (C1, 1)).granted(1, (C2, 2)).completes(2);
    let json = serde_json::to_value(judge(&history)).expect("verdicts are plain data");
    assert_eq!(json["P1"]["verdict"], "violated");
    assert_eq!(json["P1"]["because"][0]["kind"], "overlap");
    assert_eq!(json["P1"]["because"][0]["from"], 1_000_000);
    assert_eq!(json["P3"]["verdict"], "not_seen");
    assert_eq!(json["LV"]["because"], "no bound stated");
}
