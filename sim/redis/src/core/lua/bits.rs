//! The `bit` library: 32-bit operations, as LuaBitOp defines them.

use mlua::{Lua, Table, Variadic};

/// The library's table.
pub(super) fn library(lua: &Lua) -> mlua::Result<Table> {
    let bit = lua.create_table()?;
    bit.raw_set("tobit", lua.create_function(|_, x: f64| Ok(to_bits(x)))?)?;
    bit.raw_set("bnot", lua.create_function(|_, x: f64| Ok(!to_bits(x)))?)?;
    bit.raw_set("band", lua.create_function(|_, xs: Variadic<f64>| Ok(fold(&xs, -1, |a, b| a & b)))?)?;
    bit.raw_set("bor", lua.create_function(|_, xs: Variadic<f64>| Ok(fold(&xs, 0, |a, b| a | b)))?)?;
    bit.raw_set("bxor", lua.create_function(|_, xs: Variadic<f64>| Ok(fold(&xs, 0, |a, b| a ^ b)))?)?;
    bit.raw_set("lshift", lua.create_function(|_, (x, n)| Ok(to_bits(x).wrapping_shl(count(n))))?)?;
    bit.raw_set(
        "rshift",
        lua.create_function(|_, (x, n)| Ok((to_bits(x) as u32).wrapping_shr(count(n)) as i32))?,
    )?;
    bit.raw_set("arshift", lua.create_function(|_, (x, n)| Ok(to_bits(x).wrapping_shr(count(n))))?)?;
    bit.raw_set("rol", lua.create_function(|_, (x, n)| Ok(to_bits(x).rotate_left(count(n) & 31)))?)?;
    bit.raw_set("ror", lua.create_function(|_, (x, n)| Ok(to_bits(x).rotate_right(count(n) & 31)))?)?;
    bit.raw_set("bswap", lua.create_function(|_, x: f64| Ok(to_bits(x).swap_bytes()))?)?;
    bit.raw_set("tohex", lua.create_function(|_, (x, n): (f64, Option<f64>)| Ok(to_hex(x, n)))?)?;
    Ok(bit)
}

/// Any number modulo 2^32, as a signed one.
fn to_bits(x: f64) -> i32 {
    x.round_ties_even().rem_euclid(4_294_967_296.0) as u32 as i32
}

fn count(n: f64) -> u32 {
    to_bits(n) as u32
}

fn fold(xs: &[f64], empty: i32, combine: impl Fn(i32, i32) -> i32) -> i32 {
    xs.iter().map(|&x| to_bits(x)).reduce(combine).unwrap_or(empty)
}

/// The low `n` hexadecimal digits (8), in capitals for a negative `n`.
fn to_hex(x: f64, n: Option<f64>) -> String {
    let digits = n.unwrap_or(8.0);
    let shown = (digits.abs() as usize).min(8);
    let text = format!("{:08x}", to_bits(x));
    let text = text[8 - shown..].to_owned();
    if digits < 0.0 { text.to_ascii_uppercase() } else { text }
}
