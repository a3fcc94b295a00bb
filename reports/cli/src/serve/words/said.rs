//! Replies, in the RESP that every client reads: version 2.

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A short word, such as `OK`.
    Word(&'static str),
    /// Why not.
    Error(String),
    Text(Vec<u8>),
    Lines(Vec<String>),
}

impl Said {
    pub(super) fn ok() -> Said {
        Said::Word("OK")
    }

    /// `OK`, or the problem.
    pub(super) fn done(result: Result<(), String>) -> Said {
        result.map_or_else(Said::Error, |()| Said::ok())
    }

    pub(super) fn to_resp(&self) -> Vec<u8> {
        match self {
            Said::Word(word) => format!("+{word}\r\n").into_bytes(),
            // An error is one line.
            Said::Error(problem) => format!("-ERR {}\r\n", problem.replace(['\r', '\n'], " ")).into_bytes(),
            Said::Text(bytes) => bulk(bytes),
            Said::Lines(lines) => {
                let mut out = format!("*{}\r\n", lines.len()).into_bytes();
                lines.iter().for_each(|line| out.extend_from_slice(&bulk(line.as_bytes())));
                out
            }
        }
    }
}

fn bulk(bytes: &[u8]) -> Vec<u8> {
    let mut out = format!("${}\r\n", bytes.len()).into_bytes();
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
    out
}
