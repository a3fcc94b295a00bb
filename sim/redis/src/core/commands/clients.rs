//! What the server knows of its connections: CLIENT LIST and CLIENT INFO.

use super::server::verbatim;
use crate::core::Next;
use crate::core::clients::Client;
use crate::core::context::{Context, c_string, errors};
use crate::resp::{Args, integer, reply};

/// CLIENT INFO.
pub(crate) fn client_info(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let id = ctx.session.id;
    reply_clients(ctx, |other, _| other == id, out);
    Next::Reply
}

/// CLIENT LIST [TYPE normal|master|replica|pubsub] [ID id …], in the order in which they came.
pub(crate) fn client_list(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let is = |name: &[u8]| args.get(2).is_some_and(|filter| filter.eq_ignore_ascii_case(name));
    match args.len() {
        2 => reply_clients(ctx, |_, _| true, out),
        4 if is(b"TYPE") => list_type(ctx, args.at(3), out),
        4.. if is(b"ID") => list_ids(ctx, args, out),
        _ => reply::error(out, errors::SYNTAX),
    }
    Next::Reply
}

fn list_type(ctx: &mut Context<'_>, name: &[u8], out: &mut Vec<u8>) {
    match name.to_ascii_lowercase().as_slice() {
        b"normal" => reply_clients(ctx, |_, client| !client.is_replica(), out),
        b"replica" | b"slave" => reply_clients(ctx, |_, client| client.is_replica(), out),
        // The node's own connection to its master is none of its clients, and nobody subscribes.
        b"master" | b"pubsub" => verbatim(out, ctx.protocol(), b""),
        _ => reply::error(out, &[b"ERR Unknown client type '", c_string(name), b"'"].concat()),
    }
}

/// Those with the given ids, as often as they are given.
fn list_ids(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) {
    let ids: Option<Vec<i64>> = args.iter().skip(3).map(integer::parse).collect();
    let Some(ids) = ids else { return reply::error(out, b"ERR Invalid client ID") };
    let ids = ids.into_iter().filter_map(|id| u64::try_from(id).ok());
    let lines: String = ids.filter_map(|id| Some(line(ctx, id, ctx.core.clients.get(&id)?))).collect();
    verbatim(out, ctx.protocol(), lines.as_bytes());
}

fn reply_clients(ctx: &mut Context<'_>, wanted: impl Fn(u64, &Client) -> bool, out: &mut Vec<u8>) {
    let clients = ctx.core.clients.iter().filter(|(id, client)| wanted(**id, client));
    let lines: String = clients.map(|(id, client)| line(ctx, *id, client)).collect();
    verbatim(out, ctx.protocol(), lines.as_bytes());
}

fn line(ctx: &Context<'_>, id: u64, client: &Client) -> String {
    let is_dirty = ctx.core.dirty_sessions.contains(&id);
    let line = |client: &Client| client.line(id, ctx.now, ctx.core.config.port, is_dirty);
    if id == ctx.session.id { line(&client.during(ctx.session, ctx.now)) } else { line(client) }
}
