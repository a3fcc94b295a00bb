//! Whose the claims were: what is asked of the lanes when the run is over, and all is told.
//!
//! Assumes that who took a claim was written down when it happened (`ownership.rs`). Of what nobody marked, there is no
//! owner.

use doublehold_history::CallId;

use super::{Circumstances, KeyLanes, Stretch, StretchRecord, Touch};
use crate::model::cast::Cast;
use crate::report::KeySpan;
use crate::run::keys::attribution::{Attribution, LockMark, Owner};
use crate::run::keys::ownership::Shares;

impl KeyLanes {
    /// How the claim is known again.
    pub(in crate::run) fn mark(&self, claim: Stretch) -> &LockMark {
        &self.all[claim.0].mark
    }

    /// Whose the claim was that was touched, where that is certain; the latest last. `asked`: the call that touched it.
    pub(in crate::run) fn owners_of(&self, touch: &Touch, told: &Attribution, asked: CallId) -> Vec<Owner> {
        self.owners(touch.claim, &touch.shares, told, asked)
    }

    /// Whose a claim is with these shares, where that is certain; the latest last. `asked`: the call that this is
    /// about.
    pub(in crate::run) fn owners(
        &self,
        claim: Stretch,
        shares: &Shares,
        told: &Attribution,
        asked: CallId,
    ) -> Vec<Owner> {
        let held = &self.all[claim.0];
        shares.owners(&held.mark, told, self.has_several_setters(claim), asked)
    }

    /// Whether a call took a claim of the same lock that it marked.
    pub(in crate::run) fn has_marked_claim(&self, call: CallId, beside: Stretch, told: &Attribution) -> bool {
        let lock = self.all[beside.0].mark.0;
        let is_its = |held: &StretchRecord| {
            held.mark.0 == lock && held.shares.has(call, told) && told.marked_by(&held.mark, call).is_some()
        };
        self.all.iter().any(is_its)
    }

    /// Whether several calls set what the claim is.
    pub(in crate::run) fn has_several_setters(&self, claim: Stretch) -> bool {
        let StretchRecord { circumstances, mark, .. } = &self.all[claim.0];
        let setters = self.setters.get(&(circumstances.database, mark.clone()));
        setters.is_some_and(|setters| setters.several)
    }

    /// The lanes, each with its owner; what nobody marked is not drawn.
    pub(in crate::run) fn spans(&self, told: &Attribution, cast: &Cast) -> Vec<KeySpan> {
        self.all.iter().filter_map(|held| held.span(told, cast)).collect()
    }

    /// The lane of one claim.
    pub(in crate::run) fn span(&self, claim: Stretch, told: &Attribution, cast: &Cast) -> Option<KeySpan> {
        self.all[claim.0].span(told, cast)
    }

    /// Whether a call that changed no key has a claim that stood when it was granted.
    pub(in crate::run) fn rests(&self, call: CallId, told: &Attribution) -> bool {
        let stood = self.standing.get(&call);
        let is_its = |(claim, shares): &(Stretch, Shares)| {
            self.owners(*claim, shares, told, call).iter().any(|(_, owner)| *owner == call)
        };
        stood.is_some_and(|stood| stood.iter().any(is_its))
    }
}

impl StretchRecord {
    fn span(&self, told: &Attribution, cast: &Cast) -> Option<KeySpan> {
        let Circumstances { node, origin, at, moment, .. } = self.circumstances;
        let owner = self.shares.drawn_owner(&self.mark, told);
        let (client, grant) = owner.or_else(|| told.likely_marker(&self.mark, moment))?;
        let (node, client, lock) = (cast.node(node), cast.client(client), self.mark.0);
        let is_token = told.may_be_token(&self.mark, grant);
        Some(KeySpan { node, lock, grant, client, origin, is_token, from: at, until: self.until })
    }
}
