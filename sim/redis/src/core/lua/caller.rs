//! A script as its node's client: what it may do, and one command of it.

use crate::core::command::{CommandSpec, Lookup, LookupError, MAY_REPLICATE, NO_SCRIPT, STALE_OK, WRITE};
use crate::core::context::Context;
use crate::core::session::SessionKind;
use crate::core::{Core, Next, Session, WallMicros, errors};
use crate::resp::Args;

/// The script's own connection.
pub(super) struct Caller {
    /// Database and protocol.
    pub(super) session: Session,
    /// All commands of a script see the time it started at.
    now: WallMicros,
    read_only: bool,
    lookup: Lookup,
    /// A writing command was called.
    pub(super) wrote: bool,
    /// Its master sent it.
    pub(super) from_master: bool,
}

impl Caller {
    /// That of a script which `session` calls.
    pub(super) fn new(session: &Session, now: WallMicros, read_only: bool, lookup: Lookup) -> Caller {
        Caller {
            session: Session {
                origin: session.origin,
                db: session.db,
                kind: SessionKind::Script,
                ..Session::default()
            },
            now,
            read_only,
            lookup,
            wrote: false,
            from_master: session.kind == SessionKind::Master,
        }
    }

    /// Runs one command; its reply, which may be an error, is appended to `out`. `Err`: the error that Redis raises
    /// before the command runs.
    pub(super) fn execute(
        &mut self,
        core: &mut Core,
        args: &Args<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), &'static [u8]> {
        let spec = match (self.lookup)(args, core.config.version) {
            Ok(spec) => spec,
            Err(LookupError::UnknownCommand | LookupError::UnknownSubcommand) => {
                let refusal = b"ERR Unknown Redis command called from script";
                core.stats.counts.count_error(refusal);
                return Err(refusal);
            }
        };
        if let Err(refusal) = self.check(core, spec, args) {
            core.stats.counts.count_rejection(spec.full_name, refusal);
            return Err(refusal);
        }
        let start = out.len();
        let mut context = Context { core: &mut *core, session: &mut self.session, now: self.now, spec };
        context.core.tracking.in_script = true;
        let next = (spec.run)(&mut context, args, out);
        core.tracking.in_script = false;
        core.track_reads_of_script(spec);
        core.stats.counts.count_call(spec.full_name, &out[start..]);
        core.show_executed(&self.session, self.now, spec, args, out);
        debug_assert_eq!(next, Next::Reply, "a script's commands ask nothing of the connection");
        Ok(())
    }

    /// Whether the script may call this command now. `Err`: why not.
    fn check(&mut self, core: &Core, spec: &CommandSpec, args: &Args<'_>) -> Result<(), &'static [u8]> {
        if !spec.accepts(args.len()) {
            return Err(b"ERR Wrong number of args calling Redis command from script");
        }
        if spec.has(NO_SCRIPT) {
            return Err(b"ERR This Redis command is not allowed from script");
        }
        if !spec.has(STALE_OK) && core.is_stale() {
            return Err(b"ERR Can not execute the command on a stale replica");
        }
        if self.read_only && spec.has(WRITE | MAY_REPLICATE) {
            return Err(b"ERR Write commands are not allowed from read-only scripts.");
        }
        if spec.has(WRITE) {
            let is_full = match self.from_master {
                true => core.is_full_of(self.session.origin),
                false => core.is_full_for(spec),
            };
            if is_full {
                return Err(errors::OUT_OF_MEMORY);
            }
            // A script that has begun to write is not stopped half-way by the node's state.
            if !self.wrote
                && !self.from_master
                && let Some(refusal) = core.write_refusal()
            {
                return Err(refusal);
            }
            self.wrote = true;
        }
        Ok(())
    }
}
