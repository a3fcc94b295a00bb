//! From JSON to Lua. Reads without recursion: a thread's stack does not bound the depth.

use mlua::{Lua, Table, Value};

use super::super::charge::{charge, charge_string};
use super::super::error::throw_at_caller;
use super::{MAX_DEPTH, Settings, number};

/// A piece of the text.
enum Token {
    ObjectBegin,
    ObjectEnd,
    ArrayBegin,
    ArrayEnd,
    Text(Vec<u8>),
    Number(f64),
    Boolean(bool),
    Null,
    Colon,
    Comma,
    End,
    Wrong(&'static str),
}

impl Token {
    /// The name that error texts give it.
    fn name(&self) -> &'static str {
        match self {
            Token::ObjectBegin => "T_OBJ_BEGIN",
            Token::ObjectEnd => "T_OBJ_END",
            Token::ArrayBegin => "T_ARR_BEGIN",
            Token::ArrayEnd => "T_ARR_END",
            Token::Text(_) => "T_STRING",
            Token::Number(_) => "T_NUMBER",
            Token::Boolean(_) => "T_BOOLEAN",
            Token::Null => "T_NULL",
            Token::Colon => "T_COLON",
            Token::Comma => "T_COMMA",
            Token::End => "T_END",
            Token::Wrong(why) => why,
        }
    }
}

/// A table that is being filled.
enum Open {
    Array { table: Table, length: i64 },
    Object { table: Table, key: Vec<u8> },
}

struct Decoder<'a> {
    lua: &'a Lua,
    settings: &'a Settings,
    /// Ends in a NUL.
    text: Vec<u8>,
    at: usize,
    /// Where the last token began, or went wrong.
    token_at: usize,
    open: Vec<Open>,
}

/// The value that a JSON text is.
pub(super) fn decode(lua: &Lua, mut text: Vec<u8>, settings: &Settings) -> mlua::Result<Value> {
    charge_string(lua, text.len())?;
    if text.len() >= 2 && (text[0] == 0 || text[1] == 0) {
        return Err(throw_at_caller(lua, "JSON parser does not support UTF-16 or UTF-32"));
    }
    text.push(0);
    let mut decoder = Decoder { lua, settings, text, at: 0, token_at: 0, open: Vec::new() };
    let first = decoder.next();
    let mut value = decoder.begin(first)?;
    loop {
        value = match (value, decoder.open.is_empty()) {
            (Some(value), true) => return decoder.finish(value),
            (Some(value), false) => decoder.add(value)?,
            (None, _) => {
                let token = decoder.next();
                decoder.begin(token)?
            }
        };
    }
}

impl Decoder<'_> {
    /// The value that begins with this token; `None` if it is a table that has elements.
    fn begin(&mut self, token: Token) -> mlua::Result<Option<Value>> {
        charge(self.lua, 1)?;
        match token {
            Token::Text(text) => self.lua.create_string(text).map(|text| Some(Value::String(text))),
            Token::Number(number) => Ok(Some(Value::Number(number))),
            Token::Boolean(truth) => Ok(Some(Value::Boolean(truth))),
            Token::Null => Ok(Some(Value::NULL)),
            Token::ObjectBegin => self.begin_object(),
            Token::ArrayBegin => self.begin_array(),
            other => Err(self.expectation_error("value", &other)),
        }
    }

    fn begin_object(&mut self) -> mlua::Result<Option<Value>> {
        let table = self.descend()?;
        match self.next() {
            Token::ObjectEnd => Ok(Some(Value::Table(table))),
            token => {
                let key = self.key(token)?;
                self.open.push(Open::Object { table, key });
                Ok(None)
            }
        }
    }

    fn begin_array(&mut self) -> mlua::Result<Option<Value>> {
        let table = self.descend()?;
        let before = self.at;
        if let Token::ArrayEnd = self.next() {
            return Ok(Some(Value::Table(table)));
        }
        self.at = before;
        self.open.push(Open::Array { table, length: 0 });
        Ok(None)
    }

    fn descend(&self) -> mlua::Result<Table> {
        let depth = self.open.len() + 1;
        let deepest = usize::try_from(self.settings.decode_depth).unwrap_or(0).min(MAX_DEPTH);
        if depth > deepest {
            let text = format!("Found too many nested data structures ({depth}) at character {}", self.at);
            return Err(throw_at_caller(self.lua, &text));
        }
        self.lua.create_table()
    }

    /// A key of an object and its colon.
    fn key(&mut self, token: Token) -> mlua::Result<Vec<u8>> {
        let Token::Text(key) = token else { return Err(self.expectation_error("object key string", &token)) };
        match self.next() {
            Token::Colon => Ok(key),
            other => Err(self.expectation_error("colon", &other)),
        }
    }

    /// Puts a value into the innermost table; that table, if it is complete.
    fn add(&mut self, value: Value) -> mlua::Result<Option<Value>> {
        match self.open.last_mut() {
            None => return Ok(Some(value)),
            Some(Open::Array { table, length }) => {
                *length += 1;
                table.raw_set(*length, value)?;
            }
            Some(Open::Object { table, key }) => {
                table.raw_set(self.lua.create_string(key.as_slice())?, value)?
            }
        }
        let token = self.next();
        match (token, self.open.last()) {
            (Token::ObjectEnd, Some(Open::Object { .. })) | (Token::ArrayEnd, Some(Open::Array { .. })) => {
                Ok(self.open.pop().map(|open| match open {
                    Open::Array { table, .. } | Open::Object { table, .. } => Value::Table(table),
                }))
            }
            (Token::Comma, Some(Open::Array { .. })) => Ok(None),
            (Token::Comma, _) => {
                let token = self.next();
                let next = self.key(token)?;
                if let Some(Open::Object { key, .. }) = self.open.last_mut() {
                    *key = next;
                }
                Ok(None)
            }
            (other, Some(Open::Array { .. })) => Err(self.expectation_error("comma or array end", &other)),
            (other, _) => Err(self.expectation_error("comma or object end", &other)),
        }
    }

    fn finish(mut self, value: Value) -> mlua::Result<Value> {
        match self.next() {
            Token::End => Ok(value),
            other => Err(self.expectation_error("the end", &other)),
        }
    }

    fn expectation_error(&self, what: &str, found: &Token) -> mlua::Error {
        let (found, place) = (found.name(), self.token_at + 1);
        throw_at_caller(self.lua, &format!("Expected {what} but found {found} at character {place}"))
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn wrong_token(&mut self, why: &'static str) -> Token {
        self.token_at = self.at;
        Token::Wrong(why)
    }

    fn next(&mut self) -> Token {
        while matches!(self.byte(0), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
        self.token_at = self.at;
        let single = match self.byte(0) {
            // Not only the text's end.
            0 => return Token::End,
            b'{' => Token::ObjectBegin,
            b'}' => Token::ObjectEnd,
            b'[' => Token::ArrayBegin,
            b']' => Token::ArrayEnd,
            b',' => Token::Comma,
            b':' => Token::Colon,
            b'"' => return self.string(),
            first => return self.word(first),
        };
        self.at += 1;
        single
    }

    fn word(&mut self, first: u8) -> Token {
        if first == b'-' || first.is_ascii_digit() {
            return match !self.settings.decode_invalid && self.is_invalid_number() {
                true => self.wrong_token("invalid number"),
                false => self.number(),
            };
        }
        let words = [("true", Token::Boolean(true)), ("false", Token::Boolean(false)), ("null", Token::Null)];
        for (word, token) in words {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return token;
            }
        }
        let may_be_number = matches!(first, b'f' | b'i' | b'I' | b'n' | b'N' | b't' | b'+');
        match may_be_number && self.settings.decode_invalid && self.is_invalid_number() {
            true => self.number(),
            false => self.wrong_token("invalid token"),
        }
    }

    fn number(&mut self) -> Token {
        let Some((number, length)) = number::read(&self.text[self.at..]) else {
            return self.wrong_token("invalid number");
        };
        self.at += length;
        Token::Number(number)
    }

    /// Whether this is a number to C and none to JSON.
    fn is_invalid_number(&self) -> bool {
        if self.byte(0) == b'+' {
            return true;
        }
        let sign = usize::from(self.byte(0) == b'-');
        match self.byte(sign) {
            b'0' => matches!(self.byte(sign + 1), b'x' | b'X' | b'0'..=b'9'),
            0..=b'9' => false,
            _ => {
                let word = self.text[self.at + sign..].get(..3).unwrap_or_default();
                word.eq_ignore_ascii_case(b"inf") || word.eq_ignore_ascii_case(b"nan")
            }
        }
    }

    fn string(&mut self) -> Token {
        self.at += 1;
        let mut text = Vec::new();
        loop {
            match self.byte(0) {
                b'"' => break,
                0 => return self.wrong_token("unexpected end of string"),
                b'\\' => {
                    if let Err(why) = self.escape(&mut text) {
                        return self.wrong_token(why);
                    }
                }
                other => {
                    text.push(other);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        Token::Text(text)
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Result<(), &'static str> {
        let byte = match self.byte(1) {
            same @ (b'"' | b'\\' | b'/') => same,
            b'b' => 8,
            b't' => 9,
            b'n' => 10,
            b'f' => 12,
            b'r' => 13,
            b'u' => {
                let (code, length) = self.unicode().ok_or("invalid unicode escape code")?;
                push_utf8(text, code);
                self.at += length;
                return Ok(());
            }
            _ => return Err("invalid escape code"),
        };
        text.push(byte);
        self.at += 2;
        Ok(())
    }

    /// The character of one escape or of a pair of them, and how long that is.
    fn unicode(&self) -> Option<(u32, usize)> {
        let unit = |at: usize| {
            (at..at + 4).try_fold(0, |sum, at| Some(sum << 4 | char::from(self.byte(at)).to_digit(16)?))
        };
        let first = unit(2)?;
        if first & 0xF800 != 0xD800 {
            return Some((first, 6));
        }
        let is_pair = first & 0x400 == 0 && self.byte(6) == b'\\' && self.byte(7) == b'u';
        let second = unit(8).filter(|second| is_pair && second & 0xFC00 == 0xDC00)?;
        Some((((first & 0x3FF) << 10 | second & 0x3FF) + 0x1_0000, 12))
    }
}

fn push_utf8(text: &mut Vec<u8>, code: u32) {
    // No surrogate gets here.
    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}
