//! How a key that was taken is kept and given back.

use std::time::Duration;

use doublehold::check::{Deadline, Doubt, Env, Extended, Grant, Released, Token};
use redis::{Value, cmd};

use super::super::lease::Lease;
use super::acquire::yes;
use super::{Flaw, Plain};
use crate::node::{Silence, millis};

/// How often a release is asked for whose reply is lost.
const TRIES: u32 = 3;

const EXTEND_OR_SET: &str = "local held = redis.call('GET', KEYS[1]) \
     if held and held ~= ARGV[1] then return 0 end \
     redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1";

const EXTEND_BY_SECONDS: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('EXPIRE', KEYS[1], ARGV[2]) end return 0";

impl Plain {
    pub(super) async fn keep(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        // WRONG: this is the end of the latest lease of this object, which may be that of another key.
        if self.flaw == Flaw::LeasePerObject
            && let Some(until) = self.until
            && self.way.env.monotonic().await.saturating_add(ttl / 2) < until
        {
            grant.deadline = Some(Deadline::Monotonic(until));
            return Extended::Extended { deadline: grant.deadline };
        }
        let lease = Lease::start(&self.way.env, ttl).await;
        match self.renew(&grant.resource, &grant.token, ttl).await {
            Ok(true) if lease.too_late(&self.way.env).await.is_some() => Extended::TooLate,
            Ok(true) => {
                self.until = Some(lease.valid_until());
                grant.deadline = lease.deadline();
                Extended::Extended { deadline: grant.deadline }
            }
            // WRONG: a lock that is lost does not come back.
            Ok(false) if self.flaw == Flaw::LostIsTransient => Extended::Unknown(Doubt::Timeout),
            Ok(false) => Extended::NotOwner,
            Err(silence) => Extended::Unknown(silence.into_doubt()),
        }
    }

    /// Whether the key is still ours, and ends later.
    async fn renew(&mut self, key: &str, token: &Token, ttl: Duration) -> Result<bool, Silence> {
        let millis = millis(ttl).to_string();
        let args = [token.as_bytes(), millis.as_bytes()];
        yes(match self.flaw {
            // WRONG: they are milliseconds.
            Flaw::ExtendUnits => self.node.run_script(EXTEND_BY_SECONDS, key, &args).await,
            // WRONG: another may have held the lock in the gap, and given it back.
            Flaw::ExtendSets => self.node.run_script(EXTEND_OR_SET, key, &args).await,
            // WRONG: the key that is there may be another's, whose hold is prolonged.
            Flaw::ExtendUnchecked => self.node.call(cmd("PEXPIRE").arg(key).arg(millis)).await,
            _ => self.node.extend(key, token.as_bytes(), ttl).await,
        })
    }

    pub(super) async fn give_back(&mut self, grant: &Grant) -> Released {
        let mut doubt = None;
        for number in 0..TRIES {
            // WRONG: it was forgotten before the release was known to be done, and cannot be asked for again.
            if number > 0 && self.flaw == Flaw::ForgetsToken {
                break;
            }
            match self.delete(&grant.resource, &grant.token, number).await {
                Ok(true) => return Released::Released,
                // What was asked for before may have been done.
                Ok(false) => return doubt.map_or(Released::NotOwner, Released::Unknown),
                Err(silence) => doubt = Some(silence.into_doubt()),
            }
        }
        Released::Unknown(doubt.unwrap_or(Doubt::Timeout))
    }

    /// Whether the key was deleted, at the `number`-th try.
    async fn delete(&mut self, key: &str, token: &Token, number: u32) -> Result<bool, Silence> {
        let mut delete = cmd("DEL");
        delete.arg(key);
        yes(match self.flaw {
            // WRONG: the first try may have been executed, and then the key is another's.
            Flaw::RetryUnchecked if number > 0 => self.node.call(&delete).await,
            Flaw::GetThenDelete => {
                let held = self.node.call(cmd("GET").arg(key)).await?;
                if held != Value::BulkString(token.as_bytes().to_vec()) {
                    return Ok(false);
                }
                // WRONG: by now the key may have ended and be another's.
                self.node.call(&delete).await
            }
            _ => self.node.delete(key, token.as_bytes()).await,
        })
    }
}
