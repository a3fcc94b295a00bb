//! `doublehold serve`: the simulated servers on real ports, for redis-cli and client libraries.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use doublehold_history::History;
use doublehold_scenarios::{Scenario, catalog};
use doublehold_sim_redis::Persistence;
use doublehold_sim_redis::core::{Limits, Version};

use super::judge::{OpenFiles, Results, judge_and_show};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, OutputFile};
use crate::output_options::OutputOptions;
use crate::serve::control::Control;
use crate::serve::layout::{Layout, Nodes, Sentinels};
use crate::serve::options::{Options, limits};
use crate::serve::signals::Signals;
use crate::serve::{scenario, serve};
use crate::stopping;

/// Long enough for a busy laptop to answer in, short enough to wait for. Redis' own is 30 seconds.
const DOWN_AFTER: Duration = Duration::from_secs(5);

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The first node's port on the loopback interface
    #[arg(long, value_name = "PORT", default_value_t = 7000, value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// The address to listen on, such as 0.0.0.0 in a container: whoever reaches it can do anything to the nodes, which
    /// have neither passwords nor TLS. Anything but the loopback interface needs `--faults` [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<IpAddr>,
    /// How many nodes, on this port and those that follow; they know nothing of each other [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    nodes: Option<u16>,
    /// In place of `--nodes`, a master on this port and so many replicas on those that follow
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    replicas: Option<u16>,
    /// Sentinels on the ports after the replicas'. They watch the master under the name `mymaster` and promote a
    /// replica when it is down
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    sentinels: Option<u16>,
    /// How many Sentinels must find the master down before one of them fails over [default: a majority]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    quorum: Option<u32>,
    /// How long a node may leave a PING unanswered before a Sentinel finds it down; a failover that fails is tried
    /// again after twelve times as long, 20s at least [default: 5s, where Redis has 30s]
    #[arg(long, value_name = "DURATION", value_parser = down_after)]
    down_after: Option<Duration>,
    /// Connections a node takes [default: 10000, or what the system allows]
    #[arg(long, value_name = "N", value_parser = setting("maxclients"))]
    maxclients: Option<Setting>,
    /// Memory beyond which a node refuses writes, 0 for no limit [default: 256mb]
    #[arg(long, value_name = "BYTES", value_parser = setting("maxmemory"))]
    maxmemory: Option<Setting>,
    /// Memory that all connections of a node may hold together, 0 for no limit [default: 256mb]
    #[arg(long, value_name = "BYTES", value_parser = setting("maxmemory-clients"))]
    maxmemory_clients: Option<Setting>,
    /// Longest unfinished request of a connection [default: 64mb]
    #[arg(long, value_name = "BYTES", value_parser = setting("client-query-buffer-limit"))]
    client_query_buffer_limit: Option<Setting>,
    /// What may wait to be sent, as redis.conf writes it: "normal HARD SOFT SECONDS" and the same for "replica"
    /// [default: "normal 128mb 32mb 60 replica 256mb 64mb 60"]
    #[arg(long, value_name = "LIMITS", value_parser = setting("client-output-buffer-limit"))]
    client_output_buffer_limit: Option<Setting>,
    /// Let REPLICAOF name masters on other machines: a master can fill its replicas with anything, and anybody who
    /// reaches a port here can name one
    #[arg(long)]
    allow_remote_replicaof: bool,
    /// Give each node a configuration file, `DIR/PORT/redis.conf`: CONFIG REWRITE writes role and changed settings to
    /// it, and a node that starts again goes by it, not by the options here. A Sentinel keeps whom it knows in
    /// `DIR/PORT/sentinel.conf` [default: none; CONFIG REWRITE is refused]
    #[arg(long, value_name = "DIR")]
    config_dir: Option<PathBuf>,
    /// Serve nodes of this version: 7.0 or 8.4 of Redis, or valkey-9 [default: 7.0]
    #[arg(long, value_name = "VERSION", value_parser = version)]
    redis: Option<Version>,
    /// What a node keeps for when it starts again, in memory of this program: none, everysec or always (an append-only
    /// file), or rdb (snapshots) [default: none]
    #[arg(long, value_name = "HOW", value_parser = persistence)]
    persistence: Option<Persistence>,
    /// Obey whoever reaches a port: strike faults, and write down what clients tell of their locks, by the words of
    /// `DOUBLEHOLD HELP`. One port more answers them, which no fault strikes
    #[arg(long)]
    faults: bool,
    /// Serve the nodes of a scenario, by name or FILE.toml, and strike its faults of nodes and links at their moments.
    /// Its clients are yours: what they do is printed. Implies `--faults`
    #[arg(long, value_name = "SCENARIO", conflicts_with_all = ["nodes", "replicas", "sentinels", "redis", "persistence"])]
    scenario: Option<String>,
    /// Write what clients told of their locks to FILE as a history for `doublehold judge`; with each RESET another
    /// begins, whose file has a number behind its name
    #[arg(long, value_name = "FILE")]
    record: Option<String>,
    #[command(flatten)]
    results: Results,
    #[command(flatten)]
    show: OutputOptions,
}

/// A limit by its name in redis.conf, known to be one that can be set.
#[derive(Clone, Debug)]
struct Setting {
    name: &'static str,
    value: String,
}

fn setting(name: &'static str) -> impl Fn(&str) -> Result<Setting, &'static str> + Clone {
    move |value| {
        Limits::default().set(name, value)?;
        Ok(Setting { name, value: value.to_owned() })
    }
}

fn version(text: &str) -> Result<Version, String> {
    let known = Version::ALL.map(Version::name);
    let found = Version::ALL.into_iter().find(|version| version.name() == text);
    found.ok_or_else(|| format!("known are {}", doublehold_text::suggest::list(&known)))
}

fn persistence(text: &str) -> Result<Persistence, String> {
    let known = [
        ("none", Persistence::None),
        ("everysec", Persistence::AofEverysec),
        ("always", Persistence::AofAlways),
        ("rdb", Persistence::Rdb),
    ];
    let found = known.iter().find(|(name, _)| *name == text);
    let names = known.map(|(name, _)| name);
    found.map(|(_, how)| *how).ok_or_else(|| format!("known are {}", doublehold_text::suggest::list(&names)))
}

fn down_after(text: &str) -> Result<Duration, String> {
    match doublehold_scenarios::format::duration(text)? {
        short if short < Duration::from_millis(1) => Err("must be 1ms at least".to_owned()),
        duration => Ok(duration),
    }
}

/// An argument refused that fits no other, with the way out.
fn refused<T>(problem: impl Into<String>, hint: impl Into<String>) -> Result<T, CliError> {
    Err(CliError::Usage { problem: problem.into(), hint: hint.into() })
}

impl Arguments {
    /// Whether faults may be asked for.
    fn has_faults(&self) -> bool {
        self.faults || self.scenario.is_some()
    }

    /// The scenario that is served, if one is.
    fn read_scenario(&self) -> Result<Option<Arc<Scenario>>, CliError> {
        let name = self.scenario.as_deref();
        name.map(|name| Ok(Arc::new(catalog::load(name, &[])?))).transpose()
    }

    fn listen_address(&self, layout: &Layout) -> Result<IpAddr, CliError> {
        let address = self.listen.unwrap_or(Ipv4Addr::LOCALHOST.into());
        if address.is_loopback() {
            return Ok(address);
        }
        if !self.has_faults() {
            return refused(
                format!("`--listen {address}` lets whoever reaches it do anything to the nodes"),
                "say that this is meant, by `--faults`, or leave `--listen` out",
            );
        }
        if layout.nodes() > 1 && !address.is_unspecified() && matches!(layout.nodes, Nodes::Replicated(_)) {
            return refused(
                format!("replicas reach their master on 127.0.0.1, and it would listen on {address} only"),
                "listen on all addresses: `--listen 0.0.0.0`",
            );
        }
        if layout.sentinels.is_some() {
            output::inform(
                "warning: Sentinels tell clients that the master is on 127.0.0.1, which other machines do not reach",
            );
        }
        Ok(address)
    }

    fn layout(&self) -> Result<Layout, CliError> {
        let nodes = match (self.nodes, self.replicas) {
            (Some(_), Some(replicas)) => {
                return refused(
                    "`--nodes` serves nodes that know nothing of each other, `--replicas` a master and its replicas",
                    format!("for a master and its replicas leave `--nodes` out: `--replicas {replicas}`"),
                );
            }
            (nodes, None) => Nodes::Apart(nodes.unwrap_or(1)),
            (None, Some(replicas)) => Nodes::Replicated(replicas),
        };
        Ok(Layout { port: self.port, nodes, sentinels: self.sentinels(nodes)?, faults: self.has_faults() })
    }

    fn sentinels(&self, nodes: Nodes) -> Result<Option<Sentinels>, CliError> {
        let Some(count) = self.sentinels else {
            let setting = self.quorum.map(|_| "--quorum").or(self.down_after.map(|_| "--down-after"));
            return setting.map_or(Ok(None), |setting| {
                refused(
                    format!("`{setting}` is a setting of Sentinels, and there are none"),
                    "add Sentinels and replicas for them to promote: `--sentinels 3 --replicas 2`",
                )
            });
        };
        if matches!(nodes, Nodes::Apart(_)) {
            return refused(
                "Sentinels promote a replica of the master that they watch, and there is none",
                format!("add replicas: `--sentinels {count} --replicas 2`"),
            );
        }
        let quorum = self.quorum.unwrap_or(u32::from(count) / 2 + 1);
        if quorum > u32::from(count) {
            return refused(
                format!(
                    "a quorum of {quorum} is above the number of Sentinels, {count}: none would ever fail over"
                ),
                format!("choose one that can be reached: `--quorum {count}`, or a lower one"),
            );
        }
        Ok(Some(Sentinels { count, quorum, down_after: self.down_after.unwrap_or(DOWN_AFTER) }))
    }

    fn options(&self) -> Result<Options, CliError> {
        let scenario = self.read_scenario()?;
        let layout = match scenario.as_deref() {
            Some(scenario) => scenario::layout(scenario, self.port)
                .or_else(|problem| refused(problem, "serve another scenario: `doublehold list`"))?,
            None => self.layout()?,
        };
        let mut limits = limits();
        let settings = [
            &self.maxclients,
            &self.maxmemory,
            &self.maxmemory_clients,
            &self.client_query_buffer_limit,
            &self.client_output_buffer_limit,
        ];
        for Setting { name, value } in settings.into_iter().flatten() {
            // Parsing has refused what cannot be set.
            let set = limits.set(name, value);
            debug_assert_eq!(set, Ok(true), "{name}");
        }
        Ok(Options {
            listen: self.listen_address(&layout)?,
            layout,
            limits,
            scenario,
            version: self.redis.unwrap_or_default(),
            persistence: self.persistence.unwrap_or_default(),
            remote_masters: self.allow_remote_replicaof,
            config_dir: self.config_dir.clone(),
        })
    }
}

/// Serves until every server was told to SHUTDOWN, or the program is asked to stop. With faults, judges what clients
/// told of their locks.
pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let mut options = arguments.options()?;
    let asked = arguments.record.as_ref().map(|_| "--record").or(arguments.results.first_option());
    if let (false, Some(option)) = (arguments.has_faults(), asked) {
        return refused(
            format!("`{option}` is about what clients tell of their locks, which nobody writes down"),
            "add `--faults`",
        );
    }
    let record = arguments.record.as_deref();
    if record.or(arguments.results.first_option()).is_some() {
        // A request to stop is when they are written, and must not end the program before.
        stopping::listen();
    }
    let files = OpenFiles::open(&arguments.results, record.as_slice())?;
    let record = record.map(|path| OutputFile::create("the record", path)).transpose()?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::Runtime)?;
    if let (Some(open_files), Some(_)) = (options.fit_open_files(), &arguments.maxclients) {
        let clients = options.limits.max_clients;
        output::inform(&format!(
            "warning: the system allows {open_files} open files: maxclients is {clients} a server; raise `ulimit -n` for \
             more"
        ));
    }
    let histories = runtime.block_on(async {
        let signals = Signals::listen().map_err(CliError::Runtime)?;
        let mut announcement = options.layout.announcement(options.listen);
        if let Some(scenario) = &options.scenario {
            announcement.push_str(&told_by(scenario, &options.layout)?);
        }
        Ok::<_, CliError>(serve(options, signals, |_control| output::inform(&announcement)).await?)
    })?;
    let written = match record.zip(arguments.record.as_deref()) {
        Some((file, path)) => write_records(&histories, file, path),
        None => Ok(()),
    };
    let nobody_told = histories.iter().all(|history| history.header().clients.is_empty());
    if nobody_told && arguments.record.is_none() && arguments.results.first_option().is_none() {
        return written.map(|()| Exit::AsExpected);
    }
    // What cannot be written is shown all the same.
    let shown = judge_and_show(&histories, &[], files, &arguments.show);
    written.and(shown)
}

/// What whoever runs the clients of a scenario has to know.
fn told_by(scenario: &Arc<Scenario>, layout: &Layout) -> Result<String, CliError> {
    let (control, _) = Control::new(layout, Some(Arc::clone(scenario)));
    if let Err(problems) = scenario::faults(scenario, &control) {
        return refused(
            format!("`{}` has what no served node can show:\n  {}", scenario.name, problems.join("\n  ")),
            format!("leave that out of a copy of its file, or run it: `doublehold run {}`", scenario.name),
        );
    }
    let lines = scenario::to_do(scenario, &control);
    Ok(format!("\n{}: {}", scenario.name, lines.join("\n")))
}

/// Writes each record to a file of its own.
fn write_records(histories: &[History], first: OutputFile, path: &str) -> Result<(), CliError> {
    let mut first = Some(first);
    for (place, history) in histories.iter().enumerate() {
        let file = match first.take() {
            Some(file) => file,
            None => OutputFile::create("the record", &numbered(path, place + 1))?,
        };
        file.write(|output| history.write_jsonl(output))?.keep()?;
    }
    Ok(())
}

/// The path with a number before its ending: `locks-2.jsonl`.
fn numbered(path: &str, number: usize) -> String {
    let path = PathBuf::from(path);
    let (stem, ending) = (path.file_stem().unwrap_or_default(), path.extension());
    let ending = ending.map_or_else(String::new, |ending| format!(".{}", ending.display()));
    path.with_file_name(format!("{}-{number}{ending}", stem.display())).display().to_string()
}
