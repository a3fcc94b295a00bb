//! From Lua to JSON. Walks without recursion: a thread's stack does not bound the depth.

use mlua::{Lua, LuaString, Table, Value};

use super::super::arguments::lua_type;
use super::super::charge::{charge, check_size};
use super::super::convert::{format_g, truncate};
use super::super::error::throw_at_caller;
use super::super::walk;
use super::{Invalid, MAX_DEPTH, Settings, string};

const WRONG_KEY: &str = "table key must be a number or string";

/// Which of two wrong keys is named.
fn rank(key: &Value) -> u8 {
    match key {
        Value::Table(_) => 0,
        Value::Function(_) => 1,
        _ => 2,
    }
}

/// A table that is being written.
enum Open {
    Array { table: Table, next: i64, length: i64 },
    Object { table: Table, last: Value },
}

struct Encoder<'a> {
    lua: &'a Lua,
    settings: &'a Settings,
    out: Vec<u8>,
    open: Vec<Open>,
}

/// The JSON text of a value.
pub(super) fn encode(lua: &Lua, value: &Value, settings: &Settings) -> mlua::Result<LuaString> {
    let mut encoder = Encoder { lua, settings, out: Vec::new(), open: Vec::new() };
    encoder.value(value)?;
    while !encoder.open.is_empty() {
        encoder.step()?;
    }
    string(lua, &encoder.out)
}

impl Encoder<'_> {
    /// Writes the next element of the innermost table, or its end.
    fn step(&mut self) -> mlua::Result<()> {
        charge(self.lua, 1)?;
        check_size(self.out.len())?;
        match self.open.last_mut() {
            None => Ok(()),
            Some(Open::Array { table, next, length }) => {
                if *next > *length {
                    self.out.push(b']');
                    self.open.pop();
                    return Ok(());
                }
                let value: Value = table.raw_get(*next)?;
                if *next > 1 {
                    self.out.push(b',');
                }
                *next += 1;
                self.value(&value)
            }
            Some(Open::Object { table, last }) => {
                let is_first = matches!(last, Value::Nil);
                let Some((key, value)) = walk::next(self.lua, table, last)? else {
                    self.out.push(b'}');
                    self.open.pop();
                    return Ok(());
                };
                *last = key.clone();
                if !is_first {
                    self.out.push(b',');
                }
                self.key(&key)?;
                self.value(&value)
            }
        }
    }

    fn key(&mut self, key: &Value) -> mlua::Result<()> {
        match key {
            Value::String(text) => self.text(&text.as_bytes()),
            Value::Integer(_) | Value::Number(_) => {
                self.out.push(b'"');
                self.value(key)?;
                self.out.push(b'"');
            }
            other => return Err(self.refusal(other, WRONG_KEY)),
        }
        self.out.push(b':');
        Ok(())
    }

    fn value(&mut self, value: &Value) -> mlua::Result<()> {
        match value {
            Value::String(text) => self.text(&text.as_bytes()),
            Value::Integer(number) => self.number(value, *number as f64)?,
            Value::Number(number) => self.number(value, *number)?,
            Value::Boolean(truth) => self.out.extend_from_slice(if *truth { b"true" } else { b"false" }),
            Value::Table(table) => self.begin(table)?,
            Value::Nil | Value::LightUserData(_) => self.out.extend_from_slice(b"null"),
            other => return Err(self.refusal(other, "type not supported")),
        }
        Ok(())
    }

    fn begin(&mut self, table: &Table) -> mlua::Result<()> {
        let depth = self.open.len() + 1;
        let deepest = usize::try_from(self.settings.encode_depth).unwrap_or(0).min(MAX_DEPTH);
        if depth > deepest {
            let text = format!("Cannot serialise, excessive nesting ({depth})");
            return Err(throw_at_caller(self.lua, &text));
        }
        let table = walk::behind(table);
        let length = self.array_length(&table)?;
        self.out.push(if length > 0 { b'[' } else { b'{' });
        self.open.push(match length {
            1.. => Open::Array { table, next: 1, length: length.into() },
            _ => Open::Object { table, last: Value::Nil },
        });
        Ok(())
    }

    /// How long the table is if it is an array; else nothing, or less. Looks at all keys: which of two wrong ones comes
    /// first may depend on addresses.
    fn array_length(&self, table: &Table) -> mlua::Result<i32> {
        let (mut most, mut items, mut is_array) = (0_i32, 0_i32, true);
        let (mut last, mut worst): (Value, Option<Value>) = (Value::Nil, None);
        while let Some((key, _)) = walk::next(self.lua, table, &last)? {
            let number = match &key {
                Value::Integer(number) => *number as f64,
                Value::Number(number) => *number,
                _ => f64::NAN,
            };
            is_array &= number >= 1.0 && number.floor() == number;
            if number > f64::from(most) {
                // C's conversion to int, of what is too large.
                most = i32::try_from(truncate(number)).unwrap_or(i32::MIN);
            }
            items = items.wrapping_add(1);
            if walk::is_unordered(&key) && worst.as_ref().is_none_or(|worst| rank(&key) < rank(worst)) {
                worst = Some(key.clone());
            }
            last = key;
        }
        if let Some(key) = worst {
            return Err(self.refusal(&key, WRONG_KEY));
        }
        if !is_array {
            return Ok(-1);
        }
        let Settings { sparse_convert, sparse_ratio, sparse_safe, .. } = *self.settings;
        if sparse_ratio > 0 && most > items.wrapping_mul(sparse_ratio) && most > sparse_safe {
            if !sparse_convert {
                return Err(self.refusal(&Value::Table(table.clone()), "excessively sparse array"));
            }
            return Ok(-1);
        }
        Ok(most)
    }

    fn number(&mut self, value: &Value, number: f64) -> mlua::Result<()> {
        match self.settings.encode_invalid {
            Invalid::Refused if !number.is_finite() => {
                return Err(self.refusal(value, "must not be NaN or Inf"));
            }
            Invalid::Written if number.is_nan() => self.out.extend_from_slice(b"nan"),
            Invalid::Null if !number.is_finite() => self.out.extend_from_slice(b"null"),
            _ => {
                let digits = usize::try_from(self.settings.precision).unwrap_or(1);
                self.out.extend_from_slice(format_g(number, digits).as_bytes());
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &[u8]) {
        self.out.push(b'"');
        for &byte in text {
            match byte {
                b'"' | b'\\' | b'/' => self.out.extend_from_slice(&[b'\\', byte]),
                8 => self.out.extend_from_slice(b"\\b"),
                9 => self.out.extend_from_slice(b"\\t"),
                10 => self.out.extend_from_slice(b"\\n"),
                12 => self.out.extend_from_slice(b"\\f"),
                13 => self.out.extend_from_slice(b"\\r"),
                0..32 | 127 => self.out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
                other => self.out.push(other),
            }
        }
        self.out.push(b'"');
    }

    fn refusal(&self, value: &Value, why: &str) -> mlua::Error {
        throw_at_caller(self.lua, &format!("Cannot serialise {}: {why}", lua_type(value)))
    }
}
