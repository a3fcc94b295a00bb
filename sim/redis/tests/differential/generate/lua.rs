//! Lua scripts: what locks use, every conversion between Lua and Redis, and every way to be wrong.

use super::{Family, Generator, templates};
use crate::script::Bytes;

/// Scripts as lock libraries have them, and others that are better written down than generated.
///
/// Not among them: errors that are tables without a text (`error({})`). They crash Redis 7.0.15.
const WHOLE: &[&str] = &[
    "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end",
    "if redis.call(\"get\",KEYS[1]) == ARGV[1] then\n    return redis.call(\"del\",KEYS[1])\nelse\n    return 0\nend\n",
    "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('pexpire',KEYS[1],100000) else return 0 end",
    "if redis.call('set',KEYS[1],ARGV[1],'NX','PX',777000) then return redis.call('incr',KEYS[1]..':fence') else return nil end",
    "local token = redis.call('get', KEYS[1]) if not token or token ~= ARGV[1] then return 0 end redis.call('del', KEYS[1]) return 1",
    "local t = redis.call('ttl', KEYS[1]) if t < 0 then return redis.call('expire', KEYS[1], 5000) end return t",
    "if (redis.call('exists', KEYS[1]) == 0) then redis.call('hincrby', KEYS[1], ARGV[1], 1) redis.call('pexpire', KEYS[1], 555000) return nil end if (redis.call('hexists', KEYS[1], ARGV[1]) == 1) then redis.call('hincrby', KEYS[1], ARGV[1], 1) return nil end return redis.call('ttl', KEYS[1])",
    "for i, key in ipairs(KEYS) do redis.call('set', key, ARGV[1] or 'none') end return #KEYS",
    "redis.call('set',KEYS[1],'1') redis.call('hget',KEYS[1],'f') return 'not reached'",
    "redis.call('set',KEYS[1],'1') error('after a write')",
    "local r = redis.pcall('hget',KEYS[1]) return r.err",
    "local r = redis.pcall('incr',KEYS[1]) if type(r) == 'table' then return {type(r), r.err, r['ok'] or 'no ok'} end return r",
    "local ok, e = pcall(redis.call, 'nosuchcommand') return {tostring(ok), type(e), e.err}",
    "local ok, e = pcall(redis.call, 'get') if type(e) == 'table' then return e end return e",
    "local ok, e = pcall(error, {err='MY error'}) return e",
    "local ok, e = pcall(function() error('inner') end) return e",
    "local ok, e = pcall(function() error('inner', 0) end) return {tostring(ok), e}",
    "local ok, e = pcall(function() local x = nil; return x.y end) return e",
    "local ok, e = pcall(function() return nosuchglobal end) return e",
    "local ok, e = pcall(function() nosuchglobal = 1 end) return e",
    "redis.setresp(3) return redis.call('hgetall',KEYS[1])",
    "redis.setresp(3) return redis.call('get',KEYS[1])",
    "redis.setresp(3) return type(redis.call('get','nokey'))",
    "redis.setresp(3) local r = redis.call('hgetall',KEYS[1]) return type(r.map)",
    "redis.setresp(2) return redis.call('hgetall',KEYS[1])",
    "redis.setresp(4) return 1",
    "redis.setresp() return 1",
    "return redis.setresp(3)",
    "local s = '' for k, v in ipairs({5,4,3}) do s = s .. k .. '=' .. v .. ';' end return s",
    "local t = {} for i = 1, 30 do t[i] = i * i end return t",
    "local t = {3,1,2} table.sort(t) return t",
    "local t = {3,1,2} table.sort(t, function(a, b) return a > b end) table.insert(t, 9) table.remove(t, 1) return t",
    "return {select('#', unpack(ARGV)), unpack(ARGV)}",
    "return table.concat(ARGV, ',', 1, 1)",
    "return {string.find('hello world', 'o w'), string.match('key=value', '(%w+)=(%w+)')}",
    "return {string.gsub('hello', 'l', 'L')}",
    "return {string.format('%5d|%-5s|%05.1f|%x|%q|%g', 42, 'ab', 3.14159, 255, 'q\"', 1e20)}",
    "return {string.byte('abc', 1, -1)}",
    "return {string.rep('ab', 3), string.reverse('abc'), string.upper('abc'), string.lower('ABC'), #('abc'), string.sub('abcdef', 2, -2), string.char(65, 66)}",
    "return {tostring(nil), tostring(true), tostring(12), tostring(1.5), tostring(1e15), tostring(1e100), tostring(-0), tostring(2^53)}",
    "return {tonumber('10'), tonumber('0x10'), tonumber('  5  '), tonumber('ff', 16), tonumber('z', 36), tonumber('1e2')}",
    "return {tonumber('abc') or 'nil', tonumber('') or 'nil', tonumber('1 2') or 'nil', tonumber({}) or 'nil'}",
    "return {math.floor(3.7), math.ceil(3.2), math.max(1, 9, 3), math.min(4, 2), math.abs(-5), math.fmod(7, 3), 7 % 3, -7 % 3, math.huge == 1/0 and 1 or 0}",
    "math.randomseed(0) return {math.random(1000), math.random(1000), tostring(math.random())}",
    "math.randomseed(42) return {math.random(100000), math.random(5, 10)}",
    "return math.random(0)",
    "return {type(os), type(io), type(require), type(print), type(dofile), type(loadfile), type(debug), type(package)}",
    "return os.time()",
    "return type(os.clock())",
    "return {type(loadstring), type(load), type(setfenv), type(getfenv), type(newproxy), type(collectgarbage), type(coroutine)}",
    "return loadstring('return 1 + 1')()",
    "return loadstring('return +')",
    "return {pcall(loadstring, nil)}",
    "local co = coroutine.create(function(a) local b = coroutine.yield(a + 1) return b * 2 end) local _, x = coroutine.resume(co, 1) local _, y = coroutine.resume(co, 10) return {x, y, coroutine.status(co)}",
    "return coroutine.wrap(function() return redis.call('ping') end)()",
    "return {redis.REDIS_VERSION, redis.REDIS_VERSION_NUM}",
    "return {redis.LOG_DEBUG, redis.LOG_VERBOSE, redis.LOG_NOTICE, redis.LOG_WARNING, redis.REPL_NONE, redis.REPL_AOF, redis.REPL_SLAVE, redis.REPL_REPLICA, redis.REPL_ALL}",
    "redis.log(redis.LOG_DEBUG, 'x') return 1",
    "redis.log() return 1",
    "redis.log('x', 'y') return 1",
    "redis.log(10, 'y') return 1",
    "return redis.replicate_commands()",
    "return redis.set_repl(redis.REPL_ALL)",
    "return redis.set_repl(17)",
    "return redis.set_repl()",
    "return redis.breakpoint()",
    "return redis.debug('x')",
    "return redis.sha1hex('')",
    "return redis.sha1hex(ARGV[1] or 'abc')",
    "return redis.sha1hex()",
    "return redis.sha1hex(1, 2)",
    "return redis.sha1hex({})",
    "return redis.error_reply('My own error')",
    "return redis.error_reply('-MYCODE text')",
    "return redis.error_reply('one')",
    "return redis.error_reply('')",
    "return redis.error_reply('two\\r\\nlines')",
    "return redis.error_reply({})",
    "return redis.error_reply()",
    "return redis.error_reply('a', 'b')",
    "return redis.status_reply('fine')",
    "return redis.status_reply('two\\nlines')",
    "return redis.status_reply()",
    "return redis.status_reply(5)",
    "return redis.call()",
    "return redis.pcall()",
    "return redis.call({})",
    "return redis.call('get', {})",
    "return redis.call('get', nil)",
    "return redis.call('get', true)",
    "return redis.call('echo', 1)",
    "return redis.call('echo', 1.5)",
    "return redis.call('echo', 1e15)",
    "return redis.call('echo', 1e17)",
    "return redis.call('echo', 0.1)",
    "return redis.call('echo', -0.0)",
    "return redis.call('echo', 1/0)",
    "return redis.call('echo', 2^63)",
    "return redis.call('echo', 123456789012)",
    "return redis.call(5)",
    "return redis.call('')",
    "return redis.call('multi')",
    "return redis.call('exec')",
    "return redis.call('eval', 'return 1', 0)",
    "return redis.call('script', 'flush')",
    "return redis.call('client', 'id')",
    "return redis.call('client', 'nosuch')",
    "return redis.call('config', 'get', 'save')",
    "return redis.call('hello', 3)",
    "return redis.call('watch', 'k1')",
    "return redis.call('wait', 0, 0)",
    "return redis.call('shutdown')",
    "return redis.call('replicaof', 'no', 'one')",
    "return redis.call('auth', 'x')",
    "return redis.call('quit')",
    "return redis.call('reset')",
    "return redis.call('role')",
    "return redis.call('command', 'nosuch')",
    "return redis.call('psync', '?', '-1')",
    "return redis.pcall('multi')",
    "return {redis.pcall('multi')}",
    "return redis.call('select', 2)",
    "redis.call('select', 1) redis.call('set', KEYS[1], 'in db 1') return redis.call('dbsize')",
    "return redis.call('ping', 'hello')",
    "return {redis.call('ping'), redis.call('echo', 'x')}",
    "return {redis.call('ping').ok, redis.call('set', KEYS[1], 'v').ok}",
    "return redis.nosuchfunction()",
    "return redis.nosuchfield",
    "redis.call = nil return 1",
    "redis.newfield = 1 return 1",
    "string.newfield = 1 return 1",
    "table.insert = nil",
    "rawset(redis, 'x', 1) return 1",
    "rawset(_G, 'x', 1) return 1",
    "_G.x = 1 return 1",
    "x = 1 return 1",
    "function f() return 1 end return f()",
    "return x",
    "return _G.x",
    "return _G['nosuch']",
    "return type(_G)",
    "return rawget(_G, 'nosuch')",
    "KEYS[1] = 'changed' return KEYS[1]",
    "ARGV = {'new'} return ARGV[1]",
    "KEYS = nil return 1",
    "setmetatable(_G, {}) return 1",
    "setmetatable(redis, {}) return 1",
    "getmetatable(_G).__index = nil return 1",
    "return type(getmetatable(_G))",
    "return type(getmetatable('').__index)",
    "getmetatable('').__index = function() return 1 end return 1",
    "local t = setmetatable({}, {__index = function(_, k) return k end}) return t.hello",
    "local t = setmetatable({}, {__index = function(_, i) if i < 4 then return i end end}) return t",
    "local mt = {__tostring = function() return 'obj' end} return tostring(setmetatable({}, mt))",
    "return tostring(redis.call('hgetall', KEYS[1])):sub(1, 6)",
    "local n = 0 for k in pairs(redis) do n = n + 1 end return n > 10 and 1 or 0",
    "local n = {} for k in pairs(string) do n[#n + 1] = k end table.sort(n) return n",
    "local n = {} for k in pairs(math) do n[#n + 1] = k end table.sort(n) return n",
    "local n = {} for k in pairs(table) do n[#n + 1] = k end table.sort(n) return n",
    "local n = {} for k in pairs(redis) do n[#n + 1] = k end table.sort(n) return n",
    "return next({})",
    "return #'\\0abc'",
    "return '\\0abc'",
    "local a <const> = 1",
    "return 5 // 2",
    "goto done ::done:: return 1",
    "return",
    "",
    " ",
    "-- only a comment",
    "return 1,2,3",
    "return nil, 1",
    "do return 1 end return 2",
    "return function() end",
    "return coroutine.create(function() end)",
    "return KEYS",
    "return ARGV",
    "return {KEYS, ARGV}",
    "return #KEYS + #ARGV",
    "return KEYS[1]",
    "return KEYS[99]",
    "return ARGV[1]",
    "return ARGV[1] .. 1",
    "return ARGV[1] + 1",
    "return {ok='fine'}",
    "return {ok=5}",
    "return {ok={}}",
    "return {ok='two\\r\\nlines'}",
    "return {err='My error'}",
    "return {err='-MYCODE text'}",
    "return {err='MYCODE'}",
    "return {err=''}",
    "return {err=5}",
    "return {err={}}",
    "return {err='two\\r\\nlines'}",
    "return {ok='a', err='b'}",
    "return {err='x', source='there', line=4}",
    "return {double=3.5}",
    "return {double=3}",
    "return {double='x'}",
    "return {double=1e300}",
    "return {double=0.1}",
    "return {double=1/0}",
    "return {double=-1/0}",
    "return {map={a=1}}",
    "return {map={}}",
    "return {map={[1]='one'}}",
    "return {map=5}",
    "return {set={a=true}}",
    "return {set={}}",
    "return {set={[7]=true}}",
    "return {big_number='1234567890123456789012345678901234567890'}",
    "return {big_number='two\\nlines'}",
    "return {big_number=5}",
    "return {verbatim_string={string='text', format='txt'}}",
    "return {verbatim_string={string='text'}}",
    "return {verbatim_string='text'}",
    "return {a=1}",
    "return {1, a=2, 3}",
    "return {{}, {{}}, {{{1}}}}",
    "return {1, nil, 3}",
    "return {nil, 2}",
    "return {1, false, 3}",
    "return {1, {ok='in a table'}, {err='in a table'}, redis.status_reply('s'), redis.error_reply('e')}",
    "return {1, 2.9, -2.9, '3.9', true, false}",
    "error('plain')",
    "error('plain', 0)",
    "error('plain', 2)",
    "error({err='MYCODE in a table'})",
    "error({err='-MYCODE in a table'})",
    "error({err='oneword'})",
    "error()",
    "error(nil)",
    "error(5)",
    "error(true)",
    "error('two\\r\\nlines')",
    "error(redis.error_reply('made here'))",
    "return error",
    "assert(false)",
    "assert(false, 'with a text')",
    "assert(nil, {err='MYCODE asserted'})",
    "assert(redis.call('get', 'nokey'), 'no such key')",
    "return assert(1, 'unused')",
    "local x = nil return x.field",
    "local x = 5 return x.field",
    "local x = 5 return x()",
    "local x = {} return x.a.b",
    "return {} + 1",
    "return 'a' + 1",
    "return '5' + 1",
    "return 1 .. {}",
    "return {} < {}",
    "return 1 < 'a'",
    "return #5",
    "return -{}",
    "return nil .. 'x'",
    "return ('x'):rep(3)",
    "return ('x'):nosuch()",
    "return string.rep()",
    "return string.rep('x', -1)",
    "return string.format('%d', 'x')",
    "return string.format('%d', 3.9)",
    "return string.format('%y', 1)",
    "return string.format('%s')",
    "return string.format('%s %s %s', nil, true, 1)",
    "return string.char(256)",
    "return string.find('a', '[')",
    "return string.find('a', '%')",
    "return string.gsub('abc', '(', 'x')",
    "return string.gsub('abc', 'b', '%2')",
    "return string.gsub('abc', '%w', {a='1', b=true})",
    "return string.gsub('abc', '%w', function(c) if c == 'b' then return 'B' end end)",
    "return string.gsub()",
    "return string.sub()",
    "return string.upper()",
    "return string.len(nil)",
    "return table.concat({1, {}, 3})",
    "return table.concat({1, 2, 3}, ', ')",
    "return table.concat()",
    "return table.insert({}, 1, 2, 3)",
    "return table.getn({1, 2})",
    "return table.maxn({1, 2, [9] = 1})",
    "return table.foreach",
    "return unpack()",
    "return unpack({1, 2}, 2)",
    "return {unpack({1, 2, 3})}",
    "return select(0)",
    "return select(-1, 1, 2)",
    "return select('x')",
    "return {select(2, 'a', 'b', 'c')}",
    "return tonumber()",
    "return tonumber('1', 99)",
    "return tostring()",
    "return type()",
    "return ipairs()",
    "return ipairs(nil)",
    "for i in 5 do end",
    "for i = 1, 'x' do end",
    "return pcall()",
    "return {pcall(error)}",
    "return xpcall(function() error('x') end, function(m) return 'handled ' .. m end)",
    "local r = {xpcall(function() error('x') end, function(m) return 'handled ' .. m end)} return r[2]",
    "return setmetatable(1, {})",
    "return setmetatable({}, 1)",
    "return rawequal('a', 'a')",
    "return math.floor('x')",
    "return math.floor()",
    "return math.pow(2, 10)",
    "return math.pi",
    "return math.sqrt(-1)",
    "return 0/0",
    "return 1/0",
    "return -1/0",
    "return 2^63",
    "return -2^63",
    "return 2^53 + 1",
    "return 1e100",
    "return 9223372036854775807",
    "return 9007199254740993",
    "return 3.999999999999999999",
    "return -3.99",
    "return 0.5",
    "return 1e-300",
    "ret",
    "return (",
    "return 'unfinished",
    "return [[unfinished",
    "end",
    "if true then return 1",
    "local = 5",
    "return 1 2",
    "x = = 1",
    "return @",
    "for i = 1 do end",
    "break",
    "return ...",
    "return {...}",
    "return select('#', ...)",
    "\u{1b}Lua",
    "#!lua\nreturn 1",
    "#!lua name=x\nreturn 1",
    "#!lua flags=no-writes\nreturn redis.call('get', KEYS[1])",
    "#!lua flags=no-writes\nreturn redis.call('set', KEYS[1], 'v')",
    "#!lua flags=allow-stale,no-writes\nreturn redis.call('get', KEYS[1])",
    "#!lua flags=allow-oom\nreturn redis.call('set', KEYS[1], 'v')",
    "#!lua flags=nosuchflag\nreturn 1",
    "#!lua nosuchoption=1\nreturn 1",
    "#!lua flags=\nreturn 1",
    "#!lua",
    "#!lua flags=no-writes",
    "#!python\nreturn 1",
    "#!\nreturn 1",
    "#! lua\nreturn 1",
    "#!lua\nerror('on line two')",
    "#!lua\nreturn (",
    "#!lua\n\nlocal x = nil\nreturn x.y",
    "local x = 1\nlocal y = nil\nreturn x + y",
    "local t = {}\nt[nil] = 1",
    "local t = {}\nt[0/0] = 1",
    "return redis.call('incr', KEYS[1]), redis.call('nosuch')",
    "return {redis.call('get', KEYS[1]), redis.call('incr', 'n1')}",
    "return {redis.call('hgetall', KEYS[1])}",
    "return redis.call('hgetall', KEYS[1])",
    "redis.call('hset', KEYS[1], 'f', 1, 'g', 2.5) return redis.call('hgetall', KEYS[1])",
    "return redis.call('mget', KEYS[1], 'nokey', 'k2')",
    "return redis.call('type', KEYS[1])",
    "return redis.call('type', KEYS[1])['ok']",
    "return redis.call('set', KEYS[1], 'v', 'nx')",
    "return tostring(redis.call('set', KEYS[1], 'v', 'nx'))",
    "return redis.call('set', KEYS[1], 'v', 'get')",
    "return redis.call('get', KEYS[1]) == false",
    "return type(redis.call('get', KEYS[1]))",
    "return redis.call('GET', KEYS[1]) or 'no value'",
    "return #redis.call('keys', '*')",
    "redis.call('del', KEYS[1]) return redis.call('exists', KEYS[1])",
    "redis.call('flushall') return redis.call('dbsize')",
    "local a = redis.call('incr', KEYS[1]) local b = redis.call('incr', KEYS[1]) return b - a",
    "redis.call('set', KEYS[1], 5) redis.call('expire', KEYS[1], 3333) redis.call('incr', KEYS[1]) return redis.call('ttl', KEYS[1])",
    "redis.call('pexpire', KEYS[1], 0) return redis.call('exists', KEYS[1])",
    "redis.call('set', KEYS[1], 'v', 'PXAT', 1) return redis.call('get', KEYS[1])",
    "return redis.call('expire', KEYS[1], '100', 'nx', 'gt')",
    "return type(cjson) == 'table' and 1 or 1",
];

/// Scripts after which a key is short-lived.
const SHORT: &[&str] = &[
    "return redis.call('set', KEYS[1], 'v', 'PX', 1)",
    "redis.call('set', KEYS[1], 'v', 'PX', 2) return redis.call('get', KEYS[1])",
    "return redis.call('pexpire', KEYS[1], 1)",
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
];

/// Values a script can return.
const ATOMS: &[&str] = &[
    "nil", "true", "false", "0", "1", "-1", "3.7", "-3.7", "1e10", "'text'", "''", "'two words'", "'\\0'", "{}",
    "{ok='st'}", "{err='ERR er'}", "KEYS[1]", "ARGV[1]", "#KEYS", "redis.status_reply('s')", "redis.error_reply('e')",
    "{double=1.5}", "tostring(nil)", "type(KEYS)", "2^40", "'12'",
];

impl Generator {
    /// A script as EVAL's or SCRIPT LOAD's argument; remembered for EVALSHA.
    pub(super) fn script_text(&mut self) -> Bytes {
        let text = match self.random.below(100) {
            0..55 => self.random.pick(WHOLE).as_bytes().to_vec(),
            55..58 => {
                self.short = true;
                self.random.pick(SHORT).as_bytes().to_vec()
            }
            58..70 => format!("return {}", self.expression(0)).into_bytes(),
            70..97 => self.statements().into_bytes(),
            _ => self.broken(),
        };
        self.scripts.push(text.clone());
        text
    }

    /// What follows EVAL: a script, its number of keys, keys and arguments.
    pub(super) fn eval_arguments(&mut self, args: &mut Vec<Bytes>) {
        args.push(self.script_text());
        let keys = *self.random.weighted(&[(2, 0), (8, 1), (3, 2)]);
        args.push(keys.to_string().into_bytes());
        (0..keys).for_each(|_| args.push(self.key()));
        (0..self.random.below(3)).for_each(|_| args.push(self.value()));
    }

    /// The hash of one of the script's Lua scripts, or something like it.
    pub(super) fn sha(&mut self) -> Bytes {
        let known = self.scripts.len();
        if known == 0 || self.random.percent(15) {
            let odd = ["", "abc", "ffffffffffffffffffffffffffffffffffffffff", "not a hash but with 40 characters....."];
            return self.random.pick(&odd).as_bytes().to_vec();
        }
        let text = &self.scripts[self.random.below(known)];
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
                3 => format!("local r{number} = {call}; if type(r{number}) == 'table' and r{number}.err then return r{number} end\n"),
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
                let items: Vec<String> = (0..self.random.below(4)).map(|_| self.expression(depth + 1)).collect();
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
        let how = if self.random.percent(65) { "call" } else { "pcall" };
        let args: Vec<String> = args.iter().map(|arg| self.lua_argument(arg)).collect();
        format!("redis.{how}({})", args.join(", "))
    }

    fn lua_argument(&mut self, arg: &[u8]) -> String {
        let number = std::str::from_utf8(arg).ok().filter(|text| text.parse::<i32>().is_ok_and(|n| n.to_string() == *text));
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
        // A loop without its end condition would run for ever; so might a recursion.
        let endless = [b"while".as_slice(), b"repeat", b"function", b"for "];
        let may_be_endless = endless.iter().any(|word| text.windows(word.len()).any(|part| part == *word));
        if may_be_endless { templates::VALUES[0].to_vec() } else { text }
    }
}

fn lua_escaped(bytes: &[u8]) -> String {
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
