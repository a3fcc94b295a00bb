//! An operator, or Sentinel, on a node's machine: hears orders by signal and types them into nodes until they are done.
//!
//! An order travels like any message. A promotion is typed into the node of this machine first; then every node that is
//! to be told gets its REPLICAOF over the network, from here: a cut holds it, a node that is down refuses it, and it is
//! tried again every second until it is done, as Sentinel does with an old master that comes back.
//!
//! What is still to be done outlives the node's process: it is taken up again when the process starts the next time,
//! and waits while it is down. A node that has become a replica meanwhile has no right to tell others to follow it, so
//! what it still had to tell is dropped.
//!
//! Orders about data are obeyed once: `FLUSHALL` is typed like the others, and may be refused; that a node evicts keys
//! is nobody's command, and is here because a machine hears its signals in one place.
//!
//! Sentinel has each node keep its new role (`CONFIG REWRITE`), so that it is the same after a restart. A `REPLICAOF`
//! that is only typed is forgotten with the process. An order says which.
//!
//! Not modelled: agreeing on a failover, configuration epochs (of two promotions on the two sides of a cut the order
//! that arrives last counts), looking after a node once it was told, and closing the clients of a demoted node.
//!
//! Decision: "A failover is an order to an operator, who sends ordinary commands" (docs/decisions/redis.md).

use std::collections::BTreeMap;
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
        /// Whether each keeps its role after a restart.
        rewrite_config: bool,
    },
    /// Type FLUSHALL into this node, once: an error is an answer too.
    Flush,
    /// Let this node run out of memory, by nobody's command.
    Evict {
        /// Whether only keys that have a lifetime go.
        volatile_only: bool,
    },
    /// Make this node follow another.
    Follow {
        /// The other's name.
        master: String,
        /// Whether it keeps its role after a restart.
        rewrite_config: bool,
    },
}

/// A signal that is no order, or one about a node that there is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownOrder {
    /// Its words are none of an order.
    #[error(
        "a node was told `{0}`, which is no order: orders are `promote HOW NODE …` and `follow HOW NODE`, where HOW is `rewrite` or `plain`, `flush`, and `evict all` or `evict volatile`"
    )]
    Words(String),
    /// It names a host that there is not.
    #[error("a node was told `{order}`, and there is no `{node}`")]
    Node {
        /// The order.
        order: Order,
        /// Whom it names.
        node: String,
    },
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Order::Promote { tell, rewrite_config } => {
                write!(f, "promote {}", how(*rewrite_config))?;
                tell.iter().try_for_each(|node| write!(f, " {node}"))
            }
            Order::Flush => f.write_str("flush"),
            Order::Evict { volatile_only: true } => f.write_str("evict volatile"),
            Order::Evict { volatile_only: false } => f.write_str("evict all"),
            Order::Follow { master, rewrite_config } => write!(f, "follow {} {master}", how(*rewrite_config)),
        }
    }
}

impl FromStr for Order {
    type Err = UnknownOrder;

    fn from_str(text: &str) -> Result<Order, UnknownOrder> {
        let words: Vec<&str> = text.split(' ').collect();
        let unknown = || UnknownOrder::Words(text.to_owned());
        let rewrites = |how: &str| match how {
            "rewrite" => Ok(true),
            "plain" => Ok(false),
            _ => Err(unknown()),
        };
        match words.as_slice() {
            ["promote", how, tell @ ..] => Ok(Order::Promote {
                tell: tell.iter().map(|&node| node.to_owned()).collect(),
                rewrite_config: rewrites(how)?,
            }),
            ["follow", how, master] => {
                Ok(Order::Follow { master: (*master).to_owned(), rewrite_config: rewrites(how)? })
            }
            ["flush"] => Ok(Order::Flush),
            ["evict", "volatile"] => Ok(Order::Evict { volatile_only: true }),
            ["evict", "all"] => Ok(Order::Evict { volatile_only: false }),
            _ => Err(unknown()),
        }
    }
}

impl Order {
    /// Whether it is tried until it is done, by the next process if need be. What is done to data is done once: again,
    /// it would take what came since.
    fn is_insisted_on(&self) -> bool {
        matches!(self, Order::Promote { .. } | Order::Follow { .. })
    }

    /// The other nodes it is about.
    fn others(&self) -> &[String] {
        match self {
            Order::Promote { tell, .. } => tell,
            Order::Follow { master, .. } => std::slice::from_ref(master),
            Order::Flush | Order::Evict { .. } => &[],
        }
    }
}

fn how(rewrite_config: bool) -> &'static str {
    if rewrite_config { "rewrite" } else { "plain" }
}

/// What one machine's operator has still to see done. Clones are handles to the same list, which no crash empties.
#[derive(Clone, Debug, Default)]
pub struct Operator(Arc<Mutex<Standing>>);

#[derive(Debug, Default)]
struct Standing {
    /// Heard, and not yet done to the machine's own node.
    own: Option<Order>,
    /// Nodes that have not been told yet to follow this machine's, and whether they are to keep that.
    untold: BTreeMap<String, bool>,
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
                None => match self.understood(&self.host.signal().await) {
                    Ok(order) => order,
                    Err(unknown) => return unknown,
                },
            };
            if order.is_insisted_on() {
                self.operator.standing().own = Some(order.clone());
            }
            self.do_to_own_node(&order).await;
        }
    }

    fn understood(&self, signal: &str) -> Result<Order, UnknownOrder> {
        let order: Order = signal.parse()?;
        match order.others().iter().find(|name| !self.names.contains_key(*name)).cloned() {
            None => Ok(order),
            Some(node) => Err(UnknownOrder::Node { order, node }),
        }
    }

    async fn do_to_own_node(&self, order: &Order) {
        match order {
            Order::Flush => {
                // Whatever comes of it: an operator reads the answer, and what a crash took is not typed again.
                let _answer = self.typed_into(self.host.id(), &["FLUSHALL\r\n".to_owned()], || true).await;
            }
            Order::Evict { volatile_only } => self.node.evict(*volatile_only).await,
            Order::Promote { tell, rewrite_config } => {
                self.insist("NO ONE", *rewrite_config).await;
                let told = tell.iter().map(|node| (node.clone(), *rewrite_config));
                self.operator.standing().untold.extend(told);
                self.tell_all();
            }
            Order::Follow { master, rewrite_config } => {
                self.insist(&format!("{master} {}", self.port), *rewrite_config).await;
            }
        }
    }

    /// Types a role into the own node until it has it.
    async fn insist(&self, target: &str, rewrite_config: bool) {
        let commands = commands(target, rewrite_config);
        while !self.typed_into(self.host.id(), &commands, || true).await {
            self.host.sleep(PAUSE).await;
        }
        self.operator.standing().own = None;
    }

    /// Starts telling whoever is to be told, each for itself: one that cannot be reached holds up nobody else.
    fn tell_all(&self) {
        let untold: Vec<String> = self.operator.standing().untold.keys().cloned().collect();
        for name in untold {
            let desk = self.clone();
            self.host.spawn(async move { desk.tell(&name).await });
        }
    }

    async fn tell(&self, name: &str) {
        let Some(&to) = self.names.get(name) else { return };
        let target = format!("{} {}", self.host.name(), self.port);
        while let Some(rewrite_config) = self.is_to_tell(name) {
            let commands = commands(&target, rewrite_config);
            if self.typed_into(to, &commands, || self.is_to_tell(name).is_some()).await {
                self.operator.standing().untold.remove(name);
                return;
            }
            self.host.sleep(PAUSE).await;
        }
    }

    /// If the other still has to be told, by a node that is still a master: whether it is to keep that.
    fn is_to_tell(&self, name: &str) -> Option<bool> {
        let mut standing = self.operator.standing();
        if self.node.inspect(|core| core.replication().is_replica()) {
            standing.untold.clear();
        }
        standing.untold.get(name).copied()
    }

    /// One try, if the order still stands once there is a connection: that can take its time. What was sent before the
    /// try was given up may still arrive: the next one repeats it, which does no harm.
    async fn typed_into(&self, node: HostId, commands: &[String], stands: impl Fn() -> bool + Send) -> bool {
        let until = self.host.clocks().monotonic.after(TRY_LIMIT);
        let typed = self.host.race(self.type_into(node, commands, stands), until).await;
        matches!(typed, Ok(Ok(())))
    }

    async fn type_into(
        &self,
        node: HostId,
        commands: &[String],
        stands: impl Fn() -> bool + Send,
    ) -> io::Result<()> {
        let mut stream = BufReader::new(self.host.connect(node, self.port).await?);
        if !stands() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        stream.write_all(commands.concat().as_bytes()).await?;
        // Closing before the replies are there would reset the connection.
        for _ in commands {
            let mut reply = String::new();
            stream.read_line(&mut reply).await?;
            if !reply.starts_with('+') {
                return Err(io::Error::other(reply));
            }
        }
        Ok(())
    }
}

/// What is typed to make a node follow `target`, a line each.
fn commands(target: &str, rewrite_config: bool) -> Vec<String> {
    let mut commands = vec![format!("REPLICAOF {target}\r\n")];
    if rewrite_config {
        commands.push("CONFIG REWRITE\r\n".to_owned());
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_heard_as_it_was_given() {
        for rewrite_config in [true, false] {
            let promote = |tell: Vec<String>| Order::Promote { tell, rewrite_config };
            let follow = Order::Follow { master: "R1".into(), rewrite_config };
            let evict = Order::Evict { volatile_only: rewrite_config };
            let roles = [promote(vec!["M".into(), "plain".into()]), promote(Vec::new()), follow];
            for order in roles.into_iter().chain([evict, Order::Flush]) {
                assert_eq!(order.to_string().parse(), Ok(order));
            }
        }
    }

    #[test]
    fn a_signal_that_is_no_order_is_named() {
        for text in ["promte plain", "promote", "", "follow plain", "follow plain A B", "follow twice A"] {
            let unknown = text.parse::<Order>().expect_err("it is no order");
            assert!(unknown.to_string().contains(&format!("`{text}`")), "{unknown}");
        }
    }
}
