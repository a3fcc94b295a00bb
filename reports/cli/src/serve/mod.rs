//! Simulated Redis nodes and Sentinels on real TCP ports of this machine, in real time: the servers that run in the
//! simulator, for redis-cli and client libraries to talk to.
//!
//! Each server has a thread of its own, so that one that is busy with a script stops no other. Nodes are independent of
//! each other (REPLICAOF can tie them together), or start as a master and its replicas, which Sentinels may watch. One
//! that has shut down stays away, unless a word brings it back: another `doublehold serve` can take its port. All
//! listen on the loopback interface, if nobody asks for another: they have neither passwords nor TLS. When the program
//! ends they keep nothing, but for their configuration files where they are given a folder.
//!
//! | | |
//! |---|---|
//! | what is served, and how much it may hold | `options` |
//! | which server runs on which port | `layout` |
//! | one server from its start to its end | `server`, `process` |
//! | faults, in real time | `weather` |
//! | the words that strike them, and the judge's | `words` |
//! | a scenario's nodes and faults | `scenario` |
//! | what clients tell of their locks | `record` |
//! | what all servers share for that | `control` |
//! | how many connections the system allows | `files` |
//! | being asked to stop | `signals` |
//! | what goes wrong | `error` |

pub(crate) mod control;
pub(crate) mod either;
pub(crate) mod error;
mod files;
pub(crate) mod layout;
pub(crate) mod options;
mod process;
mod receive;
mod record;
pub(crate) mod scenario;
mod server;
pub(crate) mod signals;
#[cfg(test)]
mod tests;
mod watch;
mod weather;
pub(crate) mod words;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use control::{Control, Orders};
use doublehold_history::History;
use either::{Either, first};
use error::ServeError;
use options::Options;
use server::{Place, Served};
use signals::{Signals, Stop};
use weather::host::Host;

/// How long clients have to take their replies when the program is asked to stop: Redis' `shutdown-timeout`.
const DRAIN_LIMIT: Duration = Duration::from_secs(10);

/// Signals that come within this time of the first are the same request.
const SAME_REQUEST: Duration = Duration::from_millis(200);

/// Serves until every server was told to SHUTDOWN, or the program is asked to stop: then no connection is
/// accepted any more, and what clients have sent is answered. Calls `ready` once all accept connections, with what
/// words can change. Must run inside a tokio runtime. Returns what clients have told of their locks, a history for each
/// record; none without faults.
///
/// # Errors
/// When the ports do not exist or one is taken; then nobody is served. When the program is asked to stop twice.
pub(crate) async fn serve(
    options: Options,
    mut signals: Signals,
    ready: impl FnOnce(Option<&Arc<Control>>),
) -> Result<Vec<History>, ServeError> {
    let ports = options.layout.ports()?;
    let mut listeners = Vec::new();
    for port in ports.clone() {
        let address = SocketAddr::new(options.listen, port);
        listeners.push(bind(address).map_err(|source| ServeError::Bind { address, source })?);
    }
    let (control, mut places) = places(&options);
    let servers: Vec<Served> = ports
        .clone()
        .zip(options.layout.duties())
        .zip(listeners)
        .map(|((port, duty), listener)| server::start(&options, port, duty, listener, places.next()))
        .collect::<Result<_, _>>()?;
    if let Some(control) = &control {
        // Only a scenario strikes here, and it has been checked.
        let _ = control.begin().await;
    }
    ready(control.as_ref());
    let (stops, ends): (Vec<_>, Vec<_>) = servers.into_iter().map(|server| (server.stop, server.end)).unzip();
    let mut all_ended = pin!(async {
        for end in ends {
            // A thread that is gone without a word has ended too.
            let _ = end.await;
        }
    });
    let asked_to_stop = async {
        match (&control, options.layout.control_port()) {
            (Some(control), Some(port)) => {
                first(signals.next(), record::probe(&control.record, reached(options.listen), port))
                    .await
                    .is_left()
            }
            _ => matches!(signals.next().await, Stop::Terminate | Stop::Interrupt),
        }
    };
    if first(all_ended.as_mut(), asked_to_stop).await.is_left() {
        return Ok(records(control, Vec::new()));
    }
    let mut missing = Vec::new();
    if let Some(control) = &control {
        missing = control.missing();
        // What is held back is let go, so that it is answered.
        control.recover();
    }
    for stop in stops {
        // One that has shut down already needs not be told.
        let _ = stop.send(());
    }
    let patience = async { first(tokio::time::sleep(DRAIN_LIMIT), asked_again(&mut signals)).await };
    match first(all_ended, patience).await {
        Either::Right(Either::Right(_again)) => Err(ServeError::StoppedAtOnce),
        Either::Left(()) | Either::Right(Either::Left(())) => Ok(records(control, missing)),
    }
}

/// Ends when the program is asked to stop once more. `timeout` asks it, and then its whole group: that is one request.
async fn asked_again(signals: &mut Signals) {
    let first = Instant::now();
    while first.elapsed() < SAME_REQUEST {
        signals.next().await;
    }
}

/// A place for each server, with the orders of those that faults strike.
type Places = std::vec::IntoIter<(Place, Option<Orders>)>;

/// What all hosts share, where faults are asked for, and the place of each server in the order of their ports.
fn places(options: &Options) -> (Option<Arc<Control>>, Places) {
    let Some(port) = options.layout.control_port() else { return (None, Vec::new().into_iter()) };
    let (control, orders) = Control::new(&options.layout, options.scenario.clone());
    let hosts = control.hosts.iter().cloned().zip(orders.into_iter().map(Some));
    // Words reach it as they reach any other, and nothing befalls it.
    let (own, _) = Host::new(("control".to_owned(), port, None), Instant::now());
    let places: Vec<_> = hosts
        .chain([(Arc::new(own), None)])
        .map(|(host, orders)| (Place { control: Arc::clone(&control), host }, orders))
        .collect();
    (Some(control), places.into_iter())
}

/// The address under which this program reaches servers that listen on `listen`.
fn reached(listen: IpAddr) -> IpAddr {
    if listen.is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { listen }
}

fn records(control: Option<Arc<Control>>, missing: Vec<String>) -> Vec<History> {
    control.map_or_else(Vec::new, |control| control.records(missing))
}

fn bind(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let listener = std::net::TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}
