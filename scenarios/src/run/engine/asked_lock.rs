//! The question whose a lock is, as the resource puts it to a Redis node: `GET` of the lock's key, on a connection of
//! its own.
//!
//! Assumes that the key holds the token of its grant, which is checked where a scenario is read. A lock on several
//! nodes cannot be asked so: each of them knows its own key only.
//!
//! Decision: "A grant shows the resource one thing, and a guard compares that" (docs/decisions/locks.md).

use std::io;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use doublehold_history::{LockAnswer, LockId};
use doublehold_sim::{Host, HostId, MonotonicTime};
use redis::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::env::REDIS_PORT;
use crate::run::client::frames::token_shown;
use crate::run::client::resource::LockService;
use crate::run::lean::reply;

/// The time for which the resource waits for an answer, on its monotonic clock.
const PATIENCE: Duration = Duration::from_secs(1);

/// The node that is asked, and the key of each lock.
#[derive(Clone)]
pub(in crate::run) struct AskedNode {
    pub(in crate::run) node: Option<HostId>,
    pub(in crate::run) keys: Arc<[String]>,
}

/// A host that asks a node.
pub(in crate::run) struct AskingHost {
    pub(in crate::run) host: Host,
    pub(in crate::run) asked: AskedNode,
}

impl LockService for AskingHost {
    async fn ask(&self, lock: LockId) -> LockAnswer {
        let AskedNode { node, keys } = &self.asked;
        let (Some(node), Some(key)) = (node, keys.get(lock.0 as usize)) else { return LockAnswer::None };
        let MonotonicTime(now) = self.host.clocks().monotonic;
        let patience_ends = MonotonicTime(now.saturating_add(PATIENCE.as_nanos() as u64));
        match self.host.race(get(&self.host, *node, key), patience_ends).await {
            Ok(Ok(Value::BulkString(token))) => LockAnswer::Holder(token_shown(&token)),
            Ok(Ok(Value::Nil)) => LockAnswer::Nobody,
            Ok(Ok(_) | Err(_)) | Err(_) => LockAnswer::None,
        }
    }
}

/// Returns the node's answer to `GET`.
async fn get(host: &Host, node: HostId, key: &str) -> io::Result<Value> {
    let mut stream = host.connect(node, REDIS_PORT).await.map_err(io::Error::other)?;
    let request = format!("*2\r\n$3\r\nGET\r\n${}\r\n{key}\r\n", key.len());
    stream.write_all(request.as_bytes()).await?;
    let mut said = Vec::new();
    loop {
        if let Poll::Ready(value) = reply::take(&mut &said[..]) {
            return value.map_err(io::Error::other);
        }
        if stream.read_buf(&mut said).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}
