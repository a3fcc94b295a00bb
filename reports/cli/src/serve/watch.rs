//! What a node tells of its keys, for the record, and of commands, for which faults may wait.

use std::sync::Arc;

use doublehold_history::NodeId;
use doublehold_sim_redis::core::{KeyChange, Observer, Origin};

use crate::serve::control::Control;
use crate::serve::weather::moments::Happened;

/// Writes down each change of a key on one node.
pub(crate) struct KeyWatch {
    control: Arc<Control>,
    node: NodeId,
    name: String,
}

impl KeyWatch {
    /// A watch over the keys of a node, given by its place among nodes.
    pub(crate) fn new(control: Arc<Control>, node: usize) -> KeyWatch {
        let name = control.hosts.get(node).map_or_else(String::new, |host| host.name.clone());
        KeyWatch { control, node: NodeId(u32::try_from(node).unwrap_or(u32::MAX)), name }
    }
}

impl Observer for KeyWatch {
    fn executed(&self, origin: Origin, command: &'static str) {
        let Origin::Client { peer, .. } = origin else { return };
        if self.control.moments.is_any_waiting()
            && let Some(client) = self.control.links.client(peer)
        {
            let node = self.name.as_str();
            self.control.happened(Happened::Executed { command, client: client.as_deref(), node });
        }
    }

    fn changed(&self, origin: Origin, change: &KeyChange<'_>) {
        let Control { record, links, .. } = &*self.control;
        match origin {
            Origin::Client { peer, .. } => {
                let client = links.client(peer).flatten();
                record.note_key(self.node, Some(client.as_deref()), change);
            }
            Origin::Master | Origin::File | Origin::Node => record.note_key(self.node, None, change),
        }
    }
}
