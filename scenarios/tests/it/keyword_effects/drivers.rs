//! What drivers do about connections that break, are slow to come or never do: `[lock]`'s `driver`, `reconnect` and
//! what belongs to them.

use crate::keyword_effects::row::{REDLOCK, Row, Sets, check};
use crate::keyword_effects::seen::{MS, Seen, gaps};

pub(crate) fn rows() -> Vec<Row> {
    [driving(), reconnecting(), reconnecting_beside(), named_once(), named(), connecting()]
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn every_driver_does_what_it_says() {
    check(&rows());
}

const TRY_1: (&str, &str) = ("clients.0.program", "['try', 'work 2s', 'release']");

/// All connections to A end right after A has set the key.
const RESET: (&str, &str) =
    ("faults", "[{ kind = 'reset-connections', from = 'c1', to = 'A', at = 'the 1st SET executed for c1' }]");
const ONE_NODE: (&str, &str) = ("nodes.names", "['A']");

/// With a driver that sends again at once.
const DRIVEN: [(&str, &str); 6] = [
    ONE_NODE,
    RESET,
    TRY_1,
    ("lock.tries", "1"),
    ("lock.transport_retries", "20"),
    ("lock.node_timeout", "none"),
];

/// With ioredis 5, which pauses.
const IOREDIS_5: [(&str, &str); 7] =
    [DRIVEN[0], DRIVEN[1], DRIVEN[2], DRIVEN[3], DRIVEN[4], DRIVEN[5], ("lock.reconnect", "ioredis-5")];

fn sets(seen: &Seen) -> Vec<u64> {
    seen.executed("A", "SET", "c1")
}

/// How long after the first time it is sent again; none if it is not.
fn again(seen: &Seen) -> Option<u64> {
    gaps(&sets(seen)).first().copied()
}

fn driving() -> Vec<Row> {
    vec![Row {
        word: "lock.transport_retries",
        claim: "a request whose connection ended is sent again",
        both: &[ONE_NODE, RESET, TRY_1, ("lock.tries", "1")],
        with: &[("lock.transport_retries", "3")],
        shows: |without, with| sets(without).len() == 1 && sets(with).len() == 2,
        ..Row::on(REDLOCK)
    }]
}

/// When it is sent again by a driver that connects for it.
fn reconnecting() -> Vec<Row> {
    vec![
        Row {
            word: "lock.reconnect=at-once",
            claim: "it is sent again at once, and not when a driver's pause is over",
            both: &IOREDIS_5,
            with: &[("lock.reconnect", "at-once")],
            shows: |without, with| gaps(&sets(without))[0] > 50 * MS && gaps(&sets(with))[0] < 50 * MS,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.reconnect=redis-py-8",
            claim: "it is sent again after a pause that is drawn",
            both: &DRIVEN,
            with: &[("lock.reconnect", "redis-py-8")],
            shows: |without, with| gaps(&sets(with))[0] > gaps(&sets(without))[0],
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.reconnect=go-redis-9.21",
            claim: "it is sent again when 8 ms and some more are over",
            both: &DRIVEN,
            with: &[("lock.reconnect", "go-redis-9.21")],
            shows: |without, with| again(with) > again(without) && again(with) >= Some(8 * MS),
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.reconnect=go-redis-9.22",
            claim: "it is sent again when 10 ms and some more are over",
            both: &DRIVEN,
            with: &[("lock.reconnect", "go-redis-9.22")],
            shows: |without, with| again(with) > again(without) && again(with) >= Some(10 * MS),
            ..Row::on(REDLOCK)
        },
    ]
}

/// When it is sent again by a driver that connects beside its requests.
fn reconnecting_beside() -> Vec<Row> {
    vec![
        Row {
            word: "lock.reconnect=ioredis-5",
            claim: "it is sent again when 50 ms are over",
            both: &DRIVEN,
            with: &[("lock.reconnect", "ioredis-5")],
            shows: |without, with| gaps(&sets(without))[0] < 50 * MS && gaps(&sets(with))[0] >= 50 * MS,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.reconnect=ioredis-6",
            claim: "it is sent again when 50 ms and up to 200 ms more are over",
            both: &DRIVEN,
            with: &[("lock.reconnect", "ioredis-6")],
            shows: |without, with| gaps(&sets(without))[0] < 50 * MS && gaps(&sets(with))[0] >= 50 * MS,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.reconnect=bull-4",
            claim: "it is sent again when 2 ms are over, and not 50 ms",
            both: &IOREDIS_5,
            with: &[("lock.reconnect", "bull-4")],
            shows: |without, with| gaps(&sets(without))[0] >= 50 * MS && gaps(&sets(with))[0] < 50 * MS,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.reconnect=bullmq-6",
            claim: "it is sent again when a second is over",
            both: &DRIVEN,
            with: &[("lock.reconnect", "bullmq-6")],
            shows: |without, with| gaps(&sets(without))[0] < 50 * MS && gaps(&sets(with))[0] >= 1_000 * MS,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.reconnect=lettuce-7",
            claim: "it is sent again when 1 ms is over, and not 50 ms",
            both: &IOREDIS_5,
            with: &[("lock.reconnect", "lettuce-7")],
            shows: |without, with| again(without) >= Some(50 * MS) && again(with) < Some(50 * MS),
            ..Row::on(REDLOCK)
        },
    ]
}

/// A request whose connection ends, and no driver that is named.
const RESET_ONLY: Sets = &[ONE_NODE, RESET, TRY_1, ("lock.tries", "1")];
/// The same with a driver that sends it again.
const REDIS_PY_8: Sets =
    &[RESET_ONLY[0], RESET_ONLY[1], RESET_ONLY[2], RESET_ONLY[3], ("lock.driver", "redis-py-8")];

/// These drivers send nothing again.
fn named_once() -> Vec<Row> {
    let named: [(&str, Sets); 4] = [
        ("lock.driver=redis-py-5", &[("lock.driver", "redis-py-5")]),
        ("lock.driver=stackexchange-redis-3", &[("lock.driver", "stackexchange-redis-3")]),
        ("lock.driver=jedis-7", &[("lock.driver", "jedis-7")]),
        ("lock.driver=redisson-4", &[("lock.driver", "redisson-4")]),
    ];
    let row = |(word, with)| Row {
        word,
        claim: "a request whose connection ended is not sent again",
        both: REDIS_PY_8,
        with,
        shows: |without, with| again(without).is_some() && again(with).is_none(),
        ..Row::on(REDLOCK)
    };
    named.map(row).into()
}

/// These send it again, each in its own time.
fn named() -> Vec<Row> {
    vec![
        Row {
            word: "lock.driver=redis-py-8",
            claim: "it is sent again, 1 ms later or more",
            both: RESET_ONLY,
            with: &[("lock.driver", "redis-py-8")],
            shows: |without, with| again(without).is_none() && again(with) >= Some(MS),
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.driver=go-redis-9.21",
            claim: "it is sent again, 8 ms later or more",
            both: RESET_ONLY,
            with: &[("lock.driver", "go-redis-9.21")],
            shows: |without, with| again(without).is_none() && again(with) >= Some(8 * MS),
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.driver=go-redis-9.22",
            claim: "it is sent again, 10 ms later or more",
            both: RESET_ONLY,
            with: &[("lock.driver", "go-redis-9.22")],
            shows: |without, with| again(without).is_none() && again(with) >= Some(10 * MS),
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.driver=ioredis-5",
            claim: "it is sent again, 50 ms later or more",
            both: RESET_ONLY,
            with: &[("lock.driver", "ioredis-5")],
            shows: |without, with| again(without).is_none() && again(with) >= Some(50 * MS),
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.driver=ioredis-6",
            claim: "it is sent again, 50 ms later or more",
            both: RESET_ONLY,
            with: &[("lock.driver", "ioredis-6")],
            shows: |without, with| again(without).is_none() && again(with) >= Some(50 * MS),
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.driver=lettuce-7",
            claim: "it is sent again, 1 ms later or more",
            both: RESET_ONLY,
            with: &[("lock.driver", "lettuce-7")],
            shows: |without, with| again(without).is_none() && again(with) >= Some(MS),
            ..Row::on(REDLOCK)
        },
    ]
}

/// A is out of reach for a while, and a command has all the time there is.
const LOST: Sets = &[
    ONE_NODE,
    TRY_1,
    ("lock.tries", "1"),
    ("lock.node_timeout", "none"),
    ("faults", "[{ kind = 'cut', from = 'c1', to = 'A', at = '0s', for = '3s' }]"),
];
const LOST_SHORT: Sets = &[LOST[0], LOST[1], LOST[2], LOST[3], LOST[4], ("lock.connect_timeout", "100ms")];

fn connecting() -> Vec<Row> {
    vec![
        Row {
            word: "lock.connect_timeout",
            claim: "a connection that does not come in time is a refusal",
            both: LOST,
            with: &[("lock.connect_timeout", "100ms")],
            shows: |without, with| without.refusals("c1").is_empty() && with.refusals("c1").len() == 1,
            ..Row::on(REDLOCK)
        },
        Row {
            word: "lock.connect_timeout=none",
            claim: "a connection is waited for as long as a command may take",
            both: LOST_SHORT,
            with: &[("lock.connect_timeout", "none")],
            shows: |without, with| without.refusals("c1").len() == 1 && with.refusals("c1").is_empty(),
            ..Row::on(REDLOCK)
        },
    ]
}
