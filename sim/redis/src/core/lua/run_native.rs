//! The native scripts of locks in Rust: what their Lua does, without Lua.
//!
//! Each calls the same commands with the same arguments, in the same order and through the same door ([`Caller`]), so
//! data, replication, the file, the observer and the replies are those of the script, errors included. Where the
//! script's limits or the size of what it handles could matter, and where an argument is missing, Lua runs
//! ([`NativeScript::can_stand_in`]). Two tests compare: every scenario of the catalogue with and without native
//! scripts, and these scripts against a real Redis.
//!
//! Decision: "The scripts of our own locks run in Rust, with the same result as in Lua" (docs/decisions/redis.md).

use super::call::Call;
use super::caller::Caller;
use super::convert;
use super::limits::LIGHT_MEMORY;
use super::native_scripts::{NativeBuffers, NativeScript};
use super::script::Script;
use crate::core::keyspace::Value;
use crate::core::{Core, ScriptLimit, Session, WallMicros};
use crate::resp::{OwnedArgs, integer, reply};

/// Most bytes of arguments, and of a value that is compared: what Lua would charge for them is next to nothing.
const SMALL: usize = 4 << 10;
/// More instructions than any script here costs, even if every client there can be watches its key.
const ENOUGH: u64 = 1_000_000;

fn compare_and_delete(node: &mut Running<'_>) -> Result<Option<i64>, Raised> {
    let (key, token) = (node.key(1), node.argument(1));
    node.call(&[b"GET", key])?;
    if node.bulk() != Some(token) {
        return Ok(Some(0));
    }
    node.call(&[b"DEL", key])?;
    Ok(Some(node.integer()))
}

fn extend(node: &mut Running<'_>) -> Result<Option<i64>, Raised> {
    let (key, token, ttl) = (node.key(1), node.argument(1), node.argument(2));
    node.call(&[b"GET", key])?;
    if node.bulk() != Some(token) {
        return Ok(Some(0));
    }
    node.call(&[b"PEXPIRE", key, ttl])?;
    Ok(Some(node.integer()))
}

fn extend_or_set(node: &mut Running<'_>) -> Result<Option<i64>, Raised> {
    let (key, token, ttl) = (node.key(1), node.argument(1), node.argument(2));
    node.call(&[b"GET", key])?;
    match node.bulk() {
        Some(value) if value == token => {
            node.call(&[b"PEXPIRE", key, ttl])?;
            Ok(Some(node.integer()))
        }
        Some(_) => Ok(Some(0)),
        None => {
            node.call(&[b"SET", key, token, b"NX", b"PX", ttl])?;
            Ok(Some(1))
        }
    }
}

fn claim_fenced(node: &mut Running<'_>) -> Result<Option<i64>, Raised> {
    let (key, counter, token, ttl) = (node.key(1), node.key(2), node.argument(1), node.argument(2));
    node.call(&[b"EXISTS", key])?;
    if node.integer() == 1 {
        return Ok(None);
    }
    node.call(&[b"INCR", counter])?;
    let number = node.integer();
    node.call(&[b"SET", key, token, b"NX", b"PX", ttl])?;
    Ok(Some(number))
}

/// A command's error, raised: its text is the running script's reply.
struct Raised;

/// A script under way.
struct Running<'a> {
    core: &'a mut Core,
    caller: Caller,
    call: Call<'a>,
    request: OwnedArgs,
    reply: Vec<u8>,
}

impl<'a> Running<'a> {
    /// KEYS, counted from 1 as Lua does.
    fn key(&self, number: usize) -> &'a [u8] {
        self.call.args.at(2 + number)
    }

    /// ARGV, counted from 1 as Lua does.
    fn argument(&self, number: usize) -> &'a [u8] {
        self.call.args.at(2 + self.call.keys + number)
    }

    /// `redis.call`.
    fn call(&mut self, words: &[&[u8]]) -> Result<(), Raised> {
        self.request.clear();
        words.iter().for_each(|word| self.request.push(word));
        self.reply.clear();
        if let Err(text) = self.caller.execute(self.core, &self.request.args(), &mut self.reply) {
            reply::error(&mut self.reply, text);
        }
        if self.reply.starts_with(b"-") { Err(Raised) } else { Ok(()) }
    }

    /// The last reply, if it is a bulk string.
    fn bulk(&self) -> Option<&[u8]> {
        let (head, rest) = self.reply.split_at(self.reply.iter().position(|&byte| byte == b'\n')? + 1);
        let is_bulk = head.starts_with(b"$") && !head.starts_with(b"$-");
        rest.strip_suffix(b"\r\n").filter(|_| is_bulk)
    }

    /// The last reply, an integer, as it comes out of Lua, whose numbers are doubles.
    fn integer(&self) -> i64 {
        let digits = self.reply.strip_prefix(b":").and_then(|rest| rest.strip_suffix(b"\r\n"));
        convert::truncate(digits.and_then(integer::parse).unwrap_or(-1) as f64)
    }
}

impl NativeScript {
    /// What the script returns: an integer, or `false`. `Err`: the error that a command answered with.
    fn execute(self, node: &mut Running<'_>) -> Result<Option<i64>, Raised> {
        match self {
            NativeScript::CompareAndDelete => compare_and_delete(node),
            NativeScript::Extend => extend(node),
            NativeScript::ExtendOrSet => extend_or_set(node),
            NativeScript::ClaimFenced => claim_fenced(node),
        }
    }

    /// Whether nobody can tell whether Lua ran.
    fn can_stand_in(self, core: &Core, session: &Session, call: &Call<'_>, size: usize) -> bool {
        let config = core.config();
        let is_long_enough = match config.script_limit {
            ScriptLimit::Instructions(all) => all >= ENOUGH,
            ScriptLimit::Time(_) => !config.busy_reply_threshold.is_zero(),
        };
        let value = core.databases[session.db].get(call.args.at(3)).map(|entry| &entry.value);
        let (keys, arguments) = self.least_counts();
        let has_all = call.keys >= keys && call.args.len() >= 3 + call.keys + arguments;
        let is_small = size <= SMALL
            && call.args.len() <= SMALL
            && value.and_then(Value::as_string).is_none_or(|value| value.len() <= SMALL);
        config.native_scripts
            && is_long_enough
            && config.script_memory_limit >= LIGHT_MEMORY
            && has_all
            && is_small
    }

    /// Runs in the script's place and writes its reply; false, and nothing is done, if Lua has to.
    pub(super) fn run(
        self,
        core: &mut Core,
        session: &Session,
        now: WallMicros,
        script: &Script,
        call: Call<'_>,
        out: &mut Vec<u8>,
    ) -> bool {
        let size = call.args.iter().map(<[u8]>::len).sum();
        if !self.can_stand_in(core, session, &call, size) {
            return false;
        }
        let NativeBuffers { request, reply } = std::mem::take(&mut core.native_buffers);
        let mut running = Running {
            core,
            caller: Caller::new(session, now, call.read_only, call.lookup),
            call,
            request,
            reply,
        };
        match self.execute(&mut running) {
            Ok(Some(number)) => reply::integer(out, number),
            Ok(None) => reply::null(out, session.protocol),
            Err(Raised) => {
                let text = convert::error_text(&running.reply).unwrap_or_default().to_vec();
                reply::error(out, &convert::with_place(text, script, b"@user_script", 1));
            }
        }
        let Running { core, request, reply, .. } = running;
        core.native_buffers = NativeBuffers { request, reply };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::lua::digest::digest;
    use crate::core::{CoreConfig, ReplicationId, commands};

    fn core(config: CoreConfig) -> Core {
        Core::new(config, [1; 20], ReplicationId([2; 20]))
    }

    /// Whether the n-th native script runs when called like this.
    fn runs(core: &mut Core, index: usize, keys: usize, call: &[&str]) -> bool {
        let source = NativeScript::ALL[index].source().as_bytes();
        let script = Script::parse(source, digest(source)).expect("it has no flags");
        let args: OwnedArgs = call.iter().collect();
        let call = Call { args: &args.args(), keys, read_only: false, lookup: commands::lookup };
        let found = script.native.expect("it is known by its name");
        found.run(core, &Session::default(), WallMicros(0), &script, call, &mut Vec::new())
    }

    #[test]
    fn what_locks_send_runs_without_lua() {
        let mut core = core(CoreConfig::default());
        assert!(runs(&mut core, 0, 1, &["EVALSHA", "sha", "1", "stock", "token"]));
        assert!(runs(&mut core, 1, 1, &["EVALSHA", "sha", "1", "stock", "token", "10000"]));
        assert!(runs(&mut core, 2, 1, &["EVALSHA", "sha", "1", "stock", "token", "10000"]));
        assert!(runs(&mut core, 3, 2, &["EVALSHA", "sha", "2", "stock", "count", "token", "10000"]));
    }

    #[test]
    fn what_is_unusual_is_left_to_lua() {
        let long = "x".repeat(SMALL);
        let mut usual = core(CoreConfig::default());
        assert!(!runs(&mut usual, 0, 0, &["EVALSHA", "sha", "0", "token"]), "no key");
        assert!(!runs(&mut usual, 1, 1, &["EVALSHA", "sha", "1", "stock", "token"]), "no lifetime");
        assert!(!runs(&mut usual, 0, 1, &["EVALSHA", "sha", "1", "stock", &long]), "a long token");
        usual.databases[0].set_string(b"stock", format!("{long}x").as_bytes(), None);
        assert!(!runs(&mut usual, 0, 1, &["EVALSHA", "sha", "1", "stock", "token"]), "a long value");
        let release = ["EVALSHA", "sha", "1", "other", "token"];
        assert!(runs(&mut usual, 0, 1, &release), "the long one is another's");
        let configs = [
            CoreConfig { native_scripts: false, ..CoreConfig::default() },
            CoreConfig { script_limit: ScriptLimit::Instructions(ENOUGH - 1), ..CoreConfig::default() },
            CoreConfig { script_memory_limit: LIGHT_MEMORY - 1, ..CoreConfig::default() },
        ];
        for config in configs {
            assert!(!runs(&mut core(config), 0, 1, &release));
        }
    }
}
