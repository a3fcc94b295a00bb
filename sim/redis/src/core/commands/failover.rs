//! FAILOVER, up to where a Redis would begin one: its errors are told in the order in which a Redis finds them.
//!
//! Not modelled: the failover itself. A node has none in progress, ever.

use super::integer_or_reply;
use crate::core::context::Context;
use crate::core::{Next, Replication, errors};
use crate::resp::{Args, reply};

/// What a failover would do.
#[derive(Default)]
struct Request<'a> {
    target: Option<(&'a [u8], i64)>,
    timeout_ms: i64,
    is_forced: bool,
}

/// FAILOVER [TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds].
pub(crate) fn failover(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if args.len() == 2 && args.at(1).eq_ignore_ascii_case(b"ABORT") {
        reply::error(out, b"ERR No failover in progress.");
    } else if let Some(request) = parse(args, out) {
        reply::error(out, refusal(&ctx.core.replication, &request));
    }
    Next::Reply
}

/// What is asked for; `None` where the error is in `out`.
fn parse<'a>(args: &Args<'a>, out: &mut Vec<u8>) -> Option<Request<'a>> {
    let (mut request, mut index) = (Request::default(), 1);
    while let Some(word) = args.get(index) {
        let follow = args.len() - index - 1;
        if word.eq_ignore_ascii_case(b"TIMEOUT") && follow >= 1 && request.timeout_ms == 0 {
            request.timeout_ms = integer_or_reply(args.at(index + 1), out)?;
            if request.timeout_ms <= 0 {
                reply::error(out, b"ERR FAILOVER timeout must be greater than 0");
                return None;
            }
            index += 1;
        } else if word.eq_ignore_ascii_case(b"TO") && follow >= 2 && request.target.is_none() {
            request.target = Some((args.at(index + 1), integer_or_reply(args.at(index + 2), out)?));
            index += 2;
        } else if word.eq_ignore_ascii_case(b"FORCE") && !request.is_forced {
            request.is_forced = true;
        } else {
            reply::error(out, errors::SYNTAX);
            return None;
        }
        index += 1;
    }
    Some(request)
}

/// Why there is no failover.
fn refusal(replication: &Replication, request: &Request<'_>) -> &'static [u8] {
    if replication.is_replica() {
        return b"ERR FAILOVER is not valid when server is a replica.";
    }
    if replication.replicas.is_empty() {
        return b"ERR FAILOVER requires connected replicas.";
    }
    if request.is_forced && (request.timeout_ms == 0 || request.target.is_none()) {
        return b"ERR FAILOVER with force option requires both a timeout and target HOST and IP.";
    }
    if let Some((host, port)) = request.target {
        let mut replicas = replication.replicas.iter();
        let target = replicas.find(|replica| {
            replica.ip.as_bytes().eq_ignore_ascii_case(host) && i64::from(replica.port) == port
        });
        match target {
            None => return b"ERR FAILOVER target HOST and PORT is not a replica.",
            Some(replica) if !replica.online => return b"ERR FAILOVER target replica is not online.",
            Some(_) => {}
        }
    }
    b"ERR this node of doublehold has no FAILOVER: send the replica REPLICAOF NO ONE, then send this node REPLICAOF \
        with the replica's host and port"
}
