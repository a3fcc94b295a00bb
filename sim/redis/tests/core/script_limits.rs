//! How far a script may go: what ends, what is stopped, and that neither depends on what ran on the thread before.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use doublehold_sim_redis::core::{
    CoreConfig, Limits, MetLimit, Next, Observer, Origin, OutputLimit, ScriptClock, ScriptLimit,
    StoppedScript,
};

use crate::support::Node;

fn ask(node: &mut Node, script: &str) -> String {
    let mut client = node.client();
    node.ask(&mut client, &["EVAL", script, "0"])
}

/// Runs `job` on a thread that has not run a script yet.
#[expect(clippy::disallowed_methods, reason = "no world runs here")]
fn on_a_fresh_thread<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().spawn(job).expect("a thread").join().expect("no panic")
}

#[test]
fn scripts_that_redis_ends_within_tenths_of_a_second_end_here_too() {
    let mut node = Node::new();
    let cases = [
        ("local sum = 0 for i = 1, 5000000 do sum = sum + i end return sum", ":12500002500000|"),
        ("local all = {} for i = 1, 50000 do all[i] = {i} end return #all", ":50000|"),
        ("local all = {} for i = 1, 50000 do table.insert(all, {i}) end return #all", ":50000|"),
        ("local s = '' for i = 1, 5000 do s = s .. i .. ',' end return #s", ":23893|"),
        ("for i = 1, 30000 do redis.call('set', 'lock:' .. i, 'mine') end return 1", ":1|"),
        (
            "local freed = 0 for _, key in ipairs(redis.call('keys', 'lock:*')) do \
             if redis.call('get', key) == 'mine' then freed = freed + redis.call('del', key) end end return freed",
            ":30000|",
        ),
        ("return redis.call('dbsize')", ":0|"),
    ];
    for (script, expected) in cases {
        assert_eq!(ask(&mut node, script), expected, "{script}");
    }
}

#[test]
fn work_in_library_functions_counts_as_instructions_do() {
    let endless = [
        "local t = {} for i = 1, 1000 do t[i] = i end while true do table.insert(t, 1, 0) table.remove(t, 1) end",
        "table.insert({}, -2147483648, 1)",
        "local t = {} for i = 1, 1000 do t[i] = i end while true do table.concat(t) end",
        "local t = {} for i = 1, 1000 do t[i] = i end while true do table.sort(t) end",
        "local t = {} for i = 1, 1000 do t[i] = i end while true do table.maxn(t) end",
        "local t = {} for i = 1, 1000 do t[i] = i end while true do unpack(t) end",
        "local s = string.rep('a', 100000) while true do redis.sha1hex(s) end",
        "local s = string.rep('a', 100000) while true do string.find(s, 'b', 1, true) end",
        "local s = string.rep('a', 100000) while true do string.find(s, 'b') end",
        "local s = string.rep('a', 100000) while true do string.upper(s) end",
        "local s = string.rep('a', 100000) while true do string.sub(s, 2) end",
        "local s = string.rep('a', 100000) while true do string.format('%s', s) end",
        "local s = string.rep('a', 100000) while true do local t = s .. 'b' end",
        "local s = string.rep('a', 100000) while true do redis.call('echo', s) end",
        "while true do coroutine.wrap(function() for i = 1, 150 do end end)() end",
        "for i = 1, 2000 do redis.call('set', i, i) end while true do redis.call('keys', 'x') end",
    ];
    for script in endless {
        let config =
            CoreConfig { script_limit: ScriptLimit::Instructions(1_000_000), ..CoreConfig::default() };
        let mut node = Node::with(config);
        let mut client = node.client();
        let next = node.execute(&mut client, &["EVAL", script, "0"]);
        assert_eq!(next, (Next::Held, String::new()), "{script}");
    }
}

#[test]
fn work_in_commands_counts_as_instructions_do() {
    let long = "redis.call('set', 'k', string.rep('x', 65536))";
    let keys = "for i = 1, 2000 do redis.call('set', i, i) end";
    let list = "for i = 1, 500 do redis.call('hset', 'h', i, i) end";
    let table = "for i = 1, 1000 do redis.call('hset', 'h', i, i) end";
    let slow_key = "redis.call('set', string.rep('a', 400), 1)";
    let slow_pattern = "'*' .. string.rep('a', 200) .. 'b'";
    // What there is before, and one call.
    let cases = [
        (long, "redis.call('setrange', 'k', 0, 'y')".to_owned()),
        (long, "redis.call('del', 'k') redis.call('setrange', 'k', 65536, 'y')".to_owned()),
        (long, "redis.call('pexpire', 'k', 1000)".to_owned()),
        (long, "redis.call('copy', 'k', 'l', 'replace')".to_owned()),
        (long, "redis.call('copy', 'k', 'l') redis.call('set', 'l', 'taken')".to_owned()),
        (long, "redis.call('get', 'k')".to_owned()),
        (long, "redis.call('getrange', 'k', 0, -1)".to_owned()),
        (long, "redis.pcall('mget', 'k', 'k', 'k')".to_owned()),
        (table, "redis.call('copy', 'h', 'i', 'replace')".to_owned()),
        (table, "redis.call('hscan', 'h', 0, 'match', 'none')".to_owned()),
        (table, "redis.call('hkeys', 'h')".to_owned()),
        (table, "redis.call('hvals', 'h')".to_owned()),
        (table, "redis.call('hgetall', 'h')".to_owned()),
        (list, "redis.call('hscan', 'h', 0, 'match', 'none')".to_owned()),
        (list, "redis.call('hmget', 'h', 'a', 'b', 'c', 'd')".to_owned()),
        (list, "redis.call('hdel', 'h', 'a', 'b', 'c', 'd')".to_owned()),
        (list, "redis.call('hset', 'h', 500, 1, 499, 1)".to_owned()),
        (list, "redis.call('hincrby', 'h', 500, 1)".to_owned()),
        (keys, "redis.call('keys', 'none')".to_owned()),
        (keys, "redis.call('randomkey')".to_owned()),
        (keys, "redis.call('scan', 0, 'match', 'none', 'count', 2000)".to_owned()),
        (keys, "redis.call('scan', 0, 'type', 'hash', 'count', 2000)".to_owned()),
        (slow_key, format!("redis.call('keys', {slow_pattern})")),
        (slow_key, format!("redis.call('scan', 0, 'match', {slow_pattern})")),
        ("", "redis.call('command', 'list', 'filterby', 'aclcat', 'none')".to_owned()),
    ];
    let cases = cases.map(|(before, call)| format!("{before} for i = 1, 3000 do {call} end return 1"));
    let many_arguments = "local function ask(...) for i = 1, 3000 do redis.call('exists', ...) end end \
                          local all = {} for i = 1, 1000 do all[i] = i end ask(unpack(all)) return 1";
    let ended: Vec<&str> =
        cases.iter().map(String::as_str).chain([many_arguments]).filter(|script| ends(script)).collect();
    assert!(ended.is_empty(), "not stopped:\n{}", ended.join("\n"));
}

/// Whether a script that an observer follows ends before its limit.
fn ends(script: &str) -> bool {
    let config = CoreConfig {
        script_limit: ScriptLimit::Instructions(1_000_000),
        observer: Some(Arc::new(Stopped::default())),
        limits: Limits {
            output: OutputLimit { hard: 150_000, ..OutputLimit::default() },
            ..Limits::default()
        },
        ..CoreConfig::default()
    };
    let mut node = Node::with(config);
    let mut client = node.client();
    let (next, reply) = node.execute(&mut client, &["EVAL", script, "0"]);
    assert!(next == Next::Held || reply == ":1|", "{script}\n  gave {reply}");
    next == Next::Reply
}

#[test]
fn appending_costs_what_is_appended() {
    let config = CoreConfig { script_limit: ScriptLimit::Instructions(1_000_000), ..CoreConfig::default() };
    let script = "redis.call('set', 'k', string.rep('x', 100000)) \
                  for i = 1, 5000 do redis.call('append', 'k', 'y') end return redis.call('strlen', 'k')";
    assert_eq!(ask(&mut Node::with(config), script), ":105000|");
}

/// Notes its way into a key until it meets the memory limit.
const GREEDY: &str = "local all, n = {}, 0 while true do n = n + 1 all[n] = string.rep('x', 900) .. n \
                      redis.call('set', 'n', n) end";

/// How far [`GREEDY`] comes on this thread.
fn greedy() -> String {
    let mut node = Node::with(CoreConfig { script_memory_limit: 12 << 20, ..CoreConfig::default() });
    let reply = ask(&mut node, GREEDY);
    assert!(reply.starts_with("-ERR not enough memory script: "), "{reply}");
    ask(&mut node, "return redis.call('get', 'n')")
}

#[test]
fn where_a_script_meets_its_memory_limit_does_not_depend_on_what_ran_on_the_thread_before() {
    let alone = on_a_fresh_thread(greedy);
    let after_others = on_a_fresh_thread(|| {
        let mut node = Node::new();
        // Garbage: strings that the script under test will make again, and a stack and a buffer that have grown.
        ask(&mut node, "for n = 1, 900 do local s = string.rep('x', 900) .. n end");
        ask(&mut node, "local function deep(n) return n > 0 and 1 + deep(n - 1) or 0 end return deep(5000)");
        greedy()
    });
    assert_eq!(alone, after_others);
}

#[test]
fn a_script_that_needs_much_memory_executes_each_command_once() {
    let mut node = Node::new();
    let script = "math.randomseed(7) local first = tostring(math.random()) redis.setresp(3) redis.call('select', 3) \
                  local missing = redis.call('get', 'none') local all = {} \
                  for i = 1, 30000 do all[i] = 'value ' .. i .. redis.call('incr', 'n') end \
                  local again = tostring(math.random()) math.randomseed(7) \
                  return {redis.call('get', 'n'), all[30000], tostring(missing), first == tostring(math.random()) and again ~= first}";
    let config = CoreConfig::default();
    assert!(config.script_memory_limit > 8 << 20, "it does not run into its limit");
    let mut client = node.client();
    let reply = node.ask(&mut client, &["EVAL", script, "0"]);
    assert_eq!(reply, "*4|$5|30000|$16|value 3000030000|$3|nil|:1|");
    let written = node.propagated();
    assert_eq!(written.len(), 30_003, "MULTI, SELECT, each INCR, EXEC");
    assert_eq!(written[1..3], ["SELECT 3", "incr n"]);
}

#[test]
fn a_weak_table_does_not_show_what_ran_before() {
    let script = "local weak = setmetatable({}, {__mode = 'v'}) weak[1] = {} \
                  local n = 0 while weak[1] and n < 1000 do n = n + 1 local garbage = {n} end return n";
    let alone = on_a_fresh_thread(move || ask(&mut Node::new(), script));
    for _ in 0..20 {
        assert_eq!(ask(&mut Node::new(), script), alone);
    }
}

#[test]
fn an_order_that_addresses_decide_is_refused() {
    let mut node = Node::new();
    let complaint = |kind: &str| {
        format!(
            "-ERR user_script:1: the order of a table with a {kind} as a key differs from run to run script: "
        )
    };
    let cases = [
        ("for key in pairs({[{}] = 1, a = 2}) do return key end", complaint("table")),
        ("return next({[print_ or function() end] = 1})", "-ERR user_script:1: Script attempted".to_owned()),
        ("return next({[function() end] = 1})", complaint("function")),
        ("table.foreach({[coroutine.create(function() end)] = 1}, tostring)", complaint("thread")),
        ("local step = pairs({}) local key = step({[{}] = 1})", complaint("table")),
        (
            "return {map = {[{}] = 1}}",
            "-ERR the script returned a map or set with a key that has no order|".to_owned(),
        ),
        (
            "local seen, n = {[{}] = true}, 0 for k in pairs({a = 1, [2] = 2, [true] = 3}) do n = n + 1 end return n",
            ":3|".to_owned(),
        ),
    ];
    for (script, expected) in cases {
        let reply = ask(&mut node, script);
        assert!(reply.starts_with(&expected), "{script}\n  gave {reply}");
    }
}

#[test]
fn a_reply_is_whole_or_an_error() {
    let mut node = Node::new();
    ask(&mut node, "for i = 1, 20000 do redis.call('set', 'key:' .. i, i) end");
    let whole = |reply: String, start: &str, parts: usize| {
        assert!(reply.starts_with(start), "{}", &reply[..reply.len().min(200)]);
        assert_eq!(reply.matches('|').count(), parts, "{start}");
    };
    whole(ask(&mut node, "return redis.call('keys', '*')"), "*20000|$", 1 + 2 * 20_000);
    assert_eq!(ask(&mut node, "return #redis.call('keys', '*')"), ":20000|");
    whole(ask(&mut node, "local t = {} for i = 1, 30000 do t[i] = i end return t"), "*30000|:1|:2|", 30_001);
    whole(ask(&mut node, "local t = {} for i = 1, 9000 do t[i] = {i} end return t"), "*9000|*1|:1|", 18_001);
    whole(
        ask(&mut node, "local t = {} for i = 1, 9000 do t[i] = i end return {map = t}"),
        "*18000|:1|:1|",
        18_001,
    );
    whole(
        ask(&mut node, "local t = {} for i = 1, 9000 do t[i] = i end return {set = t}"),
        "*9000|:1|:2|",
        9_001,
    );
    assert_eq!(
        ask(
            &mut node,
            "local t = {} for i = 1, 7900 do t[i] = 'key:' .. i end return #redis.call('mget', unpack(t))"
        ),
        ":7900|"
    );
    let too_many = "local t = {} for i = 1, 7900 do t[i] = 'key:' .. i end return redis.call('mget', 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, \
         11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, \
         41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, unpack(t))";
    let reply = ask(&mut node, too_many);
    assert!(reply.starts_with("-ERR ") || reply.starts_with("*7966|"), "{}", &reply[..reply.len().min(200)]);
}

#[derive(Default)]
struct Stopped(Mutex<Vec<MetLimit>>);

impl Observer for Stopped {
    fn script_stopped(&self, _origin: Origin, script: &StoppedScript) {
        self.0.lock().unwrap().push(script.limit);
    }
}

#[test]
fn a_limit_in_time_is_the_busy_reply_threshold_on_the_clock_that_is_given() {
    let stopped = Arc::new(Stopped::default());
    let reads = Arc::new(AtomicU64::new(0));
    // Each look at the clock takes a millisecond.
    let clock = ScriptClock::new(move || Duration::from_millis(reads.fetch_add(1, Ordering::Relaxed)));
    let config = CoreConfig {
        script_limit: ScriptLimit::Time(clock),
        busy_reply_threshold: Duration::from_secs(5),
        observer: Some(Arc::clone(&stopped) as _),
        ..CoreConfig::default()
    };
    let mut node = Node::with(config);
    assert_eq!(ask(&mut node, "for i = 1, 100000 do end return 'in time'"), "$7|in time|");
    let mut client = node.client();
    assert_eq!(node.execute(&mut client, &["EVAL", "while true do end", "0"]).0, Next::Held);
    assert_eq!(*stopped.0.lock().unwrap(), [MetLimit::Time(Duration::from_secs(5))]);
    let mut other = node.client();
    node.now_ms += 5000;
    assert!(node.ask(&mut other, &["GET", "k"]).starts_with("-BUSY "));
    assert_eq!(node.ask(&mut other, &["SCRIPT", "KILL"]), "+OK|");
}

#[test]
fn a_script_that_meets_its_memory_limit_is_told_of() {
    let stopped = Arc::new(Stopped::default());
    let config = CoreConfig {
        script_memory_limit: 12 << 20,
        observer: Some(Arc::clone(&stopped) as _),
        ..CoreConfig::default()
    };
    let mut node = Node::with(config);
    let caught = "return select(2, pcall(function() local s = 'x' while true do s = s .. s end end))";
    assert_eq!(ask(&mut node, caught), "$17|not enough memory|");
    ask(&mut node, GREEDY);
    assert_eq!(*stopped.0.lock().unwrap(), [MetLimit::Memory(12 << 20); 2]);
}

#[test]
fn an_error_that_is_a_table_comes_through_a_callback_as_it_is() {
    let mut node = Node::new();
    let throw = "function() error({err = 'MY error'}) end";
    for call in [
        "table.sort({1, 2}, F)",
        "string.gsub('a', 'a', F)",
        "table.foreach({1}, F)",
        "load(F)",
        "string.gsub('a', 'a', setmetatable({}, {__index = F}))",
        "tostring(setmetatable({}, {__tostring = F}))",
    ] {
        let script = call.replace('F', throw);
        let reply = ask(&mut node, &script);
        assert!(reply.starts_with("-MY error script: "), "{script}\n  gave {reply}");
        let caught = format!(
            "local ok, thrown = pcall(function() {script} end) return {{type(thrown), tostring(thrown)}}"
        );
        assert_eq!(ask(&mut node, &caught), "*2|$6|string|$8|MY error|", "{caught}");
    }
}
