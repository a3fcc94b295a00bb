//! The Lua scripts that lock libraries send, word for word where their packages give them, since what breaks a library
//! is often the spelling: two kinds of quotes, a tail call, a number that was a text.
//!
//! Quoted from the packages as published, each under its own licence:
//! redis-py 5.2.1 (MIT, © 2022-2023 Redis, inc.), redlock-py 1.0.8 (MIT, © SPS Commerce), aioredlock 0.7.3 (MIT, © 2016
//! Joan Vilà Cuñat), node-redlock 5.0.0-beta.2 (MIT, © 2015 Mike Marcacci), pottery 3.0.1 (Apache 2.0, © 2015-2025
//! Rajiv Bakulesh Shah).
//!
//! Written for this test, to send the commands which those libraries send: redsync, bsm/redislock, Redisson,
//! RedLock.net, redlock-rb, Spring's lock registry and ShedLock; and our own locks'. Not among them: Redisson's fair
//! lock, which needs lists and sorted sets.

use super::Generator;
use crate::script::Bytes;

/// A script and how it is called.
pub(super) struct LibraryScript {
    /// At most so many keys.
    keys: usize,
    /// Its arguments, in the words of a template.
    args: &'static str,
    /// What it answers with depends on the moment: the known differences know it by its text, so it is never called by
    /// its hash.
    timed: bool,
    text: &'static str,
}

const fn script(keys: usize, args: &'static str, text: &'static str) -> LibraryScript {
    LibraryScript { keys, args, timed: false, text }
}

const fn timed(keys: usize, args: &'static str, text: &'static str) -> LibraryScript {
    LibraryScript { keys, args, timed: true, text }
}

const SCRIPTS: &[LibraryScript] = &[
    // redis-py: release, extend, reacquire.
    script(
        1,
        "$token",
        r#"
        local token = redis.call('get', KEYS[1])
        if not token or token ~= ARGV[1] then
            return 0
        end
        redis.call('del', KEYS[1])
        return 1
    "#,
    ),
    script(
        1,
        "$token $plt $bit",
        r#"
        local token = redis.call('get', KEYS[1])
        if not token or token ~= ARGV[1] then
            return 0
        end
        local expiration = redis.call('pttl', KEYS[1])
        if not expiration then
            expiration = 0
        end
        if expiration < 0 then
            return 0
        end

        local newttl = ARGV[2]
        if ARGV[3] == "0" then
            newttl = ARGV[2] + expiration
        end
        redis.call('pexpire', KEYS[1], newttl)
        return 1
    "#,
    ),
    script(
        1,
        "$token $plt",
        r#"
        local token = redis.call('get', KEYS[1])
        if not token or token ~= ARGV[1] then
            return 0
        end
        redis.call('pexpire', KEYS[1], ARGV[2])
        return 1
    "#,
    ),
    // redlock-py: release.
    script(
        1,
        "$token",
        r#"
    if redis.call("get",KEYS[1]) == ARGV[1] then
        return redis.call("del",KEYS[1])
    else
        return 0
    end"#,
    ),
    // aioredlock: set, unset, lifetime.
    script(
        1,
        "$token $plt",
        r#"
    local identifier = redis.call('get', KEYS[1])
    if not identifier or identifier == ARGV[1] then
        return redis.call("set", KEYS[1], ARGV[1], 'PX', ARGV[2])
    else
        return redis.error_reply('ERROR')
    end"#,
    ),
    script(
        1,
        "$token",
        r#"
    local identifier = redis.call('get', KEYS[1])
    if not identifier then
        return redis.status_reply('OK')
    elseif identifier == ARGV[1] then
        return redis.call("del", KEYS[1])
    else
        return redis.error_reply('ERROR')
    end"#,
    ),
    script(
        1,
        "$token",
        r#"
    local identifier = redis.call('get', KEYS[1])
    if not identifier then
        return redis.error_reply('ERROR')
    elseif identifier == ARGV[1] then
        return redis.call("TTL", KEYS[1])
    else
        return redis.error_reply('ERROR')
    end"#,
    ),
    // node-redlock: acquire, extend, release.
    script(
        3,
        "$token $plt",
        r#"
  -- Return 0 if an entry already exists.
  for i, key in ipairs(KEYS) do
    if redis.call("exists", key) == 1 then
      return 0
    end
  end

  -- Create an entry for each provided key.
  for i, key in ipairs(KEYS) do
    redis.call("set", key, ARGV[1], "PX", ARGV[2])
  end

  -- Return the number of entries added.
  return #KEYS
"#,
    ),
    script(
        3,
        "$token $plt",
        r#"
  -- Return 0 if an entry exists with a *different* lock value.
  for i, key in ipairs(KEYS) do
    if redis.call("get", key) ~= ARGV[1] then
      return 0
    end
  end

  -- Update the entry for each provided key.
  for i, key in ipairs(KEYS) do
    redis.call("set", key, ARGV[1], "PX", ARGV[2])
  end

  -- Return the number of entries updated.
  return #KEYS
"#,
    ),
    script(
        3,
        "$token",
        r#"
  local count = 0
  for i, key in ipairs(KEYS) do
    -- Only remove entries for *this* lock value.
    if redis.call("get", key) == ARGV[1] then
      redis.pcall("del", key)
      count = count + 1
    end
  end

  -- Return the number of entries removed.
  return count
"#,
    ),
    // pottery: locked, extend, release, and its generator of ids.
    timed(
        1,
        "$token",
        r#"
                if redis.call('get', KEYS[1]) == ARGV[1] then
                    local pttl = redis.call('pttl', KEYS[1])
                    return (pttl > 0) and pttl or 0
                else
                    return 0
                end
            "#,
    ),
    script(
        1,
        "$token $plt",
        r#"
                if redis.call('get', KEYS[1]) == ARGV[1] then
                    return redis.call('pexpire', KEYS[1], ARGV[2])
                else
                    return 0
                end
            "#,
    ),
    script(
        1,
        "$token",
        r#"
                if redis.call('get', KEYS[1]) == ARGV[1] then
                    return redis.call('del', KEYS[1])
                else
                    return 0
                end
            "#,
    ),
    script(
        1,
        "$n",
        r#"
                local curr = tonumber(redis.call('get', KEYS[1]))
                local next = tonumber(ARGV[1])
                if curr == nil or curr < next then
                    redis.call('set', KEYS[1], next)
                    return next
                else
                    return nil
                end
            "#,
    ),
    // After redsync: delete, touch, touch or set.
    script(
        1,
        "$token",
        r#"if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("DEL", KEYS[1])
elseif redis.call("EXISTS", KEYS[1]) == 0 then
  return -1
else
  return 0
end
"#,
    ),
    script(
        1,
        "$token $plt",
        r#"if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("PEXPIRE", KEYS[1], ARGV[2])
"#,
    ),
    script(
        1,
        "$token $plt",
        r#"if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("PEXPIRE", KEYS[1], ARGV[2])
elseif redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2], "NX") then
  return 1
end
return 0
"#,
    ),
    // After bsm/redislock: obtain, refresh, release, lifetime.
    script(
        3,
        "$token $length $plt",
        r#"local fields = {}
for i = 1, #KEYS do
  fields[2 * i - 1], fields[2 * i] = KEYS[i], ARGV[1]
end
if redis.call("MSETNX", unpack(fields)) == 0 then
  local length = tonumber(ARGV[2])
  local own = ARGV[1]:sub(1, length)
  for i = 1, #KEYS do
    if redis.call("GETRANGE", KEYS[i], 0, length - 1) ~= own then return false end
  end
  redis.call("MSET", unpack(fields))
end
for i = 1, #KEYS do redis.call("PEXPIRE", KEYS[i], ARGV[3]) end
return redis.status_reply("OK")
"#,
    ),
    script(
        3,
        "$token $plt",
        r#"for _, value in ipairs(redis.call("MGET", unpack(KEYS))) do
  if value ~= ARGV[1] then return false end
end
for _, key in ipairs(KEYS) do redis.call("PEXPIRE", key, ARGV[2]) end
return redis.status_reply("OK")
"#,
    ),
    script(
        3,
        "$token",
        r#"for _, value in ipairs(redis.call("MGET", unpack(KEYS))) do
  if value ~= ARGV[1] then return false end
end
return redis.call("DEL", unpack(KEYS)) > 0 and redis.status_reply("OK") or false
"#,
    ),
    timed(
        3,
        "$token",
        r#"local least = -3
for i, value in ipairs(redis.call("MGET", unpack(KEYS))) do
  if value ~= ARGV[1] then return -3 end
  local left = redis.call('pttl', KEYS[i])
  if i == 1 or left < least then least = left end
end
return least
"#,
    ),
    // After Redisson's RLock: acquire, renew, release, which wakes who waits; fenced acquire.
    timed(
        1,
        "$plt $owner",
        r#"if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then redis.call('hincrby', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]); return nil; end; return redis.call('pttl', KEYS[1]);"#,
    ),
    script(
        1,
        "$plt $owner",
        r#"if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then redis.call('pexpire', KEYS[1], ARGV[1]); return 1; end; return 0;"#,
    ),
    script(
        2,
        "$plt $owner",
        r#"local done = redis.call('get', KEYS[2]); if done ~= false then return tonumber(done); end; if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil; end; local count = redis.call('hincrby', KEYS[1], ARGV[2], -1); if count > 0 then redis.call('pexpire', KEYS[1], ARGV[1]); redis.call('set', KEYS[2], 0, 'px', 777000); return 0; else redis.call('del', KEYS[1]); redis.call('publish', 'released:' .. KEYS[1], '0'); redis.call('set', KEYS[2], 1, 'px', 777000); return 1; end;"#,
    ),
    script(
        2,
        "$plt $owner",
        r#"if redis.call('exists', KEYS[1]) == 0 then redis.call('incr', KEYS[2]); redis.call('hset', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]); return {-1, redis.call('get', KEYS[2])}; end; return {0, false};"#,
    ),
    // After RedLock.net: extend, which takes a free lock again.
    script(
        1,
        "$token $plt",
        r#"local held = redis.call('get', KEYS[1])
if (held == false) then
  return redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2]) and 1 or 0
elseif (held == ARGV[1]) then
  return redis.call('pexpire', KEYS[1], ARGV[2])
else
  return -1
end
"#,
    ),
    // After redlock-rb: lock, and a query that answers with two values.
    script(
        1,
        "$token $plt $yesno",
        r#"if (redis.call("exists", KEYS[1]) == 0 and ARGV[3] == "yes") or redis.call("get", KEYS[1]) == ARGV[1] then
  return redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2])
end
"#,
    ),
    script(1, "", r#"return { redis.call("get", KEYS[1]), redis.call("ttl", KEYS[1]) }"#),
    // After Spring's registry: obtain, unlink, and unlink with a message to who waits; ShedLock: keep until, if it is
    // one's own.
    script(
        1,
        "$token $plt",
        r#"local owner = redis.call('GET', KEYS[1])
if owner == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return true
elseif not owner then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return true
end
return false
"#,
    ),
    script(
        1,
        "$token",
        r#"if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('UNLINK', KEYS[1]) == 1 end return false"#,
    ),
    script(
        1,
        "$token $v",
        r#"if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('UNLINK', KEYS[1]) return redis.call('PUBLISH', ARGV[2], KEYS[1]) == 0 end return false"#,
    ),
    script(
        1,
        "$token $plt",
        r#"if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('set', KEYS[1], ARGV[1], 'XX', 'PX', ARGV[2]) end return false"#,
    ),
    // Our own, which the node runs without Lua: the same SHA1 only if they are the same to the letter.
    script(1, "$token", COMPARE_AND_DELETE),
    script(1, "$token", COMPARE_AND_DELETE),
    script(1, "$v $junk", COMPARE_AND_DELETE),
    script(1, "$token $plt", EXTEND),
    script(1, "$token $plt", EXTEND),
    script(1, "$v $odd", EXTEND),
    script(1, "$token $plt", EXTEND_OR_SET),
    script(1, "$token $short", EXTEND_OR_SET),
    script(1, "$v $odd", EXTEND_OR_SET),
    script(2, "$token $plt", CLAIM_FENCED),
    script(2, "$token $plt", CLAIM_FENCED),
    script(2, "$token $odd", CLAIM_FENCED),
];

const COMPARE_AND_DELETE: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
const EXTEND: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then \
    return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";
const EXTEND_OR_SET: &str = "local value = redis.call('GET', KEYS[1]) \
    if value == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end \
    if value then return 0 end redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) return 1";
const CLAIM_FENCED: &str = "if redis.call('EXISTS', KEYS[1]) == 1 then return false end \
    local number = redis.call('INCR', KEYS[2]) \
    redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) return number";

impl Generator {
    /// A call of a library's script: everything from EVAL or EVALSHA on.
    pub(super) fn lock_script_call(&mut self, args: &mut Vec<Bytes>) {
        let script = &SCRIPTS[self.random.below(SCRIPTS.len())];
        let text = script.text.as_bytes().to_vec();
        let by_hash = !script.timed && self.random.percent(40);
        if by_hash {
            args.extend([
                b"EVALSHA".to_vec(),
                sha1_smol::Sha1::from(&text).digest().to_string().into_bytes(),
            ]);
        } else {
            args.extend([b"EVAL".to_vec(), text]);
        }
        let keys = 1 + self.random.below(script.keys);
        args.push(keys.to_string().into_bytes());
        (0..keys).for_each(|_| args.push(self.key()));
        if !script.args.is_empty() {
            args.append(&mut self.filled(script.args));
        }
    }
}
