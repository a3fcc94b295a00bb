//! The `struct` library: Roberto Ierusalimschy's, as Redis has it on a 64-bit little-endian machine.

use mlua::{Lua, LuaString, MultiValue, Table, Value};

use super::arguments::{MAX_RESULTS, bad_argument, number_or_error, optional_number, text_argument};
use super::charge::{charge, charge_string, check_size};
use super::convert::truncate;
use super::error::{argument_error, throw_at_caller};

/// Bytes of the widest integer.
const WIDEST: usize = 32;
/// Where a double lies.
const DEFAULT_ALIGNMENT: usize = 8;

/// The library's table.
pub(super) fn library(lua: &Lua) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    library.raw_set("pack", lua.create_function(pack)?)?;
    library.raw_set("unpack", lua.create_function(unpack)?)?;
    library.raw_set("size", lua.create_function(size)?)?;
    Ok(library)
}

/// A format as far as it is read.
struct Format<'a> {
    lua: &'a Lua,
    rest: &'a [u8],
    is_big: bool,
    alignment: usize,
}

impl<'a> Format<'a> {
    fn new(lua: &'a Lua, text: &'a [u8]) -> Format<'a> {
        // To C it ends at a NUL.
        let rest = text.split(|&byte| byte == 0).next().unwrap_or_default();
        Format { lua, rest, is_big: false, alignment: 1 }
    }

    /// The next option and its size.
    fn option(&mut self) -> mlua::Result<Option<(u8, usize)>> {
        charge(self.lua, 1)?;
        let Some((&option, rest)) = self.rest.split_first() else { return Ok(None) };
        self.rest = rest;
        let size = match option {
            b'B' | b'b' | b'x' => 1,
            b'H' | b'h' => 2,
            b'f' => 4,
            b'L' | b'l' | b'T' | b'd' => 8,
            b'c' => self.number(1)?,
            b'i' | b'I' => match self.number(4)? {
                size if size > WIDEST => {
                    let text = format!("integral size {size} is larger than limit of {WIDEST}");
                    return Err(throw_at_caller(self.lua, &text));
                }
                size => size,
            },
            _ => 0,
        };
        Ok(Some((option, size)))
    }

    fn number(&mut self, default: usize) -> mlua::Result<usize> {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return Ok(default);
        }
        let (digits, rest) = self.rest.split_at(digits);
        self.rest = rest;
        let add = |sum: i32, digit: &u8| sum.checked_mul(10)?.checked_add(i32::from(digit - b'0'));
        let number = digits.iter().try_fold(0, add);
        let number = number.ok_or_else(|| throw_at_caller(self.lua, "integral size overflow"))?;
        Ok(number.unsigned_abs() as usize)
    }

    /// How many bytes lie between `position` and where something of this size may begin.
    fn padding(&self, position: u64, option: u8, size: usize) -> u64 {
        if size == 0 || option == b'c' {
            return 0;
        }
        let size = size.min(self.alignment) as u64;
        size.wrapping_sub(position & (size - 1)) & (size - 1)
    }

    /// Obeys an option that stands for no value.
    fn control(&mut self, option: u8) -> mlua::Result<()> {
        match option {
            b' ' => {}
            b'>' => self.is_big = true,
            b'<' => self.is_big = false,
            b'!' => {
                let alignment = self.number(DEFAULT_ALIGNMENT)?;
                if !alignment.is_power_of_two() {
                    let text = format!("alignment {alignment} is not a power of 2");
                    return Err(throw_at_caller(self.lua, &text));
                }
                self.alignment = alignment;
            }
            other => {
                let text = format!("invalid format option '{}'", String::from_utf8_lossy(&[other]));
                return Err(argument_error(self.lua, 1, &text));
            }
        }
        Ok(())
    }

    /// The bytes of something, whose lowest byte is first, in the order that was asked for.
    fn order_bytes(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if self.is_big {
            bytes.reverse();
        }
        bytes
    }
}

fn text(lua: &Lua, args: &MultiValue, index: usize) -> mlua::Result<Vec<u8>> {
    text_argument(args, index).ok_or_else(|| bad_argument(lua, index + 1, "string", args.get(index)))
}

fn pack(lua: &Lua, mut args: MultiValue) -> mlua::Result<LuaString> {
    let format_text = text(lua, &args, 0)?;
    // Redis' has a nil behind its arguments while it works.
    args.push_back(Value::Nil);
    let mut format = Format::new(lua, &format_text);
    let (mut out, mut at) = (Vec::new(), 1);
    while let Some((option, size)) = format.option()? {
        let padding = format.padding(out.len() as u64, option, size);
        out.resize(out.len() + padding as usize, 0);
        check_size(out.len())?;
        match option {
            b'b' | b'B' | b'h' | b'H' | b'l' | b'L' | b'T' | b'i' | b'I' => {
                let value = truncate_unsigned(number_or_error(lua, &args, at)?).to_le_bytes();
                let bytes = value.iter().copied().chain(std::iter::repeat(0)).take(size).collect();
                out.extend(format.order_bytes(bytes));
                at += 1;
            }
            b'x' => out.push(0),
            b'f' => {
                let value = number_or_error(lua, &args, at)? as f32;
                out.extend(format.order_bytes(value.to_le_bytes().to_vec()));
                at += 1;
            }
            b'd' => {
                out.extend(format.order_bytes(number_or_error(lua, &args, at)?.to_le_bytes().to_vec()));
                at += 1;
            }
            b'c' | b's' => {
                let value = text(lua, &args, at)?;
                at += 1;
                let Some(shown) = value.get(..if size == 0 { value.len() } else { size }) else {
                    return Err(argument_error(lua, at + 1, "string too short"));
                };
                out.extend_from_slice(shown);
                if option == b's' {
                    out.push(0);
                }
            }
            other => format.control(other)?,
        }
    }
    charge_string(lua, out.len())?;
    lua.create_string(out)
}

/// C's conversion of a number to an unsigned long, on x86.
fn truncate_unsigned(number: f64) -> u64 {
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    match number >= HALF {
        true => truncate(number - HALF).cast_unsigned() ^ 1 << 63,
        false => truncate(number).cast_unsigned(),
    }
}

fn unpack(lua: &Lua, args: MultiValue) -> mlua::Result<MultiValue> {
    const TOO_SHORT: &str = "data string too short";
    let (format_text, data) = (text(lua, &args, 0)?, text(lua, &args, 1)?);
    let position = optional_number(lua, &args, 2)?.map_or(1, truncate).cast_unsigned();
    let Some(mut position) = position.checked_sub(1) else {
        return Err(argument_error(lua, 3, "offset must be 1 or greater"));
    };
    let mut format = Format::new(lua, &format_text);
    let mut values = MultiValue::new();
    while let Some((option, mut size)) = format.option()? {
        position = position.wrapping_add(format.padding(position, option, size));
        let rest = usize::try_from(position).ok().and_then(|position| data.get(position..));
        let Some(rest) = rest.filter(|rest| size <= rest.len()) else {
            return Err(argument_error(lua, 2, TOO_SHORT));
        };
        if values.len() as f64 >= MAX_RESULTS {
            return Err(throw_at_caller(lua, "stack overflow (too many results)"));
        }
        let bytes = || format.order_bytes(rest[..size].to_vec());
        let value = match option {
            b'b' | b'B' | b'h' | b'H' | b'l' | b'L' | b'T' | b'i' | b'I' => {
                Some(Value::Number(integer(&bytes(), option.is_ascii_lowercase())))
            }
            b'f' => {
                let bits = bytes().iter().rev().fold(0, |bits, &byte| bits << 8 | u32::from(byte));
                Some(Value::Number(f64::from(f32::from_bits(bits))))
            }
            b'd' => {
                let bits = bytes().iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
                Some(Value::Number(f64::from_bits(bits)))
            }
            b'c' => {
                if size == 0 {
                    size = previous_size(lua, &mut values)?;
                }
                let shown = rest.get(..size).ok_or_else(|| argument_error(lua, 2, TOO_SHORT))?;
                Some(Value::String(lua.create_string(shown)?))
            }
            b's' => {
                let end = memchr::memchr(0, rest);
                let end = end.ok_or_else(|| throw_at_caller(lua, "unfinished string in data"))?;
                size = end + 1;
                Some(Value::String(lua.create_string(&rest[..end])?))
            }
            b'x' => None,
            other => {
                format.control(other)?;
                None
            }
        };
        values.extend(value);
        position = position.wrapping_add(size as u64);
        charge_string(lua, size)?;
    }
    values.push_back(Value::Number(position.wrapping_add(1).cast_signed() as f64));
    Ok(values)
}

/// The integer whose lowest byte is first. What is beyond 64 bits does not count.
fn integer(bytes: &[u8], is_signed: bool) -> f64 {
    let low = bytes.iter().take(8).rev().fold(0_u64, |bits, &byte| bits << 8 | u64::from(byte));
    if !is_signed {
        return low as f64;
    }
    // A shift by more than 63 is one by its low bits, on x86.
    let mask = u64::MAX.wrapping_shl((8 * bytes.len() as u32).wrapping_sub(1));
    let extended = if low & mask == 0 { low } else { low | mask };
    extended.cast_signed() as f64
}

/// The number that was read last, which `c0` takes as its size.
fn previous_size(lua: &Lua, values: &mut MultiValue) -> mlua::Result<usize> {
    let size = match values.pop_back() {
        Some(Value::Number(number)) => Some(number),
        Some(text @ Value::String(_)) => lua.coerce_number(text)?,
        _ => None,
    };
    let size = size.ok_or_else(|| throw_at_caller(lua, "format 'c0' needs a previous size"))?;
    Ok(usize::try_from(truncate_unsigned(size)).unwrap_or(usize::MAX))
}

fn size(lua: &Lua, args: MultiValue) -> mlua::Result<f64> {
    let format_text = text(lua, &args, 0)?;
    let mut format = Format::new(lua, &format_text);
    let mut position = 0_u64;
    while let Some((option, size)) = format.option()? {
        position += format.padding(position, option, size);
        match (option, size) {
            (b's', _) => return Err(argument_error(lua, 1, "option 's' has no fixed size")),
            (b'c', 0) => return Err(argument_error(lua, 1, "option 'c0' has no fixed size")),
            _ => {}
        }
        if !option.is_ascii_alphanumeric() {
            format.control(option)?;
        }
        position += size as u64;
    }
    Ok(position as f64)
}
