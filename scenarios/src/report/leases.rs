//! What a run says of leases from inside: when a deadline was to pass, when a key was to end, and who sent requests
//! when. No client can know it all, and no verdict asks it: the rules of [`super::white_box`] do.
//!
//! All times are true times. What did not happen within the run is computed from the clocks as they ran.

use std::sync::Arc;

use doublehold_history::{CallId, TrueNs};

use super::KeySpan;
use crate::model::scenario::HostIndex;

/// The deadlines, keys and requests of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leases {
    /// The deadlines that locks computed, in the order in which they said so.
    pub deadlines: Vec<StatedDeadline>,
    /// The keys that nodes held, in the order in which they began.
    pub keys: Vec<LeasedKey>,
    /// The requests that calls sent, in order.
    pub sent: Vec<SentRequest>,
    /// When renewals began beside their holders, and of which grant, also of one that was given back.
    pub renewals: Vec<(TrueNs, CallId)>,
    /// More happened than is kept: then all of it is left out.
    pub is_cut_short: bool,
}

/// A deadline that a lock computed, by a grant or an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedDeadline {
    /// Whose.
    pub client: HostIndex,
    /// Of which grant.
    pub grant: CallId,
    /// When the lock said so.
    pub stated: TrueNs,
    /// When it passes on the client's clock.
    pub passes: TrueNs,
}

/// A key on a node, with the ends that it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedKey {
    /// Where and when it was, and whose.
    pub span: KeySpan,
    /// The calls that mark their keys like this.
    pub calls: Arc<[CallId]>,
    /// The ends that it was given, in order.
    pub leases: Vec<KeyLease>,
}

/// An end that a key was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyLease {
    /// When it was given.
    pub from: TrueNs,
    /// When the key is gone by its node's clock; `None`: never.
    pub ends: Option<TrueNs>,
}

/// A request that was sent in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentRequest {
    /// When.
    pub at: TrueNs,
    /// In the name of which call.
    pub call: CallId,
    /// To which node, where that is known.
    pub node: Option<HostIndex>,
}

impl LeasedKey {
    /// The end that the key had been given by then.
    pub fn lease_at(&self, at: TrueNs) -> Option<KeyLease> {
        self.leases.iter().rev().find(|lease| lease.from <= at).copied()
    }
}
