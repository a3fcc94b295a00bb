//! What locks say to one node: every command, the script it may run, and what a reply means. The rest of the
//! crate decides whom to ask and what to make of the answers.
//!
//! Assumes Redis 2.6.12 or later (`SET … NX PX`, scripts). Does not cover Redis Cluster: the
//! fencing counter is named so that it shares its lock's slot, but redirections are not followed.

use std::time::Duration;

use redis::{Cmd, ErrorKind, ServerErrorKind, Value};

use super::extension_scripts::{EXTEND_MORE, EXTEND_UNTIL};
use super::scripts::{CLAIM_FENCED, COMPARE_AND_DELETE, EXTEND, EXTEND_OR_SET, Script};
use super::units::millis;
use super::wire::{NoReply, Wire};
use crate::config::{Choice, Form};
use crate::env::Env;
use crate::lock::Token;

/// How a key is given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReleaseMethod {
    /// A script deletes the key if it holds this grant's token: as published.
    #[default]
    CompareAndDelete,
    /// `DEL`, whoever the key belongs to. A holder that overran its lease frees the next holder's
    /// lock; with Redlock, so does the cleaning up of every failed attempt.
    PlainDelete,
    /// `GET`, compare here, `DEL`: the key may expire and change hands in between.
    GetThenDelete,
    /// `DELEX … IFEQ`, by which the node itself compares: since Redis 8.4. An older one replies with an error.
    DelexIfeq,
}

impl Choice for ReleaseMethod {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("compare-and-delete", Self::CompareAndDelete),
        ("plain-delete", Self::PlainDelete),
        ("get-then-delete", Self::GetThenDelete),
        ("delex-ifeq", Self::DelexIfeq),
    ];
}

impl ReleaseMethod {
    /// Asks for it.
    pub(crate) fn choose(form: &mut Form<'_>) -> Self {
        form.choice("release", Self::default(), "how a key is given back")
    }

    /// The commands it takes.
    pub(crate) fn sends(self) -> &'static [&'static str] {
        match self {
            Self::CompareAndDelete => &RUNS_A_SCRIPT,
            Self::PlainDelete => &["DEL"],
            Self::GetThenDelete => &["GET", "DEL"],
            Self::DelexIfeq => &["DELEX"],
        }
    }
}

/// The commands that it takes to run a script: the second where the node does not know it.
pub(crate) const RUNS_A_SCRIPT: [&str; 2] = ["EVALSHA", "SCRIPT"];

/// One exchange with one node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Request<'a> {
    /// Set the key if it is absent.
    Claim { key: &'a str, token: &'a Token, ttl: Duration },
    /// The same, for ever.
    ClaimForEver { key: &'a str, token: &'a Token },
    /// The same, until a moment in milliseconds since 1970, by whatever clock the caller read.
    ClaimUntil { key: &'a str, token: &'a Token, at: u64 },
    /// Set the key if it is absent, and count the grant.
    ClaimFenced { key: &'a str, counter: &'a str, token: &'a Token, ttl: Duration },
    /// Renew the key if it is ours, or set it if it is absent and `or_set` allows.
    Extend { key: &'a str, token: &'a Token, ttl: Duration, or_set: bool },
    /// Renew the key until a moment, if it is ours.
    ExtendUntil { key: &'a str, token: &'a Token, at: u64 },
    /// Add to what is left of the key, if it is ours.
    ExtendMore { key: &'a str, token: &'a Token, more: Duration },
    /// Set the key anew if it is there, or if the node finds that it is ours.
    Overwrite { key: &'a str, token: &'a Token, ttl: Duration, compared: bool },
    /// Give the key another lease, whoever it belongs to.
    Postpone { key: &'a str, ttl: Duration },
    /// Ask what the key holds.
    Read { key: &'a str },
    /// Ask whether there is a key.
    Exists { key: &'a str },
    /// Delete the key, if it is ours or regardless.
    Release { key: &'a str, token: &'a Token, method: ReleaseMethod },
    /// Ask whether the node is a master.
    Role,
    /// Wait until that many replicas have this connection's last write.
    Wait { replicas: u64, timeout: Duration },
}

impl Request<'_> {
    /// The command that it begins with, which is mostly all of it.
    pub(crate) fn first_command(&self) -> Cmd {
        match *self {
            Self::Claim { key, token, ttl } => {
                let mut set = Cmd::with_capacity(6, 64 + key.len());
                set.arg("SET").arg(key).arg(token.as_bytes()).arg("NX").arg("PX").arg(millis(ttl));
                set
            }
            Self::ClaimForEver { key, token } => {
                command("SET", |set| set.arg(key).arg(token.as_bytes()).arg("NX"))
            }
            Self::ClaimUntil { key, token, at } => {
                command("SET", |set| set.arg(key).arg(token.as_bytes()).arg("NX").arg("PXAT").arg(at))
            }
            Self::ExtendUntil { key, token, at } => EXTEND_UNTIL.call_with(&[key], token, Some(at)),
            Self::ExtendMore { key, token, more } => EXTEND_MORE.call(&[key], token, Some(more)),
            Self::Overwrite { key, token, ttl, compared } => command("SET", |set| {
                set.arg(key).arg(token.as_bytes());
                let set = if compared { set.arg("IFEQ").arg(token.as_bytes()) } else { set.arg("XX") };
                set.arg("PX").arg(millis(ttl))
            }),
            Self::Postpone { key, ttl } => command("PEXPIRE", |expire| expire.arg(key).arg(millis(ttl))),
            Self::Read { key } => command("GET", |get| get.arg(key)),
            Self::Exists { key } => command("EXISTS", |exists| exists.arg(key)),
            Self::ClaimFenced { key, counter, token, ttl } => {
                CLAIM_FENCED.call(&[key, counter], token, Some(ttl))
            }
            Self::Extend { key, token, ttl, or_set: true } => EXTEND_OR_SET.call(&[key], token, Some(ttl)),
            Self::Extend { key, token, ttl, or_set: false } => EXTEND.call(&[key], token, Some(ttl)),
            Self::Release { key, token, method } => match method {
                ReleaseMethod::CompareAndDelete => COMPARE_AND_DELETE.call(&[key], token, None),
                ReleaseMethod::PlainDelete => command("DEL", |del| del.arg(key)),
                ReleaseMethod::GetThenDelete => command("GET", |get| get.arg(key)),
                ReleaseMethod::DelexIfeq => {
                    command("DELEX", |delex| delex.arg(key).arg("IFEQ").arg(token.as_bytes()))
                }
            },
            Self::Role => command("ROLE", |role| role),
            Self::Wait { replicas, timeout } => {
                command("WAIT", |wait| wait.arg(replicas).arg(millis(timeout)))
            }
        }
    }

    /// Sends its first command, which the caller made of it, and what else it takes. `reply` becomes the last one; an
    /// error reply is an `Err`.
    pub(crate) async fn send<E: Env>(
        &self,
        first: &Cmd,
        wire: &mut Wire<'_, E>,
        reply: &mut Value,
    ) -> Result<(), NoReply> {
        let sent = wire.call(first, reply).await;
        if let Some(script) = self.script()
            && let Err(NoReply::Error(error)) = &sent
            && error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
        {
            // The node forgets all scripts when it restarts. As redis-rs' own `Script` does it.
            wire.call(&command("SCRIPT", |load| load.arg("LOAD").arg(script.source)), reply).await?;
            return wire.call(first, reply).await;
        }
        let Self::Release { key, token, method: ReleaseMethod::GetThenDelete } = *self else { return sent };
        sent?;
        match reply {
            Value::BulkString(value) if value == token.as_bytes() => {
                wire.call(&command("DEL", |del| del.arg(key)), reply).await
            }
            _ => {
                *reply = Value::Int(0);
                Ok(())
            }
        }
    }

    /// The script that its first command runs.
    fn script(&self) -> Option<&'static Script> {
        match self {
            Self::ClaimFenced { .. } => Some(&CLAIM_FENCED),
            Self::Extend { or_set: true, .. } => Some(&EXTEND_OR_SET),
            Self::Extend { or_set: false, .. } => Some(&EXTEND),
            Self::Release { method: ReleaseMethod::CompareAndDelete, .. } => Some(&COMPARE_AND_DELETE),
            Self::ExtendUntil { .. } => Some(&EXTEND_UNTIL),
            Self::ExtendMore { .. } => Some(&EXTEND_MORE),
            Self::Claim { .. }
            | Self::ClaimForEver { .. }
            | Self::ClaimUntil { .. }
            | Self::Overwrite { .. }
            | Self::Postpone { .. }
            | Self::Read { .. }
            | Self::Exists { .. }
            | Self::Release { .. }
            | Self::Role
            | Self::Wait { .. } => None,
        }
    }

    /// How long the node may take on purpose before it answers.
    pub(crate) fn served_in(&self) -> Duration {
        match self {
            Self::Wait { timeout, .. } => *timeout,
            _ => Duration::ZERO,
        }
    }
}

/// Whether a reply to a claim, extension or release says yes.
pub(crate) fn says_yes(reply: &Value) -> bool {
    match reply {
        Value::Okay => true,
        Value::Int(count) => *count > 0,
        _ => false,
    }
}

/// Whether a reply to `ROLE` is a master's.
pub(crate) fn is_master(reply: &Value) -> bool {
    let Value::Array(fields) = reply else { return false };
    match fields.first() {
        Some(Value::BulkString(role)) => role == b"master",
        Some(Value::SimpleString(role)) => role == "master",
        _ => false,
    }
}

fn command(name: &str, complete: impl FnOnce(&mut Cmd) -> &mut Cmd) -> Cmd {
    let mut command = Cmd::with_capacity(3, 64);
    complete(command.arg(name));
    command
}
