//! The messages between clients and the resource: frames of a fixed length, a request and its answer.
//!
//! Knows nothing of what is done about a request.

use doublehold_history::{CallId, Content, ObjectId};

/// The bit that tells a token from a number, where one of them is shown.
const IS_TOKEN: u64 = 1 << 63;

/// A token as it is shown: a digest of it. Two tokens that have one digest are not modelled.
pub(in crate::run) fn token_shown(token: &[u8]) -> u64 {
    // FNV-1a: what is sent has to be the same on every machine.
    let add = |digest: u64, byte: &u8| (digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    token.iter().fold(0xcbf2_9ce4_8422_2325, add) | IS_TOKEN
}

/// The fencing number that was shown; `None` of a token.
pub(super) fn number(shown: u64) -> Option<u64> {
    (shown & IS_TOKEN == 0).then_some(shown)
}

/// A request of a client to the resource.
pub(super) struct Request {
    pub(super) grant: CallId,
    pub(super) fencing: Option<u64>,
    /// One of the first 32. Where the action is of a lock, the lock's number.
    pub(super) object: ObjectId,
    pub(super) action: Action,
}

pub(super) enum Action {
    Read,
    /// Of a lock.
    Prepare,
    /// Of a lock: asks for its marker.
    Marker,
    /// Of a replica: a value with a version that the client has made, which is above 1.
    Put {
        version: u64,
        value: u64,
    },
    Write {
        based_on: Option<u64>,
        value: u64,
    },
}

impl Request {
    /// A byte for the optional parts and, above these three bits, the object. Then grant, fencing, based-on, value.
    /// A request with a based-on that is not a write asks for something else than a read.
    pub(super) const SIZE: usize = 1 + 4 * 8;

    pub(super) fn encode(&self) -> [u8; Request::SIZE] {
        let (write, based_on, value) = match self.action {
            Action::Read => (0, None, 0),
            Action::Prepare => (0, Some(0), 0),
            Action::Marker => (0, Some(1), 0),
            Action::Put { version, value } => (0, Some(version), value),
            Action::Write { based_on, value } => (1, based_on, value),
        };
        let object = (self.object.0 as u8) << 3;
        let flags =
            object | write | u8::from(self.fencing.is_some()) << 1 | u8::from(based_on.is_some()) << 2;
        frame(flags, [self.grant.0, self.fencing.unwrap_or(0), based_on.unwrap_or(0), value])
    }

    pub(super) fn decode(bytes: &[u8; Request::SIZE]) -> Request {
        let (flags, [grant, fencing, based_on, value]) = parts(bytes);
        let present = |bit: u8, number| (flags >> bit & 1 == 1).then_some(number);
        let action = match (flags & 1, present(2, based_on)) {
            (0, None) => Action::Read,
            (0, Some(0)) => Action::Prepare,
            (0, Some(1)) => Action::Marker,
            (0, Some(version)) => Action::Put { version, value },
            (_, based_on) => Action::Write { based_on, value },
        };
        let object = ObjectId(u32::from(flags >> 3));
        Request { grant: CallId(grant), fencing: present(1, fencing), object, action }
    }
}

/// An answer of the resource.
pub(super) enum Answer {
    /// Its content now.
    Content(Content),
    /// It will not.
    Refused,
}

impl Answer {
    /// Builds the answer with the number that a grant is to show, or the marker: version 0 says that there is none.
    pub(super) fn of_shown(shown: Option<u64>) -> Answer {
        Answer::Content(Content { version: shown.is_some().into(), value: shown.unwrap_or(0) })
    }

    pub(super) fn shown(content: Content) -> Option<u64> {
        (content.version == 1).then_some(content.value)
    }

    /// A byte that says if it did, then version and value.
    pub(super) const SIZE: usize = 1 + 2 * 8;

    pub(super) fn encode(&self) -> [u8; Answer::SIZE] {
        match self {
            Answer::Content(Content { version, value }) => frame(1, [*version, *value]),
            Answer::Refused => frame(0, [0, 0]),
        }
    }

    pub(super) fn decode(bytes: &[u8; Answer::SIZE]) -> Answer {
        match parts(bytes) {
            (0, _) => Answer::Refused,
            (_, [version, value]) => Answer::Content(Content { version, value }),
        }
    }
}

fn frame<const SIZE: usize, const N: usize>(first: u8, numbers: [u64; N]) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    bytes[0] = first;
    for (place, number) in bytes[1..].chunks_exact_mut(8).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

fn parts<const SIZE: usize, const N: usize>(bytes: &[u8; SIZE]) -> (u8, [u64; N]) {
    let mut numbers = [0; N];
    for (number, place) in numbers.iter_mut().zip(bytes[1..].chunks_exact(8)) {
        *number = u64::from_le_bytes(place.try_into().expect("chunks of eight bytes"));
    }
    (bytes[0], numbers)
}
