//! Every word of the format as data: for the test that demands a scenario in which each of them matters, and for tools
//! that complete or colour scenario files.
//!
//! Assembled from the constants that the reader itself compares with. What constants cannot promise (a table whose keys
//! nobody passed on) a test asks the reader, whose refusals list what it knows. What a duration, a ratio or a law looks
//! like is not in here, nor which keys exclude each other.
//!
//! Decision: "The file format gives its vocabulary as data" (docs/decisions/scenarios.md).

use super::key::Key;
use super::source::own_vocabulary;
use super::{
    clients, fault, hosts, lock, network, nodes, resource, section, sentinels, service, weather, when, writes,
};

/// The whole vocabulary, in alphabetical order, each key and each word once.
///
/// ```
/// let vocabulary = doublehold_scenarios::format::vocabulary();
/// let known = |word: &str| vocabulary.iter().any(|key| key.to_string() == word);
/// assert!(known("lock.ttl") && known("lock.clock=wall") && known("faults.pause.for") && known("when=grant"));
/// assert!(!known("lock.ttll"));
/// ```
pub fn vocabulary() -> Vec<Key> {
    let mut keys = [
        own_vocabulary(),
        lock::vocabulary(&doublehold_lockimpl::descriptors()),
        hosts::vocabulary(),
        nodes::vocabulary(),
        sentinels::vocabulary(),
        service::vocabulary(),
        writes::vocabulary(),
        resource::vocabulary(),
        network::vocabulary(),
        clients::vocabulary(),
        fault::vocabulary(),
        weather::vocabulary(),
        section::vocabulary(),
        when::vocabulary(),
    ]
    .concat();
    keys.sort();
    keys.dedup();
    keys
}
