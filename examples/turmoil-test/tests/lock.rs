//! The lock under pauses: does a client ever believe in a lease that another has by now?
//!
//! Three clients contend, and each has a pause somewhere that may outlast its lease. Everything follows from a seed.

use std::time::Duration;

use doublehold_history::{History, Predicate, ReleaseOutcome, Verdict, judge};
use doublehold_turmoil::{Guest, Guests, NodeConfig, Notebook};
use tokio::time::sleep;
use turmoil_test::{LeaseFrom, Lock};

const LEASE: Duration = Duration::from_millis(600);
const CLIENTS: [&str; 3] = ["a", "b", "c"];

/// An account of what the clients believed in the simulation of a seed.
fn simulate(seed: u64, lease_from: LeaseFrom) -> History {
    let guests = Guests::new(seed);
    let notebook = Notebook::new("the lock under pauses", seed, &CLIENTS, &["stock"]);
    let mut sim = turmoil::Builder::new()
        .rng_seed(seed)
        .tick_duration(Duration::from_millis(5))
        .max_message_latency(Duration::from_millis(40))
        .simulation_duration(Duration::from_secs(120))
        .build();
    sim.host("redis", guests.redis("redis", 6379, NodeConfig::default()));
    for (client, name) in (0..).zip(CLIENTS) {
        let notes = notebook.clone();
        sim.client(name, guests.process(name, move |guest| contend(guest, notes, lease_from)));
        // Spread over the first four seconds, and half a lease to one and a half.
        let drawn = seed * 7919 + client * 104_729;
        let (from, lasting) = (drawn % 4000, 300 + drawn % 601);
        guests.pause(name, Duration::from_millis(from), Duration::from_millis(lasting));
    }
    guests.run(&mut sim).expect("nobody fails");
    notebook.history(sim.elapsed())
}

/// Takes the lock a few times, and says what it believes.
async fn contend(guest: Guest, notes: Notebook, lease_from: LeaseFrom) -> turmoil::Result {
    let (commands, messages) = (guest.connect("redis:6379").await?, guest.connect("redis:6379").await?);
    let mut lock = Lock::new(commands, messages, "stock", LEASE, lease_from).await?;
    for round in 0..3 {
        let asking = notes.asks(&guest, "stock");
        let token = format!("{}{round}", guest.name());
        let Some(guard) = lock.acquire(&token, Duration::from_secs(20)).await? else {
            asking.gives_up();
            continue;
        };
        let mut until = guard.until();
        let holding = asking.is_granted(&token, Some(*until.borrow_and_update()));
        // Work that is longer than the lease lives from the watchdog.
        for _ in 0..4 {
            sleep(LEASE / 4).await;
            if until.has_changed().unwrap_or(false) {
                holding.is_extended(Some(*until.borrow_and_update()));
            }
        }
        holding.gives_back();
        let released = guard.release().await?;
        holding.gave_back(if released { ReleaseOutcome::Released } else { ReleaseOutcome::NotOwner });
    }
    Ok(())
}

fn p2(history: &History) -> Verdict {
    judge(history).get(Predicate::P2).clone()
}

/// Counted from the answer, a lease is believed in for as long as the answer took after the key is gone.
#[test]
fn a_lease_counted_from_the_answer_is_found() {
    let found = (0..100)
        .map(|seed| simulate(seed, LeaseFrom::Answer))
        .find(|history| p2(history).as_str() == "violated");
    let history = found.expect("a hundred seeds find it");
    for evidence in p2(&history).evidence() {
        println!("seed {}: {}", history.header().seed, evidence.sentence(history.header()));
    }
}

/// The same seeds, and the same pauses.
#[test]
fn counted_from_the_request_it_holds_for_500_seeds() {
    for seed in 0..500 {
        let history = simulate(seed, LeaseFrom::Request);
        let verdict = p2(&history);
        assert_eq!(verdict.as_str(), "holds", "seed {seed}: {:?}", verdict.evidence());
    }
}

/// No lease helps against a node whose clock is set ahead: the key is gone, and its holder cannot know.
#[test]
fn a_step_of_the_nodes_wall_clock_takes_it_from_its_holder() {
    let guests = Guests::new(7);
    let notebook = Notebook::new("the node's clock is set ahead", 7, &CLIENTS, &["stock"]);
    let mut sim = turmoil::Builder::new().rng_seed(7).build();
    sim.host("redis", guests.redis("redis", 6379, NodeConfig::default()));
    for name in CLIENTS {
        let notes = notebook.clone();
        sim.client(name, guests.process(name, |guest| contend(guest, notes, LeaseFrom::Request)));
    }
    guests.set_ahead("redis", Duration::from_secs(1), Duration::from_secs(10));
    guests.run(&mut sim).expect("nobody fails");
    assert_eq!(p2(&notebook.history(sim.elapsed())).as_str(), "violated");
}
