//! A Sentinel on a simulated host.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use doublehold_sim::{BoxFuture, DelayLaw, Host, HostId, SimStream};
use doublehold_sim_redis::core::Peer;
use doublehold_sim_redis::process::{self, Process};
use doublehold_sim_redis::{BootError, SimMachine};

use crate::config::SentinelConfig;
use crate::process::{Listener, SentinelProcess};

impl Process for SentinelProcess<SimMachine> {
    type Unknown = Infallible;

    async fn serve(self, stream: SimStream, peer: Peer, address: String) {
        SentinelProcess::serve(self, stream, peer, address).await;
    }

    async fn closed(&self) {
        SentinelProcess::closed(self).await;
    }

    /// A Sentinel has no orders.
    async fn obey(self) -> Infallible {
        pending().await
    }
}

/// Runs a Sentinel on a simulated host until it shuts down. `names` says which host each name means.
///
/// # Errors
/// If it does not start.
pub fn run_on_host(
    host: Host,
    names: Arc<BTreeMap<String, HostId>>,
    config: SentinelConfig,
    listener: Option<Arc<dyn Listener>>,
) -> BoxFuture<'static, Result<(), BootError>> {
    Box::pin(async move {
        let incoming = host.listen(config.own.port);
        let machine = SimMachine::new(host.clone(), names, DelayLaw::Fixed(Duration::ZERO));
        let sentinel = SentinelProcess::boot(machine, config, listener)?;
        match process::run(&host, incoming, sentinel).await {
            Ok(()) => Ok(()),
            Err(never) => match never {},
        }
    })
}
