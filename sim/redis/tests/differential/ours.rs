//! Our node on a loopback TCP port, in a thread of its own, on the real clock: the same way in as the real server's.

use std::future::Future;
use std::io;
use std::net::Ipv4Addr;
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use doublehold_sim_redis::core::{Peer, WallMicros};
use doublehold_sim_redis::{Machine, Node, NodeConfig};
use tokio::net::{TcpListener, TcpStream};

/// Starts a node without persistence and background expiry and returns its port. It ends with the test's process.
pub(crate) fn start() -> u16 {
    start_on(RealTime::now())
}

/// The same with what waits for the wall clock: background expiry, and clients that wait for a key for so long.
pub(crate) fn start_with_timers() -> u16 {
    start_on(RealTime { has_timers: true, ..RealTime::now() })
}

#[expect(clippy::disallowed_methods, reason = "a real server on real time: nothing here is simulated")]
fn start_on(machine: RealTime) -> u16 {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime of one thread").block_on(async move {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free loopback port");
            let port = listener.local_addr().expect("it is bound").port();
            let mut config = NodeConfig::default();
            config.core.port = port;
            let node = Node::boot(machine, config).expect("there is no file to be damaged");
            tell.send(port).expect("the test waits for the port");
            loop {
                let Ok((stream, from)) = listener.accept().await else { continue };
                // Replies leave one by one; waiting for more would cost 40 ms each.
                drop(stream.set_nodelay(true));
                let node = node.clone();
                tokio::spawn(async move { node.serve(stream, Peer::default(), from.to_string()).await });
            }
        });
    });
    told.recv().expect("the node starts")
}

/// A machine with real clocks and connections, and no disk.
#[derive(Clone)]
struct RealTime {
    began: Instant,
    has_timers: bool,
}

impl RealTime {
    #[expect(clippy::disallowed_methods, reason = "both servers must see the same time: the real one")]
    fn now() -> RealTime {
        RealTime { began: Instant::now(), has_timers: false }
    }
}

impl Machine for RealTime {
    type Stream = TcpStream;

    #[expect(clippy::disallowed_methods, reason = "both servers must see the same time: the real one")]
    fn wall(&self) -> WallMicros {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
        WallMicros(since.as_micros() as i64)
    }

    fn monotonic(&self) -> Duration {
        self.began.elapsed()
    }

    #[expect(clippy::disallowed_methods, reason = "real time")]
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep(duration)
    }

    /// Never, unless there are timers: background expiry waits here, and is off at the real server too.
    async fn wall_reaches(&self, when: WallMicros) {
        if !self.has_timers {
            return std::future::pending().await;
        }
        let missing = u64::try_from(when.0 - self.wall().0).unwrap_or(0);
        self.sleep(Duration::from_micros(missing)).await;
    }

    #[expect(clippy::disallowed_methods, reason = "real time")]
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(task);
    }

    async fn connect(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        TcpStream::connect((host, port)).await
    }

    fn random(&self, buf: &mut [u8]) {
        buf.fill(7);
    }

    fn append(&self, _file: &str, _bytes: &[u8]) {}

    async fn fsync(&self, _file: &str) -> io::Result<()> {
        Ok(())
    }

    fn read(&self, _file: &str) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn truncate(&self, _file: &str, _len: u64) {}

    fn replace(&self, _file: &str, _bytes: &[u8]) {}
}
