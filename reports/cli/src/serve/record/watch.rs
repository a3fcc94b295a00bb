//! What a node tells the record of its keys.

use std::sync::Arc;

use doublehold_history::NodeId;
use doublehold_sim_redis::core::{KeyChange, Observer, Origin};

use crate::serve::control::Control;

/// Writes down each change of a key on one node.
pub(crate) struct KeyWatch {
    control: Arc<Control>,
    node: NodeId,
}

impl KeyWatch {
    /// A watch over the keys of a node, given by its place among nodes.
    pub(crate) fn new(control: Arc<Control>, node: usize) -> KeyWatch {
        KeyWatch { control, node: NodeId(u32::try_from(node).unwrap_or(u32::MAX)) }
    }
}

impl Observer for KeyWatch {
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
