//! A second connection to a node, for what it says by itself and for commands that wait there: subscriptions, keys
//! that are tracked, `BLPOP`.
//!
//! It does not repair itself. A connection that broke has lost what was said since, and its owner has to know that: it
//! drops this one, opens another, subscribes anew, and looks again at what it waits for.

use std::time::Duration;

use redis::aio::ConnectionLike;
use redis::{Cmd, RedisError, Value};

use super::link::{Failure, error_reply};
use super::wire::run_until;
use crate::env::{DeadlinePassed, Env, MonotonicTime, NodeName, Push, Pushes};
use crate::lock::Doubt;

/// An open connection on which a node pushes.
pub(crate) struct Subscription<E: Env> {
    conn: E::Conn,
    pushes: Pushes,
}

impl<E: Env> Subscription<E> {
    /// Opens one. It is subscribed to nothing.
    pub(crate) async fn open(
        env: &E,
        node: &NodeName,
        deadline: Option<MonotonicTime>,
    ) -> Result<Self, Failure> {
        match run_until(env, deadline, env.listen(node)).await {
            Ok(Ok((conn, pushes))) => Ok(Self { conn, pushes }),
            Ok(Err(error)) => Err(Failure::Unsent(error.to_string())),
            Err(DeadlinePassed) => Err(Failure::Unsent("no connection in time".into())),
        }
    }

    /// Sends one command and waits for its reply. After an error that is not the node's, or a reply that did not come
    /// in time, this connection is of no more use.
    pub(crate) async fn call(
        &mut self,
        env: &E,
        command: &Cmd,
        deadline: Option<MonotonicTime>,
    ) -> Result<Value, Failure> {
        match run_until(env, deadline, self.conn.req_packed_command(command)).await {
            Ok(reply) => reply.and_then(Value::extract_error).map_err(failure),
            Err(DeadlinePassed) => Err(Failure::Lost(Doubt::Timeout)),
        }
    }

    /// Subscribes to one channel. When this returns the subscription stands: what is published from here on arrives.
    pub(crate) async fn subscribe(
        &mut self,
        env: &E,
        channel: &str,
        deadline: Option<MonotonicTime>,
    ) -> Result<(), Failure> {
        self.call(env, redis::cmd("SUBSCRIBE").arg(channel), deadline).await.map(drop)
    }

    /// Waits at the node until there is something on a list, and takes it. Whether it did; the node gives up after
    /// `limit`, or never.
    pub(crate) async fn pop(
        &mut self,
        env: &E,
        list: &str,
        limit: Option<Duration>,
        deadline: Option<MonotonicTime>,
    ) -> Result<bool, Failure> {
        // Zero would be for ever, and Redis takes thousandths of a second.
        let millis = limit.map_or(0, |limit| limit.as_nanos().div_ceil(1_000_000).max(1));
        let seconds = format!("{}.{:03}", millis / 1_000, millis % 1_000);
        let reply = self.call(env, redis::cmd("BLPOP").arg(list).arg(seconds), deadline).await?;
        Ok(reply != Value::Nil)
    }

    /// What the node says next; an error if it says nothing before the deadline.
    pub(crate) async fn next(
        &mut self,
        env: &E,
        deadline: Option<MonotonicTime>,
    ) -> Result<Push, DeadlinePassed> {
        run_until(env, deadline, self.pushes.next()).await
    }
}

fn failure(error: RedisError) -> Failure {
    match error_reply(&error) {
        Some(reply) => Failure::ErrorReply(reply),
        None => Failure::Lost(Doubt::ConnectionLost(error.to_string())),
    }
}
