//! The `cmsgpack` library: lua-cmsgpack 0.4.0 as Redis has it.
//!
//! Not modelled: nesting beyond [`MAX_DEPTH`] when unpacking, which Redis refuses in the same words at a depth of its
//! own.

mod pack;
mod unpack;

use mlua::{Lua, MultiValue, Table, Value};

use super::arguments::{bad_argument, number_or_error, optional_number, text_argument};
use super::convert::truncate;
use super::error::{argument_error, throw_at_caller};

/// Deepest nesting of what is unpacked: each level takes room in Lua, which has some thousands of places.
const MAX_DEPTH: usize = 2_000;

/// The library's table.
pub(super) fn library(lua: &Lua) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    library.raw_set("pack", lua.create_function(pack_all)?)?;
    library.raw_set("unpack", lua.create_function(|lua, args: MultiValue| unpack(lua, &args, 0, 0))?)?;
    library.raw_set("unpack_one", lua.create_function(unpack_one)?)?;
    library.raw_set("unpack_limit", lua.create_function(unpack_limit)?)?;
    library.raw_set("_NAME", "cmsgpack")?;
    library.raw_set("_VERSION", "lua-cmsgpack 0.4.0")?;
    library.raw_set("_COPYRIGHT", "Copyright (C) 2012, Salvatore Sanfilippo")?;
    library.raw_set("_DESCRIPTION", "MessagePack C implementation for Lua")?;
    Ok(library)
}

fn pack_all(lua: &Lua, args: MultiValue) -> mlua::Result<mlua::LuaString> {
    if args.is_empty() {
        return Err(argument_error(lua, 0, "MessagePack pack needs input."));
    }
    let mut out = Vec::new();
    args.iter().try_for_each(|value| pack::value(lua, value, 0, &mut out))?;
    super::charge::charge_string(lua, out.len())?;
    lua.create_string(out)
}

fn unpack_one(lua: &Lua, args: MultiValue) -> mlua::Result<MultiValue> {
    let offset = optional_number(lua, &args, 1)?.map_or(0, truncate);
    unpack(lua, &args, 1, offset)
}

fn unpack_limit(lua: &Lua, args: MultiValue) -> mlua::Result<MultiValue> {
    let limit = truncate(number_or_error(lua, &args, 1)?);
    let offset = optional_number(lua, &args, 2)?.map_or(0, truncate);
    unpack(lua, &args, limit, offset)
}

/// The values from `offset` on, at most `limit` of them, and in front of them where the next one begins. Without
/// either, all values and nothing else.
fn unpack(lua: &Lua, args: &MultiValue, limit: i64, offset: i64) -> mlua::Result<MultiValue> {
    let text = text_argument(args, 0).ok_or_else(|| bad_argument(lua, 1, "string", args.front()))?;
    // Numbers in texts are C's int; the second of these is the length there too.
    let (shown, length) = (offset as i32, text.len() as i32);
    if offset < 0 || limit < 0 {
        let text = format!("Invalid request to unpack with offset of {shown} and limit of {length}.");
        return Err(throw_at_caller(lua, &text));
    }
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let Some(rest) = text.get(start..) else {
        let text = format!("Start offset {shown} greater than input length {length}.");
        return Err(throw_at_caller(lua, &text));
    };
    super::charge::charge_string(lua, rest.len())?;
    let all = limit == 0 && offset == 0;
    let limit = if all { usize::MAX } else { usize::try_from(limit).unwrap_or(usize::MAX) };
    let mut input = unpack::Input::new(lua, rest);
    let mut values = input.values(limit)?;
    if !all {
        let next = if input.bytes_left() == 0 { -1 } else { (text.len() - input.bytes_left()) as i64 };
        values.push_front(Value::Integer(next));
    }
    Ok(values)
}
