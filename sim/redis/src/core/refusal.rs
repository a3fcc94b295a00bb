//! Why a command is not executed now: who may do what, in which state of the node and of the connection.

use std::borrow::Cow;

use super::command::{BUSY_OK, CommandSpec, DENY_OOM, NO_MULTI, READ_ONLY, STALE_OK, SUBSCRIBED_OK, WRITE};
use super::commands::scripting;
use super::errors;
use super::session::SessionKind;
use super::{Core, LinkState, Origin, Role, Session};
use crate::resp::{Args, Protocol};

/// How many times `maxmemory` a master may make a replica hold.
const FLOOD: u64 = 2;

impl Core {
    /// Why this session may not run this command now, in Redis' order of checks.
    pub(super) fn refusal(
        &self,
        session: &Session,
        spec: &CommandSpec,
        args: &Args<'_>,
    ) -> Option<Cow<'static, [u8]>> {
        let text = |text: &'static [u8]| Some(Cow::Borrowed(text));
        if session.multi.is_some() && spec.has(NO_MULTI) {
            return text(errors::NOT_IN_TRANSACTION);
        }
        if session.kind != SessionKind::Master
            && (self.is_full_for(spec)
                || self.is_full()
                    && scripting::declared_flags(self, spec, args).is_some_and(|script| script.grows)
                || spec.name == "EXEC"
                    && session.multi.as_ref().is_some_and(|multi| multi.grows && self.is_full()))
        {
            return text(errors::OUT_OF_MEMORY);
        }
        let only_listens =
            session.is_subscribed && session.protocol == Protocol::Two && !spec.has(SUBSCRIBED_OK);
        let (write_refusal, is_stale) = (self.write_refusal(), self.is_stale());
        if session.kind != SessionKind::Master && (write_refusal.is_some() || is_stale) {
            let declared = scripting::declared_flags(self, spec, args);
            let writes = declared.map_or(spec.has(WRITE), |script| script.writes)
                || (spec.name == "EXEC" && session.multi.as_ref().is_some_and(|queued| queued.writes));
            if writes && write_refusal.is_some() {
                return write_refusal.map(Cow::Borrowed);
            }
            let stale_ok = declared.map_or(spec.has(STALE_OK), |script| script.allows_stale)
                && !(spec.name == "EXEC" && session.multi.as_ref().is_some_and(|queued| queued.needs_fresh));
            if is_stale && !stale_ok && !only_listens {
                return text(errors::MASTER_DOWN);
            }
        }
        if only_listens {
            return Some(Cow::Owned(only_listens_error(spec)));
        }
        if !spec.has(BUSY_OK) && self.script_is_overrunning() {
            return text(errors::BUSY);
        }
        // To Redis, who monitors is a replica of a kind.
        let touches_keys = spec.has(WRITE | READ_ONLY) || matches!(spec.name, "EVAL" | "EVALSHA");
        let is_refused = session.is_monitor && touches_keys;
        is_refused.then_some(Cow::Borrowed(b"ERR Replica can't interact with the keyspace"))
    }

    /// Whether the data takes more memory than `maxmemory` allows. A replica holds what its master holds.
    pub(crate) fn is_full(&self) -> bool {
        !self.replication.is_replica() && self.holds_more_than(1)
    }

    /// Whether the data takes more memory than this origin may make it take, whatever the node's role. A master may go
    /// beyond `maxmemory`, since both hold the same, but not without end. What a file holds, this node has held.
    pub(crate) fn is_full_of(&self, origin: Origin) -> bool {
        match origin {
            Origin::Client { .. } | Origin::Node => self.holds_more_than(1),
            Origin::Master => self.holds_more_than(FLOOD),
            Origin::File => false,
        }
    }

    fn holds_more_than(&self, times: u64) -> bool {
        let limit = self.config.limits.max_memory;
        limit > 0 && self.data_memory() / times > limit
    }

    /// Whether this command may not run because it could take memory that is not there.
    pub(crate) fn is_full_for(&self, spec: &CommandSpec) -> bool {
        spec.has(DENY_OOM) && self.is_full()
    }

    /// Why nobody may write here now.
    pub(crate) fn write_refusal(&self) -> Option<&'static [u8]> {
        // To Redis, a lag of zero is no lag that is too long.
        let enough = self.config.min_replicas_max_lag == 0
            || self.replication.good_replicas >= self.config.min_replicas_to_write;
        match self.replication.role {
            Role::Replica { .. } => Some(errors::READ_ONLY),
            Role::Master => (!enough).then_some(errors::NO_REPLICAS),
        }
    }

    /// A replica without its master that must not answer from old data.
    pub(crate) fn is_stale(&self) -> bool {
        let disconnected =
            matches!(self.replication.role, Role::Replica { link, .. } if link != LinkState::Connected);
        disconnected && !self.config.replica_serve_stale_data
    }
}

/// The error for a client that has subscribed to something in RESP2, where a reply could be taken for a message.
fn only_listens_error(spec: &CommandSpec) -> Vec<u8> {
    let allowed = "(P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context";
    format!("ERR Can't execute '{}': only {allowed}", spec.full_name).into_bytes()
}
