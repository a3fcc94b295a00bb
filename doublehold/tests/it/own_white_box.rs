//! White-box rules over locks of somebody's own, each with one bug that calm weather hides, beside the same lock
//! without it; and marks that a lock's code reaches or does not.

use std::time::Duration;

use doublehold::check::{
    Checked, Client, Deadline, Existing, Guard, MonotonicTime, MultiplexedConnection, Predicate, Rule,
    Wanted, World, check,
};
use redis::RedisResult;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    None,
    /// The deadline counts from the reply.
    Reply,
    /// A refused attempt has put a key of its own beside the lock's.
    Kept,
    /// The watchdog goes on when the lock was given back.
    Watchdog,
}

/// Extends what is its own.
const EXTEND: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then \
                      return redis.call('PEXPIRE', KEYS[1], ARGV[2]) else return 0 end";

struct Held {
    client: Client,
    redis: MultiplexedConnection,
    key: String,
    token: String,
    deadline: MonotonicTime,
    bug: Bug,
}

impl Guard for Held {
    fn token(&self) -> Vec<u8> {
        self.token.clone().into()
    }

    fn deadline(&self) -> Option<Deadline> {
        Some(Deadline::Monotonic(self.deadline))
    }

    async fn release(mut self) -> RedisResult<bool> {
        let held: Option<String> = redis::cmd("GET").arg(&self.key).query_async(&mut self.redis).await?;
        let is_own = held.as_deref() == Some(&self.token);
        match (is_own, self.bug) {
            (true, Bug::Kept) => doublehold::reached("release: left to its lease"),
            (true, _) => {
                doublehold::reached("release: found its own key");
                redis::cmd("DEL").arg(&self.key).exec_async(&mut self.redis).await?;
            }
            (false, _) => doublehold::reached("release: found another's key"),
        }
        if self.bug == Bug::Watchdog {
            let (client, mut redis, key, token) = (self.client.clone(), self.redis, self.key, self.token);
            drop(self.client.spawn(async move {
                client.sleep(Duration::from_millis(300)).await;
                let mut extend = redis::cmd("EVAL");
                extend.arg(EXTEND).arg(1).arg(key).arg(token).arg(10_000);
                let _late: RedisResult<i64> = extend.query_async(&mut redis).await;
            }));
        }
        Ok(is_own)
    }
}

fn lock(bug: Bug) -> impl doublehold::check::LockKind<doublehold::check::SimEnv> {
    let take = move |mut redis: MultiplexedConnection, client: Client, wanted: Wanted| async move {
        let (key, token) = (wanted.resource, client.token());
        let sent = client.monotonic().await;
        let mut set = redis::cmd("SET");
        set.arg(&key).arg(&token).arg("NX").arg("PX").arg(wanted.ttl.as_millis() as u64);
        let set: Option<String> = set.query_async(&mut redis).await?;
        let from = if bug == Bug::Reply { client.monotonic().await } else { sent };
        let deadline = from.saturating_add(wanted.ttl);
        Ok(set.map(|_| Held { client, redis, key, token, deadline, bug }))
    };
    Existing::on_one_node("mine", take)
}

fn world() -> World {
    let program = ["acquire", "work 50ms..400ms", "release", "acquire", "work 600ms", "release"];
    World::new("calm").nodes(["A"]).clients(2, program).ttl(Duration::from_secs(10))
}

fn checked(bug: Bug) -> Checked {
    check(&world(), lock(bug)).seeds(1..=30).no_files().run().expect("it can be run")
}

/// The rules that are broken.
fn broken(checked: &Checked) -> Vec<Rule> {
    Rule::ALL.into_iter().filter(|rule| checked.white_box.rules.tally.count(*rule).broken > 0).collect()
}

#[test]
fn each_bug_breaks_its_own_rule_in_calm_weather_and_the_repair_breaks_none() {
    let bugs = [
        (Bug::None, vec![]),
        (Bug::Reply, vec![Rule::Margin]),
        (Bug::Kept, vec![Rule::LeftKey]),
        (Bug::Watchdog, vec![Rule::LateCommand]),
    ];
    for (bug, rules) in bugs {
        let checked = checked(bug);
        assert_eq!(broken(&checked), rules, "{bug:?}\n{checked}");
        // No predicate sees any of it.
        assert!(checked.holds(&[Predicate::P1, Predicate::P2, Predicate::WR]), "{bug:?}\n{checked}");
        let rules = &checked.white_box.rules.tally;
        assert_eq!(rules.runs, 20, "a fifth, and no fewer than 20");
        assert!(bug != Bug::None || Rule::ALL.into_iter().all(|rule| rules.holds(rule)), "{checked}");
    }
}

#[test]
fn a_check_says_what_is_broken_and_does_not_pass_if_it_looks_for_the_rule() {
    let said = checked(Bug::Reply).to_string();
    assert!(said.contains("  white-box rules, asked of 20 of 30 runs:\n"), "{said}");
    assert!(said.contains("  margin, not asked: broken in 20 of 20, first from seed 1: c"), "{said}");
    assert!(!said.contains("left-key"), "{said}");
    let asked = check(&world(), lock(Bug::Reply)).seeds(1..=30).looking_for_rules(&[Rule::Margin]).no_files();
    let asked = asked.run().expect("it can be run");
    assert!(!asked.holds(&[Predicate::P1]), "{asked}");
    assert!(!checked(Bug::None).to_string().contains("white-box"));
}

#[test]
fn a_check_counts_the_runs_that_reached_a_mark_and_does_not_pass_without_one_that_it_expects() {
    let of = |marks: &[&str]| {
        let check = check(&world(), lock(Bug::None)).seeds(1..=30).reaches(marks).no_files();
        check.run().expect("it can be run")
    };
    let reached = of(&["release: found its own key"]);
    assert!(reached.holds(&[Predicate::P1]), "{reached}");
    // Once a run, though each run comes there four times.
    let line = "  reached in 30 of 30 runs, first from seed 1: release: found its own key\n";
    assert!(reached.to_string().contains(line), "{reached}");

    let never = of(&["a retry met its own key"]);
    assert!(!never.holds(&[Predicate::P1]), "{never}");
    let line =
        "  never reached, so nothing is shown about it: a retry met its own key; let a program, a fault";
    assert!(never.to_string().contains(line), "{never}");

    let mistyped = of(&["release: found it's own key"]);
    assert!(!mistyped.holds(&[Predicate::P1]), "{mistyped}");
    let hint = "; did you mean `release: found its own key`? If not, let";
    assert!(mistyped.to_string().contains(hint), "{mistyped}");
}

#[test]
#[should_panic(expected = "a mark was never reached, or a rule that was asked for does not hold")]
fn a_test_that_expects_a_mark_fails_where_no_run_comes_there() {
    let check =
        check(&world(), lock(Bug::None)).seeds(1..=5).reaches(&["a retry met its own key"]).no_files();
    check.run().expect("it can be run").assert_holds(&[Predicate::P1]);
}

#[test]
fn a_mark_outside_of_a_check_does_nothing() {
    doublehold::reached("nobody counts this");
}
