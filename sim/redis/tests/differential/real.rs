//! A real redis-server of the test's own: found on PATH, started on a free loopback port in a directory of its own, and
//! killed when the test ends, also by a panic.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::client::{Clients, End};
use super::say;

/// A running redis-server; killed when dropped.
pub(crate) struct RealRedis {
    process: Child,
    directory: PathBuf,
    /// Where it listens.
    pub(crate) port: u16,
    /// What it says it is, such as `7.0.15`.
    pub(crate) version: String,
}

impl RealRedis {
    /// Starts the redis-server on PATH.
    ///
    /// # Errors
    /// Why there is none to compare with, in words: not installed, not a 7.0.x, or it did not start.
    pub(crate) fn start() -> Result<RealRedis, String> {
        let version = installed_version()?;
        // Another process may take the port between here and there; then another one is tried.
        let mut last = String::new();
        for _ in 0..5 {
            match RealRedis::start_once(&version) {
                Ok(server) => return Ok(server),
                Err(why) => last = why,
            }
        }
        Err(last)
    }

    /// The same; none where there is none and nobody insists on one, which is said then.
    pub(crate) fn start_if_there() -> Option<RealRedis> {
        let why = match RealRedis::start() {
            Ok(real) => return Some(real),
            Err(why) => why,
        };
        let required = std::env::var("DOUBLEHOLD_REQUIRE_REDIS").is_ok_and(|value| value == "1");
        assert!(!required, "DOUBLEHOLD_REQUIRE_REDIS=1, and there is no real Redis to compare with: {why}");
        say(&format!("SKIPPED: the node was NOT compared with a real Redis: {why}"));
        say("         install redis-server 7.0.x to run the differential test");
        None
    }

    fn start_once(version: &str) -> Result<RealRedis, String> {
        let port = free_port().map_err(|error| format!("no free loopback port: {error}"))?;
        let directory = std::env::temp_dir().join(format!("doublehold-redis-{}-{port}", std::process::id()));
        std::fs::create_dir_all(&directory)
            .map_err(|error| format!("cannot create {directory:?}: {error}"))?;
        let process = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            // For DEBUG SET-ACTIVE-EXPIRE.
            .args(["--enable-debug-command", "local", "--daemonize", "no"])
            .arg("--dir")
            .arg(&directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("redis-server did not start: {error}"))?;
        let mut server = RealRedis { process, directory, port, version: version.to_owned() };
        server.await_ready()?;
        Ok(server)
    }

    /// Whether this very process answers at the port: another server that was faster to take it must keep its data.
    fn answers(&self) -> bool {
        let own = format!("process_id:{}\r\n", self.process.id());
        let info = Clients::of(self.port).ask("INFO server");
        info.is_ok_and(|answer| String::from_utf8_lossy(&answer.bytes).contains(&own))
    }

    /// Whether it has ended; a few scripts crash it.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.process.try_wait(), Ok(None))
    }

    #[expect(clippy::disallowed_methods, reason = "a real process starts in real time")]
    fn await_ready(&mut self) -> Result<(), String> {
        for _ in 0..500 {
            if let Ok(Some(status)) = self.process.try_wait() {
                return Err(format!("redis-server ended at once: {status}"));
            }
            if self.answers() {
                // Background expiry has its own timing; without it, keys go when they are looked at, at both servers.
                let off = Clients::of(self.port).ask("DEBUG SET-ACTIVE-EXPIRE 0");
                let is_off = off.is_ok_and(|answer| answer.end == End::Reply && answer.bytes == b"+OK\r\n");
                return if is_off { Ok(()) } else { Err("redis-server refuses DEBUG".to_owned()) };
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err("redis-server was not ready after five seconds".to_owned())
    }
}

impl Drop for RealRedis {
    fn drop(&mut self) {
        // Nothing of it is to be kept, and a process that is gone already is fine too.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn installed_version() -> Result<String, String> {
    let output = Command::new("redis-server").arg("--version").output();
    let output = output.map_err(|error| format!("`redis-server` is not on PATH ({error})"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.split_whitespace().find_map(|word| word.strip_prefix("v=")).unwrap_or("unknown");
    // Later versions have more commands and other texts: nothing to be equal to.
    if version.starts_with("7.0.") {
        Ok(version.to_owned())
    } else {
        Err(format!("the `redis-server` on PATH is version {version}, and the node is a Redis 7.0"))
    }
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
