//! `doublehold serve --sentinels`: served Sentinels that watch served nodes, in real time.
#![cfg(unix)]

use std::time::{Duration, Instant};

use snapbox::str;

use crate::kit::{Folder, assert_text};
use crate::serve::{Client, PATIENCE, Server, free_ports};

const NODES: u16 = 3;
const SENTINELS: u16 = 3;

fn start(options: &[&str]) -> Server {
    start_at(free_ports(NODES + SENTINELS), options)
}

fn start_at(port: u16, options: &[&str]) -> Server {
    Server::start_at(port, &[&["--replicas", "2", "--sentinels", "3"], options].concat())
}

/// A client of a Sentinel, counted from 0.
fn sentinel(server: &Server, index: u16) -> Client {
    server.client(NODES + index)
}

/// The items of a reply that is an array of texts.
fn items(client: &mut Client, command: &str) -> Vec<String> {
    let head = client.ask(command);
    let count: usize =
        head.strip_prefix('*').and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("{head}"));
    (0..count).map(|_| [client.line(), client.line()][1].clone()).collect()
}

/// The port at which a Sentinel says that the master is.
fn told_master(sentinel: &mut Client) -> u16 {
    let address = items(sentinel, "SENTINEL get-master-addr-by-name mymaster");
    assert_eq!(address[0], "127.0.0.1");
    address[1].parse().expect("a port")
}

/// Asks again until there is an answer.
fn awaited<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn sentinels_move_their_clients_from_a_master_that_is_shut_down_to_a_replica() {
    let mut server = start(&["--down-after", "1s"]);
    let mut sentinels: Vec<Client> = (0..SENTINELS).map(|index| sentinel(&server, index)).collect();
    for sentinel in &mut sentinels {
        assert_eq!(told_master(sentinel), server.port);
        assert!(sentinel.ask("SENTINEL CKQUORUM mymaster").starts_with("+OK 3 usable Sentinels."));
    }
    let mut master = server.client(0);
    assert_eq!(master.ask("SET lock c1 NX"), "+OK");
    assert_eq!(master.ask("WAIT 2 10000"), ":2", "the replicas follow from the start");
    assert_eq!(master.ask("SHUTDOWN NOSAVE"), "");
    let new_master = awaited("all Sentinels tell of one new master that takes writes", || {
        let told: Vec<u16> = sentinels.iter_mut().map(told_master).collect();
        let is_agreed = told[0] != server.port && told.iter().all(|port| *port == told[0]);
        let mut client = server.try_client(told[0] - server.port).filter(|_| is_agreed)?;
        (client.ask("SET fence 1") == "+OK").then_some(told[0])
    });
    let mut client = server.client(new_master - server.port);
    assert_eq!(client.ask("GET lock"), "$2");
    assert!(server.try_client(0).is_none(), "who has shut down stays away");
    server.signal("TERM");
    assert_eq!(server.end().code(), Some(0));
}

#[test]
fn a_reset_brings_the_first_master_back_for_sentinels_too() {
    let port = free_ports(NODES + SENTINELS + 1);
    let server = start_at(port, &["--faults", "--down-after", "1s"]);
    let mut control = server.client(NODES + SENTINELS);
    for _ in 0..2 {
        assert_eq!(control.say("DOUBLEHOLD CRASH A"), "OK");
        let master = awaited("another master", || {
            Some(told_master(&mut sentinel(&server, 0))).filter(|master| *master != port)
        });
        assert!(control.say("DOUBLEHOLD HISTORY").contains("becomes master, as a Sentinel tells it"));
        let mut stays = server.client(master - port);
        assert_eq!(stays.say("PING"), "PONG");
        assert_eq!(control.say("DOUBLEHOLD RESET"), "OK");
        for index in 0..SENTINELS {
            assert_eq!(told_master(&mut sentinel(&server, index)), port);
        }
        stays.flood(b"PING\r\n");
        assert_eq!(stays.line(), "", "it would go on with a master that is none");
        assert_eq!(server.client(0).say("SET k v"), "OK");
        awaited("the key on a replica", || (server.client(1).say("GET k") == "v").then_some(()));
    }
}

#[test]
fn sentinels_go_on_with_what_they_knew_if_they_have_a_folder() {
    let folder = Folder::new();
    let options = ["--config-dir", &folder.path("conf")];
    let port = free_ports(NODES + SENTINELS);
    let mut server = start_at(port, &options);
    let mut first = sentinel(&server, 0);
    let failover = || match first.ask("SENTINEL FAILOVER mymaster").as_str() {
        "+OK" => Some(()),
        // The replicas have not told yet how far they are.
        refused => refused.starts_with("-NOGOODSLAVE").then_some(()).and(None),
    };
    awaited("a replica that can be promoted", failover);
    let new_master = awaited("another master", || Some(told_master(&mut first)).filter(|told| *told != port));
    let id = first.ask("SENTINEL MYID");
    assert_eq!(id, "$40");
    let id = first.line();
    server.signal("TERM");
    assert_eq!(server.end().code(), Some(0));

    let server = start_at(port, &options);
    let mut first = sentinel(&server, 0);
    assert_eq!(told_master(&mut first), new_master);
    assert_eq!([first.ask("SENTINEL MYID"), first.line()], ["$40".to_owned(), id]);
    assert_eq!(server.client(new_master - port).ask("SET k v"), "+OK", "CONFIG REWRITE kept its role");
}

#[test]
fn a_layout_that_cannot_be_is_refused_with_the_way_out() {
    let layouts: [&[&str]; 6] = [
        &["serve", "--sentinels", "3"],
        &["serve", "--sentinels", "3", "--replicas", "2", "--quorum", "4"],
        &["serve", "--nodes", "3", "--replicas", "2"],
        &["serve", "--quorum", "2"],
        &["serve", "--port", "65533", "--replicas", "2", "--sentinels", "3"],
        &["serve", "--replicas", "2", "--sentinels", "3", "--down-after", "0ms"],
    ];
    assert_text(
        Folder::new().refusals(&layouts),
        str![[r#"
$ doublehold serve --sentinels 3
error: Sentinels promote a replica of the master that they watch, and there is none
hint: add replicas: `--sentinels 3 --replicas 2`

$ doublehold serve --sentinels 3 --replicas 2 --quorum 4
error: a quorum of 4 is above the number of Sentinels, 3: none would ever fail over
hint: choose one that can be reached: `--quorum 3`, or a lower one

$ doublehold serve --nodes 3 --replicas 2
error: `--nodes` serves nodes that know nothing of each other, `--replicas` a master and its replicas
hint: for a master and its replicas leave `--nodes` out: `--replicas 2`

$ doublehold serve --quorum 2
error: `--quorum` is a setting of Sentinels, and there are none
hint: add Sentinels and replicas for them to promote: `--sentinels 3 --replicas 2`

$ doublehold serve --port 65533 --replicas 2 --sentinels 3
error: no room for a master, 2 replicas and 3 Sentinels from port 65533 on: ports are 1 to 65535; choose a lower `--port` or fewer of them

$ doublehold serve --replicas 2 --sentinels 3 --down-after 0ms
error: invalid value '0ms' for '--down-after <DURATION>': must be 1ms at least

For more information, try '--help'.

"#]],
    );
}
