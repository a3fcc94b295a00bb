//! Commands about the connection itself. There are no passwords: the default user needs none.

use super::integer_or_reply;
use crate::core::context::{Context, c_string};
use crate::core::session::ReplyMode;
use crate::core::{DATABASES, Next, errors};
use crate::resp::{Args, Protocol, integer, reply};

const WRONG_PASS: &[u8] = b"WRONGPASS invalid username-password pair or user is disabled.";

/// PING [message].
pub(crate) fn ping(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    match args.len() {
        1 | 2 if ctx.session.is_subscribed && ctx.protocol() == Protocol::Two => {
            // A client in the middle of messages takes anything but an array for a mistake.
            reply::array(out, 2);
            reply::bulk(out, b"pong");
            reply::bulk(out, args.at(1));
        }
        1 => out.extend_from_slice(b"+PONG\r\n"),
        2 => reply::bulk(out, args.at(1)),
        _ => ctx.arity_error(out),
    }
    Next::Reply
}

/// ECHO message.
pub(crate) fn echo(_ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply::bulk(out, args.at(1));
    Next::Reply
}

/// SELECT index.
pub(crate) fn select(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if let Some(index) = database_or_reply(ctx, args.at(1), out) {
        ctx.session.db = index;
        reply::ok(out);
    }
    Next::Reply
}

/// The database of that number, or the error reply for it.
pub(super) fn database_or_reply(ctx: &mut Context<'_>, number: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let index = integer_or_reply(number, out)?;
    if i32::try_from(index).is_err() {
        reply::error(out, b"ERR value is out of range, value must between -2147483648 and 2147483647");
        return None;
    }
    let index = usize::try_from(index).ok().filter(|&index| index < DATABASES);
    match index {
        Some(index) => ctx.core.open_database(index),
        None => reply::error(out, b"ERR DB index is out of range"),
    }
    index
}

/// AUTH [user] password.
pub(crate) fn auth(_ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    match args.len() {
        2 => reply::error(
            out,
            b"ERR AUTH <password> called without any password configured for the default user. \
              Are you sure your configuration is correct?",
        ),
        3 if args.at(1) == b"default" => reply::ok(out),
        3 => reply::error(out, WRONG_PASS),
        _ => reply::error(out, errors::SYNTAX),
    }
    Next::Reply
}

/// HELLO [2|3 [AUTH user password] [SETNAME name]].
pub(crate) fn hello(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let protocol = match args.get(1).map(integer::parse) {
        None => ctx.session.protocol,
        Some(Some(2)) => Protocol::Two,
        Some(Some(3)) => Protocol::Three,
        Some(Some(_)) => {
            reply::error(out, b"NOPROTO unsupported protocol version");
            return Next::Reply;
        }
        Some(None) => {
            reply::error(out, b"ERR Protocol version is not an integer or out of range");
            return Next::Reply;
        }
    };
    let mut index = 2;
    while let Some(option) = args.get(index) {
        let more = args.len() - 1 - index;
        if option.eq_ignore_ascii_case(b"AUTH") && more >= 2 {
            if args.at(index + 1) != b"default" {
                reply::error(out, WRONG_PASS);
                return Next::Reply;
            }
            index += 3;
        } else if option.eq_ignore_ascii_case(b"SETNAME") && more >= 1 {
            if !set_name_or_reply(ctx, args.at(index + 1), out) {
                return Next::Reply;
            }
            index += 2;
        } else {
            reply::error(out, &[b"ERR Syntax error in HELLO option '", c_string(option), b"'"].concat());
            return Next::Reply;
        }
    }
    ctx.session.protocol = protocol;
    reply_hello(ctx, out);
    Next::Reply
}

fn reply_hello(ctx: &Context<'_>, out: &mut Vec<u8>) {
    let pair = |out: &mut Vec<u8>, key: &[u8], value: &[u8]| {
        reply::bulk(out, key);
        reply::bulk(out, value);
    };
    let protocol = ctx.session.protocol;
    let is_sentinel = ctx.core.config.program.is_some();
    reply::map(out, protocol, if is_sentinel { 6 } else { 7 });
    let (server, version) = ctx.version().server();
    pair(out, b"server", server.as_bytes());
    pair(out, b"version", version.as_bytes());
    reply::bulk(out, b"proto");
    reply::integer(out, if protocol == Protocol::Two { 2 } else { 3 });
    reply::bulk(out, b"id");
    reply::integer(out, ctx.session.id as i64);
    if is_sentinel {
        pair(out, b"mode", b"sentinel");
    } else {
        pair(out, b"mode", b"standalone");
        pair(out, b"role", if ctx.core.replication.is_replica() { b"replica" } else { b"master" });
    }
    reply::bulk(out, b"modules");
    reply::array(out, 0);
}

/// QUIT.
pub(crate) fn quit(_ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply::ok(out);
    Next::Close
}

/// RESET: the connection as it was when it opened, but for CLIENT NO-EVICT.
pub(crate) fn reset(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    ctx.core.discard_transaction(ctx.session);
    ctx.session.db = 0;
    ctx.session.protocol = Protocol::Two;
    ctx.session.name.clear();
    ctx.session.replies = ReplyMode::On;
    ctx.session.is_monitor = false;
    ctx.core.monitors.remove(&ctx.session.id);
    ctx.core.unsubscribe_all(ctx.session);
    ctx.core.tracking.disable(ctx.session.id);
    reply::status(out, b"RESET");
    Next::Reply
}

/// CLIENT ID.
pub(crate) fn client_id(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply::integer(out, ctx.session.id as i64);
    Next::Reply
}

/// CLIENT GETNAME.
pub(crate) fn client_getname(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    match ctx.session.name.as_slice() {
        b"" => reply::null(out, ctx.protocol()),
        name => reply::bulk(out, name),
    }
    Next::Reply
}

/// CLIENT SETNAME name.
pub(crate) fn client_setname(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if set_name_or_reply(ctx, args.at(2), out) {
        reply::ok(out);
    }
    Next::Reply
}

fn set_name_or_reply(ctx: &mut Context<'_>, name: &[u8], out: &mut Vec<u8>) -> bool {
    let printable = name.iter().all(|byte| (b'!'..=b'~').contains(byte));
    if printable {
        ctx.session.name = name.to_vec();
    } else {
        reply::error(out, b"ERR Client names cannot contain spaces, newlines or special characters.");
    }
    printable
}

/// CLIENT NO-EVICT ON|OFF: noted; nothing is ever evicted.
pub(crate) fn client_no_evict(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    match args.at(2).to_ascii_lowercase().as_slice() {
        b"on" => ctx.session.no_evict = true,
        b"off" => ctx.session.no_evict = false,
        _ => {
            reply::error(out, errors::SYNTAX);
            return Next::Reply;
        }
    }
    reply::ok(out);
    Next::Reply
}

/// CLIENT REPLY ON|OFF|SKIP.
pub(crate) fn client_reply(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    match args.at(2).to_ascii_lowercase().as_slice() {
        b"on" => {
            ctx.session.replies = ReplyMode::On;
            reply::ok(out);
        }
        b"off" => ctx.session.replies = ReplyMode::Off,
        b"skip" if ctx.session.replies == ReplyMode::Off => {}
        b"skip" => ctx.session.replies = ReplyMode::SkipNext,
        _ => reply::error(out, errors::SYNTAX),
    }
    Next::Reply
}
