-- Builds what scripts see of Lua, as Redis does: a few libraries that cannot be changed, and no way to leave anything
-- behind for the next script. Runs once per interpreter, with the host's functions; returns what the host calls.
--
-- Plain Lua 5.1 has no read-only tables (Redis patches its own), so every library is an empty table in front of the real
-- one: reads fall through, writes are refused. pairs, rawget and getmetatable hide the difference.
local host = ...

local error, type, select, pairs, ipairs, next = error, type, select, pairs, ipairs, next
local rawget, rawset, rawequal = rawget, rawset, rawequal
local setmetatable, getmetatable, setfenv = setmetatable, getmetatable, setfenv
local pcall, xpcall, tostring, tonumber, loadstring, load = pcall, xpcall, tostring, tonumber, loadstring, load
local floor = math.floor
local string_sub, string_byte, find_plain, concat = string.sub, string.byte, string.find, table.concat
local string_metatable = getmetatable("")

local null = host.cjson.null

local READONLY = "Attempt to modify a readonly table"
local real_of = setmetatable({}, { __mode = "k" })

local function refuse_write()
  error(READONLY, 2)
end

-- checked("tv", f) is f for scripts: arguments of the wrong type are refused as Lua's own library refuses them, and even
-- in `return f()` the place of the call is known, because to Lua it is a C function. t: table, s: string, v: any value,
-- m: table or nil, c: coroutine, a: anything or nothing.
local checked = host.checked

-- Of what a callback throws only texts and the host's own errors go through the host.
local function pass_on(ok, ...)
  if ok then
    return ...
  end
  local thrown = ...
  if type(thrown) ~= "string" and type(thrown) ~= "userdata" or thrown == null then
    host.keep(thrown)
  end
  error(thrown, 0)
end

host.call_back_with(function(callback, ...)
  return pass_on(pcall(callback, ...))
end, function(object, name)
  return object[name]
end)

local hidden
local function readonly(real)
  local guard = { __index = real, __newindex = refuse_write, __metatable = hidden or false, readonly = true }
  local front = setmetatable({}, guard)
  real_of[front] = real
  return front
end
hidden = readonly({})

local function copy(library, but)
  local result = {}
  for name, value in pairs(library) do
    result[name] = value
  end
  for name, value in pairs(but or {}) do
    result[name] = value
  end
  return result
end

-- Strings -------------------------------------------------------------------------------------------------------------
-- Lua's own matcher can take exponential time and deep recursion; the host's counts its steps.

local match_at = host.match_at
local safe_string = {}

-- match_at returns an error text and nil, or nothing, or false, first, last and the captures.
local function found(failure, ...)
  if failure then
    error(failure, 3)
  end
  return ...
end

safe_string.find = host.find
safe_string.match = host.match
safe_string.rep = host.rep

safe_string.gmatch = checked("ss", function(s, p)
  s, p = tostring(s), tostring(p)
  local position = 1
  local function advance(first, last, ...)
    if first == nil then
      position = #s + 2
      return nil
    end
    -- An empty match must not be found again.
    position = last < first and first + 1 or last + 1
    return ...
  end
  return function()
    if position > #s + 1 then
      return nil
    end
    return advance(found(match_at(s, p, position, true)))
  end
end)
safe_string.gfind = safe_string.gmatch

safe_string.gsub = host.gsub

safe_string = copy(copy(string, host.string), safe_string)
local strings = readonly(safe_string)
string_metatable.__index = safe_string
string_metatable.__metatable = readonly({ __index = strings })

-- The base library ----------------------------------------------------------------------------------------------------

local globals = {}
local environment = readonly(setmetatable(globals, {
  __index = function(_, name)
    error("Script attempted to access nonexistent global variable '" .. host.tostring(name) .. "'", 2)
  end,
}))

-- The host's errors travel as userdata; scripts see what Redis would have thrown. Memory that ran out the host must know of.
local function as_thrown(thrown)
  if type(thrown) == "userdata" and thrown ~= null or thrown == "not enough memory" then
    local text, is_reply = host.thrown(thrown)
    return is_reply and { err = text } or text
  end
  return thrown
end

local function unwrap_error(ok, ...)
  if not ok then
    local thrown = as_thrown((...))
    if type(thrown) == "table" and type(thrown.err) == "string" then
      return false, thrown.err
    end
    return false, thrown
  end
  return ok, ...
end

local function rethrow_as_redis(ok, ...)
  if not ok then
    return false, as_thrown((...))
  end
  return ok, ...
end

local function in_sandbox(compiled, failure)
  if compiled then
    return setfenv(compiled, environment)
  end
  return nil, failure
end

local function compile_text(text, name)
  if string_byte(text) == 27 then
    return nil, "[string \"" .. text .. "\"]:1: unexpected symbol near 'char(27)'"
  end
  return in_sandbox(loadstring(text, name))
end

-- Tables, functions and coroutines are found by their address, so a table that has them as keys has another order in the
-- next run. (In Redis it does too; a script that depends on it is wrong there as well.)
local function is_unordered(key)
  local kind = type(key)
  return kind == "table" or kind == "function" or kind == "thread"
end

local function refuse_unordered(object)
  for key in next, object do
    if is_unordered(key) then
      error("the order of a table with a " .. type(key) .. " as a key differs from run to run", 2)
    end
  end
end

-- The iterator that pairs returns; a script can keep it and give it another table.
local function step(object, name)
  local key, value = next(object, name)
  if is_unordered(key) then
    error("the order of a table with a " .. type(key) .. " as a key differs from run to run", 2)
  end
  return key, value
end

for name, value in pairs({
  _G = environment,
  _VERSION = _VERSION,
  error = error,
  ipairs = ipairs,
  rawequal = rawequal,
  select = select,
  tonumber = tonumber,
  tostring = host.tostring,
  type = type,
  unpack = host.unpack,
  assert = host.assert,
  xpcall = checked("av", function(body, handler)
    return rethrow_as_redis(xpcall(body, function(thrown)
      -- While the error of a hook is handled there are no hooks: a handler could run for ever.
      if host.stopped() then
        return thrown
      end
      return handler(as_thrown(thrown))
    end))
  end),
  -- Redis' own takes a function that is missing for one that fails.
  pcall = function(...)
    if select("#", ...) == 0 then
      return false, "attempt to call a boolean value"
    end
    return unwrap_error(pcall(...))
  end,
  -- Scripts share one interpreter: its collector is not theirs to stop, nor its size theirs to see.
  collectgarbage = function()
    return 0
  end,
  gcinfo = function()
    return 0, 0
  end,
  getmetatable = getmetatable,
  setmetatable = checked("tm", function(object, metatable)
    if real_of[object] then
      error(READONLY, 0)
    end
    return setmetatable(object, metatable)
  end),
  rawget = checked("tv", function(object, name)
    return rawget(real_of[object] or object, name)
  end),
  rawset = checked("tvv", function(object, name, value)
    if real_of[object] then
      error(READONLY, 0)
    end
    return rawset(object, name, value)
  end),
  next = checked("t", function(object, name)
    object = real_of[object] or object
    if name == nil then
      refuse_unordered(object)
    end
    return step(object, name)
  end),
  pairs = checked("t", function(object)
    local real = real_of[object]
    object = real and copy(real) or object
    refuse_unordered(object)
    return step, object, nil
  end),
  loadstring = checked("s", function(text, name)
    return compile_text(tostring(text), name)
  end),
  load = checked("f", function(reader, name)
    local parts, size = {}, 0
    while true do
      local part = reader()
      if part == nil or part == "" then
        break
      end
      size = size + 1
      parts[size] = part
    end
    return compile_text(concat(parts), name or "=(load)")
  end),
}) do
  rawset(globals, name, value)
end

-- The libraries -------------------------------------------------------------------------------------------------------

local safe_math = copy(math, { random = host.random, randomseed = host.seed_random })

-- C's conversion: what is no number is 0.
local function to_int(value)
  local number = (type(value) == "number" or type(value) == "string") and tonumber(value) or 0
  return number < 0 and -floor(-number) or floor(number)
end

local function to_error(text)
  return { err = text }
end

local redis = {
  call = host.call,
  pcall = host.pcall,
  sha1hex = host.sha1hex,
  error_reply = function(...)
    local text = ...
    if select("#", ...) ~= 1 or type(text) ~= "string" then
      return to_error("ERR wrong number or type of arguments")
    end
    text = string_byte(text) == 45 and string_sub(text, 2) or text
    return to_error(find_plain(text, " ", 1, true) and text or "ERR " .. text)
  end,
  status_reply = function(...)
    local text = ...
    if select("#", ...) ~= 1 or type(text) ~= "string" then
      return to_error("ERR wrong number or type of arguments")
    end
    return { ok = text }
  end,
  log = function(...)
    local level = ...
    level = (type(level) == "number" or type(level) == "string") and tonumber(level)
    if select("#", ...) < 2 then
      error(to_error("ERR redis.log() requires two arguments or more."), 0)
    elseif not level then
      error(to_error("ERR First argument must be a number (log level)."), 0)
    elseif level < 0 or level > 3 then
      error(to_error("ERR Invalid debug level."), 0)
    end
  end,
  setresp = function(...)
    local version = to_int((...))
    if select("#", ...) ~= 1 then
      error(to_error("ERR redis.setresp() requires one argument."), 0)
    elseif version ~= 2 and version ~= 3 then
      error(to_error("ERR RESP version must be 2 or 3."), 0)
    end
    host.set_protocol(version)
  end,
  set_repl = function(...)
    local flags = to_int((...))
    if select("#", ...) ~= 1 then
      error(to_error("ERR redis.set_repl() requires two arguments."), 0)
    elseif flags < 0 or flags > 3 then
      error(to_error("ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE."), 0)
    end
    -- Effects always go to both: which of the two a write should miss is not modelled.
  end,
  replicate_commands = function()
    return true
  end,
  breakpoint = function()
    return false
  end,
  debug = function() end,
  acl_check_cmd = function()
    return true
  end,
  LOG_DEBUG = 0,
  LOG_VERBOSE = 1,
  LOG_NOTICE = 2,
  LOG_WARNING = 3,
  REPL_NONE = 0,
  REPL_AOF = 1,
  REPL_SLAVE = 2,
  REPL_REPLICA = 2,
  REPL_ALL = 3,
  -- Told before a script of a node runs.
  REDIS_VERSION = "",
  REDIS_VERSION_NUM = 0,
}

for name, library in pairs({
  string = safe_string,
  table = copy(table, copy(host.table, {
    foreach = checked("tf", function(object, visit)
      object = real_of[object] or object
      refuse_unordered(object)
      for key, value in next, object do
        local result = visit(key, value)
        if result ~= nil then
          return result
        end
      end
    end),
  })),
  math = safe_math,
  coroutine = copy(copy(coroutine, host.coroutine), {
    resume = checked("c", function(...)
      return rethrow_as_redis(coroutine.resume(...))
    end),
  }),
  redis = redis,
  bit = host.bit,
  cjson = host.cjson,
  cmsgpack = host.cmsgpack,
  struct = host.struct,
}) do
  rawset(globals, name, library == safe_string and strings or readonly(library))
end

-- What the host calls -------------------------------------------------------------------------------------------------

local function describe_error(thrown)
  thrown = as_thrown(thrown)
  if type(thrown) ~= "table" then
    thrown = { err = "ERR " .. host.tostring(thrown) }
  end
  thrown.source, thrown.line = host.where()
  return thrown
end

local function run(script, keys, arguments)
  rawset(globals, "KEYS", keys)
  rawset(globals, "ARGV", arguments)
  return xpcall(script, describe_error)
end

local function tell_version(text, number)
  redis.REDIS_VERSION, redis.REDIS_VERSION_NUM = text, number
end

return run, environment, tell_version
