//! Requests from a byte stream: however a stream is cut into pieces, the parser finds the same requests and the same
//! error in it. The first byte of the input says where the one cut falls; the rest is the stream.

#![no_main]

use doublehold_sim_redis::resp::{ProtocolError, RequestBuffer};
use libfuzzer_sys::fuzz_target;

/// What came of a stream: its requests, how many bytes they were, and the error that ended it.
#[derive(Debug, Default, PartialEq)]
struct Parsed {
    requests: Vec<Vec<Vec<u8>>>,
    consumed: u64,
    error: Option<ProtocolError>,
}

fuzz_target!(|input: &[u8]| {
    let Some((&cut, stream)) = input.split_first() else { return };
    let (head, tail) = stream.split_at(usize::from(cut).min(stream.len()));
    assert_eq!(parse(&[stream]), parse(&[head, tail]), "cut at {}", head.len());
});

fn parse(pieces: &[&[u8]]) -> Parsed {
    let mut buffer = RequestBuffer::new();
    let mut parsed = Parsed::default();
    'stream: for piece in pieces {
        buffer.tail().extend_from_slice(piece);
        loop {
            match buffer.next_request() {
                Ok(Some(args)) => parsed.requests.push(args.iter().map(<[u8]>::to_vec).collect()),
                Ok(None) => break,
                Err(error) => {
                    parsed.error = Some(error);
                    break 'stream;
                }
            }
        }
    }
    parsed.consumed = buffer.consumed_bytes();
    parsed
}
