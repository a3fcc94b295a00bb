//! Scripts that would crash the process that runs them: each gives the answer Redis gives, or an error that names the
//! limit.

use doublehold_sim_redis::core::{CoreConfig, Next, ScriptClock, ScriptLimit};

use crate::support::Node;

/// Runs each script, on a stack as small as a thread of a runtime may have, and compares what its reply begins with.
#[expect(clippy::disallowed_methods, reason = "no world runs here")]
fn check(table: &'static [(&'static str, &'static str)]) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        for (script, expected) in table {
            let mut node = Node::with(CoreConfig { script_memory_limit: 16 << 20, ..CoreConfig::default() });
            let mut client = node.client();
            let reply = node.ask(&mut client, &["EVAL", script, "0"]);
            assert!(reply.starts_with(expected), "{script}\n  gave {}", &reply[..reply.len().min(300)]);
            assert_eq!(node.ask(&mut client, &["EVAL", "return 'fine'", "0"]), "$4|fine|", "after {script}");
        }
    });
    thread.expect("a thread").join().expect("every script was answered as expected");
}

#[test]
fn a_protected_call_returns_as_many_results_as_the_stack_holds() {
    check(&[
        ("return {pcall(function() return unpack({}, 1, 100) end)}", "*1|:1|"),
        ("return select('#', pcall(function() return unpack({}, 1, 5000) end))", ":5001|"),
        ("local function f() return pcall(f) end return f()", ":1|"),
    ]);
}

#[test]
fn unpack_counts_its_results_without_overflowing() {
    check(&[
        ("return unpack({}, 0, 2147483647)", "-ERR user_script:1: too many results to unpack script: "),
        (
            "return unpack({}, -2147483648, 2147483647)",
            "-ERR user_script:1: too many results to unpack script: ",
        ),
        ("return unpack({}, 1, 1e300)", "$-1|"),
        ("return unpack({}, 1, 8001)", "-ERR user_script:1: too many results to unpack script: "),
        ("return select('#', unpack({}, 1, 7900))", ":7900|"),
        ("return select('#', unpack({}, 2147483646, 2147483647))", ":2|"),
        ("return {unpack({1, 2, 3}, 2)}", "*2|:2|:3|"),
        ("return {unpack({1, 2, 3}, '2', '3')}", "*2|:2|:3|"),
        (
            "return unpack()",
            "-ERR user_script:1: bad argument #1 to 'unpack' (table expected, got no value) script: ",
        ),
        (
            "return unpack({}, 'x')",
            "-ERR user_script:1: bad argument #2 to 'unpack' (number expected, got string) script: ",
        ),
    ]);
}

#[test]
fn callbacks_that_call_back_end_before_the_stack_does() {
    check(&[
        (
            "local function f() return string.gsub('a', 'a', f) end return f()",
            "-ERR C stack overflow script: ",
        ),
        ("local function f() return table.sort({1, 2}, f) end return f()", "-ERR C stack overflow script: "),
        ("local function f() return table.foreach({1}, f) end return f()", "-ERR C stack overflow script: "),
        ("local function f() return xpcall(f, f) end return f()", ":1|"),
        ("local function f() return coroutine.resume(coroutine.create(f)) end return f()", ":1|"),
        ("local function f() coroutine.wrap(f)() end return f()", "-ERR C stack overflow script: "),
        (
            "local t = {} setmetatable(t, {__tostring = function() return tostring(t) end}) return tostring(t)",
            "-ERR C stack overflow script: ",
        ),
        (
            "local t = {} setmetatable(t, {__index = function() return string.gsub('a', 'a', t) end}) return t.x",
            "-ERR C stack overflow script: ",
        ),
        (
            "local t = {} setmetatable(t, {__index = function() return t.x end}) return t.x",
            "-ERR user_script:1: C stack overflow script: ",
        ),
        ("return loadstring('return ' .. string.rep('(', 300))", "$-1|"),
        ("return loadstring(string.rep('do ', 300))", "$-1|"),
    ]);
}

#[test]
fn the_parser_meets_no_collector_and_no_bytecode() {
    check(&[
        // The chunk's name is held by nobody while Lua parses (CVE-2025-49844): with much garbage, a collection would
        // begin.
        (
            "for i = 1, 200 do local f = loadstring('local a = {} ' .. string.rep('a[#a + 1] = \"' .. i .. '\" ', 500), 'chunk' .. i) f() end return 1",
            ":1|",
        ),
        ("return loadstring(string.dump(function() return 1 end))", "$-1|"),
        (
            "local d = string.dump(function() return 1 end) local n = 0 return load(function() n = n + 1 return string.sub(d, n, n) end)",
            "$-1|",
        ),
        ("return loadstring('\\27Lua')", "$-1|"),
        // A long bracket of many levels (CVE-2025-46819).
        (
            "return loadstring('return [' .. string.rep('=', 100000) .. '[x]' .. string.rep('=', 100000) .. ']')()",
            "$1|x|",
        ),
    ]);
}

#[test]
fn huge_counts_and_wrong_order_functions_are_survived() {
    check(&[
        ("return #string.rep('x', 2147483648)", "-ERR not enough memory script: "),
        ("return string.rep('x', -2147483648)", "$0||"),
        (
            "return string.byte(string.rep('x', 9000), 1, -1)",
            "-ERR user_script:1: stack overflow (string slice too long) script: ",
        ),
        ("return {string.byte('x', -2147483648, 2147483647)}", "*1|:120|"),
        ("return string.format('%099d', 1)", "$99|0000"),
        (
            "return string.format('%100d', 1)",
            "-ERR user_script:1: invalid format (width or precision too long) script: ",
        ),
        ("return #string.format('%.99f', 1e308)", ":409|"),
        (
            "return table.concat({}, '', 1, 2147483647)",
            "-ERR user_script:1: invalid value (nil) at index 1 in table for 'concat' script: ",
        ),
        ("local t = {} table.insert(t, 2147483647, 'x') return #t", ":0|"),
        ("return table.remove({}, -2147483648)", "$-1|"),
        (
            "local t = {} for i = 1, 200 do t[i] = i % 7 end table.sort(t, function() return true end)",
            "-ERR ",
        ),
        ("local t = {3, 1, 2} table.sort(t, function(a, b) return a < b end) return t", "*3|:1|:2|:3|"),
        (
            "return select(-2147483648, 1)",
            "-ERR user_script:1: bad argument #1 to 'select' (index out of range) script: ",
        ),
        ("return bit.tohex(65535, -2147483648)", "$8|0000FFFF|"),
        // Many fixed parameters before the others (CVE-2014-5461).
        (
            "local p = {} for i = 1, 190 do p[i] = 'a' .. i end return loadstring('local function f(' .. table.concat(p, ',') .. ',...) return select(\"#\", ...) end return f(1)')()",
            ":0|",
        ),
        // Patterns of many stars (CVE-2022-36021, CVE-2024-31228).
        (
            "redis.call('set', string.rep('a', 1000), 1) return redis.call('keys', string.rep('*a', 5000) .. 'b')",
            "*0|",
        ),
        (
            "local t = {} for i = 1, 50 do t = {t, t} end return t",
            "-ERR the script's reply is longer than its memory limit|",
        ),
        ("local t = {} t[1] = t return t", "-ERR reached lua stack limit|"),
    ]);
}

#[test]
fn a_thread_runs_any_number_of_different_scripts() {
    let mut node = Node::new();
    let mut client = node.client();
    for number in 0..9_000 {
        let script = format!("return {number}");
        assert_eq!(node.ask(&mut client, &["EVAL", &script, "0"]), format!(":{number}|"));
    }
    assert_eq!(node.ask(&mut client, &["EVAL", "return 0", "0"]), ":0|", "an early one as well");
}

#[test]
fn a_place_that_wraps_around_in_c_is_charged_as_c_reads_it() {
    let limited = CoreConfig { script_limit: ScriptLimit::Instructions(1_000_000), ..CoreConfig::default() };
    let clock = ScriptClock::new(|| std::time::Duration::ZERO);
    let timed = CoreConfig { script_limit: ScriptLimit::Time(clock), ..CoreConfig::default() };
    for config in [limited, timed] {
        for place in ["2^31", "-2147483647", "2^31 + 2^32", "-2^40 - 2^31"] {
            let mut node = Node::with(config.clone());
            let mut client = node.client();
            let script = format!("table.insert({{}}, {place}, 1) return 1");
            assert_eq!(node.execute(&mut client, &["EVAL", &script, "0"]).0, Next::Held, "{place}");
        }
    }
}

#[test]
fn what_is_thrown_shows_no_address() {
    for script in [
        "error(coroutine.create(function() end))",
        "error(function() end)",
        "return _G[print or function() end]",
        "return _G[coroutine.create(function() end)]",
    ] {
        let reply = |between: &str| {
            let mut node = Node::new();
            let mut client = node.client();
            node.ask(&mut client, &["EVAL", between, "0"]);
            node.ask(&mut client, &["EVAL", script, "0"])
        };
        assert_eq!(
            reply("return 1"),
            reply("local t = {} for i = 1, 99 do t[i] = {} end return t"),
            "{script}"
        );
        assert!(!reply("return 1").contains("0x5") && !reply("return 1").contains("0x7"), "{script}");
    }
}

#[test]
fn libraries_for_binary_texts_stay_within_the_stack_and_the_memory() {
    check(&[
        (
            "local x = cjson.decode(string.rep('[', 500000)) return 1",
            "-ERR user_script:1: Found too many nested",
        ),
        (
            "cjson.decode_max_depth(1e9) local x = cjson.decode(string.rep('[', 500000)) return 1",
            "-ERR user_script:1: Found too many nested data structures (2001) at character 2001 ",
        ),
        (
            "cjson.encode_max_depth(1e9) local t = {} for i = 1, 5000 do t = {t} end local x = cjson.encode(t) return 1",
            "-ERR user_script:1: Cannot serialise, excessive nesting (2001) ",
        ),
        (
            "local t = {} t.t = t local x = cjson.encode(t) return 1",
            "-ERR user_script:1: Cannot serialise, excessive",
        ),
        ("local t = {} for i = 1, 20000 do t[i] = {i} end return #cjson.encode(t)", ":148895|"),
        (
            "cjson.encode_sparse_array(true, 0) return #cjson.encode({[2000000000] = 1})",
            "-ERR not enough memory ",
        ),
        (
            "local x = cmsgpack.unpack(string.rep('\\145', 500000)) return 1",
            "-ERR user_script:1: stack overflow (too many return values at once; ",
        ),
        (
            "local x = cmsgpack.unpack('\\221\\255\\255\\255\\255') return 1",
            "-ERR user_script:1: Missing bytes in input.",
        ),
        (
            "local x = cmsgpack.unpack('\\219\\255\\255\\255\\255') return 1",
            "-ERR user_script:1: Missing bytes in input.",
        ),
        ("return select('#', cmsgpack.unpack(string.rep('\\1', 7900)))", ":7900|"),
        ("return #cmsgpack.pack(unpack({}, 1, 7000))", ":7000|"),
        (
            "local x = struct.pack('c2147483647', '') return 1",
            "-ERR user_script:1: bad argument #3 to 'pack' (string too",
        ),
        (
            "local x = struct.unpack('c2147483647', 'abc', -1) return 1",
            "-ERR user_script:1: bad argument #2 to 'unpack'",
        ),
        (
            "local x = struct.unpack('dc0', struct.pack('d', -1)) return 1",
            "-ERR user_script:1: bad argument #2 to 'unpack'",
        ),
        ("return select('#', struct.unpack(string.rep('B', 7899), string.rep('x', 7899)))", ":7900|"),
        (
            "local x = struct.pack(string.rep('I32', 100000), 1) return 1",
            "-ERR user_script:1: bad argument #3 to 'pack'",
        ),
    ]);
}

#[test]
fn what_cjson_was_told_stays_with_the_node_and_is_told_once_by_a_script_that_starts_again() {
    let mut node = Node::new();
    let mut client = node.client();
    let heavy = "local before = cjson.encode_max_depth() cjson.encode_max_depth(7) \
                 local t = {} for i = 1, 100000 do t[i] = {i} end return before";
    assert_eq!(
        node.ask(&mut client, &["EVAL", heavy, "0"]),
        ":1000|",
        "the second attempt finds what the first found"
    );
    assert_eq!(node.ask(&mut client, &["EVAL", "return cjson.encode_max_depth()", "0"]), ":7|");
    let (mut other, mut elsewhere) = (Node::new(), node.client());
    assert_eq!(other.ask(&mut elsewhere, &["EVAL", "return cjson.encode_max_depth()", "0"]), ":1000|");
    node.ask(&mut client, &["SCRIPT", "FLUSH"]);
    assert_eq!(node.ask(&mut client, &["EVAL", "return cjson.encode_max_depth()", "0"]), ":1000|");
}
