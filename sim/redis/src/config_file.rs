//! The configuration file on a node's disk: what CONFIG REWRITE keeps, and a new process reads before anything else.
//!
//! Redis writes a new file, fsyncs it and renames it over the old one while it does nothing else, then answers; so does
//! a node. The file has the role, and of the settings those that CONFIG SET made other than what the node was told
//! before it started: what is not in the file is what it is told then. The file always has a line for the port, so
//! that one that was never written (an empty one, to a machine) is not taken for that of a master.
//!
//! Not modelled: comments and other lines of one's own, which Redis leaves where they are and a node refuses, and the
//! moment in which the new file is whole and not yet renamed.
//!
//! Decision: "A node keeps its new role after a restart, as with Sentinel" (docs/decisions/redis.md).

use crate::config::BootError;
use crate::core::{Core, CoreConfig, Role};
use crate::machine::Machine;

/// The file's name on the node's disk.
pub(crate) const NAME: &str = "redis.conf";

/// As redis.conf writes a value that is no text at all.
const EMPTY: &str = "\"\"";

/// The file of a node as it is now, which was told to be `before`.
pub(crate) fn text(core: &Core, before: &CoreConfig) -> String {
    let mut text = format!("port {}\n", core.config().port);
    if let Role::Replica { host, port, .. } = &core.replication().role {
        text.push_str(&format!("replicaof {host} {port}\n"));
    }
    for (name, value) in core.config().changes(before) {
        let value = if value.is_empty() { EMPTY } else { &value };
        text.push_str(&format!("{name} {value}\n"));
    }
    text
}

/// Changes `config` to what the file says. Returns whom it says to follow, `Some(None)` if nobody; `None` if it was
/// never written.
pub(crate) fn read<M: Machine>(
    machine: &M,
    config: &mut CoreConfig,
) -> Result<Option<Option<(String, u16)>>, BootError> {
    let file = machine.read(NAME).map_err(BootError::ReadConfig)?;
    if file.is_empty() {
        return Ok(None);
    }
    let mut master = None;
    for line in String::from_utf8_lossy(&file).lines() {
        let bad = || BootError::BadConfig(line.to_owned());
        let (name, value) = line.split_once(' ').ok_or_else(bad)?;
        match name {
            "port" => {}
            "replicaof" => {
                let (host, port) = value.split_once(' ').ok_or_else(bad)?;
                master = Some((host.to_owned(), port.parse().map_err(|_| bad())?));
            }
            _ => {
                let value = if value == EMPTY { "" } else { value };
                config.set(name, value).map_err(|_| bad())?;
            }
        }
    }
    Ok(Some(master))
}
