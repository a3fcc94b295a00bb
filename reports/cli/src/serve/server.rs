//! One server on its thread: what is booted there, with which machine under it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Instant;

use doublehold_sim_redis::core::{CoreConfig, Observer, ScriptClock, ScriptLimit};
use doublehold_sim_redis::{BootError, Node, NodeConfig, TokioMachine};
use doublehold_sim_sentinel::{SentinelConfig, SentinelProcess};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::control::{Control, Orders};
use super::error::ServeError;
use super::layout::Duty;
use super::options::Options;
use super::process::{self, Process, Server};
use super::scenario;
use super::watch::KeyWatch;
use super::weather::host::Host;
use super::weather::machine::ServedMachine;

/// A server on its thread.
pub(super) struct Served {
    /// Makes it drain.
    pub(super) stop: oneshot::Sender<()>,
    /// Comes when it has shut down.
    pub(super) end: oneshot::Receiver<()>,
}

/// A host's place among all that faults can strike.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) control: Arc<Control>,
    pub(super) host: Arc<Host>,
}

/// How a host's process is started, each time.
pub(super) struct Boot {
    pub(super) options: Options,
    pub(super) port: u16,
    duty: Duty,
    pub(super) machine: ServedMachine,
    pub(super) place: Option<Place>,
}

/// Starts a server on a thread of its own, with its orders if faults can strike it.
pub(super) fn start(
    options: &Options,
    port: u16,
    duty: Duty,
    listener: std::net::TcpListener,
    place: Option<(Place, Option<Orders>)>,
) -> Result<Served, ServeError> {
    let (stop, stopped) = oneshot::channel();
    let (ended, end) = oneshot::channel();
    let (tell, booted) = mpsc::channel();
    let options = options.clone();
    // A runtime is made and dropped on the server's own thread: it must not be dropped where another one is running.
    let work = move || {
        let (place, orders) = place.unzip();
        let (runtime, boot, process) = match boot(options, port, duty, listener, place) {
            Ok(booted) => booted,
            Err(error) => return tell.send(Err(error)).unwrap_or_default(),
        };
        tell.send(Ok(())).unwrap_or_default();
        runtime.block_on(process::run(boot, process, orders.flatten(), stopped));
        // Nobody waits any more where the program ends at once.
        let _ = ended.send(());
    };
    let thread = std::thread::Builder::new().name(format!("port {port}"));
    thread.spawn(work).map_err(ServeError::Thread)?;
    booted.recv().unwrap_or_else(|_| Err(ServeError::Thread(io::Error::other("its thread has ended"))))?;
    Ok(Served { stop, end })
}

fn boot(
    options: Options,
    port: u16,
    duty: Duty,
    listener: std::net::TcpListener,
    place: Option<Place>,
) -> Result<(Runtime, Boot, Process), ServeError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::Thread)?;
    let (boot, process) = {
        let _inside = runtime.enter();
        let machine = machine(&options, port, &duty)?;
        let machine = match &place {
            Some(Place { control, host }) => machine.among(control.clone().front(), Arc::clone(host)),
            None => machine,
        };
        let boot = Boot { options, port, duty, machine, place };
        let listener = TcpListener::from_std(listener).map_err(ServeError::Thread)?;
        let process = Process::start(boot.boot()?, boot.machine.clone(), listener, boot.place.clone());
        (boot, process)
    };
    Ok((runtime, boot, process))
}

impl Boot {
    /// Starts a process.
    pub(super) fn boot(&self) -> Result<Server, ServeError> {
        match &self.duty {
            Duty::Node { replica_of } => self.boot_node(replica_of.clone()),
            Duty::Sentinel(config) => self.boot_sentinel((**config).clone()),
            Duty::Control => self.boot_node(None),
        }
    }

    /// Forgets what a Sentinel has saved. A node's data is flushed where that has to be.
    pub(super) fn forget(&self) {
        SentinelProcess::forget(&self.machine);
    }

    fn boot_node(&self, replica_of: Option<(String, u16)>) -> Result<Server, ServeError> {
        let Options { limits, remote_masters, config_dir, persistence, version, scenario, .. } =
            self.options.clone();
        let place = self.place.as_ref().and_then(|place| place.host.node);
        let told = scenario.zip(place).map(|(scenario, place)| scenario::node_config(&scenario, place));
        let told = told.unwrap_or_else(|| NodeConfig {
            core: CoreConfig { version, ..CoreConfig::default() },
            persistence,
            ..NodeConfig::default()
        });
        let (script_limit, config_file) = (script_limit(), config_dir.is_some());
        let core = CoreConfig {
            port: self.port,
            config_file,
            limits,
            remote_masters,
            script_limit,
            observer: self.observer(),
            ..told.core
        };
        // Here hosts have addresses, which the layout knows, and no names.
        let config = NodeConfig { core, replica_of, announced_address: None, ..told };
        let node = Node::boot(self.machine.clone(), config);
        node.map(Server::Node).map_err(|source| self.not_started("node", source))
    }

    /// Whoever writes down what happens to the node's keys.
    fn observer(&self) -> Option<Arc<dyn Observer>> {
        let Place { control, host } = self.place.as_ref()?;
        Some(Arc::new(KeyWatch::new(Arc::clone(control), host.node?)))
    }

    fn boot_sentinel(&self, config: SentinelConfig) -> Result<Server, ServeError> {
        let config = SentinelConfig { limits: self.options.limits.clone(), ..config };
        let sentinel = SentinelProcess::boot(self.machine.clone(), config, None);
        sentinel.map(Server::Sentinel).map_err(|source| self.not_started("Sentinel", source))
    }

    fn not_started(&self, what: &'static str, source: BootError) -> ServeError {
        ServeError::Boot { what, port: self.port, source }
    }
}

fn machine(options: &Options, port: u16, duty: &Duty) -> Result<ServedMachine, ServeError> {
    let machine = TokioMachine::new(options.remote_masters);
    let file = match duty {
        Duty::Node { .. } => "redis.conf",
        Duty::Sentinel(_) => "sentinel.conf",
        Duty::Control => return Ok(ServedMachine::new(machine)),
    };
    Ok(ServedMachine::new(match &options.config_dir {
        Some(folder) => machine.with_config_in(folder_of(port, file, folder)?),
        None => machine,
    }))
}

/// A server's folder, which is made if it is not there. That it can be written to is known before anybody is served: a
/// node whose disk fails at a CONFIG REWRITE ends.
fn folder_of(port: u16, file: &'static str, config_dir: &Path) -> Result<PathBuf, ServeError> {
    let path = config_dir.join(port.to_string());
    match std::fs::create_dir_all(&path).and_then(|()| tempfile::tempfile_in(&path)) {
        Ok(_written_to) => Ok(path),
        Err(source) => Err(ServeError::ConfigDir { path, file, source }),
    }
}

/// A script has the time that `busy-reply-threshold` gives it, as a user would see it on a Redis.
fn script_limit() -> ScriptLimit {
    let began = Instant::now();
    ScriptLimit::Time(ScriptClock::new(move || began.elapsed()))
}
