//! Couples: a failover that comes with what happened to a master, and never by itself.

use super::*;

/// What strikes the master and brings a failover, in runs of which each has some.
fn couple(lock: usize, brings: &str) -> (Climate, Scenario) {
    let text = format!(
        "for = '20s'\nswarm = false\n[[faults]]\nkind = 'cut'\nfrom = 'master'\nto = ['clients', 'replicas']\n\
         every = '5s'\nfor = '1s..9s'\nbrings = {{ kind = 'promote', host = 'replicas', {brings} }}\n"
    );
    let (_, weather) = crate::format::weather::parse("couple", &text).expect("a weather");
    let scenario = world(lock);
    let steps = steps(&scenario, &mut Stream::new(Seed(3), "steps"));
    (Climate::new(&weather, &scenario, &steps), scenario)
}

#[test]
fn a_failover_that_a_cut_brings_comes_with_each_cut_so_much_later_and_never_without_one() {
    let (climate, _) = couple(2, "after = '5s..15s', tell = ['nodes']");
    let mut promoted = BTreeSet::new();
    for seed in 0..400 {
        let just = BTreeMap::from([("cut".to_owned(), 2)]);
        for faults in [climate.draw(Seed(seed)), climate.draw_just(Seed(seed), &just)] {
            assert_eq!(faults.len() % 2, 0);
            for pair in faults.chunks(2) {
                let later = match (&pair[0].at, &pair[1].at) {
                    (When::At(cut), When::At(failover)) => *failover - *cut,
                    (When::On { events, after }, When::On { events: same, after: later })
                        if events == same =>
                    {
                        *later - *after
                    }
                    other => panic!("{other:?}"),
                };
                assert!((Duration::from_secs(5)..=Duration::from_secs(15)).contains(&later), "{later:?}");
                let Effect::Cut { way } = &pair[0].effect else { panic!("{}", pair[0]) };
                let Effect::Promote { host, tell: Some(told), .. } = &pair[1].effect else {
                    panic!("{}", pair[1])
                };
                assert_eq!((way.from.0.as_slice(), told.0.len()), (&["M".to_owned()][..], 2), "{}", pair[1]);
                assert!(!told.0.contains(&host.0[0]) && pair[1].optional && pair[1].lasting.is_none());
                promoted.insert(host.0[0].clone());
            }
        }
        assert_eq!(climate.draw_just(Seed(seed), &BTreeMap::from([("cut".to_owned(), 2)])).len(), 4);
    }
    assert_eq!(promoted, ["R1", "R2"].map(str::to_owned).into());
}

#[test]
fn a_couple_strikes_nobody_where_there_is_no_master() {
    for lock in [0, 1, 3] {
        let (climate, _) = couple(lock, "after = '5s'");
        assert_eq!((climate.kinds(), climate.idle()), (Vec::new(), &["cut"][..]));
        assert!((0..50).all(|seed| climate.draw(Seed(seed)).is_empty()));
    }
}

/// As a random `promote` strikes nobody there, but what it would answer is a fault of its own.
#[test]
fn what_strikes_a_node_that_it_names_comes_alone_where_nothing_is_replicated() {
    let scenario = world(1);
    let over = |brings: &str| {
        let text = format!(
            "for = '20s'\n[[faults]]\nkind = 'crash'\nhost = 'A'\nevery = '5s'\nfor = '1s..9s'\n{brings}\n\
             [[faults]]\nkind = 'pause'\nhost = 'clients'\nevery = '5s'\nfor = '1s..9s'\n"
        );
        let (_, weather) = crate::format::weather::parse("couple", &text).expect("a weather");
        Climate::new(&weather, &scenario, &steps(&scenario, &mut Stream::new(Seed(3), "steps")))
    };
    let alone = over("");
    let couple = over("brings = { kind = 'promote', host = 'nodes', after = '5s', tell = ['nodes'] }");
    assert_eq!((couple.kinds(), couple.idle()), (vec!["crash", "pause"], &["promote"][..]));
    assert_eq!(couple.chances_of("crash", 5), alone.chances_of("crash", 5));
    let both = BTreeMap::from(["crash", "pause"].map(|kind| (kind.to_owned(), 2)));
    let runs = |climate: &Climate| -> Vec<Vec<Fault>> {
        (0..200).map(Seed).flat_map(|seed| [climate.draw(seed), climate.draw_just(seed, &both)]).collect()
    };
    assert_eq!(runs(&couple), runs(&alone));
    assert!(runs(&couple).concat().iter().any(|fault| fault.effect.kind().word == "crash"));
}

#[test]
fn a_scenario_in_which_nothing_is_replicated_may_have_a_line_that_brings_a_failover() {
    let text = "claim = 'x'\nlock = { algorithm = 'single', ttl = '2s' }\nnodes = { names = ['A'] }\n\
                clients = [{ name = 'c1', program = ['acquire', 'release'] }]\n\
                [weather]\npreset = 'field'\n[[weather.faults]]\nkind = 'crash'\nhost = 'A'\nevery = '5s'\n\
                for = '1s'\nbrings = { kind = 'promote', host = 'replicas', after = '5s' }\n";
    let read = |text: String| Source { name: "x".into(), text, ..Source::default() }.read();
    let scenario = read(text.to_owned()).expect("a scenario");
    let written = crate::format::write(&scenario).to_string();
    assert_eq!(read(written).expect("a scenario").weather, scenario.weather);
}
