//! The parts of Lua's own libraries that need a limit, a fixed answer or Redis' behaviour: patterns that count their
//! steps, strings that fit the memory, no addresses, a random generator that every script finds in the same state.

use memchr::memmem;
use mlua::{Function, Lua, LuaString, MultiValue, Table, Value};

use super::arguments::{bad_argument, lua_type, number_or_error, optional_number, text_argument};
use super::callback;
use super::charge::{charge, charge_string, check_size};
use super::convert;
use super::error::{argument_error, throw_at_caller};
use super::pattern::{self, Capture, Match, Search};
use super::random::Random;
use super::under_way::with_run;

/// Steps of the pattern matcher that take as long as one Lua instruction.
const STEPS_PER_INSTRUCTION: u64 = 4;
/// What a search costs besides its steps.
const SEARCH_COST: u64 = 50;

/// Adds these functions to the table the prelude gets.
pub(super) fn add_functions(lua: &Lua, host: &Table) -> mlua::Result<()> {
    host.raw_set("find", lua.create_function(|lua, args: MultiValue| find(lua, &args, true))?)?;
    host.raw_set("match", lua.create_function(|lua, args: MultiValue| find(lua, &args, false))?)?;
    host.raw_set("match_at", lua.create_function(match_at)?)?;
    host.raw_set("gsub", lua.create_function(gsub)?)?;
    host.raw_set("rep", lua.create_function(rep)?)?;
    host.raw_set("tostring", lua.create_function(tostring)?)?;
    host.raw_set("assert", lua.create_function(assert)?)?;
    host.raw_set("random", lua.create_function(random)?)?;
    host.raw_set("seed_random", lua.create_function(seed_random)?)
}

/// math.random([low,] [high]).
fn random(lua: &Lua, args: MultiValue) -> mlua::Result<Value> {
    let fraction = with_run(|run| run.random.next_fraction()).unwrap_or(0.0);
    let bound = |index: usize| number_or_error(lua, &args, index).map(f64::floor);
    let (low, high) = match args.len() {
        0 => return Ok(Value::Number(fraction)),
        1 => (1.0, bound(0)?),
        2 => (bound(0)?, bound(1)?),
        _ => return Err(throw_at_caller(lua, "wrong number of arguments")),
    };
    if low > high {
        return Err(argument_error(lua, args.len(), "interval is empty"));
    }
    Ok(Value::Number((fraction * (high - low + 1.0)).floor() + low))
}

/// math.randomseed(seed).
fn seed_random(lua: &Lua, args: MultiValue) -> mlua::Result<()> {
    // C's conversion to int keeps the low bits.
    let seed = number_or_error(lua, &args, 0)? as i64 as i32;
    with_run(|run| run.random = Random::from_seed(seed));
    Ok(())
}

/// string.find and string.match.
fn find(lua: &Lua, args: &MultiValue, is_find: bool) -> mlua::Result<MultiValue> {
    let argument = |index| {
        text_argument(args, index).ok_or_else(|| bad_argument(lua, index + 1, "string", args.get(index)))
    };
    let (text, wanted) = (argument(0)?, argument(1)?);
    let init = start_index(optional_number(lua, args, 2)?.unwrap_or(1.0), text.len());
    charge_string(lua, text.len() + wanted.len())?;
    let plain =
        is_find && args.get(3).is_some_and(|plain| !matches!(plain, Value::Nil | Value::Boolean(false)));
    if plain {
        let found = memmem::find(&text[init..], &wanted).map(|at| (init + at + 1, init + at + wanted.len()));
        return Ok(match found {
            Some((first, last)) => MultiValue::from_iter([index_value(first), index_value(last)]),
            None => MultiValue::from_iter([Value::Nil]),
        });
    }
    let found =
        run_search(lua, Search::new(&text, &wanted, init))?.map_err(|why| throw_at_caller(lua, why))?;
    let Some(found) = found else { return Ok(MultiValue::from_iter([Value::Nil])) };
    let mut values = MultiValue::new();
    if is_find {
        values.push_back(index_value(found.start + 1));
        values.push_back(index_value(found.end));
        if !pattern::has_captures(&wanted) {
            return Ok(values);
        }
    }
    let captures = found.captures.map_err(|why| throw_at_caller(lua, why))?;
    push_captures(lua, &text, &captures, &mut values)?;
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

/// gmatch's step: an error text; or nil, first, last and captures; or nothing. `^` is literal there.
fn match_at(lua: &Lua, args: (LuaString, LuaString, usize)) -> mlua::Result<MultiValue> {
    let (text, wanted, init) = args;
    let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
    let mut values = MultiValue::new();
    let init = init.clamp(1, text.len() + 1) - 1;
    let search = Search::new(&text, &wanted, init).without_anchor();
    match run_search(lua, search)? {
        Err(why) => values.push_back(Value::String(lua.create_string(why)?)),
        Ok(None) => {}
        Ok(Some(Match { start, end, captures: Ok(captures) })) => {
            values.push_back(Value::Nil);
            values.push_back(index_value(start + 1));
            values.push_back(index_value(end));
            push_captures(lua, &text, &captures, &mut values)?;
        }
        Ok(Some(Match { captures: Err(why), .. })) => {
            values.push_back(Value::String(lua.create_string(why)?))
        }
    }
    Ok(values)
}

/// Searches, at the expense of the script's instruction budget.
fn run_search(lua: &Lua, search: Search<'_>) -> mlua::Result<Result<Option<Match>, &'static str>> {
    let (found, steps) = search.run();
    charge(lua, SEARCH_COST + steps / STEPS_PER_INSTRUCTION)?;
    Ok(found)
}

/// string.gsub.
fn gsub(lua: &Lua, args: MultiValue) -> mlua::Result<(LuaString, i64)> {
    let argument = |index| {
        text_argument(&args, index).ok_or_else(|| bad_argument(lua, index + 1, "string", args.get(index)))
    };
    let (text, wanted) = (argument(0)?, argument(1)?);
    let replacement =
        Replacement::new(&args).ok_or_else(|| argument_error(lua, 3, "string/function/table expected"))?;
    let limit = optional_number(lua, &args, 3)?.map_or(usize::MAX, |limit| limit.max(0.0) as usize);
    charge_string(lua, text.len())?;
    let (mut out, mut position, mut count) = (Vec::new(), 0, 0);
    while count < limit && position <= text.len() {
        let search = Search::new(&text, &wanted, position);
        let Some(found) = run_search(lua, search)?.map_err(|why| throw_at_caller(lua, why))? else { break };
        out.extend_from_slice(&text[position..found.start]);
        replacement.write(lua, &text, &found, &mut out)?;
        check_size(out.len())?;
        count += 1;
        position = found.end;
        if found.end == found.start {
            // An empty match: go past one byte.
            out.extend(text.get(found.end));
            position += 1;
        }
        if wanted.first() == Some(&b'^') {
            break;
        }
    }
    out.extend_from_slice(text.get(position..).unwrap_or_default());
    charge_string(lua, out.len())?;
    Ok((lua.create_string(out)?, count as i64))
}

/// What gsub puts in the place of a match.
enum Replacement<'a> {
    Text(Vec<u8>),
    Table(&'a Table),
    Function(&'a Function),
}

impl<'a> Replacement<'a> {
    fn new(args: &'a MultiValue) -> Option<Replacement<'a>> {
        match args.get(2)? {
            Value::Table(table) => Some(Replacement::Table(table)),
            Value::Function(function) => Some(Replacement::Function(function)),
            _ => text_argument(args, 2).map(Replacement::Text),
        }
    }

    fn write(&self, lua: &Lua, text: &[u8], found: &Match, out: &mut Vec<u8>) -> mlua::Result<()> {
        let whole = &text[found.start..found.end];
        if let Replacement::Text(template) = self {
            return expand(lua, template, text, found, out);
        }
        let captures = captures_of(lua, text, found)?;
        let value = match self {
            Replacement::Text(_) => Value::Nil,
            Replacement::Table(table) => {
                let key = captures.front().cloned().unwrap_or(Value::Nil);
                callback::field(lua, table, key)?
            }
            Replacement::Function(function) => {
                callback::call_back(lua, function, captures)?.pop_front().unwrap_or(Value::Nil)
            }
        };
        match &value {
            Value::Nil | Value::Boolean(false) => out.extend_from_slice(whole),
            other => match text_argument(&MultiValue::from_iter([other.clone()]), 0) {
                Some(replacement) => out.extend_from_slice(&replacement),
                None => {
                    let kind = lua_type(other);
                    return Err(throw_at_caller(lua, &format!("invalid replacement value (a {kind})")));
                }
            },
        }
        Ok(())
    }
}

fn captures_of(lua: &Lua, text: &[u8], found: &Match) -> mlua::Result<MultiValue> {
    let mut values = MultiValue::new();
    let captures = found.captures.as_ref().map_err(|why| throw_at_caller(lua, why))?;
    push_captures(lua, text, captures, &mut values)?;
    Ok(values)
}

/// `%1` … `%9` and `%0` in a replacement text.
fn expand(lua: &Lua, template: &[u8], text: &[u8], found: &Match, out: &mut Vec<u8>) -> mlua::Result<()> {
    let mut bytes = template.iter();
    while let Some(&byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'0') => out.extend_from_slice(&text[found.start..found.end]),
            Some(digit @ b'1'..=b'9') => {
                match text_argument(&captures_of(lua, text, found)?, usize::from(digit - b'1')) {
                    Some(capture) => out.extend_from_slice(&capture),
                    None => return Err(throw_at_caller(lua, "invalid capture index")),
                }
            }
            Some(&other) => out.push(other),
            None => {}
        }
    }
    Ok(())
}

/// string.rep: refuses at once what would only run into the memory limit after a while.
fn rep(lua: &Lua, args: MultiValue) -> mlua::Result<Value> {
    let text = text_argument(&args, 0).ok_or_else(|| bad_argument(lua, 1, "string", args.front()))?;
    let times = number_or_error(lua, &args, 1)?;
    if times < 1.0 || text.is_empty() {
        return lua.create_string("").map(Value::String);
    }
    let size = times * text.len() as f64;
    check_size(size as usize)?;
    charge_string(lua, size as usize)?;
    lua.create_string(text.repeat(times as usize)).map(Value::String)
}

/// tostring without addresses: those differ between two runs of one plan.
fn tostring(lua: &Lua, args: MultiValue) -> mlua::Result<Value> {
    let Some(value) = args.front() else {
        return Err(argument_error(lua, 1, "value expected"));
    };
    let text = match value {
        Value::Nil => "nil".to_owned(),
        Value::Boolean(truth) => truth.to_string(),
        Value::Integer(number) => convert::number_as_lua_prints_it(*number as f64),
        Value::Number(number) => convert::number_as_lua_prints_it(*number),
        Value::String(_) => return Ok(value.clone()),
        Value::Table(table) => match table.metatable().map(|metatable| metatable.raw_get("__tostring")) {
            Some(Ok(Value::Function(convert))) => {
                let args = MultiValue::from_iter([value.clone()]);
                return Ok(callback::call_back(lua, &convert, args)?.pop_front().unwrap_or(Value::Nil));
            }
            _ => "table: 0x000000000000".to_owned(),
        },
        Value::LightUserData(_) => "userdata: (nil)".to_owned(),
        other => format!("{}: 0x000000000000", other.type_name()),
    };
    lua.create_string(text).map(Value::String)
}

/// assert(condition [, message]).
fn assert(lua: &Lua, args: MultiValue) -> mlua::Result<MultiValue> {
    match args.front() {
        None => Err(argument_error(lua, 1, "value expected")),
        Some(Value::Nil | Value::Boolean(false)) => Err(match (args.get(1), text_argument(&args, 1)) {
            (_, Some(message)) => throw_at_caller(lua, &String::from_utf8_lossy(&message)),
            (None | Some(Value::Nil), None) => throw_at_caller(lua, "assertion failed!"),
            (got, None) => bad_argument(lua, 2, "string", got),
        }),
        Some(_) => Ok(args),
    }
}
