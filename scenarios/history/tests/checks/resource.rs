//! The resource's rules, and what each of them does for two clients that both believe they hold the lock.

use doublehold_history::{
    Content, FencingCheck, LockAnswer, LockId, NoAnswer, NumberSource, ObjectId, ReadRequest, Refusal,
    Resource, ResourceRules, WriteRequest,
};

const STOCK: LockId = LockId(0);
const X: ObjectId = ObjectId(0);
const Y: ObjectId = ObjectId(1);

const FENCED: ResourceRules = ResourceRules {
    fencing: FencingCheck::RejectLower,
    numbers: NumberSource::Lock,
    no_answer: NoAnswer::Refuse,
    forgets: false,
    fence_reads: false,
    version_check: false,
};

fn read(fencing: u64) -> ReadRequest {
    ReadRequest { lock: STOCK, object: X, fencing: Some(fencing) }
}

fn write(object: ObjectId, fencing: u64, based_on: u64) -> WriteRequest {
    WriteRequest { lock: STOCK, object, fencing: Some(fencing), based_on: Some(based_on), value: fencing }
}

#[test]
fn an_unguarded_resource_applies_everything() {
    let mut resource = Resource::new(2, ResourceRules::default());
    assert_eq!(resource.write(write(X, 34, 0)), Ok(1));
    assert_eq!(resource.write(WriteRequest { fencing: None, ..write(X, 33, 0) }), Ok(2));
    assert_eq!(resource.read(read(0)), Ok(Content { version: 2, value: 33 }));
    assert_eq!(resource.highest_seen(STOCK), None);
}

#[test]
fn a_late_write_with_a_lower_number_is_refused_at_every_object() {
    let mut resource = Resource::new(2, FENCED);
    assert_eq!(resource.write(write(X, 34, 0)), Ok(1));
    let stale = Err(Refusal::StaleFencing { got: 33, highest_seen: 34 });
    assert_eq!(resource.write(write(X, 33, 0)), stale);
    assert_eq!(resource.write(write(Y, 33, 0)), stale);
    assert_eq!(resource.read(read(0)), Ok(Content { version: 1, value: 34 }));
}

#[test]
fn numbers_of_another_lock_are_not_compared() {
    let mut resource = Resource::new(2, FENCED);
    assert_eq!(resource.write(write(X, 34, 0)), Ok(1));
    assert_eq!(resource.write(WriteRequest { lock: LockId(1), ..write(Y, 3, 0) }), Ok(1));
}

#[test]
fn a_request_without_a_number_is_refused_once_numbers_are_checked() {
    let mut resource = Resource::new(1, FENCED);
    assert_eq!(resource.write(WriteRequest { fencing: None, ..write(X, 0, 0) }), Err(Refusal::NoFencing));
}

#[test]
fn the_strict_check_allows_a_holder_only_one_write() {
    let mut lenient = Resource::new(1, FENCED);
    let mut strict = Resource::new(1, ResourceRules { fencing: FencingCheck::RejectLowerOrEqual, ..FENCED });
    assert_eq!((lenient.write(write(X, 33, 0)), strict.write(write(X, 33, 0))), (Ok(1), Ok(1)));
    let stale = Refusal::StaleFencing { got: 33, highest_seen: 33 };
    assert_eq!((lenient.write(write(X, 33, 1)), strict.write(write(X, 33, 1))), (Ok(2), Err(stale)));
}

#[test]
fn two_unfenced_reads_and_writes_in_order_lose_an_update_that_fenced_reads_or_versions_save() {
    // c1 (33) and c2 (34) both read; then c1 writes, then c2.
    let both_write = |rules| {
        let mut resource = Resource::new(1, rules);
        let seen = [33, 34].map(|number| resource.read(read(number)).map(|content| content.version));
        assert_eq!(seen, [Ok(0), Ok(0)]);
        [33, 34].map(|number| resource.write(write(X, number, 0)).is_ok())
    };
    assert_eq!(both_write(FENCED), [true, true], "both are applied: c1's update is lost");
    assert_eq!(both_write(ResourceRules { fence_reads: true, ..FENCED }), [false, true]);
    assert_eq!(both_write(ResourceRules { version_check: true, ..FENCED }), [true, false]);
}

#[test]
fn compare_and_set_refuses_a_blind_write_and_an_old_version() {
    let mut resource = Resource::new(1, ResourceRules { version_check: true, ..ResourceRules::default() });
    assert_eq!(resource.write(write(X, 1, 0)), Ok(1));
    let changed = |based_on| Err(Refusal::VersionChanged { based_on, current: 1 });
    assert_eq!(resource.write(write(X, 2, 0)), changed(Some(0)));
    assert_eq!(resource.write(WriteRequest { based_on: None, ..write(X, 2, 0) }), changed(None));
}

#[test]
fn a_number_counts_as_seen_even_if_the_version_check_refuses_its_write() {
    let mut resource = Resource::new(1, ResourceRules { version_check: true, ..FENCED });
    assert!(resource.write(write(X, 34, 9)).is_err());
    assert_eq!(resource.write(write(X, 33, 0)), Err(Refusal::StaleFencing { got: 33, highest_seen: 34 }));
}

#[test]
fn an_object_that_does_not_exist_is_refused() {
    let mut resource = Resource::new(0, FENCED);
    assert_eq!(resource.write(write(X, 1, 0)), Err(Refusal::UnknownObject(X)));
    assert_eq!(resource.read(read(1)), Err(Refusal::UnknownObject(X)));
    assert_eq!(resource.highest_seen(STOCK), None);
}

#[test]
fn a_number_of_the_resources_own_is_the_next_and_says_who_asked_last() {
    let mut resource = Resource::new(1, ResourceRules { numbers: NumberSource::Resource, ..FENCED });
    assert_eq!(resource.write(WriteRequest { fencing: None, ..write(X, 0, 0) }), Err(Refusal::NoFencing));
    assert_eq!([resource.prepare(STOCK, None), resource.prepare(STOCK, None)], [Ok(Some(1)), Ok(Some(2))]);
    assert_eq!(resource.prepare(LockId(1), None), Ok(Some(1)), "locks are counted apart");
    assert_eq!(resource.write(write(X, 1, 0)), Err(Refusal::StaleFencing { got: 1, highest_seen: 2 }));
    assert_eq!(resource.write(write(X, 2, 0)), Ok(1));
}

#[test]
fn a_number_of_the_lock_counts_as_seen_once_its_holder_prepares() {
    let mut resource = Resource::new(1, FENCED);
    assert_eq!(resource.prepare(STOCK, Some(34)), Ok(Some(34)));
    let stale = Refusal::StaleFencing { got: 33, highest_seen: 34 };
    assert_eq!(resource.write(write(X, 33, 0)), Err(stale));
    assert_eq!(resource.prepare(STOCK, Some(33)), Err(stale));
    assert_eq!(resource.prepare(STOCK, None), Err(Refusal::NoFencing));
}

#[test]
fn the_last_to_prepare_has_the_marker_whoever_was_granted_the_lock_last() {
    let marked = ResourceRules { fencing: FencingCheck::CompareMarker, fence_reads: true, ..FENCED };
    let mut resource = Resource::new(1, marked);
    assert_eq!(resource.write(write(X, 7, 0)), Err(Refusal::NotTheMarker), "there is none");
    assert_eq!((resource.marker(STOCK), resource.prepare(STOCK, Some(7))), (None, Ok(Some(7))));
    assert_eq!((resource.marker(STOCK), resource.write(write(X, 7, 0))), (Some(7), Ok(1)));
    assert_eq!(resource.prepare(STOCK, Some(3)), Ok(Some(3)));
    assert_eq!(resource.write(write(X, 7, 1)), Err(Refusal::NotTheMarker));
    assert_eq!(resource.read(read(7)), Err(Refusal::NotTheMarker));
    assert_eq!(resource.write(write(X, 3, 1)), Ok(2));
    assert_eq!(resource.highest_seen(STOCK), None, "a token is no number");
    let rules = ResourceRules { fencing: FencingCheck::ClientComparesMarker, ..marked };
    let mut unguarded = Resource::new(1, rules);
    assert_eq!((unguarded.prepare(STOCK, Some(7)), unguarded.marker(STOCK)), (Ok(Some(7)), Some(7)));
    assert_eq!((unguarded.write(write(X, 3, 0)), unguarded.read(read(3)).is_ok()), (Ok(1), true));
}

#[test]
fn a_token_is_refused_for_ever_once_another_came_after_it_and_never_before_it_was_seen() {
    let mut resource = Resource::new(
        1,
        ResourceRules { fencing: FencingCheck::RejectReplaced, fence_reads: true, ..FENCED },
    );
    assert!(resource.read(read(9)).is_ok());
    assert_eq!((resource.write(write(X, 9, 0)), resource.write(write(X, 9, 1))), (Ok(1), Ok(2)));
    assert_eq!(resource.prepare(STOCK, Some(2)), Ok(Some(2)), "lower and new");
    assert_eq!(resource.write(write(X, 9, 2)), Err(Refusal::ReplacedToken));
    assert_eq!(resource.prepare(STOCK, Some(9)), Err(Refusal::ReplacedToken));
    assert_eq!(resource.write(write(X, 2, 2)), Ok(3), "what was refused has replaced nobody");
    assert_eq!(resource.write(WriteRequest { lock: LockId(1), ..write(X, 9, 3) }), Ok(4));
}

#[test]
fn a_resource_that_asks_the_lock_serves_its_holder_and_fails_as_it_is_told() {
    let closed = ResourceRules { fencing: FencingCheck::AskLock, ..FENCED };
    let open = ResourceRules { no_answer: NoAnswer::Apply, ..closed };
    for rules in [closed, open] {
        assert_eq!(rules.judge_answer(Some(7), LockAnswer::Holder(7)), Ok(()));
        assert_eq!(rules.judge_answer(Some(7), LockAnswer::Holder(8)), Err(Refusal::NotTheHolder));
        assert_eq!(rules.judge_answer(Some(7), LockAnswer::Nobody), Err(Refusal::NotTheHolder));
        assert_eq!(Resource::new(1, rules).write(write(X, 7, 0)), Ok(1), "what it was told is not kept");
    }
    assert_eq!(closed.judge_answer(Some(7), LockAnswer::None), Err(Refusal::NoAnswer));
    assert_eq!(open.judge_answer(Some(7), LockAnswer::None), Ok(()));
}

#[test]
fn a_replica_keeps_the_newest_value_in_whatever_order_values_come() {
    let mut replica = Resource::new(1, ResourceRules::default());
    let put = |replica: &mut Resource, version, value| {
        replica.put(WriteRequest { value, ..write(X, 34, 0) }, version)
    };
    assert_eq!((put(&mut replica, 5, 50), put(&mut replica, 5, 50)), (Ok(true), Ok(false)));
    assert_eq!(put(&mut replica, 4, 40), Err(Refusal::Overtaken));
    assert_eq!(replica.read(read(0)), Ok(Content { version: 5, value: 50 }));
    assert_eq!(put(&mut replica, 6, 60), Ok(true));
    let mut fenced = Resource::new(1, FENCED);
    assert_eq!(fenced.prepare(STOCK, Some(35)), Ok(Some(35)));
    assert!(matches!(put(&mut fenced, 9, 90), Err(Refusal::StaleFencing { .. })), "newer, and not its turn");
}

#[test]
fn a_restart_forgets_what_was_shown_only_where_it_is_said_to_and_never_the_objects() {
    for forgets in [false, true] {
        let mut resource = Resource::new(1, ResourceRules { forgets, ..FENCED });
        assert_eq!(resource.write(write(X, 34, 0)), Ok(1));
        resource.restart();
        assert_eq!(resource.highest_seen(STOCK), (!forgets).then_some(34));
        assert_eq!(resource.write(write(X, 33, 1)).is_ok(), forgets);
        assert_eq!(resource.read(read(34)).map(|content| content.version), Ok(if forgets { 2 } else { 1 }));
    }
}

#[test]
fn refusals_say_what_they_compared() {
    let cases = [
        (Refusal::StaleFencing { got: 33, highest_seen: 34 }, "fencing number 33 is stale: 34 has been seen"),
        (Refusal::NoFencing, "the request has no fencing number"),
        (Refusal::NotTheMarker, "the marker is not this grant's token"),
        (Refusal::NotTheHolder, "the lock is not this grant's any more"),
        (Refusal::NoAnswer, "the lock did not say whose it is"),
        (Refusal::ReplacedToken, "this grant's token was replaced by a newer one"),
        (
            Refusal::VersionChanged { based_on: Some(0), current: 1 },
            "the object is at version 1, the write is based on version 0",
        ),
        (
            Refusal::VersionChanged { based_on: None, current: 1 },
            "the object is at version 1, the write is blind",
        ),
        (Refusal::Overtaken, "a newer value is there"),
        (Refusal::UnknownObject(X), "there is no object 0"),
    ];
    for (refusal, expected) in cases {
        assert_eq!(refusal.to_string(), expected);
    }
}
