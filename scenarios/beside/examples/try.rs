use doublehold_beside::*;
use doublehold_history::Predicate;
use doublehold_lockimpl::Switches;
use doublehold_scenarios::build::World;
use doublehold_scenarios::weather::preset;
use doublehold_scenarios::{LeanEngine, Seed, SimEngine};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

fn side<E>(engine: E, text: &str) -> LockSide<E> {
    let mut words = text.split_whitespace();
    let lock = words.next().unwrap().to_owned();
    let mut switches = Switches::new();
    for word in words {
        let (k, v) = word.split_once('=').unwrap();
        match v {
            "true" => switches.set(k, true),
            "false" => switches.set(k, false),
            v => switches.set(k, Box::leak(v.to_owned().into_boxed_str()) as &'static str),
        }
    }
    LockSide { engine, lock, switches, title: text.to_owned() }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let secs: f64 = args.get(3).map_or(8.0, |s| s.parse().unwrap());
    let t = Instant::now();
    let beside = Beside::new(
        side(LeanEngine, &args[1]),
        side(LeanEngine, &args[2]),
        &PairWorlds::Family(World::family()),
        &Weathers::Drawn(preset("cloud").unwrap().weather),
    )
    .unwrap();
    println!("{} conditions {:?}", beside.conditions().len(), t.elapsed());
    let budget = PairBudget {
        jobs: 2.try_into().unwrap(),
        patience: Duration::from_secs(60),
        pairs: None,
        first: Seed(1),
    };
    let survey = beside.survey(&budget).unwrap();
    println!("survey {} runs {:?}", survey.runs, t.elapsed());
    for p in Predicate::ALL {
        let kept = survey.places().filter(|q| survey.keeps(*q, p)).count();
        let kinds = survey.kinds(beside.conditions(), p);
        println!("{p}: kept in {kept}, taken away {:?}", kinds.taken_away);
    }
    if std::env::var("COST").is_ok() {
        use doublehold_scenarios::{Engine, Prepared};
        let mut costs: Vec<(u64, u128, String)> = beside
            .conditions()
            .iter()
            .map(|c| {
                let sc =
                    doublehold_scenarios::Scenario { weather: Some(c.weather.clone()), ..c.scenario.clone() };
                let t0 = Instant::now();
                let p = LeanEngine.prepare(&sc).unwrap();
                let prep = t0.elapsed().as_micros();
                let t0 = Instant::now();
                let e: u64 = (1..=8).map(|s| p.judge(s).events).sum();
                let us = t0.elapsed().as_micros() / 8;
                (
                    e / 8,
                    us,
                    format!(
                        "{} ttl {:?} n={} rounds {} retry {:?} prog {:?} prep {prep} kinds {:?}",
                        c.number,
                        c.scenario.lock.ttl,
                        c.scenario.clients.len(),
                        c.scenario.clients[0].rounds,
                        c.scenario.clients[0].retry,
                        c.scenario.clients[0].program.len(),
                        c.weather.faults.len()
                    ),
                )
            })
            .collect();
        costs.sort();
        costs.reverse();
        let total: u64 = costs.iter().map(|c| c.0).sum();
        println!("total events {total}");
        for c in costs.iter().take(25) {
            println!("{c:?}");
        }
        for c in costs.iter().skip(25).step_by(15) {
            println!("{c:?}");
        }
    }
    let t = Instant::now();
    let counted = beside
        .count(&survey, &budget, |_| {
            if t.elapsed().as_secs_f64() > secs { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    println!("{} pairs in {:?}, {} rounds", counted.pairs, t.elapsed(), counted.rounds);
    let c = BesideComparison::new(&survey, &counted, &Predicate::ALL, &[]);
    for row in &c.rows {
        println!("{} {:?} kept {:?} rest {:?}", row.predicate, row.found, row.kept.decided, row.rest.decided);
    }
    println!("{:?} same {}", c.outcome(), c.same);
    let mut order: Vec<_> = c.rows.iter().filter(|r| r.kept.decided.only_first > 0).collect();
    order.sort_by_key(|r| (r.found != RuleFound::Worse, std::cmp::Reverse(r.kept.decided.only_first)));
    for row in order {
        let t = Instant::now();
        let ex = beside
            .example((&SimEngine, &side(SimEngine, &args[2])), (&survey, &counted), row.predicate, || false)
            .unwrap();
        match ex {
            None => println!("{} none {:?}", row.predicate, t.elapsed()),
            Some(e) => {
                println!(
                    "{} separates {} others {:?} replays {} condition {} {:?} groups {:?}",
                    row.predicate,
                    e.separates,
                    e.shrunk.others,
                    e.shrunk.replays,
                    e.condition,
                    t.elapsed(),
                    e.groups
                );
                println!("   overlap {:?} {}", e.wanted.overlap, e.shrunk.scenario.story);
                for c in &e.shrunk.scenario.clients {
                    println!("     {:?} x{}", c.program, c.rounds);
                }
            }
        }
    }
}
