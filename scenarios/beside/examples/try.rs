use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use doublehold_beside::*;
use doublehold_history::Predicate;
use doublehold_lockimpl::Switches;
use doublehold_scenarios::build::World;
use doublehold_scenarios::weather::preset;
use doublehold_scenarios::{LeanEngine, Seed, SimEngine};

fn side<E>(engine: E, text: &str) -> Side<E> {
    let mut words = text.split_whitespace();
    let lock = words.next().unwrap().to_owned();
    let mut switches = Switches::new();
    for word in words {
        let (k, v) = word.split_once('=').unwrap();
        match v { "true" => switches.set(k, true), "false" => switches.set(k, false), v => switches.set(k, Box::leak(v.to_owned().into_boxed_str()) as &'static str) }
    }
    Side { engine, lock, switches, title: text.to_owned() }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let secs: f64 = args.get(3).map_or(8.0, |s| s.parse().unwrap());
    let t = Instant::now();
    let beside = Beside::new(side(LeanEngine, &args[1]), side(LeanEngine, &args[2]), &Worlds::Family(World::family()), &Weathers::Drawn(preset("cloud").unwrap().weather)).unwrap();
    println!("{} conditions {:?}", beside.conditions().len(), t.elapsed());
    let budget = Budget { jobs: 2.try_into().unwrap(), patience: Duration::from_secs(60), pairs: None, first: Seed(1) };
    let survey = beside.survey(&budget).unwrap();
    println!("survey {} runs {:?}", survey.runs, t.elapsed());
    for p in Predicate::ALL {
        let kept = survey.places().filter(|q| survey.keeps(*q, p)).count();
        let kinds = survey.kinds(beside.conditions(), p);
        println!("{p}: kept in {kept}, taken away {:?}", kinds.taken_away);
    }
    let t = Instant::now();
    let counted = beside.count(&survey, &budget, |_| if t.elapsed().as_secs_f64() > secs { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }).unwrap();
    println!("{} pairs in {:?}, {} rounds", counted.pairs, t.elapsed(), counted.rounds);
    let c = Comparison::new(&survey, &counted, &Predicate::ALL, &[]);
    for row in &c.rows { println!("{} {:?} kept {:?} rest {:?}", row.predicate, row.found, row.kept.decided, row.rest.decided); }
    println!("{:?} same {}", c.outcome(), c.same);
    let mut order: Vec<_> = c.rows.iter().filter(|r| r.kept.decided.only_first > 0).collect();
    order.sort_by_key(|r| (r.found != Found::Worse, std::cmp::Reverse(r.kept.decided.only_first)));
    for row in order {
        let t = Instant::now();
        let ex = beside.example((&SimEngine, &side(SimEngine, &args[2])), (&survey, &counted), row.predicate, || false).unwrap();
        match ex { None => println!("{} none {:?}", row.predicate, t.elapsed()), Some(e) => {
            println!("{} separates {} others {:?} replays {} condition {} {:?} groups {:?}", row.predicate, e.separates, e.shrunk.others, e.shrunk.replays, e.condition, t.elapsed(), e.groups);
            println!("   overlap {:?} {}", e.wanted.overlap, e.shrunk.scenario.story);
            for c in &e.shrunk.scenario.clients { println!("     {:?} x{}", c.program, c.rounds); }
        }}
    }
}
