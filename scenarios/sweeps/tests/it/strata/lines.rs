//! Strata by line of the weather: what they are called, what is in them, what they weigh, and that strata by kind are
//! what they were before there were any by line.

use doublehold_scenarios::weather::{LineName, Weather};
use doublehold_sweeps::study::CellId;
use doublehold_sweeps::sweep::StudyHeader;

use super::*;

/// A study of designs under `field`, with this in its table of strata.
fn field(strata: &str, more: &str, designs: &[&str]) -> Study {
    let mut text = format!(
        "question = \"?\"\nweather = \"field\"\nruns = 60\n[strata]\nfaults = 2\nquiet = \"holds\"\n{strata}\n{more}\n"
    );
    for lock in designs {
        text += &format!("[[designs]]\nname = \"{lock}\"\nlock = \"{lock}\"\n");
    }
    Study::parse("field", "field.toml", &text).unwrap_or_else(|error| panic!("{error}"))
}

fn words(study: &Study) -> Vec<String> {
    study.strata.as_ref().expect("it is divided").words.clone()
}

/// The weather of a cell, and the world that it is drawn for.
fn weather(study: &Study, cell: u64) -> (Weather, Climate) {
    let scenario = study.scenario(CellId(cell)).expect("a cell");
    let weather = scenario.weather.clone().expect("it has weather");
    let climate = Climate::new(&weather, &scenario, &[]);
    (weather, climate)
}

/// The number of runs of each stratum of a study of one cell.
fn runs(study: &Study) -> Vec<u64> {
    let mut order = Order::from_study(study, Shard::WHOLE, |_| false);
    let mut runs = vec![0; study.parts() as usize];
    while let HandOut::Run(unit) = order.hand_out() {
        runs[unit.stratum as usize] += unit.runs;
    }
    runs
}

#[test]
fn a_header_names_the_lines_of_the_weather() {
    let study = field("", "", &["replicated"]);
    let header = StudyHeader::new(&LeanEngine, &study, Shard::WHOLE).expect("it can be run");
    let one: Vec<String> = header.strata[1..16]
        .iter()
        .map(|stratum| stratum.iter().map(|(name, count)| format!("{count} {name}")).collect())
        .collect();
    assert_eq!(
        one,
        [
            "1 pause[clients]",
            "1 pause[nodes]",
            "1 suspend[clients,nodes]",
            "1 suspend[clients,nodes]#2",
            "1 clock-step",
            "1 clock-drift",
            "1 crash[clients]",
            "1 crash[nodes]",
            "1 power-loss",
            "1 cut[clients>nodes,resource]",
            "1 cut[nodes>replicas]",
            "1 cut[master>clients,replicas]",
            "1 packet-delay",
            "1 reset-connections",
            "1 promote",
        ]
    );
    assert_eq!(header.strata.len(), 1 + 15 + 15 * 16 / 2);
}

/// A run of a stratum of one line is that of a weather which has no other line.
#[test]
fn a_run_of_a_line_has_the_faults_of_that_line_only() {
    let study = field("", "", &["replicated"]);
    let scenario = study.scenario(CellId(0)).expect("a cell");
    let (weather, climate) = weather(&study, 0);
    let names = LineName::of_faults(&weather.faults);
    for ((word, name), fault) in words(&study).into_iter().zip(&names).zip(&weather.faults) {
        assert!(name.is_meant_by(&word), "{name} is called {word}");
        let alone = Climate::new(&Weather { faults: vec![fault.clone()], ..weather.clone() }, &scenario, &[]);
        // The second of two equal lines is the first one where it is alone, so only its length is compared.
        let is_second = word == "suspend[clients,nodes]#2";
        for (seed, count) in (0..40).flat_map(|seed| [(Seed(seed), 1), (Seed(seed), 2)]) {
            let just = BTreeMap::from([(word.clone(), count)]);
            let faults = climate.draw_just(seed, &just);
            if is_second {
                let lengths: Vec<u64> =
                    faults.iter().filter_map(|it| it.lasting).map(|it| it.as_secs()).collect();
                assert!(lengths.len() == count as usize && lengths.iter().all(|it| (10..=30).contains(it)));
            } else {
                assert_eq!(faults, alone.draw_just(seed, &just), "{word}");
            }
        }
    }
    let nodes = ["M", "R1", "R2"];
    for seed in (0..200).map(Seed) {
        let [crash] = &climate.draw_just(seed, &BTreeMap::from([("crash[nodes]".to_owned(), 1)]))[..] else {
            panic!("a run has one fault")
        };
        assert!(matches!(crash.effect, Effect::Crash { .. }) && nodes.contains(&host(crash).as_str()));
    }
}

/// A stratum of a kind is all strata of its lines together, whatever else is in it.
#[test]
fn weights_of_lines_come_to_the_weight_of_their_kind() {
    let locks = ["single", "replicated", "redlock"];
    let (by_line, by_kind) = (field("", "", &locks), field("by = \"kind\"", "", &locks));
    for cell in 0..locks.len() as u64 {
        let (_, climate) = weather(&by_line, cell);
        let [lines, kinds] = [&by_line, &by_kind].map(|it| it.strata.as_ref().expect("it is divided"));
        let mut sums: BTreeMap<BTreeMap<String, u32>, f64> = BTreeMap::new();
        for stratum in lines.all() {
            let mut of_kinds = BTreeMap::new();
            for (line, count) in &stratum {
                let kind = line.split('[').next().expect("a name").to_owned();
                *of_kinds.entry(kind).or_default() += count;
            }
            *sums.entry(of_kinds).or_default() += lines.weight(Some(&climate), &stratum);
        }
        assert_eq!(sums.len() as u64, kinds.count());
        for (stratum, sum) in &sums {
            let weight = kinds.weight(Some(&climate), stratum);
            assert!((sum - weight).abs() <= 1e-12 * weight, "{stratum:?}: {sum:e} and {weight:e}");
        }
        let [beyond, same] = [lines, kinds].map(|it| it.beyond(Some(&climate)));
        assert!((beyond - same).abs() <= 1e-12 * same, "{beyond:e} and {same:e}");
        let all = lines.all().iter().map(|it| lines.weight(Some(&climate), it)).sum::<f64>() + beyond;
        assert!((all - 1.0).abs() < 1e-12, "{all}");
    }
}

/// The weight of a stratum of one line is the mean number of its faults, but for what is rarer than one fault: as many
/// as it strikes hosts, for 20 s of every so many hours.
#[test]
fn a_line_weighs_as_much_as_it_strikes() {
    let study = field("", "", &["replicated"]);
    let (_, climate) = weather(&study, 0);
    let strata = study.strata.as_ref().expect("it is divided");
    for (word, hosts, hours) in [
        ("pause[clients]", 3, 24),
        ("pause[nodes]", 3, 24),
        ("suspend[clients,nodes]", 6, 720),
        ("suspend[clients,nodes]#2", 6, 13_140),
        ("crash[clients]", 3, 168),
        ("crash[nodes]", 3, 2_190),
        ("cut[nodes>replicas]", 2, 720),
        ("cut[master>clients,replicas]", 1, 720),
    ] {
        let mean = f64::from(hosts) * 20.0 / (f64::from(hours) * 3_600.0);
        let weight = strata.weight(Some(&climate), &BTreeMap::from([(word.to_owned(), 1)]));
        assert!((weight / mean - 1.0).abs() < 3e-3, "{word}: {weight:e} and {mean:e}");
    }
}

/// Numbers of runs, weights and faults of the version before there were strata by line.
#[test]
fn strata_by_kind_are_as_they_were() {
    let study = field("by = \"kind\"\nby_weight = 20000", "", &["replicated"]);
    let mut known = vec![60; 66];
    known[1..12].copy_from_slice(&[15_611, 606, 145, 578, 1_255, 83, 578, 319, 1_170, 232, 70]);
    (known[15], known[19]) = (61, 61);
    assert_eq!(runs(&study), known);
    let strata = study.strata.as_ref().expect("it is divided");
    let (_, climate) = weather(&study, 0);
    for (number, stratum, weight, faults) in [
        (
            5,
            &["crash"][..],
            1.066_265_468_931_306_5e-4,
            "c1 crashes and restarts after 730 ms, at 6.964578 s",
        ),
        (
            7,
            &["cut"],
            4.621_377_295_291_272e-5,
            "the link between c3 and R1 is cut for 5.644 s, at 7.157204 s",
        ),
        (
            15,
            &["crash", "pause"],
            1.480_956_401_215_382_7e-7,
            "c1 crashes and restarts after 1.018 s, at 12.392992 s; R1 pauses for 2.822 s, at 12.405006 s",
        ),
        (
            50,
            &["crash", "promote"],
            1.645_472_196_205_814_5e-9,
            "c1 crashes and restarts after 7.656 s, at 6.960419 s; R2 is promoted to master, at 15.081953 s",
        ),
    ] {
        let stratum: BTreeMap<String, u32> = stratum.iter().map(|kind| ((*kind).to_owned(), 1)).collect();
        assert_eq!(strata.all()[number as usize], stratum);
        let said = strata.weight(Some(&climate), &stratum);
        assert!((said / weight - 1.0).abs() < 1e-14, "{said:e}");
        let run = study.run_of(&LeanEngine, CellId(0), number, Seed(1 + number * 1_000_000_000));
        let said: Vec<String> = run.expect("a run").faults.iter().map(ToString::to_string).collect();
        assert_eq!(said.join("; "), faults);
    }
}

/// The changes of the study and its designs come first: what is left out has no stratum.
#[test]
fn lines_are_named_as_the_study_and_its_designs_have_them() {
    let left_out = "[set]\n\"weather.pause[nodes]\" = false\n\"weather.cut\" = false";
    let words = words(&field("", left_out, &["single"]));
    assert!(words.contains(&"pause".to_owned()) && words.contains(&"crash[nodes]".to_owned()), "{words:?}");
    assert!(!words.iter().any(|word| word.starts_with("cut") || word.starts_with("pause[")), "{words:?}");
}

/// Two designs have one line in common, and the second has another of the same kind. All of it has a stratum in both.
#[test]
fn a_line_of_one_design_only_cannot_come_in_another() {
    let line =
        |host: &str| format!("{{ kind = \"pause\", host = \"{host}\", every = \"1h\", for = \"1s\" }}");
    let design = |name: &str, lines: &[String]| {
        let lines = lines.join(", ");
        format!(
            "[[designs]]\nname = \"{name}\"\nlock = \"single\"\nweather = {{ for = \"20s\", faults = [{lines}] }}\n"
        )
    };
    let [clients, nodes] = ["clients", "nodes"].map(line);
    let text = "question = \"?\"\nruns = 9\n[strata]\nfaults = 1\n".to_owned()
        + &design("one", std::slice::from_ref(&clients))
        + &design("both", &[nodes, clients]);
    let study = Study::parse("two", "two.toml", &text).expect("a study");
    assert_eq!(words(&study), ["pause[clients]", "pause[nodes]"]);
    let mut order = Order::from_study(&study, Shard::WHOLE, |_| false);
    let mut runs = Vec::new();
    while let HandOut::Run(unit) = order.hand_out() {
        runs.push((unit.cell.0, unit.stratum, unit.runs));
    }
    assert_eq!(runs, [(0, 0, 9), (0, 1, 9), (0, 2, 0), (1, 0, 9), (1, 1, 9), (1, 2, 9)]);
}

/// `kinds` may have kinds beside lines, each kind with all of its lines.
#[test]
fn kinds_and_lines_can_be_told_apart_in_one_study() {
    let lines = "weather = \"pauses-only\"\n[strata]\nfaults = 1\nkinds = ";
    let text = |kinds: &str| {
        format!("question = \"?\"\nruns = 9\n{lines}{kinds}\n[[designs]]\nname = \"d\"\nlock = \"single\"\n")
    };
    for (kinds, parts) in
        [("[\"pause\"]", 2), ("[\"pause[nodes]\", \"pause[clients]\"]", 3), ("[\"crash\", \"pause\"]", 3)]
    {
        let study = Study::parse("kinds", "kinds.toml", &text(kinds)).expect("a study");
        assert_eq!(study.parts(), parts, "{kinds}");
        let (_, climate) = weather(&study, 0);
        let strata = study.strata.as_ref().expect("it is divided");
        let weights: f64 = strata.all().iter().map(|it| strata.weight(Some(&climate), it)).sum();
        assert!((weights + strata.beyond(Some(&climate)) - 1.0).abs() < 1e-12, "{kinds}");
    }
}
