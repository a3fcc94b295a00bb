//! Nodes on real ports of this machine, asked over TCP.

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Instant;

use doublehold_sim_redis::Persistence;
use doublehold_sim_redis::core::Version;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::layout::{Layout, Nodes};
use super::options::limits;
use super::*;

/// A run of free ports: what the system gives out, and its neighbours if they are free too.
fn free_ports(count: u16) -> u16 {
    loop {
        let bind = |port| std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let first = bind(0).expect("a free port").local_addr().expect("it is bound").port();
        if first.checked_add(count).is_some_and(|end| (first..end).all(|port| bind(port).is_ok())) {
            return first;
        }
    }
}

fn options(port: u16, nodes: u16) -> Options {
    let layout = Layout { port, nodes: Nodes::Apart(nodes), sentinels: None, faults: false };
    Options {
        layout,
        listen: Ipv4Addr::LOCALHOST.into(),
        limits: limits(),
        scenario: None,
        version: Version::default(),
        persistence: Persistence::None,
        remote_masters: false,
        config_dir: None,
    }
}

type Serving = tokio::task::JoinHandle<Result<Vec<History>, ServeError>>;

async fn started(nodes: u16) -> (u16, Serving) {
    let port = free_ports(nodes);
    (port, started_with(options(port, nodes)).await)
}

async fn started_with(options: Options) -> Serving {
    let (tell, told) = oneshot::channel();
    let serving = tokio::spawn(serve(options, Signals::never(), move |_| {
        tell.send(()).expect("the test waits for it");
    }));
    told.await.expect("the ports were free");
    serving
}

async fn ask(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.expect("a node listens");
    stream.write_all(format!("{request}\r\nQUIT\r\n").as_bytes()).await.expect("it reads");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.expect("it answers and closes");
    reply.strip_suffix("+OK\r\n").unwrap_or(&reply).to_owned()
}

/// Asks without a QUIT behind it, and reads one line.
async fn ask_kept(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.expect("a node listens");
    stream.write_all(format!("{request}\r\n").as_bytes()).await.expect("it reads");
    let mut reply = vec![0; 1024];
    let length = stream.read(&mut reply).await.expect("it answers");
    String::from_utf8_lossy(&reply[..length]).into_owned()
}

/// Ends when the node's thread has closed the port, which it does after the connection that asked for it has ended.
async fn closed(port: u16) {
    let until = Instant::now() + Duration::from_secs(10);
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_ok() {
        assert!(Instant::now() < until, "it goes on listening");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn independent_nodes_answer_on_consecutive_ports_until_shutdown() {
    let (port, serving) = started(2).await;
    assert_eq!(ask(port, "SET k v").await, "+OK\r\n");
    assert_eq!(ask(port, "GET k").await, "$1\r\nv\r\n");
    assert_eq!(ask(port + 1, "GET k").await, "$-1\r\n");
    assert_eq!(ask(port, "SHUTDOWN").await, "");
    closed(port).await;
    assert_eq!(ask(port + 1, "SHUTDOWN").await, "");
    serving.await.expect("no panic").expect("an orderly end");
}

#[tokio::test]
async fn one_node_replicates_another_over_tcp() {
    let (port, serving) = started(2).await;
    assert_eq!(ask(port, "SET k v").await, "+OK\r\n");
    assert_eq!(ask(port + 1, &format!("REPLICAOF 127.0.0.1 {port}")).await, "+OK\r\n");
    // WAIT comes back when the replica has caught up.
    assert_eq!(ask(port, "SET l w\r\nWAIT 1 10000").await, "+OK\r\n:1\r\n");
    assert_eq!(ask(port + 1, "GET k\r\nGET l").await, "$1\r\nv\r\n$1\r\nw\r\n");
    serving.abort();
}

#[tokio::test]
async fn a_node_that_starts_again_reads_what_config_rewrite_wrote() {
    let folder = tempfile::tempdir().expect("a folder");
    let port = free_ports(2);
    let with_files = || Options { config_dir: Some(folder.path().to_owned()), ..options(port, 2) };
    let serving = started_with(with_files()).await;
    let set = "CONFIG SET min-replicas-to-write 2 notify-keyspace-events KEA\r\nCONFIG SET maxmemory 1mb";
    let follow = format!("REPLICAOF 127.0.0.1 {}", port + 1);
    let commands = format!("{set}\r\n{follow}\r\nCONFIG REWRITE\r\nCONFIG SET maxmemory 2mb");
    assert_eq!(ask(port, &commands).await, "+OK\r\n".repeat(5));
    assert_eq!(ask(port + 1, "CONFIG SET maxmemory 3mb").await, "+OK\r\n", "and nothing rewrites it");
    let file = folder.path().join(port.to_string()).join("redis.conf");
    let written = std::fs::read_to_string(&file).expect("it is written before the reply leaves");
    let master = format!("replicaof 127.0.0.1 {}\n", port + 1);
    let settings = "maxmemory 1048576\nmin-replicas-to-write 2\nnotify-keyspace-events AKE\n";
    assert_eq!(written, format!("port {port}\n{master}{settings}"));
    for node in [port, port + 1] {
        assert_eq!(ask(node, "SHUTDOWN").await, "");
        closed(node).await;
    }
    serving.await.expect("no panic").expect("an orderly end");

    let serving = started_with(with_files()).await;
    let maxmemory = |value| format!("*2\r\n$9\r\nmaxmemory\r\n{value}\r\n");
    assert_eq!(ask(port, "CONFIG GET maxmemory").await, maxmemory("$7\r\n1048576"));
    assert!(ask(port, "ROLE").await.starts_with("*5\r\n$5\r\nslave\r\n"));
    assert_eq!(ask(port + 1, "CONFIG GET maxmemory").await, maxmemory("$9\r\n268435456"));
    serving.abort();
}

#[tokio::test]
async fn without_a_folder_there_is_no_file_and_one_that_cannot_be_read_is_named() {
    let (port, serving) = started(1).await;
    let reply = ask(port, "CONFIG REWRITE").await;
    assert_eq!(reply, "-ERR The server is running without a config file\r\n");
    serving.abort();

    let folder = tempfile::tempdir().expect("a folder");
    let refused = |config_dir: &Path| {
        let options = Options { config_dir: Some(config_dir.to_owned()), ..options(free_ports(1), 1) };
        (options.layout.port, serve(options, Signals::never(), |_| panic!("it is not ready")))
    };
    let (port, serving) = refused(folder.path());
    let of_node = folder.path().join(port.to_string());
    std::fs::create_dir(&of_node).expect("a folder for the node");
    std::fs::write(of_node.join("redis.conf"), "bind 127.0.0.1\n").expect("a file for the node");
    let error = serving.await.expect_err("nobody obeys the line").to_string();
    assert!(error.starts_with(&format!("the node on port {port} did not start: bad line")), "{error}");
    let (_, serving) = refused(&of_node.join("redis.conf"));
    let error = serving.await.expect_err("it is a file");
    assert!(matches!(error, ServeError::ConfigDir { .. }), "{error}");
}

#[tokio::test]
async fn a_script_has_the_time_of_the_busy_reply_threshold() {
    let (port, serving) = started(1).await;
    assert_eq!(ask(port, "CONFIG SET busy-reply-threshold 60000").await, "+OK\r\n");
    let ends = "EVAL \"local n = 0 for i = 1, 101000000 do n = n + 1 end return n\" 0";
    assert_eq!(ask(port, ends).await, ":101000000\r\n", "more instructions than a simulated node gives");
    assert_eq!(ask(port, "CONFIG SET busy-reply-threshold 300").await, "+OK\r\n");
    let endless = tokio::spawn(ask_kept(port, "EVAL \"while true do end\" 0"));
    // Until the script has arrived there is an answer; then it is waited for, and given up.
    let mut reply = ask(port, "GET k").await;
    while reply == "$-1\r\n" {
        reply = ask(port, "GET k").await;
    }
    assert!(reply.starts_with("-BUSY "), "{reply}");
    assert_eq!(ask(port, "SCRIPT KILL").await, "+OK\r\n");
    let killed = endless.await.expect("no panic");
    assert!(killed.starts_with("-ERR Script killed by user with SCRIPT KILL"), "{killed}");
    serving.abort();
}

#[tokio::test]
async fn a_taken_port_is_named() {
    let taken = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = taken.local_addr().expect("it is bound").port();
    let serving = serve(options(port, 1), Signals::never(), |_| panic!("it is not ready"));
    let error = serving.await.expect_err("the port is taken");
    assert!(matches!(error, ServeError::Bind { address, .. } if address.port() == port), "{error}");
}
