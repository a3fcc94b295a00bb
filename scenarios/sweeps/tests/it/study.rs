//! Studies: what each parameter changes, which scenario each cell is, and that the ready ones can be read.

use std::time::Duration;

use doublehold_scenarios::scenario::{Role, Scenario};
use doublehold_scenarios::weather::{LineName, RandomFault};
use doublehold_sweeps::study::{CellId, Study, bundled_studies};

/// A study of one design with this in it.
fn study(more: &str, design: &str) -> Result<Study, String> {
    let text = format!("question = \"?\"\n{more}\n[[designs]]\nname = \"d\"\n{design}\n");
    Study::parse("test", "test.toml", &text).map_err(|error| error.to_string())
}

/// The world of `redlock` under `cloud` with one parameter changed.
fn with(key: &str, value: &str) -> Scenario {
    let study = study(&format!("weather = \"cloud\"\n[set]\n\"{key}\" = {value}"), "lock = \"redlock\"");
    study.expect("a study").scenario(CellId(0)).expect("a scenario")
}

fn pauses(scenario: &Scenario) -> Vec<&RandomFault> {
    let lines = scenario.weather.iter().flat_map(|weather| &weather.faults);
    lines.filter(|line| line.effect.kind().word == "pause").collect()
}

fn count(scenario: &Scenario, role: Role) -> usize {
    scenario.hosts.iter().filter(|host| host.role == role).count()
}

#[test]
fn short_names_change_all_that_they_name() {
    assert_eq!(count(&with("clients.count", "7"), Role::Client), 7);
    assert_eq!(count(&with("clients.count", "1"), Role::Client), 1);
    assert_eq!(count(&with("nodes.count", "3"), Role::Node), 3);
    assert!(with("clients.rounds", "9").clients.iter().all(|client| client.rounds == 9));
    assert!(with("clients.work", "\"7s\"").to_toml().matches("\"work 7s\"").count() == 3);
    assert_eq!(with("lock.ttl", "\"9s\"").lock.ttl, Duration::from_secs(9));
    let drift = with("clocks.nodes.drift", "\"1/100\"").to_toml();
    assert_eq!(drift.matches("drift = \"1/100\"").count(), 5, "{drift}");
    let drift = with("clocks.clients.drift", "\"1/100\"").to_toml();
    assert_eq!(drift.matches("drift = \"1/100\"").count(), 3, "{drift}");
    let rarer = with("weather.pause.every", "\"90s\"");
    assert_eq!(pauses(&rarer).len(), 2);
    assert!(pauses(&rarer).iter().all(|line| line.every == Duration::from_secs(90)));
    assert!(pauses(&with("weather.pause", "false")).is_empty());
    assert_eq!(pauses(&with("weather.pause", "true")).len(), 2);
    assert!(with("weather", "\"none\"").weather.is_none());
    assert_eq!(pauses(&with("weather", "\"pauses-only\"")).len(), 2);
}

/// The lines of `field`, each as `crash of clients: 604800 s`.
fn lines_of(more: &str) -> Vec<String> {
    let study = study(&format!("weather = \"field\"\n{more}"), "lock = \"single\"");
    let scenario = study.expect("a study").scenario(CellId(0)).expect("a scenario");
    let faults = scenario.weather.expect("it has weather").faults;
    let names = LineName::of_faults(&faults);
    names
        .iter()
        .zip(&faults)
        .map(|(name, fault)| format!("{name}: {} h", fault.every.as_secs() / 3600))
        .collect()
}

#[test]
fn one_line_of_several_of_its_kind_can_be_changed() {
    let before = lines_of("");
    let changed = |more: &str| {
        let after = lines_of(more);
        let [gone, new] = [(&before, &after), (&after, &before)].map(|(these, those)| {
            these
                .iter()
                .filter(|line| !those.contains(line))
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join("; ")
        });
        format!("{gone} -> {new}")
    };
    for (set, expected) in [
        ("\"weather.crash[nodes].every\" = \"9h\"", "crash[nodes]: 2190 h -> crash[nodes]: 9 h"),
        ("\"weather.crash[nodes]\" = false", "crash[nodes]: 2190 h -> "),
        ("\"weather.crash[nodes]\" = true", " -> "),
        (
            "\"weather.cut[master>clients,replicas].every\" = \"9h\"",
            "cut[master>clients,replicas]: 720 h -> cut[master>clients,replicas]: 9 h",
        ),
        (
            "\"weather.suspend[clients,nodes]#2.every\" = \"9h\"",
            "suspend[clients,nodes]#2: 13140 h -> suspend[clients,nodes]#2: 9 h",
        ),
        ("\"weather.suspend[clients,nodes]#2\" = false", "suspend[clients,nodes]#2: 13140 h -> "),
        // The only line of its kind, by its whole name.
        (
            "\"weather.promote[replicas].every\" = \"9h\"",
            "promote[replicas]: 720 h -> promote[replicas]: 9 h",
        ),
        // All lines of a kind, and then one of them.
        (
            "\"weather.crash[nodes].every\" = \"9h\"\n\"weather.crash.every\" = \"8h\"",
            "crash[clients]: 168 h; crash[nodes]: 2190 h -> crash[clients]: 8 h; crash[nodes]: 9 h",
        ),
    ] {
        assert_eq!(changed(&format!("[set]\n{set}")), expected);
    }
    let grid = study(
        "weather = \"field\"\n[grid]\n\"weather.crash[nodes].every\" = [\"1h\", \"2h\"]\n\
         \"weather.crash[clients]\" = [true, false]",
        "lock = \"single\"\nset = { \"weather.pause[clients].for.median\" = \"7s\" }",
    )
    .expect("a study");
    let said = |cell| grid.scenario(CellId(cell)).expect("a cell").to_toml();
    assert!(said(3).contains("every = \"7200s\"") && !said(1).contains("every = \"7200s\""));
    assert!(said(2).contains("every = \"604800s\"") && said(3).matches("median = \"7s\"").count() == 1);
}

#[test]
fn a_line_that_a_weather_does_not_have_is_answered_with_those_that_it_has() {
    let refused = |key: &str, value: &str| {
        let more = format!("weather = \"field\"\n[set]\n\"{key}\" = {value}");
        study(&more, "lock = \"single\"").map(|_| ()).expect_err("it is refused")
    };
    for key in [
        "weather.crash[node].every",
        "weather.pause[replicas].every",
        "weather.suspend[clients,nodes]#3.every",
    ] {
        let told = refused(key, "\"9h\"");
        assert!(told.contains(&format!("unknown parameter `{key}` of design `d`")), "{told}");
        assert!(told.contains("did you mean `weather."), "{told}");
        for known in [
            "  weather.crash.every: a duration, \"604800s\" and others\n",
            "  weather.crash[clients].every: a duration, \"604800s\"\n",
            "  weather.crash[nodes].every: a duration, \"7884000s\"\n",
            "  weather.suspend[clients,nodes]#2.every: a duration, \"47304000s\"\n",
            "  weather.promote.every: a duration, \"2592000s\"\n",
        ] {
            assert!(told.contains(known), "{known} is not in {told}");
        }
        assert!(
            !told.contains("weather.promote[replicas]"),
            "a line alone of its kind has its short name: {told}"
        );
    }
    let told = refused("weather.crash[nodes].often", "\"9h\"");
    assert!(told.contains("unknown parameter `weather.crash[nodes].often`"), "{told}");
    let told = refused("weather.crash[nodes]", "3");
    assert!(told.contains("`weather.crash[nodes]` must be true or false"), "{told}");
    assert!(told.contains("such as `weather.crash[nodes].every`"), "{told}");
    let told = refused("weather.crash[nodes].every", "\"0s\"");
    assert!(told.contains("`weather.crash[nodes].every` is zero"), "{told}");
}

#[test]
fn strata_that_cannot_be_are_refused() {
    let refused = |weather: &str, strata: &str| {
        let more = format!("weather = \"{weather}\"\n[strata]\n{strata}");
        study(&more, "lock = \"single\"").map(|_| ()).expect_err("it is refused")
    };
    let told = refused("field", "faults = 3");
    assert!(told.contains("there are 816 strata by line of the weather, and the limit is 500"), "{told}");
    assert!(
        told.contains("hint: take fewer `faults`, or divide runs by kind, `by = \"kind\"`: 286 strata"),
        "{told}"
    );
    let told = refused("field", "by = \"kind\"\nfaults = 4");
    assert!(told.contains("there are 1001 strata, and the limit is 500"), "{told}");
    assert!(told.contains("hint: take fewer `faults`, or a weather of fewer kinds"), "{told}");
    let told = refused("field", "faults = 6");
    assert!(told.contains("there are 54264 strata by line") && !told.contains("by = "), "{told}");
    let told = refused("field", "faults = 3\nkinds = [\"pause\"]");
    assert!(told.contains("the weather has `suspend`, and `strata.kinds` does not"), "{told}");
    let told = refused("pauses-only", "faults = 1\nkinds = [\"pause[clients]\"]");
    assert!(told.contains("the weather has `pause[nodes]`, and `strata.kinds` does not"), "{told}");
    let told = refused("pauses-only", "faults = 1\nkinds = [\"pause[clients]\", \"pause[node]\"]");
    assert!(told.contains("the weather has `pause[nodes]`, and `strata.kinds` does not"), "{told}");
    let told = refused("pauses-only", "faults = 1\nkinds = [\"pauze[clients]\"]");
    assert!(told.contains("there is no fault `pauze[clients]`\nhint: did you mean `pause`?"), "{told}");
    for kinds in ["[\"pause\", \"pause[nodes]\"]", "[\"pause[nodes]\", \"pause\"]"] {
        let told = refused("pauses-only", &format!("faults = 1\nkinds = {kinds}"));
        assert!(told.contains("has `pause[nodes]` twice, once as one of `pause`"), "{told}");
        assert!(told.contains("hint: name either the kind, or each of its lines"), "{told}");
    }
    let told = refused("pauses-only", "faults = 1\nby = \"kind\"\nkinds = [\"pause[nodes]\"]");
    assert!(told.contains("`strata.kinds` has the line `pause[nodes]`, and `strata.by` is `kind`"), "{told}");
    assert!(told.contains("hint: name its kind, `pause`, or leave `by` out"), "{told}");
    let told = refused("pauses-only", "faults = 1\nby = \"host\"");
    assert!(told.contains("`strata.by`") && told.contains("line") && told.contains("kind"), "{told}");
}

#[test]
fn a_replicated_lock_keeps_its_master_whatever_the_number_of_nodes() {
    let study = study("[set]\n\"nodes.count\" = 4", "lock = \"replicated\"").expect("a study");
    let scenario = study.scenario(CellId(0)).expect("a scenario");
    let names: Vec<&str> =
        scenario.hosts.iter().filter(|host| host.role == Role::Node).map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["M", "R1", "R2", "R3"]);
    assert!(scenario.nodes.master.is_some());
}

#[test]
fn designs_vary_fastest_and_then_the_last_axis() {
    let text = "question = \"?\"\n[[designs]]\nname = \"a\"\nlock = \"single\"\n[[designs]]\nname = \"b\"\nlock = \"single\"\n\
                [grid]\n\"clients.count\" = [1, 2]\n\"lock.ttl\" = [\"1s\", \"2s\", \"3s\"]\n";
    let study = Study::parse("test", "test.toml", text).expect("a study");
    assert_eq!(study.grid().cells(), 12);
    for cell in 0..12u64 {
        let scenario = study.scenario(CellId(cell)).expect("a scenario");
        let ttl = cell / 2 % 3 + 1;
        assert_eq!(scenario.name, if cell % 2 == 0 { "a" } else { "b" });
        assert_eq!(scenario.lock.ttl, Duration::from_secs(ttl));
        assert_eq!(count(&scenario, Role::Client) as u64, cell / 6 + 1);
        assert_eq!(
            study.grid().place(cell),
            ((cell % 2) as usize, vec![(cell / 6) as usize, (ttl - 1) as usize])
        );
    }
}

#[test]
fn axes_are_in_the_order_that_was_typed_and_take_effect_in_that_of_the_alphabet() {
    let head = "question = \"?\"\n[[designs]]\nname = \"a\"\nlock = \"single\"\n";
    let every = "\"weather.pause.every\" = [\"5s\", \"6s\", \"7s\"]";
    let weather = "weather = [\"pauses-only\", \"no-amnesia\"]";
    let ttl = "\"lock.ttl\" = [\"1s\", \"2s\"]";
    let keys = |study: &Study| study.axes.iter().map(|axis| axis.key.clone()).collect::<Vec<_>>();
    for grid in [
        format!("weather = \"pauses-only\"\n{head}[grid]\n{every}\n{weather}\n{ttl}\n"),
        format!("weather = \"pauses-only\"\ngrid = {{ {every}, {weather}, {ttl} }}\n{head}"),
        format!("weather = \"pauses-only\"\ngrid.{every}\ngrid.{weather}\ngrid.{ttl}\n{head}"),
    ] {
        let study = Study::parse("test", "test.toml", &grid).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(keys(&study), ["weather.pause.every", "weather", "lock.ttl"]);
        assert_eq!(study.axes[0].values, ["5s", "6s", "7s"]);
        // The last axis is the fastest, and a weather undoes nothing that an axis says of it.
        for (cell, every) in [(0, 5), (1, 5), (2, 5), (3, 5), (4, 6), (8, 7)] {
            let scenario = study.scenario(CellId(cell)).expect("a scenario");
            assert_eq!(scenario.lock.ttl.as_secs(), cell % 2 + 1);
            assert!(pauses(&scenario).iter().all(|line| line.every.as_secs() == every), "cell {cell}");
            let more_than_pauses = scenario.weather.iter().flat_map(|weather| &weather.faults).count() > 2;
            assert_eq!(more_than_pauses, cell / 2 % 2 == 1, "cell {cell}");
        }
    }
}

#[test]
fn faults_strike_at_times_and_every_line_in_every_run_unless_the_study_says_otherwise() {
    let weather = |more: &str| {
        let study = study(more, "lock = \"single\"").expect("a study");
        study.scenario(CellId(0)).expect("a scenario").weather.expect("weather")
    };
    let named = weather("weather = \"cloud\"");
    assert_eq!((named.swarm, named.at_steps.to_string().as_str()), (false, "0/1"));
    let lines = "[weather]\nfor = \"9s\"\n[[weather.faults]]\nkind = \"crash\"\nhost = \"clients\"\nevery = \"9s\"\nfor = \"1s\"\nsource = \"?\"";
    let own = weather(lines);
    assert_eq!((own.swarm, own.at_steps.to_string().as_str(), own.window.as_secs()), (false, "0/1", 9));
    let typed = weather(&lines.replace("for = \"9s\"", "for = \"9s\"\nswarm = true\nat_steps = \"1/3\""));
    assert_eq!((typed.swarm, typed.at_steps.to_string().as_str()), (true, "1/3"));
    for law in ["swarm = true", "at_steps = \"1/3\""] {
        let lines = lines.replace("for = \"9s\"", &format!("for = \"9s\"\n{law}"));
        let divided = study(&format!("strata = {{ faults = 1 }}\n{lines}"), "lock = \"single\"");
        let told = divided.expect_err("it is refused").to_string();
        assert!(told.contains("strata have weights only where faults strike at times"), "{told}");
    }
    let off = weather(&lines.replace("for = \"9s\"", "for = \"9s\"\nswarm = false"));
    assert!(!off.swarm, "typed, and as it was typed");
    let set = weather("weather = \"cloud\"\n[set]\n\"weather.swarm\" = true");
    assert!(set.swarm);
}

#[test]
fn what_does_not_fit_a_design_is_refused_with_that_design() {
    let refused = |more: &str| study(more, "lock = \"single\"").expect_err("it is refused");
    let told = refused("[grid]\n\"nodes.count\" = [1, 3]");
    assert!(told.contains("design `d` with `nodes.count = 3`: the `single` lock runs on one node"), "{told}");
    let told = refused("[grid]\n\"lock.quorum\" = [\"majority\"]");
    assert!(told.contains("design `d` with `lock.quorum = majority`"), "{told}");
    let told = refused("[grid]\n\"weather.pause.every\" = [\"9s\"]");
    assert!(told.contains("unknown parameter `weather.pause.every`"), "there is no weather: {told}");
    let told = refused("[grid]\n\"clocks.nobody.drift\" = [\"1/9\"]");
    assert!(told.contains("unknown parameter `clocks.nobody.drift`"), "{told}");
    for (key, one, other) in [
        ("lock.ttl", "\"1s\"", "\"1s\""),
        ("lock.ttl", "\"1s\"", "\"1000ms\""),
        ("clients.work", "\"1s..2m\"", "\"1s..120s\""),
        ("clients.retry", "[\"1s\", \"2s\"]", "[\"1s\",\"2000ms\"]"),
        ("clients.retry", "{ median = \"1s\", sigma = \"1/2\" }", "{ sigma = \"2/4\", median = \"1s\" }"),
        ("network.loss", "\"1/2\"", "\"2/4\""),
        ("clocks.nodes.drift", "\"-100ppm\"", "\"-1/10000\""),
        ("clocks.nodes.offset", "\"1s\"", "\"+1s\""),
        ("limits.memory", "\"1GiB\"", "\"1024 MiB\""),
    ] {
        let told = refused(&format!("[grid]\n\"{key}\" = [{one}, {other}]"));
        assert!(told.contains(&format!("`{key}` has the value `")) && told.contains("` twice"), "{told}");
    }
    let told = refused("[grid]\n\"lock.ttl\" = [\"1s\", \"2s\", \"1000ms\"]");
    assert!(told.contains("line 3: `lock.ttl` has the value `1s` twice: once as `1000ms`"), "{told}");
    let told = refused("[grid]\n\"lock.ttl\" = [\"1s\", \"2s\", \"1s\"]");
    assert!(told.contains("`lock.ttl` has the value `1s` twice\n"), "{told}");
    let other = study(
        "[grid]\n\"network.loss\" = [\"1/3\", \"333333333/1000000000\", \"1/2\", \"0/1\"]\n\"clocks.nodes.drift\" = [\"1/100\", \"-1/100\"]",
        "lock = \"single\"",
    );
    assert_eq!(
        other.map(|study| study.grid().cells()),
        Ok(8),
        "what is only nearly the same is another value"
    );
    let told = refused("weather = { preset = \"pauses-only\", without = [\"crash\"] }");
    assert!(told.ends_with("hint: known are `pause`"), "each kind once: {told}");
    let told = refused("precision = { predicate = \"P2\", width = \"0/1\" }");
    assert!(told.contains("no number of runs makes an interval of no width"), "{told}");
    let told = refused(
        "weather = \"cloud\"\nprecision = { predicate = \"P2\", width = \"1/9\" }\nstrata = { faults = 1 }",
    );
    assert!(told.contains("either `precision` or `strata`"), "{told}");
    let told = refused("strata = { faults = 1 }");
    assert!(told.contains("there is no weather"), "{told}");
    let told = refused("seed = \"18446744073709551615\"");
    assert!(told.contains("the seeds of a study follow each other"), "{told}");
}

#[test]
fn none_leaves_a_key_out_where_that_says_something() {
    let grid = |lock: &str, key: &str, value: &str| {
        let text = format!("weather = \"pauses-only\"\n[grid]\n\"{key}\" = [{value}, \"none\"]");
        let study = study(&text, &format!("lock = \"{lock}\""))?;
        let scenario = |cell| study.scenario(CellId(cell)).expect("a scenario");
        Ok::<_, String>([scenario(0), scenario(1)])
    };
    let [some, none] = grid("replicated", "lock.wait_replicas", "1").expect("a study");
    let waits = |scenario: &Scenario| scenario.to_toml().contains("wait_replicas");
    assert!(waits(&some) && !waits(&none));
    // The usual world has a bound, which is taken out.
    let [some, none] = grid("single", "limits.obtain_within", "\"30s\"").expect("a study");
    assert_eq!((some.limits.obtain_within, none.limits.obtain_within), (Some(Duration::from_secs(30)), None));
    let [some, none] = grid("single", "clients.ttl", "\"5s\"").expect("a study");
    let ttls = |scenario: &Scenario| scenario.clients.iter().filter(|client| client.ttl.is_some()).count();
    assert_eq!((ttls(&some), ttls(&none)), (3, 0));
    // What the format calls none stays what it is.
    let [_, none] = grid("single", "lock.request_timeout", "\"2s\"").expect("a study");
    assert!(none.to_toml().contains("request_timeout = \"none\""));
    let [some, none] = grid("single", "nodes.persistence", "\"always\"").expect("a study");
    assert!(
        some.to_toml().contains("persistence = \"always\"")
            && none.to_toml().contains("persistence = \"none\"")
    );

    for (key, value, cause) in [
        ("clients.rounds", "2", "`clients.rounds` cannot be `none`: where nothing is said it is `1`"),
        (
            "clients.give_up_after",
            "\"9s\"",
            "`clients.give_up_after` cannot be `none`: where nothing is said it is `600s`",
        ),
        ("network.delay", "\"1ms\"", "`network.delay` cannot be `none`"),
        ("lock.ttl", "\"1s\"", "`lock` has no `ttl`"),
        ("weather.pause.every", "\"9s\"", "`weather.pause` has no `every`"),
        ("clients.work", "\"1s\"", "`clients.work`: the time to work must be a duration"),
    ] {
        let told = grid("single", key, value).expect_err("it is refused");
        assert!(told.contains(&format!("with `{key} = none`: {cause}")), "not {cause}, but {told}");
    }
}

#[test]
fn a_refusal_names_the_parameter_that_was_typed() {
    for (key, value, cause) in [
        ("weather.pause.every", "\"0s\"", "`weather.pause.every` is zero"),
        ("weather.pause.for", "\"0x\"", "`weather.pause.for` must be a duration"),
        ("weather.pause.for.median", "\"0x\"", "`weather.pause.for.median` must be a duration"),
        ("clients.retry", "\"0x\"", "`clients.retry` must be a duration"),
        ("clients.1.retry", "\"0x\"", "`clients.1.retry` must be a duration"),
        ("clients.rounds", "0", "`clients.rounds` must be a whole number within bounds"),
        ("clients.work", "\"0x\"", "`clients.work`: the time to work must be a duration"),
        ("clients.work", "2", "`clients.work` must be a duration or a range"),
        ("clocks.nodes.drift", "\"0x\"", "`clocks.nodes.drift` must be a rate error"),
        ("clocks.clients.offset", "\"0x\"", "`clocks.clients.offset` must be a duration"),
    ] {
        for typed in [format!("[set]\n\"{key}\" = {value}"), format!("[grid]\n\"{key}\" = [{value}]")] {
            let told = study(&format!("weather = \"pauses-only\"\n{typed}"), "lock = \"single\"");
            let told = told.map(|_| ()).expect_err("it is refused");
            assert!(told.contains(&format!(": {cause}")), "not {cause}, but {told}");
        }
    }
}

#[test]
fn the_ready_studies_can_be_run() {
    let mut cells = 0;
    for found in bundled_studies() {
        let study = Study::load(found.name).expect("it is ours");
        for cell in 0..study.grid().cells() {
            study.scenario(CellId(cell)).unwrap_or_else(|error| panic!("{}: {error}", found.name));
            cells += 1;
        }
    }
    assert!(cells > 300, "{cells}");
}
