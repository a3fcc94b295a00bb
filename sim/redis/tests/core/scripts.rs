//! Scripts: conversions, errors, the sandbox, and limits.

use std::time::Duration;

use doublehold_sim_redis::core::{CoreConfig, Next, ScriptLimit, Session};

use crate::support::Node;

const COMPARE_AND_DELETE: &str =
    "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

fn eval(node: &mut Node, client: &mut Session, script: &str) -> String {
    node.ask(client, &["EVAL", script, "1", "k1", "a1", "a2"])
}

fn check(table: &[(&str, &str)]) {
    let mut node = Node::new();
    let mut client = node.client();
    for (script, expected) in table {
        let reply = eval(&mut node, &mut client, script);
        match expected.strip_suffix('…') {
            Some(start) => assert!(reply.starts_with(start), "{script}\n  gave {reply}"),
            None => assert_eq!(&reply, expected, "{script}"),
        }
    }
}

#[test]
fn lua_values_become_replies_as_redis_converts_them() {
    check(&[
        ("return 1", ":1|"),
        ("return 3.99", ":3|"),
        ("return -3.99", ":-3|"),
        ("return 1e300", ":-9223372036854775808|"),
        ("return 'a'", "$1|a|"),
        ("return true", ":1|"),
        ("return false", "$-1|"),
        ("return nil", "$-1|"),
        ("return {1,2,{3,'x'}}", "*3|:1|:2|*2|:3|$1|x|"),
        ("return {1,nil,3}", "*1|:1|"),
        ("return {1,false,3}", "*3|:1|$-1|:3|"),
        ("return {ok='FINE'}", "+FINE|"),
        ("return {err='MY error'}", "-MY error|"),
        ("return {err='two\\nlines'}", "-two lines|"),
        ("return {a=1}", "*0|"),
        ("return {double=3.5}", "$3|3.5|"),
        ("return {map={a=1}}", "*2|$1|a|:1|"),
        ("return redis.status_reply('x')", "+x|"),
        ("return redis.error_reply('MY x')", "-MY x|"),
        ("return {KEYS[1],ARGV[1],ARGV[2],#ARGV}", "*4|$2|k1|$2|a1|$2|a2|:2|"),
        ("return 1,2", ":1|"),
        ("return function() end", "$-1|"),
    ]);
}

#[test]
fn replies_become_lua_values_that_lock_scripts_rely_on() {
    check(&[
        ("return redis.call('get','none') == false and 'false'", "$5|false|"),
        ("return type(redis.call('incr','n'))", "$6|number|"),
        ("return redis.call('set','k','v').ok", "$2|OK|"),
        ("return redis.call('get','k') == 'v' and 1", ":1|"),
        (
            "return {redis.call('get','k'),redis.call('pttl','none'),redis.call('get','none')}",
            "*3|$1|v|:-2|$-1|",
        ),
        ("redis.setresp(3) redis.call('hset','h','f','v') return redis.call('hgetall','h').map.f", "$1|v|"),
        ("redis.setresp(3) return redis.call('get','none') == nil and 1", ":1|"),
        ("return redis.call('echo', 2^53)", "$16|9007199254740992|"),
        ("return redis.call('echo', 1.5)", "$3|1.5|"),
        ("return redis.call('echo', 0.1)", "$19|0.10000000000000001|"),
        ("return redis.call('pexpire','k',ARGV[3] or 1000)", ":1|"),
    ]);
}

#[test]
fn errors_say_what_and_where() {
    check(&[
        (
            "return redis.call('GET')",
            "-ERR Wrong number of args calling Redis command from script script: 72273adc3c5955bf8543f1ad6ce893355b89617d, on @user_script:1.|",
        ),
        (
            "return redis.call('FOO')",
            "-ERR Unknown Redis command called from script script: 985cd91d1c17d88d9c9e50c9f8738e9e61f3e911, on @user_script:1.|",
        ),
        (
            "return redis.call()",
            "-ERR Please specify at least one argument for this redis lib call script: …",
        ),
        (
            "return redis.call({})",
            "-ERR Lua redis lib command arguments must be strings or integers script: …",
        ),
        ("return redis.call('MULTI')", "-ERR This Redis command is not allowed from script script: …"),
        ("return redis.pcall('GET')", "-ERR Wrong number of args calling Redis command from script|"),
        (
            "redis.call('hset','h','f','v') return redis.call('get','h')",
            "-WRONGTYPE Operation against a key holding the wrong kind of value script: b3e10b9ccfdcedd2520cb0ba5d434ef7fef398da, on @user_script:1.|",
        ),
        (
            "\n\nerror('boom')",
            "-ERR user_script:3: boom script: 5d281ae492bac8794e282be2db21b8c24cd536a5, on @user_script:3.|",
        ),
        ("error({err='MY x'})", "-MY x script: …"),
        ("error('x',0)", "-ERR x script: …"),
        ("error()", "-ERR nil script: …"),
        ("error({})", "-ERR unknown error script: …"),
        (
            "return foo",
            "-ERR user_script:1: Script attempted to access nonexistent global variable 'foo' script: …",
        ),
        ("retur 1", "-ERR Error compiling script (new function): user_script:1: '=' expected near '1'|"),
        (
            "\x1bLua",
            "-ERR Error compiling script (new function): user_script:1: unexpected symbol near 'char(27)'|",
        ),
        ("local ok,e=pcall(redis.call,'FOO') return e", "$44|ERR Unknown Redis command called from script|"),
        (
            "local ok,e=xpcall(function() redis.call('FOO') end, function(e) return type(e) end) return e",
            "$5|table|",
        ),
        ("return string.match('x','[a')", "-ERR user_script:1: malformed pattern (missing ']') script: …"),
        (
            "return math.random(0)",
            "-ERR user_script:1: bad argument #1 to 'random' (interval is empty) script: …",
        ),
        ("local function f() return 1+f() end return f()", "-ERR user_script:1: stack overflow script: …"),
    ]);
}

/// Tries to leave something in every table that a script can come to.
const EVERY_TABLE: &str = "local left, seen = 0, {}
local function try(object)
  if type(object) ~= 'table' or rawequal(object, KEYS) or rawequal(object, ARGV) then return end
  for i = 1, #seen do if rawequal(seen[i], object) then return end end
  table.insert(seen, object)
  local ways = {
    function() object.leak = 1 end, function() rawset(object, 'leak', 1) end,
    function() table.insert(object, 'leak') end, function() table.insert(object, 1, 'leak') end,
    function() setmetatable(object, {}) end,
  }
  for i = 1, #ways do if pcall(ways[i]) then left = left + 1 end end
  try(getmetatable(object))
  for _, value in pairs(object) do try(value) end
end
try(_G) try(getmetatable('')) try(getmetatable('').__index)
return left";

#[test]
fn nothing_can_be_left_behind_for_the_next_script() {
    let readonly = "-ERR user_script:1: Attempt to modify a readonly table script: …";
    let unplaced = "-ERR Attempt to modify a readonly table script: …";
    check(&[
        ("x = 1", readonly),
        ("_G.x = 1", readonly),
        ("redis.call = nil", readonly),
        ("string.rep = nil", readonly),
        ("KEYS = {}", readonly),
        ("getmetatable('').__index = nil", readonly),
        ("getmetatable('').__index.rep = nil", readonly),
        ("getmetatable(_G).x = 1", readonly),
        ("rawset(_G,'x',1)", unplaced),
        ("rawset(string,'x',1)", unplaced),
        ("setmetatable(_G,{})", unplaced),
        (
            "for k, v in pairs(_G) do if type(v) == 'table' and k ~= 'KEYS' and k ~= 'ARGV' then rawset(v, 'x', 1) end end",
            unplaced,
        ),
        ("table.insert(redis, 'leak')", unplaced),
        ("table.insert(_G, 1, 'leak')", unplaced),
        ("table.insert(string, 'leak')", unplaced),
        ("table.insert(getmetatable(''), 'leak')", unplaced),
        ("table.insert(getmetatable('').__index, 'leak')", unplaced),
        ("table.insert(getmetatable(redis), 'leak')", unplaced),
        ("table.sort(redis) table.remove(redis) table.foreach(redis, function() end) return #redis", ":0|"),
        (EVERY_TABLE, ":0|"),
        ("local _, t = pairs(string) t.leak = 1 return string.leak == nil and 1", ":1|"),
        (
            "local f = loadstring('leak = 1') f()",
            "-ERR [string \"leak = 1\"]:1: Attempt to modify a readonly table script: …",
        ),
        ("KEYS[1] = 'changed' return KEYS[1]", "$7|changed|"),
        ("return KEYS[1]", "$2|k1|"),
        ("redis.setresp(3) return 1", ":1|"),
        ("return redis.call('get','none') == false and 1", ":1|"),
        ("math.randomseed(5) return tostring(math.random())", "$16|0.52483957937213|"),
        ("return tostring(math.random())", "$16|0.17082803611217|"),
        ("return tostring(math.random())", "$16|0.17082803611217|"),
        ("collectgarbage('stop') return collectgarbage('count')", ":0|"),
        ("return tostring({})", "$21|table: 0x000000000000|"),
    ]);
}

#[test]
fn what_could_reach_the_machine_is_not_there() {
    for name in [
        "io", "os", "print", "require", "dofile", "loadfile", "debug", "package", "module", "getfenv",
        "setfenv", "newproxy",
    ] {
        let expected = format!(
            "-ERR user_script:1: Script attempted to access nonexistent global variable '{name}' script: …"
        );
        check(&[(&format!("return {name}"), &expected)]);
    }
    check(&[("return loadstring('\\27Lua')", "$-1|")]);
}

#[test]
fn a_script_sees_one_time_and_its_writes_before_an_error_stay() {
    let mut node = Node::new();
    let mut client = node.client();
    node.ask(&mut client, &["SELECT", "0"]);
    let reply =
        eval(&mut node, &mut client, "redis.call('set','a','1') redis.call('set','b','2') error('x')");
    assert!(reply.starts_with("-ERR user_script:1: x"), "{reply}");
    assert_eq!(node.propagated(), ["MULTI", "SELECT 0", "set a 1", "set b 2", "EXEC"]);
    assert_eq!(node.ask(&mut client, &["GET", "b"]), "$1|2|");
    assert_eq!(eval(&mut node, &mut client, "return redis.call('time')"), "*2|$4|1000|$1|0|");
}

#[test]
fn the_script_cache_is_the_nodes_own() {
    let (mut first, mut second) = (Node::new(), Node::new());
    let (mut a, mut b) = (first.client(), second.client());
    let sha = first.ask(&mut a, &["SCRIPT", "LOAD", COMPARE_AND_DELETE]);
    let sha = sha.split('|').nth(1).unwrap().to_owned();
    first.ask(&mut a, &["SET", "lock", "token"]);
    assert_eq!(first.ask(&mut a, &["EVALSHA", &sha.to_uppercase(), "1", "lock", "other"]), ":0|");
    assert_eq!(first.ask(&mut a, &["EVALSHA", &sha, "1", "lock", "token"]), ":1|");
    assert_eq!(
        second.ask(&mut b, &["EVALSHA", &sha, "1", "lock", "token"]),
        "-NOSCRIPT No matching script. Please use EVAL.|"
    );
    assert_eq!(second.ask(&mut b, &["SCRIPT", "EXISTS", &sha]), "*1|:0|");
    first.ask(&mut a, &["SCRIPT", "FLUSH"]);
    assert_eq!(first.ask(&mut a, &["EVALSHA", &sha, "0"]), "-NOSCRIPT No matching script. Please use EVAL.|");
}

fn overrun_after(limit: u64) -> CoreConfig {
    CoreConfig {
        script_limit: ScriptLimit::Instructions(limit),
        script_memory_limit: 16 << 20,
        busy_reply_threshold: Duration::from_secs(5),
        ..CoreConfig::default()
    }
}

const BUSY: &str = "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.|";

#[test]
fn a_script_that_never_ends_holds_everybody_then_makes_the_node_busy_until_it_is_killed() {
    let mut node = Node::with(overrun_after(100_000));
    let (mut looping, mut other) = (node.client(), node.client());
    let endless = ["EVAL", "while true do end", "0"];
    assert_eq!(node.execute(&mut looping, &endless), (Next::Held, String::new()));
    assert!(node.core.script_is_overrunning());
    assert_eq!(node.execute(&mut other, &["PING"]), (Next::Held, String::new()));
    assert_eq!(node.core.held_until().map(|at| at.millis()), Some(1_005_000));
    node.now_ms += 5000;
    assert_eq!(node.ask(&mut other, &["PING"]), BUSY);
    assert_eq!(node.execute(&mut looping, &endless).0, Next::Held);
    assert_eq!(node.ask(&mut other, &["SHUTDOWN"]), BUSY);
    assert_eq!(node.ask(&mut other, &["SCRIPT", "KILL"]), "+OK|");
    assert_eq!(node.ask(&mut other, &["PING"]), "+PONG|");
    let killed = "-ERR Script killed by user with SCRIPT KILL... script: 694a5fe1ddb97a4c6a1bf299d9537c7d3d0f84e7, on @user_script:1.|";
    assert_eq!(node.execute(&mut looping, &endless), (Next::Reply, killed.to_owned()));
    assert_eq!(node.ask(&mut other, &["SCRIPT", "KILL"]), "-NOTBUSY No scripts in execution right now.|");
}

#[test]
fn a_script_that_has_written_cannot_be_killed_and_its_writes_are_lost_with_the_process() {
    let mut node = Node::with(overrun_after(100_000));
    let (mut looping, mut other) = (node.client(), node.client());
    node.execute(&mut looping, &["EVAL", "redis.call('set','a','1') while true do end", "0"]);
    node.now_ms += 6000;
    assert!(node.ask(&mut other, &["SCRIPT", "KILL"]).starts_with("-UNKILLABLE "));
    assert_eq!(node.propagated(), [""; 0]);
    assert_eq!(node.execute(&mut other, &["SHUTDOWN", "NOSAVE"]).0, Next::Shutdown { save: false });
}

#[test]
fn a_transaction_goes_on_after_its_killed_script() {
    let mut node = Node::with(overrun_after(100_000));
    let (mut client, mut other) = (node.client(), node.client());
    for command in
        [vec!["MULTI"], vec!["GET", "a"], vec!["EVAL", "while true do end", "0"], vec!["SET", "a", "1"]]
    {
        node.ask(&mut client, &command);
    }
    assert_eq!(node.execute(&mut client, &["EXEC"]), (Next::Held, String::new()));
    node.now_ms += 5000;
    node.ask(&mut other, &["SCRIPT", "KILL"]);
    let (next, reply) = node.execute(&mut client, &["EXEC"]);
    assert_eq!(next, Next::Reply);
    assert!(reply.starts_with("*3|$-1|-ERR Script killed by user"), "{reply}");
    assert!(reply.ends_with(".|+OK|"), "{reply}");
}

#[test]
fn no_script_escapes_its_limit() {
    let evasions = [
        "while true do pcall(function() while true do end end) end",
        "while true do coroutine.wrap(function() while true do end end)() end",
        "while true do pcall(redis.call, 'PING') end",
        "local function f() return f() end return f()",
        "local s = string.rep('a', 5000) while true do string.find(s, string.rep('a-', 50) .. 'b') end",
        "local s = string.rep('a', 1000000) while true do local t = s .. 'x' end",
        "local s = string.rep('a', 100000) while true do string.gsub(s, 'a', 'aa') end",
        "while true do xpcall(function() error('x') end, function() while true do end end) end",
        "for i = 1, 1e9 do string.rep('a', 1000000) end",
    ];
    for script in evasions {
        let mut node = Node::with(overrun_after(1_000_000));
        let mut client = node.client();
        let next = node.execute(&mut client, &["EVAL", script, "0"]);
        assert_eq!(next, (Next::Held, String::new()), "{script}");
        // The next script on this thread is not affected.
        let mut fresh = Node::new();
        let mut client = fresh.client();
        assert_eq!(fresh.ask(&mut client, &["EVAL", "return 'fine'", "0"]), "$4|fine|", "after {script}");
    }
}

#[test]
fn no_script_uses_unbounded_memory_or_stack() {
    let expected = [
        ("return string.rep('x', 1e9)", "not enough memory"),
        ("local s = 'x' while true do s = s .. s end", "not enough memory"),
        ("local t = {} for i = 1, 1e9 do t[i] = {} end", ""),
        ("return string.find(string.rep('a', 100000), string.rep('a?', 100000))", "pattern too complex"),
        ("local t = {} for i = 1, 1000 do t = {t} end return t", "reached lua stack limit"),
        ("return unpack({}, 1, 1e8)", "too many results to unpack"),
        ("return string.gsub(string.rep('x', 1e6), 'x', string.rep('y', 1e6))", "not enough memory"),
    ];
    for (script, why) in expected {
        let mut node = Node::with(overrun_after(1_000_000));
        let mut client = node.client();
        let (next, reply) = node.execute(&mut client, &["EVAL", script, "0"]);
        match why {
            "" => assert!(next == Next::Held || reply.contains("not enough memory"), "{script}: {reply}"),
            _ => assert!(reply.starts_with('-') && reply.contains(why), "{script}: {next:?} {reply}"),
        }
        let mut fresh = Node::new();
        let mut client = fresh.client();
        assert_eq!(fresh.ask(&mut client, &["EVAL", "return 'fine'", "0"]), "$4|fine|", "after {script}");
    }
}

#[test]
fn a_read_only_script_cannot_write() {
    let mut node = Node::new();
    let mut client = node.client();
    let reply = node.ask(&mut client, &["EVAL_RO", "return redis.call('set','a','1')", "0"]);
    assert!(
        reply.starts_with("-ERR Write commands are not allowed from read-only scripts. script: "),
        "{reply}"
    );
    let reply = eval(&mut node, &mut client, "#!lua flags=no-writes\nreturn redis.call('set','a','b')");
    assert!(reply.ends_with("on @user_script:2.|"), "{reply}");
    assert_eq!(eval(&mut node, &mut client, "#!lua\nreturn 1"), ":1|");
    assert_eq!(
        eval(&mut node, &mut client, "#!foo\nreturn 1"),
        "-ERR Unexpected engine in script shebang: #!foo|"
    );
}
