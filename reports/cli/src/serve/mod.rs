//! Simulated Redis nodes and Sentinels on real TCP ports of this machine, in real time: the servers that run in the
//! simulator, for redis-cli and client libraries to talk to.
//!
//! Each server has a thread of its own, so that one that is busy with a script stops no other. Nodes are independent of
//! each other (REPLICAOF can tie them together), or start as a master and its replicas, which Sentinels may watch. One
//! that has shut down stays away: another `doublehold serve` can take its port. All listen on the loopback interface
//! only: they have neither passwords nor TLS. When the program ends they keep nothing, but for their configuration
//! files where they are given a folder.
//!
//! | | |
//! |---|---|
//! | what is served, and how much it may hold | `options` |
//! | which server runs on which port | `layout` |
//! | one server from its start to its end | `server` |
//! | how many connections the system allows | `files` |
//! | being asked to stop | `signals` |
//! | what goes wrong | `error` |

mod either;
pub(crate) mod error;
mod files;
pub(crate) mod layout;
pub(crate) mod options;
mod server;
pub(crate) mod signals;
#[cfg(test)]
mod tests;

use std::io;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::pin::pin;
use std::time::Duration;

use either::{Either, first};
use error::ServeError;
use options::Options;
use server::Served;
use signals::Signals;

/// How long clients have to take their replies when the program is asked to stop: Redis' `shutdown-timeout`.
const DRAIN_LIMIT: Duration = Duration::from_secs(10);

/// Serves until every server was told to SHUTDOWN, or the program is asked to stop: then no connection is
/// accepted any more, and what clients have sent is answered. Calls `ready` once all accept connections. Must run
/// inside a tokio runtime.
///
/// # Errors
/// When the ports do not exist or one is taken; then nobody is served. When the program is asked to stop twice.
pub(crate) async fn serve(
    options: Options,
    mut signals: Signals,
    ready: impl FnOnce(RangeInclusive<u16>),
) -> Result<(), ServeError> {
    let ports = options.layout.ports()?;
    let mut listeners = Vec::new();
    for port in ports.clone() {
        listeners.push(bind(port).map_err(|source| ServeError::Bind { port, source })?);
    }
    let servers: Vec<Served> = ports
        .clone()
        .zip(options.layout.duties())
        .zip(listeners)
        .map(|((port, duty), listener)| server::start(&options, port, duty, listener))
        .collect::<Result<_, _>>()?;
    ready(ports);
    let (stops, ends): (Vec<_>, Vec<_>) = servers.into_iter().map(|server| (server.stop, server.end)).unzip();
    let mut all_ended = pin!(async {
        for end in ends {
            // A thread that is gone without a word has ended too.
            let _ = end.await;
        }
    });
    if first(all_ended.as_mut(), signals.next()).await.is_left() {
        return Ok(());
    }
    for stop in stops {
        // One that has shut down already needs not be told.
        let _ = stop.send(());
    }
    let patience = async { first(tokio::time::sleep(DRAIN_LIMIT), signals.next()).await };
    match first(all_ended, patience).await {
        Either::Right(Either::Right(_again)) => Err(ServeError::StoppedAtOnce),
        Either::Left(()) | Either::Right(Either::Left(())) => Ok(()),
    }
}

fn bind(port: u16) -> io::Result<std::net::TcpListener> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}
