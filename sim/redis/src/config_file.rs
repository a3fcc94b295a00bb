//! The configuration file on a node's disk: what CONFIG REWRITE keeps, and a new process reads before anything else.
//!
//! Redis writes a new file, fsyncs it and renames it over the old one while it does nothing else, then answers; so does
//! a node. The file always has a line for the port, so that one that was never written (an empty one, to a machine) is
//! not taken for that of a master.
//!
//! Not modelled: any setting but the role (what CONFIG SET changed is forgotten), and the moment in which the new file
//! is whole and not yet renamed.

use crate::config::BootError;
use crate::core::{Core, Role};
use crate::machine::Machine;

/// The file's name on the node's disk.
pub(crate) const NAME: &str = "redis.conf";

/// The file of a node as it is now.
pub(crate) fn text(core: &Core) -> String {
    let port = core.config().port;
    match &core.replication().role {
        Role::Master => format!("port {port}\n"),
        Role::Replica { host, port: master, .. } => format!("port {port}\nreplicaof {host} {master}\n"),
    }
}

/// Whom the file says to follow, `Some(None)` if nobody; `None` if it was never written.
pub(crate) fn read<M: Machine>(machine: &M) -> Result<Option<Option<(String, u16)>>, BootError> {
    let file = machine.read(NAME).map_err(BootError::ReadConfig)?;
    if file.is_empty() {
        return Ok(None);
    }
    let mut master = None;
    for line in String::from_utf8_lossy(&file).lines() {
        let bad = || BootError::BadConfig(line.to_owned());
        match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["port", _] => {}
            ["replicaof", host, port] => {
                master = Some(((*host).to_owned(), port.parse().map_err(|_| bad())?));
            }
            _ => return Err(bad()),
        }
    }
    Ok(Some(master))
}
