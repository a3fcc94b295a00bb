//! Replication as a client sees it: roles, WAIT, and the handshake of a replica. The links themselves are the node's.

use std::time::Duration;

use super::integer_or_reply;
use crate::core::context::{Context, c_string};
use crate::core::state::BlockedRequest;
use crate::core::{LinkState, Next, READS_COMMANDS, Role, errors, reply_files};
use crate::resp::{Args, integer, reply};

/// REPLICAOF host port, REPLICAOF NO ONE (and SLAVEOF).
pub(crate) fn replicaof(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if args.at(1).eq_ignore_ascii_case(b"no") && args.at(2).eq_ignore_ascii_case(b"one") {
        reply::ok(out);
        if !ctx.core.replication.is_replica() {
            return Next::Reply;
        }
        ctx.core.replication.role = Role::Master;
        return Next::ReplicaOf(None);
    }
    let port = integer::parse(args.at(2)).and_then(|port| u16::try_from(port).ok());
    let Some(port) = port else {
        reply::error(out, b"ERR Invalid master port");
        return Next::Reply;
    };
    let host = String::from_utf8_lossy(args.at(1)).into_owned();
    if !ctx.core.config.remote_masters && !is_this_machine(&host) {
        reply::error(out, REMOTE_MASTER);
        return Next::Reply;
    }
    if let Role::Replica { host: current, port: current_port, .. } = &ctx.core.replication.role
        && current.eq_ignore_ascii_case(&host)
        && *current_port == port
    {
        reply::status(out, b"OK Already connected to specified master");
        return Next::Reply;
    }
    reply::ok(out);
    ctx.core.replication.role = Role::Replica { host: host.clone(), port, link: LinkState::Connect };
    Next::ReplicaOf(Some((host, port)))
}

const REMOTE_MASTER: &[u8] = b"ERR this node replicates this machine (127.0.0.1) only, since a master can fill its \
    replicas with anything and clients need no password to name one; serve with --allow-remote-replicaof to lift this";

/// Whether a master's address cannot be anybody else's.
fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// ROLE.
pub(crate) fn role(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let replication = &ctx.core.replication;
    match &replication.role {
        Role::Master => {
            reply::array(out, 3);
            reply::bulk(out, b"master");
            reply::integer(out, replication.offset as i64);
            let online: Vec<_> = replication.replicas.iter().filter(|replica| replica.online).collect();
            reply::array(out, online.len());
            for replica in online {
                reply::array(out, 3);
                reply::bulk(out, replica.ip.as_bytes());
                reply::bulk(out, replica.port.to_string().as_bytes());
                reply::bulk(out, replica.acked.to_string().as_bytes());
            }
        }
        Role::Replica { host, port, link } => {
            reply::array(out, 5);
            reply::bulk(out, b"slave");
            reply::bulk(out, host.as_bytes());
            reply::integer(out, i64::from(*port));
            let (state, offset) = match link {
                LinkState::Connect => (b"connect".as_slice(), -1),
                LinkState::Connecting => (b"handshake".as_slice(), -1),
                LinkState::Sync => (b"sync".as_slice(), -1),
                LinkState::Connected => (b"connected".as_slice(), replication.offset as i64),
            };
            reply::bulk(out, state);
            reply::integer(out, offset);
        }
    }
    Next::Reply
}

/// WAIT numreplicas timeout-ms: for the acknowledgement of this connection's last write, not of any key.
pub(crate) fn wait(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if ctx.core.replication.is_replica() {
        let text = b"ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica \
            is configured to be writable (which is not the default) writes to replicas are just local and are not propagated.";
        reply::error(out, text);
        return Next::Reply;
    }
    let Some(replicas) = integer_or_reply(args.at(1), out) else { return Next::Reply };
    let Some(timeout) = timeout_or_reply(args.at(2), out) else { return Next::Reply };
    let offset = ctx.session.offset;
    let acked = ctx.core.replication.replicas_at(offset);
    if acked as i64 >= replicas {
        reply::integer(out, acked as i64);
        return Next::Reply;
    }
    if ctx.may_block() {
        ctx.block(&[], BlockedRequest::Replicas { offset });
    }
    let replicas = u32::try_from(replicas).unwrap_or(u32::MAX);
    Next::Wait { replicas, timeout, offset, file: None }
}

fn timeout_or_reply(text: &[u8], out: &mut Vec<u8>) -> Option<Duration> {
    let Some(timeout) = integer::parse(text) else {
        reply::error(out, b"ERR timeout is not an integer or out of range");
        return None;
    };
    let timeout = u64::try_from(timeout);
    if timeout.is_err() {
        reply::error(out, b"ERR timeout is negative");
    }
    timeout.ok().map(Duration::from_millis)
}

/// WAITAOF numlocal numreplicas timeout-ms: for this connection's last write to be in files. A script never waits.
pub(crate) fn waitaof(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(local) = integer_or_reply(args.at(1), out) else { return Next::Reply };
    if !(0..=1).contains(&local) {
        reply::error(out, b"ERR value is out of range, value must between 0 and 1");
        return Next::Reply;
    }
    let Some(replicas) = integer_or_reply(args.at(2), out) else { return Next::Reply };
    let Ok(replicas) = usize::try_from(replicas) else {
        reply::error(out, b"ERR value is out of range, must be positive");
        return Next::Reply;
    };
    let Some(timeout) = timeout_or_reply(args.at(3), out) else { return Next::Reply };
    if ctx.core.replication.is_replica() {
        let text = b"ERR WAITAOF cannot be used with replica instances. Please also note that writes to replicas are \
            just local and are not propagated.";
        reply::error(out, text);
        return Next::Reply;
    }
    if local == 1 && !ctx.core.config.append_only {
        let text = b"ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.";
        reply::error(out, text);
        return Next::Reply;
    }
    let offset = ctx.session.offset;
    let replication = &ctx.core.replication;
    let (is_local, acked) = (replication.is_in_file(offset), replication.files_at(offset));
    if acked >= replicas && (is_local || local == 0) || ctx.is_in_script() {
        reply_files(out, is_local, acked);
        return Next::Reply;
    }
    if ctx.may_block() {
        ctx.block(&[], BlockedRequest::Files { offset });
    }
    let replicas = u32::try_from(replicas).unwrap_or(u32::MAX);
    Next::Wait { replicas, timeout, offset, file: Some(local == 1) }
}

/// REPLCONF option value …: a replica introducing itself, or acknowledging.
pub(crate) fn replconf(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if args.len().is_multiple_of(2) {
        reply::error(out, errors::SYNTAX);
        return Next::Reply;
    }
    for index in (1..args.len()).step_by(2) {
        let (option, value) = (args.at(index), args.at(index + 1));
        match option.to_ascii_lowercase().as_slice() {
            b"listening-port" => {
                let Some(port) = integer_or_reply(value, out) else { return Next::Reply };
                ctx.session.listening_port = u16::try_from(port).ok();
            }
            b"ip-address" => ctx.session.announced_ip = Some(String::from_utf8_lossy(value).into_owned()),
            b"capa" => ctx.session.reads_commands |= value.eq_ignore_ascii_case(READS_COMMANDS.as_bytes()),
            b"rdb-only" | b"rdb-filter-only" => {}
            // Neither is ever answered here: ACK needs no answer, GETACK concerns a replica's link to its master.
            b"ack" => {
                acknowledge(ctx, value);
                return Next::Reply;
            }
            b"getack" => return Next::Reply,
            _ => {
                reply::error(out, &[b"ERR Unrecognized REPLCONF option: ", c_string(option)].concat());
                return Next::Reply;
            }
        }
    }
    reply::ok(out);
    Next::Reply
}

fn acknowledge(ctx: &mut Context<'_>, offset: &[u8]) {
    let Some(offset) = integer::parse(offset).and_then(|offset| u64::try_from(offset).ok()) else { return };
    let id = ctx.session.id;
    if let Some(replica) = ctx.core.replication.replicas.iter_mut().find(|replica| replica.session == id) {
        replica.acked = replica.acked.max(offset);
        replica.lag = Duration::ZERO;
    }
}

/// PSYNC replication-id offset.
pub(crate) fn psync(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if is_redis(ctx) {
        return Next::RefusedReplica;
    }
    if !has_data_or_reply(ctx, out) {
        return Next::Reply;
    }
    let Some(offset) = integer_or_reply(args.at(2), out) else { return Next::Reply };
    Next::Psync { id: args.at(1).to_vec(), offset }
}

/// SYNC: what PSYNC was before it.
pub(crate) fn sync(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if is_redis(ctx) {
        return Next::RefusedReplica;
    }
    if has_data_or_reply(ctx, out) { Next::Sync } else { Next::Reply }
}

/// Whether a replica is asking that would take the data set for RDB. Tools that ask by hand announce no port.
fn is_redis(ctx: &Context<'_>) -> bool {
    ctx.session.listening_port.is_some() && !ctx.session.reads_commands
}

fn has_data_or_reply(ctx: &Context<'_>, out: &mut Vec<u8>) -> bool {
    let has_none =
        matches!(ctx.core.replication.role, Role::Replica { link, .. } if link != LinkState::Connected);
    if has_none {
        reply::error(out, b"NOMASTERLINK Can't SYNC while not connected with my master");
    }
    !has_none
}
