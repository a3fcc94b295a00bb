//! Errors that the host throws into a script, and the places that they name.

use mlua::Lua;

/// The prelude's chunk name: its functions are not a script's own.
pub(super) const PRELUDE_NAME: &str = "=redis";
/// What Lua says when an allocation was refused.
pub(super) const OUT_OF_MEMORY: &[u8] = b"not enough memory";

/// An error thrown by the host into a script.
#[derive(Debug, thiserror::Error)]
pub(super) enum ScriptError {
    /// A Lua error: a text.
    #[error("{}", String::from_utf8_lossy(.0))]
    Thrown(Vec<u8>),
    /// A command's error reply: `{err=text}`.
    #[error("{}", String::from_utf8_lossy(.0))]
    Reply(Vec<u8>),
    /// Something else, which the registry holds.
    #[error("error object is not a string")]
    Kept,
}

/// Source and line of the innermost function that is the script's own.
pub(super) fn script_position(lua: &Lua) -> (String, usize) {
    for level in 1.. {
        let frame = lua.inspect_stack(level, |debug| {
            let source = debug.source();
            let name = source.source.map(|name| name.into_owned()).unwrap_or_default();
            (name, source.what, debug.current_line())
        });
        match frame {
            None => break,
            Some((name, "Lua" | "main", Some(line))) if name != PRELUDE_NAME => return (name, line),
            Some(_) => {}
        }
    }
    // It was left by a tail call. Most scripts that end in `return f(…)` have one line.
    ("@user_script".to_owned(), 1)
}

/// A Lua error at the place that called the host: `user_script:1: text`.
pub(super) fn throw_at_caller(lua: &Lua, text: &str) -> mlua::Error {
    let place = lua.inspect_stack(1, |debug| {
        let source = debug.source().short_src.map(|name| name.into_owned());
        source.zip(debug.current_line())
    });
    let text = match place.flatten() {
        Some((source, line)) => format!("{source}:{line}: {text}"),
        None => text.to_owned(),
    };
    mlua::Error::external(ScriptError::Thrown(text.into_bytes()))
}

/// Lua's `luaL_argerror`: the function is named as the script called it, which may be by no name at all.
pub(super) fn argument_error(lua: &Lua, index: usize, text: &str) -> mlua::Error {
    let called = lua.inspect_stack(0, |debug| {
        let names = debug.names();
        (names.name.map(|name| name.into_owned()), names.name_what == Some("method"))
    });
    let (name, is_method) = called.unwrap_or_default();
    let name = name.unwrap_or_else(|| "?".to_owned());
    let text = match (is_method, index) {
        (true, 1) => format!("calling '{name}' on bad self ({text})"),
        // A method's object is not counted among its arguments.
        (true, index) => format!("bad argument #{} to '{name}' ({text})", index as i64 - 1),
        (false, index) => format!("bad argument #{index} to '{name}' ({text})"),
    };
    throw_at_caller(lua, &text)
}
