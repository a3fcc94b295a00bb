//! Between RESP and Lua, both ways, with Redis' rules: no floats in replies, an array ends at its first nil, a missing
//! value is `false`.

use mlua::{IntoLua, Lua, LuaString, Table, Value};

use super::error::{OUT_OF_MEMORY, ScriptError};
use super::script::Script;
use crate::core::hex;
use crate::resp::{Protocol, double, integer, reply};

/// Deepest nesting of a table that is turned into a reply.
const MAX_DEPTH: usize = 200;

/// The text of an error reply, without its `-`.
pub(super) fn error_text(bytes: &[u8]) -> Option<&[u8]> {
    bytes.strip_prefix(b"-").map(|text| text.strip_suffix(b"\r\n").unwrap_or(text))
}

/// A table with one string field: `{ok=…}`.
pub(super) fn table_with(lua: &Lua, name: &str, value: LuaString) -> mlua::Result<Value> {
    let table = lua.create_table_with_capacity(0, 1)?;
    table.raw_set(name, value)?;
    Ok(Value::Table(table))
}

/// A command's reply as a Lua value, and the length of its longest string.
pub(super) fn to_lua(lua: &Lua, bytes: &[u8]) -> mlua::Result<(Value, usize)> {
    let mut reader = Reader { lua, rest: bytes, longest: 0 };
    let value = reader.value()?;
    Ok((value, reader.longest))
}

/// Reads replies that this node has written itself: they are well-formed.
struct Reader<'a> {
    lua: &'a Lua,
    rest: &'a [u8],
    longest: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> mlua::Result<Value> {
        let line = self.line();
        let Some((&kind, text)) = line.split_first() else { return Ok(Value::Nil) };
        let number = || integer::parse(text).unwrap_or(-1);
        match kind {
            b':' => Ok(Value::Number(number() as f64)),
            b'+' => table_with(self.lua, "ok", self.lua.create_string(text)?),
            b'-' => table_with(self.lua, "err", self.lua.create_string(text)?),
            // RESP3's null is nil; RESP2's is false, so that it can stand in a table.
            b'_' => Ok(Value::Nil),
            b'$' | b'*' if text == b"-1" => Ok(Value::Boolean(false)),
            b'$' => {
                let bytes = self.take(number() as usize);
                self.take(2);
                self.longest = self.longest.max(bytes.len());
                self.lua.create_string(bytes).map(Value::String)
            }
            b'*' => {
                let array = self.lua.create_table_with_capacity(number() as usize, 0)?;
                for index in 1..=number() {
                    array.raw_set(index, self.value()?)?;
                }
                Ok(Value::Table(array))
            }
            b'%' => {
                let map = self.lua.create_table()?;
                for _ in 0..number() {
                    let (key, value) = (self.value()?, self.value()?);
                    map.raw_set(key, value)?;
                }
                self.wrap("map", map)
            }
            b'~' => {
                let set = self.lua.create_table()?;
                for _ in 0..number() {
                    set.raw_set(self.value()?, true)?;
                }
                self.wrap("set", set)
            }
            b',' => self.wrap("double", double::parse(text).unwrap_or_default()),
            _ => Ok(Value::Nil),
        }
    }

    fn wrap(&self, name: &str, inner: impl IntoLua) -> mlua::Result<Value> {
        let table = self.lua.create_table_with_capacity(0, 1)?;
        table.raw_set(name, inner)?;
        Ok(Value::Table(table))
    }

    fn line(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(|&byte| byte == b'\r').unwrap_or(self.rest.len());
        let line = self.take(end);
        self.take(2);
        line
    }

    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(count.min(self.rest.len()));
        self.rest = rest;
        taken
    }
}

/// Writes what a script returned, whole, or why that cannot be done. `script` is the protocol it chose with
/// redis.setresp, `client` the connection's.
pub(super) fn reply(value: &Value, script: Protocol, client: Protocol, limit: usize, out: &mut Vec<u8>) {
    let start = out.len();
    let mut writer = Writer { script, client, longest: start.saturating_add(limit), left: limit / 64, out };
    if let Err(why) = writer.value(value, 0) {
        out.truncate(start);
        reply::error(out, why);
    }
}

/// Writes values one after the other. It never holds many of them at once: mlua has room for some thousands.
struct Writer<'a> {
    script: Protocol,
    client: Protocol,
    /// How long `out` may get, and how many values it may still get: a few tables that hold each other twice are a
    /// reply without an end.
    longest: usize,
    left: usize,
    out: &'a mut Vec<u8>,
}

type Written = Result<(), &'static [u8]>;

const TOO_DEEP: &[u8] = b"ERR reached lua stack limit";
const TOO_LONG: &[u8] = b"ERR the script's reply is longer than its memory limit";
const UNORDERED: &[u8] = b"ERR the script returned a map or set with a key that has no order";

impl Writer<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Written {
        if depth > MAX_DEPTH {
            return Err(TOO_DEEP);
        }
        // A table is asked for seven fields that would make it something else than an array.
        let cost = if matches!(value, Value::Table(_)) { 8 } else { 1 };
        self.left = self.left.checked_sub(cost).ok_or(TOO_LONG)?;
        if self.out.len() > self.longest {
            return Err(TOO_LONG);
        }
        match value {
            Value::String(text) => reply::bulk(self.out, &text.as_bytes()),
            Value::Integer(number) => reply::integer(self.out, *number),
            Value::Number(number) => reply::integer(self.out, truncate(*number)),
            Value::Boolean(truth) if self.script == Protocol::Three => self.boolean(*truth),
            Value::Boolean(true) => reply::integer(self.out, 1),
            Value::Table(table) => self.table(table, depth)?,
            _ => reply::null(self.out, self.client),
        }
        Ok(())
    }

    fn boolean(&mut self, truth: bool) {
        match self.client {
            Protocol::Two => reply::integer(self.out, i64::from(truth)),
            Protocol::Three => self.out.extend_from_slice(if truth { b"#t\r\n" } else { b"#f\r\n" }),
        }
    }

    fn table(&mut self, table: &Table, depth: usize) -> Written {
        let field = |name: &str| table.raw_get::<Value>(name).unwrap_or(Value::Nil);
        if let Value::String(text) = field("err") {
            let text = text.as_bytes();
            reply::error(self.out, &text);
        } else if let Value::String(text) = field("ok") {
            reply::status(self.out, &text.as_bytes());
        } else if let Some(number) = as_number(&field("double")) {
            self.double(number);
        } else if let Value::Table(map) = field("map") {
            self.pairs(&map, depth)?;
        } else if let Value::Table(set) = field("set") {
            self.set(&set, depth)?;
        } else if let Value::String(digits) = field("big_number") {
            self.big_number(&digits.as_bytes());
        } else if let Value::Table(verbatim) = field("verbatim_string") {
            self.verbatim(&verbatim, depth)?;
        } else {
            self.array(table, depth)?;
        }
        Ok(())
    }

    /// How long an array is shows at its first nil: its head is written last, in front.
    fn array(&mut self, table: &Table, depth: usize) -> Written {
        let start = self.out.len();
        let mut length = 0;
        loop {
            match table.raw_get::<Value>(length + 1) {
                Ok(Value::Nil) => break,
                Ok(value) => self.value(&value, depth + 1)?,
                Err(_) => return Err(TOO_DEEP),
            }
            length += 1;
        }
        self.put_in_front(start, |head| reply::array(head, length));
        Ok(())
    }

    fn pairs(&mut self, map: &Table, depth: usize) -> Written {
        let (start, client) = (self.out.len(), self.client);
        let mut length = 0;
        for pair in map.pairs::<Value, Value>() {
            let (key, value) = pair.map_err(|_| TOO_DEEP)?;
            self.key(&key, depth + 1)?;
            self.value(&value, depth + 1)?;
            length += 1;
        }
        self.put_in_front(start, |head| reply::map(head, client, length));
        Ok(())
    }

    fn set(&mut self, set: &Table, depth: usize) -> Written {
        let (start, client) = (self.out.len(), self.client);
        let mut length = 0;
        for pair in set.pairs::<Value, Value>() {
            self.key(&pair.map_err(|_| TOO_DEEP)?.0, depth + 1)?;
            length += 1;
        }
        self.put_in_front(start, |head| reply::set(head, client, length));
        Ok(())
    }

    /// A key of a table that is read in Lua's order. That of tables and functions is the order of their addresses,
    /// which are others in the next run.
    fn key(&mut self, key: &Value, depth: usize) -> Written {
        match key {
            Value::String(_) | Value::Integer(_) | Value::Number(_) | Value::Boolean(_) => {
                self.value(key, depth)
            }
            _ => Err(UNORDERED),
        }
    }

    fn put_in_front(&mut self, start: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let mut head = Vec::new();
        write(&mut head);
        self.out.splice(start..start, head);
    }

    fn double(&mut self, number: f64) {
        let mut text = Vec::new();
        write_number(&mut text, number);
        match self.client {
            Protocol::Two => reply::bulk(self.out, &text),
            Protocol::Three => {
                self.out.push(b',');
                self.out.extend_from_slice(&text);
                self.out.extend_from_slice(b"\r\n");
            }
        }
    }

    fn big_number(&mut self, digits: &[u8]) {
        let in_one_line = |&byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { byte };
        let digits: Vec<u8> = digits.iter().map(in_one_line).collect();
        match self.client {
            Protocol::Two => reply::bulk(self.out, &digits),
            Protocol::Three => {
                self.out.push(b'(');
                self.out.extend_from_slice(&digits);
                self.out.extend_from_slice(b"\r\n");
            }
        }
    }

    fn verbatim(&mut self, table: &Table, depth: usize) -> Written {
        let (format, text) = (table.raw_get::<Value>("format"), table.raw_get::<Value>("string"));
        let (Ok(Value::String(format)), Ok(Value::String(text))) = (format, text) else {
            return self.array(table, depth);
        };
        let (format, text) = (format.as_bytes(), text.as_bytes());
        match self.client {
            Protocol::Two => reply::bulk(self.out, &text),
            Protocol::Three => {
                let mut label = [b' '; 3];
                label.iter_mut().zip(format.iter()).for_each(|(to, from)| *to = *from);
                self.out.extend_from_slice(format!("={}\r\n", text.len() + 4).as_bytes());
                self.out.extend_from_slice(&label);
                self.out.push(b':');
                self.out.extend_from_slice(&text);
                self.out.extend_from_slice(b"\r\n");
            }
        }
        Ok(())
    }
}

fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Number(number) => Some(*number),
        _ => None,
    }
}

/// C's conversion to `long long` on x86: what does not fit becomes the smallest.
pub(super) fn truncate(number: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&number) { number as i64 } else { i64::MIN }
}

/// Appends a number as an argument: C's `%.17g`.
pub(super) fn write_number(out: &mut Vec<u8>, number: f64) {
    const EXACT: f64 = 1e17;
    if number.fract() == 0.0 && number.abs() < EXACT && !(number == 0.0 && number.is_sign_negative()) {
        return integer::write(out, number as i64);
    }
    out.extend_from_slice(format_g(number, 17).as_bytes());
}

/// A number as Lua's tostring has it: C's `%.14g`.
pub(super) fn number_as_lua_prints_it(number: f64) -> String {
    format_g(number, 14)
}

/// C's `%.<digits>g`.
pub(super) fn format_g(number: f64, digits: usize) -> String {
    if number.is_nan() {
        return if number.is_sign_negative() { "-nan" } else { "nan" }.to_owned();
    }
    if number.is_infinite() {
        return if number < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    let scientific = format!("{:.*e}", digits - 1, number);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim_trailing_zeros(mantissa), exponent.abs());
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    trim_trailing_zeros(&format!("{number:.decimals$}")).to_owned()
}

fn trim_trailing_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// The reply for a script that does not compile.
pub(super) fn compile_error(error: &mlua::Error) -> Vec<u8> {
    let text = match error {
        mlua::Error::SyntaxError { message, .. } => message.clone(),
        mlua::Error::MemoryError(message) => message.clone(),
        other => other.to_string(),
    };
    format!("ERR Error compiling script (new function): {text}").into_bytes()
}

/// The reply for an error that the prelude has described: `{err=…, source=…, line=…}`.
pub(super) fn run_error(error: &Value, script: &Script) -> Vec<u8> {
    let Value::Table(error) = error else {
        // Lua had no memory left to describe it.
        let text = match error {
            Value::String(text) => text.to_string_lossy(),
            other => other.type_name().to_owned(),
        };
        return format!("ERR {text} script: {}, on @user_script:1.", hex::encode(&script.sha)).into_bytes();
    };
    let text: Option<LuaString> = error.raw_get("err").ok();
    let reply = text.map_or_else(|| b"ERR unknown error".to_vec(), |text| text.as_bytes().to_vec());
    let source: LuaString = match error.raw_get("source") {
        Ok(source) => source,
        Err(_) => return reply,
    };
    let line: i64 = error.raw_get("line").unwrap_or(0);
    with_place(reply, script, &source.as_bytes(), line)
}

/// The reply for an error at a line of a script.
pub(super) fn with_place(mut text: Vec<u8>, script: &Script, source: &[u8], line: i64) -> Vec<u8> {
    text.extend_from_slice(format!(" script: {}, on ", hex::encode(&script.sha)).as_bytes());
    text.extend_from_slice(source);
    text.extend_from_slice(format!(":{line}.").as_bytes());
    text
}

/// The reply for an error of the interpreter itself: no memory for the arguments, say.
pub(super) fn host_error(error: &mlua::Error, script: &Script) -> Vec<u8> {
    let text = match error.downcast_ref::<ScriptError>() {
        Some(error) => error.to_string(),
        None => error_words(error),
    };
    format!("ERR {text} script: {}, on @user_script:1.", hex::encode(&script.sha)).into_bytes()
}

/// What Lua itself would say of an error that mlua describes at length.
pub(super) fn error_words(error: &mlua::Error) -> String {
    match root(error) {
        mlua::Error::MemoryError(_) => String::from_utf8_lossy(OUT_OF_MEMORY).into_owned(),
        mlua::Error::RuntimeError(text) => {
            text.split("\nstack traceback:").next().unwrap_or_default().to_owned()
        }
        other => other.to_string(),
    }
}

/// The error that the errors around it are about.
pub(super) fn root(error: &mlua::Error) -> &mlua::Error {
    match error {
        mlua::Error::CallbackError { cause, .. } | mlua::Error::WithContext { cause, .. } => root(cause),
        other => other,
    }
}

/// Whether a script ended because it got no memory, or none to say why it ended.
pub(super) fn is_out_of_memory(result: &mlua::Result<(bool, Value)>) -> bool {
    match result {
        Ok((false, Value::String(text))) => {
            let text = text.as_bytes();
            *text == *OUT_OF_MEMORY || *text == *b"error in error handling"
        }
        Err(error) => matches!(root(error), mlua::Error::MemoryError(_)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_in_c() {
        let cases = [
            (1.5, "1.5"),
            (100.0, "100"),
            (1e17, "1e+17"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (0.1, "0.10000000000000001"),
            (f64::INFINITY, "inf"),
            (-0.0, "-0"),
            (1e15, "1000000000000000"),
            (1e-5, "1.0000000000000001e-05"),
            (123_456_789.123, "123456789.123"),
        ];
        for (number, expected) in cases {
            let mut out = Vec::new();
            write_number(&mut out, number);
            assert_eq!(String::from_utf8_lossy(&out), expected);
        }
        assert_eq!(number_as_lua_prints_it(10.0 / 3.0), "3.3333333333333");
        assert_eq!(number_as_lua_prints_it(12_345_678_901_234_567_890.0), "1.2345678901235e+19");
    }
}
