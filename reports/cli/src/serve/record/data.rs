//! The resource that clients read and write under a lock: keys with a version and a value, held by this program.
//!
//! It refuses nothing: fencing numbers are written down and not checked.

use std::collections::BTreeMap;

use doublehold_history::{EventKind, ObjectId};

use super::call::Call;
use super::place_of;

/// All keys.
#[derive(Debug, Default)]
pub(super) struct Data {
    keys: Vec<String>,
    values: BTreeMap<ObjectId, (u64, Vec<u8>)>,
    /// The version that each grant read last.
    read: BTreeMap<(u64, ObjectId), u64>,
}

impl Data {
    /// Reads a key under a grant.
    pub(super) fn read(&mut self, call: Call, key: &str) -> (EventKind, Option<Vec<u8>>) {
        let object = ObjectId(place_of(&mut self.keys, key));
        let (version, bytes) = self.values.get(&object).cloned().unzip();
        let version = version.unwrap_or(0);
        self.read.insert((call.id.0, object), version);
        let value = bytes.as_deref().map_or(0, |bytes| number(bytes, version));
        let Call { client, id: grant, .. } = call;
        (EventKind::ReadDone { client, grant, object, version, value }, bytes)
    }

    /// Writes a key under a grant. It counts as computed from what the grant has read of it, or last wrote.
    pub(super) fn write(
        &mut self,
        call: Call,
        key: &str,
        bytes: &[u8],
        fencing: Option<u64>,
    ) -> [EventKind; 2] {
        let object = ObjectId(place_of(&mut self.keys, key));
        let Call { client, id: grant, .. } = call;
        let based_on = self.read.get(&(grant.0, object)).copied();
        let version = 1 + self.values.get(&object).map_or(0, |(version, _)| *version);
        self.values.insert(object, (version, bytes.to_vec()));
        if based_on.is_some() {
            self.read.insert((grant.0, object), version);
        }
        let value = number(bytes, version);
        [
            EventKind::WriteSent { client, grant, object, based_on },
            EventKind::WriteApplied { client, grant, object, version, based_on, value, fencing },
        ]
    }

    /// Every key, in the order in which they were first named.
    pub(super) fn names(&self) -> Vec<String> {
        self.keys.clone()
    }
}

/// A value as histories have it: a number. What is none is told by its version.
fn number(bytes: &[u8], version: u64) -> u64 {
    std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok()).unwrap_or(version)
}
