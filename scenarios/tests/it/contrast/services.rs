//! The cause of each verdict about a service that has no contrast in its own file.

use doublehold_history::Predicate::{LV, P1};

use super::table::{Contrast, HOLDS, contrast};

pub(super) const SERVICES: &[Contrast] = &[
    contrast("etcd-dead-lease/etcdctl", "nobody looks", &[("lock.checks_key", "true")], HOLDS),
    contrast("etcdctl-never-tells/python", "the lease ends", &[("faults.0.for", "5s")], HOLDS),
    contrast("zookeeper-pause/curator", "the session ends", &[("faults.0.for", "5s")], HOLDS),
    contrast(
        "row-lock/keepalive-and-pause",
        "nothing ends the session",
        &[("service.idle_in_transaction_timeout", "5s")],
        &[(P1, "violated")],
    ),
    contrast(
        "row-lock/advisory",
        "nothing ends the session",
        &[("service.idle_session_timeout", "5s")],
        &[(P1, "violated")],
    ),
    contrast(
        "row-lock/holder-dies",
        "its machine ends the connection",
        &[("faults", "[{ kind = 'power-loss', host = 'c1', at = \"3s after c1's grant\" }]")],
        &[(LV, "violated")],
    ),
];
