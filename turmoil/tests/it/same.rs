//! The same simulation from the same seed: after others, and on another thread. And what would break that.

use std::time::Duration;

use doublehold_history::{History, ReleaseOutcome};
use doublehold_turmoil::{Guests, NodeConfig, Notebook};
use tokio::time::{Instant, sleep};

use crate::connect;

/// Three clients that take turns at a plain lease.
fn history(seed: u64) -> History {
    let guests = Guests::new(seed);
    let notebook = Notebook::new("turns", seed, &["a", "b", "c"], &["stock"]);
    let mut sim = turmoil::Builder::new().rng_seed(seed).build();
    sim.host("redis", guests.redis("redis", 6379, NodeConfig::default()));
    for name in ["a", "b", "c"] {
        let notes = notebook.clone();
        sim.client(
            name,
            guests.process(name, move |guest| async move {
                let mut redis = connect(&guest).await?;
                for _ in 0..20 {
                    let asking = notes.asks(&guest, "stock");
                    let until = Instant::now() + Duration::from_millis(400);
                    let mut set = redis::cmd("SET");
                    set.arg("stock").arg(name).arg("NX").arg("PX").arg(400);
                    match set.query_async::<Option<String>>(&mut redis).await? {
                        Some(_) => {
                            let holding = asking.is_granted(name, Some(until));
                            sleep(Duration::from_millis(30)).await;
                            holding.gives_back();
                            let () = redis::cmd("DEL").arg("stock").query_async(&mut redis).await?;
                            holding.gave_back(ReleaseOutcome::Released);
                        }
                        None => asking.is_refused("taken"),
                    }
                    sleep(Duration::from_millis(20)).await;
                }
                Ok(())
            }),
        );
    }
    guests.pause("b", Duration::from_millis(700), Duration::from_millis(900));
    guests.run(&mut sim).expect("all end");
    notebook.history(sim.elapsed())
}

#[test]
fn a_seed_gives_the_same_history_after_others_and_on_another_thread() {
    let first = history(7);
    assert!(first.events().len() > 100);
    assert_ne!(history(8), first);
    assert_eq!(history(7), first);
    let elsewhere = std::thread::scope(|scope| scope.spawn(|| history(7)).join().expect("it ends"));
    assert_eq!(elsewhere, first);
}

/// Written down by another process, and another build.
#[test]
fn a_seed_gives_the_history_that_it_gave_before() {
    let history = history(7);
    let times: u64 = history.events().iter().map(|event| event.at.0).sum();
    assert_eq!((history.events().len(), times), (190, 237_040_000_000));
}

/// The branches that a `select!` took, one digit each.
fn branches() -> String {
    let guests = Guests::new(7);
    let mut sim = turmoil::Builder::new().rng_seed(7).build();
    let taken = std::rc::Rc::<std::cell::RefCell<String>>::default();
    let seen = taken.clone();
    sim.client(
        "a",
        guests.process("a", |_| async move {
            for _ in 0..64 {
                let branch = tokio::select! { () = async {} => '0', () = async {} => '1' };
                seen.borrow_mut().push(branch);
            }
            Ok(())
        }),
    );
    guests.run(&mut sim).expect("it ends");
    taken.take()
}

#[test]
#[cfg(not(tokio_unstable))]
fn a_select_without_an_order_of_its_own_is_not_the_same_twice() {
    assert_ne!(branches(), branches(), "documented as a trap, which it would be no more");
}

#[test]
#[cfg(tokio_unstable)]
fn a_select_is_the_same_twice_where_tokio_takes_a_seed() {
    assert_eq!(branches(), branches());
}
