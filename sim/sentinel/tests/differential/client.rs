//! A client, and replies as it sees them.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};

use crate::PATIENCE;

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// A line with the character of its type: statuses, errors, numbers, nulls.
    Line(String),
    Text(String),
    /// Several replies, with the character of their type. The names and values of a map in turn.
    Many(char, Vec<Reply>),
    /// The connection has ended.
    End,
}

impl Reply {
    /// The items, if it has some.
    pub(crate) fn items(&self) -> &[Reply] {
        match self {
            Reply::Many(_, items) => items,
            _ => &[],
        }
    }

    /// The text, if it is one.
    pub(crate) fn text(&self) -> &str {
        match self {
            Reply::Text(text) => text,
            _ => "",
        }
    }

    /// The value of a field, of a reply with names and values in turn.
    pub(crate) fn field(&self, name: &str) -> &str {
        let pairs = self.items().chunks_exact(2);
        pairs.filter(|pair| pair[0].text() == name).map(|pair| pair[1].text()).next().unwrap_or("")
    }
}

/// A connection.
pub(crate) struct Client(BufReader<TcpStream>);

impl Client {
    /// Connects; none where nobody listens.
    pub(crate) fn to(port: u16) -> Option<Client> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        Some(Client(BufReader::new(stream)))
    }

    /// The reply to the words of a command.
    pub(crate) fn ask(&mut self, command: &str) -> Reply {
        let words: Vec<&str> = command.split(' ').collect();
        let mut request = format!("*{}\r\n", words.len());
        for word in words {
            request.push_str(&format!("${}\r\n{word}\r\n", word.len()));
        }
        let sent = self.0.get_mut().write_all(request.as_bytes());
        sent.and_then(|()| self.reply()).unwrap_or(Reply::End)
    }

    fn reply(&mut self) -> io::Result<Reply> {
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        let Some(line) = line.strip_suffix("\r\n") else { return Ok(Reply::End) };
        let kind = line.chars().next().unwrap_or(' ');
        let length: Option<usize> = line.get(1..).and_then(|digits| digits.parse().ok());
        match (kind, length) {
            ('$' | '=', Some(length)) => {
                let mut bytes = vec![0; length + 2];
                self.0.read_exact(&mut bytes)?;
                bytes.truncate(length);
                Ok(Reply::Text(String::from_utf8_lossy(&bytes).into_owned()))
            }
            ('*' | '%' | '~' | '>', Some(length)) => {
                let count = if kind == '%' { length * 2 } else { length };
                let items: io::Result<Vec<Reply>> = (0..count).map(|_| self.reply()).collect();
                Ok(Reply::Many(kind, items?))
            }
            _ => Ok(Reply::Line(line.to_owned())),
        }
    }
}

/// The reply to one command.
pub(crate) fn ask(port: u16, command: &str) -> Reply {
    Client::to(port).map_or(Reply::End, |mut client| client.ask(command))
}
