//! Connections as code on a host holds them: [`SimStream`] and [`Incoming`], of the kernel or of another simulator.
//!
//! [`SimStream`] implements tokio's `AsyncRead` and `AsyncWrite`, so real client drivers run on it unchanged.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::either::{Either, for_both};
use crate::host_like::{IncomingLike, StreamLike};
use crate::net::{KernelIncoming, KernelStream};
use crate::trace::{ConnectionId, HostId};

/// One end of a connection: an ordered byte stream. Dropping it closes the connection.
pub struct SimStream(Either<KernelStream, Box<dyn StreamLike>>);

impl SimStream {
    pub(crate) fn of_kernel(stream: KernelStream) -> SimStream {
        SimStream(Either::Kernel(stream))
    }

    pub(crate) fn of_other(stream: Box<dyn StreamLike>) -> SimStream {
        SimStream(Either::Other(stream))
    }

    /// The connection, by the number that both ends and the trace know it by.
    pub fn connection(&self) -> ConnectionId {
        for_both!(&self.0, stream => stream.connection())
    }

    /// The host at the other end.
    pub fn peer(&self) -> HostId {
        for_both!(&self.0, stream => stream.peer())
    }

    /// Gives the connection up once something has been repeated for so long (`TCP_USER_TIMEOUT`). Without it that is
    /// about 924 s, as on Linux.
    pub fn set_user_timeout(&self, timeout: Duration) {
        for_both!(&self.0, stream => stream.set_user_timeout(timeout));
    }
}

impl AsyncRead for SimStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        for_both!(&mut self.0, stream => Pin::new(stream).poll_read(cx, into))
    }
}

impl AsyncWrite for SimStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        for_both!(&mut self.0, stream => Pin::new(stream).poll_write(cx, bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        for_both!(&mut self.0, stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        for_both!(&mut self.0, stream => Pin::new(stream).poll_shutdown(cx))
    }
}

/// An open port. Dropping it closes the port; connections already taken stay.
pub struct Incoming(Either<KernelIncoming, Box<dyn IncomingLike>>);

impl Incoming {
    pub(crate) fn of_kernel(incoming: KernelIncoming) -> Incoming {
        Incoming(Either::Kernel(incoming))
    }

    pub(crate) fn of_other(incoming: Box<dyn IncomingLike>) -> Incoming {
        Incoming(Either::Other(incoming))
    }

    /// The next connection.
    pub async fn accept(&mut self) -> SimStream {
        match &mut self.0 {
            Either::Kernel(incoming) => SimStream::of_kernel(incoming.accept().await),
            Either::Other(incoming) => SimStream::of_other(incoming.accept().await),
        }
    }
}
