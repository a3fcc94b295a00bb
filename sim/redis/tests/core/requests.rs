//! Requests: what is parsed, what is refused, and that no cut of the stream changes either.

use doublehold_sim_redis::resp::{ProtocolError, RequestBuffer};

/// All requests in `stream`, fed in pieces of `piece` bytes; then the protocol error, if one comes.
fn parse(stream: &[u8], piece: usize) -> (Vec<Vec<String>>, Option<String>) {
    let mut buffer = RequestBuffer::new();
    let mut requests = Vec::new();
    for bytes in stream.chunks(piece) {
        buffer.tail().extend_from_slice(bytes);
        loop {
            match buffer.next_request() {
                Ok(None) => break,
                Ok(Some(args)) => {
                    requests.push(args.iter().map(|a| String::from_utf8_lossy(a).into_owned()).collect())
                }
                Err(error) => {
                    let mut reply = Vec::new();
                    error.reply(&mut reply);
                    return (requests, Some(String::from_utf8_lossy(&reply).into_owned()));
                }
            }
        }
    }
    (requests, None)
}

#[test]
fn requests_are_the_same_however_the_stream_is_cut() {
    let stream = b"*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n\r\n*0\r\n*-5\r\nPING\r\nset \"a b\\x41\\n\" 'c\\'d' e\"f\"\n*1\r\n$0\r\n\r\n  \r\nGET k\r\n";
    let expected: Vec<Vec<String>> =
        [vec!["ECHO", "hi"], vec!["PING"], vec!["set", "a bA\n", "c'd", "ef"], vec![""], vec!["GET", "k"]]
            .into_iter()
            .map(|request| request.into_iter().map(str::to_owned).collect())
            .collect();
    for piece in 1..=stream.len() {
        assert_eq!(parse(stream, piece), (expected.clone(), None), "in pieces of {piece}");
    }
}

#[test]
fn what_is_not_resp_gets_redis_protocol_errors() {
    let long = "1".repeat(70_000);
    let cases = [
        ("*1\r\n$600000000\r\n", "invalid bulk length"),
        ("*1\r\n$-1\r\n", "invalid bulk length"),
        ("*1\r\n$4x\r\n", "invalid bulk length"),
        ("*x\r\n", "invalid multibulk length"),
        ("*01\r\n", "invalid multibulk length"),
        ("*2147483648\r\n", "invalid multibulk length"),
        ("*1\r\n:3\r\n", "expected '$', got ':'"),
        ("*1\r\n\r\n", "expected '$', got ' '"),
        ("echo \"a\r\n", "unbalanced quotes in request"),
        ("echo \"a\"b\r\n", "unbalanced quotes in request"),
        (&long, "too big inline request"),
        (&format!("*{long}"), "too big mbulk count string"),
        (&format!("*1\r\n${long}"), "too big bulk count string"),
    ];
    for (stream, why) in cases {
        let (requests, error) = parse(stream.as_bytes(), 4096);
        assert_eq!((requests.len(), error), (0, Some(format!("-ERR Protocol error: {why}\r\n"))), "{why}");
    }
}

#[test]
fn a_request_beyond_the_buffer_limit_is_an_error_and_not_memory() {
    let mut buffer = RequestBuffer::new();
    buffer.tail().extend_from_slice(b"*1\r\n$500000000\r\n");
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..70 {
        buffer.tail().extend_from_slice(&piece);
        match buffer.next_request() {
            Ok(request) => assert!(request.is_none()),
            Err(error) => return assert_eq!(error, ProtocolError::BufferLimit),
        }
    }
    panic!("70 MiB were buffered");
}

#[test]
fn consumed_bytes_count_every_byte_of_finished_requests() {
    let mut buffer = RequestBuffer::new();
    buffer.tail().extend_from_slice(b"\n*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPI");
    assert!(buffer.next_request().unwrap().is_some());
    assert_eq!((buffer.consumed_bytes(), buffer.last_raw()), (15, b"*1\r\n$4\r\nPING\r\n".as_slice()));
    assert!(buffer.next_request().unwrap().is_none());
    assert_eq!(buffer.consumed_bytes(), 15);
}
