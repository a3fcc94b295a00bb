//! The catalogue parses, whole; names, changes and plans find their way; moments mean what they say.

use std::time::Duration;

use doublehold_lockimpl::Value;
use doublehold_scenarios::catalog;
use doublehold_scenarios::error::ScenarioError;
use doublehold_scenarios::scenario::Scenario;
use doublehold_scenarios::when::{Mark, When};
use doublehold_sim::{Fault, HostId, Occurrence, Pattern, PlannedFault, SimTime, Trigger};

fn load(name: &str, sets: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
    let sets: Vec<_> = sets.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    catalog::load(name, &sets)
}

fn message(name: &str, sets: &[(&str, &str)]) -> String {
    load(name, sets).map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
}

#[test]
fn every_scenario_and_variant_of_the_catalogue_parses_and_says_what_it_expects() {
    let entries = catalog::entries().unwrap_or_else(|error| panic!("{error}"));
    for persistence in ["none", "everysec", "always"] {
        for crash in ["process-crash", "power-loss"] {
            for restart in ["at-once", "delayed"] {
                let cell = format!("crash-restart/{persistence}/{crash}/{restart}");
                assert!(entries.iter().any(|entry| entry.name == cell), "{cell}");
            }
        }
    }
    for entry in entries {
        assert!(!entry.claim.is_empty() && !entry.story.is_empty(), "{}", entry.name);
        let scenario = load(&entry.name, &[]).unwrap();
        let bounds = [scenario.limits.obtain_within, scenario.limits.obtain_free_within];
        assert!(bounds.iter().any(Option::is_some), "{} states no bound for LV", entry.name);
    }
}

#[test]
fn a_scenario_that_is_written_reads_back_as_itself() {
    for entry in catalog::entries().unwrap() {
        let scenario = load(&entry.name, &[("lock.ttl", "11s")]).unwrap();
        assert_eq!(scenario.sets, ["lock.ttl=11s"], "its story was written without");
        assert_eq!(scenario.validate().unwrap(), scenario, "{}", entry.name);
    }
}

#[test]
fn a_variant_is_its_scenario_with_some_keys_changed() {
    let (base, variant) = (load("lease-pause", &[]).unwrap(), load("lease-pause/redlock", &[]).unwrap());
    assert_eq!((base.lock.algorithm.as_str(), variant.lock.algorithm.as_str()), ("single", "redlock"));
    assert_eq!((base.lock.ttl, base.claim.as_str()), (variant.lock.ttl, variant.claim.as_str()));
    assert_eq!(variant.name, "lease-pause/redlock");
}

#[test]
fn sets_change_what_was_typed() {
    let scenario = load(
        "lease-pause",
        &[
            ("lock.ttl", "7s"),
            ("lock.elapsed_check", "false"),
            ("clients.0.rounds", "3"),
            ("faults.0.for", "\"9s\""),
            ("network.delay", "{ median = \"2ms\", sigma = \"1/2\" }"),
            ("clocks.c1.offset", "-3h"),
        ],
    );
    let scenario = scenario.unwrap();
    let checked = scenario.lock.switches.get("elapsed_check");
    assert_eq!((scenario.lock.ttl, checked), (Duration::from_secs(7), Some(&Value::Flag(false))));
    assert_eq!(scenario.clients[0].rounds, 3);
    assert_eq!(scenario.faults[0].lasting, Some(Duration::from_secs(9)));
    assert_eq!(scenario.hosts[2].wall_offset_ns, -3 * 3600 * 1_000_000_000);
}

#[test]
fn a_set_that_is_wrong_is_named_in_the_message() {
    let cases = [
        ("lock.ttll", "5s", "`--set lock.ttll=5s`: unknown key `ttll` in `lock`\nhint: did you mean `ttl`?"),
        (
            "lock.ttl",
            "5",
            "`--set lock.ttl=5`: `lock.ttl` must be a duration such as \"2.5s\", not `5`\nhint: did you mean \"5s\"?",
        ),
        (
            "faults.1.for",
            "5s",
            "`--set faults.1.for=5s`: `faults` has no item `1`\nhint: its only item is `faults.0`",
        ),
        (
            "clients.x.rounds",
            "5",
            "`--set clients.x.rounds=5`: `clients` has no item `x`\nhint: its items are `clients.0` to `clients.1`",
        ),
        (
            "lock.ttl.x",
            "5s",
            "`--set lock.ttl.x=5s`: `lock.ttl` is a value, so it has no `x`\nhint: set `lock.ttl` itself",
        ),
        (
            "lock..ttl",
            "5s",
            "`--set lock..ttl=5s`: the key has an empty part\nhint: write it as `--set lock.ttl=5s`, with list items by number: `--set faults.0.for=3s`",
        ),
        (
            "",
            "5s",
            "`--set =5s`: the key has an empty part\nhint: write it as `--set lock.ttl=5s`, with list items by number: `--set faults.0.for=3s`",
        ),
        (
            "variants.0.name",
            "x",
            "`--set variants.0.name=x`: variants cannot be set\nhint: run the variant by its name, or set its keys",
        ),
        (
            "faults.0.host",
            "c9",
            "`--set faults.0.host=c9`: `faults.0.host`: there is no host `c9`\nhint: did you mean `c1`?",
        ),
        (
            "lock.ttl",
            "1.5",
            "`--set lock.ttl=1.5`: `1.5` has a fraction, and no key takes one\nhint: write durations as \"1.5s\" and shares as ratios such as \"1/200\"",
        ),
    ];
    for (path, value, expected) in cases {
        assert_eq!(
            message("lease-pause", &[(path, value)]),
            format!("cannot read scenario `lease-pause`: {expected}")
        );
    }
    // A line break cannot smuggle a second key in.
    assert!(message("lease-pause", &[("lock.ttl", "\"5s\"\nstory = 1")]).contains("must be a duration"));
}

/// What the kernel is to do for a scenario's first fault.
fn first_planned(scenario: &Scenario) -> PlannedFault {
    scenario.faults[0].to_planned(&scenario.cast()).unwrap()
}

/// The trigger and the words of a fault of `lease-pause/redlock` that strikes at `text`.
fn moment(text: &str) -> (Trigger, String) {
    let scenario = load("lease-pause/redlock", &[("faults.0.at", &format!("{text:?}"))]);
    let scenario = scenario.unwrap_or_else(|error| panic!("`{text}`: {error}"));
    let when = &scenario.faults[0].at;
    assert_eq!(when.to_string().parse().as_ref(), Ok(when), "`{text}` is written and read as itself");
    (first_planned(&scenario).trigger, when.words())
}

// In the world, the observer is 0, then come A to E, the resource, c1 and c2.
const A: HostId = HostId(1);
const C1: HostId = HostId(7);
const C2: HostId = HostId(8);

/// A moment as typed, in words, the delay after its last event, and its events with their numbers.
type Read<'a> = (&'a str, &'a str, Duration, Vec<(Pattern, u32)>);

#[test]
fn moments_are_read_backwards_in_time() {
    let mark = |host, label: &str, about| Pattern::Mark { host, label: label.to_owned(), about };
    let set = || mark(None, "SET", Some(C1));
    let cases: [Read<'_>; 13] = [
        ("c1's grant", "at c1's grant", Duration::ZERO, vec![(mark(Some(C1), "grant", None), 1)]),
        ("SET executed", "at the 1st SET executed", Duration::ZERO, vec![(mark(None, "SET", None), 1)]),
        ("the 3rd set executed for c1", "at the 3rd SET executed for c1", Duration::ZERO, vec![(set(), 3)]),
        (
            "SET executed on A for c1",
            "at the 1st SET executed for c1 on A",
            Duration::ZERO,
            vec![(mark(Some(A), "SET", Some(C1)), 1)],
        ),
        (
            "2s after c2's 11th refusal",
            "2 s after c2's 11th refusal",
            Duration::from_secs(2),
            vec![(mark(Some(C2), "refusal", None), 11)],
        ),
        (
            "the 2nd c2's refusal",
            "at c2's 2nd refusal",
            Duration::ZERO,
            vec![(mark(Some(C2), "refusal", None), 2)],
        ),
        (
            "1.5ms after c1's boot",
            "1.5 ms after c1's boot",
            Duration::from_micros(1500),
            vec![(Pattern::Booted { host: C1 }, 1)],
        ),
        ("c1's 3rd timer", "at c1's 3rd timer", Duration::ZERO, vec![(Pattern::TimerFired { host: C1 }, 3)]),
        (
            "c1's message to A",
            "at c1's message to A",
            Duration::ZERO,
            vec![(Pattern::Sent { host: C1, to: Some(A) }, 1)],
        ),
        (
            "c1's 2nd message from A",
            "at c1's 2nd message from A",
            Duration::ZERO,
            vec![(Pattern::Delivered { host: C1, from: Some(A) }, 2)],
        ),
        (
            "c1's clock read after the 5th SET executed for c1",
            "at c1's clock read after the 5th SET executed for c1",
            Duration::ZERO,
            vec![(set(), 5), (Pattern::ClockRead { host: C1 }, 1)],
        ),
        (
            "1s after the c1's check after 2nd SET executed for c1 after c2's grant",
            "1 s after c1's check after the 2nd SET executed for c1 after c2's grant",
            Duration::from_secs(1),
            vec![(mark(Some(C2), "grant", None), 1), (set(), 2), (mark(Some(C1), "check", None), 1)],
        ),
        ("0s after c1's write", "at c1's write", Duration::ZERO, vec![(mark(Some(C1), "write", None), 1)]),
    ];
    for (text, words, offset, occurrences) in cases {
        let occurrences = occurrences.into_iter().map(|(pattern, nth)| Occurrence { pattern, nth }).collect();
        assert_eq!(
            moment(text),
            (Trigger::On { occurrences, offset, each: false }, words.to_owned()),
            "`{text}`"
        );
    }
    for text in ["2.5s", "2.5 s", " 2500ms "] {
        assert_eq!(moment(text), (Trigger::At(SimTime(2_500_000_000)), "at 2.5 s".to_owned()));
    }
}

#[test]
fn a_client_that_starts_later_is_no_fault() {
    let scenario = load("lease-pause/redlock", &[]).unwrap();
    let starts: Vec<_> = scenario.clients.iter().map(|client| client.start.clone()).collect();
    assert_eq!(starts, [None, Some(When::event("c1", Mark::Grant))]);
    assert_eq!(scenario.faults.len(), 1, "c1's pause");
}

#[test]
fn a_file_that_is_no_scenarios_is_told_what_it_may_be() {
    let refusal = catalog::load("FORMAT.md", &[]).expect_err("a page is no scenario").to_string();
    assert_eq!(
        refusal,
        "unknown scenario `FORMAT.md`\nhint: a scenario's file has a name that ends in `.toml`; a plan is for `doublehold replay`"
    );
}

#[test]
fn faults_are_told_in_words() {
    let words = |fault: &str| {
        let scenario =
            load("failover-before-replication", &[("faults", &format!("[{{ at = \"1s\", {fault} }}]"))]);
        scenario.unwrap_or_else(|error| panic!("`{fault}`: {error}")).faults.remove(0).words()
    };
    let cases = [
        ("kind='pause', host='c1', for='12s'", "c1 pauses for 12 s"),
        ("kind='pause', host=['R1','R2','M'], for='90s'", "R1, R2 and M pause for 90 s"),
        ("kind='suspend', host='c1', for='1h'", "c1 is suspended for 1 h"),
        (
            "kind='suspend', host='c1', for='1h', resync='2s'",
            "c1 is suspended for 1 h, and its wall clock is set right 2 s later",
        ),
        (
            "kind='slow-node', host='M', by='1s..3s', for='9s'",
            "M needs 1 s to 3 s more for each command for 9 s",
        ),
        ("kind='crash', host='M'", "M crashes and stays down"),
        ("kind='crash', host='M', for='0s'", "M crashes and restarts at once"),
        (
            "kind='power-loss', host=['M','R1'], for='12s', torn_tail=true",
            "M and R1 lose power and restart after 12 s",
        ),
        ("kind='clock-step', host='c1', by='-10s'", "c1 has its wall clock stepped by -10 s"),
        (
            "kind='clock-drift', host='c1', by='-1/100', for='10m'",
            "c1 runs its clocks off by -1/100 for 10 min",
        ),
        ("kind='clock-freeze', host='c1', clock='boot'", "c1 has its boot clock frozen"),
        ("kind='cut', from='c1', to=['M','R1'], both_ways=true", "the link between c1 and M and R1 is cut"),
        ("kind='cut', from='c1', to='M', for='5s'", "the link from c1 to M is cut for 5 s"),
        ("kind='slow', from='c1', to='M', by='2s'", "2 s of extra delay from c1 to M"),
        (
            "kind='packet-delay', from='c1', to='resource', by='90s'",
            "the next message takes 90 s longer from c1 to resource",
        ),
        (
            "kind='duplicate', from='c1', to='M', after='12s'",
            "the next request is sent again 12 s later from c1 to M",
        ),
        (
            "kind='loss', from='c1', to='M', probability='1/10'",
            "1/10 of all transmissions are lost from c1 to M",
        ),
        (
            "kind='reset-connections', from=['c1','c2'], to='M'",
            "the connections between c1 and c2 and M are reset",
        ),
        ("kind='fsync-lies', host='M'", "M has a disk that lies about fsync"),
        ("kind='disk-snapshot', host='M'", "M has its disk remembered"),
        ("kind='disk-rollback', host=['M','R1']", "M and R1 have their disk rolled back"),
        ("kind='flush', host=['M','R1']", "M and R1 are flushed"),
        ("kind='evict', host='M'", "M evicts every key that has a lifetime"),
        ("kind='evict', host=['M','R1'], volatile_only=false", "M and R1 evict every key"),
        ("kind='promote', host='R1'", "R1 is promoted to master"),
        ("kind='promote', host='R1', tell=[]", "R1 is promoted to master, and nobody else is told"),
        ("kind='promote', host='R1', tell='M'", "R1 is promoted to master, and only M is told"),
        ("kind='follow', host=['M','R2'], master='R1'", "M and R2 are told to follow R1"),
        (
            "kind='follow', host='M', master='R1', rewrite_config=false",
            "M is told to follow R1, without CONFIG REWRITE",
        ),
    ];
    for (fault, expected) in cases {
        assert_eq!(words(fault), expected);
    }
}

#[test]
fn a_promotion_is_given_at_the_promoted_node_and_says_whom_to_tell() {
    let given = |fault: &str| {
        let faults = format!("[{{ at = \"1s\", {fault} }}]");
        first_planned(&load("failover-before-replication", &[("faults", &faults)]).unwrap()).faults
    };
    let signal = |host, signal: &str| Fault::Signal { host: HostId(host), signal: signal.to_owned() };
    assert_eq!(given("kind='promote', host='R1'"), [signal(2, "promote rewrite M R2")]);
    assert_eq!(given("kind='promote', host='R1', tell=['R2']"), [signal(2, "promote rewrite R2")]);
    assert_eq!(given("kind='promote', host='R1', tell=[]"), [signal(2, "promote rewrite")]);
    assert_eq!(
        given("kind='follow', host=['M','R2'], master='R1', rewrite_config=false"),
        [signal(1, "follow plain R1"), signal(3, "follow plain R1")]
    );
}

#[test]
fn a_cut_both_ways_cuts_each_direction_once() {
    let cut = "[{ kind='cut', from='c1', to=['A','B'], both_ways=true, at='1s' }]";
    let scenario = load("lease-pause/redlock", &[("faults", cut)]).unwrap();
    let cut = |from, to| Fault::Cut { from: HostId(from), to: HostId(to) };
    assert_eq!(first_planned(&scenario).faults, [cut(7, 1), cut(7, 2), cut(1, 7), cut(2, 7)]);
}

#[test]
fn a_file_of_the_users_own_runs_like_one_of_the_catalogue() {
    let folder = std::env::temp_dir().join(format!("doublehold-format-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("mine.toml");
    std::fs::write(&path, include_str!("../../catalog/redlock/lease-pause.toml")).unwrap();
    let path = path.to_str().unwrap();
    let mine = load(path, &[]).unwrap();
    let variant = load(&format!("{path}/redlock"), &[]).unwrap();
    let unknown = message(&format!("{path}/redlok"), &[]);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!((mine.name.as_str(), variant.name.as_str()), ("mine", "mine/redlock"));
    assert_eq!(variant.to_toml(), load("lease-pause/redlock", &[]).unwrap().to_toml());
    assert!(
        unknown.ends_with("line 1: there is no variant `redlok`\nhint: did you mean `redlock`?"),
        "{unknown}"
    );
}

#[test]
fn a_limit_of_memory_may_be_given_in_any_unit_and_is_a_gibibyte_otherwise() {
    assert_eq!(load("quiet", &[]).unwrap().limits.memory, 1 << 30);
    for (text, bytes) in [
        ("1MiB", 1 << 20),
        ("1048576B", 1 << 20),
        ("2048KiB", 2 << 20),
        ("5000kB", 5_000_000),
        (" 3 MB ", 3_000_000),
        ("2GB", 2_000_000_000),
        ("64GiB", 64 << 30),
    ] {
        assert_eq!(load("quiet", &[("limits.memory", text)]).unwrap().limits.memory, bytes, "{text}");
    }
}
