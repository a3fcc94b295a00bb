//! What Lua's own functions complain of, said as if the script had called them itself.

use mlua::Lua;

use super::convert;
use super::error::{PRELUDE_NAME, ScriptError, argument_error, throw_at_caller};

/// What Lua's library functions say of their arguments: they put the place of the call in front, and here did not know
/// it.
const COMPLAINTS: [&str; 8] = [
    "wrong number of arguments",
    "invalid value (",
    "invalid order function",
    "too many results",
    "string slice too long",
    "stack overflow (",
    "invalid option",
    "invalid format",
];

/// What Lua says about a place in the prelude, it says about the place that called.
pub(super) fn as_own_error(lua: &Lua, error: mlua::Error) -> mlua::Error {
    let mlua::Error::RuntimeError(text) = convert::root(&error) else { return error };
    let text = text.split("\nstack traceback:").next().unwrap_or_default();
    let in_prelude = text.strip_prefix(&PRELUDE_NAME[1..]).and_then(|rest| rest.strip_prefix(':'));
    if let Some((_line, text)) = in_prelude.and_then(|rest| rest.split_once(": ")) {
        return throw_at_caller(lua, text);
    }
    complaint(lua, text)
        .unwrap_or_else(|| mlua::Error::external(ScriptError::Thrown(text.as_bytes().to_vec())))
}

/// An error text of a library function that the host has called, with the place and the name that the script called it
/// by.
fn complaint(lua: &Lua, text: &str) -> Option<mlua::Error> {
    if let Some(rest) = text.strip_prefix("bad argument #") {
        let (index, rest) = rest.split_once(" to '")?;
        let (_, why) = rest.split_once("' (")?;
        return Some(argument_error(lua, index.parse().ok()?, why.strip_suffix(')')?));
    }
    COMPLAINTS.iter().any(|start| text.starts_with(start)).then(|| throw_at_caller(lua, text))
}
