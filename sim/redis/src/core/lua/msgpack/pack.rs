//! From Lua to MessagePack.

use mlua::{Lua, Table, Value};

use super::super::charge::check_size;
use super::super::convert::truncate;
use super::super::error::throw_at_caller;
use super::super::walk;

/// Tables deeper than this are nil.
const MAX_NESTING: usize = 16;

/// Appends a value at a depth.
pub(super) fn value(lua: &Lua, value: &Value, depth: usize, out: &mut Vec<u8>) -> mlua::Result<()> {
    check_size(out.len())?;
    match value {
        Value::String(text) => bytes(&text.as_bytes(), out),
        Value::Boolean(truth) => out.push(if *truth { 0xc3 } else { 0xc2 }),
        Value::Integer(number) => integer(*number, out),
        Value::Number(value) => number(*value, out),
        Value::Table(inner) if depth < MAX_NESTING => table(lua, &walk::behind(inner), depth, out)?,
        _ => out.push(0xc0),
    }
    Ok(())
}

fn bytes(text: &[u8], out: &mut Vec<u8>) {
    let length = text.len() as u32;
    match length {
        0..32 => out.push(0xa0 | length as u8),
        32..0x100 => out.extend_from_slice(&[0xd9, length as u8]),
        0x100..0x1_0000 => head(0xda, &(length as u16).to_be_bytes(), out),
        _ => head(0xdb, &length.to_be_bytes(), out),
    }
    out.extend_from_slice(text);
}

fn head(kind: u8, rest: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(rest);
}

fn number(number: f64, out: &mut Vec<u8>) {
    if number.is_finite() && truncate(number) as f64 == number {
        return integer(truncate(number), out);
    }
    let single = number as f32;
    match f64::from(single) == number {
        true => head(0xca, &single.to_be_bytes(), out),
        false => head(0xcb, &number.to_be_bytes(), out),
    }
}

fn integer(number: i64, out: &mut Vec<u8>) {
    match number {
        -32..=127 => out.push(number as u8),
        128..=0xff => head(0xcc, &[number as u8], out),
        0x100..=0xffff => head(0xcd, &(number as u16).to_be_bytes(), out),
        0x1_0000..=0xffff_ffff => head(0xce, &(number as u32).to_be_bytes(), out),
        0x1_0000_0000.. => head(0xcf, &number.to_be_bytes(), out),
        -128..=-33 => head(0xd0, &[number as u8], out),
        -32_768..=-129 => head(0xd1, &(number as u16).to_be_bytes(), out),
        -2_147_483_648..=-32_769 => head(0xd2, &(number as u32).to_be_bytes(), out),
        _ => head(0xd3, &number.to_be_bytes(), out),
    }
}

fn table(lua: &Lua, table: &Table, depth: usize, out: &mut Vec<u8>) -> mlua::Result<()> {
    let (entries, is_array) = survey(lua, table)?;
    if is_array {
        // Lua's own idea of the length: all places up to it are taken.
        let length = table.raw_len();
        write_sized(length, [0x90, 0xdc, 0xdd], out);
        for index in 1..=length {
            value(lua, &table.raw_get(index)?, depth + 1, out)?;
        }
        return Ok(());
    }
    write_sized(entries, [0x80, 0xde, 0xdf], out);
    let mut last = Value::Nil;
    while let Some((key, inner)) = walk::next(lua, table, &last)? {
        if walk::is_unordered(&key) {
            let kind = key.type_name();
            let text = format!("the order of a table with a {kind} as a key differs from run to run");
            return Err(throw_at_caller(lua, &text));
        }
        value(lua, &key, depth + 1, out)?;
        value(lua, &inner, depth + 1, out)?;
        last = key;
    }
    Ok(())
}

/// How many entries a table has, and whether their keys are the numbers from 1 to that.
fn survey(lua: &Lua, table: &Table) -> mlua::Result<(usize, bool)> {
    let (mut entries, mut most, mut is_array) = (0, 0, true);
    let mut last = Value::Nil;
    while let Some((key, _)) = walk::next(lua, table, &last)? {
        match key {
            Value::Integer(number @ 1..=0x7fff_ffff) => most = most.max(number),
            _ => is_array = false,
        }
        entries += 1;
        last = key;
    }
    Ok((entries, is_array && most == entries as i64))
}

fn write_sized(length: usize, kinds: [u8; 3], out: &mut Vec<u8>) {
    match length {
        0..16 => out.push(kinds[0] | length as u8),
        16..0x1_0000 => head(kinds[1], &(length as u16).to_be_bytes(), out),
        _ => head(kinds[2], &(length as u32).to_be_bytes(), out),
    }
}
