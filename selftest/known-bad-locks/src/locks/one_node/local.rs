//! A stage inside the process before the node is asked, as Spring's registry has it: which keys this process holds, and
//! how often.
//!
//! A program is one thread, so the stage never makes it wait. What it does is remember, and that is where its bugs are.

use std::collections::BTreeMap;
use std::time::Duration;

use doublehold::check::{
    Acquired, Extended, Grant, Lock, Mark, Nodes, Predicate, Refusal, Released, SimEnv, Token,
};

use super::Way;
use super::lease::Lease;
use super::scenes::*;
use super::searches::*;
use crate::node::{Node, Silence, is_yes, release_outcome};
use crate::{BadLock, Kind};

use Predicate::{LV, P3};

/// What is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    SharedCount,
    KeptOnLoss,
    TrustsItself,
}

/// One client's locks.
struct Local {
    env: SimEnv,
    node: Node,
    flaw: Flaw,
    /// How often each key is held here.
    counts: BTreeMap<String, u32>,
}

impl Lock for Local {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        // A hold that was lost is held by another worker, for all that this one knows.
        if self.flaw == Flaw::KeptOnLoss && self.count(resource) > 0 {
            return Acquired::Refused(Refusal::Taken);
        }
        let token = Token::draw(&self.env);
        let lease = Lease::start(&self.env, ttl).await;
        let answer = self.node.set_nx_px(resource, token.as_bytes(), ttl).await;
        let refused = match answer {
            Ok(_) if is_yes(&answer) => match lease.too_late(&self.env).await {
                None => {
                    *self.counts.entry(self.bucket(resource)).or_default() += 1;
                    let granted = Grant { deadline: lease.deadline(), ..Grant::new(resource, token) };
                    return Acquired::Granted(granted);
                }
                Some(why) => Acquired::Refused(why),
            },
            Ok(_) => return Acquired::Refused(Refusal::Taken),
            Err(Silence::Lost) => Silence::Lost.into_acquired(),
            Err(silence) => return silence.into_acquired(),
        };
        let _ignored = self.node.delete(resource, token.as_bytes()).await;
        refused
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        let lease = Lease::start(&self.env, ttl).await;
        // WRONG: what this process remembers is not what the node knows.
        if self.flaw != Flaw::TrustsItself {
            let answer = self.node.extend(&grant.resource, grant.token.as_bytes(), ttl).await;
            match answer {
                Err(silence) => return Extended::Unknown(silence.into_doubt()),
                Ok(_) if !is_yes(&answer) => return Extended::NotOwner,
                Ok(_) if lease.too_late(&self.env).await.is_some() => return Extended::TooLate,
                Ok(_) => grant.deadline = lease.deadline(),
            }
        }
        Extended::Extended { deadline: grant.deadline }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        let bucket = self.bucket(&grant.resource);
        let left = self.count(&grant.resource).saturating_sub(1);
        if left > 0 {
            self.counts.insert(bucket, left);
            return Released::Released;
        }
        let outcome = release_outcome(self.node.delete(&grant.resource, grant.token.as_bytes()).await);
        // WRONG with `KeptOnLoss`: nobody will ever give it back here.
        if outcome != Released::NotOwner || self.flaw != Flaw::KeptOnLoss {
            self.counts.remove(&bucket);
        }
        outcome
    }
}

impl Local {
    /// Under which name a key's holds are counted.
    fn bucket(&self, resource: &str) -> String {
        match self.flaw {
            // WRONG: keys that share a bucket are not one key.
            Flaw::SharedCount => "0".to_owned(),
            _ => resource.to_owned(),
        }
    }

    fn count(&self, resource: &str) -> u32 {
        self.counts.get(&self.bucket(resource)).copied().unwrap_or(0)
    }
}

fn kind(name: &'static str, flaw: Flaw) -> Kind {
    Kind::new(name, Nodes::One, move |env, nodes| {
        let way = Way { env: env.clone(), name: nodes[0].clone() };
        Local { node: way.node(), env, flaw, counts: BTreeMap::new() }
    })
}

/// All of them.
pub(super) fn bad_locks() -> Vec<BadLock> {
    let of = |(name, flaw), source, breaks, what, worlds: Worlds| {
        bad_lock((name, source), breaks, what, (kind(name, flaw), kind("local-stage", Flaw::None)), worlds)
    };
    let both = ["acquire stock", "acquire orders", "work 1s", "release orders", "release stock"];
    let both = node().locks(["stock", "orders"]).clients(2, both);
    let overruns = node().clients(1, ["acquire", "work 8s..14s", "release"]).rounds(5);
    let careful = || node().clients(2, CAREFUL_TURN);
    vec![
        of(
            ("holds-counted-by-bucket", Flaw::SharedCount),
            "spring-integration GH-11146",
            &[LV],
            "Keys that share a bucket share a count of holds, and the key that is released first stays.",
            Worlds::quiet(free_soon(both)),
        ),
        of(
            ("local-lock-kept-on-loss", Flaw::KeptOnLoss),
            "spring-integration#1888",
            &[LV],
            "A lock that the node has lost is never released inside the process, where it is waited for for ever.",
            Worlds::quiet(free_after_a_lease(overruns)),
        ),
        of(
            ("ownership-from-memory", Flaw::TrustsItself),
            "spring-integration INT-4248",
            &[P3],
            "Whether the lock is still held is answered from this process' memory, without asking the node.",
            Worlds::new(
                strike_at_times(careful().rounds(4)),
                careful().fault(oversleeps(at("c1", Mark::Read))),
            )
            .under("clocks-only"),
        ),
    ]
}
