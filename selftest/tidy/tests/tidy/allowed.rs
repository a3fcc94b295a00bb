//! What does not keep a rule yet. These lists and numbers may only get smaller, and nothing new gets on them.

/// How many lines of each package are too wide.
pub(crate) const WIDE: &[(&str, usize)] = &[("reports", 1), ("scenarios/history", 5), ("sim/redis", 7)];

/// In how many files of each package other imports come before those of `std`.
pub(crate) const IMPORTS: &[(&str, usize)] = &[("lockimpl", 1), ("sim/redis", 1)];

/// How many functions of each package do not say when they fail.
pub(crate) const ERRORS_SECTIONS: &[(&str, usize)] = &[("sim", 3)];

/// How many functions of each package are too long: tables, mostly in tests.
pub(crate) const LONG_FUNCTIONS: &[(&str, usize)] = &[("scenarios", 3), ("sim", 1)];

/// How many files of each package are too long.
pub(crate) const LONG_FILES: &[(&str, usize)] =
    &[("scenarios", 1), ("scenarios/history", 1), ("sim", 1), ("sim/redis", 3)];

/// How often each package uses a word of the list, counted by file.
pub(crate) const POETRY: &[(&str, usize)] = &[("sim/redis", 3)];

/// Names of public types that two crates have, and why.
pub(crate) const SHARED_NAMES: &[(&str, &str)] = &[
    ("BootTime", "locks never name the simulator; what a clock reads is the same three types there"),
    ("Client", "a client's machine for somebody's own lock; in reports the same, in the simulated world"),
    ("ClockKind", "histories know nothing of the kernel; both name the three clocks"),
    ("DatabaseClient", "as Client"),
    ("Deadline", "a lock's is of its client's types, a history's is numbers"),
    ("DeadlinePassed", "what a race with a timer comes to, in the kernel and for locks"),
    ("EtcdClient", "as Client"),
    ("Event", "of the trace and of the history: the vocabulary has both"),
    ("Fault", "as a scenario names it, and as the kernel does it"),
    ("Guard", "of somebody's own lock: what our library asks of one, and an example's"),
    ("Kind", "of a lock's switch, and of a fault"),
    ("Limits", "of a run, and of a node: redis.conf's word"),
    ("Lock", "what every lock of ours is, and an example's, which knows nothing of us"),
    ("MonotonicTime", "as BootTime"),
    ("Order", "of Redlock's requests, and of a reply's parts"),
    ("Persistence", "a scenario's choice, and what the node does"),
    ("Refusal", "a lock refuses, and a resource does"),
    ("Role", "of a host, and Redis' ROLE"),
    ("Span", "of time, and of bytes"),
    ("Step", "of a program, and of a cycle in the evidence"),
    ("TraceHash", "a run's, which any engine can have, and how the kernel makes one"),
    ("WallTime", "as BootTime"),
    ("World", "what a test describes, and what the kernel makes of it in each run"),
    ("ZooKeeperClient", "as Client"),
];
