//! What the server knows of its connections: CLIENT LIST and CLIENT INFO.

use crate::core::Next;
use crate::core::context::{Context, errors};
use crate::core::session::SessionKind;
use crate::resp::{Args, Protocol, reply};

/// CLIENT INFO.
pub(crate) fn client_info(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply_client_line(ctx, out);
    Next::Reply
}

/// CLIENT LIST: the core knows no other connection than the one that asks, and lists only that.
pub(crate) fn client_list(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if args.len() > 2 {
        reply::error(out, errors::SYNTAX);
    } else {
        reply_client_line(ctx, out);
    }
    Next::Reply
}

fn reply_client_line(ctx: &Context<'_>, out: &mut Vec<u8>) {
    let session = &*ctx.session;
    let line = format!(
        "id={} addr={} laddr=127.0.0.1:{} fd=8 name={} age={} idle=0 flags={} db={} sub=0 psub=0 ssub=0 multi={} \
         qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=1024 rbp=0 obl=0 oll=0 omem=0 tot-mem=0 events=r cmd={} \
         user=default redir=-1 resp={}\n",
        session.id,
        session.addr,
        ctx.core.config.port,
        String::from_utf8_lossy(&session.name),
        (ctx.now.0.saturating_sub(session.connected_at.0)).max(0) / 1_000_000,
        if session.kind == SessionKind::Master { "M" } else { "N" },
        session.db,
        session.multi.as_ref().map_or(-1, |multi| multi.queue.len() as i64),
        ctx.spec.full_name,
        if session.protocol == Protocol::Two { 2 } else { 3 },
    );
    super::server::verbatim(out, session.protocol, line.as_bytes());
}
