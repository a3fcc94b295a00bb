//! A key with a token and a lease, extended when its holder asks: `SET NX PX`, and scripts that compare.
//!
//! Assumes a node that does not forget. A client that was refused asks again by itself.

mod acquire;
mod hold;
mod table;

use std::time::Duration;

use doublehold::check::{Acquired, Extended, Grant, Lock, MonotonicTime, Nodes, Released, Token};

use super::Way;
use crate::Kind;
use crate::node::Node;

pub(super) use table::bad_locks;

/// What is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    // Of acquire.
    TwoSteps,
    CheckThenSet,
    RefreshUnchecked,
    TinyToken,
    PrefixCompare,
    TtlTruncated,
    LeaseTimes1000,
    ResentAndForeign,
    CleanUpLater,
    LeaseIgnored,
    SleepsOutTheLease,
    // Of extend.
    ExtendUnits,
    ExtendSets,
    ExtendUnchecked,
    LeasePerObject,
    LostIsTransient,
    // Of release.
    GetThenDelete,
    RetryUnchecked,
    ForgetsToken,
    TokenPerObject,
}

fn kind(name: &'static str, flaw: Flaw) -> Kind {
    Kind::new(name, Nodes::One, move |env, nodes| {
        let way = Way { env, name: nodes[0].clone() };
        Plain { node: way.node(), way, flaw, own: None, until: None }
    })
}

/// One client's lock.
struct Plain {
    way: Way,
    node: Node,
    flaw: Flaw,
    /// The token of every hold of this object, where it is not one per hold.
    own: Option<Token>,
    /// When the latest lease of this object ends.
    until: Option<MonotonicTime>,
}

impl Lock for Plain {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        self.take(resource, ttl).await
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        self.keep(grant, ttl).await
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        self.give_back(grant).await
    }
}
