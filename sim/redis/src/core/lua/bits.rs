//! The `bit` library: 32-bit operations, as LuaBitOp defines them.

use mlua::{Lua, MultiValue, Table};

use super::arguments::number_or_error;

/// The library's table.
pub(super) fn library(lua: &Lua) -> mlua::Result<Table> {
    let bit = lua.create_table()?;
    let one = |name: &str, compute: fn(i32) -> i32| {
        let function = lua.create_function(move |lua, args| Ok(compute(argument(lua, &args, 0)?)))?;
        bit.raw_set(name, function)
    };
    one("tobit", |bits| bits)?;
    one("bnot", |bits| !bits)?;
    one("bswap", i32::swap_bytes)?;
    let many = |name: &str, combine: fn(i32, i32) -> i32| {
        let function = lua.create_function(move |lua, args: MultiValue| {
            let first = argument(lua, &args, 0)?;
            // From the last one down: if several are wrong, that one is named.
            (1..args.len())
                .rev()
                .try_fold(first, |bits, index| Ok(combine(bits, argument(lua, &args, index)?)))
        })?;
        bit.raw_set(name, function)
    };
    many("band", |a, b| a & b)?;
    many("bor", |a, b| a | b)?;
    many("bxor", |a, b| a ^ b)?;
    let shift = |name: &str, compute: fn(i32, u32) -> i32| {
        let function = lua.create_function(move |lua, args| {
            let (bits, count) = (argument(lua, &args, 0)?, argument(lua, &args, 1)?);
            Ok(compute(bits, count as u32 & 31))
        })?;
        bit.raw_set(name, function)
    };
    shift("lshift", |bits, count| bits << count)?;
    shift("rshift", |bits, count| (bits as u32 >> count) as i32)?;
    shift("arshift", |bits, count| bits >> count)?;
    shift("rol", i32::rotate_left)?;
    shift("ror", i32::rotate_right)?;
    bit.raw_set("tohex", lua.create_function(|lua, args: MultiValue| to_hex(lua, &args))?)?;
    Ok(bit)
}

fn argument(lua: &Lua, args: &MultiValue, index: usize) -> mlua::Result<i32> {
    number_or_error(lua, args, index).map(to_bits)
}

/// A number modulo 2^32, as a signed one; of one beyond 2^51, whatever the addition leaves of it, as in LuaBitOp.
fn to_bits(x: f64) -> i32 {
    // 2^52 + 2^51: what is left of the point then lies in the low bits.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    (x + SHIFT).to_bits() as u32 as i32
}

/// The low `n` hexadecimal digits (8), in capitals for a negative `n`.
fn to_hex(lua: &Lua, args: &MultiValue) -> mlua::Result<String> {
    let bits = argument(lua, args, 0)?;
    let digits = if args.len() > 1 { argument(lua, args, 1)? } else { 8 };
    let shown = (digits.unsigned_abs() as usize).min(8);
    let text = format!("{bits:08x}")[8 - shown..].to_owned();
    Ok(if digits < 0 { text.to_ascii_uppercase() } else { text })
}
