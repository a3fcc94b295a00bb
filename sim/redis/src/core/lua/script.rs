//! A script's source and what its first line says about it.

use super::native_scripts::NativeScript;
use crate::core::errors;

/// A script in a node's cache.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) sha: [u8; 20],
    pub(crate) source: Vec<u8>,
    /// The native script that does the same without Lua.
    pub(super) native: Option<NativeScript>,
    /// It has a `#!lua` line: then its flags are binding.
    pub(super) has_shebang: bool,
    /// `flags=no-writes`.
    pub(super) no_writes: bool,
    /// `flags=allow-stale`.
    allows_stale: bool,
    /// `flags=allow-oom`.
    allows_oom: bool,
}

impl Script {
    /// Reads the `#!lua flags=…` line, if there is one.
    ///
    /// # Errors
    /// The reply's text, for a line Redis would refuse.
    pub(crate) fn parse(source: &[u8], sha: [u8; 20]) -> Result<Script, Vec<u8>> {
        let mut script = Script {
            sha,
            source: source.to_vec(),
            native: NativeScript::from_sha(&sha),
            has_shebang: false,
            no_writes: false,
            allows_stale: false,
            allows_oom: false,
        };
        if !source.starts_with(b"#!") {
            return Ok(script);
        }
        let Some(end) = source.iter().position(|&byte| byte == b'\n') else {
            return Err(b"ERR Invalid script shebang".to_vec());
        };
        let mut words = source[..end].split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let engine = words.next().unwrap_or_default();
        if engine != b"#!lua" {
            return Err([b"ERR Unexpected engine in script shebang: ", engine].concat());
        }
        for word in words {
            let Some(flags) = word.strip_prefix(b"flags=") else {
                return Err([b"ERR Unknown lua shebang option: ", word].concat());
            };
            for flag in flags.split(|&byte| byte == b',').filter(|_| !flags.is_empty()) {
                match flag {
                    b"no-writes" => script.no_writes = true,
                    b"allow-stale" => script.allows_stale = true,
                    b"allow-oom" => script.allows_oom = true,
                    b"no-cluster" | b"allow-cross-slot-keys" => {}
                    other => return Err([b"ERR Unexpected flag in script shebang: ", other].concat()),
                }
            }
        }
        script.has_shebang = true;
        // Lua does not know the line; its line break keeps the other lines' numbers right.
        script.source.drain(..end);
        Ok(script)
    }
}

/// What a `#!lua` line declares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared {
    /// It lacks `no-writes`.
    pub(crate) writes: bool,
    /// It has `allow-stale`.
    pub(crate) allows_stale: bool,
    /// It lacks both that and `allow-oom`: a full node does not begin it.
    pub(crate) grows: bool,
}

impl Script {
    /// What the script's first line declares, if it has such a line.
    pub(crate) fn declared_flags(&self) -> Option<Declared> {
        let (writes, grows) = (!self.no_writes, !self.no_writes && !self.allows_oom);
        self.has_shebang.then_some(Declared { writes, allows_stale: self.allows_stale, grows })
    }

    /// Why the script may not even start: what it declared, against the node's state. `cannot_write` is the node's.
    pub(crate) fn refusal(
        &self,
        cannot_write: Option<&'static [u8]>,
        is_stale: bool,
        read_only: bool,
    ) -> Option<&'static [u8]> {
        match self.has_shebang {
            false if is_stale => return Some(errors::MASTER_DOWN),
            true if is_stale && !self.allows_stale => {
                return Some(
                    b"MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to 'no' \
                      and 'allow-stale' flag is not set on the script.",
                );
            }
            _ => {}
        }
        // Without a shebang nothing was declared: its commands are checked one by one.
        if !self.has_shebang || self.no_writes {
            return None;
        }
        if read_only {
            return Some(b"ERR Can not execute a script with write flag using *_ro command.");
        }
        match cannot_write {
            Some(why) if why.starts_with(b"READONLY") => {
                Some(b"READONLY Can not run script with write flag on readonly replica.")
            }
            other => other,
        }
    }
}
