//! What a client's command did to keys that were there, once all is told: whose key each was, and what that comes to.
//!
//! Assumes that a call does nothing wrong to a claim that it has a share of, unless another with a share has the lock
//! at that moment. In an acquire, a call may take a claim that is there; after its grant, what it takes is another's.

use doublehold_history::{CallId, ClientId, EventKind, Header, KeyOp, NodeId};

use super::attribution::{Attribution, Owner, Sender};
use super::key_lanes::{ClaimChange, KeyLanes, Touch};

/// A client's command.
pub(in crate::run) struct KeyCommand {
    /// What it did to each claim of the key.
    pub(in crate::run) touches: Vec<Touch>,
    pub(in crate::run) node: NodeId,
    pub(in crate::run) client: Option<ClientId>,
    /// The call that sent it.
    pub(in crate::run) by: Option<Sender>,
    /// Its name.
    pub(in crate::run) command: &'static str,
}

/// What is known by now.
pub(in crate::run) struct KeyJudge<'a> {
    pub(in crate::run) told: &'a Attribution,
    pub(in crate::run) lanes: &'a KeyLanes,
    pub(in crate::run) header: &'a Header,
}

impl KeyJudge<'_> {
    /// Whether a touch is neither a release nor an extension, whatever is told later: in an acquire, another's token
    /// took the place of one that is known.
    pub(in crate::run) fn is_settled(&self, touch: &Touch, by: Option<Sender>) -> bool {
        let Some(by) = by.filter(|by| !by.granted) else { return false };
        matches!(&touch.how, ClaimChange::Replaced(other) if self.told.is_known(other))
            && !self.lanes.owners_of(touch, self.told, by.call).is_empty()
    }

    /// What a command did that is anybody's business.
    pub(in crate::run) fn key_events(&self, touched: &KeyCommand) -> Vec<EventKind> {
        let does_to_its_own = |is_so: fn(&ClaimChange) -> bool| {
            let is_its =
                |touch: &Touch, by: Sender| has(&self.lanes.owners_of(touch, self.told, by.call), by.call);
            let mut touches = touched.touches.iter().filter(|touch| is_so(&touch.how));
            touched.by.is_some_and(|by| touches.any(|touch| is_its(touch, by)))
        };
        let own = Own {
            prolonged: does_to_its_own(|how| matches!(how, ClaimChange::Kept(_))),
            released: does_to_its_own(|how| *how == ClaimChange::Gone),
        };
        let claims = touched.touches.iter().filter(|touch| !self.is_no_claim(touch));
        claims.filter_map(|touch| self.key_event(touched, touch, own)).collect()
    }

    fn key_event(&self, touched: &KeyCommand, touch: &Touch, own: Own) -> Option<EventKind> {
        let Some((client, by)) = touched.client.zip(touched.by) else {
            return self.unattributed_event(touched, touch, NO_CALL);
        };
        if matches!(&touch.how, ClaimChange::Replaced(other) if !self.told.is_known(other)) {
            return self.unattributed_event(touched, touch, UNMARKED);
        }
        let owners = self.lanes.owners_of(touch, self.told, by.call);
        if owners.is_empty() {
            return self.unattributed_event(touched, touch, self.why_nobodys(touch));
        }
        let op = if touch.how == ClaimChange::Gone { KeyOp::Release } else { KeyOp::Extend };
        let held = self.touched_call(touch, by, &owners, own)?;
        if held != by.call && !touch.is_sure() {
            return self.unattributed_event(touched, touch, UNSURE);
        }
        let (node, lock, by) = (touched.node, self.lanes.mark(touch.claim).0, by.call);
        Some(EventKind::KeyTouched { client, node, lock, by, held, op })
    }

    /// Whose claim of these it was that a call released or extended; `None` if it did neither.
    fn touched_call(&self, touch: &Touch, by: Sender, owners: &[Owner], key: Own) -> Option<CallId> {
        let own = has(owners, by.call).then_some(by.call);
        let others = || owners.iter().rev().map(|(_, call)| *call).filter(|call| *call != by.call);
        // Of several, who lost most: the latest that had the lock, or might still get it.
        let live = others().find(|call| touch.live.contains(call));
        let another = live.or_else(|| others().next());
        match &touch.how {
            ClaimChange::Gone if key.released => live.or(own),
            ClaimChange::Gone => another,
            ClaimChange::Back => own,
            ClaimChange::Lowered => another.or(own),
            ClaimChange::Kept(_) if key.prolonged => own,
            ClaimChange::Kept(_) | ClaimChange::Taken(_) if own.is_some() => own,
            ClaimChange::Kept(then) | ClaimChange::Taken(then) => {
                let takes = has(&self.lanes.owners(touch.claim, then, self.told, by.call), by.call);
                another.filter(|_| !takes)
            }
            // In an acquire that is a double hold; after it, what it put there took the place of another's.
            ClaimChange::Replaced(_) => another.filter(|_| own.is_none() && by.granted),
        }
    }

    /// Whether nobody can mean to hold the lock by it: a counter that calls counted up in vain, or a field beside the
    /// claims of a hash, which calls set that took one they had marked. A call that marked none of what it took may
    /// have its token in the field's value: then it is its claim, and nobody knows it.
    fn is_no_claim(&self, touch: &Touch) -> bool {
        let is_known = self.told.is_known(self.lanes.mark(touch.claim));
        touch.is_in_vain()
            || !is_known
                && touch.is_of_a_field
                && touch.is_set_by(|call| self.lanes.has_marked_claim(call, touch.claim, self.told))
    }

    /// Why nobody can say whose a claim was.
    fn why_nobodys(&self, touch: &Touch) -> &'static str {
        if !self.told.is_known(self.lanes.mark(touch.claim)) {
            UNMARKED
        } else if self.lanes.has_several_setters(touch.claim) && touch.is_copied() {
            AMBIGUOUS
        } else if touch.is_set_by_nobody() {
            UNKNOWN_SETTER
        } else {
            NOT_ITS_MARK
        }
    }

    fn unattributed_event(&self, touched: &KeyCommand, touch: &Touch, why: &str) -> Option<EventKind> {
        let KeyCommand { node, command, .. } = *touched;
        let name = self.header.node(node);
        let why = format!("{command} changed the lock's key on {name}, and {why}");
        let lock = self.lanes.mark(touch.claim).0;
        Some(EventKind::Unattributed { node: Some(node), lock, why })
    }
}

/// What a command did to claims of the call that sent it, beside what it did to others of the same key.
#[derive(Clone, Copy)]
struct Own {
    /// An expiry is the key's: a call that has any claim in it may move it.
    prolonged: bool,
    /// A key is deleted as a whole: what others left in it, who have no part in the lock any more, goes with it.
    released: bool,
}

fn has(owners: &[Owner], call: CallId) -> bool {
    owners.iter().any(|(_, owner)| *owner == call)
}

const NO_CALL: &str = "no call of a lock sent the command";
const UNMARKED: &str = "it holds or held a value that no lock had said it marks its keys with";
const AMBIGUOUS: &str = "it held a value that several calls mark their keys with";
const NOT_ITS_MARK: &str = "it held a value that the call which set it had not said it marks its keys with";
const UNSURE: &str = "nobody knows which calls had taken it, and which had given it back";
const UNKNOWN_SETTER: &str = "nobody knows which call set the value that it held";
