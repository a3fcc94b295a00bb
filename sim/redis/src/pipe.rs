//! A connection's two buffers around its byte stream: what was received and not yet parsed, what was not yet sent.
//!
//! Both are reused for the life of the connection. Reading and writing are polled, so that a caller can wait for either
//! and for something else at once.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};

use crate::resp::RequestBuffer;

/// What one read asks for at least. Lock clients send tens of bytes; a full buffer doubles.
const READ_BYTES: usize = 1 << 10;

/// A buffer that grew beyond this for one large reply is given back.
const KEPT_OUT_BYTES: usize = 1 << 20;

/// A byte stream with its buffers.
#[derive(Debug)]
pub(crate) struct Pipe<S> {
    stream: S,
    /// Received, for the parser.
    pub(crate) input: RequestBuffer,
    /// To be sent: append only.
    pub(crate) out: Vec<u8>,
    sent: usize,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Pipe<S> {
    pub(crate) fn new(stream: S) -> Pipe<S> {
        Pipe { stream, input: RequestBuffer::new(), out: Vec::new(), sent: 0 }
    }

    /// Reads what is there; `Ok(0)` is the end of the stream.
    pub(crate) fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let tail = self.input.tail();
        if tail.capacity() - tail.len() < READ_BYTES / 2 {
            tail.reserve(READ_BYTES.max(tail.len()));
        }
        // A `read_buf` future has no state of its own: polling a fresh one goes on where the last one stopped.
        pin!(self.stream.read_buf(tail)).poll(cx)
    }

    /// Sends `out`; ready when all of it is gone.
    pub(crate) fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(rest @ [_, ..]) = self.out.get(self.sent..) {
            match ready!(Pin::new(&mut self.stream).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => self.sent += written,
            }
        }
        if self.sent > 0 {
            self.out.clear();
            self.out.shrink_to(KEPT_OUT_BYTES);
            self.sent = 0;
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    /// Forgets what is sent of `out`, of which the rest waits, where that is worth moving the rest.
    pub(crate) fn forget_sent(&mut self) {
        if self.sent >= self.out.len() / 2 {
            self.out.drain(..std::mem::take(&mut self.sent));
        }
    }

    /// Bytes its buffers have room for, used or not.
    pub(crate) fn memory(&self) -> usize {
        self.input.memory() + self.out.capacity()
    }

    /// How many bytes wait to be sent.
    pub(crate) fn unsent_bytes(&self) -> u64 {
        (self.out.len() - self.sent) as u64
    }

    /// Whether nothing waits to be sent.
    pub(crate) fn is_sent(&self) -> bool {
        self.out.is_empty()
    }

    /// Ends the sending side in order.
    pub(crate) async fn shut_down(&mut self) {
        // The other end may be gone already: nothing is left to tell it.
        let _ = poll_fn(|cx| Pin::new(&mut self.stream).poll_shutdown(cx)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_held_no_more() {
        let (near, _far) = tokio::io::duplex(6);
        let mut pipe = Pipe::new(near);
        pipe.out.extend_from_slice(b"0123456789");
        let mut cx = Context::from_waker(std::task::Waker::noop());
        assert!(pipe.poll_send(&mut cx).is_pending(), "nobody reads");
        pipe.forget_sent();
        assert_eq!((pipe.out.as_slice(), pipe.unsent_bytes()), (b"6789".as_slice(), 4));
        assert!(pipe.poll_send(&mut cx).is_pending());
        assert_eq!(pipe.unsent_bytes(), 4);
    }
}
