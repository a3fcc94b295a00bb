//! The `cjson` library: lua-cjson 2.1.0 as Redis has it, with its settings, its texts and its own idea of an array.
//!
//! Its settings outlive the script that changes them, as in Redis: they are a node's, until SCRIPT FLUSH. Those of
//! `cjson.new()` are the new library's. Not modelled: `encode_keep_buffer` is kept and says nothing, since there is no
//! buffer; and nesting beyond [`MAX_DEPTH`], which both sides refuse at depths of their own.

mod decode;
mod encode;
mod number;
mod settings;

pub(crate) use settings::Settings;

use std::sync::{Arc, Mutex, PoisonError};

use mlua::{Lua, LuaString, MultiValue, Table, Value};

use settings::Invalid;

use super::arguments::{bad_argument, number_or_error, text_argument};
use super::convert::truncate;
use super::error::argument_error;
use super::under_way::with_run;
use crate::core::context::c_string;

/// Deepest nesting whatever the settings say: each level takes room in Lua, which has some thousands of places. Redis
/// stops between 2,600 and 4,000.
pub(super) const MAX_DEPTH: usize = 2_000;

/// Whose settings a library's functions obey.
#[derive(Clone)]
enum Owner {
    Node,
    Library(Arc<Mutex<Settings>>),
}

impl Owner {
    fn settings(&self) -> Settings {
        match self {
            Owner::Node => with_run(|run| run.core.json).unwrap_or_default(),
            Owner::Library(settings) => *settings.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    fn change(&self, change: impl FnOnce(&mut Settings)) {
        match self {
            Owner::Node => {
                with_run(|run| change(&mut run.core.json));
            }
            Owner::Library(settings) => change(&mut settings.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

/// The library's table.
pub(super) fn library(lua: &Lua) -> mlua::Result<Table> {
    library_of(lua, &Owner::Node)
}

type Setter = fn(&Lua, &MultiValue, &mut Settings) -> mlua::Result<MultiValue>;

/// The functions that ask for settings and change them, and how many arguments each takes.
const SETTERS: [(&str, usize, Setter); 7] = [
    ("encode_sparse_array", 3, set_sparse),
    ("encode_max_depth", 1, |lua, args, to| {
        integer_option(lua, args, 0, &mut to.encode_depth, (1, i32::MAX))
    }),
    ("decode_max_depth", 1, |lua, args, to| {
        integer_option(lua, args, 0, &mut to.decode_depth, (1, i32::MAX))
    }),
    ("encode_number_precision", 1, |lua, args, to| integer_option(lua, args, 0, &mut to.precision, (1, 14))),
    ("encode_keep_buffer", 1, |lua, args, to| switch(lua, args, &mut to.keep_buffer)),
    ("encode_invalid_numbers", 1, set_encode_invalid),
    ("decode_invalid_numbers", 1, |lua, args, to| switch(lua, args, &mut to.decode_invalid)),
];

fn library_of(lua: &Lua, owner: &Owner) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    let of = owner.clone();
    let encode = move |lua: &Lua, args: MultiValue| {
        let value = only_argument(lua, &args)?;
        encode::encode(lua, value, &of.settings())
    };
    library.raw_set("encode", lua.create_function(encode)?)?;
    let of = owner.clone();
    let decode = move |lua: &Lua, args: MultiValue| {
        only_argument(lua, &args)?;
        let text = text_argument(&args, 0).ok_or_else(|| bad_argument(lua, 1, "string", args.front()))?;
        decode::decode(lua, text, &of.settings())
    };
    library.raw_set("decode", lua.create_function(decode)?)?;
    for (name, takes, set) in SETTERS {
        let of = owner.clone();
        let function = lua.create_function(move |lua, args: MultiValue| {
            if args.len() > takes {
                return Err(argument_error(lua, takes + 1, "found too many arguments"));
            }
            let mut settings = of.settings();
            let answer = set(lua, &args, &mut settings);
            // What stood before a wrong argument counts.
            of.change(|kept| *kept = settings);
            answer
        })?;
        library.raw_set(name, function)?;
    }
    let new = |lua: &Lua, _: MultiValue| library_of(lua, &Owner::Library(Arc::default()));
    library.raw_set("new", lua.create_function(new)?)?;
    library.raw_set("null", Value::NULL)?;
    library.raw_set("_NAME", "cjson")?;
    library.raw_set("_VERSION", "2.1.0")?;
    Ok(library)
}

fn only_argument<'a>(lua: &Lua, args: &'a MultiValue) -> mlua::Result<&'a Value> {
    args.front().filter(|_| args.len() == 1).ok_or_else(|| argument_error(lua, 1, "expected 1 argument"))
}

fn set_sparse(lua: &Lua, args: &MultiValue, to: &mut Settings) -> mlua::Result<MultiValue> {
    let mut answers = switch(lua, args, &mut to.sparse_convert)?;
    answers.extend(integer_option(lua, args, 1, &mut to.sparse_ratio, (0, i32::MAX))?);
    answers.extend(integer_option(lua, args, 2, &mut to.sparse_safe, (0, i32::MAX))?);
    Ok(answers)
}

fn set_encode_invalid(lua: &Lua, args: &MultiValue, to: &mut Settings) -> mlua::Result<MultiValue> {
    const KINDS: [Invalid; 3] = [Invalid::Refused, Invalid::Written, Invalid::Null];
    if let Some(chosen) = choice(lua, args, &["off", "on", "null"])? {
        to.encode_invalid = KINDS[chosen];
    }
    let answer = match to.encode_invalid {
        Invalid::Refused => Value::Boolean(false),
        Invalid::Written => Value::Boolean(true),
        Invalid::Null => Value::String(lua.create_string("null")?),
    };
    Ok(MultiValue::from_iter([answer]))
}

fn switch(lua: &Lua, args: &MultiValue, setting: &mut bool) -> mlua::Result<MultiValue> {
    if let Some(chosen) = choice(lua, args, &["off", "on"])? {
        *setting = chosen == 1;
    }
    Ok(MultiValue::from_iter([Value::Boolean(*setting)]))
}

/// Which of the words the first argument is, or which of the first two by a boolean.
fn choice(lua: &Lua, args: &MultiValue, words: &[&str]) -> mlua::Result<Option<usize>> {
    match args.front() {
        None | Some(Value::Nil) => Ok(None),
        Some(Value::Boolean(truth)) => Ok(Some(usize::from(*truth))),
        got => {
            let text = text_argument(args, 0).ok_or_else(|| bad_argument(lua, 1, "string", got))?;
            // To C it ends at a NUL.
            let text = c_string(&text);
            let chosen = words.iter().position(|word| word.as_bytes() == text);
            let unknown = || {
                let text = String::from_utf8_lossy(text).into_owned();
                argument_error(lua, 1, &format!("invalid option '{text}'"))
            };
            chosen.map(Some).ok_or_else(unknown)
        }
    }
}

fn integer_option(
    lua: &Lua,
    args: &MultiValue,
    index: usize,
    setting: &mut i32,
    (least, most): (i32, i32),
) -> mlua::Result<MultiValue> {
    if !matches!(args.get(index), None | Some(Value::Nil)) {
        // C's conversion to int keeps the low bits.
        let value = truncate(number_or_error(lua, args, index)?) as i32;
        if value < least || value > most {
            let text = format!("expected integer between {least} and {most}");
            return Err(argument_error(lua, 1, &text));
        }
        *setting = value;
    }
    Ok(MultiValue::from_iter([Value::Integer(i64::from(*setting))]))
}

fn string(lua: &Lua, bytes: &[u8]) -> mlua::Result<LuaString> {
    super::charge::charge_string(lua, bytes.len())?;
    lua.create_string(bytes)
}
