//! Our Sentinels on real ports, each on a thread of its own until the test's process ends.
#![expect(clippy::disallowed_methods, reason = "Sentinels on real ports run in real time, on real threads")]

use std::net::{Ipv4Addr, TcpListener};

use doublehold_sim_redis::TokioMachine;
use doublehold_sim_redis::core::Peer;
use doublehold_sim_sentinel::{Address, SentinelConfig, SentinelProcess};

use crate::{DOWN_AFTER, FAILOVER_TIMEOUT};

/// Starts a Sentinel that watches the node on another port as `mymaster`, and knows nobody yet.
pub(crate) fn start(port: u16, master: u16, quorum: u32) {
    let address = |port| Address::new("127.0.0.1", port);
    let config = SentinelConfig {
        quorum,
        down_after: DOWN_AFTER,
        failover_timeout: FAILOVER_TIMEOUT,
        ..SentinelConfig::new(address(port), address(master))
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("the port is free");
    listener.set_nonblocking(true).expect("it can be");
    std::thread::spawn(move || run(listener, config));
}

fn run(listener: TcpListener, config: SentinelConfig) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let sentinel =
            SentinelProcess::boot(TokioMachine::new(false), config, None).expect("its disk is memory");
        let accepting = sentinel.clone();
        let listener = tokio::net::TcpListener::from_std(listener).expect("it does not block");
        let accepting = tokio::spawn(async move {
            while let Ok((stream, address)) = listener.accept().await {
                tokio::spawn(accepting.clone().serve(stream, Peer::default(), address.to_string()));
            }
        });
        sentinel.closed().await;
        accepting.abort();
    });
}
