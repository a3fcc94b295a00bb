//! Our Sentinels on real nodes: a failover comes to its end, and the old master is converted.

use crate::client::{Reply, ask};
use crate::real::Real;
use crate::{awaited, free_port, ours, real};

const QUORUM: u32 = 2;

/// The port of the master that a Sentinel tells.
fn told_master(sentinel: u16) -> Option<u16> {
    let address = ask(sentinel, "SENTINEL GET-MASTER-ADDR-BY-NAME mymaster");
    address.items().get(1)?.text().parse().ok()
}

/// Whom a replica follows, if its link stands.
fn followed(node: u16) -> Option<u16> {
    let role = ask(node, "ROLE");
    match role.items() {
        [kind, _, Reply::Line(port), state, _] if kind.text() == "slave" && state.text() == "connected" => {
            port.strip_prefix(':')?.parse().ok()
        }
        _ => None,
    }
}

#[test]
#[ignore = "takes half a minute of real time: .ci/deep"]
fn our_sentinels_fail_real_nodes_over_and_convert_the_old_master() {
    if !real::is_there() {
        return;
    }
    let ports = [free_port(), free_port(), free_port()];
    let master = ports[0];
    let mut old = Some(Real::node(master, None));
    let _replicas = [Real::node(ports[1], Some(master)), Real::node(ports[2], Some(master))];
    for replica in &ports[1..] {
        awaited("a replica follows", || followed(*replica).filter(|port| *port == master));
    }
    let sentinels = [free_port(), free_port(), free_port()];
    for sentinel in sentinels {
        ours::start(sentinel, master, QUORUM);
    }
    let enough =
        Reply::Line("+OK 3 usable Sentinels. Quorum and failover authorization can be reached".to_owned());
    for sentinel in sentinels {
        let asked = || ask(sentinel, "SENTINEL CKQUORUM mymaster");
        awaited("a Sentinel knows the others", || Some(asked()).filter(|reply| *reply == enough));
        let replicas = || ask(sentinel, "SENTINEL REPLICAS mymaster");
        awaited("a Sentinel knows the replicas", || {
            Some(replicas()).filter(|reply| reply.items().len() == 2)
        });
    }

    drop(old.take());
    let new_master = awaited("all Sentinels tell of one new master", || {
        let told: Vec<u16> = sentinels.iter().filter_map(|sentinel| told_master(*sentinel)).collect();
        let is_agreed = told.len() == 3 && told.iter().all(|port| *port == told[0]);
        Some(told[0]).filter(|port| is_agreed && *port != master)
    });
    let other = if new_master == ports[1] { ports[2] } else { ports[1] };
    awaited("the other replica follows it", || followed(other).filter(|port| *port == new_master));
    old = Some(Real::node(master, None));
    awaited("the old master follows it", || followed(master).filter(|port| *port == new_master));
    drop(old);
}
