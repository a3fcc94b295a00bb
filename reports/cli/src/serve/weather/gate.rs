//! A gate: while it is closed nothing passes. A stopped host and a cut link are one each.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use doublehold_sim_redis::wait::Wakers;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A gate that any thread may open and close. It is open at first.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    is_closed: AtomicBool,
    waiting: Mutex<Wakers>,
}

impl Gate {
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }

    pub(crate) fn open(&self) {
        self.is_closed.store(false, Ordering::Release);
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).wake();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Ends when the gate is open.
    pub(crate) async fn opened(&self) {
        poll_fn(|cx| self.poll_open(cx)).await;
    }

    fn poll_open(&self, cx: &Context<'_>) -> Poll<()> {
        if !self.is_closed() {
            return Poll::Ready(());
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever opens it wakes those who wait under the same lock, so that none is left behind.
        if !self.is_closed() {
            return Poll::Ready(());
        }
        waiting.register(cx);
        Poll::Pending
    }
}

/// The two directions of a connection, as one of its ends sees them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gates {
    pub(crate) inward: Arc<Gate>,
    pub(crate) outward: Arc<Gate>,
    /// True once the other end has closed it.
    is_left: Arc<AtomicBool>,
}

impl Gates {
    pub(crate) fn note_left(&self) {
        self.is_left.store(true, Ordering::Release);
    }

    pub(crate) fn is_left(&self) -> bool {
        self.is_left.load(Ordering::Acquire)
    }
}

/// A byte stream behind gates: while one is closed, nothing is read, or nothing written.
///
/// What has been written before is on its way and arrives, as far as the system's buffers take it.
#[derive(Debug)]
pub(crate) struct Gated<S> {
    stream: S,
    link: Option<Gates>,
    /// That of the host at this end, where its stop stops the stream.
    stop: Option<Arc<Gate>>,
}

impl<S> Gated<S> {
    pub(crate) fn new(stream: S, link: Option<Gates>, stop: Option<Arc<Gate>>) -> Gated<S> {
        Gated { stream, link, stop }
    }

    fn poll_open(&self, direction: fn(&Gates) -> &Arc<Gate>, cx: &Context<'_>) -> Poll<()> {
        for gate in self.link.iter().map(direction).chain(&self.stop) {
            ready!(gate.poll_open(cx));
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Gated<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_open(|link| &link.inward, cx));
        let before = buf.filled().len();
        let read = ready!(Pin::new(&mut self.stream).poll_read(cx, buf));
        if (read.is_err() || buf.filled().len() == before)
            && let Some(link) = &self.link
        {
            link.note_left();
        }
        Poll::Ready(read)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gated<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_open(|link| &link.outward, cx));
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
