//! Connections to one server, and what came back on them. Blocking sockets: the test is a plain loop.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use super::resp::{Value, parse, reply_length};
use super::script::{Bytes, Step, encoded};

/// How long a reply may take. Nothing that is generated blocks for more than some milliseconds.
const PATIENCE: Duration = Duration::from_secs(3);

/// What came back after a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// A reply, or everything until the server closed.
    pub(crate) bytes: Bytes,
    /// How it ended.
    pub(crate) end: End,
}

/// Why the test stopped reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The reply was complete.
    Reply,
    /// The server closed the connection.
    Closed,
    /// Nothing more came for [`PATIENCE`].
    Silence,
}

/// One server and the connections of the script that runs on it.
pub(crate) struct Clients {
    port: u16,
    open: [Option<TcpStream>; 3],
}

impl Clients {
    /// Connects to nothing yet.
    pub(crate) fn of(port: u16) -> Clients {
        Clients { port, open: [None, None, None] }
    }

    /// Sends what the step says. The answer is read by [`Clients::receive`], so that two servers work at the same time.
    pub(crate) fn send(&mut self, step: &Step) -> io::Result<()> {
        let stream = self.stream(step.connection())?;
        // A server that has closed may refuse what is sent: reading will show it.
        match step {
            Step::Send { args, .. } | Step::Round { args, .. } => drop(stream.write_all(&encoded(args))),
            Step::Raw { pieces, .. } => {
                drop(stream.write_all(&pieces.concat()));
                drop(stream.shutdown(Shutdown::Write));
            }
        }
        Ok(())
    }

    /// Reads what the step is answered with. A connection that has ended is opened anew by its next step.
    pub(crate) fn receive(&mut self, step: &Step) -> io::Result<Answer> {
        let stream = self.stream(step.connection())?;
        let answer = match step {
            Step::Send { .. } => read_until(stream, |bytes| reply_length(bytes).is_some()),
            Step::Round { args, .. } => complete_round(stream, args)?,
            Step::Raw { .. } => read_until(stream, |_| false),
        };
        if answer.end != End::Reply {
            self.open[step.connection()] = None;
        }
        Ok(answer)
    }

    /// Sends a command of the test's own on a connection of its own.
    pub(crate) fn ask(&self, words: &str) -> io::Result<Answer> {
        let mut alone = Clients::of(self.port);
        let step = Step::send(0, words.split(' ').map(|word| word.as_bytes().to_vec()).collect());
        alone.send(&step)?;
        alone.receive(&step)
    }

    /// Closes every connection.
    pub(crate) fn close(&mut self) {
        self.open = [None, None, None];
    }

    fn stream(&mut self, connection: usize) -> io::Result<&mut TcpStream> {
        let slot = &mut self.open[connection];
        if slot.is_none() {
            let stream = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, self.port)))?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            *slot = Some(stream);
        }
        Ok(slot.as_mut().expect("filled above"))
    }
}

/// Longer rounds than this are taken for endless ones.
const ROUND_CALLS: usize = 10_000;

/// Makes the calls after the first. The answer is everything that was returned, once each and in order, so that two
/// servers with orders of their own agree; or the first reply that is no page.
fn complete_round(stream: &mut TcpStream, first: &[Bytes]) -> io::Result<Answer> {
    let cursor_at = if first.first().is_some_and(|name| name.eq_ignore_ascii_case(b"SCAN")) { 1 } else { 2 };
    let pairs = cursor_at == 2 && !first.first().is_some_and(|name| name.eq_ignore_ascii_case(b"SSCAN"));
    let mut args = first.to_vec();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..ROUND_CALLS {
        let answer = read_until(stream, |bytes| reply_length(bytes).is_some());
        let Some((cursor, items)) = page(&answer) else { return Ok(answer) };
        seen.extend(items.chunks(if pairs { 2 } else { 1 }).map(|item| item.concat()));
        if cursor == b"0" {
            let mut bytes = format!("*{}\r\n", seen.len()).into_bytes();
            seen.iter().for_each(|item| bytes.extend_from_slice(item));
            return Ok(Answer { bytes, end: End::Reply });
        }
        args[cursor_at] = cursor;
        stream.write_all(&encoded(&args))?;
    }
    Ok(Answer { bytes: Bytes::new(), end: End::Silence })
}

/// A page's cursor and its items, each as it came.
fn page(answer: &Answer) -> Option<(Bytes, Vec<Bytes>)> {
    let (reply, _) = parse(&answer.bytes)?;
    let [Value::Text(b'$', cursor), Value::Many(b'*', items)] = reply.items() else { return None };
    let text = |item: &Value| {
        Some([format!("${}\r\n", item.text()?.len()).as_bytes(), item.text()?, b"\r\n"].concat())
    };
    Some((cursor.clone(), items.iter().map(text).collect::<Option<_>>()?))
}

fn read_until(stream: &mut TcpStream, complete: impl Fn(&[u8]) -> bool) -> Answer {
    let mut bytes = Bytes::new();
    let mut buffer = [0; 16 << 10];
    loop {
        if complete(&bytes) {
            return Answer { bytes, end: End::Reply };
        }
        match stream.read(&mut buffer) {
            Ok(0) => return Answer { bytes, end: End::Closed },
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                return Answer { bytes, end: End::Silence };
            }
            // A reset: the server closed while something was still on its way.
            Err(_) => return Answer { bytes, end: End::Closed },
        }
    }
}
