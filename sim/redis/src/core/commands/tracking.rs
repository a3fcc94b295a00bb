//! CLIENT TRACKING, TRACKINGINFO, CACHING and GETREDIR: what a client wants to be told of keys that it has cached.

use super::integer_or_reply;
use crate::core::context::{Context, c_string};
use crate::core::state::{Options, Tracked};
use crate::core::{Next, errors};
use crate::resp::{Args, reply};

/// CLIENT TRACKING ON|OFF [REDIRECT id] [PREFIX prefix …] [BCAST] [OPTIN] [OPTOUT] [NOLOOP].
pub(crate) fn client_tracking(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    match read(ctx, args, out) {
        None => return Next::Reply,
        Some(asked) if args.at(2).eq_ignore_ascii_case(b"on") => {
            if let Err(text) = check(ctx, &asked) {
                reply::error(out, &text);
                return Next::Reply;
            }
            let TrackingRequest { redirect, options, prefixes } = asked;
            ctx.core.tracking.enable(ctx.session.id, redirect, options, &prefixes);
        }
        Some(_) if args.at(2).eq_ignore_ascii_case(b"off") => ctx.core.tracking.disable(ctx.session.id),
        Some(_) => {
            reply::error(out, errors::SYNTAX);
            return Next::Reply;
        }
    }
    reply::ok(out);
    Next::Reply
}

#[derive(Default)]
struct TrackingRequest<'a> {
    redirect: u64,
    options: Options,
    prefixes: Vec<&'a [u8]>,
}

fn read<'a>(ctx: &Context<'_>, args: &Args<'a>, out: &mut Vec<u8>) -> Option<TrackingRequest<'a>> {
    let (mut asked, mut index) = (TrackingRequest::default(), 3);
    while let Some(option) = args.get(index) {
        let value = args.get(index + 1);
        match (option.to_ascii_lowercase().as_slice(), value) {
            (b"redirect", Some(id)) => {
                asked.redirect = redirect_or_reply(ctx, asked.redirect, id, out)?;
                index += 1;
            }
            (b"prefix", Some(prefix)) => {
                asked.prefixes.push(prefix);
                index += 1;
            }
            (b"bcast", _) => asked.options.bcast = true,
            (b"optin", _) => asked.options.optin = true,
            (b"optout", _) => asked.options.optout = true,
            (b"noloop", _) => asked.options.noloop = true,
            _ => {
                reply::error(out, errors::SYNTAX);
                return None;
            }
        }
        index += 1;
    }
    Some(asked)
}

fn redirect_or_reply(ctx: &Context<'_>, earlier: u64, id: &[u8], out: &mut Vec<u8>) -> Option<u64> {
    if earlier != 0 {
        reply::error(out, b"ERR A client can only redirect to a single other client");
        return None;
    }
    let id = u64::try_from(integer_or_reply(id, out)?).ok().filter(|id| ctx.core.clients.contains_key(id));
    if id.is_none() {
        reply::error(out, b"ERR The client ID you want redirect to does not exist");
    }
    id
}

/// Whether these options go together, and with what there is. `Err`: the error reply.
fn check(ctx: &Context<'_>, asked: &TrackingRequest<'_>) -> Result<(), Vec<u8>> {
    let Options { bcast, optin, optout, .. } = asked.options;
    let now = ctx.core.tracking.client(ctx.session.id).map(|tracked| tracked.options);
    let why: &[u8] = if !bcast && !asked.prefixes.is_empty() {
        b"ERR PREFIX option requires BCAST mode to be enabled"
    } else if now.is_some_and(|now| now.bcast != bcast) {
        b"ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it \
          with a different mode."
    } else if bcast && (optin || optout) {
        b"ERR OPTIN and OPTOUT are not compatible with BCAST"
    } else if optin && optout {
        b"ERR You can't specify both OPTIN mode and OPTOUT mode"
    } else if now.is_some_and(|now| optin && now.optout || optout && now.optin) {
        b"ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it \
          with a different mode."
    } else {
        return if bcast { check_prefixes(ctx, &asked.prefixes) } else { Ok(()) };
    };
    Err(why.to_vec())
}

/// No two prefixes may mean the same key.
fn check_prefixes(ctx: &Context<'_>, prefixes: &[&[u8]]) -> Result<(), Vec<u8>> {
    let overlap = |a: &[u8], b: &[u8]| a.starts_with(b) || b.starts_with(a);
    let refusal = |prefix: &[u8], kind: &[u8], other: &[u8]| {
        let text =
            [b"ERR Prefix '", c_string(prefix), b"' overlaps with ", kind, b" prefix '", c_string(other)];
        [text.concat().as_slice(), b"'. Prefixes for a single client must not overlap."].concat()
    };
    for (index, prefix) in prefixes.iter().enumerate() {
        if let Some(other) =
            ctx.core.tracking.prefixes_of(ctx.session.id).find(|other| overlap(prefix, other))
        {
            return Err(refusal(prefix, b"an existing", other));
        }
        if let Some(other) = prefixes[index + 1..].iter().find(|other| overlap(prefix, other)) {
            return Err(refusal(prefix, b"another provided", other));
        }
    }
    Ok(())
}

/// CLIENT CACHING YES|NO: about what the next command reads.
pub(crate) fn client_caching(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let Some(tracked) = ctx.core.tracking.client_mut(ctx.session.id) else {
        reply::error(
            out,
            b"ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT \
              mode enabled",
        );
        return Next::Reply;
    };
    let why: &[u8] = match args.at(2).to_ascii_lowercase().as_slice() {
        b"yes" if tracked.options.optin => b"",
        b"yes" => b"ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.",
        b"no" if tracked.options.optout => b"",
        b"no" => b"ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.",
        _ => errors::SYNTAX,
    };
    if why.is_empty() {
        tracked.caching = true;
        reply::ok(out);
    } else {
        reply::error(out, why);
    }
    Next::Reply
}

/// CLIENT GETREDIR: the connection that is told; 0 is this one, -1 nobody.
pub(crate) fn client_getredir(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply::integer(out, redirect_of(ctx.core.tracking.client(ctx.session.id)));
    Next::Reply
}

/// The same for any connection.
pub(super) fn redirect_of(tracked: Option<&Tracked>) -> i64 {
    tracked.map_or(-1, |tracked| tracked.redirect as i64)
}

/// CLIENT TRACKINGINFO.
pub(crate) fn client_trackinginfo(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let protocol = ctx.protocol();
    let tracking = &ctx.core.tracking;
    let tracked = tracking.client(ctx.session.id);
    let flags = flags(tracked);
    reply::map(out, protocol, 3);
    reply::bulk(out, b"flags");
    reply::set(out, protocol, flags.len());
    flags.iter().for_each(|flag| reply::bulk(out, flag.as_bytes()));
    reply::bulk(out, b"redirect");
    reply::integer(out, redirect_of(tracked));
    let prefixes: Vec<&[u8]> = tracking.prefixes_of(ctx.session.id).collect();
    reply::bulk(out, b"prefixes");
    reply::array(out, prefixes.len());
    prefixes.iter().for_each(|prefix| reply::bulk(out, prefix));
    Next::Reply
}

fn flags(tracked: Option<&Tracked>) -> Vec<&'static str> {
    let Some(Tracked { options, caching, is_broken, .. }) = tracked else { return vec!["off"] };
    let flags = [
        (true, "on"),
        (options.bcast, "bcast"),
        (options.optin, "optin"),
        (options.optin && *caching, "caching-yes"),
        (options.optout, "optout"),
        (options.optout && *caching, "caching-no"),
        (options.noloop, "noloop"),
        (*is_broken, "broken_redirect"),
    ];
    flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name).collect()
}
