//! What the server knows of its connections, and how it ends them: CLIENT LIST, CLIENT INFO and CLIENT KILL.

use super::server::verbatim;
use crate::core::clients::{Circumstances, ClientKind, RequestBytes, Wanted};
use crate::core::context::{Context, c_string};
use crate::core::state::Client;
use crate::core::{Next, errors};
use crate::resp::{Args, integer, reply};

/// CLIENT INFO.
pub(crate) fn client_info(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let id = ctx.session.id;
    reply_clients(ctx, args, |other, _| other == id, out);
    Next::Reply
}

/// CLIENT LIST [TYPE normal|master|replica|pubsub] [ID id …], in the order in which they came.
pub(crate) fn client_list(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let is = |name: &[u8]| args.get(2).is_some_and(|filter| filter.eq_ignore_ascii_case(name));
    match args.len() {
        2 => reply_clients(ctx, args, |_, _| true, out),
        4 if is(b"TYPE") => list_type(ctx, args, out),
        4.. if is(b"ID") => list_ids(ctx, args, out),
        _ => reply::error(out, errors::SYNTAX),
    }
    Next::Reply
}

fn list_type(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) {
    let name = args.at(3);
    match name.to_ascii_lowercase().as_slice() {
        b"normal" => reply_kind(ctx, args, ClientKind::Normal, out),
        b"replica" | b"slave" => reply_kind(ctx, args, ClientKind::Replica, out),
        b"pubsub" => reply_kind(ctx, args, ClientKind::Pubsub, out),
        // The node's own connection to its master is none of its clients.
        b"master" => verbatim(out, ctx.protocol(), b""),
        _ => reply::error(out, &[b"ERR Unknown client type '", c_string(name), b"'"].concat()),
    }
}

/// Those with the given ids, as often as they are given.
fn list_ids(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) {
    let ids: Option<Vec<i64>> = args.iter().skip(3).map(integer::parse).collect();
    let Some(ids) = ids else { return reply::error(out, b"ERR Invalid client ID") };
    let ids = ids.into_iter().filter_map(|id| u64::try_from(id).ok());
    let lines: String = ids.filter_map(|id| Some(line(ctx, args, id, ctx.core.clients.get(&id)?))).collect();
    verbatim(out, ctx.protocol(), lines.as_bytes());
}

fn reply_kind(ctx: &Context<'_>, args: &Args<'_>, kind: ClientKind, out: &mut Vec<u8>) {
    let subscriptions = |id| ctx.core.subscriptions.counts_of(id);
    reply_clients(ctx, args, |id, client| client.kind(subscriptions(id)) == kind, out);
}

fn reply_clients(
    ctx: &Context<'_>,
    args: &Args<'_>,
    wanted: impl Fn(u64, &Client) -> bool,
    out: &mut Vec<u8>,
) {
    let clients = ctx.core.clients.iter().filter(|(id, client)| wanted(**id, client));
    let lines: String = clients.map(|(id, client)| line(ctx, args, *id, client)).collect();
    verbatim(out, ctx.protocol(), lines.as_bytes());
}

/// `args` are the request that asks, which is all that its connection is known to hold.
fn line(ctx: &Context<'_>, args: &Args<'_>, id: u64, client: &Client) -> String {
    let is_dirty = ctx.core.dirty_sessions.contains(&id);
    let subscriptions = ctx.core.subscriptions.counts_of(id);
    let is_blocked = ctx.core.blocked.has(id) || ctx.core.is_postponed(id);
    let tracked = ctx.core.tracking.client(id);
    let port = ctx.core.config.port;
    let line = |client: &Client, held: RequestBytes| {
        client.line(id, ctx.now, port, &Circumstances { is_dirty, is_blocked, subscriptions, tracked, held })
    };
    if id != ctx.session.id {
        return line(client, RequestBytes::default());
    }
    let mut encoded = Vec::new();
    reply::command(&mut encoded, args.iter());
    let arguments = args.iter().map(<[u8]>::len).sum();
    line(&client.during(ctx.session, ctx.now), RequestBytes { request: encoded.len(), arguments })
}

/// CLIENT KILL address, or CLIENT KILL with filters that a connection must all match: how many there were. Who kills
/// itself still gets the reply.
pub(crate) fn client_kill(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let is_old_form = args.len() == 3;
    let filters = match is_old_form {
        true => {
            let wanted = Wanted { addr: Some(c_string(args.at(2))), ..Wanted::default() };
            Some(Filters { wanted, nobody: false, skips_me: false })
        }
        false => read_filters_or_reply(args, out),
    };
    let Some(Filters { wanted, nobody, skips_me }) = filters else { return Next::Reply };
    let (me, port) = (ctx.session.id, ctx.core.config.port);
    let subscriptions = |id| ctx.core.subscriptions.counts_of(id);
    let clients = ctx
        .core
        .clients
        .iter()
        .filter(|(id, client)| !nobody && client.matches(**id, port, subscriptions(**id), &wanted));
    let ids: Vec<u64> = clients.map(|(id, _)| *id).filter(|id| *id != me || !skips_me).collect();
    ids.iter().filter(|id| **id != me).for_each(|id| ctx.core.kill(*id));
    match ids.len() {
        0 if is_old_form => reply::error(out, b"ERR No such client"),
        _ if is_old_form => reply::ok(out),
        count => reply::integer(out, count as i64),
    }
    if ids.contains(&me) { Next::Close } else { Next::Reply }
}

/// What Redis answers to a subcommand of this name with too many arguments.
pub(super) fn unknown_subcommand(args: &Args<'_>, out: &mut Vec<u8>) {
    let parent: Vec<u8> = c_string(args.at(0)).to_ascii_uppercase();
    let name = c_string(args.at(1));
    let name = &name[..name.len().min(128)];
    let text =
        [b"ERR unknown subcommand or wrong number of arguments for '", name, b"'. Try ", &parent, b" HELP."];
    reply::error(out, &text.concat());
}

struct Filters<'a> {
    wanted: Wanted<'a>,
    /// A kind of connection of which there are none.
    nobody: bool,
    skips_me: bool,
}

fn read_filters_or_reply<'a>(args: &Args<'a>, out: &mut Vec<u8>) -> Option<Filters<'a>> {
    let mut filters = Filters { wanted: Wanted::default(), nobody: false, skips_me: true };
    for index in (2..args.len()).step_by(2) {
        let Some(value) = args.get(index + 1) else {
            reply::error(out, errors::SYNTAX);
            return None;
        };
        if let Err(why) = read_filter(args.at(index), value, &mut filters) {
            reply::error(out, &why);
            return None;
        }
    }
    Some(filters)
}

fn read_filter<'a>(name: &[u8], value: &'a [u8], filters: &mut Filters<'a>) -> Result<(), Vec<u8>> {
    match c_string(name).to_ascii_lowercase().as_slice() {
        b"id" => {
            let id = integer::parse(value).and_then(|id| u64::try_from(id).ok()).filter(|id| *id > 0);
            let id = id.ok_or_else(|| b"ERR client-id should be greater than 0".to_vec())?;
            filters.wanted.id = Some(id);
        }
        b"type" => {
            let kind = c_string(value).to_ascii_lowercase();
            filters.wanted.kind = match kind.as_slice() {
                b"normal" => Some(ClientKind::Normal),
                b"replica" | b"slave" => Some(ClientKind::Replica),
                b"pubsub" => Some(ClientKind::Pubsub),
                // The node's own connection to its master is none of its clients.
                b"master" => None,
                _ => return Err([b"ERR Unknown client type '", c_string(value), b"'"].concat()),
            };
            filters.nobody = filters.wanted.kind.is_none();
        }
        b"addr" => filters.wanted.addr = Some(c_string(value)),
        b"laddr" => filters.wanted.laddr = Some(c_string(value)),
        // There is one user.
        b"user" if value == b"default" => {}
        b"user" => return Err([b"ERR No such user '", c_string(value), b"'"].concat()),
        b"skipme" => {
            filters.skips_me = match c_string(value).to_ascii_lowercase().as_slice() {
                b"yes" => true,
                b"no" => false,
                _ => return Err(errors::SYNTAX.to_vec()),
            };
        }
        _ => return Err(errors::SYNTAX.to_vec()),
    }
    Ok(())
}
