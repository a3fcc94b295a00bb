//! Last words: bytes that are no request, or not quite, or several at once.

use super::{Generator, small};
use crate::script::{Bytes, encoded};

/// Requests that a server must understand although no client library writes them so.
const FINE: &[&[u8]] = &[
    b"PING\r\n",
    b"PING\n",
    b"\r\n",
    b"\n",
    b"   \r\n",
    b"SET k1 inline\r\n",
    b"set  k1   \"a b\\x41\\n\\\"\"\r\n",
    b"ECHO 'it\\'s'\r\n",
    b"ECHO ''\r\n",
    b"ECHO \"\\xzz\\a\\b\"\r\n",
    b"\tGET\tk1\t\r\n",
    b"GET k1 extra\r\n",
    b"*0\r\n",
    b"*-1\r\n",
    b"*-100\r\n",
    b"*1\r\n$4\r\nPING\r\n",
    // The two bytes after an argument are not looked at.
    b"*1\r\n$4\r\nPINGxx",
    b"*1\r\n$0\r\n\r\n",
    b"nosuchcommand a b\r\n",
    b"QUIT\r\n",
    b"MULTI\r\n",
    b"EXEC\r\n",
    b"CLIENT REPLY OFF\r\n",
    b"CLIENT REPLY SKIP\r\nPING\r\n",
    b"CLIENT REPLY ON\r\n",
    b"HELLO 4\r\n",
];

/// What ends the conversation.
const WRONG: &[&[u8]] = &[
    b"*1\r\n+PING\r\n",
    b"*1\r\n\r\n",
    b"*abc\r\n",
    b"*\r\n",
    b"*1x\r\n",
    b"* 1\r\n",
    b"*+1\r\n",
    b"*01\r\n",
    b"*1\r\n$abc\r\n",
    b"*1\r\n$\r\n",
    b"*1\r\n$-1\r\n",
    b"*1\r\n$-5\r\n",
    b"*1\r\n$04\r\nPING\r\n",
    b"*1\r\n$536870913\r\n",
    b"*1048577\r\n",
    b"*2147483647\r\n",
    b"*2147483648\r\n",
    b"*9223372036854775807\r\n",
    b"*99999999999999999999\r\n",
    b"*1\r\n$9223372036854775807\r\n",
    b"*1\r\n:1\r\n",
    b"*1\r\n*1\r\n$4\r\nPING\r\n",
    b"*1\r\n\x00\r\n",
    b"SET k1 \"unbalanced\r\n",
    b"SET k1 'unbalanced\r\n",
    b"ECHO \"a\"b\r\n",
    b"ECHO 'a'b\r\n",
    b"*3\r\n$3\r\nSET\r\n$2\r\nk1\r\n",
    b"*2\r\n$3\r\nGE",
    b"GET k1",
    b"\x00\r\n",
    b"\xff\xfe\r\n",
    // The beginning of an HTTP request: closed without a word.
    b"POST / HTTP/1.1\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
];

impl Generator {
    /// Pieces that are sent in one go, and read in one: HTTP makes Redis forget the replies of the same read.
    pub(super) fn bad_ending(&mut self) -> Vec<Bytes> {
        let mut pieces = Vec::new();
        for _ in 0..self.random.below(5) {
            if self.random.percent(60) {
                pieces.push(self.random.pick(FINE).to_vec());
            } else {
                let command = *self.random.weighted(&[
                    (1, "GET $k"),
                    (1, "SET $k $v"),
                    (1, "INCR $k"),
                    (1, "HGETALL $k"),
                ]);
                let args: Vec<Bytes> = self.filled(command).into_iter().map(small).collect();
                pieces.push(encoded(&args));
            }
        }
        if self.random.percent(4) {
            pieces = vec![self.oversized()];
        } else if self.random.percent(80) {
            pieces.push(self.random.pick(WRONG).to_vec());
        }
        pieces
    }

    /// More than the 64 KiB a line may have. Little more, so that the server has read it all when it closes: a
    /// connection that is closed with bytes unread is reset, and the error may be lost on its way.
    fn oversized(&mut self) -> Bytes {
        let head: &[u8] = self.random.pick(&[b"".as_slice(), b"*", b"*1\r\n$", b"ECHO "]);
        let fill = if head.first() == Some(&b'*') { b'1' } else { b'a' };
        [head, &vec![fill; (64 << 10) + 10]].concat()
    }
}
