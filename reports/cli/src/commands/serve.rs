//! `doublehold serve`: the simulated nodes on real ports, for redis-cli and client libraries.

use std::path::PathBuf;

use clap::Args;
use doublehold_sim_redis::core::Limits;

use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::serve::{Options, Signals, limits, serve};

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The first node's port on the loopback interface
    #[arg(long, value_name = "PORT", default_value_t = 7000, value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// How many nodes, on this port and those that follow
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    nodes: u16,
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
    /// it, and a node that starts again goes by it, not by the options here [default: none; CONFIG REWRITE is refused]
    #[arg(long, value_name = "DIR")]
    config_dir: Option<PathBuf>,
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

impl Arguments {
    fn options(&self) -> Options {
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
        Options {
            port: self.port,
            nodes: self.nodes,
            limits,
            remote_masters: self.allow_remote_replicaof,
            config_dir: self.config_dir.clone(),
        }
    }
}

/// Serves until every node was told to SHUTDOWN, or the program is asked to stop.
pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::Runtime)?;
    let mut options = arguments.options();
    if let (Some(files), Some(_)) = (options.fit_open_files(), &arguments.maxclients) {
        let clients = options.limits.max_clients;
        output::inform(&format!(
            "warning: the system allows {files} open files: maxclients is {clients} a node; raise `ulimit -n` for more"
        ));
    }
    runtime.block_on(async {
        let signals = Signals::listen().map_err(CliError::Runtime)?;
        serve(options, signals, |ports| {
            let (first, last) = (ports.start(), ports.end());
            let where_to =
                if first == last { format!("port {first}") } else { format!("ports {first} to {last}") };
            output::inform(&format!(
                "serving on 127.0.0.1, {where_to}; try `redis-cli -p {first} ping`, stop with Ctrl-C"
            ));
        })
        .await?;
        Ok(Exit::AsExpected)
    })
}
