//! What is sent to both servers: steps on up to three connections, one after the other.
//!
//! The text form is that of the transcripts (`a> SET k v`, `pause 10ms`, `b raw> "*1\r\n"`), so that a script found by
//! the differential test can be pasted into one.

use std::fmt;
use std::time::Duration;

/// What an argument is made of: any bytes.
pub(crate) type Bytes = Vec<u8>;

/// One thing the test does. A connection is opened by its first step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Sends a command and awaits its reply, then lets time pass.
    Send {
        /// On which connection.
        connection: usize,
        /// The command, its name first.
        args: Vec<Bytes>,
        /// How long to wait after the reply: for keys that expire within milliseconds.
        pause: Duration,
    },
    /// Sends SCAN or HSCAN again and again, with each reply's cursor, until a round is complete.
    Round {
        /// On which connection.
        connection: usize,
        /// The first call.
        args: Vec<Bytes>,
    },
    /// Sends bytes that need not be a request, stops sending, and reads until the server closes.
    Raw {
        /// On which connection; its next step opens a new one.
        connection: usize,
        /// Sent in one write. In pieces so that a shorter one can be tried.
        pieces: Vec<Bytes>,
    },
}

impl Step {
    /// A command with no pause after it.
    pub(crate) fn send(connection: usize, args: Vec<Bytes>) -> Step {
        Step::Send { connection, args, pause: Duration::ZERO }
    }

    /// The connection it happens on.
    pub(crate) fn connection(&self) -> usize {
        match self {
            Step::Send { connection, .. } | Step::Round { connection, .. } | Step::Raw { connection, .. } => {
                *connection
            }
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = char::from(b'a' + self.connection() as u8);
        match self {
            Step::Send { args, pause, .. } => {
                let args: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
                write!(f, "{name}> {}", args.join(" "))?;
                if !pause.is_zero() {
                    write!(f, "\npause {}ms", pause.as_millis())?;
                }
                Ok(())
            }
            Step::Round { args, .. } => {
                let args: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
                write!(f, "{name} round> {}", args.join(" "))
            }
            Step::Raw { pieces, .. } => {
                let pieces: Vec<String> = pieces.iter().map(|piece| quoted(piece)).collect();
                write!(f, "{name} raw> {}", pieces.join(" "))
            }
        }
    }
}

/// A request in the multibulk form.
pub(crate) fn encoded(args: &[Bytes]) -> Bytes {
    let mut request = format!("*{}\r\n", args.len()).into_bytes();
    for arg in args {
        request.extend_from_slice(format!("${}\r\n", arg.len()).as_bytes());
        request.extend_from_slice(arg);
        request.extend_from_slice(b"\r\n");
    }
    request
}

/// An argument as redis-cli takes it: bare if nothing in it is special, else in double quotes.
fn quoted(arg: &[u8]) -> String {
    let bare = |byte: &u8| byte.is_ascii_graphic() && !b"\"'\\#".contains(byte);
    if !arg.is_empty() && arg.iter().all(bare) {
        String::from_utf8_lossy(arg).into_owned()
    } else {
        format!("\"{}\"", escaped(arg).replace('"', "\\\""))
    }
}

/// Bytes on one line: everything unprintable as an escape.
pub(crate) fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            b'\\' => text.push_str("\\\\"),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text
}

/// The bytes that [`escaped`] wrote.
pub(crate) fn unescaped(text: &str) -> Result<Bytes, String> {
    let mut bytes = Bytes::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b'r') => bytes.push(b'\r'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'x') => {
                let digits = [rest.next().unwrap_or(b'?'), rest.next().unwrap_or(b'?')];
                let digits = String::from_utf8_lossy(&digits).into_owned();
                let byte = u8::from_str_radix(&digits, 16);
                bytes.push(byte.map_err(|_| format!("`\\x{digits}` is no byte in hexadecimal digits"))?);
            }
            Some(other) => bytes.push(other),
            None => return Err("a line ends in `\\`".to_owned()),
        }
    }
    Ok(bytes)
}

/// The arguments on a line: separated by spaces, in double quotes where need be.
pub(crate) fn split_args(line: &str) -> Result<Vec<Bytes>, String> {
    let mut args = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (arg, end) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let end = closing_quote(quoted).ok_or_else(|| format!("a quote is not closed: `{line}`"))?;
                (&quoted[..end], end + 2)
            }
            None => {
                let end = rest.find(' ').unwrap_or(rest.len());
                (&rest[..end], end)
            }
        };
        args.push(unescaped(arg)?);
        rest = rest[end..].trim_start();
    }
    Ok(args)
}

fn closing_quote(text: &str) -> Option<usize> {
    let mut escape = false;
    text.bytes().position(|byte| {
        let closes = byte == b'"' && !escape;
        escape = byte == b'\\' && !escape;
        closes
    })
}
