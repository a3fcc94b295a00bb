//! How the key is taken.

use std::time::Duration;

use doublehold::check::{Acquired, Env, Grant, Refusal, SimEnv, Token};
use redis::{Cmd, Value, cmd};

use super::super::lease::Lease;
use super::{Flaw, Plain};
use crate::node::{Silence, is_yes, millis};

/// How often a lock that asks again by itself asks, and how long it waits in between.
const TRIES: u32 = 3;
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// What a library takes for a lease where its caller names none.
const LEASE_OF_THE_LIBRARY: Duration = Duration::from_secs(30);

/// Takes the key, also from whoever has a value with this beginning.
const TAKE_BY_PREFIX: &str = "local held = redis.call('GET', KEYS[1]) \
     if held and string.sub(held, 1, #ARGV[1]) ~= ARGV[1] then return 0 end \
     redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) return 1";

const TAKE_FOR_SECONDS: &str = "if redis.call('SETNX', KEYS[1], ARGV[1]) == 0 then return 0 end \
     redis.call('EXPIRE', KEYS[1], ARGV[2]) return 1";

impl Plain {
    pub(super) async fn take(&mut self, key: &str, ttl: Duration) -> Acquired {
        let token = self.token();
        let lease = Lease::start(&self.way.env, ttl).await;
        match self.claim(key, &token, ttl).await {
            Ok(true) => match lease.too_late(&self.way.env).await {
                None => {
                    self.until = Some(lease.valid_until());
                    Acquired::Granted(Grant { deadline: lease.deadline(), ..Grant::new(key, token) })
                }
                Some(why) => {
                    self.clean_up(key, token).await;
                    Acquired::Refused(why)
                }
            },
            Ok(false) => {
                self.wait_for(key).await;
                Acquired::Refused(Refusal::Taken)
            }
            Err(silence) => {
                if matches!(silence, Silence::Lost) {
                    self.clean_up(key, token).await;
                }
                silence.into_acquired()
            }
        }
    }

    /// A token that no other hold has.
    fn token(&mut self) -> Token {
        let env = &self.way.env;
        let token = match self.flaw {
            // WRONG: every hold of this object has the same, so what is late from one hits the next.
            Flaw::TokenPerObject | Flaw::CleanUpLater => {
                self.own.get_or_insert_with(|| Token::draw(env)).clone()
            }
            // WRONG: of four tokens two holders soon have the same one.
            Flaw::TinyToken => Token::new([b'0' + byte(env) % 4]),
            // A caller's name for its job, and behind it what is nobody else's.
            Flaw::PrefixCompare => Token::new(format!("job{}/{}", byte(env) % 20, Token::draw(env))),
            _ => Token::draw(env),
        };
        env.marks(token.as_bytes());
        token
    }

    /// Whether the key is ours now.
    async fn claim(&mut self, key: &str, token: &Token, ttl: Duration) -> Result<bool, Silence> {
        match self.flaw {
            Flaw::TwoSteps => self.claim_in_two_steps(key, token, ttl).await,
            Flaw::CheckThenSet => self.check_then_set(key, token, ttl).await,
            Flaw::RefreshUnchecked => self.claim_or_refresh(key, token, ttl).await,
            Flaw::PrefixCompare => self.claim_by_prefix(key, token, ttl).await,
            Flaw::LeaseTimes1000 => self.claim_in_tries(key, token, ttl).await,
            Flaw::ResentAndForeign => match self.set_key(key, token, ttl).await {
                // WRONG: the first may have been executed, and then the no to this one is about ourselves.
                Err(Silence::Lost) => self.set_key(key, token, ttl).await,
                answer => answer,
            },
            // WRONG: a lease of less than a second becomes 0, which deletes the key, and a longer one gets shorter.
            Flaw::TtlTruncated => {
                let seconds = ttl.as_secs().to_string();
                let taken = self
                    .node
                    .run_script(TAKE_FOR_SECONDS, key, &[token.as_bytes(), seconds.as_bytes()])
                    .await;
                yes(taken)
            }
            // WRONG: what the caller said is dropped on the way.
            Flaw::LeaseIgnored => self.set_key(key, token, LEASE_OF_THE_LIBRARY).await,
            _ => self.set_key(key, token, ttl).await,
        }
    }

    async fn set_key(&mut self, key: &str, token: &Token, ttl: Duration) -> Result<bool, Silence> {
        yes(self.node.set_nx_px(key, token.as_bytes(), ttl).await)
    }

    async fn ask(&mut self, command: &Cmd) -> Result<bool, Silence> {
        yes(self.node.call(command).await)
    }

    async fn claim_in_two_steps(&mut self, key: &str, token: &Token, ttl: Duration) -> Result<bool, Silence> {
        let set = self.ask(cmd("SETNX").arg(key).arg(token.as_bytes())).await?;
        if set {
            // WRONG: a client that dies before this leaves a key without an end.
            self.ask(cmd("PEXPIRE").arg(key).arg(millis(ttl))).await?;
        }
        Ok(set)
    }

    async fn check_then_set(&mut self, key: &str, token: &Token, ttl: Duration) -> Result<bool, Silence> {
        if self.node.call(cmd("GET").arg(key)).await? != Value::Nil {
            return Ok(false);
        }
        // WRONG: another may have seen as well that the key is absent.
        self.ask(cmd("SET").arg(key).arg(token.as_bytes()).arg("PX").arg(millis(ttl))).await
    }

    async fn claim_or_refresh(&mut self, key: &str, token: &Token, ttl: Duration) -> Result<bool, Silence> {
        match self.set_key(key, token, ttl).await {
            Err(Silence::Lost) => {}
            answer => return answer,
        }
        // The reply was lost: who asks again and finds its own value has the lock.
        if self.set_key(key, token, ttl).await? {
            return Ok(true);
        }
        let held = self.node.call(cmd("GET").arg(key)).await?;
        if held != Value::BulkString(token.as_bytes().to_vec()) {
            return Ok(false);
        }
        // WRONG: by now the key may have ended and be another's.
        self.ask(cmd("PSETEX").arg(key).arg(millis(ttl)).arg(token.as_bytes())).await
    }

    async fn claim_by_prefix(&mut self, key: &str, token: &Token, ttl: Duration) -> Result<bool, Silence> {
        let name = token.as_bytes().split(|byte| *byte == b'/').next().unwrap_or_default();
        let ttl = millis(ttl).to_string();
        // WRONG: `job1` is how `job10/…` begins as well, and how another's `job1/…` does.
        yes(self.node.run_script(TAKE_BY_PREFIX, key, &[name, token.as_bytes(), ttl.as_bytes()]).await)
    }

    async fn claim_in_tries(&mut self, key: &str, token: &Token, ttl: Duration) -> Result<bool, Silence> {
        let mut ttl = ttl;
        for _ in 0..TRIES {
            if self.set_key(key, token, ttl).await? {
                return Ok(true);
            }
            // WRONG: seconds become milliseconds once more before each try.
            ttl = ttl.saturating_mul(1000);
            self.way.sleep(BETWEEN_TRIES).await;
        }
        Ok(false)
    }

    /// Deletes what a failed claim may have left.
    async fn clean_up(&mut self, key: &str, token: Token) {
        // WRONG: by the time this is done, the next call may have the key, with the same token.
        if self.flaw == Flaw::CleanUpLater {
            let (mut node, key) = (self.way.node(), key.to_owned());
            self.way.env.spawn(async move {
                let _ignored = node.delete(&key, token.as_bytes()).await;
            });
        } else {
            let _ignored = self.node.delete(key, token.as_bytes()).await;
        }
    }

    /// What a lock does that was told no.
    async fn wait_for(&mut self, key: &str) {
        // WRONG: only a message would wake it earlier, and it missed the message.
        if self.flaw == Flaw::SleepsOutTheLease
            && let Ok(Value::Int(left @ 1..)) = self.node.call(cmd("PTTL").arg(key)).await
        {
            self.way.sleep(Duration::from_millis(left.unsigned_abs())).await;
        }
    }
}

/// Whether a node said yes, where it said anything.
pub(super) fn yes(answer: Result<Value, Silence>) -> Result<bool, Silence> {
    let is_yes = is_yes(&answer);
    answer.map(|_| is_yes)
}

fn byte(env: &SimEnv) -> u8 {
    let mut byte = [0];
    env.random(&mut byte);
    byte[0]
}
