//! Lua's own functions that scripts get behind a guard: their work is charged before it is done, arguments that Lua 5.1
//! does not survive are refused, and tables of the sandbox cannot be changed by them.

use mlua::{Function, Lua, MultiValue, Table, Value};

use super::arguments::{MAX_RESULTS, number_or_error};
use super::callback::call_back;
use super::charge::{charge, charge_string};
use super::complaints::as_own_error;
use super::convert::truncate;
use super::error::{ScriptError, throw_at_caller};
use super::limits::BYTES_PER_INSTRUCTION;

/// What a call will cost beyond its instruction; or why it is refused.
type Cost = fn(&Lua, &MultiValue) -> mlua::Result<u64>;

const TABLE: [(&str, Cost); 4] = [
    ("remove", remove_cost),
    ("concat", concat_cost),
    ("sort", sort_cost),
    ("maxn", |_, args| Ok(length(args))),
];
const STRING: [(&str, Cost); 6] = [
    ("byte", bytes_cost),
    ("format", bytes_cost),
    ("lower", bytes_cost),
    ("reverse", bytes_cost),
    ("sub", bytes_cost),
    ("upper", bytes_cost),
];
/// A coroutine counts its instructions from 0, so that one that is short would not be counted at all.
const COROUTINE: [(&str, Cost); 2] = [("create", |_, _| Ok(200)), ("wrap", |_, _| Ok(200))];

/// Adds `table`, `string`, `coroutine` and `unpack` to the table the prelude gets.
pub(super) fn add_functions(lua: &Lua, host: &Table) -> mlua::Result<()> {
    let tables = library(lua, "table", &TABLE)?;
    tables.raw_set("insert", insert(lua)?)?;
    host.raw_set("table", tables)?;
    host.raw_set("string", library(lua, "string", &STRING)?)?;
    host.raw_set("coroutine", library(lua, "coroutine", &COROUTINE)?)?;
    host.raw_set("unpack", guard_function(lua, lua.globals().get("unpack")?, unpack_cost, false)?)
}

fn library(lua: &Lua, name: &str, functions: &[(&str, Cost)]) -> mlua::Result<Table> {
    let original: Table = lua.globals().get(name)?;
    let library = lua.create_table()?;
    for (name, cost) in functions {
        library.raw_set(*name, guard_function(lua, original.get(*name)?, *cost, *name == "sort")?)?;
    }
    Ok(library)
}

/// The function that scripts call in the place of Lua's own.
fn guard_function(lua: &Lua, original: Function, cost: Cost, calls_back: bool) -> mlua::Result<Function> {
    lua.create_function(move |lua, args: MultiValue| {
        charge(lua, cost(lua, &args)?)?;
        let called = if calls_back { call_back(lua, &original, args) } else { original.call(args) };
        let results: MultiValue = called.map_err(|error| as_own_error(lua, error))?;
        if let Some(Value::String(text)) = results.front() {
            charge_string(lua, text.as_bytes().len())?;
        }
        Ok(results)
    })
}

/// `table.insert`, with a shorter way to do what it mostly does.
fn insert(lua: &Lua) -> mlua::Result<Function> {
    let original: Function = lua.globals().get::<Table>("table")?.get("insert")?;
    lua.create_function(move |lua, args: MultiValue| match (args.len(), table(&args), args.get(1)) {
        (2, Some(table), Some(value)) if !is_readonly(table) => table.raw_push(value),
        _ => {
            charge(lua, insert_cost(lua, &args)?)?;
            original.call::<()>(args).map_err(|error| as_own_error(lua, error))
        }
    })
}

/// The length of the table that is the first argument.
fn length(args: &MultiValue) -> u64 {
    table(args).map_or(0, |table| table.raw_len() as u64)
}

fn table(args: &MultiValue) -> Option<&Table> {
    args.front().and_then(Value::as_table)
}

/// An argument as Lua's C functions read it: a number, cut to an `int`. What is none is for Lua itself to refuse.
fn integer(args: &MultiValue, index: usize) -> Option<i64> {
    let number = match args.get(index)? {
        Value::Integer(number) => *number as f64,
        Value::Number(number) => *number,
        text @ Value::String(_) => text.as_string()?.to_str().ok()?.trim().parse().ok()?,
        _ => return None,
    };
    Some(i64::from(truncate(number) as i32))
}

/// Every element behind the place is moved. To a place far below 1, that is a loop of two thousand million steps.
fn insert_cost(_: &Lua, args: &MultiValue) -> mlua::Result<u64> {
    if table(args).is_some_and(is_readonly) {
        // Redis' Lua says it without a place.
        return Err(mlua::Error::external(ScriptError::Thrown(READONLY.to_vec())));
    }
    let end = length(args) as i64 + 1;
    Ok(integer(args, 1)
        .filter(|_| args.len() == 3)
        .map_or(0, |place| end.saturating_sub(place).max(0) as u64))
}

fn remove_cost(_: &Lua, args: &MultiValue) -> mlua::Result<u64> {
    let end = length(args) as i64;
    Ok(integer(args, 1).map_or(0, |place| end.saturating_sub(place).clamp(0, end) as u64))
}

/// A concatenation ends at the first element that is missing.
fn concat_cost(_: &Lua, args: &MultiValue) -> mlua::Result<u64> {
    let length = length(args);
    let (first, last) = (integer(args, 2).unwrap_or(1), integer(args, 3).unwrap_or(length as i64));
    Ok((last.saturating_sub(first).max(0) as u64).min(length))
}

fn sort_cost(_: &Lua, args: &MultiValue) -> mlua::Result<u64> {
    let length = length(args);
    Ok(length * u64::from(u64::BITS - length.leading_zeros()))
}

fn bytes_cost(_: &Lua, args: &MultiValue) -> mlua::Result<u64> {
    let bytes = args.iter().filter_map(Value::as_string).map(|text| text.as_bytes().len() as u64);
    Ok(bytes.sum::<u64>() / BYTES_PER_INSTRUCTION)
}

/// Lua 5.1 counts the results in an `int`, which overflows: `unpack({}, 0, 2147483647)` then writes beyond every stack.
fn unpack_cost(lua: &Lua, args: &MultiValue) -> mlua::Result<u64> {
    if table(args).is_none() {
        return Ok(0);
    }
    let bound = |index: usize, default: f64| match args.get(index) {
        None | Some(Value::Nil) => Ok(default),
        Some(_) => number_or_error(lua, args, index).map(|number| f64::from(truncate(number) as i32)),
    };
    let count = bound(2, length(args) as f64)? - bound(1, 1.0)? + 1.0;
    if count > MAX_RESULTS {
        return Err(throw_at_caller(lua, "too many results to unpack"));
    }
    Ok(count.max(0.0) as u64)
}

/// What Redis' Lua says to whoever wants to change a table of the sandbox.
const READONLY: &[u8] = b"Attempt to modify a readonly table";

/// Whether the prelude put this table in front of one of its own.
fn is_readonly(table: &Table) -> bool {
    let mark = table.metatable().map(|metatable| metatable.raw_get::<bool>("readonly"));
    matches!(mark, Some(Ok(true)))
}
