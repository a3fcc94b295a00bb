//! An operator, or Sentinel, on a node's machine: hears orders by signal and types them into nodes until they are done.
//!
//! An order travels like any message. A promotion is typed into the node of this machine first; then every node that is
//! to be told gets its REPLICAOF over the network, from here: a cut holds it, a node that is down refuses it, and it is
//! tried again every second until it is done, as Sentinel does with an old master that comes back.
//!
//! What is still to be done outlives the node's process: it is taken up again when the process starts the next time, and
//! waits while it is down. A node that has become a replica meanwhile has no right to tell others to follow it, so what it
//! still had to tell is dropped.
//!
//! Not modelled: agreeing on a failover, configuration epochs (of two promotions on the two sides of a cut the order that
//! arrives last counts), looking after a node once it was told, and closing the clients of a demoted node.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use doublehold_sim::{Host, HostId};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::node::Node;
use crate::on_sim::SimMachine;

/// Between two tries.
const PAUSE: Duration = Duration::from_secs(1);

/// How long one try may take: Sentinel closes a link on which nothing has moved for so long, and opens another.
const TRY_LIMIT: Duration = Duration::from_secs(15);

/// What the operator of a node's machine is told to do. Its text is the signal that tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Make this node a master, then tell those to follow it.
    Promote {
        /// Names of other nodes.
        tell: Vec<String>,
    },
    /// Make this node follow another.
    Follow {
        /// The other's name.
        master: String,
    },
}

/// A signal that is no order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a node was told `{0}`, which is no order: orders are `promote NODE …` and `follow NODE`")]
pub struct UnknownOrder(String);

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Order::Promote { tell } => {
                write!(f, "promote")?;
                tell.iter().try_for_each(|node| write!(f, " {node}"))
            }
            Order::Follow { master } => write!(f, "follow {master}"),
        }
    }
}

impl FromStr for Order {
    type Err = UnknownOrder;

    fn from_str(text: &str) -> Result<Order, UnknownOrder> {
        let words: Vec<&str> = text.split(' ').collect();
        match words.as_slice() {
            ["promote", tell @ ..] => {
                Ok(Order::Promote { tell: tell.iter().map(|&node| node.to_owned()).collect() })
            }
            ["follow", master] => Ok(Order::Follow { master: (*master).to_owned() }),
            _ => Err(UnknownOrder(text.to_owned())),
        }
    }
}

/// What one machine's operator has still to see done. Clones are handles to the same list, which no crash empties.
#[derive(Clone, Debug, Default)]
pub struct Operator(Arc<Mutex<Standing>>);

#[derive(Debug, Default)]
struct Standing {
    /// Heard, and not yet done to the machine's own node.
    own: Option<Order>,
    /// Nodes that have not been told yet to follow this machine's.
    untold: BTreeSet<String>,
}

impl Operator {
    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The operator at work beside one process of the node.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) operator: Operator,
    pub(crate) host: Host,
    pub(crate) node: Node<SimMachine>,
    pub(crate) names: Arc<BTreeMap<String, HostId>>,
    pub(crate) port: u16,
}

impl Desk {
    /// Does what it is told for as long as the process lives; ends at a signal that is no order.
    pub(crate) async fn obey(self) -> UnknownOrder {
        self.tell_all();
        loop {
            let heard = self.operator.standing().own.clone();
            let order = match heard {
                Some(order) => order,
                None => match self.host.signal().await.parse::<Order>() {
                    Ok(order) => order,
                    Err(unknown) => return unknown,
                },
            };
            self.operator.standing().own = Some(order.clone());
            self.do_to_own_node(&order).await;
        }
    }

    async fn do_to_own_node(&self, order: &Order) {
        let target = match order {
            Order::Promote { .. } => "NO ONE".to_owned(),
            Order::Follow { master } => format!("{master} {}", self.port),
        };
        while !self.typed_into(self.host.id(), &target).await {
            self.host.sleep(PAUSE).await;
        }
        let mut standing = self.operator.standing();
        standing.own = None;
        if let Order::Promote { tell } = order {
            standing.untold.extend(tell.iter().cloned());
            drop(standing);
            self.tell_all();
        }
    }

    /// Starts telling whoever is to be told, each for itself: one that cannot be reached holds up nobody else.
    fn tell_all(&self) {
        for name in self.operator.standing().untold.clone() {
            let desk = self.clone();
            self.host.spawn(async move { desk.tell(&name).await });
        }
    }

    async fn tell(&self, name: &str) {
        let Some(&to) = self.names.get(name) else { return };
        let follow = format!("{} {}", self.host.name(), self.port);
        while self.is_to_tell(name) {
            if self.typed_into(to, &follow).await {
                self.operator.standing().untold.remove(name);
                return;
            }
            self.host.sleep(PAUSE).await;
        }
    }

    /// Whether the other still has to be told, by a node that is still a master.
    fn is_to_tell(&self, name: &str) -> bool {
        let mut standing = self.operator.standing();
        if self.node.inspect(|core| core.replication().is_replica()) {
            standing.untold.clear();
        }
        standing.untold.contains(name)
    }

    /// One try. What was sent before it was given up may still arrive: the next one repeats it, which does no harm.
    async fn typed_into(&self, node: HostId, target: &str) -> bool {
        let until = self.host.clocks().monotonic.after(TRY_LIMIT);
        let typed = self.host.race(self.type_into(node, target), until).await;
        matches!(typed, Ok(Ok(())))
    }

    async fn type_into(&self, node: HostId, target: &str) -> io::Result<()> {
        let mut stream = BufReader::new(self.host.connect(node, self.port).await?);
        stream.write_all(format!("REPLICAOF {target}\r\n").as_bytes()).await?;
        // Closing before the reply is there would reset the connection.
        let mut reply = String::new();
        stream.read_line(&mut reply).await?;
        if reply.starts_with('+') { Ok(()) } else { Err(io::Error::other(reply)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_heard_as_it_was_given() {
        let promote = |tell: &[&str]| Order::Promote { tell: tell.iter().map(|&node| node.into()).collect() };
        for order in [promote(&["M", "R2"]), promote(&[]), Order::Follow { master: "R1".into() }] {
            assert_eq!(order.to_string().parse(), Ok(order));
        }
    }

    #[test]
    fn a_signal_that_is_no_order_is_named() {
        for text in ["promte", "", "follow", "follow A B", "replicate A"] {
            let unknown = text.parse::<Order>().expect_err("it is no order");
            assert!(unknown.to_string().contains(&format!("`{text}`")), "{unknown}");
        }
    }
}
