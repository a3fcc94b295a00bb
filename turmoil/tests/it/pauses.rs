//! Pauses: none of a process's code runs, its clock goes on, and what arrives waits.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use doublehold_turmoil::{Guests, NodeConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, interval, sleep, sleep_until, timeout};

use crate::{connect, with_redis};

const MS: fn(u64) -> Duration = Duration::from_millis;

#[test]
fn a_pause_stops_what_was_spawned_and_leaves_its_timers_overdue() {
    let guests = Guests::new(7);
    let mut sim = turmoil::Builder::new().rng_seed(7).build();
    let ticks: Arc<AtomicU32> = Arc::default();
    let (counted, woke) = (ticks.clone(), Rc::new(RefCell::new(Duration::ZERO)));
    let noted = woke.clone();
    sim.client(
        "a",
        guests.process("a", |_| async move {
            let began = Instant::now();
            tokio::spawn(async move {
                let mut beats = interval(MS(10));
                loop {
                    beats.tick().await;
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            });
            sleep(MS(150)).await;
            *noted.borrow_mut() = began.elapsed();
            sleep(MS(50)).await;
            Ok(())
        }),
    );
    guests.pause("a", MS(100), MS(1000));
    let mut seen = Vec::new();
    while !guests.step(&mut sim).expect("nothing fails") {
        let at = sim.elapsed();
        if at == MS(100) || at == MS(1100) || at == MS(1101) {
            seen.push(ticks.load(Ordering::Relaxed));
        }
    }
    // The interval's missed beats come at once, as tokio's default has it, and the sleep was over long ago.
    assert_eq!(seen[0], seen[1], "nothing runs in a pause");
    assert!(seen[2] - seen[1] >= 100, "beats are overdue: {seen:?}");
    assert_eq!(*woke.borrow(), MS(1100), "a sleep of 150 ms from 0 ends where the pause does");
}

#[test]
fn a_reply_that_came_in_a_pause_is_read_before_the_time_is_up() {
    let guests = Guests::new(7);
    let mut builder = turmoil::Builder::new();
    let mut sim = builder.rng_seed(7).min_message_latency(MS(50)).max_message_latency(MS(50)).build();
    sim.host("redis", guests.redis("redis", 6379, NodeConfig::default()));
    sim.client(
        "a",
        guests.process("a", |guest| async move {
            let began = Instant::now();
            let mut stream = guest.connect("redis:6379").await?;
            sleep_until(began + MS(500)).await;
            stream.write_all(b"PING\r\n").await?;
            let mut reply = [0; 7];
            // The reply comes after 100 ms, in a pause of 2 s, and the time is up after 300: it waits in the machine,
            // and tokio's timeout looks at the read first.
            timeout(MS(300), stream.read_exact(&mut reply)).await.expect("the reply is there")?;
            assert_eq!(&reply, b"+PONG\r\n");
            assert_eq!(began.elapsed(), MS(2550), "it was read when the pause ended");
            Ok(())
        }),
    );
    guests.pause("a", MS(550), MS(2000));
    guests.run(&mut sim).expect("the process reads its reply");
}

#[test]
fn nobody_else_stops() {
    let guests = Guests::new(7);
    let mut sim = with_redis(&guests, NodeConfig::default());
    for name in ["a", "b"] {
        sim.client(
            name,
            guests.process(name, move |guest| async move {
                let mut redis = connect(&guest).await?;
                let began = Instant::now();
                for _ in 0..10 {
                    let () = redis::cmd("SET").arg(name).arg(1).query_async(&mut redis).await?;
                }
                assert_eq!(began.elapsed() > MS(5000), name == "a");
                Ok(())
            }),
        );
    }
    guests.pause("a", MS(400), MS(5000));
    guests.run(&mut sim).expect("both end");
}
