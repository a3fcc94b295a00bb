//! What a simulated machine runs: a program that serves a port and hears signals.
//!
//! A Redis node with its operator is one. A machine may run several, each on its port, as servers do: nothing here
//! knows of nodes. All of them end with the machine's process; the disk's files are theirs together, so no two should
//! use one name.
//!
//! Signals go to the machine: of its processes at most one should wait for them.

use std::future::Future;

use doublehold_sim::{Host, Incoming, SimStream};
use tokio::sync::oneshot;

use crate::core::Peer;
use crate::wait::{First, first};

/// A program on a simulated machine, to which others connect. Clones are handles to the same.
pub trait Process: Clone + Send + 'static {
    /// A signal that it does not understand.
    type Unknown: Send + 'static;

    /// Serves one connection, until either side closes. `address` is what others are shown of the other end.
    fn serve(self, stream: SimStream, peer: Peer, address: String) -> impl Future<Output = ()> + Send;

    /// Ends when the program has ended by itself.
    fn closed(&self) -> impl Future<Output = ()> + Send;

    /// Does what the machine's signals say. Ends only at one that it does not understand: a program without orders of
    /// its own never ends.
    fn obey(self) -> impl Future<Output = Self::Unknown> + Send;
}

/// Runs a program on a machine until it ends by itself, serving who connects.
///
/// # Errors
/// When it was told something that it does not understand. Nobody may take what follows for what was asked.
pub async fn run<P: Process>(host: &Host, incoming: Incoming, process: P) -> Result<(), P::Unknown> {
    host.spawn(accept(host.clone(), process.clone(), incoming));
    let (complain, complaint) = oneshot::channel();
    let obeying = process.clone();
    host.spawn(async move {
        // Nobody listens any more when the program has ended.
        let _ = complain.send(obeying.obey().await);
    });
    match first(process.closed(), complaint).await {
        First::Right(Ok(unknown)) => Err(unknown),
        First::Right(Err(_)) | First::Left(()) => Ok(()),
    }
}

async fn accept(host: Host, process: impl Process, mut incoming: Incoming) {
    loop {
        let stream = incoming.accept().await;
        let peer = Peer { host: stream.peer().0, connection: stream.connection().0 };
        let address = format!("host{}:0", peer.host);
        // A connection's state is some kilobytes: boxed here, it is not copied on its way to the tasks.
        host.spawn(Box::pin(process.clone().serve(stream, peer, address)));
    }
}
