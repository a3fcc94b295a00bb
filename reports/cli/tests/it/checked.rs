//! What a check and a run say of a lock that was never granted, and the names of the files that a check writes.

use doublehold::check::{
    Checked, Client, Count, Existing, Guard, Kept, MultiplexedConnection, Predicate, Seed, Tally, Wanted,
    WhiteBox, World, check,
};
use redis::RedisResult;

use crate::kit::{Ask, Folder, doublehold};

struct Held(MultiplexedConnection, Wanted, String);

impl Guard for Held {
    fn token(&self) -> Vec<u8> {
        self.2.clone().into()
    }

    async fn release(mut self) -> RedisResult<bool> {
        redis::cmd("DEL").arg(self.1.resource).query_async(&mut self.0).await
    }
}

/// Checks a lock that asks for its key with this option of SET.
fn checked(option: &'static str) -> Checked {
    let take = move |mut redis: MultiplexedConnection, client: Client, wanted: Wanted| async move {
        let (token, ttl) = (client.token(), wanted.ttl.as_millis() as u64);
        let mut set = redis::cmd("SET");
        set.arg(&wanted.resource).arg(&token).arg("NX").arg(option).arg(ttl);
        let set: Option<String> = set.query_async(&mut redis).await?;
        Ok(set.map(|_| Held(redis, wanted, token)))
    };
    let program = ["acquire", "read", "work 1s", "write", "release"];
    let world = World::new("two clients").nodes(["A"]).clients(2, program);
    check(&world, Existing::on_one_node("mine", take)).seeds(1..=4).no_files().run().expect("it can be run")
}

#[test]
fn a_check_of_a_lock_that_was_never_granted_is_no_pass_and_says_why_it_was_not() {
    let right = checked("PX");
    assert!(right.holds(&[Predicate::P1]) && right.tally.grants == 8, "{right}");
    assert!(!right.to_string().contains("ever granted"), "{right}");

    let mistyped = checked("XP");
    assert_eq!(mistyped.count(Predicate::P1).holds, 4, "no rule is broken: {mistyped}");
    assert!(!mistyped.holds(&[Predicate::P1]) && !mistyped.holds(&[]), "{mistyped}");
    let said = "no call was ever granted the lock; the last refusal, from seed 1: the node replied `ERR syntax error`";
    assert!(mistyped.to_string().contains(said), "{mistyped}");
}

/// One undecided run in a hundred says little about the others; more may be what violates it.
#[test]
fn a_check_of_which_more_than_one_run_in_a_hundred_is_undecided_is_no_pass() {
    let with = |inconclusive: u64| {
        let unsaid = Some((Seed(3), "the run used up its budget of true time".to_owned()));
        let count = Count { holds: 300 - inconclusive, inconclusive, unsaid, ..Count::default() };
        let tally =
            Tally { runs: 300, grants: 600, predicates: [(Predicate::P1, count)].into(), ..Tally::default() };
        Checked {
            world: "a world".to_owned(),
            lock: "mine",
            seeds: Seed(1)..=Seed(300),
            tally,
            bad: None,
            white_box: WhiteBox::default(),
            endless: None,
            kept: Kept::default(),
        }
    };
    assert!(with(0).holds(&[Predicate::P1]) && with(3).holds(&[Predicate::P1]));
    assert!(!with(4).holds(&[Predicate::P1]) && !with(276).holds(&[Predicate::P1]));
    assert!(with(4).to_string().contains("inconclusive, first from seed 3: the run used up"), "{}", with(4));
}

#[test]
fn a_run_in_which_nobody_was_granted_the_lock_says_so_beside_its_verdicts() {
    let run = |sets: &[&str]| {
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        doublehold(&["run", "quiet", "--format", "json"]).args(sets).answer().stdout
    };
    let note = "nobody was ever granted the lock; the last refusal: ";
    assert!(!run(&[]).contains(note));
    let cut = r#"faults=[{kind = "cut", from = ["c1", "c2", "c3"], to = "A", both_ways = true, at = "0s"}]"#;
    let alone = run(&[cut]);
    assert!(alone.contains(note), "{alone}");
}

#[test]
fn names_that_are_too_long_for_a_file_are_cut_and_the_files_are_written() {
    let folder = Folder::new();
    let folder = folder.at().join("made by whoever writes");
    let take = async |_: MultiplexedConnection, _: Client, _: Wanted| -> RedisResult<Option<Held>> {
        panic!("the files are of a bad run")
    };
    let files = |name: String| {
        let world = World::new(name).nodes(["A"]).clients(1, ["acquire", "release"]);
        let checked = check(&world, Existing::on_one_node("mine", take)).seeds(1..=1).files(&folder).run();
        checked.unwrap_or_else(|error| panic!("{error}")).bad.expect("it panicked").files
    };
    let long = |last: char| files(format!("{}{last}", "—".repeat(40)));
    let (one, again, other) = (long('a'), long('a'), long('b'));
    assert!(one == again && one.len() == 2, "the same names each time: {one:?}");
    assert!(one.iter().all(|file| file.is_file() && !other.contains(file)), "{one:?} {other:?}");
    let test = "checked.names_that_are_too_long_for_a_file_are_cut_and_the_files_are_written";
    let short = files("short".to_owned());
    let names = short.iter().filter_map(|file| file.file_name()?.to_str());
    assert!(names.eq(["txt", "plan"].map(|ending| format!("{test}.short.mine.1.{ending}"))), "{short:?}");
}

/// A lock that gives itself to anyone, and panics at one token in sixteen.
#[test]
fn without_weather_the_first_seed_that_shows_anything_is_shown_and_not_the_gravest() {
    let take = |redis: MultiplexedConnection, client: Client, wanted: Wanted| async move {
        let token = client.token();
        assert!(token.as_bytes()[0] != b'f', "planted");
        Ok(Some(Held(redis, wanted, token)))
    };
    let world = World::new("two clients").nodes(["A"]).clients(2, ["acquire", "work 1s", "release"]);
    let checked = check(&world, Existing::on_one_node("mine", take)).no_files();
    let checked = checked.seeds(1..=40).run().expect("it can be run");
    let overlap = checked.count(Predicate::P1).first.expect("whoever has not panicked holds");
    let panic = checked.tally.panicked.expect("of 80 tokens some begin so").0;
    let shown = checked.bad.as_ref().expect("there is something").report.seed;
    assert_eq!(shown, overlap.min(panic), "{overlap} and {panic}");
    assert!(overlap < panic, "{overlap} and {panic}: or this says nothing");
}
