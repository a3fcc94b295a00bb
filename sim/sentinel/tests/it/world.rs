//! A master, its replicas and their Sentinels in the kernel's world, with what each Sentinel announced and when.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use doublehold_sim::{
    Budget, DelayLaw, Fault, Host, HostId, HostSpec, LinkSpec, PlannedFault, Seed, SimStream, SimTime,
    Trigger, World,
};
use doublehold_sim_redis::{NodeConfig, Operator, SimMachine};
use doublehold_sim_sentinel::{Address, Listener, SENTINEL_PORT, SentinelConfig, SentinelEvent, run_on_host};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

/// Something a Sentinel announced: when (seconds of true time), which one, what.
#[derive(Clone, Debug)]
pub(crate) struct Announced {
    pub(crate) at: f64,
    pub(crate) by: String,
    pub(crate) kind: &'static str,
    pub(crate) text: String,
}

/// A Sentinel's answer to the question about its master.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answered {
    pub(crate) by: String,
    pub(crate) master: String,
    pub(crate) config_epoch: u64,
}

/// What came of a run.
pub(crate) struct Seen {
    pub(crate) announced: Vec<Announced>,
    /// In the order of time.
    pub(crate) answered: Vec<Answered>,
}

/// What is to be simulated.
pub(crate) struct Setup {
    pub(crate) nodes: usize,
    pub(crate) sentinels: usize,
    pub(crate) quorum: u32,
    pub(crate) seed: u64,
    pub(crate) seconds: u64,
    pub(crate) knows_others: bool,
    pub(crate) faults: Vec<PlannedFault>,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            nodes: 3,
            sentinels: 3,
            quorum: 2,
            seed: 1,
            seconds: 60,
            knows_others: true,
            faults: Vec::new(),
        }
    }
}

impl Setup {
    /// The host of a node, counted from 0.
    pub(crate) fn node(index: u32) -> HostId {
        HostId(1 + index)
    }

    /// The host of a Sentinel, counted from 0.
    pub(crate) fn sentinel(&self, index: u32) -> HostId {
        HostId(1 + self.nodes as u32 + index)
    }

    /// Runs it.
    pub(crate) fn run(self) -> Seen {
        let node_count = self.nodes as u32;
        let law = DelayLaw::Fixed(Duration::from_micros(500));
        let mut world = World::new(Seed(self.seed), LinkSpec::lossless(law));
        let node_names: Vec<String> = (0..self.nodes).map(|index| format!("N{index}")).collect();
        let sentinel_names: Vec<String> = (0..self.sentinels).map(|index| format!("S{index}")).collect();
        let all = node_names.iter().chain(&sentinel_names).cloned();
        let names: Arc<BTreeMap<String, HostId>> = Arc::new(all.zip((1..).map(HostId)).collect());
        for name in &node_names {
            let (names, own) = (names.clone(), name.clone());
            world.add_host(HostSpec::new(name), move |host| {
                let machine = SimMachine::new(host, names.clone(), DelayLaw::Fixed(Duration::ZERO));
                let mut config = NodeConfig { announced_address: Some(own.clone()), ..NodeConfig::default() };
                config.core.config_file = true;
                config.replica_of = (own != "N0").then(|| ("N0".to_owned(), 6379));
                async move {
                    machine.run(6379, config, Operator::default()).await.expect("the node runs");
                }
            });
        }
        let announced = Arc::new(Mutex::new(Vec::new()));
        for (index, name) in sentinel_names.iter().enumerate() {
            let address = |name: &str| Address::new(name, SENTINEL_PORT);
            let mut config = SentinelConfig::new(address(name), Address::new("N0", 6379));
            config.quorum = self.quorum;
            config.down_after = Duration::from_secs(1);
            config.id = Some(format!("{index:040x}"));
            if self.knows_others {
                config.known_replicas = node_names[1..].iter().map(|name| Address::new(name, 6379)).collect();
                let others = sentinel_names.iter().enumerate();
                config.known_sentinels =
                    others.map(|(index, name)| (address(name), format!("{index:040x}"))).collect();
            }
            let (names, announced, name) = (names.clone(), announced.clone(), name.clone());
            world.add_host(HostSpec::new(name.clone()), move |host| {
                let ear =
                    Arc::new(Ear { host: host.clone(), by: name.clone(), announced: announced.clone() });
                let running = run_on_host(host, names.clone(), config.clone(), Some(ear));
                async move { running.await.expect("the Sentinel runs") }
            });
        }
        let until = Duration::from_secs(self.seconds);
        let answered = Arc::new(Mutex::new(Vec::new()));
        let (asked, heard) = (sentinel_names.clone(), answered.clone());
        world.add_host(HostSpec::new("probe").essential(), move |host| {
            for (name, number) in asked.iter().zip(1 + node_count..) {
                host.spawn(ask_for_ever(host.clone(), HostId(number), name.clone(), heard.clone()));
            }
            async move { host.sleep(until).await }
        });
        self.faults.into_iter().for_each(|fault| world.plan(fault));
        world.run(Budget::default());
        let announced = announced.lock().expect("nobody panics").clone();
        let answered = answered.lock().expect("nobody panics").clone();
        Seen { announced, answered }
    }
}

/// Asks a Sentinel for its master, twice a second.
async fn ask_for_ever(host: Host, sentinel: HostId, by: String, heard: Arc<Mutex<Vec<Answered>>>) {
    loop {
        if let Ok(stream) = host.connect(sentinel, SENTINEL_PORT).await {
            let mut stream = BufReader::new(stream);
            while let Some((master, config_epoch)) = ask(&mut stream).await {
                let answer = Answered { by: by.clone(), master, config_epoch };
                heard.lock().expect("nobody panics").push(answer);
                host.sleep(Duration::from_millis(500)).await;
            }
        }
        host.sleep(Duration::from_millis(500)).await;
    }
}

/// The master that clients are told and its epoch: an array of two, and names and values a line each.
async fn ask(stream: &mut BufReader<SimStream>) -> Option<(String, u64)> {
    // In one piece, so that nothing comes between the two.
    let both = b"SENTINEL GET-MASTER-ADDR-BY-NAME mymaster\r\nSENTINEL MASTER mymaster\r\n";
    stream.write_all(both).await.ok()?;
    let address = read_array(stream).await?;
    let fields = read_array(stream).await?;
    let epoch = fields.iter().position(|word| word == "config-epoch")?;
    Some((address.first()?.clone(), fields.get(epoch + 1)?.parse().ok()?))
}

async fn read_array(stream: &mut BufReader<SimStream>) -> Option<Vec<String>> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let count: usize = line.trim().strip_prefix('*')?.parse().ok()?;
    let mut words = Vec::new();
    for number in 0..count * 2 {
        line.clear();
        stream.read_line(&mut line).await.ok()?;
        // Every other line is a length.
        words.extend((number % 2 == 1).then(|| line.trim().to_owned()));
    }
    Some(words)
}

struct Ear {
    host: Host,
    by: String,
    announced: Arc<Mutex<Vec<Announced>>>,
}

impl Listener for Ear {
    fn announced(&self, event: &SentinelEvent) {
        // No clock of these hosts is wrong unless a test says so: wall time is true time.
        let at = self.host.clocks().monotonic.0 as f64 / 1e9;
        let (by, kind, text) = (self.by.clone(), event.kind, event.text.clone());
        self.announced.lock().expect("nobody panics").push(Announced { at, by, kind, text });
    }
}

/// A fault at a second, for so many seconds.
pub(crate) fn fault(at: f64, faults: Vec<Fault>, lasting: Option<f64>) -> PlannedFault {
    PlannedFault {
        trigger: Trigger::At(SimTime((at * 1e9) as u64)),
        faults,
        lasting: lasting.map(Duration::from_secs_f64),
    }
}
