//! A connection's end and an open port, behind the handles of [`crate::stream`].
//!
//! They move nothing while their host is stopped, and nothing ever again once their process died.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::connection::{ConnectionKey, Side, Transfer};
use super::handshake::{ConnectError, Listener};
use crate::kernel_host::KernelHost;
use crate::trace::{ConnectionId, End, HostId};

/// One end of a connection. Dropping it closes the connection.
pub(crate) struct KernelStream {
    host: KernelHost,
    key: ConnectionKey,
    side: Side,
    peer: HostId,
    connection: ConnectionId,
}

impl KernelStream {
    /// The connection, by the number that both ends and the trace know it by.
    pub(crate) fn connection(&self) -> ConnectionId {
        self.connection
    }

    /// The host at the other end.
    pub(crate) fn peer(&self) -> HostId {
        self.peer
    }

    /// Gives the connection up once something has been repeated for so long (`TCP_USER_TIMEOUT`). What was sent before
    /// keeps the timeout that it had.
    pub(crate) fn set_user_timeout(&self, timeout: Duration) {
        self.host.kernel().enter(|state| state.end_of(self.key, self.side).user_timeout = timeout);
    }

    pub(crate) async fn connect(
        host: KernelHost,
        to: HostId,
        port: u16,
    ) -> Result<KernelStream, ConnectError> {
        poll_fn(|cx| if host.holds_back(cx) { Poll::Pending } else { Poll::Ready(()) }).await;
        let (key, connection) = host.kernel().enter(|state| {
            let key = state.request(host.process(), to, port);
            (key, state.net.connections[key].id)
        });
        // From here on dropping the stream gives the request up.
        let stream = KernelStream { host, key, side: Side::Opener, peer: to, connection };
        poll_fn(|cx| stream.poll_established(cx)).await?;
        Ok(stream)
    }

    fn poll_established(&self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        if self.host.holds_back(cx) {
            return Poll::Pending;
        }
        self.host.kernel().enter(|state| {
            let established = state.net.connections[self.key].request.established;
            let end = state.end_of(self.key, self.side);
            match end.ended {
                Some(End::Refused) => Poll::Ready(Err(ConnectError::Refused)),
                Some(End::TimedOut) => Poll::Ready(Err(ConnectError::TimedOut)),
                Some(End::Reset) => Poll::Ready(Err(ConnectError::Reset)),
                Some(End::Finished) | None if established => Poll::Ready(Ok(())),
                Some(End::Finished) | None => {
                    end.reader = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
    }

    fn transfer(
        &self,
        cx: &Context<'_>,
        step: impl FnOnce(&mut crate::kernel::State) -> Transfer,
    ) -> Poll<io::Result<usize>> {
        let process = self.host.process();
        let transfer = self
            .host
            .kernel()
            .enter(|state| if state.holds_back(process, cx) { Transfer::Wait } else { step(state) });
        match transfer {
            Transfer::Done(count) => Poll::Ready(Ok(count)),
            Transfer::Wait => Poll::Pending,
            Transfer::Broken(how) => Poll::Ready(Err(end_error(how))),
        }
    }
}

fn end_error(how: End) -> io::Error {
    match how {
        End::Refused | End::Reset => {
            io::Error::new(io::ErrorKind::ConnectionReset, "connection reset by peer")
        }
        End::TimedOut => {
            io::Error::new(io::ErrorKind::TimedOut, "nothing was acknowledged for the user timeout")
        }
        End::Finished => io::Error::new(io::ErrorKind::BrokenPipe, "this side already finished sending"),
    }
}

impl AsyncRead for KernelStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.transfer(cx, |state| state.receive(self.key, self.side, into, cx.waker())).map_ok(|_| ())
    }
}

impl AsyncWrite for KernelStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.transfer(cx, |state| state.send(self.key, self.side, bytes, cx.waker()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let finish = |state: &mut crate::kernel::State| {
            state.finish(self.key, self.side);
            Transfer::Done(0)
        };
        self.transfer(cx, finish).map_ok(|_| ())
    }
}

impl Drop for KernelStream {
    fn drop(&mut self) {
        let process = self.host.process();
        self.host.kernel().enter(|state| {
            // A dead process's sockets were closed by its machine, and their slots may already be another's.
            if state.host(process.host).life.incarnation() == process.incarnation {
                state.close(self.key, self.side);
            }
        });
    }
}

/// An open port. Dropping it closes the port; connections already taken stay.
pub(crate) struct KernelIncoming {
    host: KernelHost,
    port: u16,
}

impl KernelIncoming {
    pub(crate) fn open(host: KernelHost, port: u16) -> KernelIncoming {
        host.kernel().enter(|state| {
            let state = state.host_mut(host.id());
            if state.life.incarnation() == host.process().incarnation {
                assert!(state.listeners.iter().all(|l| l.port != port), "port {port} is already open");
                state.listeners.push(Listener { port, waiting: Default::default(), waker: None });
            }
        });
        KernelIncoming { host, port }
    }

    /// The next connection.
    pub(crate) async fn accept(&mut self) -> KernelStream {
        let (key, peer, connection) = poll_fn(|cx| self.poll_waiting(cx)).await;
        KernelStream { host: self.host.clone(), key, side: Side::Accepter, peer, connection }
    }

    fn poll_waiting(&self, cx: &Context<'_>) -> Poll<(ConnectionKey, HostId, ConnectionId)> {
        if self.host.holds_back(cx) {
            return Poll::Pending;
        }
        self.host.kernel().enter(|state| {
            let listeners = &mut state.host_mut(self.host.id()).listeners;
            let listener = listeners.iter_mut().find(|l| l.port == self.port).expect("open until dropped");
            let Some(key) = listener.waiting.pop_front() else {
                listener.waker = Some(cx.waker().clone());
                return Poll::Pending;
            };
            let peer = state.end_of(key, Side::Opener).process.host;
            Poll::Ready((key, peer, state.net.connections[key].id))
        })
    }
}

impl Drop for KernelIncoming {
    fn drop(&mut self) {
        let (process, port) = (self.host.process(), self.port);
        self.host.kernel().enter(|state| {
            let host = state.host_mut(process.host);
            if host.life.incarnation() != process.incarnation {
                return;
            }
            let Some(at) = host.listeners.iter().position(|l| l.port == port) else { return };
            let abandoned = host.listeners.remove(at).waiting;
            state.abandon(abandoned);
        });
    }
}
