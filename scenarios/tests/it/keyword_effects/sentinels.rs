//! `[sentinels]`: who watches the master, when a failover comes of it, and how clients find the new one.

use crate::keyword_effects::row::{Row, Sets, check};
use crate::keyword_effects::seen::{SEC, Seen};

pub(crate) fn rows() -> Vec<Row> {
    [
        watching(),
        agreeing(),
        choosing(),
        failing_over(),
        knowing(),
        asking(),
        without_an_answer(),
        listening(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn every_word_about_sentinels_does_what_it_says() {
    check(&rows());
}

/// The master dies while c1 holds the lock, and c2 asks for it.
const WATCHED: &str = r#"
    claim = "two clients take turns on a master that three Sentinels watch"
    lock = { algorithm = "single", ttl = "4s" }
    nodes = { names = ["M", "R1", "R2"], master = "M" }
    sentinels = { down_after = "1s" }
    network = { delay = "1ms" }
    limits = { time = "40s" }
    faults = [{ kind = "crash", host = "M", at = "5s" }]
    [[clients]]
    name = "c1"
    program = ["acquire", "work 60s"]
    start = "3s"
    [[clients]]
    name = "c2"
    program = ["acquire", "work 60s"]
    retry = "100ms"
    start = "c1's grant"
"#;

/// The moments at which any Sentinel announced something of that kind.
fn announced(seen: &Seen, kind: &str) -> Vec<u64> {
    seen.report.announcements.iter().filter(|it| it.kind == kind).map(|it| it.at.0).collect()
}

/// The number of Sentinels that announced it.
fn announcers(seen: &Seen, kind: &str) -> usize {
    let mut by: Vec<_> =
        seen.report.announcements.iter().filter(|it| it.kind == kind).map(|it| it.by).collect();
    by.sort_unstable();
    by.dedup();
    by.len()
}

fn follows(seen: &Seen) -> bool {
    !seen.grants("c2").is_empty()
}

fn watching() -> Vec<Row> {
    vec![
        Row {
            word: "sentinels",
            claim: "with Sentinels a dead master is replaced, and c2 gets the lock from another node",
            base: REPLICATED_AND_DEAD,
            with: &[("sentinels", "{ down_after = '1s' }")],
            shows: |without, with| !follows(without) && follows(with),
            ..Row::on(WATCHED)
        },
        Row {
            word: "sentinels.names",
            claim: "the hosts have these names",
            with: &[("sentinels.names", "['W1', 'W2', 'W3']")],
            shows: |_, with| with.report.scenario.hosts.iter().any(|host| host.name == "W2"),
            ..Row::on(WATCHED)
        },
        Row {
            word: "sentinels.count",
            claim: "so many Sentinels tell of the new master",
            with: &[("sentinels.count", "5")],
            shows: |without, with| {
                announcers(without, "+switch-master") == 3 && announcers(with, "+switch-master") == 5
            },
            ..Row::on(WATCHED)
        },
    ]
}

/// The same without Sentinels, in which nobody promotes anybody.
const REPLICATED_AND_DEAD: &str = r#"
    claim = "two clients take turns on a master that dies"
    lock = { algorithm = "single", ttl = "4s" }
    nodes = { names = ["M", "R1", "R2"], master = "M" }
    network = { delay = "1ms" }
    limits = { time = "40s" }
    faults = [{ kind = "crash", host = "M", at = "5s" }]
    [[clients]]
    name = "c1"
    program = ["acquire", "work 60s"]
    start = "3s"
    [[clients]]
    name = "c2"
    program = ["acquire", "work 60s"]
    retry = "100ms"
    start = "c1's grant"
"#;

/// One of three Sentinels dies with the master.
const ONE_FEWER: (&str, &str) = ("faults.0.host", "['M', 'S1']");

fn agreeing() -> Vec<Row> {
    vec![
        Row {
            word: "sentinels.quorum",
            claim: "two of three are no quorum of three",
            both: &[ONE_FEWER],
            with: &[("sentinels.quorum", "3")],
            shows: |without, with| follows(without) && !follows(with) && announced(with, "+odown").is_empty(),
            ..Row::on(WATCHED)
        },
        Row {
            word: "sentinels.down_after",
            claim: "the master is found down so much later",
            with: &[("sentinels.down_after", "4s")],
            shows: |without, with| {
                let after = |seen: &Seen| announced(seen, "+sdown")[0] - seen.struck(0);
                (SEC..2 * SEC).contains(&after(without)) && (4 * SEC..5 * SEC).contains(&after(with))
            },
            ..Row::on(WATCHED)
        },
    ]
}

/// Both replicas have heard of everything: the lower priority decides between them.
const R1_OF_TWO: (&str, &str) = ("nodes.replica_priority", "{ R1 = 50, others = 60 }");

/// True if the Sentinels agree on this host as the new master.
fn promotes(seen: &Seen, host: &str) -> bool {
    let switches = seen.report.announcements.iter().filter(|it| it.kind == "+switch-master");
    let to = format!(" {host} ");
    announcers(seen, "+switch-master") == 3 && switches.into_iter().all(|it| it.text.contains(&to))
}

fn choosing() -> Vec<Row> {
    vec![
        Row {
            word: "nodes.replica_priority",
            claim: "a replica of priority 0 is not promoted, and where all have it nobody is",
            with: &[("nodes.replica_priority", "0")],
            shows: |without, with| {
                follows(without)
                    && announced(without, "-failover-abort-no-good-slave").is_empty()
                    && !follows(with)
                    && !announced(with, "-failover-abort-no-good-slave").is_empty()
            },
            ..Row::on(WATCHED)
        },
        Row {
            word: "nodes.replica_priority.others",
            claim: "a replica that is named has its own priority, all others that of the others, and the lower is promoted",
            both: &[R1_OF_TWO],
            with: &[("nodes.replica_priority.others", "40")],
            shows: |without, with| promotes(without, "R1") && promotes(with, "R2"),
            ..Row::on(WATCHED)
        },
    ]
}

/// Nobody knows the replicas, which were down when the master was asked for them.
const NO_REPLICA: Sets = &[
    ("sentinels.knowledge", "master"),
    (
        "faults",
        "[{ kind = 'crash', host = 'M', at = '5s' }, { kind = 'pause', host = ['R1', 'R2'], at = '0s', for = '4s' }]",
    ),
];
/// A third replica.
const FOUR: (&str, &str) = ("nodes.names", "['M', 'R1', 'R2', 'R3']");

fn failing_over() -> Vec<Row> {
    vec![
        Row {
            word: "sentinels.failover_timeout",
            claim: "a failover without a replica is tried again after twice as long",
            both: NO_REPLICA,
            with: &[("sentinels.failover_timeout", "5s")],
            shows: |without, with| {
                let tries = |seen: &Seen| announced(seen, "-failover-abort-no-good-slave").len();
                tries(without) == 1 && tries(with) > 1
            },
            ..Row::on(WATCHED)
        },
        Row {
            word: "sentinels.parallel_syncs",
            claim: "two replicas are told at once to follow the new master",
            both: &[FOUR],
            with: &[("sentinels.parallel_syncs", "2")],
            shows: |without, with| {
                let apart = |seen: &Seen| {
                    let told = announced(seen, "+slave-reconf-sent");
                    told[1] - told[0]
                };
                apart(without) > SEC / 2 && apart(with) == 0
            },
            ..Row::on(WATCHED)
        },
    ]
}

/// The master dies before anybody could ask it for its replicas.
const AT_ONCE: (&str, &str) = ("faults.0.at", "10ms");

fn knowing() -> Vec<Row> {
    vec![
        Row {
            word: "sentinels.knowledge=master",
            claim: "Sentinels that never heard of each other do not fail over",
            both: &[AT_ONCE],
            with: &[("sentinels.knowledge", "master")],
            shows: |without, with| {
                !announced(without, "+switch-master").is_empty() && announced(with, "+odown").is_empty()
            },
            ..Row::on(WATCHED)
        },
        Row {
            word: "sentinels.knowledge=all",
            claim: "Sentinels that know each other and the replicas do",
            both: &[AT_ONCE, ("sentinels.knowledge", "master")],
            with: &[("sentinels.knowledge", "all")],
            shows: |_, with| !announced(with, "+switch-master").is_empty(),
            ..Row::on(WATCHED)
        },
    ]
}

const FIXED: (&str, &str) = ("sentinels.discovery", "fixed");

/// The number of connections that c1 has tried to open to a host.
fn dialed(seen: &Seen, host: &str) -> usize {
    seen.connecting("c1", host).len()
}

fn asking() -> Vec<Row> {
    vec![
        Row {
            word: "sentinels.discovery=fixed",
            claim: "c2 never leaves the first master",
            with: &[FIXED],
            shows: |without, with| follows(without) && !follows(with),
            ..Row::on(WATCHED)
        },
        Row {
            word: "sentinels.discovery=ask-nodes",
            claim: "c1 asks the nodes for their role, and no Sentinel",
            with: &[("sentinels.discovery", "ask-nodes")],
            shows: |without, with| {
                let asks = |seen: &Seen| (dialed(seen, "S1"), seen.executed("M", "ROLE", "c1").len());
                asks(without) == (1, 0) && asks(with) == (0, 1) && follows(with)
            },
            ..Row::on(WATCHED)
        },
        Row {
            word: "sentinels.discovery=at-connect",
            claim: "c1 asks a Sentinel, and looks at the role of the node it connects to",
            both: &[FIXED],
            with: &[("sentinels.discovery", "at-connect")],
            shows: |without, with| {
                dialed(without, "S1") == 0
                    && dialed(with, "S1") == 1
                    && with.executed("M", "INFO", "c1").len() == 1
            },
            ..Row::on(WATCHED)
        },
        Row {
            word: "sentinels.discovery=redis-py-5",
            claim: "c1 asks a Sentinel, and does not look at the role",
            both: &[FIXED],
            with: &[("sentinels.discovery", "redis-py-5")],
            shows: |_, with| {
                dialed(with, "S1") == 1 && with.executed("M", "INFO", "c1").is_empty() && follows(with)
            },
            ..Row::on(WATCHED)
        },
        Row {
            word: "sentinels.discovery=redis-py-8",
            claim: "a Sentinel that refuses is tried eleven times",
            both: &[("sentinels.discovery", "redis-py-5"), FIRST_IS_DEAD],
            with: &[("sentinels.discovery", "redis-py-8")],
            shows: |without, with| dialed(without, "S1") == 1 && dialed(with, "S1") == 11,
            ..Row::on(WATCHED)
        },
        Row {
            word: "sentinels.discovery=ioredis",
            claim: "the next Sentinel is asked next, and the connection to it is not kept",
            both: &[RESET],
            with: &[("sentinels.discovery", "ioredis")],
            shows: |without, with| dialed(without, "S2") == 0 && dialed(with, "S2") > 0,
            ..Row::on(WATCHED)
        },
    ]
}

fn without_an_answer() -> Vec<Row> {
    vec![
        Row {
            word: "sentinels.discovery=ioredis-failover-detector",
            claim: "a Sentinel that tells of a new master ends a connection to one that stands still",
            both: &[("lock.driver", "ioredis-5"), STANDS_STILL],
            with: &[("sentinels.discovery", "ioredis-failover-detector")],
            shows: |without, with| {
                let after = |seen: &Seen| seen.grant("c2").at - seen.struck(0);
                after(without) > 20 * SEC && (4 * SEC..6 * SEC).contains(&after(with))
            },
            ..Row::on(WATCHED)
        },
        Row {
            word: "sentinels.discovery=lettuce",
            claim: "a first Sentinel that is stopped is waited for, 60 s",
            both: &[FIRST_IS_STOPPED],
            with: &[("sentinels.discovery", "lettuce")],
            shows: |without, with| !without.grants("c1").is_empty() && with.grants("c1").is_empty(),
            ..Row::on(WATCHED)
        },
        Row {
            word: "sentinels.discovery=lettuce",
            claim: "where no Sentinel answers, c1 goes to the last master that one named",
            both: &[RESET, ALL_ARE_DEAD],
            with: &[("sentinels.discovery", "lettuce")],
            shows: |without, with| without.grants("c1").len() == 1 && with.grants("c1").len() == 2,
            ..Row::on(WATCHED)
        },
    ]
}

const FIRST_IS_DEAD: (&str, &str) = ("faults", "[{ kind = 'crash', host = 'S1', at = '1s' }]");
/// And c1 has lost its connection.
const ALL_ARE_DEAD: (&str, &str) = (
    "faults",
    "[{ kind = 'crash', host = ['S1', 'S2', 'S3'], at = '4s' }, \
     { kind = 'reset-connections', from = 'c1', to = 'M', at = '5s' }]",
);
const FIRST_IS_STOPPED: (&str, &str) =
    ("faults", "[{ kind = 'pause', host = 'S1', at = '1s', for = '90s' }]");
/// The master answers nobody for 20 s, and ends no connection.
const STANDS_STILL: (&str, &str) = ("faults", "[{ kind = 'pause', host = 'M', at = '5s', for = '20s' }]");
/// c1 loses its connection, extends the lease, and so has to connect again.
const RESET: (&str, &str) = (
    "clients.0",
    "{ name = 'c1', start = '3s', program = ['acquire', 'work 4s', 'release', 'acquire', 'work 60s'] }",
);

fn listening() -> Vec<Row> {
    vec![
        Row {
            word: "sentinels.discovery=jedis",
            claim: "c1 listens to every Sentinel from the beginning",
            with: &[("sentinels.discovery", "jedis")],
            shows: |without, with| dialed(without, "S3") == 0 && dialed(with, "S3") >= 2 && follows(with),
            ..Row::on(WATCHED)
        },
        Row {
            word: "sentinels.discovery=go-redis",
            claim: "c1 asks all Sentinels at once, and keeps one",
            with: &[("sentinels.discovery", "go-redis")],
            shows: |without, with| dialed(without, "S3") == 0 && dialed(with, "S3") == 1 && follows(with),
            ..Row::on(WATCHED)
        },
        Row {
            word: "sentinels.discovery=redisson",
            claim: "a driver that connects beside its requests leaves a master that stands still, too",
            both: &[("lock.driver", "ioredis-5"), ("lock.request_timeout", "3s"), STANDS_STILL],
            with: &[("sentinels.discovery", "redisson")],
            shows: |without, with| {
                let stood_still = without.struck(0) + 20 * SEC;
                let after = with.grant("c2").at - with.struck(0);
                without.grants("c2").iter().all(|it| it.at > stood_still)
                    && (5 * SEC..8 * SEC).contains(&after)
            },
            ..Row::on(WATCHED)
        },
        Row {
            word: "sentinels.discovery=redisson",
            claim: "c1 asks a Sentinel each second",
            with: &[("sentinels.discovery", "redisson")],
            shows: |without, with| {
                let asked = |seen: &Seen| {
                    ["S1", "S2", "S3"].iter().map(|it| seen.sent("c1", it).len()).sum::<usize>()
                };
                asked(without) < 10 && asked(with) > 25 && follows(with)
            },
            ..Row::on(WATCHED)
        },
    ]
}
