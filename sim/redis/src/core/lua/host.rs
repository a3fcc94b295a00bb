//! What the prelude asks of the host: commands, and the parts of Lua's libraries that need a limit or a fixed answer.

use super::convert;
use super::pattern::{self, Capture};
use super::random::Random;
use super::run::{Run, killed, with_run};
use super::script::{digest, hex};
use crate::core::command::{self, LookupError, NO_SCRIPT, STALE_OK, WRITE};
use crate::core::context::Context;
use crate::core::{Next, commands};
use crate::resp::Protocol;
use mlua::{Lua, MultiValue, Table, Value};

/// The prelude's chunk name: its functions are not a script's own.
pub(super) const PRELUDE_NAME: &str = "=redis";
/// What calling one command costs of the script's instruction budget.
const CALL_COST: u64 = 50;

/// An error thrown by the host into a script.
#[derive(Debug, thiserror::Error)]
pub(super) enum ScriptError {
    /// A Lua error: a text.
    #[error("{}", String::from_utf8_lossy(.0))]
    Thrown(Vec<u8>),
    /// A command's error reply: `{err=text}`.
    #[error("{}", String::from_utf8_lossy(.0))]
    Reply(Vec<u8>),
}

/// The table the prelude gets.
pub(super) fn functions(lua: &Lua) -> mlua::Result<Table> {
    let host = lua.create_table()?;
    host.raw_set("version", commands::server::VERSION)?;
    host.raw_set("call", lua.create_function(|lua, args: MultiValue| call(lua, &args, true))?)?;
    host.raw_set("pcall", lua.create_function(|lua, args: MultiValue| call(lua, &args, false))?)?;
    host.raw_set("set_protocol", lua.create_function(|_, version| Ok(set_protocol(version)))?)?;
    host.raw_set("sha1hex", lua.create_function(sha1hex)?)?;
    host.raw_set("thrown", lua.create_function(thrown)?)?;
    host.raw_set("where", lua.create_function(|lua, ()| Ok(script_position(lua)))?)?;
    host.raw_set("random", lua.create_function(|_, ()| Ok(with_run(|run| run.random.next_fraction())))?)?;
    host.raw_set("seed_random", lua.create_function(|_, seed| Ok(seed_random(seed)))?)?;
    host.raw_set("find", lua.create_function(|lua, args: MultiValue| find(lua, &args, true))?)?;
    host.raw_set("match", lua.create_function(|lua, args: MultiValue| find(lua, &args, false))?)?;
    host.raw_set("match_at", lua.create_function(match_at)?)?;
    host.raw_set("find_plain", lua.create_function(find_plain)?)?;
    host.raw_set("rep", lua.create_function(rep)?)?;
    host.raw_set("tostring", lua.create_function(tostring)?)?;
    host.raw_set("assert", lua.create_function(assert)?)?;
    host.raw_set("bit", super::bits::library(lua)?)?;
    Ok(host)
}

/// redis.call (an error reply is thrown) and redis.pcall (it is returned).
fn call(lua: &Lua, args: &MultiValue, throws: bool) -> mlua::Result<Value> {
    let called = with_run(|run| {
        if run.spend(CALL_COST) {
            return Err(killed());
        }
        let failed = execute(run, args).err();
        match failed.as_deref().or_else(|| convert::error_text(&run.out)) {
            Some(text) if throws => Err(mlua::Error::external(ScriptError::Reply(text.to_vec()))),
            Some(text) => convert::table_with(lua, "err", lua.create_string(text)?),
            None => convert::to_lua(lua, &run.out),
        }
    });
    called.unwrap_or(Ok(Value::Nil))
}

/// Runs one command of the script; its reply is in `run.out`. `Err`: the error that Redis raises before it runs.
fn execute(run: &mut Run, args: &MultiValue) -> Result<(), Vec<u8>> {
    run.out.clear();
    collect_arguments(run, args)?;
    let args = run.args.args();
    let spec = match command::lookup(&args) {
        Ok(spec) => spec,
        Err(LookupError::UnknownCommand | LookupError::UnknownSubcommand) => {
            return Err(b"ERR Unknown Redis command called from script".to_vec());
        }
    };
    if !spec.accepts(args.len()) {
        return Err(b"ERR Wrong number of args calling Redis command from script".to_vec());
    }
    if spec.has(NO_SCRIPT) {
        return Err(b"ERR This Redis command is not allowed from script".to_vec());
    }
    if !spec.has(STALE_OK) && run.core.is_stale() {
        return Err(b"ERR Can not execute the command on a stale replica".to_vec());
    }
    if spec.has(WRITE) {
        if run.read_only {
            return Err(b"ERR Write commands are not allowed from read-only scripts.".to_vec());
        }
        // A script that has begun to write is not stopped half-way by the node's state.
        if !run.wrote
            && !run.from_master
            && let Some(refusal) = run.core.write_refusal()
        {
            return Err(refusal.to_vec());
        }
        run.wrote = true;
    }
    let mut context = Context { core: &mut run.core, session: &mut run.session, now: run.now, spec };
    let next = (spec.run)(&mut context, &args, &mut run.out);
    debug_assert_eq!(next, Next::Reply, "a script's commands ask nothing of the connection");
    Ok(())
}

fn collect_arguments(run: &mut Run, args: &MultiValue) -> Result<(), Vec<u8>> {
    run.args.clear();
    if args.is_empty() {
        return Err(b"ERR Please specify at least one argument for this redis lib call".to_vec());
    }
    for value in args {
        match value {
            Value::String(text) => run.args.push(&text.as_bytes()),
            Value::Integer(number) => run.args.push_with(|out| convert::write_number(out, *number as f64)),
            Value::Number(number) => run.args.push_with(|out| convert::write_number(out, *number)),
            _ => return Err(b"ERR Lua redis lib command arguments must be strings or integers".to_vec()),
        }
    }
    Ok(())
}

fn set_protocol(version: i64) {
    with_run(|run| run.session.protocol = if version == 3 { Protocol::Three } else { Protocol::Two });
}

fn seed_random(seed: f64) {
    // C's conversion to int keeps the low bits.
    with_run(|run| run.random = Random::seeded(seed as i64 as i32));
}

/// redis.sha1hex(text).
fn sha1hex(lua: &Lua, args: MultiValue) -> mlua::Result<Value> {
    if args.len() != 1 {
        return Err(mlua::Error::external(ScriptError::Reply(b"ERR wrong number of arguments".to_vec())));
    }
    let text = text_argument(&args, 0).unwrap_or_default();
    lua.create_string(hex(&digest(&text))).map(Value::String)
}

/// What an error of the host was thrown with, and whether it is an error reply.
fn thrown(lua: &Lua, error: Value) -> mlua::Result<(Value, bool)> {
    let (text, is_reply) = match &error {
        Value::Error(error) => match error.downcast_ref::<ScriptError>() {
            Some(ScriptError::Thrown(text)) => (text.clone(), false),
            Some(ScriptError::Reply(text)) => (text.clone(), true),
            None => (error.to_string().into_bytes(), false),
        },
        other => (other.type_name().as_bytes().to_vec(), false),
    };
    Ok((Value::String(lua.create_string(text)?), is_reply))
}

/// Source and line of the innermost function that is the script's own.
fn script_position(lua: &Lua) -> (String, usize) {
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
fn throw_at_caller(lua: &Lua, text: &str) -> mlua::Error {
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

fn bad_argument(lua: &Lua, index: usize, name: &str, expected: &str, got: Option<&Value>) -> mlua::Error {
    let got = got.map_or("no value", |value| lua_type(value));
    throw_at_caller(lua, &format!("bad argument #{index} to '{name}' ({expected} expected, got {got})"))
}

fn lua_type(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) => "number",
        other => other.type_name(),
    }
}

/// A string or number argument, as bytes.
fn text_argument(args: &MultiValue, index: usize) -> Option<Vec<u8>> {
    match args.get(index)? {
        Value::String(text) => Some(text.as_bytes().to_vec()),
        Value::Integer(number) => Some(convert::number_as_lua_prints_it(*number as f64).into_bytes()),
        Value::Number(number) => Some(convert::number_as_lua_prints_it(*number).into_bytes()),
        _ => None,
    }
}

fn number_argument(args: &MultiValue, index: usize) -> Option<f64> {
    match args.get(index)? {
        Value::Integer(number) => Some(*number as f64),
        Value::Number(number) => Some(*number),
        Value::String(text) => text.to_str().ok()?.trim().parse().ok(),
        _ => None,
    }
}

/// string.find and string.match.
fn find(lua: &Lua, args: &MultiValue, is_find: bool) -> mlua::Result<MultiValue> {
    let name = if is_find { "find" } else { "match" };
    let argument = |index| {
        text_argument(args, index)
            .ok_or_else(|| bad_argument(lua, index + 1, name, "string", args.get(index)))
    };
    let (text, wanted) = (argument(0)?, argument(1)?);
    let init = start_index(number_argument(args, 2).unwrap_or(1.0), text.len());
    let plain =
        is_find && args.get(3).is_some_and(|plain| !matches!(plain, Value::Nil | Value::Boolean(false)));
    if plain {
        let found = find_bytes(&text[init..], &wanted).map(|at| (init + at + 1, init + at + wanted.len()));
        return Ok(match found {
            Some((first, last)) => MultiValue::from_iter([index_value(first), index_value(last)]),
            None => MultiValue::from_iter([Value::Nil]),
        });
    }
    let found = pattern::search(&text, &wanted, init, false).map_err(|why| throw_at_caller(lua, why))?;
    let Some(found) = found else { return Ok(MultiValue::from_iter([Value::Nil])) };
    let mut values = MultiValue::new();
    if is_find {
        values.push_back(index_value(found.start + 1));
        values.push_back(index_value(found.end));
        if !pattern::has_captures(&wanted) {
            return Ok(values);
        }
    }
    push_captures(lua, &text, &found.captures, &mut values)?;
    Ok(values)
}

/// Where a search starts, counted from 0, for Lua's `init` (from 1, or negative from the end).
fn start_index(init: f64, length: usize) -> usize {
    let length = length as f64;
    let init = if init < 0.0 { init.trunc() + length + 1.0 } else { init.trunc() };
    (init.clamp(1.0, length + 1.0) - 1.0) as usize
}

fn index_value(index: usize) -> Value {
    Value::Integer(index as i64)
}

fn push_captures(lua: &Lua, text: &[u8], captures: &[Capture], into: &mut MultiValue) -> mlua::Result<()> {
    for capture in captures {
        into.push_back(match *capture {
            Capture::Span(from, to) => Value::String(lua.create_string(&text[from..to])?),
            Capture::Position(at) => index_value(at + 1),
        });
    }
    Ok(())
}

/// For gsub and gmatch: an error text; or nil, first, last and captures; or nothing.
fn match_at(
    lua: &Lua,
    args: (mlua::LuaString, mlua::LuaString, usize, Option<bool>),
) -> mlua::Result<MultiValue> {
    let (text, wanted, init, caret_is_literal) = args;
    let text = text.as_bytes();
    let mut values = MultiValue::new();
    let init = init.clamp(1, text.len() + 1) - 1;
    match pattern::search(&text, &wanted.as_bytes(), init, caret_is_literal.unwrap_or(false)) {
        Err(why) => values.push_back(Value::String(lua.create_string(why)?)),
        Ok(None) => {}
        Ok(Some(found)) => {
            values.push_back(Value::Nil);
            values.push_back(index_value(found.start + 1));
            values.push_back(index_value(found.end));
            push_captures(lua, &text, &found.captures, &mut values)?;
        }
    }
    Ok(values)
}

fn find_plain(_: &Lua, args: (mlua::LuaString, mlua::LuaString, usize)) -> mlua::Result<Option<usize>> {
    let (text, wanted, init) = args;
    let text = text.as_bytes();
    let init = init.clamp(1, text.len() + 1) - 1;
    Ok(find_bytes(&text[init..], &wanted.as_bytes()).map(|at| init + at + 1))
}

/// Knuth, Morris and Pratt: linear whatever the two look like.
fn find_bytes(text: &[u8], wanted: &[u8]) -> Option<usize> {
    let mut fallback = vec![0; wanted.len()];
    let mut matched = 0;
    for index in 1..wanted.len() {
        while matched > 0 && wanted[index] != wanted[matched] {
            matched = fallback[matched - 1];
        }
        matched += usize::from(wanted[index] == wanted[matched]);
        fallback[index] = matched;
    }
    if wanted.is_empty() {
        return Some(0);
    }
    matched = 0;
    for (index, byte) in text.iter().enumerate() {
        while matched > 0 && *byte != wanted[matched] {
            matched = fallback[matched - 1];
        }
        matched += usize::from(*byte == wanted[matched]);
        if matched == wanted.len() {
            return Some(index + 1 - wanted.len());
        }
    }
    None
}

/// string.rep: refuses at once what would only run into the memory limit after a while.
fn rep(lua: &Lua, args: MultiValue) -> mlua::Result<Value> {
    let text = text_argument(&args, 0).ok_or_else(|| bad_argument(lua, 1, "rep", "string", args.get(0)))?;
    let times =
        number_argument(&args, 1).ok_or_else(|| bad_argument(lua, 2, "rep", "number", args.get(1)))?;
    if times < 1.0 || text.is_empty() {
        return lua.create_string("").map(Value::String);
    }
    let limit = with_run(|run| run.memory_limit).unwrap_or(0);
    if times * text.len() as f64 > limit as f64 {
        return Err(mlua::Error::external(ScriptError::Thrown(b"not enough memory".to_vec())));
    }
    lua.create_string(text.repeat(times as usize)).map(Value::String)
}

/// tostring without addresses: those differ between two runs of one plan.
fn tostring(lua: &Lua, args: MultiValue) -> mlua::Result<Value> {
    let Some(value) = args.get(0) else {
        return Err(throw_at_caller(lua, "bad argument #1 to 'tostring' (value expected)"));
    };
    let text = match value {
        Value::Nil => "nil".to_owned(),
        Value::Boolean(truth) => truth.to_string(),
        Value::Integer(number) => convert::number_as_lua_prints_it(*number as f64),
        Value::Number(number) => convert::number_as_lua_prints_it(*number),
        Value::String(_) => return Ok(value.clone()),
        Value::Table(table) => match table.metatable().map(|metatable| metatable.raw_get("__tostring")) {
            Some(Ok(Value::Function(convert))) => return convert.call(value.clone()),
            _ => "table: 0x000000000000".to_owned(),
        },
        other => format!("{}: 0x000000000000", other.type_name()),
    };
    lua.create_string(text).map(Value::String)
}

/// assert(condition [, message]).
fn assert(lua: &Lua, args: MultiValue) -> mlua::Result<MultiValue> {
    match args.get(0) {
        None => Err(throw_at_caller(lua, "bad argument #1 to 'assert' (value expected)")),
        Some(Value::Nil | Value::Boolean(false)) => Err(match (args.get(1), text_argument(&args, 1)) {
            (_, Some(message)) => throw_at_caller(lua, &String::from_utf8_lossy(&message)),
            (None | Some(Value::Nil), None) => throw_at_caller(lua, "assertion failed!"),
            (got, None) => bad_argument(lua, 2, "assert", "string", got),
        }),
        Some(_) => Ok(args),
    }
}
