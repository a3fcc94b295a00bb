//! The scripts that a node has in its cache.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::core::lua::{Script, digest};

/// Bytes that a cached script takes besides its text, about.
const SCRIPT_BYTES: usize = 160;

/// Every script that was sent and not flushed, by its SHA1.
#[derive(Debug, Default)]
pub(crate) struct Scripts {
    by_sha: BTreeMap<[u8; 20], Arc<Script>>,
    memory: u64,
}

impl Scripts {
    pub(crate) fn get(&self, sha: &[u8; 20]) -> Option<&Arc<Script>> {
        self.by_sha.get(sha)
    }

    pub(crate) fn contains(&self, sha: &[u8; 20]) -> bool {
        self.by_sha.contains_key(sha)
    }

    pub(crate) fn len(&self) -> usize {
        self.by_sha.len()
    }

    /// Bytes of the scripts.
    pub(crate) fn memory(&self) -> u64 {
        self.memory
    }

    /// Adds a script that was sent as `source`.
    pub(crate) fn insert(&mut self, script: &Arc<Script>, source: &[u8]) {
        self.memory += (source.len() + SCRIPT_BYTES) as u64;
        self.by_sha.insert(script.sha, Arc::clone(script));
    }

    /// Adds a script that the node knows from the start, if it is one.
    pub(crate) fn insert_source(&mut self, source: &[u8]) {
        if let Ok(script) = Script::parse(source, digest(source)) {
            self.insert(&Arc::new(script), source);
        }
    }
}
