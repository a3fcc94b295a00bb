//! Our Sentinel against a real one of Redis 7: the same words to both, and real nodes for ours to fail over.
//!
//! Needs `redis-server` 7.0.x on PATH; without it the tests say so and pass, unless `DOUBLEHOLD_REQUIRE_REDIS=1`. The
//! failover takes half a minute of real time, and is left to `.ci/deep`.
//!
//! Not compared: what a Sentinel says in the middle of a failover, and the moment of each step. Simulated failovers are
//! compared with measured ones by `scenarios/tests/it/failovers`.

mod client;
mod conversation;
mod failover;
mod known;
mod ours;
mod real;

use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

/// What both kinds of Sentinel are told.
const DOWN_AFTER: Duration = Duration::from_secs(2);
const FAILOVER_TIMEOUT: Duration = Duration::from_secs(20);

/// Longer than anything takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A port that is free now.
fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("it is bound").port()
}

/// Asks again until there is an answer.
#[expect(clippy::disallowed_methods, reason = "real processes take real time")]
fn awaited<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    const PAUSE: Duration = Duration::from_millis(50);
    for _ in 0..PATIENCE.as_millis() / PAUSE.as_millis() {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(PAUSE);
    }
    panic!("in vain: {what}");
}
