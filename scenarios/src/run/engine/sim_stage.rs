//! The simulated world as stage and witness, as a node's observer, and as the machine under the resource.
//!
//! Nothing here decides anything. It serves every simulator: a second one brings a world.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use doublehold_history::{ClientId, ClockKind, NodeId, Reading, TrueNs};
use doublehold_lockimpl::MonotonicTime;
use doublehold_sim::{ConnectionId, DelayLaw, Host, HostId, ObserverLike};
use doublehold_sim_redis::core::{KeyChange, Observer, Origin, Peer, StoppedScript};

use super::asked_lock::{AskedNode, AskingHost};
use super::env::SimEnv;
use super::signal::Signal;
use crate::model::cast::{Cast, Member};
use crate::model::scenario::HostIndex;
use crate::report::KeyOrigin;
use crate::run::client::resource::{self, Store};
use crate::run::client::stage::{Stage, Then, Witness};
use crate::run::clocks;
use crate::run::keys::attribution::ConnectionNumber;
use crate::run::recorder::{Recorder, Sent};

impl Stage for SimEnv {
    fn restarts(&self) -> u32 {
        self.host.restarts()
    }

    async fn start(&self) -> Result<(), String> {
        let client = self.cast.client(self.client);
        if self.cast.is_thread(client) {
            self.starts.wait_for(self.cast.name(client)).await;
            return Ok(());
        }
        let told = self.host.signal().await;
        if told.parse() == Ok(Signal::Start) { Ok(()) } else { Err(told) }
    }

    async fn mark(&self, label: &'static str) {
        let thread = self.cast.mark_of(self.cast.client(self.client));
        self.host.mark(label, thread).await;
    }

    fn now(&self) -> MonotonicTime {
        clocks::monotonic(self.host.clocks().monotonic)
    }

    fn halt(&self) {
        self.host.halt();
    }

    fn end_tasks(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    fn catch_up(&self) {
        if self.fired.is_set() {
            self.drivers.flush();
        }
    }

    fn flush(&self) {
        self.drivers.flush();
    }

    fn draw(&self, law: &DelayLaw) -> Duration {
        self.host.draw(law)
    }
}

/// The world's observer.
pub(in crate::run) struct SimWitness<O> {
    world: O,
    cast: Arc<Cast>,
}

impl<O: ObserverLike> SimWitness<O> {
    pub(in crate::run) fn new(world: O, cast: Arc<Cast>) -> SimWitness<O> {
        SimWitness { world, cast }
    }
}

impl<O: ObserverLike> Witness for SimWitness<O> {
    fn now(&self) -> TrueNs {
        clocks::true_time(self.world.true_time())
    }

    fn reading(&self, host: HostIndex) -> Reading {
        clocks::reading(self.world.clocks_of(self.cast.world_id(self.cast.machine(host))))
    }

    fn copy_of(&self, connection: ConnectionNumber) -> Option<(ConnectionNumber, u64)> {
        let of = self.world.copy_of(ConnectionId(connection.0))?;
        Some((ConnectionNumber(of.connection.0), of.after_bytes))
    }

    fn when(&self, host: HostIndex, clock: ClockKind, reading_ns: i64, then: Then) {
        let machine = self.cast.world_id(self.cast.machine(host));
        self.world.when(machine, clocks::sim_clock(clock), reading_ns, then);
    }

    fn keeps(&self, bytes: u64) {
        self.world.keeps(bytes);
    }
}

/// Who is on a host of the world: nobody of a lock's on one of an operator.
pub(super) enum OnHost {
    /// The client that it is.
    Client(ClientId),
    /// A process: one of its threads.
    Thread,
    Nobody,
}

pub(super) fn who_is_on(cast: &Cast, host: HostId) -> OnHost {
    match cast.member_of_world(host) {
        Some(Member::Client(client)) => OnHost::Client(client),
        Some(Member::Process) => OnHost::Thread,
        Some(Member::Node(_) | Member::Sentinel(_) | Member::Resource) | None => OnHost::Nobody,
    }
}

/// One node's link to the recorder and to the trace, where faults wait for commands.
pub(in crate::run) struct NodeObserver {
    host: Host,
    node: NodeId,
    cast: Arc<Cast>,
    recorder: Recorder,
}

impl NodeObserver {
    pub(in crate::run) fn new(host: Host, node: NodeId, cast: Arc<Cast>, recorder: Recorder) -> NodeObserver {
        NodeObserver { host, node, cast, recorder }
    }

    /// What is known of a request; `None` of one that an operator typed, who is none of a lock's clients.
    fn find_sent(&self, peer: Peer, request: u64) -> Option<Sent> {
        let client = match who_is_on(&self.cast, HostId(peer.host)) {
            OnHost::Client(client) => Some(client),
            OnHost::Thread => None,
            OnHost::Nobody => return None,
        };
        Some(Sent { client, connection: ConnectionNumber(peer.connection), request })
    }

    /// Whom the trace says a request is of: a host, and of a process the thread, where that is known.
    fn trace_host(&self, peer: Peer, request: u64) -> HostId {
        let host = HostId(peer.host);
        match self.find_sent(peer, request) {
            Some(sent @ Sent { client: None, .. }) => {
                let thread = self.recorder.whose(sent).map(|client| self.cast.client(client));
                thread.map_or(host, |thread| self.cast.world_id(thread))
            }
            _ => host,
        }
    }
}

impl Observer for NodeObserver {
    /// What a replica applies and what a node loads was executed elsewhere, or before: no fault waits for it.
    fn executed(&self, origin: Origin, command: &'static str) {
        if let Origin::Client { peer, request } = origin {
            self.host.note(command, Some(self.trace_host(peer, request)));
        }
    }

    fn changed(&self, origin: Origin, change: &KeyChange<'_>) {
        let (origin, sent) = match origin {
            Origin::Client { peer, request } => (KeyOrigin::Executed, self.find_sent(peer, request)),
            Origin::Node => (KeyOrigin::Executed, None),
            Origin::Master => (KeyOrigin::Replicated, None),
            Origin::File => (KeyOrigin::Loaded, None),
        };
        self.recorder.record_key_change(self.node, origin, sent, change);
    }

    fn script_stopped(&self, origin: Origin, script: &StoppedScript) {
        let client = match origin {
            Origin::Client { peer, request } => Some(self.trace_host(peer, request)),
            Origin::Node | Origin::Master | Origin::File => None,
        };
        self.host.note("script stopped", client);
        // A Redis would go on. What this node would do from here on is no evidence of anything.
        self.recorder.inconclusive(format!("{script} on {}", self.host.name()));
        self.host.halt();
    }
}

/// Serves what the lock protects, to every client that connects, for as long as the process lives. Where it asks the
/// lock, that is `asked`.
pub(in crate::run) async fn serve_resource(
    host: Host,
    cast: Arc<Cast>,
    store: Store,
    asked: AskedNode,
    recorder: Recorder,
) {
    if host.restarts() > 0 {
        store.restart();
    }
    let mut incoming = host.listen(resource::PORT);
    loop {
        let stream = incoming.accept().await;
        let client = match who_is_on(&cast, stream.peer()) {
            OnHost::Client(client) => Some(client),
            OnHost::Thread | OnHost::Nobody => None,
        };
        let (store, recorder) = (store.clone(), recorder.clone());
        let service = AskingHost { host: host.clone(), asked: asked.clone() };
        host.spawn(async move {
            // A connection ends when its client is gone; what it asked for until then was done.
            let _ended = resource::serve(stream, client, &store, &service, &recorder).await;
        });
    }
}
