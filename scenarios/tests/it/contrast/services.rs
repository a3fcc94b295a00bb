//! The cause of each verdict about a service that has no contrast in its own file.

use doublehold_history::Predicate::{LV, P1, P4};

use super::table::{Contrast, HOLDS, contrast};

/// The primary is gone before its standby is promoted.
const FAILOVER: &str = "[{ kind = 'crash', host = 'db', at = \"3s after c1's grant\" }, \
                         { kind = 'promote', host = 'db2', at = \"5s after c1's grant\" }]";

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
        "database-failover/advisory",
        "the standby is promoted",
        &[("faults", "[{ kind = 'cut', from = 'db', to = 'db2', at = \"3s after c1's grant\" }]")],
        &[(P1, "holds")],
    ),
    contrast(
        "database-failover/old-primary-returns",
        "new connections go to the standby",
        &[("faults", "[{ kind = 'pause', host = 'db', for = '10s', at = \"3s after c1's grant\" }]")],
        &[(P1, "holds")],
    ),
    contrast(
        "database-failover/split-brain",
        "the primary lives on",
        &[("faults", FAILOVER)],
        &[(P4, "holds")],
    ),
    contrast(
        "database-failover/split-brain-elsewhere",
        "the standby is promoted",
        &[("faults", "[{ kind = 'cut', from = 'db', to = 'db2', at = \"3s after c1's grant\" }]")],
        HOLDS,
    ),
    contrast(
        "database-failover/commit-lost",
        "the commit has not left for the standby",
        &[("service.standby_lag", "100ms")],
        &[(P4, "holds")],
    ),
    contrast(
        "database-failover/commit-received",
        "the commit has left for the standby",
        &[("service.standby_lag", "5s")],
        &[(P4, "violated")],
    ),
    contrast(
        "row-lock/holder-dies",
        "its machine ends the connection",
        &[("faults", "[{ kind = 'power-loss', host = 'c1', at = \"3s after c1's grant\" }]")],
        &[(LV, "violated")],
    ),
];
