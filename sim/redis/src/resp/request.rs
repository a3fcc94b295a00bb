//! Requests from a byte stream: multibulk (`*2\r\n$4\r\nECHO…`) and inline (`ECHO hi\r\n`), with Redis' limits.
//!
//! A [`RequestBuffer`] belongs to one connection. Arguments are slices of its bytes: parsing a multibulk request does
//! not allocate once the buffer has grown to the connection's usual size. Like Redis, the parser does not look at the
//! two bytes after a bulk string.
//!
//! Not the crate `redis-protocol`: it reads frames. What a server must do as Redis does is not in it: inline requests,
//! the limits of a line, of the number of arguments and of their length, and the words of each protocol error.

use std::ops::Range;

use crate::resp::integer;

/// Redis' `PROTO_INLINE_MAX_SIZE`: longest line, be it an inline request or a length.
const LINE_LIMIT: usize = 64 << 10;
/// Redis' `proto-max-bulk-len`.
const BULK_LIMIT: i64 = 512 << 20;
/// Redis' limit on the number of arguments.
const COUNT_LIMIT: i64 = i32::MAX as i64;
/// Consumed bytes are dropped from the front only once they are this many: moving the rest costs.
const COMPACT_AT: usize = 16 << 10;
/// A buffer that has grown beyond this is given back once it is empty.
const KEEP_CAPACITY: usize = 1 << 20;

/// Where one argument lies. `u32`, because [`RequestBuffer::LIMIT_BYTES`] fits and a request may have millions of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    fn from_range(range: Range<usize>) -> Span {
        Span { start: range.start as u32, end: range.end as u32 }
    }
}

/// The arguments of one request: the command's name first.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    bytes: &'a [u8],
    spans: &'a [Span],
}

impl<'a> Args<'a> {
    /// Arguments that lie in `bytes` at `spans`. A span outside of `bytes` reads as an empty argument.
    pub fn new(bytes: &'a [u8], spans: &'a [Span]) -> Args<'a> {
        Args { bytes, spans }
    }

    /// Number of arguments, the command's name included.
    #[expect(clippy::len_without_is_empty, reason = "a request has at least its name")]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Argument `index` (0 is the command's name); empty if there are not that many.
    pub fn at(&self, index: usize) -> &'a [u8] {
        self.get(index).unwrap_or_default()
    }

    /// Argument `index` (0 is the command's name), if there is one.
    pub fn get(&self, index: usize) -> Option<&'a [u8]> {
        self.spans.get(index).map(|&span| slice(self.bytes, span))
    }

    /// All arguments in order, the command's name first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
        let bytes = self.bytes;
        self.spans.iter().map(move |&span| slice(bytes, span))
    }
}

fn slice(bytes: &[u8], span: Span) -> &[u8] {
    bytes.get(span.start as usize..span.end as usize).unwrap_or_default()
}

/// Arguments that own their bytes: a queued command, a command built by a script. Reusable without allocating.
#[derive(Clone, Debug, Default)]
pub struct OwnedArgs {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

impl OwnedArgs {
    /// Forgets all arguments, keeping the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
    }

    /// Appends one argument.
    pub fn push(&mut self, argument: &[u8]) {
        self.push_with(|bytes| bytes.extend_from_slice(argument));
    }

    /// Appends one argument that `write` appends to the bytes so far.
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        write(&mut self.bytes);
        self.spans.push(Span::from_range(start..self.bytes.len()));
    }

    /// The arguments, borrowed.
    pub fn args(&self) -> Args<'_> {
        Args::new(&self.bytes, &self.spans)
    }

    /// Bytes held, for limits.
    pub fn size(&self) -> usize {
        self.bytes.len() + self.spans.len() * size_of::<Span>()
    }
}

impl<'a> From<&Args<'a>> for OwnedArgs {
    fn from(args: &Args<'a>) -> OwnedArgs {
        let mut owned = OwnedArgs::default();
        args.iter().for_each(|argument| owned.push(argument));
        owned
    }
}

impl<A: AsRef<[u8]>> FromIterator<A> for OwnedArgs {
    fn from_iter<I: IntoIterator<Item = A>>(arguments: I) -> OwnedArgs {
        let mut owned = OwnedArgs::default();
        arguments.into_iter().for_each(|argument| owned.push(argument.as_ref()));
        owned
    }
}

/// Why the stream cannot be parsed any further. Send [`reply`](Self::reply), then close.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// Not RESP.
    #[error("Protocol error: {0}")]
    Malformed(String),
    /// The connection holds more unparsed bytes than it may.
    #[error("the query buffer limit was exceeded")]
    BufferLimit,
}

impl ProtocolError {
    /// Appends what the client is told. Redis closes without a word when the buffer limit is exceeded.
    pub fn reply(&self, out: &mut Vec<u8>) {
        if let ProtocolError::Malformed(_) = self {
            super::reply::error(out, format!("ERR {self}").as_bytes());
        }
    }
}

/// A connection's received bytes and the requests in them.
///
/// ```
/// use doublehold_sim_redis::resp::RequestBuffer;
/// let mut buffer = RequestBuffer::new();
/// buffer.tail().extend_from_slice(b"*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\nPI");
/// let args = buffer.next_request()?.expect("one whole request was received");
/// assert_eq!(args.iter().collect::<Vec<_>>(), [b"ECHO".as_slice(), b"hi"]);
/// assert!(buffer.next_request()?.is_none(), "the second request is incomplete");
/// # Ok::<(), doublehold_sim_redis::resp::ProtocolError>(())
/// ```
#[derive(Debug, Default)]
pub struct RequestBuffer {
    bytes: Vec<u8>,
    /// Where the request under way starts.
    start: usize,
    /// Where parsing goes on.
    position: usize,
    /// Arguments of the multibulk request under way that are still to come; `None` between requests.
    missing: Option<i64>,
    /// Length of the bulk string whose header has been read.
    bulk: Option<usize>,
    spans: Vec<Span>,
    /// The unescaped arguments of an inline request.
    inline: Vec<u8>,
    last: LastRequest,
    consumed: u64,
    limit: Limit,
}

/// Most unparsed bytes.
#[derive(Clone, Copy, Debug)]
struct Limit(usize);

impl Default for Limit {
    fn default() -> Limit {
        Limit(RequestBuffer::LIMIT_BYTES)
    }
}

#[derive(Debug, Default)]
struct LastRequest {
    raw: Range<usize>,
    is_inline: bool,
}

impl RequestBuffer {
    /// Most unparsed bytes one connection may hold, unless it is told otherwise; beyond it the connection is closed.
    pub const LIMIT_BYTES: usize = 64 << 20;

    /// An empty buffer.
    pub fn new() -> RequestBuffer {
        RequestBuffer::default()
    }

    /// Sets how many unparsed bytes it may hold.
    pub fn set_limit(&mut self, bytes: usize) {
        self.limit = Limit(bytes);
    }

    /// Bytes it has room for, used or not.
    pub fn memory(&self) -> usize {
        self.bytes.capacity() + self.spans.capacity() * size_of::<Span>() + self.inline.capacity()
    }

    /// Where received bytes are appended. Append only: what is already there belongs to the parser.
    pub fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// The next complete request, `None` when more bytes are needed. Call until it says `None`, then read more.
    ///
    /// # Errors
    /// The stream is not RESP, or holds more of an unfinished request than it may.
    pub fn next_request(&mut self) -> Result<Option<Args<'_>>, ProtocolError> {
        if self.missing.is_none() {
            self.compact();
        }
        while self.position < self.bytes.len() {
            let complete = match self.missing {
                None if self.bytes[self.position] == b'*' => self.multibulk_header()?,
                None => self.inline_request()?,
                Some(_) => self.bulk_strings()?,
            };
            match complete {
                Step::More => break,
                Step::Continue => {}
                Step::Empty => self.finish(false),
                Step::Request { is_inline } => {
                    self.finish(is_inline);
                    return Ok(Some(self.last_args()));
                }
            }
        }
        if self.bytes.len() - self.start > self.limit.0 {
            return Err(ProtocolError::BufferLimit);
        }
        Ok(None)
    }

    /// Bytes of the stream that belong to requests returned so far: a replica's offset moves by their difference.
    pub fn consumed_bytes(&self) -> u64 {
        self.consumed
    }

    /// The bytes of the request that [`next_request`](Self::next_request) returned last, as they came.
    pub fn last_raw(&self) -> &[u8] {
        self.bytes.get(self.last.raw.clone()).unwrap_or_default()
    }

    /// The arguments of the last request once more (to execute a held request again).
    pub(crate) fn last_args(&self) -> Args<'_> {
        Args::new(if self.last.is_inline { &self.inline } else { &self.bytes }, &self.spans)
    }

    /// Takes `wanted` raw bytes off the front once they have all arrived: a replica's `$len` payload, which has no CRLF
    /// after it. Only between requests.
    pub(crate) fn take_raw(&mut self, wanted: usize) -> Option<Vec<u8>> {
        let end = self.start.checked_add(wanted)?;
        let taken = self.bytes.get(self.start..end)?.to_vec();
        (self.start, self.position) = (end, end);
        self.spans.clear();
        self.last = LastRequest::default();
        Some(taken)
    }

    /// Takes one line (without its line end) off the front once it has arrived: a reply in a replica's handshake. Only
    /// between requests.
    pub(crate) fn take_line(&mut self) -> Option<Vec<u8>> {
        let pending = self.bytes.get(self.start..)?;
        let length = pending.iter().position(|&byte| byte == b'\n')?;
        let mut line = self.take_raw(length + 1)?;
        line.pop();
        line.pop_if(|byte| *byte == b'\r');
        Some(line)
    }

    fn compact(&mut self) {
        self.spans.clear();
        self.last = LastRequest::default();
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.bytes.shrink_to(KEEP_CAPACITY);
            self.spans.shrink_to(KEEP_CAPACITY);
            self.inline.shrink_to(KEEP_CAPACITY);
        } else if self.start >= COMPACT_AT {
            self.bytes.drain(..self.start);
        } else {
            return;
        }
        (self.start, self.position) = (0, 0);
    }

    fn finish(&mut self, is_inline: bool) {
        self.last = LastRequest { raw: self.start..self.position, is_inline };
        self.consumed += (self.position - self.start) as u64;
        self.start = self.position;
        self.missing = None;
    }

    /// The number in a header such as `*3` or `$20`, behind which the parser stands then. `None` for what is seldom:
    /// more digits, and whatever is incomplete or wrong.
    fn short_header(&mut self, kind: u8) -> Option<usize> {
        let digit = |digit: u8| usize::from(digit - b'0');
        let (number, length) = match self.bytes[self.position..] {
            [first, a @ b'1'..=b'9', b'\r', _, ..] if first == kind => (digit(a), 4),
            [first, a @ b'1'..=b'9', b @ b'0'..=b'9', b'\r', _, ..] if first == kind => {
                (10 * digit(a) + digit(b), 5)
            }
            _ => return None,
        };
        self.position += length;
        Some(number)
    }

    fn multibulk_header(&mut self) -> Result<Step, ProtocolError> {
        if let Some(count) = self.short_header(b'*') {
            self.missing = Some(count as i64);
            return Ok(Step::Continue);
        }
        let Some(line) = self.line("too big mbulk count string")? else { return Ok(Step::More) };
        let count = integer::parse(&self.bytes[line.start + 1..line.end])
            .filter(|&count| count <= COUNT_LIMIT)
            .ok_or_else(|| malformed_error("invalid multibulk length"))?;
        self.position = line.end + 2;
        if count <= 0 {
            return Ok(Step::Empty);
        }
        self.missing = Some(count);
        Ok(Step::Continue)
    }

    fn bulk_strings(&mut self) -> Result<Step, ProtocolError> {
        while let Some(missing) = self.missing
            && missing > 0
        {
            let length = match self.bulk.take() {
                Some(length) => length,
                None => match self.bulk_header()? {
                    Some(length) => length,
                    None => return Ok(Step::More),
                },
            };
            let end = self.position + length;
            if self.bytes.len() < end + 2 {
                self.bulk = Some(length);
                return Ok(Step::More);
            }
            self.spans.push(Span::from_range(self.position..end));
            self.position = end + 2;
            self.missing = Some(missing - 1);
        }
        Ok(Step::Request { is_inline: false })
    }

    fn bulk_header(&mut self) -> Result<Option<usize>, ProtocolError> {
        if let Some(length) = self.short_header(b'$') {
            return Ok(Some(length));
        }
        let Some(line) = self.line("too big bulk count string")? else { return Ok(None) };
        let kind = self.bytes[line.start];
        if kind != b'$' {
            // The reply is one line of text: Redis turns a line break into a space.
            let kind = if matches!(kind, b'\r' | b'\n') { ' ' } else { char::from(kind) };
            return Err(malformed_error(&format!("expected '$', got '{kind}'")));
        }
        let length = integer::parse(&self.bytes[line.start + 1..line.end])
            .filter(|length| (0..=BULK_LIMIT).contains(length))
            .ok_or_else(|| malformed_error("invalid bulk length"))?;
        self.position = line.end + 2;
        Ok(Some(length as usize))
    }

    /// The line at the position, up to its CR, once the byte after the CR is there too.
    fn line(&self, too_long: &str) -> Result<Option<Range<usize>>, ProtocolError> {
        let pending = &self.bytes[self.position..];
        // Redis looks for the line's end with a C string function, which stops at a NUL.
        let stop = pending.iter().position(|&byte| matches!(byte, b'\r' | 0));
        match stop.filter(|&stop| pending[stop] == b'\r') {
            Some(length) if length + 1 < pending.len() => Ok(Some(self.position..self.position + length)),
            Some(_) => Ok(None),
            None if pending.len() > LINE_LIMIT => Err(malformed_error(too_long)),
            None => Ok(None),
        }
    }

    fn inline_request(&mut self) -> Result<Step, ProtocolError> {
        let pending = &self.bytes[self.position..];
        // Redis looks for the line's end with a C string function, which stops at a NUL.
        let stop = pending.iter().position(|&byte| matches!(byte, b'\n' | 0));
        let Some(length) = stop.filter(|&stop| pending[stop] == b'\n') else {
            return if pending.len() > LINE_LIMIT {
                Err(malformed_error("too big inline request"))
            } else {
                Ok(Step::More)
            };
        };
        let line = pending[..length].strip_suffix(b"\r").unwrap_or(&pending[..length]);
        self.inline.clear();
        if !split_words(line, &mut self.inline, &mut self.spans) {
            return Err(malformed_error("unbalanced quotes in request"));
        }
        self.position += length + 1;
        Ok(if self.spans.is_empty() { Step::Empty } else { Step::Request { is_inline: true } })
    }
}

enum Step {
    /// Bytes are missing.
    More,
    /// A header was read.
    Continue,
    /// A request without arguments: skipped without a reply.
    Empty,
    Request {
        is_inline: bool,
    },
}

fn malformed_error(what: &str) -> ProtocolError {
    ProtocolError::Malformed(what.to_owned())
}

/// Splits an inline request as redis-cli's shell does: `"…"` with escapes, `'…'` with `\'`. False: unbalanced quotes.
fn split_words(line: &[u8], out: &mut Vec<u8>, spans: &mut Vec<Span>) -> bool {
    let mut rest = line;
    loop {
        rest = rest.trim_ascii_start();
        if rest.is_empty() {
            return true;
        }
        let start = out.len();
        let Some(after) = word(rest, out) else { return false };
        spans.push(Span::from_range(start..out.len()));
        rest = after;
    }
}

/// Copies one word into `out` and returns what follows it.
fn word<'a>(mut rest: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        match rest {
            [] | [b' ' | b'\n' | b'\r' | b'\t', ..] => return Some(rest),
            [quote @ (b'"' | b'\''), after @ ..] => {
                rest = parse_quoted(*quote, after, out)?;
                // A closing quote must end its word.
                return rest.first().is_none_or(u8::is_ascii_whitespace).then_some(rest);
            }
            [byte, after @ ..] => {
                out.push(*byte);
                rest = after;
            }
        }
    }
}

fn parse_quoted<'a>(quote: u8, mut rest: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        let (byte, after) = match rest {
            [b'\\', b'x', high, low, after @ ..]
                if quote == b'"' && high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                (hex_value(*high) << 4 | hex_value(*low), after)
            }
            [b'\\', byte, after @ ..] if quote == b'"' => (unescape(*byte), after),
            [b'\\', b'\'', after @ ..] if quote == b'\'' => (b'\'', after),
            [byte, after @ ..] if *byte == quote => return Some(after),
            [byte, after @ ..] => (*byte, after),
            [] => return None,
        };
        out.push(byte);
        rest = after;
    }
}

fn unescape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'a' => 7,
        other => other,
    }
}

fn hex_value(digit: u8) -> u8 {
    char::from(digit).to_digit(16).unwrap_or(0) as u8
}
