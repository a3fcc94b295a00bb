//! Limits on what clients and masters can make a node hold: `maxclients`, `maxmemory` and the buffer limits, as
//! redis.conf writes them and CONFIG GET and SET show them.
//!
//! `maxmemory` is compared with keys, values and scripts, each as long as it is, `maxmemory-clients` with the buffers
//! of connections that hold much. Redis compares the former with all that its allocator gave out, buffers included.
//! Within a transaction it is looked at before every command; Redis looks when commands are queued and at EXEC, and one
//! EXEC can take as much as its queue asks for.
//!
//! Not modelled: that a full node evicts by itself (the policy is always `noeviction`); what eviction leaves is in
//! `eviction.rs`.
//!
//! Decision: "A served node has memory limits; a simulated node has Redis's defaults" (docs/decisions/redis.md).

use std::time::Duration;

use crate::resp::integer;

/// `client-output-buffer-limit` of one class of clients. Zeroes: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputLimit {
    /// A connection with more than this waiting to be sent is closed.
    pub hard: u64,
    /// So is one with more than this …
    pub soft: u64,
    /// … for longer than this.
    pub soft_time: Duration,
}

impl OutputLimit {
    /// Whether this much may not wait to be sent.
    pub fn is_exceeded_by(&self, bytes: u64) -> bool {
        self.hard > 0 && bytes > self.hard
    }

    /// For how long this much may wait to be sent, if there is a limit.
    pub fn patience(&self, bytes: u64) -> Option<Duration> {
        (self.soft > 0 && bytes > self.soft).then_some(self.soft_time)
    }

    fn text(&self) -> String {
        format!("{} {} {}", self.hard, self.soft, self.soft_time.as_secs())
    }
}

/// A node's limits. `Default` is redis.conf's, but for the query buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `maxclients`: more connections are told so and closed.
    pub max_clients: u32,
    /// `maxmemory`, bytes: commands that could take more are refused beyond it. 0: no limit.
    pub max_memory: u64,
    /// `maxmemory-clients`, bytes: a connection that makes all of them hold more is closed. (Redis closes the one that
    /// holds most.) 0: no limit.
    pub max_memory_clients: u64,
    /// The same as a share of `maxmemory`, in percent; 0: it is none.
    pub client_memory_percent: u8,
    /// `client-query-buffer-limit`: a connection with more than this of an unfinished request, or of a queued
    /// transaction, is closed. Redis' default is 1 GiB, which is the most here; a simulation keeps hundreds of
    /// connections in one process.
    pub query_buffer: u64,
    /// `client-output-buffer-limit normal`.
    pub output: OutputLimit,
    /// `client-output-buffer-limit replica`.
    pub replica_output: OutputLimit,
    /// `client-output-buffer-limit pubsub`: of clients that have subscribed to something.
    pub pubsub_output: OutputLimit,
}

const MB: u64 = 1 << 20;
/// What Redis allows for the query buffer at least, and what its offsets can address here.
const QUERY_BUFFER: std::ops::RangeInclusive<u64> = MB..=1 << 30;

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_clients: 10_000,
            max_memory: 0,
            max_memory_clients: 0,
            client_memory_percent: 0,
            query_buffer: 64 * MB,
            output: OutputLimit::default(),
            replica_output: OutputLimit { hard: 256 * MB, soft: 64 * MB, soft_time: Duration::from_secs(60) },
            pubsub_output: OutputLimit { hard: 32 * MB, soft: 8 * MB, soft_time: Duration::from_secs(60) },
        }
    }
}

impl Limits {
    /// What may wait to be sent to a client.
    pub(crate) fn output_of(&self, is_subscribed: bool) -> OutputLimit {
        if is_subscribed { self.pubsub_output } else { self.output }
    }

    /// Names and values as CONFIG GET shows them.
    pub(crate) fn settings(&self) -> [(&'static str, String); 5] {
        let (normal, replica) = (self.output.text(), self.replica_output.text());
        let pubsub = self.pubsub_output.text();
        [
            ("client-output-buffer-limit", format!("normal {normal} slave {replica} pubsub {pubsub}")),
            ("client-query-buffer-limit", self.query_buffer.to_string()),
            ("maxclients", self.max_clients.to_string()),
            ("maxmemory", self.max_memory.to_string()),
            ("maxmemory-clients", self.client_memory_text()),
        ]
    }

    /// Sets one of the limits as CONFIG SET does; `Ok(false)` if the name is none of them.
    ///
    /// # Errors
    /// When the value is not one that Redis would take.
    pub fn set(&mut self, name: &str, value: &str) -> Result<bool, &'static str> {
        let bytes = || memory(value).ok_or("argument must be a memory value");
        match name {
            "maxclients" => {
                let count = integer::parse(value.as_bytes());
                let count = count.ok_or("argument couldn't be parsed into an integer")?;
                let count = u32::try_from(count).ok().filter(|&count| count > 0);
                self.max_clients = count.ok_or("argument must be between 1 and 4294967295 inclusive")?;
            }
            "maxmemory" => self.max_memory = bytes()?,
            "maxmemory-clients" => self.set_client_memory(value)?,
            "client-query-buffer-limit" => {
                let limit = Some(bytes()?).filter(|limit| QUERY_BUFFER.contains(limit));
                self.query_buffer =
                    limit.ok_or("argument must be between 1048576 and 1073741824 inclusive")?;
            }
            "client-output-buffer-limit" => self.set_output(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn set_client_memory(&mut self, value: &str) -> Result<(), &'static str> {
        let share = value.strip_suffix('%').and_then(|share| share.parse::<u64>().ok());
        match (share, memory(value)) {
            (Some(101..), _) => return Err("percentage argument must be less or equal to 100"),
            (Some(share), _) => (self.client_memory_percent, self.max_memory_clients) = (share as u8, 0),
            (None, Some(bytes)) => (self.client_memory_percent, self.max_memory_clients) = (0, bytes),
            (None, None) => return Err("argument must be a memory or percent value"),
        }
        Ok(())
    }

    fn client_memory_text(&self) -> String {
        match self.client_memory_percent {
            0 => self.max_memory_clients.to_string(),
            share => format!("{share}%"),
        }
    }

    /// What `maxmemory-clients` allows all connections together; 0: no limit.
    pub(crate) fn client_memory(&self) -> u64 {
        match self.client_memory_percent {
            0 => self.max_memory_clients,
            share => self.max_memory / 100 * u64::from(share),
        }
    }

    fn set_output(&mut self, value: &str) -> Result<(), &'static str> {
        let words: Vec<&str> = value.split_ascii_whitespace().collect();
        let classes = words.chunks_exact(4);
        if words.is_empty() || !classes.remainder().is_empty() {
            return Err("Wrong number of arguments in buffer limit configuration.");
        }
        let mut changed = self.clone();
        for class in classes {
            let [name, hard, soft, seconds] = class else { continue };
            let limit = (|| {
                let soft_time = Duration::from_secs(seconds.parse().ok()?);
                Some(OutputLimit { hard: memory(hard)?, soft: memory(soft)?, soft_time })
            })();
            let limit =
                limit.ok_or("Error in hard, soft or soft_seconds setting in buffer limit configuration.")?;
            match name.to_ascii_lowercase().as_str() {
                "normal" => changed.output = limit,
                "replica" | "slave" => changed.replica_output = limit,
                "pubsub" => changed.pubsub_output = limit,
                _ => return Err("Invalid client class specified in buffer limit configuration."),
            }
        }
        *self = changed;
        Ok(())
    }
}

/// An amount of memory as redis.conf writes it: `100`, `64kb`, `256mb`, `1gb`, or with `k`, `m`, `g` for powers of
/// 1000.
pub(super) fn memory(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" => 1_000,
        "kb" => 1 << 10,
        "m" => 1_000_000,
        "mb" => 1 << 20,
        "g" => 1_000_000_000,
        "gb" => 1 << 30,
        _ => return None,
    };
    let count = u64::try_from(integer::parse(digits.as_bytes())?).ok()?;
    count.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_written_as_in_redis_conf() {
        let cases = [
            ("0", Some(0)),
            ("100", Some(100)),
            ("1k", Some(1_000)),
            ("1Kb", Some(1024)),
            ("256mb", Some(256 << 20)),
            ("2gb", Some(2 << 30)),
            ("mb", None),
            ("-1", None),
            ("1tb", None),
            ("18446744073709551615gb", None),
        ];
        for (text, bytes) in cases {
            assert_eq!(memory(text), bytes, "{text}");
        }
    }

    #[test]
    fn a_bad_output_limit_changes_nothing() {
        let mut limits = Limits::default();
        for bad in ["", "normal 1 2", "normal 1mb x 0", "other 0 0 0", "normal 1mb 0 0 replica 1 2"] {
            assert!(limits.set("client-output-buffer-limit", bad).is_err(), "{bad}");
        }
        assert_eq!(limits, Limits::default());
        assert_eq!(limits.set("client-output-buffer-limit", "replica 1mb 2kb 3"), Ok(true));
        assert_eq!(limits.replica_output.text(), "1048576 2048 3");
    }
}
