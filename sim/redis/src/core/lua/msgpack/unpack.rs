//! From MessagePack to Lua. Reads without recursion: a thread's stack does not bound the depth.

use mlua::{Lua, MultiValue, Table, Value};

use super::super::arguments::MAX_RESULTS;
use super::super::charge::charge;
use super::super::error::{ScriptError, throw_at_caller};
use super::MAX_DEPTH;

const TOO_MANY: &str =
    "stack overflow (too many return values at once; use unpack_one or unpack_limit instead.)";

/// What is left to be read.
pub(super) struct Input<'a> {
    lua: &'a Lua,
    rest: &'a [u8],
    open: Vec<Open>,
}

/// A table that is being filled, and how many elements it still gets.
enum Open {
    Array { table: Table, length: i64, missing: u32 },
    Map { table: Table, key: Option<Value>, missing: u32 },
}

/// The beginning of a value.
enum Head {
    Whole(Value),
    Array(u32),
    Map(u32),
}

impl<'a> Input<'a> {
    pub(super) fn new(lua: &'a Lua, rest: &'a [u8]) -> Input<'a> {
        Input { lua, rest, open: Vec::new() }
    }

    /// Bytes that are left.
    pub(super) fn bytes_left(&self) -> usize {
        self.rest.len()
    }

    /// All values, or so many.
    pub(super) fn values(&mut self, limit: usize) -> mlua::Result<MultiValue> {
        let mut values = MultiValue::new();
        while !self.rest.is_empty() && values.len() < limit {
            if values.len() as f64 >= MAX_RESULTS {
                return Err(throw_at_caller(self.lua, TOO_MANY));
            }
            values.push_back(self.value()?);
        }
        Ok(values)
    }

    fn value(&mut self) -> mlua::Result<Value> {
        loop {
            let mut whole = match self.head()? {
                Head::Whole(value) => Some(value),
                Head::Array(missing) => {
                    let table = self.lua.create_table()?;
                    self.open.push(Open::Array { table, length: 0, missing });
                    self.close()
                }
                Head::Map(missing) => {
                    let table = self.lua.create_table()?;
                    self.open.push(Open::Map { table, key: None, missing });
                    self.close()
                }
            };
            while let Some(value) = whole {
                if self.open.is_empty() {
                    return Ok(value);
                }
                self.add(value)?;
                whole = self.close();
            }
            if self.open.len() > MAX_DEPTH {
                return Err(throw_at_caller(self.lua, TOO_MANY));
            }
        }
    }

    /// Puts a value into the innermost table, or keeps it as the key of the next one.
    fn add(&mut self, value: Value) -> mlua::Result<()> {
        match self.open.last_mut() {
            None => Ok(()),
            Some(Open::Array { table, length, missing }) => {
                (*length, *missing) = (*length + 1, *missing - 1);
                table.raw_set(*length, value)
            }
            Some(Open::Map { table, key, missing }) => match key.take() {
                None => {
                    *key = Some(value);
                    Ok(())
                }
                Some(Value::Nil) => Err(thrown_error(b"table index is nil")),
                Some(Value::Number(number)) if number.is_nan() => Err(thrown_error(b"table index is NaN")),
                Some(key) => {
                    *missing -= 1;
                    table.raw_set(key, value)
                }
            },
        }
    }

    /// The innermost table, if it is complete.
    fn close(&mut self) -> Option<Value> {
        match self.open.last()? {
            Open::Array { missing: 0, .. } | Open::Map { missing: 0, key: None, .. } => {}
            _ => return None,
        }
        self.open.pop().map(|open| match open {
            Open::Array { table, .. } | Open::Map { table, .. } => Value::Table(table),
        })
    }

    fn head(&mut self) -> mlua::Result<Head> {
        charge(self.lua, 1)?;
        let kind = self.take(1)?[0];
        let value = match kind {
            0xc0 => Value::Nil,
            0xc2 => Value::Boolean(false),
            0xc3 => Value::Boolean(true),
            0xca => Value::Number(f64::from(f32::from_bits(self.read_unsigned(4)? as u32))),
            0xcb => Value::Number(f64::from_bits(self.read_unsigned(8)?)),
            0xcc..=0xcf => Value::Number(self.read_unsigned(1 << (kind & 3))? as i64 as f64),
            0xd0 => Value::Integer(i64::from(self.read_unsigned(1)? as i8)),
            0xd1 => Value::Integer(i64::from(self.read_unsigned(2)? as i16)),
            0xd2 => Value::Integer(i64::from(self.read_unsigned(4)? as i32)),
            0xd3 => Value::Number(self.read_unsigned(8)? as i64 as f64),
            0xd9..=0xdb => {
                let length = self.read_unsigned(1 << (kind - 0xd9))?;
                self.text(length as usize)?
            }
            0xdc | 0xdd => {
                return self.read_unsigned(2 << (kind & 1)).map(|length| Head::Array(length as u32));
            }
            0xde | 0xdf => return self.read_unsigned(2 << (kind & 1)).map(|length| Head::Map(length as u32)),
            0x00..=0x7f | 0xe0.. => Value::Integer(i64::from(kind.cast_signed())),
            0xa0..=0xbf => self.text(usize::from(kind & 0x1f))?,
            0x90..=0x9f => return Ok(Head::Array(u32::from(kind & 0xf))),
            0x80..=0x8f => return Ok(Head::Map(u32::from(kind & 0xf))),
            _ => return Err(throw_at_caller(self.lua, "Bad data format in input.")),
        };
        Ok(Head::Whole(value))
    }

    fn text(&mut self, length: usize) -> mlua::Result<Value> {
        let bytes = self.take(length)?;
        self.lua.create_string(bytes).map(Value::String)
    }

    fn read_unsigned(&mut self, bytes: usize) -> mlua::Result<u64> {
        Ok(self.take(bytes)?.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
    }

    fn take(&mut self, bytes: usize) -> mlua::Result<&'a [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(bytes) else {
            return Err(throw_at_caller(self.lua, "Missing bytes in input."));
        };
        self.rest = rest;
        Ok(taken)
    }
}

fn thrown_error(text: &[u8]) -> mlua::Error {
    mlua::Error::external(ScriptError::Thrown(text.to_vec()))
}
