//! `doublehold serve` as strangers meet it: on real ports, with limits, and asked to stop.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use snapbox::str;

use crate::kit::{Ask, Folder, PROGRAM, assert_text, command, doublehold, shell};

/// Long enough for a busy machine, and far below whatever a test waits for in vain.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The served nodes and Sentinels; killed when the test ends.
pub(crate) struct Server {
    process: Child,
    pub(crate) port: u16,
}

impl Server {
    pub(crate) fn start(nodes: u16, options: &[&str]) -> Server {
        let nodes_text = nodes.to_string();
        Server::start_at(free_ports(nodes), &[&["--nodes", &nodes_text], options].concat())
    }

    /// Starts on ports that are free.
    pub(crate) fn start_at(port: u16, options: &[&str]) -> Server {
        let mut process = doublehold(&["serve", "--port", &port.to_string()])
            .args(options)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut said = String::new();
        let mut stderr = BufReader::new(process.stderr.take().expect("piped"));
        stderr.read_line(&mut said).expect("it says where it serves");
        assert!(said.starts_with("serving on "), "{said}");
        process.stderr = Some(stderr.into_inner());
        Server { process, port }
    }

    /// A client of the server on this port or so many further.
    pub(crate) fn client(&self, further: u16) -> Client {
        self.try_client(further).expect("somebody listens")
    }

    /// The same, of a client that has named its connection.
    pub(crate) fn named(&self, name: &str, further: u16) -> Client {
        let mut client = self.client(further);
        assert_eq!(client.say(&format!("CLIENT SETNAME {name}")), "OK");
        client
    }

    /// The same as [`Server::client`]; none where nobody listens.
    pub(crate) fn try_client(&self, further: u16) -> Option<Client> {
        Client::connect(self.port + further)
    }

    /// As `kill -NAME`: the standard library can only kill for good.
    pub(crate) fn signal(&self, name: &str) {
        command("kill").args(["-s", name, &self.process.id().to_string()]).ends(0);
    }

    /// How it ended, within the test's patience.
    pub(crate) fn end(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.process.try_wait().expect("it is ours") {
                return status;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("it did not end");
    }

    /// Kilobytes of memory in use.
    fn resident_kb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok()).unwrap_or(0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Tells a control port words, one after the other, each of which is taken.
pub(crate) fn tell(control: &mut Client, words: &[&str]) {
    for word in words {
        assert_eq!(control.say(&format!("DOUBLEHOLD {word}")), "OK", "{word}");
    }
}

/// A run of free ports.
pub(crate) fn free_ports(count: u16) -> u16 {
    loop {
        let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let first = bind(0).expect("a free port").local_addr().expect("it is bound").port();
        if first.checked_add(count).is_some_and(|end| (first..end).all(|port| bind(port).is_ok())) {
            return first;
        }
    }
}

/// A client that sends lines or bytes and reads lines.
pub(crate) struct Client(BufReader<TcpStream>);

impl Client {
    /// A client of whoever listens on a port here, if anybody does.
    pub(crate) fn connect(port: u16) -> Option<Client> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        stream.set_write_timeout(Some(PATIENCE)).expect("a timeout can be set");
        Some(Client(BufReader::new(stream)))
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).expect("the connection is open");
    }

    /// Sends what the node takes.
    pub(crate) fn flood(&mut self, bytes: &[u8]) {
        // Whether it took it shows in what it does next.
        let _ = self.0.get_mut().write_all(bytes);
    }

    /// The first line of a reply; empty at the end of the connection.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(_) => line.trim_end().to_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => String::new(),
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) fn ask(&mut self, command: &str) -> String {
        self.send(format!("{command}\r\n").as_bytes());
        self.line()
    }

    /// Sends a command and reads its whole reply: an error with its dash, the lines of an array, `nil` for nothing.
    pub(crate) fn say(&mut self, command: &str) -> String {
        // Not as a line: there, an apostrophe begins a quotation.
        let words = command.split(' ').map(|word| format!("${}\r\n{word}\r\n", word.len()));
        let words: Vec<String> = words.collect();
        self.send(format!("*{}\r\n{}", words.len(), words.concat()).as_bytes());
        self.reply()
    }

    /// The next reply, whole.
    pub(crate) fn reply(&mut self) -> String {
        let line = self.line();
        let Some((kind, rest)) = line.split_at_checked(1) else { return line };
        let length = rest.parse::<i64>();
        match (kind, length) {
            ("$", Ok(-1)) => "nil".to_owned(),
            ("$", Ok(length)) => {
                let mut bytes = vec![0; usize::try_from(length).expect("a length") + 2];
                self.0.read_exact(&mut bytes).expect("as long as it says");
                String::from_utf8_lossy(&bytes[..bytes.len() - 2]).into_owned()
            }
            ("*", Ok(-1)) => "nil".to_owned(),
            ("*", Ok(count)) => (0..count).map(|_| self.reply()).collect::<Vec<_>>().join("\n"),
            ("+" | ":", _) => rest.to_owned(),
            _ => line,
        }
    }

    /// Whether nothing comes for so long.
    pub(crate) fn is_silent_for(&mut self, time: Duration) -> bool {
        self.0.get_ref().set_read_timeout(Some(time)).expect("a timeout can be set");
        let silent = self.0.fill_buf().is_err();
        self.0.get_ref().set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        silent
    }

    fn store(&mut self, key: &str, bytes: usize) -> String {
        let value = "x".repeat(bytes);
        self.send(
            format!("*3\r\n$3\r\nSET\r\n${}\r\n{key}\r\n${bytes}\r\n{value}\r\n", key.len()).as_bytes(),
        );
        self.line()
    }
}

fn mget(key: &str, times: usize) -> Vec<u8> {
    let one = format!("${}\r\n{key}\r\n", key.len());
    format!("*{}\r\n$4\r\nMGET\r\n{}", times + 1, one.repeat(times)).into_bytes()
}

#[test]
fn more_connections_than_maxclients_are_told_so() {
    let server = Server::start(1, &["--maxclients", "2"]);
    let mut clients = [server.client(0), server.client(0)];
    assert_eq!(clients.each_mut().map(|client| client.ask("PING")), ["+PONG", "+PONG"]);
    let mut third = server.client(0);
    assert_eq!(third.line(), "-ERR max number of clients reached");
    assert_eq!(third.line(), "");
}

#[test]
fn a_full_node_answers_oom() {
    let server = Server::start(1, &["--maxmemory", "500kb"]);
    let mut client = server.client(0);
    assert_eq!(client.store("k", 900_000), "+OK");
    assert_eq!(client.store("l", 900_000), "-OOM command not allowed when used memory > 'maxmemory'.");
    assert_eq!(client.ask("DEL k"), ":1");
    assert_eq!(client.ask("CONFIG GET maxmemory"), "*2");
}

#[test]
fn fourteen_kilobytes_of_mget_do_not_make_ten_gigabytes() {
    let server = Server::start(1, &[]);
    let mut other = server.client(0);
    assert_eq!(other.store("k", 10 << 20), "+OK");
    let mut greedy = server.client(0);
    greedy.send(&mget("k", 1_000));
    assert_eq!(greedy.line(), "", "closed without a word, as Redis does");
    assert_eq!(other.ask("PING"), "+PONG");
    assert!(server.resident_kb() < 1 << 20, "{} kB", server.resident_kb());
}

#[test]
fn unfinished_requests_do_not_add_up_without_end() {
    let server = Server::start(1, &["--maxmemory-clients", "64mb", "--client-query-buffer-limit", "16mb"]);
    let mut open = Vec::new();
    for _ in 0..20 {
        let mut client = server.client(0);
        client.flood(b"*2\r\n$3\r\nGET\r\n$400000000\r\n");
        client.flood(&vec![b'x'; 15 << 20]);
        open.push(client);
    }
    let mut endless = server.client(0);
    endless.flood(b"*2\r\n$3\r\nGET\r\n$400000000\r\n");
    endless.flood(&vec![b'x'; 40 << 20]);
    assert_eq!(endless.line(), "");
    assert!(server.resident_kb() < 400 << 10, "{} kB", server.resident_kb());
    drop(open);
    assert_eq!(server.client(0).ask("PING"), "+PONG");
}

#[test]
fn a_master_on_another_machine_is_refused_and_one_on_this_machine_is_not() {
    let server = Server::start(2, &[]);
    let mut client = server.client(1);
    // Documentation addresses: nobody is asked, whatever the node does.
    let refusal = client.ask("REPLICAOF 192.0.2.1 6379");
    assert!(refusal.starts_with("-ERR this node replicates this machine (127.0.0.1) only"), "{refusal}");
    assert!(refusal.contains("--allow-remote-replicaof"), "{refusal}");
    assert_eq!(server.client(0).ask("SET k v"), "+OK");
    assert_eq!(client.ask(&format!("REPLICAOF 127.0.0.1 {}", server.port)), "+OK");
    assert_eq!(server.client(0).ask("WAIT 1 10000"), ":1", "over loopback, between two threads");
    assert_eq!(client.ask("GET k"), "$1");
}

#[test]
fn a_redis_that_wants_to_follow_a_node_is_refused_each_time_and_named_once() {
    let mut server = Server::start(1, &[]);
    for _ in 0..2 {
        let mut redis = server.client(0);
        assert_eq!(redis.ask("REPLCONF listening-port 6390"), "+OK");
        assert_eq!(redis.ask("REPLCONF capa eof capa psync2"), "+OK");
        let refusal = redis.ask("PSYNC ? -1");
        assert!(refusal.contains("sends its data as commands, not as RDB"), "{refusal}");
    }
    server.signal("TERM");
    assert_eq!(server.end().code(), Some(0));
    let mut said = String::new();
    server.process.stderr.take().expect("piped").read_to_string(&mut said).expect("UTF-8");
    let port = server.port;
    assert_eq!(
        said,
        format!(
            "warning: the Redis at 127.0.0.1:6390 cannot follow the node on port {port}, which sends its data as commands \
             and not as RDB; send it `REPLICAOF NO ONE`, and let another node of `doublehold serve` follow\n"
        )
    );
}

#[test]
fn a_busy_script_stops_its_own_node_only() {
    let server = Server::start(4, &[]);
    let mut busy: Vec<Client> = (0..3).map(|node| server.client(node)).collect();
    for client in &mut busy {
        client.send(b"EVAL \"while true do end\" 0\r\n");
    }
    let mut other = server.client(3);
    for _ in 0..20 {
        let asked = Instant::now();
        assert_eq!(other.ask("PING"), "+PONG");
        assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn either_signal_closes_what_is_idle_and_ends_with_success() {
    for name in ["TERM", "INT"] {
        let mut server = Server::start(2, &[]);
        let mut clients = [server.client(0), server.client(1)];
        assert_eq!(clients.each_mut().map(|client| client.ask("PING")), ["+PONG", "+PONG"]);
        server.signal(name);
        assert_eq!(clients.each_mut().map(Client::line), ["", ""]);
        assert_eq!(server.end().code(), Some(0), "{name}");
        assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).is_err());
    }
}

/// A client with megabytes of replies that it does not read, more than the system's buffers take.
fn unread_replies(server: &Server) -> Client {
    let mut client = server.client(0);
    assert_eq!(client.store("k", 1 << 20), "+OK");
    client.send(&mget("k", 20));
    std::thread::sleep(Duration::from_millis(300));
    client
}

#[test]
fn what_is_being_answered_is_answered_to_its_end_when_asked_to_stop() {
    let mut server = Server::start(1, &[]);
    let mut client = unread_replies(&server);
    server.signal("TERM");
    std::thread::sleep(Duration::from_millis(300));
    assert!(server.process.try_wait().expect("it is ours").is_none(), "it waits for the client");
    let mut reply = Vec::new();
    client.0.read_to_end(&mut reply).expect("the whole reply, then the end");
    let value = "$1048576\r\n".len() + (1 << 20) + 2;
    assert_eq!(reply.len(), "*20\r\n".len() + 20 * value);
    assert_eq!(server.end().code(), Some(0));
}

#[test]
fn a_second_signal_ends_at_once() {
    let mut server = Server::start(1, &[]);
    let _unread = unread_replies(&server);
    server.signal("TERM");
    std::thread::sleep(Duration::from_millis(300));
    let asked = Instant::now();
    server.signal("INT");
    assert_eq!(server.end().code(), Some(2));
    assert!(asked.elapsed() < Duration::from_secs(3), "{:?}", asked.elapsed());
    let mut said = String::new();
    server.process.stderr.take().expect("piped").read_to_string(&mut said).expect("UTF-8");
    assert_eq!(said, "error: stopped before every client had its replies\n");
}

#[test]
fn a_script_that_never_ends_does_not_keep_the_program_from_ending() {
    let mut server = Server::start(1, &[]);
    server.client(0).send(b"EVAL \"while true do end\" 0\r\n");
    std::thread::sleep(Duration::from_millis(100));
    server.signal("TERM");
    server.end();
}

#[test]
fn a_limit_that_is_none_is_refused() {
    let limits = [
        ["--maxclients", "0"],
        ["--maxmemory", "lots"],
        ["--client-query-buffer-limit", "1"],
        ["--client-output-buffer-limit", "normal 1mb"],
    ];
    let commands = limits.map(|[option, value]| ["serve", option, value]);
    assert_text(
        Folder::new().refusals(&commands),
        str![[r#"
$ doublehold serve --maxclients 0
error: invalid value '0' for '--maxclients <N>': argument must be between 1 and 4294967295 inclusive

For more information, try '--help'.

$ doublehold serve --maxmemory lots
error: invalid value 'lots' for '--maxmemory <BYTES>': argument must be a memory value

For more information, try '--help'.

$ doublehold serve --client-query-buffer-limit 1
error: invalid value '1' for '--client-query-buffer-limit <BYTES>': argument must be between 1048576 and 1073741824 inclusive

For more information, try '--help'.

$ doublehold serve --client-output-buffer-limit 'normal 1mb'
error: invalid value 'normal 1mb' for '--client-output-buffer-limit <LIMITS>': Wrong number of arguments in buffer limit configuration.

For more information, try '--help'.

"#]],
    );
}

#[test]
fn a_node_that_the_system_gives_few_files_lowers_maxclients_instead_of_falling_silent() {
    let port = free_ports(2);
    let line = format!("ulimit -n 200; exec \"$0\" serve --port {port} --nodes 2 --maxclients 1000");
    let mut process = shell(&line, &[]).stderr(Stdio::piped()).spawn().expect("the shell starts");
    let mut stderr = BufReader::new(process.stderr.take().expect("piped"));
    let (mut warning, mut said) = (String::new(), String::new());
    stderr.read_line(&mut warning).expect("it says what it lacks");
    assert!(warning.starts_with("warning: the system allows 200 open files: maxclients is "), "{warning}");
    stderr.read_line(&mut said).expect("it says where it serves");
    let server = Server { process, port };
    let mut clients: Vec<Client> = (0..100).map(|_| server.client(0)).collect();
    assert_eq!(clients[0].ask("PING"), "+PONG");
    assert_eq!(clients[99].line(), "-ERR max number of clients reached");
    assert_eq!(server.client(1).ask("PING"), "+PONG", "another node has files of its own");
}

/// A limit on processes, as a container has one, binds no root: then the program runs as nobody, from a folder that
/// all may read.
#[cfg(target_os = "linux")]
#[test]
fn where_no_threads_are_to_be_had_the_program_says_so_and_ends() {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;

    const NOBODY: u32 = 65534;
    let folder =
        tempfile::Builder::new().permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755)).tempdir();
    let folder = folder.expect("a folder");
    let is_root = std::fs::metadata("/proc/self").expect("Linux").uid() == 0;
    let binary = folder.path().join("doublehold");
    std::fs::copy(PROGRAM, &binary).expect("there is room");
    let port = free_ports(1).to_string();
    let commands: [(&[&str], &str); 2] = [
        (&["serve", "--port", &port], "cannot start a server: "),
        (&["verify-determinism", "quiet", "--seeds", "1"], "cannot compare with another thread: "),
    ];
    for (arguments, said) in commands {
        let mut command = command("sh");
        command
            .args(["-c", "ulimit -p 1 2>/dev/null || ulimit -u 1; exec \"$0\" \"$@\""])
            .arg(&binary)
            .args(arguments);
        if is_root {
            command.gid(NOBODY).uid(NOBODY);
        }
        let told = command.current_dir("/").refused();
        assert!(told.contains(said) && told.contains("allow more processes"), "{told}");
    }
}
