//! Messages to whoever listens: SUBSCRIBE and its kin, PUBLISH, SPUBLISH and PUBSUB.
//!
//! A subscription is confirmed, and a message sent, as a push: behind what was sent before, and also to a client that
//! has switched its replies off. To who publishes to itself the message comes before the reply, as in Redis 7.0. What
//! a client misses while it is not connected, nobody keeps.
//!
//! Not modelled: the slots of shard channels. Events of keys are in `notify`.
//!
//! Decision: "A published message goes to subscribers and replicas, never to disk" (docs/decisions/redis.md).

use super::pattern;
use crate::core::context::{Context, LOOK_BYTES};
use crate::core::session::SessionKind;
use crate::core::subscriptions::Topic;
use crate::core::{Next, Session};
use crate::resp::{Args, Protocol, reply};

/// SUBSCRIBE channel …
pub(crate) fn subscribe(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    subscribe_to(Topic::Channel, ctx, args, out)
}

/// PSUBSCRIBE pattern …
pub(crate) fn psubscribe(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    subscribe_to(Topic::Pattern, ctx, args, out)
}

/// SSUBSCRIBE channel …
pub(crate) fn ssubscribe(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    subscribe_to(Topic::ShardChannel, ctx, args, out)
}

/// UNSUBSCRIBE [channel …]
pub(crate) fn unsubscribe(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    unsubscribe_from(Topic::Channel, ctx, args, out)
}

/// PUNSUBSCRIBE [pattern …]
pub(crate) fn punsubscribe(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    unsubscribe_from(Topic::Pattern, ctx, args, out)
}

/// SUNSUBSCRIBE [channel …]
pub(crate) fn sunsubscribe(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    unsubscribe_from(Topic::ShardChannel, ctx, args, out)
}

fn subscribe_to(topic: Topic, ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let words = [b"subscribe".as_slice(), b"psubscribe", b"ssubscribe"];
    for name in args.iter().skip(1) {
        ctx.session.subscribed_bytes += ctx.core.subscriptions.subscribe(ctx.session.id, topic, name);
        confirm(words[topic as usize], topic, Some(name), ctx, out);
    }
    Next::Reply
}

fn unsubscribe_from(topic: Topic, ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let words = [b"unsubscribe".as_slice(), b"punsubscribe", b"sunsubscribe"];
    let word = words[topic as usize];
    let mut end = |ctx: &mut Context<'_>, name: &[u8]| {
        ctx.session.subscribed_bytes -= ctx.core.subscriptions.unsubscribe(ctx.session.id, topic, name);
        confirm(word, topic, Some(name), ctx, out);
    };
    if args.len() > 1 {
        args.iter().skip(1).for_each(|name| end(ctx, name));
        return Next::Reply;
    }
    let names = ctx.core.subscriptions.names_of(ctx.session.id, topic);
    names.iter().for_each(|name| end(ctx, name));
    if names.is_empty() {
        confirm(word, topic, None, ctx, out);
    }
    Next::Reply
}

/// Tells the client what it is subscribed to now.
fn confirm(word: &[u8], topic: Topic, name: Option<&[u8]>, ctx: &mut Context<'_>, out: &mut Vec<u8>) {
    let counts = ctx.core.subscriptions.counts_of(ctx.session.id);
    ctx.session.is_subscribed = counts.all() > 0;
    let protocol = ctx.protocol();
    let mut bytes = Vec::new();
    reply::push(&mut bytes, protocol, 3);
    reply::bulk(&mut bytes, word);
    match name {
        Some(name) => reply::bulk(&mut bytes, name),
        None => reply::null(&mut bytes, protocol),
    }
    reply::integer(&mut bytes, counts.told_with(topic) as i64);
    ctx.push(ctx.session.id, &bytes, out);
}

/// PUBLISH channel message: how many subscriptions it reached.
pub(crate) fn publish(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let (channel, text) = (args.at(1), args.at(2));
    let message = Message { words: &[b"message", channel, text] };
    let mut heard = message.tell(subscribers(ctx, Topic::Channel, channel), ctx, out);
    let mut steps = 0;
    let matching = ctx.core.subscriptions.matching(channel, &mut steps);
    ctx.charge_work(steps * pattern::STEP_BYTES);
    for (pattern, sessions) in matching {
        let message = Message { words: &[b"pmessage", &pattern, channel, text] };
        heard += message.tell(sessions, ctx, out);
    }
    ctx.propagate_to_replicas(args);
    reply::integer(out, heard as i64);
    Next::Reply
}

/// SPUBLISH channel message: how many subscriptions it reached.
pub(crate) fn spublish(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let message = Message { words: &[b"smessage", args.at(1), args.at(2)] };
    let heard = message.tell(subscribers(ctx, Topic::ShardChannel, args.at(1)), ctx, out);
    ctx.propagate_to_replicas(args);
    reply::integer(out, heard as i64);
    Next::Reply
}

fn subscribers(ctx: &Context<'_>, topic: Topic, name: &[u8]) -> Vec<u64> {
    ctx.core.subscriptions.subscribers(topic, name).collect()
}

/// Something to be told.
pub(crate) struct Message<'a> {
    pub(crate) words: &'a [&'a [u8]],
}

impl Message<'_> {
    /// Tells these connections, one after the other; how many there are.
    fn tell(&self, sessions: Vec<u64>, ctx: &mut Context<'_>, out: &mut Vec<u8>) -> usize {
        let mut encoded = [None, None];
        for &session in &sessions {
            let protocol = ctx.protocol_of(session);
            let bytes = encoded[protocol as usize].get_or_insert_with(|| self.encode(protocol));
            ctx.charge_work(bytes.len() as u64 + LOOK_BYTES);
            ctx.push(session, bytes, out);
        }
        sessions.len()
    }

    pub(crate) fn encode(&self, protocol: Protocol) -> Vec<u8> {
        let mut bytes = Vec::new();
        reply::push(&mut bytes, protocol, self.words.len());
        self.words.iter().for_each(|word| reply::bulk(&mut bytes, word));
        bytes
    }
}

/// PUBSUB CHANNELS [pattern]
pub(crate) fn pubsub_channels(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    list(Topic::Channel, ctx, args, out)
}

/// PUBSUB SHARDCHANNELS [pattern]
pub(crate) fn pubsub_shardchannels(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    list(Topic::ShardChannel, ctx, args, out)
}

fn list(topic: Topic, ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    if args.len() > 3 {
        let name = args.at(1);
        let text =
            [b"ERR unknown subcommand or wrong number of arguments for '", name, b"'. Try PUBSUB HELP."];
        reply::error(out, &text.concat());
        return Next::Reply;
    }
    let mut steps = 0;
    let wanted = args.get(2);
    let names = ctx.core.subscriptions.names(topic);
    let looked_at = names.len() as u64 * LOOK_BYTES;
    let is_wanted =
        |name: &&[u8]| wanted.is_none_or(|wanted| pattern::matches_in_steps(wanted, name, &mut steps));
    let names: Vec<&[u8]> = names.filter(is_wanted).collect();
    let start = out.len();
    reply::array(out, names.len());
    names.iter().for_each(|name| reply::bulk(out, name));
    ctx.charge_work(looked_at + steps * pattern::STEP_BYTES);
    ctx.is_too_long(out, start);
    Next::Reply
}

/// PUBSUB NUMSUB [channel …]
pub(crate) fn pubsub_numsub(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    count(Topic::Channel, ctx, args, out)
}

/// PUBSUB SHARDNUMSUB [channel …]
pub(crate) fn pubsub_shardnumsub(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    count(Topic::ShardChannel, ctx, args, out)
}

fn count(topic: Topic, ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply::array(out, 2 * (args.len() - 2));
    for name in args.iter().skip(2) {
        reply::bulk(out, name);
        reply::integer(out, ctx.core.subscriptions.count(topic, name) as i64);
    }
    Next::Reply
}

/// PUBSUB NUMPAT: how many patterns there are, however many listen.
pub(crate) fn pubsub_numpat(ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply::integer(out, ctx.core.subscriptions.names(Topic::Pattern).len() as i64);
    Next::Reply
}

/// PUBSUB HELP, in words of our own.
pub(crate) fn pubsub_help(_ctx: &mut Context<'_>, _args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    reply::array(out, HELP.len());
    HELP.iter().for_each(|line| reply::status(out, line.as_bytes()));
    Next::Reply
}

const HELP: [&str; 13] = [
    "PUBSUB <subcommand> [<argument> ...]",
    "CHANNELS [<pattern>]",
    "    Lists the channels that have subscribers: all, or those that match.",
    "NUMPAT",
    "    Counts the patterns that have subscribers.",
    "NUMSUB [<channel> ...]",
    "    Counts the subscribers of each channel, without those of patterns.",
    "SHARDCHANNELS [<pattern>]",
    "    Lists the shard channels that have subscribers: all, or those that match.",
    "SHARDNUMSUB [<channel> ...]",
    "    Counts the subscribers of each shard channel.",
    "HELP",
    "    Shows this.",
];

impl Context<'_> {
    /// Sends a connection what it did not ask for, or what is no reply. The client whose command is executed gets it
    /// where its replies are.
    fn push(&mut self, session: u64, bytes: &[u8], out: &mut Vec<u8>) {
        if self.is_own(session) && self.session.is_answered() {
            out.extend_from_slice(bytes);
        } else {
            self.core.push(session, bytes);
        }
    }

    /// The messages that a script of this client's has sent it: they come before the script's reply. Replies that are
    /// switched off are taken away later, and with them what stood among them.
    pub(crate) fn own_pushes(&mut self) -> Vec<u8> {
        let mut pushed = Vec::new();
        if self.is_own(self.session.id) && self.session.is_answered() {
            self.core.take_own_pushes(self.session.id, &mut pushed);
        }
        pushed
    }

    fn protocol_of(&self, session: u64) -> Protocol {
        match self.core.clients.get(&session) {
            Some(client) if !self.is_own(session) => client.protocol(),
            _ => self.session.protocol,
        }
    }

    fn is_own(&self, session: u64) -> bool {
        self.session.kind == SessionKind::Client && self.session.id == session
    }
}

impl crate::core::Core {
    /// Ends all subscriptions of a client, without a word.
    pub(crate) fn unsubscribe_all(&mut self, session: &mut Session) {
        self.subscriptions.forget(session.id);
        session.is_subscribed = false;
        session.subscribed_bytes = 0;
    }
}
