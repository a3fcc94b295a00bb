//! A lock without a known bug, and variants of it that do the same in another way: what a check must never call worse.
//!
//! Each draws other random numbers for the same purpose, so that its runs take another course; some send more bytes, or
//! one request more. It is as good a lock all the same.

use std::time::Duration;

use doublehold::check::{
    Acquired, Clock, Deadline, Env as _, Extended, Grant, Lock, MonotonicTime, Nodes, Refusal, Released,
    SimEnv, Token,
};
use redis::cmd;

use crate::Kind;
use crate::node::{Node, is_yes, release_outcome};

/// What a variant does otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Nothing.
    Same,
    /// Its tokens are three times as long.
    LongTokens,
    /// Its keys have another name than what they protect.
    OtherKeys,
    /// Its random numbers are others.
    OtherNumbers,
    /// It reads the key before it asks for it, and does nothing with the answer.
    ExtraGet,
}

/// All that differ.
pub const VARIANTS: [Variant; 4] =
    [Variant::LongTokens, Variant::OtherKeys, Variant::OtherNumbers, Variant::ExtraGet];

impl Variant {
    /// The lock in this variant.
    pub fn kind(self) -> Kind {
        let name = match self {
            Variant::Same => "harmless",
            Variant::LongTokens => "harmless-long-tokens",
            Variant::OtherKeys => "harmless-other-keys",
            Variant::OtherNumbers => "harmless-other-numbers",
            Variant::ExtraGet => "harmless-extra-get",
        };
        Kind::new(name, Nodes::One, move |env, nodes| {
            let node = Node::new(env.clone(), nodes[0].clone(), Duration::from_secs(1));
            Harmless { env, node, variant: self }
        })
    }

    fn key(self, resource: &str) -> String {
        if self == Variant::OtherKeys { format!("locks:{{{resource}}}:v2") } else { resource.to_owned() }
    }

    fn token(self, env: &SimEnv) -> Token {
        let token = Token::draw(env);
        if self == Variant::LongTokens { Token::new(token.as_bytes().repeat(3)) } else { token }
    }

    /// How long a call waits before it asks, so that clients do not all come at once: up to 50 ms, of which each
    /// variant draws another number than the rest.
    fn jitter(self, env: &SimEnv) -> Duration {
        let mut bytes = [0; 5];
        env.random(&mut bytes);
        Duration::from_micros(u64::from(bytes[self as usize]) * 200)
    }
}

/// One client's lock: `SET NX PX`, a deadline from before it is sent, and scripts that compare.
struct Harmless {
    env: SimEnv,
    node: Node,
    variant: Variant,
}

impl Harmless {
    /// The end of a lease that begins now: a hundredth of it is left for clocks that drift.
    async fn end_of(&self, ttl: Duration) -> MonotonicTime {
        self.env.monotonic().await.saturating_add(ttl - ttl / 100 - Duration::from_millis(2))
    }

    async fn is_over(&self, end: MonotonicTime) -> bool {
        self.env.monotonic().await >= end
    }
}

fn too_late(ttl: Duration) -> Refusal {
    Refusal::TooLate { elapsed: ttl, allowed: ttl, clock: Clock::Monotonic }
}

impl Lock for Harmless {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let (key, token) = (self.variant.key(resource), self.variant.token(&self.env));
        self.env.marks(token.as_bytes());
        let soon = self.env.monotonic().await.saturating_add(self.variant.jitter(&self.env));
        self.env.sleep_until(soon).await;
        if self.variant == Variant::ExtraGet {
            let _ignored = self.node.call(cmd("GET").arg(&key)).await;
        }
        let end = self.end_of(ttl).await;
        let taken = self.node.set_nx_px(&key, token.as_bytes(), ttl).await;
        match taken {
            Ok(_) if !is_yes(&taken) => Acquired::Refused(Refusal::Taken),
            Ok(_) if !self.is_over(end).await => {
                let deadline = Some(Deadline::Monotonic(end));
                Acquired::Granted(Grant { deadline, ..Grant::new(resource, token) })
            }
            late_or_lost => {
                let _ignored = self.node.delete(&key, token.as_bytes()).await;
                late_or_lost
                    .map_or_else(|silence| silence.into_acquired(), |_| Acquired::Refused(too_late(ttl)))
            }
        }
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        let end = self.end_of(ttl).await;
        let key = self.variant.key(&grant.resource);
        let extended = self.node.extend(&key, grant.token.as_bytes(), ttl).await;
        match extended {
            Ok(_) if !is_yes(&extended) => Extended::NotOwner,
            Ok(_) if self.is_over(end).await => Extended::TooLate,
            Ok(_) => {
                grant.deadline = Some(Deadline::Monotonic(end));
                Extended::Extended { deadline: grant.deadline }
            }
            Err(silence) => Extended::Unknown(silence.into_doubt()),
        }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        let key = self.variant.key(&grant.resource);
        release_outcome(self.node.delete(&key, grant.token.as_bytes()).await)
    }
}
