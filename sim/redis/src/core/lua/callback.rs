//! Calls from the host back into Lua: not too deep, and with errors that arrive as they were thrown.
//!
//! Through mlua an error is a text or an error of the host; of a table it would keep the address, which is another in
//! each run. So the prelude catches what a callback throws, and what is no text waits in the registry until Lua has it
//! back.

use mlua::{Function, Lua, MultiValue, Table, Value};

use super::error::ScriptError;
use super::under_way::with_run;

/// How deep the host's functions may call back into Lua: half a megabyte of a thread's stack in a debug build. Lua's
/// own limit is 200 calls of any C function.
const MAX_NESTED: u32 = 40;

/// Where the registry keeps the prelude's `catching(f, …)`, its `index(t, k)`, and what was thrown.
const CATCHING: &str = "doublehold.catching";
const INDEX: &str = "doublehold.index";
const THROWN: &str = "doublehold.thrown";

/// Adds `call_back_with` and `keep` to the table the prelude gets.
pub(super) fn add_functions(lua: &Lua, host: &Table) -> mlua::Result<()> {
    let with = lua.create_function(|lua, (catching, index): (Function, Function)| {
        lua.set_named_registry_value(CATCHING, catching)?;
        lua.set_named_registry_value(INDEX, index)
    });
    host.raw_set("call_back_with", with?)?;
    let keep = lua.create_function(|lua, thrown: Value| -> mlua::Result<()> {
        lua.set_named_registry_value(THROWN, thrown)?;
        Err(mlua::Error::external(ScriptError::Kept))
    });
    host.raw_set("keep", keep?)
}

/// What a callback threw last.
pub(super) fn kept_value(lua: &Lua) -> mlua::Result<Value> {
    lua.named_registry_value(THROWN)
}

/// Calls a function of the script, or one that may call such a function.
pub(super) fn call_back(lua: &Lua, function: &Function, args: MultiValue) -> mlua::Result<MultiValue> {
    let catching: Function = lua.named_registry_value(CATCHING)?;
    let is_too_deep = with_run(|run| {
        run.limits.nested += 1;
        run.limits.nested > MAX_NESTED
    });
    let result = match is_too_deep {
        Some(true) => Err(mlua::Error::external(ScriptError::Thrown(b"C stack overflow".to_vec()))),
        _ => catching.call((function, args)),
    };
    with_run(|run| run.limits.nested = run.limits.nested.saturating_sub(1));
    result
}

/// A table's field, by its metatable's `__index` if need be.
pub(super) fn field(lua: &Lua, table: &Table, name: Value) -> mlua::Result<Value> {
    if table.metatable().is_none() {
        return table.raw_get(name);
    }
    let index: Function = lua.named_registry_value(INDEX)?;
    let args = MultiValue::from_iter([Value::Table(table.clone()), name]);
    Ok(call_back(lua, &index, args)?.pop_front().unwrap_or(Value::Nil))
}
