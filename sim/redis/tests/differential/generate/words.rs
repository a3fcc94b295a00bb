//! What the `$words` of templates stand for: data only.

pub(crate) const SET_OPTIONS: &[(usize, &str)] = &[
    (8, "NX"),
    (8, "XX"),
    (8, "GET"),
    (6, "KEEPTTL"),
    (5, "EX $lt"),
    (7, "PX $plt"),
    (4, "EXAT $at"),
    (4, "PXAT $pat"),
    (1, "EX $odd"),
    (1, "PX $odd"),
    (1, "EXAT $odd"),
    (1, "PXAT $odd"),
    (1, "PX $short"),
    (1, "EX"),
    (1, "nosuchoption"),
];

pub(crate) const GETEX_OPTIONS: &[(usize, &str)] = &[
    (6, "PERSIST"),
    (5, "EX $lt"),
    (5, "PX $plt"),
    (3, "EXAT $at"),
    (3, "PXAT $pat"),
    (1, "EX $odd"),
    (1, "PXAT $odd"),
    (1, "PX $short"),
    (1, "EX"),
    (1, "KEEPTTL"),
    (1, "NX"),
    (1, "nosuchoption"),
];

pub(crate) const COPY_OPTIONS: &[&str] =
    &["REPLACE", "replace", "DB 1", "db 0", "DB $odd", "DB", "nosuchoption"];

pub(crate) const SCAN_OPTIONS: &[&str] = &["COUNT", "MATCH", "TYPE", "nosuchoption"];

/// Elements of lists, members of sets and sorted sets: so few that one meets another of its kind.
pub(crate) const ELEMENTS: &[&str] =
    &["a", "b", "c", "d", "aa", "ab", "1", "2", "3", "-1", "01", "", "two words"];

/// Scores: no two sums of them are equal by rounding only.
pub(crate) const SCORES: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "1",
    "2",
    "-1",
    "1.5",
    "0.1",
    "-0",
    "1e3",
    "inf",
    "-inf",
    "+inf",
    "3.0e-5",
    "0x1f",
    "12345678901234567",
];

pub(crate) const SCORE_BOUNDS: &[&str] = &[
    "-inf", "+inf", "-inf", "+inf", "0", "1", "(1", "2", "(2", "-1", "1.5", "(inf", "", "(", " 1", "x",
    "nan", "1 ",
];

pub(crate) const NAME_BOUNDS: &[&str] =
    &["-", "+", "-", "+", "[a", "(a", "[b", "(c", "[aa", "[", "(", "", "a", "-x", "[z"];

pub(crate) const ZRANGE_OPTIONS: &[&str] = &[
    "WITHSCORES",
    "LIMIT 0 2",
    "LIMIT 1 -1",
    "LIMIT $index $index",
    "limit 0 $odd",
    "LIMIT 0",
    "REV",
    "BYSCORE",
    "BYLEX",
    "nosuchoption",
];

pub(crate) const ZSET_OPTIONS: &[&str] = &[
    "WITHSCORES",
    "WEIGHTS 2 3",
    "WEIGHTS 0.5 -1",
    "WEIGHTS inf 0",
    "weights 1 $odd",
    "WEIGHTS 1",
    "AGGREGATE MIN",
    "AGGREGATE MAX",
    "AGGREGATE sum",
    "AGGREGATE $odd",
    "LIMIT 1",
];

pub(crate) const LPOS_OPTIONS: &[&str] = &[
    "RANK 1",
    "RANK -1",
    "RANK 2",
    "rank $odd",
    "COUNT $few",
    "COUNT 0",
    "COUNT $odd",
    "MAXLEN $few",
    "MAXLEN $odd",
    "RANK",
];

/// Numbers with fractions at the edge of being one, and what is none.
pub(crate) const FLOATS: &[&str] = &[
    "0",
    "0.1",
    "-0.5",
    "18446744073709551615.5",
    "0x1.8p3",
    "1e4932",
    "3.6e-4951",
    "inf",
    "-Infinity",
    "nan",
    "1e",
    " 1",
    "1.5.1",
];

/// Places in strings of some bytes.
pub(crate) const INDEXES: &[&str] =
    &["0", "0", "-1", "-1", "1", "2", "3", "5", "-2", "-3", "-7", "100", "-100", "9223372036854775807"];

/// Where SETRANGE may write without making a string of hundreds of megabytes; or may not at all.
pub(crate) const OFFSETS: &[&str] = &["0", "1", "2", "5", "30", "-1", "536870912", "4294967296"];

/// What CLUSTER is asked.
pub(crate) const CLUSTER_QUESTIONS: &[&str] = &[
    "SLOTS",
    "SHARDS",
    "NODES",
    "INFO",
    "KEYSLOT $k",
    "KEYSLOT",
    "MYID",
    "HELP",
    "ADDSLOTS 1 $odd",
    "ADDSLOTS",
    "FAILOVER TAKEOVER",
    "MEET 127.0.0.1 1 $junk",
    "SETSLOT 1",
    "RESET $v",
    "COUNTKEYSINSLOT $odd",
    "GETKEYSINSLOT 1 10",
    "$junk",
];

/// Nobody follows the servers that are compared: none of these begins anything.
pub(crate) const FAILOVER_OPTIONS: &[&str] = &[
    "ABORT",
    "abort $v",
    "TO 127.0.0.1 1",
    "TO 127.0.0.1 $odd",
    "TO 127.0.0.1",
    "TO 127.0.0.1 1 FORCE TIMEOUT 10",
    "TO 127.0.0.1 1 TO 127.0.0.1 1",
    "FORCE",
    "FORCE FORCE",
    "TIMEOUT $odd",
    "TIMEOUT 10",
    "TIMEOUT 10 TIMEOUT 10",
    "TIMEOUT",
    "$junk",
];

/// Commands whose description is all of the command, not only of the subcommands the node has.
pub(crate) const COMMANDS: &[&str] = &[
    "get",
    "SET",
    "mset",
    "eval",
    "EVALSHA",
    "hgetall",
    "ping",
    "rename",
    "copy",
    "getex",
    "client|list",
    "scan",
];

pub(crate) const KEYS: &[(usize, &[u8])] = &[
    (24, b"k1"),
    (14, b"k2"),
    (8, b"k3"),
    (10, b"h1"),
    (6, b"h2"),
    (8, b"n1"),
    (1, b""),
    (1, b"a key"),
    (1, b"\x00\xff\r\n"),
];

pub(crate) const VALUES: &[&[u8]] = &[
    b"v",
    b"w",
    b"token-1",
    b"token-2",
    b"",
    b"0",
    b"10",
    b"-1",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"9223372036854775808",
    b"abc",
    b"3.14",
    b" 1",
    b"1 ",
    b"0x10",
    b"1e3",
    b"01",
    b"-0",
    b"+1",
    b"nan",
    b"two words",
    b"\x00\xff",
    b"line\r\nline",
    b"it's \"quoted\"",
    b"%d {} \\",
];

/// Lock owners: one seldom meets another's lock by chance.
pub(crate) const TOKENS: &[&str] = &["token-1", "token-1", "token-1", "token-2", "token-1:with-more", ""];

pub(crate) const FIELDS: &[&str] = &["f1", "f2", "f3", "count", "", "a field"];

/// Never a small positive number: as a lifetime it could end while the script runs.
pub(crate) const ODD_NUMBERS: &[&str] = &[
    "0",
    "-1",
    "-100",
    "",
    "abc",
    "1.5",
    " 5",
    "5 ",
    "+5",
    "05",
    "0x10",
    "1e5",
    "-0",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "99999999999999999999",
    "9223372036854775",
    "9223370000000000",
    "-9223372036854776",
    "18446744073709551616",
    "4294967296",
    "2147483648",
    "nan",
    "inf",
    "one",
];

/// Seconds since the Unix epoch: long past, or far away.
pub(crate) const MOMENTS: &[&str] =
    &["1", "1000000000", "1600000000", "4102444800", "4102444801", "9999999999", "32503680000"];

pub(crate) const CONDITIONS: &[&str] = &["NX", "XX", "GT", "LT", "nx", "Xx", "gt", "lt", "nosuchoption"];

pub(crate) const PATTERNS: &[&str] = &[
    "*", "k*", "?1", "[kh]1", "[^k]*", "k[1-2]", "h", "", "\\k1", "[", "k[", "*1*", "k1", "[k-", "k\\", "**",
    "[2-1]", "[]1",
];

pub(crate) const SETTINGS: &[&str] = &[
    "appendonly",
    "APPENDFSYNC",
    "databases",
    "timeout",
    "save",
    "maxmemory",
    "maxmemory-policy",
    "min-replicas-to-write",
    "min-slaves-max-lag",
    "replica-priority",
    "slave-read-only",
    "replica-serve-stale-data",
    "busy-reply-threshold",
    "lua-time-limit",
    "notify-keyspace-events",
    "stop-writes-on-bgsave-error",
    "nosuchsetting",
    "min-replicas-*",
    "",
];

pub(crate) const UNKNOWN_COMMANDS: &[&str] = &[
    "NOSUCHCOMMAND",
    "GETT",
    "g",
    "",
    "SET ",
    "it's",
    "a-command-name-that-is-longer-than-any-command-that-redis-has-and-still-goes-on-and-on-and-on-until-it-is-cut-off-somewhere-after-one-hundred-and-twenty-eight-bytes",
    "tab\there",
    "line\r\nbreak",
];

/// Scripts whose replies or arguments are large.
pub(crate) const LARGE_SCRIPTS: &[&str] = &[
    "local t = {} for i = 1, 7000 do t[i] = i end return t",
    "return redis.call('get', KEYS[1])",
    "return #redis.call('keys', 'many:*')",
    "return redis.call('mget', 'many:1', 'many:2', 'many:3000')",
    "for i = 1, 3000 do redis.call('set', 'many:' .. i, i) end return redis.call('dbsize')",
    "return string.rep('x', 1000000)",
    "return {#ARGV, ARGV[1], ARGV[#ARGV]}",
    "return redis.call('del', unpack(ARGV))",
    "return redis.call('strlen', KEYS[1])",
];
