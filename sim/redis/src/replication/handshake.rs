//! The replica's side of the handshake: PING, REPLCONF, PSYNC, line by line, each within `repl-timeout` of silence.

use std::future::{Future, poll_fn};
use std::io;

use crate::core::READS_COMMANDS;
use crate::machine::Machine;
use crate::pipe::Pipe;
use crate::shared::Shared;
use crate::wait::{First, first};

/// No reply of the handshake is longer; Redis reads such lines into a buffer of 256 bytes.
const LINE_LIMIT_BYTES: usize = 1024;

/// The largest data set that is taken from a master by a node without `maxmemory`.
const PAYLOAD_LIMIT_BYTES: u64 = 1 << 30;

/// What the master answered to PSYNC.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// The data set follows, then the history from `offset` on.
    StartOver { id: String, offset: u64 },
    /// The history goes on where the replica stopped, perhaps under a new id.
    GoOn { id: Option<String> },
}

/// A connection to a master that does not stream yet.
pub(super) struct Handshake<'a, M: Machine> {
    shared: &'a Shared<M>,
    pub(super) pipe: Pipe<M::Stream>,
}

impl<'a, M: Machine> Handshake<'a, M> {
    /// Connects to the master.
    pub(super) async fn connect(
        shared: &'a Shared<M>,
        host: &str,
        port: u16,
    ) -> io::Result<Handshake<'a, M>> {
        let stream = unless_silent(shared, shared.machine.connect(host, port)).await?;
        Ok(Handshake { shared, pipe: Pipe::new(stream) })
    }

    /// Introduces this node and asks for the history after `have` (its id and offset), or for everything.
    pub(super) async fn open(&mut self, have: Option<(String, u64)>) -> io::Result<Opening> {
        let pong = self.ask(&["PING"]).await?;
        if pong.starts_with('-') {
            return Err(unexpected_reply(&pong));
        }
        // Redis goes on when the master does not know these.
        let port = self.shared.config.core.port.to_string();
        self.ask(&["REPLCONF", "listening-port", &port]).await?;
        if let Some(address) = &self.shared.config.announced_address {
            self.ask(&["REPLCONF", "ip-address", address]).await?;
        }
        self.ask(&["REPLCONF", "capa", "eof", "capa", "psync2", "capa", READS_COMMANDS]).await?;
        let reply = match &have {
            Some((id, offset)) => self.ask(&["PSYNC", id, &(offset + 1).to_string()]).await?,
            None => self.ask(&["PSYNC", "?", "-1"]).await?,
        };
        let words: Vec<&str> = reply.split(' ').collect();
        match (words.as_slice(), have) {
            (["+FULLRESYNC", id, offset], _) => {
                let offset = offset.parse().map_err(|_| unexpected_reply(&reply))?;
                Ok(Opening::StartOver { id: (*id).to_owned(), offset })
            }
            (["+CONTINUE"], Some(_)) => Ok(Opening::GoOn { id: None }),
            (["+CONTINUE", id], Some(_)) => Ok(Opening::GoOn { id: Some((*id).to_owned()) }),
            _ => Err(unexpected_reply(&reply)),
        }
    }

    /// The data set that follows `+FULLRESYNC`.
    pub(super) async fn payload(&mut self) -> io::Result<Vec<u8>> {
        let head = self.line().await?;
        let len: usize =
            head.strip_prefix('$').and_then(|len| len.parse().ok()).ok_or_else(|| unexpected_reply(&head))?;
        if len as u64 > self.payload_limit() {
            return Err(unexpected_reply(&format!("{head}, more than this node may hold")));
        }
        loop {
            if let Some(payload) = self.pipe.input.take_raw(len) {
                return Ok(payload);
            }
            self.read().await?;
        }
    }

    /// A data set is received whole before it takes the place of the old one.
    fn payload_limit(&self) -> u64 {
        match self.shared.lock().core.config().limits.max_memory {
            0 => PAYLOAD_LIMIT_BYTES,
            limit => limit,
        }
    }

    async fn ask(&mut self, words: &[&str]) -> io::Result<String> {
        super::command(&mut self.pipe.out, words);
        let pipe = &mut self.pipe;
        unless_silent(self.shared, poll_fn(|cx| pipe.poll_send(cx))).await?;
        self.line().await
    }

    /// The next line that is not empty: a master sends empty ones to say that it is still busy.
    async fn line(&mut self) -> io::Result<String> {
        loop {
            match self.pipe.input.take_line() {
                Some(line) if line.is_empty() => {}
                Some(line) => return Ok(String::from_utf8_lossy(&line).into_owned()),
                None if self.pipe.input.tail().len() > LINE_LIMIT_BYTES => {
                    return Err(unexpected_reply("a line without end"));
                }
                None => self.read().await?,
            }
        }
    }

    async fn read(&mut self) -> io::Result<()> {
        let pipe = &mut self.pipe;
        match unless_silent(self.shared, poll_fn(|cx| pipe.poll_fill(cx))).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

async fn unless_silent<M: Machine, T>(
    shared: &Shared<M>,
    step: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    match first(step, shared.machine.sleep(shared.config.repl_timeout)).await {
        First::Left(result) => result,
        First::Right(()) => Err(io::ErrorKind::TimedOut.into()),
    }
}

fn unexpected_reply(reply: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("unexpected reply from the master: `{reply}`"))
}
