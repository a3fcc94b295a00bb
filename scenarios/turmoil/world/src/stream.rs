//! A connection's end and an open port: turmoil's, behind the gate of their host.
//!
//! They move nothing while their host is stopped. What a task writes leaves its machine at once, so that a fault that
//! waits for it strikes before the task goes on.

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use doublehold_sim::{
    BoxFuture, ConnectError, ConnectionId, Host, HostId, HostLike, IncomingLike, StreamLike,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use turmoil_net::shim::tokio::net::{TcpListener, TcpStream};

use crate::host::TurmoilHost;

/// The wait for a connection, as long as Linux waits with six repetitions. turmoil's TCP repeats by a count that is
/// never reached here.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(127);

/// One end of a connection in a [`TurmoilWorld`](crate::TurmoilWorld). Dropping it closes the connection.
pub(crate) struct TurmoilStream {
    host: TurmoilHost,
    /// `None` only while it is dropped.
    tcp: Option<TcpStream>,
    peer: HostId,
    connection: ConnectionId,
}

impl TurmoilStream {
    pub(crate) async fn connect(
        host: TurmoilHost,
        to: HostId,
        port: u16,
    ) -> Result<TurmoilStream, ConnectError> {
        poll_fn(|cx| if host.holds_back(cx) { Poll::Pending } else { Poll::Ready(()) }).await;
        let address = SocketAddr::new(host.shared.borrow().net.address(to), port);
        let until = host.clocks().monotonic.after(CONNECT_TIMEOUT);
        let connecting = gate_future(&host, async move { TcpStream::connect(address).await });
        let tcp = match Host::of_other(host.clone()).race(connecting, until).await {
            Ok(Ok(tcp)) => tcp,
            Ok(Err(error)) => {
                return Err(match error.kind() {
                    io::ErrorKind::ConnectionRefused => ConnectError::Refused,
                    io::ErrorKind::TimedOut => ConnectError::TimedOut,
                    _ => ConnectError::Reset,
                });
            }
            Err(_) => return Err(ConnectError::TimedOut),
        };
        let local = tcp.local_addr().expect("a connected socket has an address");
        Ok(TurmoilStream::new(host, tcp, to, local))
    }

    fn new(host: TurmoilHost, tcp: TcpStream, peer: HostId, opener: SocketAddr) -> TurmoilStream {
        let connection = host.shared.borrow().net.connection_of(opener);
        TurmoilStream { host, tcp: Some(tcp), peer, connection }
    }

    fn tcp(&mut self) -> Pin<&mut TcpStream> {
        Pin::new(self.tcp.as_mut().expect("there until it is dropped"))
    }
}

/// A future that uses the network, and that waits while its host is stopped.
fn gate_future<F: Future + Send>(host: &TurmoilHost, future: F) -> impl Future<Output = F::Output> + Send {
    let (host, mut future) = (host.clone(), Box::pin(future));
    poll_fn(move |cx| {
        if host.holds_back(cx) {
            return Poll::Pending;
        }
        let polled = future.as_mut().poll(cx);
        host.flush();
        polled
    })
}

impl StreamLike for TurmoilStream {
    fn connection(&self) -> ConnectionId {
        self.connection
    }

    fn peer(&self) -> HostId {
        self.peer
    }
}

impl AsyncRead for TurmoilStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.host.holds_back(cx) {
            return Poll::Pending;
        }
        self.tcp().poll_read(cx, into)
    }
}

impl AsyncWrite for TurmoilStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.host.holds_back(cx) {
            return Poll::Pending;
        }
        let written = self.tcp().poll_write(cx, bytes);
        self.host.flush();
        written
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.host.holds_back(cx) {
            return Poll::Pending;
        }
        let shut = self.tcp().poll_shutdown(cx);
        self.host.flush();
        shut
    }
}

impl Drop for TurmoilStream {
    fn drop(&mut self) {
        self.host.shared.borrow_mut().net.closes(self.connection, self.host.host);
        self.host.close(self.tcp.take());
    }
}

/// An open port in a [`TurmoilWorld`](crate::TurmoilWorld). Dropping it closes the port.
pub(crate) struct TurmoilIncoming {
    host: TurmoilHost,
    /// `None` only while it is dropped.
    listener: Option<TcpListener>,
    /// As others ask for it, and as it is in turmoil's network.
    ports: (u16, u16),
}

impl TurmoilIncoming {
    /// turmoil's TCP gives no port twice while a connection of the process before lingers on it, where a server on
    /// Linux says `SO_REUSEADDR`: another port then takes its place, and packets are sent there.
    pub(crate) fn open(host: TurmoilHost, port: u16) -> TurmoilIncoming {
        let listener = bind(port).or_else(|_| bind(0)).expect("there is a port left");
        let inner = listener.local_addr().expect("an open port has a number").port();
        host.shared.borrow_mut().net.listens(host.host, port, inner);
        TurmoilIncoming { host, listener: Some(listener), ports: (port, inner) }
    }
}

fn bind(port: u16) -> io::Result<TcpListener> {
    let binding = pin!(TcpListener::bind(SocketAddr::from(([0, 0, 0, 0], port))));
    match binding.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(bound) => bound,
        Poll::Pending => unreachable!("binding waits for nothing"),
    }
}

impl IncomingLike for TurmoilIncoming {
    fn accept(&mut self) -> BoxFuture<'_, Box<dyn StreamLike>> {
        let (host, listener) = (&self.host, self.listener.as_ref().expect("there until it is dropped"));
        Box::pin(poll_fn(|cx| {
            if host.holds_back(cx) {
                return Poll::Pending;
            }
            let (tcp, opener) = ready!(listener.poll_accept(cx)).expect("an open port accepts");
            let peer = host.shared.borrow().net.host_at(opener.ip());
            Poll::Ready(Box::new(TurmoilStream::new(host.clone(), tcp, peer, opener)) as Box<dyn StreamLike>)
        }))
    }
}

impl Drop for TurmoilIncoming {
    fn drop(&mut self) {
        let (port, inner) = self.ports;
        self.host.shared.borrow_mut().net.listens_no_more(self.host.host, port, inner);
        self.host.close(self.listener.take());
    }
}
