//! `doublehold serve`: the simulated nodes on real ports, for redis-cli and client libraries.

use clap::Args;

use crate::cli::{Exit, talk};
use crate::error::CliError;
use crate::serve::serve;

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The first node's port on the loopback interface
    #[arg(long, value_name = "PORT", default_value_t = 7000, value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// How many nodes, on this port and those that follow
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    nodes: u16,
}

/// Serves until every node was told to SHUTDOWN, or the program is stopped.
pub(crate) fn carry_out(arguments: &Arguments) -> Result<Exit, CliError> {
    let runtime = tokio::runtime::Runtime::new().map_err(CliError::Runtime)?;
    let serving = serve(arguments.port, arguments.nodes, |ports| {
        let (first, last) = (ports.start(), ports.end());
        let where_to =
            if first == last { format!("port {first}") } else { format!("ports {first} to {last}") };
        talk(&format!("serving on 127.0.0.1, {where_to}; try `redis-cli -p {first} ping`, stop with Ctrl-C"));
    });
    runtime.block_on(serving)?;
    Ok(Exit::AsExpected)
}
