//! Which lock call sent which command. The answer goes beside the wire: no byte of it reaches a node.
//!
//! Between a call and the network stands the driver. It queues requests, leaves out those that were given up before
//! they were written, and writes when its own task runs, which may be when its client is busy with another call:
//! nobody can tell from outside which request a written command was. So each request carries its call *through* the
//! driver, as a last argument, which is taken out again where the driver writes to the network. Whatever the driver
//! did, what it writes says which call it is of; and the n-th request written to a connection is the n-th that its
//! node executes.
//!
//! Assumes that a driver writes a transaction in one piece: MULTI and EXEC are its own, and EXEC belongs to the call
//! of the command before it. What it sends to open a connection belongs to no call.
//!
//! Does not hide that labels take room: a driver whose network takes nothing stops taking requests a little earlier.
//!
//! Decision: "Each request carries its lock call through the driver" (docs/decisions/locks.md).

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use doublehold_history::{CallId, ClientId};
use doublehold_sim::SimStream;
use doublehold_sim_redis::resp::RequestBuffer;
use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{Cmd, Pipeline, RedisFuture, Value};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::run::keys::attribution::ConnectionNumber;
use crate::run::recorder::Recorder;

/// A connection whose requests carry the call they were made in.
#[derive(Clone)]
pub(crate) struct CallConnection {
    driver: MultiplexedConnection,
    client: ClientId,
    recorder: Recorder,
    ended: Ended,
}

impl CallConnection {
    /// `driver` writes to a [`CallStream`], and somebody says when it has `ended`.
    pub(crate) fn new(
        driver: MultiplexedConnection,
        client: ClientId,
        recorder: Recorder,
        ended: Ended,
    ) -> CallConnection {
        CallConnection { driver, client, recorder, ended }
    }

    /// Waits until its driver has ended.
    pub(crate) async fn wait_closed(&self) {
        self.ended.wait().await;
    }

    fn call(&self) -> Option<CallId> {
        self.recorder.call_of(self.client)
    }
}

/// Whether a driver has ended, and who waits for that.
#[derive(Clone, Default)]
pub(crate) struct Ended(Arc<Mutex<(bool, Vec<Waker>)>>);

impl Ended {
    /// The driver, which says it when it has ended.
    pub(crate) async fn drive(self, driver: impl Future<Output = ()>) {
        driver.await;
        let mut state = self.lock();
        state.0 = true;
        let waiting = std::mem::take(&mut state.1);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    async fn wait(&self) {
        poll_fn(|cx| {
            let mut state = self.lock();
            if state.0 {
                return Poll::Ready(());
            }
            state.1.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn lock(&self) -> MutexGuard<'_, (bool, Vec<Waker>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionLike for CallConnection {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        let labelled = label_command(cmd, self.call());
        Box::pin(async move { self.driver.send_packed_command(&labelled).await })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        let call = self.call();
        let mut copy = Pipeline::with_capacity(pipeline.len());
        if pipeline.is_transaction() {
            copy.atomic();
        }
        for cmd in pipeline.cmd_iter() {
            copy.add_command(label_command(cmd, call));
        }
        Box::pin(async move { self.driver.send_packed_commands(&copy, offset, count).await })
    }

    fn get_db(&self) -> i64 {
        self.driver.get_db()
    }
}

/// Begins a last argument that names a call. No lock sends such bytes.
const LABEL: [u8; 6] = *b"\0call\0";
const LABEL_SIZE: usize = LABEL.len() + size_of::<u64>();
/// A label as RESP writes it: `$14`, a line end, the label, a line end.
const LABEL_ON_WIRE: usize = 3 + 2 + LABEL_SIZE + 2;

fn label_command(cmd: &Cmd, call: Option<CallId>) -> Cmd {
    let mut copy = cmd.clone();
    if let Some(CallId(id)) = call {
        let mut label = [0; LABEL_SIZE];
        label[..LABEL.len()].copy_from_slice(&LABEL);
        label[LABEL.len()..].copy_from_slice(&id.to_le_bytes());
        copy.arg(&label);
    }
    copy
}

fn call_in(argument: &[u8]) -> Option<CallId> {
    let id = argument.strip_prefix(&LABEL)?.try_into().ok()?;
    Some(CallId(u64::from_le_bytes(id)))
}

/// A request as the driver wrote it and as it goes to the network.
struct Written {
    call: Option<CallId>,
    /// Its bytes with the label that the driver has not been told are taken.
    labelled: usize,
    /// Its bytes without that the network has not taken.
    plain: usize,
}

/// Takes the labels out of what a driver writes.
#[derive(Default)]
struct Sieve {
    requests: RequestBuffer,
    /// The call of the last request.
    last: Option<CallId>,
}

impl Sieve {
    /// Takes what the driver wrote. Appends whole requests without their labels to `out`, and tells of each.
    fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>, mut tell: impl FnMut(Written)) -> io::Result<()> {
        self.requests.tail().extend_from_slice(bytes);
        loop {
            let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
            let Some(args) = self.requests.next_request().map_err(invalid)? else { return Ok(()) };
            let start = out.len();
            let (count, is_exec) = (args.len(), args.at(0).eq_ignore_ascii_case(b"EXEC"));
            let label = args.get(count - 1).and_then(call_in);
            let raw = self.requests.last_raw();
            match label {
                None => out.extend_from_slice(raw),
                Some(_) => {
                    let header = raw.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
                    out.push(b'*');
                    out.extend_from_slice(itoa::Buffer::new().format(count - 1).as_bytes());
                    out.extend_from_slice(b"\r\n");
                    out.extend_from_slice(&raw[header..raw.len() - LABEL_ON_WIRE]);
                }
            }
            self.last = if is_exec { label.or(self.last) } else { label };
            tell(Written { call: self.last, labelled: raw.len(), plain: out.len() - start });
        }
    }
}

/// The network's end of a driver: takes the labels out and tells the recorder which call each request is of.
///
/// The driver is told that bytes are taken when the network has taken them, so that it feels the network's
/// back-pressure.
pub(crate) struct CallStream {
    network: SimStream,
    recorder: Recorder,
    /// Whose requests these are, if they carry no labels: of the call whose code runs on this client while they are
    /// written.
    unlabelled: Option<ClientId>,
    sieve: Sieve,
    /// Without labels, and not yet taken by the network.
    unsent: Vec<u8>,
    /// The requests these bytes are of.
    requests: VecDeque<Written>,
    /// How many of the driver's bytes have been looked at and will be offered again, for want of room in the network.
    known: usize,
    /// The calls of the requests that are looked at: empty in between, and kept for its memory.
    calls: Vec<Option<CallId>>,
}

impl CallStream {
    /// For a driver whose requests are labelled.
    pub(crate) fn new(network: SimStream, recorder: Recorder) -> CallStream {
        let (unsent, requests) = (Vec::new(), VecDeque::new());
        let (sieve, calls) = (Sieve::default(), Vec::new());
        CallStream { network, recorder, unlabelled: None, sieve, unsent, requests, known: 0, calls }
    }

    /// For a driver that is in the hands of somebody's own code, which labels nothing.
    pub(crate) fn new_unlabelled(network: SimStream, recorder: Recorder, client: ClientId) -> CallStream {
        CallStream { unlabelled: Some(client), ..CallStream::new(network, recorder) }
    }

    fn look_at(&mut self, bytes: &[u8]) -> io::Result<()> {
        let before = self.unsent.len();
        let current = self.unlabelled.and_then(|client| self.recorder.running_call(client));
        self.sieve.take(bytes, &mut self.unsent, |written| {
            self.calls.push(written.call.or(current));
            self.requests.push_back(written);
        })?;
        self.known += bytes.len();
        let plain = self.unsent.len() - before;
        self.recorder.record_sent(ConnectionNumber(self.network.connection().0), &self.calls, plain);
        self.calls.clear();
        Ok(())
    }

    /// Sends what the driver was told is taken and the network has yet to take.
    fn poll_unsent(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.unsent.is_empty() {
            let sent = ready!(Pin::new(&mut self.network).poll_write(cx, &self.unsent))?;
            self.consume_plain(sent);
        }
        Poll::Ready(Ok(()))
    }

    /// The network took so many bytes: how many of the driver's are these?
    fn consume_plain(&mut self, mut plain: usize) -> usize {
        self.unsent.drain(..plain);
        let mut labelled = 0;
        while let Some(request) = self.requests.front_mut().filter(|_| plain > 0) {
            let part = plain.min(request.plain);
            plain -= part;
            request.plain -= part;
            // The label goes with the last byte. It is longer than what its count takes from the header.
            let with = if request.plain == 0 { request.labelled } else { part };
            request.labelled -= with;
            labelled += with;
            if request.plain == 0 {
                self.requests.pop_front();
            }
        }
        let labelled = labelled.min(self.known);
        self.known -= labelled;
        labelled
    }
}

impl AsyncWrite for CallStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        this.look_at(bytes.get(this.known..).unwrap_or_default())?;
        if this.unsent.is_empty() {
            // A request that goes on in the next write.
            this.known = 0;
            return Poll::Ready(Ok(bytes.len()));
        }
        let sent = ready!(Pin::new(&mut this.network).poll_write(cx, &this.unsent))?;
        Poll::Ready(Ok(this.consume_plain(sent)))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_unsent(cx))?;
        Pin::new(&mut self.network).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_unsent(cx))?;
        Pin::new(&mut self.network).poll_shutdown(cx)
    }
}

impl AsyncRead for CallStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.network).poll_read(cx, into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_taken_out_wherever_the_bytes_are_cut_and_the_rest_is_as_it_was() {
        let commands = [
            (redis::cmd("PING"), None),
            (redis::cmd("SET").arg("stock").arg(b"\r\n\0token").to_owned(), Some(CallId(7))),
            (redis::cmd("DEL").arg("stock").to_owned(), Some(CallId(u64::MAX))),
        ];
        let plain: Vec<u8> = commands.iter().flat_map(|(cmd, _)| cmd.get_packed_command()).collect();
        let packed: Vec<u8> =
            commands.iter().flat_map(|(cmd, call)| label_command(cmd, *call).get_packed_command()).collect();
        for cut in 0..=packed.len() {
            let (mut sieve, mut out, mut calls) = (Sieve::default(), Vec::new(), Vec::new());
            for piece in [&packed[..cut], &packed[cut..]] {
                sieve.take(piece, &mut out, |it| calls.push(it.call)).expect("it is RESP");
            }
            assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&plain), "cut at {cut}");
            assert_eq!(calls, commands.each_ref().map(|(_, call)| *call), "cut at {cut}");
        }
    }

    #[test]
    fn the_exec_that_a_driver_adds_belongs_to_the_call_of_its_transaction() {
        let mut pipeline = redis::pipe();
        pipeline.atomic().add_command(label_command(redis::cmd("DEL").arg("stock"), Some(CallId(3))));
        let (mut sieve, mut out, mut calls) = (Sieve::default(), Vec::new(), Vec::new());
        sieve.take(&pipeline.get_packed_pipeline(), &mut out, |it| calls.push(it.call)).expect("it is RESP");
        assert_eq!(calls, [None, Some(CallId(3)), Some(CallId(3))]);
    }

    #[test]
    fn what_is_no_request_ends_the_connection() {
        let written = Sieve::default().take(b"*x\r\n", &mut Vec::new(), |_| {});
        assert_eq!(written.expect_err("no request").kind(), io::ErrorKind::InvalidData);
    }
}
