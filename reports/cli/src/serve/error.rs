//! Errors that keep servers from starting, or from ending in order.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use doublehold_sim_redis::BootError;

/// Why no server was started, or not all was served to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ServeError {
    /// There is nothing to serve.
    #[error("`--nodes` must be at least 1")]
    NoNodes,
    /// The range of ports does not exist.
    #[error(
        "no room for {what} from port {port} on: ports are 1 to 65535; choose a lower `--port` or fewer of them"
    )]
    PortsOutOfRange {
        /// What was asked for, in words.
        what: String,
        /// The first port asked for.
        port: u16,
    },
    /// Somebody else listens there, or the system does not allow it.
    #[error(
        "cannot listen on {address}: {source}; choose another `--port`, or `--listen` on an address of this machine"
    )]
    Bind {
        /// The address and port that are taken.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The system has no threads or files left for a server.
    #[error("cannot start a server: {0}; serve fewer, or allow more processes and files (`ulimit`)")]
    Thread(#[source] io::Error),
    /// There is no place for a server's configuration file.
    #[error("cannot write to `{}`, for a `{file}`: {source}; choose another `--config-dir`", path.display())]
    ConfigDir {
        /// The server's folder.
        path: PathBuf,
        /// The file's name.
        file: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A server did not start.
    #[error("the {what} on port {port} did not start: {source}")]
    Boot {
        /// A node or a Sentinel.
        what: &'static str,
        /// Its port, and the name of its folder.
        port: u16,
        /// What it said.
        source: BootError,
    },
    /// The program was asked to stop a second time.
    #[error("stopped before every client had its replies")]
    StoppedAtOnce,
}
