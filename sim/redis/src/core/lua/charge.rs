//! How a script pays for what it does, and what happens to one that cannot.

use mlua::{HookTriggers, Lua, VmState};

use super::error::{self, OUT_OF_MEMORY, ScriptError};
use super::limits::{BYTES_PER_INSTRUCTION, HOOK_INTERVAL, Stop};
use super::under_way::with_run;

/// Sets the hook that looks at the budget, for the script that starts now: where it begins to count must not depend on
/// the script before.
pub(super) fn watch(lua: &Lua) -> mlua::Result<()> {
    lua.set_global_hook(HookTriggers::new().every_nth_instruction(HOOK_INTERVAL), |lua, _| {
        let (cost, collect) = with_run(|run| run.limits.look(lua.used_memory())).unwrap_or_default();
        charge(lua, cost)?;
        if collect {
            collect_garbage(lua)?;
            with_run(|run| run.limits.note_collection(lua.used_memory()));
        }
        Ok(VmState::Continue)
    })
}

/// Collects garbage here and only here: Lua's collector does not run by itself. So it never runs while Lua parses, or
/// at an instruction that depends on what ran before, which weak tables would show.
pub(super) fn collect_garbage(lua: &Lua) -> mlua::Result<()> {
    lua.gc_collect()?;
    // A full collection starts the collector again.
    lua.gc_stop();
    Ok(())
}

/// Spends some of the running script's budget.
///
/// # Errors
/// The script has had its share. It may catch the error: from then on every instruction raises it.
pub(super) fn charge(lua: &Lua, instructions: u64) -> mlua::Result<()> {
    if with_run(|run| run.limits.spend(instructions)) != Some(true) {
        return Ok(());
    }
    let (source, line) = error::script_position(lua);
    Err(stop(lua, Stop::Limit { source, line }))
}

/// Charges for a string that a function of the host or of a library has made or read.
pub(super) fn charge_string(lua: &Lua, length: usize) -> mlua::Result<()> {
    with_run(|run| run.limits.note_string(length));
    match length as u64 / BYTES_PER_INSTRUCTION {
        0 => Ok(()),
        instructions => charge(lua, instructions),
    }
}

/// An allocation was refused. In the shared state, where that depends on what ran before, it ends this attempt.
pub(super) fn memory_ran_out(lua: &Lua) -> mlua::Result<()> {
    let in_own_state = with_run(|run| {
        run.limits.met_memory |= run.limits.is_in_own_state();
        run.limits.is_in_own_state()
    });
    if in_own_state == Some(true) { Ok(()) } else { Err(stop(lua, Stop::Outgrown)) }
}

/// Stops the script: whatever it catches, its next instruction raises the error again.
pub(super) fn stop(lua: &Lua, why: Stop) -> mlua::Error {
    let is_first = with_run(|run| {
        let is_first = run.limits.stopped.is_none();
        run.limits.stopped.get_or_insert(why);
        is_first
    });
    if is_first == Some(true)
        && let Err(error) =
            lua.set_global_hook(HookTriggers::new().every_nth_instruction(1), |_, _| Err(stop_error()))
    {
        return error;
    }
    stop_error()
}

/// What a stopped script is thrown.
fn stop_error() -> mlua::Error {
    mlua::Error::external(ScriptError::Thrown(b"Script killed by user with SCRIPT KILL.".to_vec()))
}

/// Refuses a string that the script's memory could not hold.
pub(super) fn check_size(bytes: usize) -> mlua::Result<()> {
    let limit = with_run(|run| run.limits.memory).unwrap_or(usize::MAX);
    if bytes > limit {
        return Err(mlua::Error::external(ScriptError::Thrown(OUT_OF_MEMORY.to_vec())));
    }
    Ok(())
}
