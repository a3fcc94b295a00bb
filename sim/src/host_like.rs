//! The part of the seam that hosts and connections of another simulator implement.
//!
//! [`Host`](crate::Host), [`SimStream`](crate::SimStream) and [`Incoming`](crate::Incoming) hold them as objects.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::clock::Readings;
use crate::delay::DelayLaw;
use crate::net::ConnectError;
use crate::time::{BootTime, MonotonicTime, WallTime};
use crate::trace::{ConnectionId, HostId};

/// A future, as an object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A host of another simulator than the kernel. Its methods do what those of the same name do for a
/// [`Host`](crate::Host).
#[expect(missing_docs, reason = "they are those of `Host`")]
pub trait HostLike: Send + Sync {
    fn id(&self) -> HostId;
    fn name(&self) -> String;
    fn restarts(&self) -> u32;
    fn clocks(&self) -> Readings;
    fn wall(&self) -> BoxFuture<'_, WallTime>;
    fn monotonic(&self) -> BoxFuture<'_, MonotonicTime>;
    fn boot(&self) -> BoxFuture<'_, BootTime>;
    fn mark(&self, label: Cow<'static, str>, about: Option<HostId>) -> BoxFuture<'_, ()>;
    fn note(&self, label: Cow<'static, str>, about: Option<HostId>);
    fn halt(&self);
    fn sleep_until(&self, until: MonotonicTime) -> BoxFuture<'static, ()>;
    fn wall_reaches(&self, until: WallTime) -> BoxFuture<'static, ()>;
    fn spawn(&self, task: BoxFuture<'static, ()>);
    fn random(&self, bytes: &mut [u8]);
    fn draw(&self, law: &DelayLaw) -> Duration;
    fn slowness(&self) -> Duration;
    fn connect(&self, to: HostId, port: u16) -> BoxFuture<'_, Result<Box<dyn StreamLike>, ConnectError>>;
    fn listen(&self, port: u16) -> Box<dyn IncomingLike>;
    fn append(&self, file: &str, bytes: &[u8]);
    fn read_file(&self, file: &str) -> Vec<u8>;
    fn truncate(&self, file: &str, len: usize);
    fn replace(&self, file: &str, bytes: &[u8]);
    fn fsync<'a>(&'a self, file: &'a str) -> BoxFuture<'a, ()>;
    fn signal(&self) -> BoxFuture<'_, String>;
}

/// One end of a connection: an ordered byte stream, as tokio's traits have it. Dropping it closes the connection.
pub trait StreamLike: AsyncRead + AsyncWrite + Unpin + Send + Sync {
    /// The connection, by the number that both ends and the trace know it by.
    fn connection(&self) -> ConnectionId;

    /// The host at the other end.
    fn peer(&self) -> HostId;

    /// Gives the connection up once something has been repeated for so long. A world that cannot leaves it as it is.
    fn set_user_timeout(&self, timeout: Duration) {
        let _ = timeout;
    }
}

/// An open port. Dropping it closes the port.
pub trait IncomingLike: Send {
    /// The next connection.
    fn accept(&mut self) -> BoxFuture<'_, Box<dyn StreamLike>>;
}
