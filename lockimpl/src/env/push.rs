//! What a node says that nobody asked for, as it arrives: messages of channels, keys that have changed, the end of the
//! connection.
//!
//! A push is delivered once or not at all: the end of a connection loses what the node had to say until the next one
//! stands, and nobody can tell how much that was. Confirmations of subscriptions are replies, and are left out here.

use redis::{PushInfo, PushKind, Value};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// What a node said by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Push {
    /// Somebody published it, or the node tells of a key.
    Message {
        /// The channel it was published to.
        channel: Vec<u8>,
        /// The message.
        payload: Vec<u8>,
    },
    /// Keys that were read under `CLIENT TRACKING` have changed since, or are gone.
    Changed(Vec<Vec<u8>>),
    /// All keys are gone, whatever was read.
    Flushed,
    /// The connection has ended: nothing comes after this.
    Ended,
}

/// What arrives on one connection, in the order in which the node said it.
#[derive(Debug)]
pub struct Pushes(UnboundedReceiver<PushInfo>);

impl Pushes {
    /// For an environment: the end that redis-rs is given, and the end that a lock reads.
    pub fn channel() -> (UnboundedSender<PushInfo>, Self) {
        let (sender, receiver) = unbounded_channel();
        (sender, Self(receiver))
    }

    /// The next one, however long it takes. Once the connection has ended, that again.
    pub async fn next(&mut self) -> Push {
        loop {
            let Some(push) = self.0.recv().await else { return Push::Ended };
            if let Some(push) = parse_push(push) {
                return push;
            }
        }
    }

    /// The next one, if it is here already.
    pub fn try_next(&mut self) -> Option<Push> {
        std::iter::from_fn(|| self.0.try_recv().ok()).find_map(parse_push)
    }
}

/// Reads what a push means; `None` if it confirms something, or is of a kind that locks have no use for.
fn parse_push(PushInfo { kind, data }: PushInfo) -> Option<Push> {
    let mut data = data.into_iter();
    match kind {
        PushKind::Message | PushKind::SMessage => message(data.next()?, data.next()?),
        PushKind::PMessage => {
            let _pattern = data.next()?;
            message(data.next()?, data.next()?)
        }
        PushKind::Invalidate => match data.next()? {
            Value::Array(keys) => Some(Push::Changed(keys.into_iter().filter_map(bytes).collect())),
            _ => Some(Push::Flushed),
        },
        PushKind::Disconnection => Some(Push::Ended),
        _ => None,
    }
}

fn message(channel: Value, payload: Value) -> Option<Push> {
    Some(Push::Message { channel: bytes(channel)?, payload: bytes(payload)? })
}

fn bytes(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        Value::SimpleString(text) => Some(text.into_bytes()),
        _ => None,
    }
}
