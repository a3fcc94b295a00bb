//! All words: what each is called, takes and does.

use std::sync::Arc;
use std::time::Duration;

use doublehold_history::Predicate;
use doublehold_scenarios::when::When;

use crate::serve::record::Statement;
use crate::serve::weather::host::Host;
use crate::serve::weather::links::Way;
use crate::serve::weather::strikes::Strike;

/// A word with its arguments.
#[derive(Clone)]
pub(crate) enum Word {
    Clock {
        host: Arc<Host>,
        by_us: i64,
    },
    Drift {
        host: Arc<Host>,
        ppm: i64,
    },
    Pause {
        host: Arc<Host>,
        duration: Duration,
    },
    Slow {
        host: Arc<Host>,
        by: Duration,
    },
    Crash(Arc<Host>),
    Restart(Arc<Host>),
    Promote {
        host: Arc<Host>,
        tell: Vec<Arc<Host>>,
    },
    Flush(Arc<Host>),
    Evict {
        host: Arc<Host>,
        volatile_only: bool,
    },
    /// Lets it refuse writes, or take them again.
    RefuseWrites {
        host: Arc<Host>,
        refuses: bool,
    },
    Strike(Strike),
    /// Another word, at a moment; as it was typed.
    At {
        typed: String,
        when: When,
        word: Box<Word>,
    },
    Cut(Vec<Way>),
    Heal(Vec<Way>),
    HealAll,
    /// Lets each request from a client to a node take so much longer.
    SlowLink {
        way: Way,
        by: Duration,
    },
    /// Ends all connections of a client to a node, without another byte.
    ResetConnections {
        client: String,
        host: Arc<Host>,
    },
    Await {
        over: bool,
        at_most: Duration,
    },
    /// The record that begins is called so.
    Reset {
        name: Option<String>,
    },
    Status,
    Help,
    Iam(String),
    Tell {
        client: String,
        lock: Option<String>,
        told: Statement,
    },
    Read {
        key: String,
    },
    Write {
        key: String,
        value: Vec<u8>,
        fence: Option<u64>,
    },
    Verdict(Option<Predicate>),
    History,
    Picture,
}

/// A word as `HELP` shows it.
pub(super) struct Usage {
    pub(super) name: &'static str,
    pub(super) takes: &'static str,
    pub(super) does: &'static str,
}

const fn usage(name: &'static str, takes: &'static str, does: &'static str) -> Usage {
    Usage { name, takes, does }
}

/// Every word, in the order of `HELP`.
pub(super) const USAGES: &[Usage] = &[
    usage(
        "CLOCK",
        "NODE TIME",
        "steps the node's wall clock, such as by 10s, -500ms or 10000 (milliseconds)",
    ),
    usage(
        "DRIFT",
        "NODE PPM",
        "lets both of its clocks run faster by so many parts of a million, or slower; 0 ends it",
    ),
    usage("PAUSE", "NODE TIME", "stops it for so long, as SIGSTOP does; 0 lets it go on"),
    usage("SLOW", "NODE TIME", "lets each of its commands take so much longer; 0 ends it"),
    usage(
        "HOLD",
        "CLIENT NODE TIME [TEXT]",
        "delays the next request of the client to the node that has TEXT in it; * is any client",
    ),
    usage(
        "DROP",
        "CLIENT NODE [TEXT]",
        "executes the next such request, and ends its connection before the reply",
    ),
    usage("REPEAT", "CLIENT NODE TIME [TEXT]", "executes the next such request, and again so much later"),
    usage(
        "CUT",
        "A B [ONE-WAY]",
        "cuts the link between a client and a node, or between two nodes; ONE-WAY: from the first to the second",
    ),
    usage("HEAL", "[A B [ONE-WAY]]", "ends a cut, or all of them"),
    usage(
        "RESET-CONNECTIONS",
        "CLIENT NODE",
        "ends the client's connections to the node, as a middlebox does that forgets them",
    ),
    usage("CRASH", "NODE", "ends its process at once; its files stay"),
    usage("RESTART", "NODE", "starts it again, with what its files hold (`--persistence`)"),
    usage("PROMOTE", "NODE [TELL OTHER…]", "makes a replica the master, and the others follow it"),
    usage(
        "REFUSE-WRITES",
        "NODE [OFF]",
        "lets it refuse writes at once, as a master that has too few replicas does (NOREPLICAS); OFF ends it",
    ),
    usage("FLUSH", "NODE", "deletes all keys"),
    usage("EVICT", "NODE [VOLATILE]", "evicts all keys, or all that have a lifetime"),
    usage(
        "AT",
        "MOMENT DO WORD…",
        "does one of these at a moment: AT c1's grant DO CLOCK A 10s, AT the 2nd SET executed for c1 on A DO CRASH A, AT \
         1s after c1's release DO FLUSH A",
    ),
    usage(
        "AWAIT",
        "[OVER] [TIME]",
        "answers when each HOLD, DROP, REPEAT and AT has struck, or is over; an error after TIME (4s)",
    ),
    usage(
        "RESET",
        "[NAME]",
        "ends all faults, brings roles back, deletes all data, and begins a new record, of a test of that name",
    ),
    usage("STATUS", "", "lists what is wrong now"),
    usage(
        "IAM",
        "CLIENT",
        "names the client of this connection, for links and verdicts, as CLIENT SETNAME does",
    ),
    usage("ASKS", "CLIENT [LOCK NAME]", "tells that the client is about to ask for the lock"),
    usage(
        "GRANTED",
        "CLIENT [LEASE] [FENCE N] [LOCK NAME]",
        "tells that it was granted it, and how long that is good",
    ),
    usage("REFUSED", "CLIENT [LOCK NAME]", "tells that it was not"),
    usage(
        "EXTENDED",
        "CLIENT [LEASE] [LOCK NAME]",
        "tells that its lease was extended, and how long that is good",
    ),
    usage("LOST", "CLIENT [LOCK NAME]", "tells that it knows that its lock is lost"),
    usage("RELEASES", "CLIENT [LOCK NAME]", "tells that it is about to give the lock back"),
    usage("RELEASED", "CLIENT [NOT-OWNER|UNKNOWN] [LOCK NAME]", "tells what came of that"),
    usage("DIED", "CLIENT", "tells that its process is gone"),
    usage("READ", "KEY", "reads the resource, for the client of this connection"),
    usage("WRITE", "KEY VALUE [FENCE N]", "writes it"),
    usage("VERDICT", "[P1|P2|P3|P4|WR|LV]", "judges what was told so far: holds, violated or inconclusive"),
    usage("HISTORY", "", "returns the record as a history, for `doublehold judge`"),
    usage("PICTURE", "", "returns the record as a picture, in SVG"),
    usage("HELP", "", "lists these words"),
];

/// What scenarios can do and a served node cannot, and what to do in its place.
pub(super) const NEEDS_A_WORLD: &[(&str, &str)] = &[
    ("SUSPEND", "`PAUSE` stops a node; `kill -STOP` and `-CONT` stop your client"),
    ("POWER-LOSS", "`CRASH` ends a node, and what is in its files stays"),
    ("FSYNC-LIES", "`CRASH` and `FLUSH` lose what a node had"),
    ("DISK-SNAPSHOT", "`CRASH` and `FLUSH` lose what a node had"),
    ("DISK-ROLLBACK", "`CRASH` and `FLUSH` lose what a node had"),
    ("CLOCK-FREEZE", "`DRIFT` slows a node's clocks down"),
    ("LOSS", "`HOLD` delays a request, and `CUT` all of them"),
];

impl Usage {
    /// `DOUBLEHOLD HOLD CLIENT NODE TIME [TEXT]`.
    pub(super) fn line(&self) -> String {
        format!("DOUBLEHOLD {} {}", self.name, self.takes).trim_end().to_owned()
    }
}

impl Word {
    /// Whether it strikes or ends a fault.
    pub(super) fn is_fault(&self) -> bool {
        matches!(self, Word::Strike(_)) || super::sentence::of(self).is_some()
    }
}
