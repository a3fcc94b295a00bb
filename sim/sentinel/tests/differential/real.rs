//! Real redis-servers and Sentinels of the test's own, each in a folder of its own; killed when the test ends, also by
//! a panic.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::client::{Reply, ask};
use crate::{DOWN_AFTER, FAILOVER_TIMEOUT, awaited};

/// True if there is a redis-server 7.0.x. If not, that is said, and it is an error if somebody insists on one.
pub(crate) fn is_there() -> bool {
    let Err(why) = installed() else { return true };
    let required = std::env::var("DOUBLEHOLD_REQUIRE_REDIS").is_ok_and(|value| value == "1");
    assert!(!required, "DOUBLEHOLD_REQUIRE_REDIS=1, and there is no real Sentinel to compare with: {why}");
    // Past the test harness, which keeps the output of tests that pass to itself. Nobody to tell is no reason to fail.
    let _ = writeln!(
        std::io::stderr(),
        "SKIPPED: the Sentinel was NOT compared with a real one: {why}; install redis-server 7.0.x for that"
    );
    false
}

fn installed() -> Result<(), String> {
    let output = Command::new("redis-server").arg("--version").output();
    let output = output.map_err(|error| format!("`redis-server` is not on PATH ({error})"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.split_whitespace().find_map(|word| word.strip_prefix("v=")).unwrap_or("unknown");
    match version.starts_with("7.0.") {
        true => Ok(()),
        false => {
            Err(format!("the `redis-server` on PATH is version {version}, and the Sentinel is that of 7.0"))
        }
    }
}

/// A process, which is killed when dropped.
pub(crate) struct Real {
    process: Child,
    folder: PathBuf,
}

impl Real {
    /// A node that follows the one on another port, if there is one.
    pub(crate) fn node(port: u16, master: Option<u16>) -> Real {
        let master = master.map(|master| format!("replicaof 127.0.0.1 {master}\n")).unwrap_or_default();
        Real::start(port, &format!("save \"\"\nrepl-diskless-sync-delay 0\n{master}"), &[])
    }

    /// A Sentinel that watches the node on another port as `mymaster`.
    pub(crate) fn sentinel(port: u16, master: u16, quorum: u32) -> Real {
        let (down_after, timeout) = (DOWN_AFTER.as_millis(), FAILOVER_TIMEOUT.as_millis());
        let settings = format!(
            "sentinel monitor mymaster 127.0.0.1 {master} {quorum}\n\
             sentinel down-after-milliseconds mymaster {down_after}\n\
             sentinel failover-timeout mymaster {timeout}\n"
        );
        Real::start(port, &settings, &["--sentinel"])
    }

    fn start(port: u16, settings: &str, options: &[&str]) -> Real {
        let folder = std::env::temp_dir().join(format!("doublehold-sentinel-{}-{port}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("redis.conf");
        let text = format!("port {port}\nbind 127.0.0.1\ndir {}\n{settings}", folder.display());
        std::fs::write(&file, text).expect("a file");
        let process = Command::new("redis-server")
            .arg(&file)
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("redis-server starts");
        awaited("a real Redis answers", || (ask(port, "PING") != Reply::End).then_some(()));
        Real { process, folder }
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        // Nothing of it is to be kept, and a process that is gone already is fine too.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
