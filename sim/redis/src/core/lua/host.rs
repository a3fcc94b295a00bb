//! What the prelude asks of the host: commands, and where errors come from.

use mlua::{Function, Lua, MultiValue, Table, Value};

use super::arguments::{check_argument, text_argument};
use super::charge::{self, charge};
use super::complaints::as_own_error;
use super::convert;
use super::digest::digest;
use super::error::{OUT_OF_MEMORY, ScriptError, script_position};
use super::library;
use super::limits::{BYTES_PER_INSTRUCTION, LIGHT_MEMORY};
use super::under_way::{Run, with_run};
use super::{callback, guarded, json, msgpack, structs, walk};
use crate::core::hex;
use crate::resp::{Protocol, reply};

/// What calling one command costs of the script's instruction budget.
const CALL_COST: u64 = 50;
/// Bytes that SHA1 reads in the time of one instruction.
const HASHED_PER_INSTRUCTION: u64 = 4;

/// The table the prelude gets.
pub(super) fn functions(lua: &Lua) -> mlua::Result<Table> {
    let host = lua.create_table()?;
    host.raw_set("call", lua.create_function(|lua, args: MultiValue| call(lua, args, true))?)?;
    host.raw_set("pcall", lua.create_function(|lua, args: MultiValue| call(lua, args, false))?)?;
    host.raw_set("set_protocol", lua.create_function(set_protocol)?)?;
    host.raw_set("stopped", lua.create_function(|_, ()| Ok(with_run(|run| run.limits.stopped.is_some())))?)?;
    host.raw_set("sha1hex", lua.create_function(sha1hex)?)?;
    host.raw_set("thrown", lua.create_function(thrown_text)?)?;
    host.raw_set("checked", lua.create_function(checked_function)?)?;
    host.raw_set("where", lua.create_function(|lua, ()| Ok(script_position(lua)))?)?;
    walk::keep_next(lua)?;
    host.raw_set("bit", super::bits::library(lua)?)?;
    host.raw_set("cjson", json::library(lua)?)?;
    host.raw_set("cmsgpack", msgpack::library(lua)?)?;
    host.raw_set("struct", structs::library(lua)?)?;
    library::add_functions(lua, &host)?;
    guarded::add_functions(lua, &host)?;
    callback::add_functions(lua, &host)?;
    Ok(host)
}

/// redis.call (an error reply is thrown) and redis.pcall (it is returned).
fn call(lua: &Lua, args: MultiValue, throws: bool) -> mlua::Result<Value> {
    let (cost, kept) = with_run(|run| answer(run, &args)).unwrap_or_default();
    // mlua has about as many places for values as a script may pass arguments: the reply needs some too.
    drop(args);
    if kept > LIGHT_MEMORY {
        charge::memory_ran_out(lua)?;
    }
    charge(lua, cost)?;
    let called = with_run(|run| match convert::error_text(&run.out) {
        Some(text) if throws => Err(mlua::Error::external(ScriptError::Reply(text.to_vec()))),
        Some(text) => convert::table_with(lua, "err", lua.create_string(text)?),
        None => {
            let (value, longest) = convert::to_lua(lua, &run.out)?;
            run.limits.note_string(longest);
            Ok(value)
        }
    });
    called.unwrap_or(Ok(Value::Nil))
}

/// Puts the reply to one call into `run.out`: what it cost, and how many bytes of replies are kept.
fn answer(run: &mut Run, args: &MultiValue) -> (u64, usize) {
    run.out.clear();
    if let Some(cost) = run.calls.answer_again(&mut run.out) {
        return (cost, 0);
    }
    run.core.work = 0;
    if let Err(text) = execute(run, args) {
        reply::error(&mut run.out, text);
    }
    let bytes = (run.args.size() + run.out.len()) as u64;
    let cost = CALL_COST + args.len() as u64 + bytes.saturating_add(run.core.work) / BYTES_PER_INSTRUCTION;
    (cost, run.calls.keep(&run.out, cost))
}

/// Runs one command of the script; its reply is in `run.out`. `Err`: the error that Redis raises before it runs.
fn execute(run: &mut Run, args: &MultiValue) -> Result<(), &'static [u8]> {
    collect_arguments(run, args)?;
    run.caller.execute(&mut run.core, &run.args.args(), &mut run.out)
}

fn collect_arguments(run: &mut Run, args: &MultiValue) -> Result<(), &'static [u8]> {
    run.args.clear();
    if args.is_empty() {
        return Err(b"ERR Please specify at least one argument for this redis lib call");
    }
    for value in args {
        match value {
            Value::String(text) => run.args.push(&text.as_bytes()),
            Value::Integer(number) => run.args.push_with(|out| convert::write_number(out, *number as f64)),
            Value::Number(number) => run.args.push_with(|out| convert::write_number(out, *number)),
            _ => return Err(b"ERR Lua redis lib command arguments must be strings or integers"),
        }
    }
    Ok(())
}

fn set_protocol(_: &Lua, version: i64) -> mlua::Result<()> {
    with_run(|run| run.caller.session.protocol = if version == 3 { Protocol::Three } else { Protocol::Two });
    Ok(())
}

/// A function of the prelude as scripts get it: `kinds` says what its arguments must be, a letter each.
fn checked_function(lua: &Lua, (kinds, function): (String, Function)) -> mlua::Result<Function> {
    lua.create_function(move |lua, args: MultiValue| {
        for (index, kind) in kinds.bytes().enumerate() {
            check_argument(lua, &args, index, kind)?;
        }
        callback::call_back(lua, &function, args).map_err(|error| as_own_error(lua, error))
    })
}

/// redis.sha1hex(text).
fn sha1hex(lua: &Lua, args: MultiValue) -> mlua::Result<Value> {
    if args.len() != 1 {
        return Err(mlua::Error::external(ScriptError::Reply(b"ERR wrong number of arguments".to_vec())));
    }
    let text = text_argument(&args, 0).unwrap_or_default();
    charge(lua, text.len() as u64 / HASHED_PER_INSTRUCTION)?;
    lua.create_string(hex::encode(&digest(&text))).map(Value::String)
}

/// What an error of the host, or of Lua's allocator, was thrown with, and whether it is an error reply.
fn thrown_text(lua: &Lua, error: Value) -> mlua::Result<(Value, bool)> {
    let (text, is_reply) = match &error {
        Value::Error(error) => match error.downcast_ref::<ScriptError>() {
            Some(ScriptError::Kept) => return Ok((callback::kept_value(lua)?, false)),
            Some(ScriptError::Thrown(text)) => (text.clone(), false),
            Some(ScriptError::Reply(text)) => (text.clone(), true),
            None => (convert::error_words(error).into_bytes(), false),
        },
        Value::String(text) => (text.as_bytes().to_vec(), false),
        other => (other.type_name().as_bytes().to_vec(), false),
    };
    if text == OUT_OF_MEMORY {
        charge::memory_ran_out(lua)?;
    }
    Ok((Value::String(lua.create_string(text)?), is_reply))
}
