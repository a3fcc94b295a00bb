//! Messages as bytes: how long the rest is, the number of the request, and what is said.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Bytes before what is said: the length of all that follows it, then the request's number.
const HEADER_BYTES: usize = 8;

/// Bytes that are no message of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are no message of a service")]
pub struct BadFrame;

/// Appends a message to what is to be sent.
pub fn write_frame(number: u32, message: &impl Serialize, into: &mut Vec<u8>) {
    let start = into.len();
    into.extend_from_slice(&[0; HEADER_BYTES]);
    let mut whole = postcard::to_extend(message, std::mem::take(into)).expect("a vector takes any message");
    let length = u32::try_from(whole.len() - start - HEADER_BYTES).expect("a message fits in memory");
    whole[start..start + 4].copy_from_slice(&length.to_le_bytes());
    whole[start + 4..start + HEADER_BYTES].copy_from_slice(&number.to_le_bytes());
    *into = whole;
}

/// The bytes that a connection has received, read message by message.
#[derive(Debug, Default)]
pub struct FrameBuffer {
    bytes: Vec<u8>,
    /// The number of them that were read.
    read: usize,
}

impl FrameBuffer {
    /// Returns the place at which received bytes are appended.
    pub fn tail(&mut self) -> &mut Vec<u8> {
        self.bytes.drain(..std::mem::take(&mut self.read));
        &mut self.bytes
    }

    /// Reads the next message, if it is there whole.
    ///
    /// # Errors
    ///
    /// If the bytes are no such message.
    pub fn next_frame<M: DeserializeOwned>(&mut self) -> Result<Option<(u32, M)>, BadFrame> {
        let rest = &self.bytes[self.read..];
        let Some((header, body)) = rest.split_at_checked(HEADER_BYTES) else { return Ok(None) };
        let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
        let Some(body) = body.get(..word(0) as usize) else { return Ok(None) };
        let message = postcard::from_bytes(body).map_err(|_| BadFrame)?;
        self.read += HEADER_BYTES + body.len();
        Ok(Some((word(4), message)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_whole_wherever_the_bytes_are_cut() {
        let messages = [(7, "CREATE".to_owned()), (0, String::new()), (u32::MAX, "x".repeat(300))];
        let mut bytes = Vec::new();
        messages.iter().for_each(|(number, message)| write_frame(*number, message, &mut bytes));
        for cut in 0..=bytes.len() {
            let (mut buffer, mut read) = (FrameBuffer::default(), Vec::new());
            for piece in [&bytes[..cut], &bytes[cut..]] {
                buffer.tail().extend_from_slice(piece);
                while let Some(message) = buffer.next_frame::<String>().unwrap() {
                    read.push(message);
                }
            }
            assert_eq!(read, messages, "cut at {cut}");
        }
    }

    #[test]
    fn a_message_of_another_kind_is_refused() {
        let mut buffer = FrameBuffer::default();
        write_frame(1, &300_u32, buffer.tail());
        assert_eq!(buffer.next_frame::<String>(), Err(BadFrame));
    }
}
