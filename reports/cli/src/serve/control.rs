//! What all servers of one `serve --faults` share: the hosts, their links, the faults that wait, and the record.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use doublehold_history::{Header, History};
use doublehold_scenarios::Scenario;
use doublehold_scenarios::scenario::Role;
use doublehold_sim_redis::core::Peer;

use super::layout::{Layout, Nodes};
use super::record::Record;
use super::scenario;
use super::weather::host::{Host, Order, ToDo};
use super::weather::ledger::Ledger;
pub(crate) use super::weather::ledger::NOT_STRUCK;
use super::weather::links::Links;
use super::weather::moments::{Due, Happened, Moments, Timed};
use super::weather::requests::Requests;
pub(crate) use super::weather::requests::{Request, is_of_driver};
use super::weather::strikes::Strikes;
use super::words::{self, Word};

/// The time that requests take which were held up, once they are let go.
const SETTLING: Duration = Duration::from_millis(50);

/// Everything that words of clients can change.
pub(crate) struct Control {
    /// The nodes, then the Sentinels, in the order of their ports.
    pub(super) hosts: Vec<Arc<Host>>,
    pub(super) links: Links,
    pub(super) strikes: Strikes,
    pub(super) moments: Moments<Word>,
    pub(super) ledger: Arc<Ledger>,
    pub(super) record: Record,
    pub(crate) requests: Requests,
    layout: Layout,
    scenario: Option<Arc<Scenario>>,
    /// Records that a RESET has ended.
    ended: Mutex<Vec<History>>,
    /// Words that each RESET strikes anew.
    always: Mutex<Vec<String>>,
    /// Counts promotions, and RESETs, which end them.
    promotions: Arc<AtomicU64>,
    /// One RESET at a time.
    resetting: tokio::sync::Mutex<()>,
}

/// The orders that each host's thread is to obey.
pub(super) type Orders = tokio::sync::mpsc::UnboundedReceiver<Order>;

impl Control {
    /// Hosts as a layout has them, each up and well.
    pub(crate) fn new(layout: &Layout, scenario: Option<Arc<Scenario>>) -> (Arc<Control>, Vec<Orders>) {
        let began = Instant::now();
        let named = scenario.iter().flat_map(|it| {
            let sentinels = scenario::names(it, Role::Sentinel);
            scenario::names(it, Role::Node).into_iter().chain(sentinels)
        });
        let mut named = named.collect::<Vec<_>>().into_iter();
        let hosts = layout
            .hosts()
            .into_iter()
            .map(|(name, port, node)| Host::new((named.next().unwrap_or(name), port, node), began));
        let (hosts, orders): (Vec<_>, Vec<_>) = hosts.map(|(host, orders)| (Arc::new(host), orders)).unzip();
        let control = Control {
            hosts,
            links: Links::default(),
            strikes: Strikes::default(),
            moments: Moments::default(),
            ledger: Arc::default(),
            record: Record::new(began),
            requests: Requests::default(),
            layout: layout.clone(),
            scenario,
            ended: Mutex::default(),
            always: Mutex::default(),
            promotions: Arc::default(),
            resetting: tokio::sync::Mutex::default(),
        };
        (Arc::new(control), orders)
    }

    /// Lets a fault wait for its moment.
    pub(super) fn arm(self: &Arc<Self>, timed: Timed<Word>) {
        if let Some(due) = self.moments.arm(timed, &self.ledger) {
            self.strike_when_due(due);
        }
    }

    /// Something happened, for which faults may wait.
    pub(super) fn happened(self: &Arc<Self>, happened: Happened<'_>) {
        if self.moments.is_any_waiting() {
            for due in self.moments.happened(happened, &self.ledger) {
                self.strike_when_due(due);
            }
        }
    }

    /// What comes with an event itself is done before anything follows from the event, as far as it takes no time.
    fn strike_when_due(self: &Arc<Self>, due: Due<Word>) {
        if due.after.is_zero() {
            return self.strike(due);
        }
        let control = Arc::clone(self);
        tokio::spawn(async move {
            if due.comes().await {
                control.strike(due);
            }
        });
    }

    fn strike(self: &Arc<Self>, due: Due<Word>) {
        let (words, struck) = due.strike();
        let (now, later): (Vec<_>, Vec<_>) = words.into_iter().partition(|(after, _)| after.is_zero());
        let rest: Vec<Word> =
            now.into_iter().filter_map(|(_, word)| words::strike(self, word).err()).collect();
        let control = Arc::clone(self);
        tokio::spawn(async move {
            let began = Instant::now();
            for word in rest {
                words::strike_in_time(&control, word).await;
            }
            for (after, word) in later {
                if !struck.lasts(after.saturating_sub(began.elapsed())).await {
                    return;
                }
                if let Err(word) = words::strike(&control, word) {
                    words::strike_in_time(&control, word).await;
                }
            }
        });
    }

    /// Ends every fault that lasts, and gives up those that wait.
    pub(super) fn recover(&self) {
        self.strikes.clear();
        self.moments.clear();
        self.ledger.clear();
        self.links.recover();
        self.hosts.iter().for_each(|host| host.recover());
    }

    /// Brings everything back to how it was at first: faults, roles, data, and the record, which gets this name.
    pub(crate) async fn reset(self: &Arc<Self>, name: Option<String>) -> Result<(), String> {
        let _one_at_a_time = self.resetting.lock().await;
        let ended = self.history();
        self.promotions.fetch_add(1, Ordering::AcqRel);
        let holds_up = self.links.is_any_struck()
            || !self.ledger.under_way().is_empty()
            || self.hosts.iter().any(|host| host.stop.is_closed());
        self.recover();
        if holds_up {
            // What was held up is executed now, and its keys are deleted with all others.
            tokio::time::sleep(SETTLING).await;
        }
        let (nodes, sentinels): (Vec<_>, Vec<_>) = self.hosts.iter().partition(|host| host.is_node());
        for host in sentinels.iter().filter(|host| host.is_up()) {
            // A Sentinel goes on with whom it knows, and would fail over: only a new one knows the first master.
            host.order(ToDo::Crash).await?;
        }
        self.reset_nodes(&nodes, !sentinels.is_empty()).await?;
        for host in sentinels {
            host.order(ToDo::BeginAnew).await?;
        }
        if !self.record.is_empty() {
            self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(ended);
        }
        self.record.begin_anew(name);
        self.begin().await
    }

    /// Brings back the nodes' processes, settings, roles and data.
    async fn reset_nodes(&self, nodes: &[&Arc<Host>], has_sentinels: bool) -> Result<(), String> {
        for host in nodes {
            if !host.is_up() {
                host.order(ToDo::Restart).await?;
            }
        }
        for host in nodes.iter().filter(|host| host.refuses_writes()) {
            // Who is too busy for that is restarted below.
            let _ = self.refuse_writes(host, false).await;
        }
        let was_promoted = nodes.iter().fold(false, |any, host| host.take_promoted() | any);
        for (host, commands) in nodes.iter().zip(self.layout.first_roles()) {
            if host.order(type_in(&commands)).await.is_err() {
                // A script keeps it busy, or it is about to crash.
                let _ = host.order(ToDo::Crash).await;
                host.order(ToDo::Restart).await?;
                host.order(type_in(&commands)).await?;
            }
        }
        // As Sentinels do where roles change: whoever stays connected would go on with a master that is none.
        for host in nodes.iter().filter(|_| was_promoted && has_sentinels) {
            host.order(type_in(&["CLIENT KILL TYPE normal".to_owned()])).await?;
        }
        Ok(())
    }

    /// Strikes these words now and after each RESET, beside the scenario's faults.
    pub(crate) fn strike_always(&self, words: Vec<String>) {
        *self.always.lock().unwrap_or_else(PoisonError::into_inner) = words;
    }

    /// Strikes the words that are always struck, and begins the scenario, if there is one: its clocks are as wrong as
    /// it says, and its faults wait.
    ///
    /// # Errors
    /// If one of these words cannot be struck.
    pub(super) async fn begin(self: &Arc<Self>) -> Result<(), String> {
        let always = self.always.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for line in always {
            // A RESET among them would begin here again.
            Box::pin(words::type_word(self, &line)).await?;
        }
        let Some(scenario) = &self.scenario else { return Ok(()) };
        for word in scenario::first_clocks(scenario, self) {
            // They take no time.
            let _ = words::strike(self, word);
        }
        // What cannot be struck was refused before anybody was served.
        for timed in scenario::faults(scenario, self).unwrap_or_default() {
            self.arm(timed);
        }
        Ok(())
    }

    /// Every record, in the order in which they began. The last one is there even if nobody told anything; `missing`
    /// are the faults for which it waited in vain.
    pub(crate) fn records(&self, missing: Vec<String>) -> Vec<History> {
        let mut records = self.ended.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if records.is_empty() || !self.record.is_empty() {
            records.push(self.history_with(missing));
        }
        records
    }

    /// Forgets the records that a RESET has ended.
    pub(crate) fn forget_ended(&self) {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The history so far. What waits in vain for its request is a doubt.
    pub(crate) fn history(&self) -> History {
        self.history_with(self.missing())
    }

    /// The faults that nothing has come of, each as a sentence.
    pub(crate) fn missing(&self) -> Vec<String> {
        let is_host = |name: &String| self.hosts.iter().any(|host| host.name == *name);
        let strangers = self.links.never_seen().into_iter().filter(|name| !is_host(name));
        let cut = strangers.map(|name| format!("a link of {name} was cut, and no connection has that name"));
        self.ledger.missing().into_iter().chain(cut).collect()
    }

    fn history_with(&self, missing: Vec<String>) -> History {
        let nodes = self.node_names();
        let name = format!("served: {}", self.layout);
        let name = self.scenario.as_ref().map_or(name, |scenario| format!("served: {}", scenario.name));
        let name = self.record.name().unwrap_or(name);
        let bounds = self.scenario.as_deref().map(scenario::bounds).unwrap_or_default();
        let header = Header { nodes, bounds, ..Header::new(&name, 0, &[], &[]) };
        self.record.history(header, missing)
    }

    /// The names of the nodes.
    pub(crate) fn node_names(&self) -> Vec<String> {
        self.hosts.iter().filter(|host| host.is_node()).map(|host| host.name.clone()).collect()
    }

    /// Whether the nodes are a master and its replicas.
    pub(super) fn is_replicated(&self) -> bool {
        matches!(self.layout.nodes, Nodes::Replicated(_))
    }

    /// Lets a node refuse writes, or take them as its scenario says.
    pub(super) async fn refuse_writes(&self, host: &Host, refuses: bool) -> Result<(), String> {
        let told = self
            .scenario
            .as_deref()
            .zip(host.node)
            .map(|(scenario, node)| scenario::node_config(scenario, node).core.min_replicas_to_write);
        // More than any node here has.
        let needed = if refuses { i32::MAX.unsigned_abs() } else { told.unwrap_or_default() };
        host.order(type_in(&[format!("CONFIG SET min-replicas-to-write {needed}")])).await?;
        host.note_refuses_writes(refuses);
        Ok(())
    }

    /// Makes a node a master, and the others its replicas. Who is cut off from it hears of it when the cut is healed.
    pub(super) async fn promote(&self, host: &Host, tell: &[Arc<Host>]) -> Result<(), String> {
        host.order(type_in(&["REPLICAOF NO ONE".to_owned()])).await?;
        host.note_promoted();
        let promotion = 1 + self.promotions.fetch_add(1, Ordering::AcqRel);
        for other in tell {
            let (way, order) =
                (self.links.open(host, other.port, &self.hosts), type_in(&[self.layout.follow(host.port)]));
            if !way.outward.is_closed() {
                other.order(order).await?;
                continue;
            }
            let (other, promotions) = (Arc::clone(other), Arc::clone(&self.promotions));
            tokio::spawn(async move {
                way.outward.opened().await;
                // Links forget a way of which nobody holds both gates.
                drop(way);
                // A later order takes the place of this one, and a RESET, which heals cuts too, ends it.
                if promotions.load(Ordering::Acquire) == promotion {
                    // Who is down hears of nothing.
                    let _ = other.order(order).await;
                }
            });
        }
        Ok(())
    }
}

/// Commands that are typed, one a line.
pub(super) fn type_in(commands: &[String]) -> ToDo {
    let lines = commands.iter().map(|command| format!("{command}\r\n"));
    ToDo::Send { bytes: lines.collect::<String>().into_bytes(), peer: Peer::default() }
}
