//! Scripts that use `cjson`, `cmsgpack`, `struct` and `bit`: random values, and texts that are nearly right.
//!
//! No table has keys that are tables or functions, whose order is that of their addresses, or strings of 32 bytes and
//! more: Redis' Lua hashes all of their bytes, ours some.

use super::Generator;

/// Shows a value, and everything that a function returned.
const SHOW: &str = "\
local function show(v) local kind = type(v) if kind == 'number' then return string.format('%.17g', v) end \
if kind ~= 'table' then return kind == 'string' and string.format('%q', v) or kind == 'function' and kind or tostring(v) end \
local parts = {} for k, x in pairs(v) do parts[#parts + 1] = '[' .. show(k) .. ']=' .. show(x) end \
return '{' .. table.concat(parts, ',') .. '}' end \
local function all(...) local parts = {} for i = 1, select('#', ...) do parts[i] = show((select(i, ...))) end \
return table.concat(parts, '; ') end ";

const NUMBERS: &[&str] = &[
    "0", "1", "-1", "1.5", "-0", "1e15", "1e14", "0.1", "1/3", "2^53", "2^63", "-2^63", "2^64", "1e300",
    "127", "128", "255", "256", "65535", "65536", "-32", "-33", "-128", "-129", "-32768", "-32769", "2^31",
    "-2^31-1", "2^32", "1e-7", "16777217", "1/0", "-1/0", "0/0",
];
const STRINGS: &[&str] = &[
    "''",
    "'a'",
    "'12'",
    "'0x1F'",
    "'hello'",
    "'a/b'",
    "'\\\"\\\\'",
    "'\\n\\r\\t\\b\\f'",
    "'\\0\\1\\31\\127\\200\\255'",
    "'thirty-one bytes of some string'",
];
const OTHERS: &[&str] = &["true", "false", "nil", "cjson.null", "function() end", "tostring", "{}"];
const KEYS: &[&str] =
    &["1", "2", "3", "4", "11", "20", "0", "-1", "1.5", "2^31", "2^40", "'a'", "'b'", "'key'", "''", "true"];
const JSON: &[&str] = &[
    "0",
    "-1",
    "1.5",
    "1e5",
    "1E+2",
    "0x1F",
    "01",
    "-",
    "+1",
    "inf",
    "nan",
    "-inf",
    "NaN",
    "1.",
    ".5",
    "1e",
    "0x",
    "0x1p4",
    "12345678901234567890",
    "1e999",
    "-0",
    "nan(a)",
    "true",
    "false",
    "null",
    "tru",
    "nul",
    "None",
    "f",
    "\"\"",
    "\"a b\"",
    "\"\\u00e9\"",
    "\"\\ud83d\\ude00\"",
    "\"\\ud83d\"",
    "\"\\udc00\"",
    "\"\\u12\"",
    "\"\\x\"",
    "\"\\/\\b\\n\"",
    "\"",
];
const OPTIONS: &[&str] = &[
    ">",
    "<",
    "!",
    "!4",
    "!8",
    "!3",
    "!0",
    "b",
    "B",
    "h",
    "H",
    "l",
    "L",
    "T",
    "i",
    "I",
    "i3",
    "I8",
    "i16",
    "i33",
    "i0",
    "c0",
    "c3",
    "c",
    "s",
    "f",
    "d",
    "x",
    " ",
    "z",
    "c99999999999",
];
const SETTINGS: &[&str] = &[
    "encode_sparse_array(true)",
    "encode_sparse_array(true, 1, 3)",
    "encode_sparse_array(false, 0)",
    "encode_max_depth(2)",
    "decode_max_depth(2)",
    "encode_number_precision(3)",
    "encode_invalid_numbers('null')",
    "encode_invalid_numbers(true)",
    "decode_invalid_numbers(false)",
    "encode_keep_buffer(false)",
    "encode_max_depth(0)",
    "encode_number_precision(15)",
    "encode_invalid_numbers('x')",
    "encode_sparse_array(1, 2, 3, 4)",
    "decode_max_depth('2')",
    "encode_sparse_array()",
];
const BITS: &[&str] =
    &["tobit", "bnot", "band", "bor", "bxor", "lshift", "rshift", "arshift", "rol", "ror", "bswap", "tohex"];

impl Generator {
    /// A script that uses one of the libraries.
    pub(super) fn library_call(&mut self) -> String {
        let call = match self.random.below(16) {
            0..4 => format!("return all(pcall(cjson.encode, {}))", self.lua_value(0)),
            4..7 => format!("return all(pcall(cjson.decode, {}))", self.json_text()),
            7 => format!("local x = cjson.decode({}) return cjson.encode(x)", self.json_text()),
            8 => format!(
                "local c = cjson.new() pcall(function() c.{} end) return all(pcall(c.encode, {}))",
                self.random.pick(SETTINGS),
                self.lua_value(0)
            ),
            9 => format!("local x = cmsgpack.pack({}) return all(x, cmsgpack.unpack(x))", self.lua_value(0)),
            10 => format!("return all(pcall(cmsgpack.unpack, {}))", self.lua_bytes(0x80)),
            11 => format!(
                "return all(pcall(cmsgpack.unpack_{}, {}, {}))",
                self.random.pick(&["one", "limit"]),
                self.lua_bytes(0xc0),
                self.random.pick(&["0", "1", "2", "-1", "50", "1, 1", "nil"])
            ),
            12 => format!("return all(pcall(struct.pack, '{}'{}))", self.struct_format(), self.lua_values(6)),
            13 => format!(
                "return all(pcall(struct.unpack, '{}', {}{}))",
                self.struct_format(),
                self.lua_bytes(0),
                self.random.pick(&["", "", ", 1", ", 2", ", 0", ", -1", ", 99"])
            ),
            14 => format!("return all(pcall(struct.size, '{}'))", self.struct_format()),
            _ => format!("return all(pcall(bit.{}{}))", self.random.pick(BITS), self.lua_values(3)),
        };
        // What a script sets, it leaves to the scripts after it.
        let set = match self.random.percent(20) {
            true => format!(
                "local settings = all(pcall(function() return cjson.{} end)) ",
                self.random.pick(SETTINGS)
            ),
            false => String::new(),
        };
        format!("{SHOW}{set}{call}")
    }

    fn lua_value(&mut self, depth: usize) -> String {
        match self.random.below(12) {
            0..3 => self.random.pick(NUMBERS).to_owned(),
            3..6 => self.random.pick(STRINGS).to_owned(),
            6 => self.random.pick(OTHERS).to_owned(),
            _ if depth > 3 => "0".to_owned(),
            7..9 => self.lua_list(depth, |_| String::new()),
            _ => self.lua_list(depth, |generator| format!("[{}] = ", generator.random.pick(KEYS))),
        }
    }

    fn lua_list(&mut self, depth: usize, key: fn(&mut Generator) -> String) -> String {
        let items: Vec<String> = (0..self.random.below(6))
            .map(|_| format!("{}{}", key(self), self.lua_value(depth + 1)))
            .collect();
        format!("{{{}}}", items.join(", "))
    }

    /// Further arguments.
    fn lua_values(&mut self, most: usize) -> String {
        let values = (0..self.random.below(most)).map(|_| match self.random.percent(70) {
            true => format!(", {}", self.random.pick(NUMBERS)),
            false => format!(", {}", self.random.pick(STRINGS)),
        });
        values.collect()
    }

    /// A JSON text as a Lua string; some have a wrong character.
    fn json_text(&mut self) -> String {
        let mut text = self.json(0);
        if self.random.percent(25) {
            let at = self.random.below(text.len() + 1);
            text.insert_str(
                at,
                self.random.pick(&["[", "]", "{", "}", ",", ":", "\"", "\\", "x", "\0", " "]),
            );
        }
        format!("'{}'", super::lua::lua_escaped(text.as_bytes()))
    }

    fn json(&mut self, depth: usize) -> String {
        let space = self.random.pick(&["", "", " ", "\n\t"]);
        match self.random.below(10) {
            0..6 => self.random.pick(JSON).to_owned(),
            _ if depth > 3 => "1".to_owned(),
            6..8 => {
                let items: Vec<String> = (0..self.random.below(5)).map(|_| self.json(depth + 1)).collect();
                format!("[{space}{}{space}]", items.join(","))
            }
            _ => {
                let names: &[&str] = &["a", "b", "", "name"];
                let entries: Vec<String> = (0..self.random.below(5))
                    .map(|_| format!("\"{}\"{space}:{}", self.random.pick(names), self.json(depth + 1)))
                    .collect();
                format!("{{{}}}", entries.join(","))
            }
        }
    }

    /// Some bytes as a Lua string, many of them from one number on.
    fn lua_bytes(&mut self, from: usize) -> String {
        let bytes = (0..self.random.below(20)).map(|_| match self.random.below(3) {
            0 => self.random.below(256),
            1 => self.random.below(8),
            _ => from + self.random.below(32),
        });
        let digits: String = bytes.map(|byte| format!("\\{byte:03}")).collect();
        format!("'{digits}'")
    }

    fn struct_format(&mut self) -> String {
        (0..1 + self.random.below(6)).map(|_| self.random.pick(OPTIONS)).collect()
    }
}
