//! The links between hosts and clients: who is at the other end of a connection, and which links are cut or slow.
//!
//! A client is known by the name that it gives its connections, by CLIENT SETNAME, HELLO or `DOUBLEHOLD IAM`. Until
//! then a connection is nobody's. A cut closes a direction of all connections of a pair; what the system has in its
//! buffers still arrives. A slow link delays requests, one after another on each connection.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use doublehold_sim_redis::core::Peer;
use tokio::net::TcpStream;

use super::gate::{Gate, Gates};
use super::host::Host;

/// All links.
#[derive(Default)]
pub(crate) struct Links {
    state: Mutex<State>,
    /// Whether any is cut or slow: most requests look at no more than this.
    is_any_struck: AtomicBool,
    last_connection: AtomicU64,
}

#[derive(Default)]
struct State {
    accepted: BTreeMap<u64, Accepted>,
    opened: Vec<Opened>,
    /// Hosts' own ends of the connections that they opened.
    own: BTreeSet<SocketAddr>,
    cut: BTreeSet<Way>,
    slow: BTreeMap<Way, Duration>,
    /// All names that connections had.
    known: BTreeSet<Arc<str>>,
    /// The ends of all cuts since the last recovery.
    cut_off: BTreeSet<String>,
}

/// A connection that a host accepted.
struct Accepted {
    host: Arc<Host>,
    remote: Option<SocketAddr>,
    client: Option<Arc<str>>,
    gates: Gates,
    /// The request that comes next has been delayed already.
    is_delayed: bool,
}

/// A connection that a host opened.
struct Opened {
    from: String,
    to: String,
    inward: Weak<Gate>,
    outward: Weak<Gate>,
}

/// From one end to another, by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Way {
    pub(crate) from: String,
    pub(crate) to: String,
}

impl Way {
    pub(crate) fn new(from: &str, to: &str) -> Way {
        Way { from: from.to_owned(), to: to.to_owned() }
    }

    pub(crate) fn back(&self) -> Way {
        Way::new(&self.to, &self.from)
    }
}

/// What a link does to a request.
pub(crate) enum OnTheWay {
    Passes,
    /// It waits until the link is no longer cut.
    Cut(Arc<Gate>),
    /// It comes so much later.
    Slow(Duration),
}

impl Links {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the next connection, as nodes are told it.
    pub(crate) fn next_connection(&self) -> Peer {
        Peer { host: 0, connection: self.last_connection.fetch_add(1, Ordering::Relaxed) + 1 }
    }

    /// Notes a connection that a host accepted. Returns its gates.
    pub(crate) fn accept(&self, host: &Arc<Host>, stream: &TcpStream, peer: Peer) -> Gates {
        let gates = Gates::default();
        let (host, remote) = (Arc::clone(host), stream.peer_addr().ok());
        let accepted = Accepted { host, remote, client: None, gates: gates.clone(), is_delayed: false };
        self.state().accepted.insert(peer.connection, accepted);
        gates
    }

    /// A connection that a host accepted has ended. Returns the client whose last one it was, if it was anyone's, and
    /// that client has closed it: a fault, a Sentinel or a limit may have ended it as well.
    pub(crate) fn end(&self, peer: Peer) -> Option<Arc<str>> {
        let mut state = self.state();
        let ended = state.accepted.remove(&peer.connection)?;
        if let Some(remote) = ended.remote {
            state.own.remove(&remote);
        }
        let client = ended.client?;
        let is_left = state.accepted.values().any(|it| it.client.as_deref() == Some(&client));
        (!is_left && ended.gates.is_left()).then_some(client)
    }

    /// The gates of a connection that a host is about to open.
    pub(crate) fn open(&self, from: &Host, port: u16, hosts: &[Arc<Host>]) -> Gates {
        let gates = Gates::default();
        let to =
            hosts.iter().find(|host| host.port == port).map_or_else(String::new, |host| host.name.clone());
        let (inward, outward) = (Arc::downgrade(&gates.inward), Arc::downgrade(&gates.outward));
        let mut state = self.state();
        state.opened.retain(|opened| opened.inward.strong_count() > 0);
        state.opened.push(Opened { from: from.name.clone(), to, inward, outward });
        state.settle();
        gates
    }

    /// Notes a host's own end of a connection that it opened.
    pub(crate) fn note_own(&self, stream: &TcpStream) {
        if let Ok(own) = stream.local_addr() {
            self.state().own.insert(own);
        }
    }

    /// Gives a connection the name of its client.
    pub(crate) fn name(&self, peer: Peer, client: &str) {
        let mut state = self.state();
        let named: Option<Arc<str>> = (!client.is_empty()).then(|| client.into());
        if let Some(link) = state.accepted.get_mut(&peer.connection) {
            link.client.clone_from(&named);
        }
        state.known.extend(named);
        if !state.cut.is_empty() {
            state.settle();
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

    /// What befalls a request on its way.
    pub(crate) fn pass(&self, peer: Peer) -> OnTheWay {
        if !self.is_any_struck() {
            return OnTheWay::Passes;
        }
        let mut state = self.state();
        let State { accepted, slow, .. } = &mut *state;
        let Some(link) = accepted.get_mut(&peer.connection) else { return OnTheWay::Passes };
        if link.gates.inward.is_closed() {
            return OnTheWay::Cut(Arc::clone(&link.gates.inward));
        }
        let client = link.client.as_deref().unwrap_or_default();
        match slow.get(&Way::new(client, &link.host.name)) {
            Some(by) if !std::mem::replace(&mut link.is_delayed, true) => OnTheWay::Slow(*by),
            _ => {
                link.is_delayed = false;
                OnTheWay::Passes
            }
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        self.is_any_struck.store(!state.cut.is_empty() || !state.slow.is_empty(), Ordering::Release);
        state.settle();
    }

    /// Cuts ways.
    pub(crate) fn cut(&self, ways: impl IntoIterator<Item = Way>) {
        self.change(|state| {
            for way in ways {
                state.cut_off.extend([way.from.clone(), way.to.clone()]);
                state.cut.insert(way);
            }
        });
    }

    /// Ends the cuts of ways; false if none of them was cut.
    pub(crate) fn heal(&self, ways: impl IntoIterator<Item = Way>) -> bool {
        let mut was_cut = false;
        self.change(|state| ways.into_iter().for_each(|way| was_cut |= state.cut.remove(&way)));
        was_cut
    }

    /// Ends all cuts.
    pub(crate) fn heal_all(&self) {
        self.change(|state| state.cut.clear());
    }

    /// Lets each request on a way take so much longer; zero ends that.
    pub(crate) fn slow_down(&self, way: Way, by: Duration) {
        self.change(|state| {
            if by.is_zero() {
                state.slow.remove(&way)
            } else {
                state.slow.insert(way, by)
            };
        });
    }

    /// Ends all that strikes links.
    pub(crate) fn recover(&self) {
        self.change(|state| {
            state.cut.clear();
            state.slow.clear();
            state.cut_off.clear();
            state.known = state.accepted.values().filter_map(|it| it.client.clone()).collect();
        });
    }

    /// True if any link is cut or slow.
    pub(crate) fn is_any_struck(&self) -> bool {
        self.is_any_struck.load(Ordering::Acquire)
    }

    /// The ends of cuts that no connection was named after: hosts, and clients that have never come.
    pub(crate) fn never_seen(&self) -> Vec<String> {
        let state = self.state();
        state.cut_off.iter().filter(|name| !state.known.contains(name.as_str())).cloned().collect()
    }

    /// Lets nothing more out of a client's connections to a host, which are then to be ended. Returns their addresses.
    pub(crate) fn shut(&self, client: &str, host: &str) -> Vec<SocketAddr> {
        let state = self.state();
        let links = state.accepted.values();
        let theirs = links.filter(|it| it.client.as_deref() == Some(client) && it.host.name == host);
        theirs.inspect(|it| it.gates.outward.close()).filter_map(|it| it.remote).collect()
    }

    /// A client is about to have this connection closed, by QUIT.
    pub(crate) fn note_left(&self, peer: Peer) {
        if let Some(link) = self.state().accepted.get(&peer.connection) {
            link.gates.note_left();
        }
    }

    /// What is cut or slow, in words.
    pub(crate) fn state_words(&self) -> Vec<String> {
        let state = self.state();
        let mut words: Vec<String> = Vec::new();
        for way in &state.cut {
            let Way { from, to } = way;
            if !state.cut.contains(&way.back()) {
                words.push(format!("cut from {from} to {to}"));
            } else if from <= to {
                words.push(format!("cut between {from} and {to}"));
            }
        }
        for (Way { from, to }, by) in &state.slow {
            words.push(format!("slow from {from} to {to}, by {}", doublehold_text::exact_duration(*by)));
        }
        words
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
    fn settle(&self) {
        let set = |gate: &Gate, from: &str, to: &str| match self.cut.contains(&Way::new(from, to)) {
            true => gate.close(),
            false => gate.open(),
        };
        for link in self.accepted.values() {
            let client = link.client.as_deref().unwrap_or_default();
            set(&link.gates.inward, client, &link.host.name);
            set(&link.gates.outward, &link.host.name, client);
        }
        for Opened { from, to, inward, outward } in &self.opened {
            if let Some(gate) = inward.upgrade() {
                set(&gate, to, from);
            }
            if let Some(gate) = outward.upgrade() {
                set(&gate, from, to);
            }
        }
    }
}
