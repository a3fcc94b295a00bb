//! Whose key is it: which call took a lock's key on each node, who claims it, and what each command did to it.
//!
//! Locks tell their tokens; everything else is found from what commands did. Nothing here reaches a node.

pub(in crate::run) mod attribution;
pub(in crate::run) mod claimants;
pub(in crate::run) mod key_claims;
pub(in crate::run) mod key_effects;
pub(in crate::run) mod key_lanes;
pub(in crate::run) mod lock_keys;
pub(in crate::run) mod ownership;
