//! The links between hosts and clients: who is at the other end of a connection, and which links are cut.
//!
//! A client is known by the name that it gives its connections, by CLIENT SETNAME, HELLO or `DOUBLEHOLD IAM`. Until
//! then a connection is nobody's. A cut closes both directions of all connections of a pair; what the system has in its
//! buffers still arrives.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use doublehold_sim_redis::core::Peer;
use tokio::net::TcpStream;

use super::gate::Gate;
use super::host::Host;

/// All links.
#[derive(Default)]
pub(crate) struct Links {
    state: Mutex<State>,
    is_any_cut: AtomicBool,
    last_connection: AtomicU64,
}

#[derive(Default)]
struct State {
    accepted: BTreeMap<u64, Accepted>,
    /// Connections that hosts opened: from whom, to which port.
    opened: Vec<(String, u16, Weak<Gate>)>,
    /// Their own ends of those.
    own: BTreeSet<SocketAddr>,
    cut: BTreeSet<Pair>,
}

/// A connection that a host accepted.
struct Accepted {
    host: Arc<Host>,
    remote: Option<SocketAddr>,
    client: Option<Arc<str>>,
    gate: Arc<Gate>,
}

/// Two ends, the lesser first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair(String, String);

impl Pair {
    pub(crate) fn new(one: &str, other: &str) -> Pair {
        let (first, second) = if one <= other { (one, other) } else { (other, one) };
        Pair(first.to_owned(), second.to_owned())
    }
}

impl std::fmt::Display for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} and {}", self.0, self.1)
    }
}

impl Links {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the next connection, as nodes are told it.
    pub(crate) fn next_connection(&self) -> Peer {
        Peer { host: 0, connection: self.last_connection.fetch_add(1, Ordering::Relaxed) + 1 }
    }

    /// Notes a connection that a host accepted. Returns the gate of its link.
    pub(super) fn accept(&self, host: &Arc<Host>, stream: &TcpStream, peer: Peer) -> Arc<Gate> {
        let gate = Arc::new(Gate::default());
        let remote = stream.peer_addr().ok();
        let accepted = Accepted { host: Arc::clone(host), remote, client: None, gate: Arc::clone(&gate) };
        self.state().accepted.insert(peer.connection, accepted);
        gate
    }

    /// A connection that a host accepted has ended. Returns the client whose last one it was, if it was anyone's.
    pub(crate) fn end(&self, peer: Peer) -> Option<Arc<str>> {
        let mut state = self.state();
        let ended = state.accepted.remove(&peer.connection)?;
        if let Some(remote) = ended.remote {
            state.own.remove(&remote);
        }
        let client = ended.client?;
        let is_left = state.accepted.values().any(|it| it.client.as_deref() == Some(&client));
        (!is_left).then_some(client)
    }

    /// The gate of a connection that a host is about to open.
    pub(super) fn open(&self, from: &Host, port: u16) -> Arc<Gate> {
        let gate = Arc::new(Gate::default());
        let mut state = self.state();
        state.opened.retain(|(_, _, gate)| gate.strong_count() > 0);
        state.opened.push((from.name.clone(), port, Arc::downgrade(&gate)));
        gate
    }

    /// Notes a host's own end of a connection that it opened.
    pub(super) fn note_own(&self, stream: &TcpStream) {
        if let Ok(own) = stream.local_addr() {
            self.state().own.insert(own);
        }
    }

    /// Gives a connection the name of its client.
    pub(crate) fn name(&self, peer: Peer, client: &str) {
        let mut state = self.state();
        let State { accepted, cut, .. } = &mut *state;
        if let Some(link) = accepted.get_mut(&peer.connection) {
            link.client = (!client.is_empty()).then(|| client.into());
            if cut.contains(&Pair::new(client, &link.host.name)) {
                link.gate.close();
            }
        }
    }

    /// The client of a connection: unknown where it has no name. `None` for one that a host of ours opened, and for
    /// those that no host accepted.
    pub(crate) fn client(&self, peer: Peer) -> Option<Option<Arc<str>>> {
        let state = self.state();
        let link = state.accepted.get(&peer.connection)?;
        let is_own = link.remote.is_some_and(|remote| state.own.contains(&remote));
        (!is_own).then(|| link.client.clone())
    }

    /// The gate of a connection, if its link is cut.
    pub(super) fn cut_gate(&self, peer: Peer) -> Option<Arc<Gate>> {
        if !self.is_any_cut.load(Ordering::Acquire) {
            return None;
        }
        let state = self.state();
        let gate = &state.accepted.get(&peer.connection)?.gate;
        gate.is_closed().then(|| Arc::clone(gate))
    }

    /// Cuts the link between two.
    pub(crate) fn cut(&self, pair: Pair, hosts: &[Arc<Host>]) {
        let mut state = self.state();
        self.is_any_cut.store(true, Ordering::Release);
        state.cut.insert(pair);
        state.settle(hosts);
    }

    /// Ends a cut, or all of them; false if there was none.
    pub(crate) fn heal(&self, pair: Option<&Pair>, hosts: &[Arc<Host>]) -> bool {
        let mut state = self.state();
        let was_cut = match pair {
            Some(pair) => state.cut.remove(pair),
            None => !std::mem::take(&mut state.cut).is_empty(),
        };
        self.is_any_cut.store(!state.cut.is_empty(), Ordering::Release);
        state.settle(hosts);
        was_cut
    }

    /// What is cut.
    pub(crate) fn cuts(&self) -> Vec<Pair> {
        self.state().cut.iter().cloned().collect()
    }

    /// The clients that have a connection now, in the order of their names.
    pub(crate) fn clients(&self) -> Vec<Arc<str>> {
        let state = self.state();
        let clients: BTreeSet<_> = state.accepted.values().filter_map(|it| it.client.clone()).collect();
        clients.into_iter().collect()
    }
}

impl State {
    /// Opens and closes each gate as the cuts say.
    fn settle(&self, hosts: &[Arc<Host>]) {
        let set = |gate: &Gate, is_cut| if is_cut { gate.close() } else { gate.open() };
        for link in self.accepted.values() {
            let pair = link.client.as_deref().map(|client| Pair::new(client, &link.host.name));
            set(&link.gate, pair.is_some_and(|pair| self.cut.contains(&pair)));
        }
        for (from, port, gate) in &self.opened {
            let Some(gate) = gate.upgrade() else { continue };
            let to = hosts.iter().find(|host| host.port == *port);
            set(&gate, to.is_some_and(|to| self.cut.contains(&Pair::new(from, &to.name))));
        }
    }
}
