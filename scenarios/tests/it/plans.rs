//! Plans: what is written is read as itself, older ones are read, and a replay says what can be compared.

use std::time::Duration;

use doublehold_history::Predicate;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::report::Replay;
use doublehold_scenarios::{Engine, Report, Seed, SimEngine, catalog};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn run(name: &str, sets: &[(&str, &str)], seed: u64) -> Report {
    let sets: Vec<_> = sets.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    let scenario = catalog::load(name, &sets).unwrap_or_else(|error| panic!("{error}"));
    SimEngine.run(&scenario, seed)
}

fn two_jumps() -> Report {
    run("clock-jump/k4-two-jumps", &[("lock.ttl", "11s"), ("story", "\"it's 5 o'clock\"")], u64::MAX)
}

fn text() -> String {
    Plan::from_report(&two_jumps()).to_toml().unwrap()
}

/// The refusal of the plan with something in it replaced.
fn refusal(from: &str, to: &str) -> String {
    let text = text();
    assert!(text.contains(from), "{from}\n{text}");
    Plan::parse("my x.plan", &text.replacen(from, to, 1))
        .map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
}

#[test]
fn a_plan_holds_all_that_a_replay_needs() {
    let report = two_jumps();
    let plan = Plan::parse("x.plan", &text()).unwrap();
    assert_eq!(plan, Plan::from_report(&report));
    assert_eq!((plan.seed, &plan.scenario), (Seed(u64::MAX), &*report.scenario));
    assert_eq!(plan.verdicts[&Predicate::P1], report.verdicts.get(Predicate::P1).as_str());
    let replay = SimEngine.run(&plan.scenario, plan.seed);
    assert_eq!(plan.compare_replay(&replay), Replay::Same);
    let other = SimEngine.run(&plan.scenario, 1);
    assert_eq!(plan.compare_replay(&other), Replay::Another { planned: report.trace_hash.to_string() });
}

#[test]
fn a_plan_of_every_entry_of_the_catalogue_is_read_as_itself() {
    for entry in catalog::entries().unwrap() {
        let plan =
            Plan { scenario: catalog::load(&entry.name, &[]).unwrap(), ..Plan::from_report(&two_jumps()) };
        assert_eq!(Plan::parse("x.plan", &plan.to_toml().unwrap()).unwrap(), plan, "{}", entry.name);
    }
}

#[test]
fn the_version_of_the_program_is_there_to_be_read() {
    let other = format!("program = \"{VERSION}\"");
    assert_eq!(refusal(&other, "program = \"9.9.9\""), "accepted");
    assert_eq!(refusal(&other, ""), "accepted");
}

#[test]
fn a_plan_made_under_other_hash_rules_is_replayed_and_its_verdicts_compared() {
    let rules = |text: String| text.replacen("hash_rules = 3", "hash_rules = 99", 1);
    let report = two_jumps();
    let plan = Plan::parse("x.plan", &rules(text())).unwrap();
    let replay = plan.compare_replay(&report);
    assert_eq!((replay.is_same_run(), replay.are_same_verdicts()), (None, Some(true)));
    assert_eq!(
        replay.words("ff"),
        "made under hash rules 99, this program has 3: verdicts are compared, hashes cannot be; every verdict is as in the plan"
    );
    let was = report.verdicts.get(Predicate::P1).as_str();
    let turned = if was == "holds" { "violated" } else { "holds" };
    let text = rules(text()).replacen(&format!("P1 = \"{was}\""), &format!("P1 = \"{turned}\""), 2);
    let replay = Plan::parse("x.plan", &text).unwrap().compare_replay(&report);
    assert!(replay.contradicts());
    assert_eq!(
        replay.words("ff"),
        format!(
            "NOT AS IN THE PLAN: made under hash rules 99, this program has 3: verdicts are compared, hashes cannot be; P1 was {turned} and is {was}"
        )
    );
}

#[test]
fn a_plan_whose_verdicts_are_others_is_not_the_run_that_it_says_it_is() {
    let report = two_jumps();
    let was = report.verdicts.get(Predicate::P1).as_str();
    let turned = if was == "holds" { "violated" } else { "holds" };
    let (before, verdicts) =
        text().split_once("[verdicts]").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let verdicts = verdicts.replacen(&format!("P1 = \"{was}\""), &format!("P1 = \"{turned}\""), 1);
    let plan = Plan::parse("x.plan", &format!("{before}[verdicts]{verdicts}")).unwrap();
    let replay = plan.compare_replay(&report);
    assert!(replay.contradicts());
    assert_eq!((replay.is_same_run(), replay.are_same_verdicts()), (Some(true), Some(false)));
    assert_eq!(
        replay.words("ff"),
        format!(
            "NOT AS IN THE PLAN: the run is the same, trace ff, and its verdicts are not; P1 was {turned} and is {was}"
        )
    );
}

/// Versions before there was a rule for the ttl took it as it was, and rounded it up.
#[test]
fn a_plan_with_a_ttl_that_no_file_may_have_any_more_is_replayed() {
    let mut scenario = catalog::load("set-without-nx", &[]).unwrap();
    scenario.lock.ttl = Duration::from_millis(1500);
    scenario.clients[0].ttl = Some(Duration::from_millis(2500));
    assert!(scenario.validate().unwrap_err().to_string().contains("counts whole seconds"));
    let report = SimEngine.run(&scenario, 1);
    let plan = Plan::parse("old.plan", &Plan::from_report(&report).to_toml().unwrap())
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(plan.scenario, scenario);
    assert_eq!(plan.compare_replay(&SimEngine.run(&plan.scenario, plan.seed)), Replay::Same);
}

#[test]
fn a_plan_of_the_first_format_is_still_read() {
    let report = run("lease-pause", &[], 7);
    let (hash, scenario) = (report.trace_hash, report.scenario.to_toml());
    let plan = |version: &str| {
        format!(
            "plan = 1\nprogram = \"{version}\"\nname = \"lease-pause\"\nseed = \"7\"\ntrace_hash = \"{hash}\"\nscenario = '''\n{scenario}'''\n"
        )
    };
    for version in [VERSION, "0.0.9"] {
        let plan = Plan::parse("old.plan", &plan(version)).unwrap();
        assert_eq!((&plan.scenario, plan.seed, plan.hash_rules), (&*report.scenario, Seed(7), 1));
        let replay = plan.compare_replay(&report);
        assert_eq!(
            (replay.is_same_run(), replay.are_same_verdicts(), replay.contradicts()),
            (None, None, false)
        );
        assert_eq!(
            replay.words("ff"),
            "made under hash rules 1, this program has 3: hashes cannot be compared, and the plan holds no verdicts to compare"
        );
    }
    let broken = plan(VERSION).replace("\"single\"", "\"singel\"");
    let refused = Plan::parse("old.plan", &broken).unwrap_err().to_string();
    assert!(
        refused.contains("`old.plan: scenario`") && refused.contains("did you mean `single`?"),
        "{refused}"
    );
}

/// Before there was `on_lost_lock`, clients went on.
#[test]
fn a_key_that_a_plan_does_not_have_means_what_was_done_before_there_was_one() {
    let program = "['acquire', 'read', 'work 12s', 'extend', 'write', 'release']";
    let of = |on_lost_lock: &str| {
        let sets =
            [("clients.0.program", program), ("clients.0.on_lost_lock", on_lost_lock), ("faults", "[]")];
        run("lease-pause/single", &sets, 7)
    };
    let (report, stops) = (of("go-on"), of("stop"));
    assert_ne!(report.trace_hash, stops.trace_hash, "what a client does then shows");
    let without = |text: String| -> String {
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("on_lost_lock")).collect();
        assert!(lines.len() + 2 == text.lines().count(), "two clients say it:\n{text}");
        lines.join("\n") + "\n"
    };
    let older = without(Plan::from_report(&report).to_toml().unwrap());
    let hash = report.trace_hash;
    let oldest = format!(
        "plan = 1\nhash_rules = 3\nname = \"x\"\nseed = \"7\"\ntrace_hash = \"{hash}\"\nscenario = '''\n{}'''\n",
        without(report.scenario.to_toml())
    );
    for text in [older, oldest] {
        let plan = Plan::parse("old.plan", &text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(plan.compare_replay(&SimEngine.run(&plan.scenario, plan.seed)), Replay::Same);
    }
}

#[test]
fn a_plan_of_a_later_format_is_refused_with_the_command_that_makes_its_run_again() {
    assert_eq!(
        refusal("plan = 2", "plan = 3\nmade_of = \"something new\""),
        format!(
            "cannot replay plan `my x.plan`: it was written by doublehold {VERSION} as plan format 3, and this program reads formats up to 2\n\
             hint: replay it with that version, or make the run again: \
             `doublehold run clock-jump/k4-two-jumps --seed 18446744073709551615 --set 'lock.ttl=11s' --set \"story=\\\"it's 5 o'clock\\\"\"`"
        )
    );
}

#[test]
fn a_broken_plan_is_told_what_is_wrong_and_where() {
    let hint = "\nhint: a plan is the file that `run --plan` writes: use it as it was written, or `run` a scenario file";
    let cases = [
        ("plan = 2", "", format!("line 1: the file has no `plan`{hint}")),
        ("plan = 2", "plan = [", "in array".to_owned()),
        ("seed = ", "sead = ", "unknown key `sead`\nhint: did you mean `seed`?".to_owned()),
        ("\"18446744073709551615\"", "\"many\"", "`seed` must be a whole number, not `many`".to_owned()),
        ("\"18446744073709551615\"", "-1", "`seed` must be a whole number, not `-1`".to_owned()),
        (
            "algorithm = \"redlock\"",
            "algorithm = \"redlok\"",
            "the plan is of the lock `redlok`, which is not known here".to_owned(),
        ),
        ("hash_rules = 3", "hash_rules = 0", "`hash_rules` must be".to_owned()),
        ("P4 = ", "P9 = ", "unknown key `P9` in `verdicts`".to_owned()),
    ];
    for (from, to, expected) in cases {
        let refused = refusal(from, to);
        assert!(
            refused.starts_with("cannot read plan `my x.plan`: line ") && refused.contains(&expected),
            "{refused}"
        );
        assert_eq!(refused.lines().count(), 2, "{refused}");
    }
    assert_eq!(refusal("\"18446744073709551615\"", "5"), "accepted", "a small seed may be a number");
}

#[test]
fn a_plan_may_be_larger_than_the_scenario_it_was_made_of() {
    let path = std::env::temp_dir().join(format!("doublehold plan {}.plan", std::process::id()));
    let read = |mebibytes: usize| {
        std::fs::write(&path, format!("{}\n# {}\n", text(), "x".repeat(mebibytes << 20))).unwrap();
        Plan::read(path.to_str().unwrap()).map_err(|error| error.to_string())
    };
    let (large, too_large) = (read(3), read(5));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(large, Ok(Plan::from_report(&two_jumps())));
    assert!(too_large.is_err_and(|error| error.contains("it is larger than 4 MiB")));
}
