//! MONITOR: a connection that is shown every command the node executes.
//!
//! As in Redis a command is shown once it was executed, a script before its own commands, and what administers the
//! server not at all.

use crate::core::command::{ADMIN, CommandSpec, SKIP_MONITOR};
use crate::core::context::Context;
use crate::core::session::SessionKind;
use crate::core::{Core, Next, Role, Session, WallMicros};
use crate::resp::{Args, integer, reply};

/// MONITOR. Redis does not answer one who monitors already.
pub(crate) fn monitor(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if ctx.core.monitors.insert(ctx.session.id) {
        ctx.session.is_monitor = true;
        reply::ok(out);
    }
    Next::Reply
}

impl Core {
    /// Shows a command that was executed to all who monitor. `out` is where its reply went.
    pub(crate) fn show_executed(
        &mut self,
        session: &Session,
        now: WallMicros,
        spec: &CommandSpec,
        args: &Args<'_>,
        out: &mut Vec<u8>,
    ) {
        if !self.monitors.is_empty() && !spec.has(SKIP_MONITOR | ADMIN) {
            self.show(session, now, spec, args, out);
        }
    }

    /// Shows a command, whatever its flags, to all who monitor.
    pub(crate) fn show(
        &mut self,
        session: &Session,
        now: WallMicros,
        spec: &CommandSpec,
        args: &Args<'_>,
        out: &mut Vec<u8>,
    ) {
        if self.monitors.is_empty() || session.is_loading {
            return;
        }
        let line = self.line(session, now, spec, args);
        let monitors = std::mem::take(&mut self.monitors);
        for &monitor in &monitors {
            if monitor != session.id || session.kind != SessionKind::Client {
                self.push_unless_silent(monitor, &line);
            } else if session.is_answered() {
                out.extend_from_slice(&line);
            }
        }
        // Whoever reads too slowly has been killed meanwhile.
        self.monitors = monitors.into_iter().filter(|monitor| !self.is_killed(*monitor)).collect();
    }

    /// `+1339518083.107412 [0 127.0.0.1:60866] "SET" "k" "v"`.
    fn line(&self, session: &Session, now: WallMicros, spec: &CommandSpec, args: &Args<'_>) -> Vec<u8> {
        let from = match (&self.replication.role, session.kind) {
            (_, SessionKind::Script) => "lua".to_owned(),
            (Role::Replica { host, port, .. }, SessionKind::Master) => format!("{host}:{port}"),
            _ => session.addr.clone(),
        };
        let (seconds, micros) = (now.0.div_euclid(1_000_000), now.0.rem_euclid(1_000_000));
        let mut line = format!("+{seconds}.{micros:06} [{} {from}]", session.db).into_bytes();
        let secrets = secrets(spec, args);
        for (index, argument) in args.iter().enumerate() {
            line.push(b' ');
            let hidden: &[u8] = b"(redacted)";
            quote(if secrets.contains(&index) { hidden } else { argument }, &mut line);
        }
        line.extend_from_slice(b"\r\n");
        line
    }
}

/// The arguments that are user names and passwords, as far as the command has understood them so.
fn secrets(spec: &CommandSpec, args: &Args<'_>) -> Vec<usize> {
    match spec.name {
        "AUTH" if args.len() <= 3 => (1..args.len()).collect(),
        "HELLO" if matches!(args.get(1).and_then(integer::parse), Some(2 | 3)) => secrets_of_hello(args),
        _ => Vec::new(),
    }
}

/// HELLO stops reading where it finds a mistake.
fn secrets_of_hello(args: &Args<'_>) -> Vec<usize> {
    let (mut secrets, mut index) = (Vec::new(), 2);
    while let Some(option) = args.get(index) {
        let more = args.len() - 1 - index;
        if option.eq_ignore_ascii_case(b"AUTH") && more >= 2 {
            secrets.extend([index + 1, index + 2]);
            index += 3;
        } else if option.eq_ignore_ascii_case(b"SETNAME") && more >= 1 {
            index += 2;
        } else {
            break;
        }
    }
    secrets
}

/// An argument in quotes, what does not print as an escape: Redis' `sdscatrepr`.
fn quote(argument: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in argument {
        match byte {
            b'\\' | b'"' => out.extend([b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            7 => out.extend_from_slice(b"\\a"),
            8 => out.extend_from_slice(b"\\b"),
            b' '..=b'~' => out.push(byte),
            _ => out.extend_from_slice(format!("\\x{byte:02x}").as_bytes()),
        }
    }
    out.push(b'"');
}
