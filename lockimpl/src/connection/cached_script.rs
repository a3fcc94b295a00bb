//! Scripts of locks that are no textbook's: sent by their hash, and loaded where a node does not know them.
//!
//! Knows nothing of what a script does. What the locks of the Redis documentation send is in `scripts`.

use redis::{Cmd, Value};

use super::link::{Failure, Link};
use crate::env::Env;

/// A script and the name under which a node knows it.
pub(crate) struct CachedScript {
    source: &'static str,
    hash: String,
}

impl CachedScript {
    pub(crate) fn new(source: &'static str) -> Self {
        Self { source, hash: redis::Script::new(source).get_hash().to_owned() }
    }

    /// What a node is to know.
    pub(crate) fn source(&self) -> &'static str {
        self.source
    }

    /// The SHA-1 of the source, in hexadecimal.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }

    /// Runs it. A node that has forgotten it is told, and asked again, as redis-rs' own `Script` does it.
    pub(crate) async fn run<E: Env>(
        &self,
        env: &E,
        link: &mut Link<E>,
        keys: &[&str],
        args: &[&[u8]],
    ) -> Result<Value, Failure> {
        let mut call = Cmd::new();
        call.arg("EVALSHA").arg(&self.hash).arg(keys.len()).arg(keys).arg(args);
        match link.call(env, &call).await {
            Err(Failure::ErrorReply(error)) if error.code == "NOSCRIPT" => {
                link.call(env, redis::cmd("SCRIPT").arg("LOAD").arg(self.source)).await?;
                link.call(env, &call).await
            }
            other => other,
        }
    }
}
