//! A lock of the user's own in a scenario: its descriptor is asked as ours are.

use std::time::Duration;

use doublehold_lockimpl::{Descriptor, Facts, Form, LockConfig, Nodes, Sends, Unfit, Value, descriptors};
use doublehold_scenarios::Seed;
use doublehold_scenarios::format::Source;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::scenario::Scenario;

/// A lock that counts to a patience and knows no extension.
struct Patient {
    patience: u64,
    loud: bool,
}

impl LockConfig for Patient {
    fn read(form: &mut Form<'_>) -> Patient {
        Patient {
            patience: form.number("patience", (1, 9), 3, "how often it asks"),
            loud: form.flag("loud", false, "hand out a deadline"),
        }
    }

    fn facts(&self) -> Facts {
        let sends = Sends { to_hold: vec!["SETNX", "DEL"], to_extend: Vec::new() };
        Facts { sends: Some(sends), extends: false, deadline: self.loud, fencing: false, ..Facts::default() }
    }

    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        (ttl < Duration::from_secs(self.patience)).then(|| Unfit {
            cause: "its patience is longer than `lock.ttl`".to_owned(),
            hint: "use a longer `ttl`".to_owned(),
        })
    }
}

/// Ours and those of this file.
fn locks() -> Vec<Descriptor> {
    let mut locks = descriptors();
    locks.push(Descriptor::from_config::<Patient>("patient", "asks a few times", "us", Nodes::One));
    // A lock that says nothing of itself.
    locks.push(Descriptor::from_config::<()>("silent", "nobody knows", "us", Nodes::One));
    locks
}

fn read(lock: &str, more: &str) -> Result<Scenario, String> {
    let text = format!(
        r#"
        claim = "a lock of my own"
        lock = {{ algorithm = {lock} }}
        nodes = {{ names = ["A"] }}
        {more}
        [[clients]]
        name = "c1"
        program = ["acquire", "work 1s", "check", "release"]
        "#
    );
    let source = Source { name: "own".into(), file: "own".into(), text, locks: locks(), ..Source::default() };
    source.read().map_err(|error| error.to_string().replacen("cannot read scenario `own`: ", "", 1))
}

fn refusal(lock: &str, more: &str) -> String {
    read(lock, more).map(|_| ()).expect_err("it is refused")
}

#[test]
fn a_lock_of_ones_own_has_its_switches_and_their_defaults() {
    let lock =
        read("\"patient\", ttl = \"9s\", patience = 7", "").unwrap_or_else(|error| panic!("{error}")).lock;
    assert_eq!(lock.algorithm, "patient");
    let switches: Vec<(&str, &Value)> = lock.switches.iter().collect();
    assert_eq!(switches, [("loud", &Value::Flag(false)), ("patience", &Value::Number(7))]);
}

#[test]
fn a_lock_of_ones_own_has_refusals_like_ours() {
    let cases = [
        (
            "\"patient\", ttl = \"9s\", patience = 10",
            "line 3: `lock.patience` must be a whole number within bounds, not `10`\nhint: use 1 to 9",
        ),
        (
            "\"patient\", ttl = \"9s\", tries = 3",
            "line 3: `lock.tries` means nothing to the `patient` lock\nhint: remove it, or change `lock.algorithm` to \
             `redlock`; `patient` takes `patience` and `loud`",
        ),
        (
            "\"single\", ttl = \"9s\", patience = 3",
            "line 3: `lock.patience` means nothing to the `single` lock\nhint: remove it, or change `lock.algorithm` \
             to `patient`",
        ),
        (
            "\"silent\", ttl = \"9s\", patience = 3",
            "line 3: `lock.patience` means nothing to the `silent` lock\nhint: remove it, or change `lock.algorithm` \
             to `patient`; `silent` takes no switches",
        ),
        (
            "\"patient\", ttl = \"2s\"",
            "line 3: its patience is longer than `lock.ttl`\nhint: use a longer `ttl`",
        ),
        ("\"patent\", ttl = \"2s\"", "did you mean `patient`?"),
    ];
    for (lock, expected) in cases {
        let refused = refusal(lock, "");
        assert!(refused.contains(expected), "for {lock}:\n{refused}");
    }
}

#[test]
fn what_a_lock_of_ones_own_cannot_do_is_refused_and_what_nobody_knows_is_not() {
    let extends = "[[clients]]\nname = \"c2\"\nprogram = [\"acquire\", \"extend\", \"release\"]\n";
    let fencing = "resource = { fencing = \"reject-lower\" }\n";
    let waits = |event: &str| {
        format!("faults = [{{ kind = \"pause\", host = \"c1\", for = \"1s\", at = \"{event}\" }}]\n")
    };
    let patient = "\"patient\", ttl = \"9s\"";
    let cases = [
        (
            extends.to_owned(),
            "`clients.0.program`: the `patient` lock cannot be extended\nhint: remove `extend`, or use `single`, \
             `replicated`, `redlock`",
        ),
        (fencing.to_owned(), "hint: use `silent`, or remove `resource.fencing`"),
        (waits("SET executed for c1"), "hint: the clients of this lock send `DEL` and `SETNX`"),
        (waits("c1's expiry"), "hint: the lock computes no deadline: set `lock.loud = true`"),
    ];
    for (more, expected) in &cases {
        let refused = refusal(patient, more);
        assert!(refused.contains(expected), "for {more}:\n{refused}");
        let read = read("\"silent\", ttl = \"9s\"", more);
        assert!(read.is_ok(), "nothing is known of it: {:?}", read.err());
    }
    assert!(read(patient, &waits("SETNX executed for c1")).is_ok());
    assert!(read(&format!("{patient}, loud = true"), &waits("c1's expiry")).is_ok());
}

#[test]
fn a_plan_of_a_lock_of_ones_own_is_read_where_that_lock_is_known() {
    let scenario =
        read("\"patient\", ttl = \"9s\", patience = 7", "").unwrap_or_else(|error| panic!("{error}"));
    let plan = Plan {
        scenario,
        seed: Seed(7),
        hash_rules: 1,
        trace_hash: "00ff00ff00ff00ff".to_owned(),
        verdicts: std::collections::BTreeMap::new(),
        program: String::new(),
        engine: "sim".to_owned(),
    };
    let text = plan.to_toml().expect("it was read");
    assert_eq!(Plan::parse_with("own.plan", &text, locks()).unwrap_or_else(|error| panic!("{error}")), plan);
    assert!(Plan::parse("own.plan", &text).is_err(), "nobody else knows that lock");
}
