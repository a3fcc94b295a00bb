//! CLIENT PAUSE: requests that wait until a time on the node's wall clock, or until CLIENT UNPAUSE.
//!
//! Those of clients and those of a master wait, links to replicas do not. While anybody waits nothing expires: a key
//! whose time is up reads as gone and stays where it is, so that replicas hear of nothing. A transaction is let through
//! as a whole or waits as a whole, and one that pauses others ends first.
//!
//! Not modelled: what a replica acknowledges while it is paused (nothing; in Redis, the offset at which it stands).
//!
//! Decision: "CLIENT PAUSE delays a request until it can run" (docs/decisions/redis.md).

use super::command::{CommandSpec, MAY_REPLICATE, WRITE};
use super::commands::scripting;
use super::session::SessionKind;
use super::state::{Pause, Paused};
use super::{Core, Session, WallMicros};
use crate::resp::Args;

impl Core {
    pub(crate) fn pause(&mut self, pause: Pause, now: WallMicros) {
        let earlier = self.pause.filter(|pause| pause.until_ms >= now.millis());
        self.pause = Some(earlier.map_or(pause, |earlier| Pause {
            of: earlier.of.max(pause.of),
            until_ms: earlier.until_ms.max(pause.until_ms),
        }));
    }

    pub(crate) fn unpause(&mut self) {
        self.pause = None;
    }

    /// Whether somebody waits because of a pause, or would.
    pub fn is_paused(&self, now: WallMicros) -> bool {
        self.pause.is_some_and(|pause| pause.until_ms >= now.millis())
    }

    /// The end of the pause under way, on the wall clock; `None` if there is none or it was lifted. A request that
    /// waits can be tried again then.
    pub fn paused_until(&self) -> Option<WallMicros> {
        let end = |pause: Pause| WallMicros(pause.until_ms.saturating_add(1).saturating_mul(1000));
        self.pause.map(end)
    }

    /// The connections whose request waits.
    pub(crate) fn count_postponed(&self) -> usize {
        self.postponed.len()
    }

    pub(crate) fn is_postponed(&self, session: u64) -> bool {
        self.postponed.contains(&session)
    }

    /// Whether a request has to wait now. Notes who waits.
    pub(super) fn postpones(
        &mut self,
        session: &Session,
        spec: &CommandSpec,
        args: &Args<'_>,
        now: WallMicros,
    ) -> bool {
        // Looked at by every request: mostly nobody is paused.
        let Some(pause) = self.pause else { return false };
        let waits = session.kind != SessionKind::Script
            && pause.until_ms >= now.millis()
            && (pause.of == Paused::All || self.may_replicate(session, spec, args));
        if waits && session.kind == SessionKind::Client {
            self.postponed.insert(session.id);
        } else {
            self.postponed.remove(&session.id);
        }
        waits
    }

    fn may_replicate(&self, session: &Session, spec: &CommandSpec, args: &Args<'_>) -> bool {
        if spec.name == "EXEC" {
            return session.multi.as_ref().is_some_and(|multi| multi.may_replicate);
        }
        self.may_replicate_when_queued(spec, args)
    }

    /// The same for a command that is no EXEC. A script may write unless it says that it does not.
    pub(crate) fn may_replicate_when_queued(&self, spec: &CommandSpec, args: &Args<'_>) -> bool {
        let declared = scripting::declared_flags(self, spec, args);
        let may = spec.has(WRITE | MAY_REPLICATE) || matches!(spec.name, "EVAL" | "EVALSHA");
        declared.map_or(may, |script| script.writes)
    }
}
