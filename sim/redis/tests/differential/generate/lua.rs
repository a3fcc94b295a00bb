//! Lua scripts: what locks use, every conversion between Lua and Redis, and every way to be wrong.

use super::lua_limits::LIMITS;
use super::lua_scripts::WHOLE;
use super::{Family, Generator, keep_in_order, small, words};
use crate::script::Bytes;

/// Scripts after which a key is short-lived.
const SHORT: &[&str] = &[
    "return redis.call('set', KEYS[1], 'v', 'PX', 3)",
    "redis.call('set', KEYS[1], 'v', 'PX', 2) return redis.call('get', KEYS[1])",
    "return redis.call('pexpire', KEYS[1], 2)",
];

/// Commands for inside scripts: their replies do not depend on the moment, nor on the order of a hash table.
const CALLS: Family = &[
    (8, "get $k"),
    (8, "set $k $v $set"),
    (3, "setnx $k $v"),
    (2, "getset $k $v"),
    (4, "del $ks"),
    (3, "exists $ks"),
    (5, "incr $k"),
    (3, "incrby $k $n"),
    (3, "expire $k $lt $cond"),
    (2, "pexpire $k $odd"),
    (2, "expireat $k $at"),
    (2, "persist $k"),
    (4, "ttl $k"),
    (4, "hset $k $fvs"),
    (3, "hget $k $f"),
    (3, "hgetall $k"),
    (2, "hincrby $k $f $n"),
    (2, "hdel $k $fs"),
    (2, "type $k"),
    (2, "echo $v"),
    (1, "ping"),
    (1, "dbsize"),
    (1, "$unknown $junk"),
    (1, "select $odd"),
    (1, "mget $ks"),
    (2, "getrange $k $index $index"),
    (2, "append $k $v"),
    (2, "getex $k $getex"),
    (1, "setrange $k $offset $v"),
    (1, "rename $k $k"),
    (1, "copy $k $k $copy"),
    (1, "hmset $k $fvs"),
    (1, "hscan $k 0"),
    (1, "touch $ks"),
    (3, "rpush $k $es"),
    (1, "lpop $k"),
    (2, "lrange $k 0 -1"),
    (1, "lmove $k $k left right"),
    (1, "blmpop 0 1 $k left"),
    (2, "sadd $k $es"),
    (1, "sismember $k $e"),
    (2, "zadd $k $ms"),
    (2, "zrange $k 0 -1 withscores"),
    (1, "zscore $k $e"),
    (1, "zpopmin $k"),
];

/// Values a script can return.
const ATOMS: &[&str] = &[
    "nil",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "3.7",
    "-3.7",
    "1e10",
    "'text'",
    "''",
    "'two words'",
    "'\\0'",
    "{}",
    "{ok='st'}",
    "{err='ERR er'}",
    "KEYS[1]",
    "ARGV[1]",
    "#KEYS",
    "redis.status_reply('s')",
    "redis.error_reply('e')",
    "{double=1.5}",
    "tostring(nil)",
    "type(KEYS)",
    "2^40",
    "'12'",
];

impl Generator {
    /// A script as EVAL's or SCRIPT LOAD's argument; remembered for EVALSHA.
    pub(super) fn script_text(&mut self) -> Bytes {
        let text = match self.random.below(100) {
            0..45 => self.random.pick(WHOLE).as_bytes().to_vec(),
            45..55 => self.random.pick(LIMITS).as_bytes().to_vec(),
            55..58 => {
                self.short = true;
                self.random.pick(SHORT).as_bytes().to_vec()
            }
            58..70 => format!("return {}", self.expression(0)).into_bytes(),
            70..78 => self.library_call().into_bytes(),
            78..97 => self.statements().into_bytes(),
            _ => self.broken(),
        };
        self.scripts.push((text.clone(), self.short));
        text
    }

    /// What follows EVAL: a script, its number of keys, keys and arguments.
    pub(super) fn eval_arguments(&mut self, args: &mut Vec<Bytes>) {
        args.push(self.script_text());
        let keys = *self.random.weighted(&[(2, 0), (8, 1), (3, 2)]);
        args.push(keys.to_string().into_bytes());
        (0..keys).for_each(|_| args.push(self.key()));
        (0..self.random.below(3)).for_each(|_| {
            let value = self.value();
            args.push(small(value));
        });
    }

    /// The hash of one of the script's Lua scripts, or something like it.
    pub(super) fn sha(&mut self) -> Bytes {
        let known = self.scripts.len();
        if known == 0 || self.random.percent(15) {
            let odd = [
                "",
                "abc",
                "ffffffffffffffffffffffffffffffffffffffff",
                "not a hash but with 40 characters.....",
            ];
            return self.random.pick(&odd).as_bytes().to_vec();
        }
        let (text, is_short) = &self.scripts[self.random.below(known)];
        self.short |= is_short;
        let sha = sha1_smol::Sha1::from(text).digest().to_string();
        if self.random.percent(15) { sha.to_uppercase().into_bytes() } else { sha.into_bytes() }
    }

    fn statements(&mut self) -> String {
        let mut text = String::new();
        for number in 0..1 + self.random.below(3) {
            let call = self.call();
            let statement = match self.random.below(5) {
                0 => format!("{call} "),
                1 => format!("local r{number} = {call} "),
                2 => format!("if {call} then {} end ", self.call()),
                3 => format!(
                    "local r{number} = {call}; if type(r{number}) == 'table' and r{number}.err then return r{number} end\n"
                ),
                _ => format!("local ok{number}, r{number} = pcall(function() return {call} end) "),
            };
            text.push_str(&statement);
        }
        text.push_str(&format!("return {}", self.expression(0)));
        text
    }

    fn expression(&mut self, depth: usize) -> String {
        match self.random.below(10) {
            0..4 => self.random.pick(ATOMS).to_owned(),
            4..7 => self.call(),
            7 => format!("type({})", self.call()),
            _ if depth < 3 => {
                let items: Vec<String> =
                    (0..self.random.below(4)).map(|_| self.expression(depth + 1)).collect();
                format!("{{{}}}", items.join(", "))
            }
            _ => "0".to_owned(),
        }
    }

    fn call(&mut self) -> String {
        let mut args = self.command(CALLS);
        if self.random.percent(10) {
            self.spoil(&mut args);
        }
        keep_in_order(&mut args);
        let how = if self.random.percent(65) { "call" } else { "pcall" };
        let args: Vec<String> = args.iter().map(|arg| self.lua_argument(arg)).collect();
        format!("redis.{how}({})", args.join(", "))
    }

    fn lua_argument(&mut self, arg: &[u8]) -> String {
        let number = std::str::from_utf8(arg)
            .ok()
            .filter(|text| text.parse::<i32>().is_ok_and(|n| n.to_string() == *text));
        match number {
            Some(number) if self.random.percent(50) => number.to_owned(),
            _ if arg.starts_with(b"k") && self.random.percent(40) => "KEYS[1]".to_owned(),
            _ if arg.starts_with(b"token") && self.random.percent(40) => "ARGV[1]".to_owned(),
            _ => format!("'{}'", lua_escaped(arg)),
        }
    }

    /// A script with something cut out of it.
    fn broken(&mut self) -> Bytes {
        let mut text = self.random.pick(WHOLE).as_bytes().to_vec();
        let from = self.random.below(text.len().max(1));
        let length = 1 + self.random.below(6);
        text.drain(from.min(text.len())..(from + length).min(text.len()));
        // A loop without its end condition would run for ever; so might a recursion. Random numbers must keep their
        // seed, and errors that are tables their text.
        let delicate: [&[u8]; 7] =
            [b"while", b"repeat", b"function", b"for ", b"load", b"random", b"error({"];
        let is_delicate = delicate.iter().any(|word| text.windows(word.len()).any(|part| part == *word));
        if is_delicate { words::VALUES[0].to_vec() } else { text }
    }
}

pub(super) fn lua_escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        match byte {
            b'\'' | b'\\' => text.extend(['\\', char::from(byte)]),
            b' '..=b'~' => text.push(char::from(byte)),
            // Three digits, so that a digit may follow.
            _ => text.push_str(&format!("\\{byte:03}")),
        }
    }
    text
}
