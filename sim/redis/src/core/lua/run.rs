//! Compiling and running a script: the interpreter of this thread, and what one run has.

use super::convert;
use super::host::{self, ScriptError};
use super::random::Random;
use super::script::{Script, hex};
use crate::core::dispatch::{Overrun, OverrunState};
use crate::core::session::SessionKind;
use crate::core::{Core, Next, Session, WallMicros};
use crate::resp::{Args, OwnedArgs, reply};
use mlua::chunk::ChunkMode;
use mlua::{Function, HookTriggers, Lua, LuaOptions, StdLib, Table, Value, VmState};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Instructions between two looks at the budget.
const HOOK_INTERVAL: u32 = 1_000;
/// Compiled scripts kept per thread; all are dropped when there are more.
const CACHE_LIMIT: usize = 512;
/// Memory that may stay in use between two scripts before their garbage is collected.
const IDLE_MEMORY: usize = 1 << 20;
/// Memory a script may hold without its instructions counting more …
const FREE_MEMORY: usize = 2 << 20;
/// … than once, and once more for each of these: a copy of that many bytes takes some hundred instructions' time.
const MEMORY_STEP: usize = 16 << 10;

thread_local! {
    static INTERPRETER: RefCell<Option<Interpreter>> = const { RefCell::new(None) };
    static RUN: RefCell<Option<Run>> = const { RefCell::new(None) };
}

/// This thread's Lua state and the functions compiled in it.
struct Interpreter {
    lua: Lua,
    /// The prelude's entry: calls a script with its KEYS and ARGV.
    run: Function,
    /// The globals scripts see.
    environment: Table,
    compiled: BTreeMap<[u8; 20], Function>,
}

impl Interpreter {
    fn new() -> mlua::Result<Interpreter> {
        let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH;
        // Lua's own pcall, not mlua's: nothing here panics, and a script may nest two hundred of them.
        let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(false))?;
        let functions = host::functions(&lua)?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name(host::PRELUDE_NAME);
        let (run, environment) = prelude.call(functions)?;
        Ok(Interpreter { lua, run, environment, compiled: BTreeMap::new() })
    }

    fn function(&mut self, script: &Script) -> mlua::Result<Function> {
        if let Some(function) = self.compiled.get(&script.sha) {
            return Ok(function.clone());
        }
        let function = self.compile(script)?;
        if self.compiled.len() >= CACHE_LIMIT {
            self.compiled.clear();
        }
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

    /// Limits the memory of what runs from here on; 0: no limit, which mlua rewards with far cheaper calls.
    fn limit_memory(&self, limit: usize) -> mlua::Result<()> {
        self.lua.set_memory_limit(limit).map(drop)
    }

    /// Starts from little garbage, so that what a script may use depends little on the scripts before.
    fn tidy(&self) -> mlua::Result<()> {
        if self.lua.used_memory() > IDLE_MEMORY { self.lua.gc_collect() } else { Ok(()) }
    }
}

/// What the script under way on this thread works with.
pub(super) struct Run {
    pub(super) core: Core,
    /// The script's own connection: database, protocol.
    pub(super) session: Session,
    pub(super) now: WallMicros,
    pub(super) read_only: bool,
    /// A writing command was called.
    pub(super) wrote: bool,
    /// Its master sent it.
    pub(super) from_master: bool,
    pub(super) random: Random,
    pub(super) memory_limit: usize,
    /// The command being built, and its reply; kept for their memory.
    pub(super) args: OwnedArgs,
    pub(super) out: Vec<u8>,
    budget: u64,
    /// Where the script was when its budget ran out.
    pub(super) overran_at: Option<(String, usize)>,
}

/// Gives `use_run` the run under way on this thread; `None` outside of one.
pub(super) fn with_run<R>(use_run: impl FnOnce(&mut Run) -> R) -> Option<R> {
    RUN.with(|run| run.try_borrow_mut().ok()?.as_mut().map(use_run))
}

/// Compiles without running.
///
/// # Errors
/// The error reply's text.
pub(crate) fn compile(script: &Script, memory_limit: usize) -> Result<(), Vec<u8>> {
    let mut interpreter = take_interpreter()?;
    let compiled = interpreter.limit_memory(memory_limit).and_then(|()| interpreter.function(script));
    INTERPRETER.set(Some(interpreter));
    compiled.map(drop).map_err(|error| convert::compile_error(&error))
}

fn take_interpreter() -> Result<Interpreter, Vec<u8>> {
    match INTERPRETER.take() {
        Some(interpreter) => Ok(interpreter),
        None => Interpreter::new().map_err(|error| format!("ERR cannot start Lua: {error}").into_bytes()),
    }
}

/// Runs a script that the node has in its cache. `keys` of the arguments after the third are KEYS, the rest ARGV.
pub(crate) fn run(
    core: &mut Core,
    session: &Session,
    now: WallMicros,
    script: &Script,
    call: Call<'_>,
    out: &mut Vec<u8>,
) -> Next {
    let mut interpreter = match take_interpreter() {
        Ok(interpreter) => interpreter,
        Err(text) => {
            reply::error(out, &text);
            return Next::Reply;
        }
    };
    let memory_limit = core.config.script_memory_limit;
    let started = Run {
        read_only: call.read_only || script.no_writes,
        wrote: false,
        from_master: session.kind == SessionKind::Master,
        random: Random::seeded(0),
        memory_limit,
        args: OwnedArgs::default(),
        out: Vec::new(),
        budget: core.config.script_instruction_limit.max(1),
        overran_at: None,
        now,
        session: Session {
            origin: session.origin,
            db: session.db,
            kind: SessionKind::Script,
            ..Session::default()
        },
        core: std::mem::take(core),
    };
    RUN.set(Some(started));
    let result = interpreter.execute(script, &call, memory_limit);
    let Some(mut finished) = RUN.take() else { return Next::Reply };
    std::mem::swap(core, &mut finished.core);
    if let Some((source, line)) = finished.overran_at.take() {
        // Its leftovers are of no use, and unwinding may have been caught half-way: start afresh.
        overrun(core, session, now, &finished, kill_error(script, &source, line));
        return Next::Held;
    }
    let script_protocol = finished.session.protocol;
    let keep = match result {
        Ok((true, value)) => {
            convert::reply(&value, script_protocol, session.protocol, out);
            true
        }
        Ok((false, error)) => {
            reply::error(out, &convert::run_error(&error, script));
            interpreter.lua.used_memory() < memory_limit / 2
        }
        Err(error) => {
            reply::error(out, &convert::host_error(&error, script));
            false
        }
    };
    if keep {
        INTERPRETER.set(Some(interpreter));
    }
    Next::Reply
}

/// How a script is called.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    /// The whole request: EVAL, script, number of keys, keys, arguments.
    pub(crate) args: &'a Args<'a>,
    /// How many of the arguments are keys.
    pub(crate) keys: usize,
    /// EVAL_RO and EVALSHA_RO.
    pub(crate) read_only: bool,
}

impl Interpreter {
    fn execute(
        &mut self,
        script: &Script,
        call: &Call<'_>,
        memory_limit: usize,
    ) -> mlua::Result<(bool, Value)> {
        self.tidy()?;
        self.limit_memory(memory_limit)?;
        let function = self.function(script)?;
        // The arguments are in memory already: twice that is bounded too.
        self.limit_memory(0)?;
        let strings =
            |skip, take| call.args.iter().skip(skip).take(take).map(|bytes| self.lua.create_string(bytes));
        let keys = self.lua.create_table_with_capacity(call.keys, 0)?;
        for key in strings(3, call.keys) {
            keys.raw_push(key?)?;
        }
        let arguments =
            self.lua.create_table_with_capacity(call.args.len().saturating_sub(3 + call.keys), 0)?;
        for argument in strings(3 + call.keys, usize::MAX) {
            arguments.raw_push(argument?)?;
        }
        self.limit_memory(memory_limit)?;
        // Set for each script: where it starts to count must not depend on the script before.
        self.lua.set_global_hook(HookTriggers::new().every_nth_instruction(HOOK_INTERVAL), |lua, _| {
            watch_budget(lua)
        })?;
        self.run.call((function, keys, arguments))
    }
}

/// What the hook does after each interval. Instructions on large strings take long: the more memory a script holds, the
/// more they count.
fn watch_budget(lua: &Lua) -> mlua::Result<VmState> {
    let excess = lua.used_memory().saturating_sub(FREE_MEMORY) / MEMORY_STEP;
    charge(lua, u64::from(HOOK_INTERVAL) * (1 + excess as u64))?;
    Ok(VmState::Continue)
}

/// Spends some of the running script's instruction budget.
///
/// # Errors
/// The script has had its share. It may catch the error: from then on every instruction raises it.
pub(super) fn charge(lua: &Lua, instructions: u64) -> mlua::Result<()> {
    let exhausted = with_run(|run| {
        run.budget = run.budget.saturating_sub(instructions);
        run.budget == 0
    });
    if exhausted != Some(true) {
        return Ok(());
    }
    let place = host::script_position(lua);
    let is_first = with_run(|run| {
        let is_first = run.overran_at.is_none();
        run.overran_at.get_or_insert(place);
        is_first
    });
    if is_first == Some(true) {
        lua.set_global_hook(HookTriggers::new().every_nth_instruction(1), |_, _| Err(killed()))?;
    }
    Err(killed())
}

/// What an overrunning script is thrown.
fn killed() -> mlua::Error {
    mlua::Error::external(ScriptError::Thrown(b"Script killed by user with SCRIPT KILL.".to_vec()))
}

fn kill_error(script: &Script, source: &str, line: usize) -> Vec<u8> {
    let sha = hex(&script.sha);
    // Three dots: Redis' message ends with one, and its handler adds two.
    format!("ERR Script killed by user with SCRIPT KILL... script: {sha}, on {source}:{line}.").into_bytes()
}

/// From here on the node behaves as a Redis whose script runs for ever.
fn overrun(core: &mut Core, session: &Session, now: WallMicros, run: &Run, kill_error: Vec<u8>) {
    let threshold = core.config.busy_reply_threshold.as_micros();
    let busy_from = WallMicros(now.0.saturating_add(i64::try_from(threshold).unwrap_or(i64::MAX)));
    core.overrun = Some(Overrun {
        session: session.id,
        busy_from,
        wrote: run.wrote,
        from_master: run.from_master,
        state: OverrunState::Running,
        kill_error,
        transaction: None,
    });
    if let Some(observer) = &core.config.observer {
        observer.script_overran(session.origin);
    }
}
