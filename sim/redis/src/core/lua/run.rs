//! Compiling and running a script: what one run has, and in which Lua state it runs.
//!
//! A script starts in its thread's shared state. How much memory that has left depends on what ran there before, so a
//! script that needs more than a little of it is started again in a state of its own ([`super::calls`]), where
//! everything is as it is for every run of this script.
//!
//! Decision: "All scripts of a thread share one Lua state, and no script can notice" (docs/decisions/redis.md).

use std::cell::RefCell;

use super::call::Call;
use super::caller::Caller;
use super::convert;
use super::interpreter::Interpreter;
use super::limits::{self, Stop};
use super::script::Script;
use super::under_way::{self, Run, with_run};
use crate::core::state::{Overrun, OverrunState};
use crate::core::{Core, MetLimit, Next, Session, StoppedScript, WallMicros, hex};
use crate::resp::{Protocol, reply};

thread_local! {
    static INTERPRETER: RefCell<Option<Interpreter>> = const { RefCell::new(None) };
}

/// Compiles without running.
///
/// # Errors
/// The error reply's text.
pub(crate) fn compile(script: &Script, memory: usize) -> Result<(), Vec<u8>> {
    let mut interpreter = take_interpreter().map_err(|error| cannot_start(&error))?;
    match interpreter.check(script, limits::LIGHT_MEMORY) {
        // What it left there is of no use.
        Err(error) if matches!(convert::root(&error), mlua::Error::MemoryError(_)) => {}
        compiled => {
            INTERPRETER.set(Some(interpreter));
            return compiled.map_err(|error| convert::compile_error(&error));
        }
    }
    let mut own = Interpreter::new().map_err(|error| cannot_start(&error))?;
    own.check(script, memory).map_err(|error| convert::compile_error(&error))
}

fn take_interpreter() -> mlua::Result<Interpreter> {
    INTERPRETER.take().map_or_else(Interpreter::new, Ok)
}

fn cannot_start(error: &mlua::Error) -> Vec<u8> {
    format!("ERR cannot start Lua: {error}").into_bytes()
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
    if let Some(native) = script.native
        && native.run(core, session, now, script, call, out)
    {
        return Next::Reply;
    }
    let read_only = call.read_only || script.no_writes;
    under_way::begin(Run::new(std::mem::take(core), Caller::new(session, now, read_only, call.lookup)));
    let end = run_in_state(script, &call, session.protocol, out);
    let Some(mut finished) = under_way::end() else { return Next::Reply };
    std::mem::swap(core, &mut finished.core);
    if finished.limits.met_memory {
        tell(core, session, script, MetLimit::Memory(finished.limits.memory));
    }
    match end {
        Ok(End::Replied | End::Outgrown) => Next::Reply,
        Ok(End::Stopped { source, line }) => {
            tell(core, session, script, core.config.limit_met());
            overrun(core, session, now, &finished, kill_error(script, &source, line));
            Next::Held
        }
        Err(error) => {
            reply::error(out, &cannot_start(&error));
            Next::Reply
        }
    }
}

/// How an attempt to run a script ended.
enum End {
    /// The reply is written.
    Replied,
    /// At a limit.
    Stopped { source: String, line: usize },
    /// It needs a state of its own.
    Outgrown,
}

fn run_in_state(script: &Script, call: &Call<'_>, client: Protocol, out: &mut Vec<u8>) -> mlua::Result<End> {
    let mut shared = take_interpreter()?;
    match attempt(&mut shared, script, call, client, out) {
        End::Outgrown => {}
        End::Replied => {
            INTERPRETER.set(Some(shared));
            return Ok(End::Replied);
        }
        // Its leftovers are of no use, and unwinding may have been caught half-way: start afresh.
        stopped => return Ok(stopped),
    }
    drop(shared);
    with_run(Run::begin_again);
    Ok(attempt(&mut Interpreter::new()?, script, call, client, out))
}

fn attempt(
    interpreter: &mut Interpreter,
    script: &Script,
    call: &Call<'_>,
    client: Protocol,
    out: &mut Vec<u8>,
) -> End {
    let result = interpreter.execute(script, call);
    let no_memory = convert::is_out_of_memory(&result);
    let (stopped, in_own_state, memory, protocol) = with_run(|run| {
        run.limits.met_memory |= no_memory && run.limits.is_in_own_state();
        let stopped = run.limits.stopped.take();
        (stopped, run.limits.is_in_own_state(), run.limits.memory, run.caller.session.protocol)
    })
    .unwrap_or((None, true, 0, Protocol::Two));
    match stopped {
        Some(Stop::Limit { source, line }) => return End::Stopped { source, line },
        Some(Stop::Outgrown) => return End::Outgrown,
        None if no_memory && !in_own_state => return End::Outgrown,
        None => {}
    }
    match result {
        Ok((true, value)) => convert::reply(&value, protocol, client, memory, out),
        Ok((false, error)) => reply::error(out, &convert::run_error(&error, script)),
        Err(error) => reply::error(out, &convert::host_error(&error, script)),
    }
    End::Replied
}

fn kill_error(script: &Script, source: &str, line: usize) -> Vec<u8> {
    let sha = hex::encode(&script.sha);
    // Three dots: Redis' message ends with one, and its handler adds two.
    format!("ERR Script killed by user with SCRIPT KILL... script: {sha}, on {source}:{line}.").into_bytes()
}

fn tell(core: &Core, session: &Session, script: &Script, limit: MetLimit) {
    if let Some(observer) = &core.config.observer {
        observer.script_stopped(session.origin, &StoppedScript { sha: hex::encode(&script.sha), limit });
    }
}

/// From here on the node behaves as a Redis whose script never ends.
fn overrun(core: &mut Core, session: &Session, now: WallMicros, run: &Run, kill_error: Vec<u8>) {
    let threshold = core.config.busy_reply_threshold.as_micros();
    let busy_from = WallMicros(now.0.saturating_add(i64::try_from(threshold).unwrap_or(i64::MAX)));
    core.overrun = Some(Overrun {
        session: session.id,
        busy_from,
        wrote: run.caller.wrote,
        from_master: run.caller.from_master,
        state: OverrunState::Running,
        kill_error,
        transaction: None,
    });
}
