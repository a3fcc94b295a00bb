//! How libraries of the host go through a script's tables.

use mlua::{Function, Lua, Table, Value};

use super::charge::charge;

/// Where the registry keeps Lua's own `next`.
const NEXT: &str = "doublehold.next";

/// Keeps Lua's `next` before the sandbox hides it.
pub(super) fn keep_next(lua: &Lua) -> mlua::Result<()> {
    let next: Function = lua.globals().get("next")?;
    lua.set_named_registry_value(NEXT, next)
}

/// The entry behind `last`, or the first one behind nil. Only one is held at a time: the host has places for some
/// thousands of values.
pub(super) fn next(lua: &Lua, table: &Table, last: &Value) -> mlua::Result<Option<(Value, Value)>> {
    charge(lua, 1)?;
    let next: Function = lua.named_registry_value(NEXT)?;
    let (key, value): (Value, Value) = next.call((table, last))?;
    Ok(if matches!(key, Value::Nil) { None } else { Some((key, value)) })
}

/// Whether keys like this one come in the order of their addresses, which are others in the next run.
pub(super) fn is_unordered(key: &Value) -> bool {
    matches!(key, Value::Table(_) | Value::Function(_) | Value::Thread(_))
}

/// The table that scripts see: the sandbox's own are hidden behind empty ones.
pub(super) fn behind(table: &Table) -> Table {
    let Some(guard) = table.metatable() else { return table.clone() };
    let is_readonly = matches!(guard.raw_get::<bool>("readonly"), Ok(true));
    match guard.raw_get::<Table>("__index") {
        Ok(real) if is_readonly => real,
        _ => table.clone(),
    }
}
