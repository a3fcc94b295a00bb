//! Arguments of the host's functions as Lua's own read them, and the errors for those that are none.

use mlua::{Lua, MultiValue, Value};

use super::convert;
use super::error::argument_error;

/// Most values that a function such as `unpack` returns. Redis stops a little below 8,000 too (LUAI_MAXCSTACK): each is
/// on a C function's stack.
pub(super) const MAX_RESULTS: f64 = 7_900.0;

/// The error for an argument of the wrong type.
pub(super) fn bad_argument(lua: &Lua, index: usize, expected: &str, got: Option<&Value>) -> mlua::Error {
    let got = got.map_or("no value", |value| lua_type(value));
    argument_error(lua, index, &format!("{expected} expected, got {got}"))
}

/// Refuses an argument that is not what the letter stands for: t a table, s a string, f a function, c a coroutine, v
/// any value, m a table or nil, and a whatever there is or is not.
pub(super) fn check_argument(lua: &Lua, args: &MultiValue, index: usize, kind: u8) -> mlua::Result<()> {
    let got = args.get(index);
    match (kind, got) {
        (b't' | b'm', Some(Value::Table(_))) | (b'm', Some(Value::Nil)) | (b'v', Some(_)) => Ok(()),
        (b'c', Some(Value::Thread(_))) | (b'f', Some(Value::Function(_))) | (b'a', _) => Ok(()),
        (b's', Some(Value::String(_) | Value::Integer(_) | Value::Number(_))) => Ok(()),
        (b't', _) => Err(bad_argument(lua, index + 1, "table", got)),
        (b'f', _) => Err(bad_argument(lua, index + 1, "function", got)),
        (b's', _) => Err(bad_argument(lua, index + 1, "string", got)),
        (b'm', _) => Err(argument_error(lua, index + 1, "nil or table expected")),
        (b'c', _) => Err(argument_error(lua, index + 1, "coroutine expected")),
        _ => Err(argument_error(lua, index + 1, "value expected")),
    }
}

/// The name that Lua has for a value's type.
pub(super) fn lua_type(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) => "number",
        Value::LightUserData(_) => "userdata",
        other => other.type_name(),
    }
}

/// A string or number argument, as bytes.
pub(super) fn text_argument(args: &MultiValue, index: usize) -> Option<Vec<u8>> {
    match args.get(index)? {
        Value::String(text) => Some(text.as_bytes().to_vec()),
        Value::Integer(number) => Some(convert::number_as_lua_prints_it(*number as f64).into_bytes()),
        Value::Number(number) => Some(convert::number_as_lua_prints_it(*number).into_bytes()),
        _ => None,
    }
}

/// A number argument, or what Lua says about its absence.
pub(super) fn number_or_error(lua: &Lua, args: &MultiValue, index: usize) -> mlua::Result<f64> {
    let got = args.get(index);
    let number = match got {
        Some(Value::Integer(number)) => Some(*number as f64),
        Some(Value::Number(number)) => Some(*number),
        Some(text @ Value::String(_)) => lua.coerce_number(text.clone())?,
        _ => None,
    };
    number.ok_or_else(|| bad_argument(lua, index + 1, "number", got))
}

/// A number argument that may be missing.
pub(super) fn optional_number(lua: &Lua, args: &MultiValue, index: usize) -> mlua::Result<Option<f64>> {
    match args.get(index) {
        None | Some(Value::Nil) => Ok(None),
        Some(_) => number_or_error(lua, args, index).map(Some),
    }
}
