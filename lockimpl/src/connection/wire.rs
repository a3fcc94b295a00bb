//! One open connection and the time limit on each command sent over it.
//!
//! Every command has the whole limit to itself: a limit on a group of them would, after a pause,
//! give up on the second because the first was late, and redis-rs does not even send a command
//! whose caller is gone by then.

use std::future::Future;
use std::time::Duration;

use redis::aio::ConnectionLike;
use redis::{Cmd, Pipeline, RedisError, Value};

use crate::env::{DeadlinePassed, Env, MonotonicTime};

/// A command without a usable reply.
#[derive(Debug)]
pub(crate) enum NoReply {
    /// None came in time.
    Late,
    /// An error reply, or the connection failed. In a box, so that the usual outcome is small to hand on.
    Error(Box<RedisError>),
}

impl From<DeadlinePassed> for NoReply {
    fn from(DeadlinePassed: DeadlinePassed) -> Self {
        Self::Late
    }
}

impl From<RedisError> for NoReply {
    fn from(error: RedisError) -> Self {
        Self::Error(error.into())
    }
}

/// An open connection with a time limit.
pub(crate) struct Wire<'a, E: Env> {
    env: &'a E,
    conn: &'a mut E::Conn,
    timeout: Option<Duration>,
    /// Set as long as nothing was sent: the first command shares its limit with connecting.
    first_deadline: Option<MonotonicTime>,
}

impl<'a, E: Env> Wire<'a, E> {
    pub(crate) fn new(
        env: &'a E,
        conn: &'a mut E::Conn,
        timeout: Option<Duration>,
        first_deadline: Option<MonotonicTime>,
    ) -> Self {
        Self { env, conn, timeout, first_deadline }
    }

    /// Sends a command and waits for its reply, which it puts down where the caller wants it: handed back through the
    /// futures between here and there it would be copied by each.
    pub(crate) async fn call(&mut self, command: &Cmd, reply: &mut Value) -> Result<(), NoReply> {
        let deadline = self.deadline().await;
        let (conn, mut failed) = (&mut *self.conn, None);
        // What `query_async` does, without one more future around it.
        let exchange = async {
            match conn.req_packed_command(command).await {
                Ok(value) => *reply = value,
                Err(error) => failed = Some(NoReply::from(error)),
            }
        };
        run_until(self.env, deadline, exchange).await?;
        match failed {
            Some(failed) => Err(failed),
            None => Ok(refuse_errors(reply)?),
        }
    }

    /// Sends several commands at once and waits for all replies.
    pub(crate) async fn pipeline(&mut self, commands: &Pipeline) -> Result<Vec<Value>, NoReply> {
        let deadline = self.deadline().await;
        Ok(run_until(self.env, deadline, commands.query_async(self.conn)).await??)
    }

    async fn deadline(&mut self) -> Option<MonotonicTime> {
        match self.first_deadline.take() {
            Some(deadline) => Some(deadline),
            None => deadline_after(self.env, self.timeout).await,
        }
    }
}

/// Fails if the reply is an error, or holds one.
fn refuse_errors(reply: &mut Value) -> Result<(), RedisError> {
    use Value::{BulkString, Int, Nil, Okay, SimpleString};
    if !matches!(reply, Nil | Okay | Int(_) | BulkString(_) | SimpleString(_)) {
        *reply = std::mem::replace(reply, Nil).extract_error()?;
    }
    Ok(())
}

/// Reads the monotonic clock, if there is a limit to be set by it.
pub(crate) async fn deadline_after<E: Env>(env: &E, timeout: Option<Duration>) -> Option<MonotonicTime> {
    match timeout {
        Some(timeout) => Some(env.monotonic().await.saturating_add(timeout)),
        None => None,
    }
}

/// Runs `operation` up to the deadline, or to its end if there is none.
pub(crate) async fn run_until<E: Env, F>(
    env: &E,
    deadline: Option<MonotonicTime>,
    operation: F,
) -> Result<F::Output, DeadlinePassed>
where
    F: Future + Send,
    F::Output: Send,
{
    match deadline {
        Some(deadline) => env.race(operation, deadline).await,
        None => Ok(operation.await),
    }
}
