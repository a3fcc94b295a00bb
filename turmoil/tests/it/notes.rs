//! The notebook: a belief ends when its deadline passes, however late its client gets to say so.

use std::time::Duration;

use doublehold_history::{Predicate, judge};
use doublehold_turmoil::{Guest, Guests, Notebook};
use tokio::time::{Instant, sleep};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Two clients that never ask anybody: the first believes for 300 ms and says after 600 that its lease was extended to
/// `extended`, the second believes from 400 ms on.
fn p2(extended: Duration) -> &'static str {
    let guests = Guests::new(7);
    let notebook = Notebook::new("two that believe", 7, &["a", "b"], &["stock"]);
    let mut sim = turmoil::Builder::new().rng_seed(7).build();
    let (first, second) = (notebook.clone(), notebook.clone());
    sim.client(
        "a",
        guests.process("a", move |guest: Guest| async move {
            let began = Instant::now();
            let holding = first.asks(&guest, "stock").is_granted("a", Some(began + MS(300)));
            sleep(MS(600)).await;
            holding.is_extended(Some(began + extended));
            sleep(MS(200)).await;
            Ok(())
        }),
    );
    sim.client(
        "b",
        guests.process("b", move |guest: Guest| async move {
            sleep(MS(400)).await;
            let until = Instant::now() + MS(1000);
            let _holding = second.asks(&guest, "stock").is_granted("b", Some(until));
            sleep(MS(400)).await;
            Ok(())
        }),
    );
    guests.run(&mut sim).expect("both end");
    judge(&notebook.history(sim.elapsed())).get(Predicate::P2).as_str()
}

#[test]
fn an_extension_that_is_over_when_it_is_written_down_is_believed_in_no_more() {
    assert_eq!(p2(MS(500)), "holds");
    assert_eq!(p2(MS(700)), "violated");
}
