//! Values of many elements: lists, sets, sorted sets and streams. They know nothing of keys, clients or replies.
//!
//! Each knows its size, since every change of it is measured, and which of Redis' encodings it would have.

mod extreme;
mod list;
mod set;
mod sorted_set;
mod stream;

pub(crate) use extreme::Extreme;
pub(crate) use list::{End, List};
pub(crate) use set::Set;
pub(crate) use sorted_set::SortedSet;
pub use stream::EntryId;
pub(crate) use stream::{Kept, Pairs, Stream, Trim};

use super::keyspace::Value;

/// What an element takes besides its bytes, about.
const ELEMENT_BYTES: usize = 24;

/// A value of many elements: made where nothing is, gone when it is empty, unless it is a stream.
pub(crate) trait Container: Default {
    /// The value as this type, if it is of this type.
    fn downcast(value: &Value) -> Option<&Self>;
    /// The same, to be changed.
    fn downcast_mut(value: &mut Value) -> Option<&mut Self>;
    fn into_value(self) -> Value;
    fn len(&self) -> usize;
    /// Whether its key stays when it is empty.
    const STAYS: bool = false;
}

macro_rules! container {
    ($type:ident) => {
        impl Container for $type {
            fn downcast(value: &Value) -> Option<&$type> {
                match value {
                    Value::$type(found) => Some(found),
                    _ => None,
                }
            }

            fn downcast_mut(value: &mut Value) -> Option<&mut $type> {
                match value {
                    Value::$type(found) => Some(found),
                    _ => None,
                }
            }

            fn into_value(self) -> Value {
                Value::$type(self)
            }

            fn len(&self) -> usize {
                $type::len(self)
            }
        }
    };
}

container!(List);
container!(Set);
container!(SortedSet);

impl Container for Stream {
    fn downcast(value: &Value) -> Option<&Stream> {
        match value {
            Value::Stream(found) => Some(found),
            _ => None,
        }
    }

    fn downcast_mut(value: &mut Value) -> Option<&mut Stream> {
        match value {
            Value::Stream(found) => Some(found),
            _ => None,
        }
    }

    fn into_value(self) -> Value {
        Value::Stream(Box::new(self))
    }

    fn len(&self) -> usize {
        Stream::len(self)
    }

    const STAYS: bool = true;
}
