//! An environment that nobody is ever in: for asking locks what they are, which takes a type and no machine.

use std::future::Future;
use std::io;
use std::sync::Arc;

use redis::RedisResult;
use redis::aio::MultiplexedConnection;
use tokio::io::DuplexStream;

use super::push::Pushes;
use super::times::{BootTime, MonotonicTime, WallTime};
use crate::env::{Env, NodeName, Task};

/// There is no value of this type, so that nothing here can be called.
#[derive(Clone)]
pub(crate) enum NullEnv {}

impl Env for NullEnv {
    type Conn = MultiplexedConnection;
    type Stream = DuplexStream;

    async fn wall(&self) -> WallTime {
        match *self {}
    }

    async fn monotonic(&self) -> MonotonicTime {
        match *self {}
    }

    async fn boot(&self) -> BootTime {
        match *self {}
    }

    async fn sleep_until(&self, _: MonotonicTime) {
        match *self {}
    }

    fn random(&self, _: &mut [u8]) {
        match *self {}
    }

    fn process_state<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        match *self {}
    }

    fn spawn(&self, _: impl Future<Output = ()> + Send + 'static) -> Task {
        match *self {}
    }

    async fn stream(&self, _: &str, _: u16) -> io::Result<DuplexStream> {
        match *self {}
    }

    async fn connect(&self, _: &NodeName) -> RedisResult<MultiplexedConnection> {
        match *self {}
    }

    async fn listen(&self, _: &NodeName) -> RedisResult<(MultiplexedConnection, Pushes)> {
        match *self {}
    }
}
