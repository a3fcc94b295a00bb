//! A Lua state with the sandbox in it, and the functions compiled there.
//!
//! Each thread has one that all scripts share, because making one takes some hundred microseconds. A script that needs
//! much memory gets one of its own.

use std::collections::BTreeMap;

use mlua::chunk::ChunkMode;
use mlua::{Function, Lua, LuaOptions, StdLib, Table, Value};

use super::call::Call;
use super::charge;
use super::error::PRELUDE_NAME;
use super::host;
use super::limits;
use super::script::Script;
use super::under_way::with_run;
use crate::core::Version;

/// Source bytes of compiled scripts that are kept; all are dropped when there are more, or too many.
const CACHE_BYTES: usize = 1 << 20;
/// Compiled scripts that are kept. Each takes one of about eight thousand places that Lua has for what the host holds.
const CACHE_SCRIPTS: usize = 1000;
/// Garbage that may pile up before it is collected, between two scripts: what a processor's cache holds.
const IDLE_GARBAGE: usize = 256 << 10;

/// One Lua state.
pub(super) struct Interpreter {
    lua: Lua,
    /// The prelude's entry: calls a script with its KEYS and ARGV.
    run: Function,
    /// Tells the prelude which Redis the next scripts see, and the one they see now.
    tell_version: Function,
    version: Option<Version>,
    /// The globals scripts see.
    environment: Table,
    compiled: BTreeMap<[u8; 20], Function>,
    compiled_bytes: usize,
    /// What the state held after garbage was last collected.
    settled: usize,
}

impl Interpreter {
    pub(super) fn new() -> mlua::Result<Interpreter> {
        let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH;
        // Lua's own pcall, not mlua's: nothing here panics, and a script may nest two hundred of them.
        let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(false))?;
        lua.gc_stop();
        let functions = host::functions(&lua)?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name(PRELUDE_NAME);
        let (run, environment, tell_version) = prelude.call(functions)?;
        charge::collect_garbage(&lua)?;
        let settled = lua.used_memory();
        Ok(Interpreter {
            lua,
            run,
            tell_version,
            version: None,
            environment,
            compiled: BTreeMap::new(),
            compiled_bytes: 0,
            settled,
        })
    }

    /// Compiles a script, in no more than this much memory.
    pub(super) fn check(&mut self, script: &Script, memory: usize) -> mlua::Result<()> {
        self.tidy()?;
        self.lua.set_memory_limit(self.lua.used_memory().saturating_add(memory))?;
        let compiled = self.function(script).map(drop);
        self.lua.set_memory_limit(0)?;
        compiled
    }

    /// Runs a script: whether it returned or raised, and what.
    pub(super) fn execute(&mut self, script: &Script, call: &Call<'_>) -> mlua::Result<(bool, Value)> {
        self.tidy()?;
        // The arguments are in memory already, and the script compiled before: twice that is bounded too.
        self.lua.set_memory_limit(0)?;
        let function = self.function(script)?;
        self.obey_version()?;
        let (keys, arguments) = (self.strings(call, 3, call.keys)?, self.arguments(call)?);
        let held = self.lua.used_memory();
        let longest = call.args.iter().map(<[u8]>::len).max().unwrap_or(0).max(script.source.len());
        let allowance = with_run(|run| {
            run.limits.note_string(longest);
            run.limits.start(held);
            run.limits.allowance()
        });
        self.lua.set_memory_limit(held.saturating_add(allowance.unwrap_or(limits::LIGHT_MEMORY)))?;
        charge::watch(&self.lua)?;
        self.run.call((function, keys, arguments))
    }

    /// Nodes of several versions may share the state.
    fn obey_version(&mut self) -> mlua::Result<()> {
        let version = with_run(|run| run.core.config().version);
        if version == self.version {
            return Ok(());
        }
        self.version = version;
        let version = version.unwrap_or_default();
        self.tell_version.call((version.full(), version.number()))
    }

    fn arguments(&self, call: &Call<'_>) -> mlua::Result<Table> {
        self.strings(call, 3 + call.keys, call.args.len().saturating_sub(3 + call.keys))
    }

    fn strings(&self, call: &Call<'_>, skip: usize, count: usize) -> mlua::Result<Table> {
        let table = self.lua.create_table_with_capacity(count, 0)?;
        for bytes in call.args.iter().skip(skip).take(count) {
            table.raw_push(self.lua.create_string(bytes)?)?;
        }
        Ok(table)
    }

    fn function(&mut self, script: &Script) -> mlua::Result<Function> {
        if let Some(function) = self.compiled.get(&script.sha) {
            return Ok(function.clone());
        }
        let function = self.compile(script)?;
        if self.compiled_bytes > CACHE_BYTES || self.compiled.len() >= CACHE_SCRIPTS {
            self.compiled.clear();
            self.compiled_bytes = 0;
        }
        self.compiled_bytes += script.source.len();
        self.compiled.insert(script.sha, function.clone());
        Ok(function)
    }

    fn compile(&self, script: &Script) -> mlua::Result<Function> {
        if script.source.first() == Some(&27) {
            // Bytecode could do anything to the process.
            let message = "user_script:1: unexpected symbol near 'char(27)'".to_owned();
            return Err(mlua::Error::SyntaxError { message, incomplete_input: false });
        }
        let chunk =
            self.lua.load(script.source.as_slice()).set_name("@user_script").set_mode(ChunkMode::Text);
        chunk.set_environment(self.environment.clone()).into_function()
    }

    /// Collects garbage if there is much of it.
    fn tidy(&mut self) -> mlua::Result<()> {
        if self.lua.used_memory() > self.settled + IDLE_GARBAGE {
            self.lua.set_memory_limit(0)?;
            charge::collect_garbage(&self.lua)?;
            self.settled = self.lua.used_memory();
        }
        Ok(())
    }
}
