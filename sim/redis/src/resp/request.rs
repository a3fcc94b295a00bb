//! Requests from a byte stream: multibulk (`*2\r\n$4\r\nECHO…`) and inline (`ECHO hi\r\n`).
//!
//! A [`RequestBuffer`] belongs to one connection. Arguments are slices of its bytes: parsing a multibulk request does not
//! allocate once the buffer has grown to the connection's usual size.

use std::ops::Range;

/// The arguments of one request: the command's name first.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    bytes: &'a [u8],
    ranges: &'a [Range<usize>],
}

impl<'a> Args<'a> {
    /// Arguments that lie in `bytes` at `ranges`; every range must lie inside `bytes`.
    pub fn new(bytes: &'a [u8], ranges: &'a [Range<usize>]) -> Args<'a> {
        Args { bytes, ranges }
    }

    /// Number of arguments, the command's name included.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there is no argument at all, not even a name.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Argument `index` (0 is the command's name), if there is one.
    pub fn get(&self, index: usize) -> Option<&'a [u8]> {
        self.ranges.get(index).and_then(|range| self.bytes.get(range.clone()))
    }

    /// All arguments in order.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let bytes = self.bytes;
        self.ranges.iter().map(move |range| bytes.get(range.clone()).unwrap_or_default())
    }
}

/// Why a request cannot be parsed. Redis sends it as an error reply and closes the connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ProtocolError(pub String);

/// A connection's received bytes and the requests in them.
#[derive(Debug, Default)]
pub struct RequestBuffer {
    bytes: Vec<u8>,
}

impl RequestBuffer {
    /// Most unparsed bytes one connection may hold; beyond it the next request is a [`ProtocolError`].
    ///
    /// Redis' `client-query-buffer-limit` is 1 GiB; a simulated node keeps hundreds of connections in one process.
    pub const LIMIT_BYTES: usize = 64 << 20;

    /// An empty buffer.
    pub fn new() -> RequestBuffer {
        RequestBuffer::default()
    }

    /// Where received bytes are appended. Append only: what is already there belongs to the parser.
    pub fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// The next complete request, `None` when more bytes are needed. Call until it says `None`, then read more.
    ///
    /// # Errors
    /// The stream is not RESP: send the error, then close.
    pub fn next_request(&mut self) -> Result<Option<Args<'_>>, ProtocolError> {
        Ok(None)
    }

    /// Bytes of the stream that belong to requests returned so far: a replica's offset moves by their difference.
    pub fn consumed(&self) -> u64 {
        0
    }

    /// The bytes of the request that [`next_request`](Self::next_request) returned last, as they came.
    pub fn last_raw(&self) -> &[u8] {
        &[]
    }

    /// The arguments of the last request once more (to execute a held request again).
    pub fn last_args(&self) -> Args<'_> {
        Args::new(&self.bytes, &[])
    }
}
