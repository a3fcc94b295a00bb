//! What COMMAND DOCS and COMMAND INFO say of the commands about keys of any type.

use super::{
    Argument, Section, all, block, doc, integer, key, key_pattern, one, one_of, pattern, string, token,
    unix_time, unknown,
};

/// SORT's categories: those of what it sorts, and that it may take long.
const SORTS: &[&str] = &["set", "sortedset", "list", "dangerous"];
static SORT: &[Argument] = &[
    key("key", 0),
    key_pattern("pattern", 1).with_token("BY").optional(),
    block("offset_count", &[integer("offset"), integer("count")]).with_token("LIMIT").optional(),
    key_pattern("pattern", 1).with_token("GET").optional().multiple_with_token(),
    one_of("order", &[token("asc", "ASC"), token("desc", "DESC")]).optional(),
    token("sorting", "ALPHA").optional(),
    key("destination", 2).with_token("STORE").optional(),
];

pub(super) static GENERIC: Section = Section {
    group: "generic",
    categories: &["keyspace"],
    docs: &[
        doc(
            "copy",
            "6.2.0",
            "Stores a copy of a value, with its lifetime, under another key",
            "O(N), N being the size of the value",
        )
        .keys(&[one(1, "RO access"), one(2, "OW update")])
        .takes(&[
            key("source", 0),
            key("destination", 1),
            integer("destination-db").with_token("DB").optional(),
            token("replace", "REPLACE").optional(),
        ]),
        doc("del", "1.0.0", "Deletes keys and tells how many were there", "O(N), N being the number of keys")
            .tips(&["request_policy:multi_shard", "response_policy:agg_sum"])
            .keys(&[all(1, 1, "RM delete")])
            .takes(&[key("key", 0).multiple()]),
        doc("exists", "1.0.0", "Counts how many of the keys exist", "O(N), N being the number of keys")
            .tips(&["request_policy:multi_shard", "response_policy:agg_sum"])
            .keys(&[all(1, 1, "RO")])
            .takes(&[key("key", 0).multiple()]),
        doc("expire", "1.0.0", "Gives a key a lifetime in seconds", "O(1)")
            .keys(&[one(1, "RW update")])
            .takes(&[
                key("key", 0),
                integer("seconds"),
                one_of(
                    "condition",
                    &[token("nx", "NX"), token("xx", "XX"), token("gt", "GT"), token("lt", "LT")],
                )
                .with_version("7.0.0")
                .optional(),
            ]),
        doc("expireat", "1.2.0", "Makes a key end at a Unix time in seconds", "O(1)")
            .keys(&[one(1, "RW update")])
            .takes(&[
                key("key", 0),
                unix_time("unix-time-seconds"),
                one_of(
                    "condition",
                    &[token("nx", "NX"), token("xx", "XX"), token("gt", "GT"), token("lt", "LT")],
                )
                .with_version("7.0.0")
                .optional(),
            ]),
        doc("expiretime", "7.0.0", "Tells the Unix time in seconds at which a key ends", "O(1)")
            .keys(&[one(1, "RO access")])
            .takes(&[key("key", 0)]),
        doc(
            "keys",
            "1.0.0",
            "Lists the keys that match a pattern",
            "O(N), N being the number of keys in the database",
        )
        .categories(&["keyspace", "dangerous"])
        .tips(&["request_policy:all_shards", "nondeterministic_output_order"])
        .takes(&[pattern("pattern")]),
        doc("move", "1.0.0", "Takes a key to another database", "O(1)")
            .keys(&[one(1, "RW access update")])
            .takes(&[key("key", 0), integer("db")]),
        doc("object", "2.2.3", "Tells how values are kept", "Depends on the subcommand"),
        doc("object|encoding", "2.2.3", "Tells how a value is kept", "O(1)")
            .tips(&["nondeterministic_output"])
            .keys(&[one(2, "RO")])
            .takes(&[key("key", 0)]),
        doc("object|freq", "4.0.0", "Tells how often a key is used", "O(1)")
            .tips(&["nondeterministic_output"])
            .keys(&[one(2, "RO")])
            .takes(&[key("key", 0)]),
        doc("object|help", "6.2.0", "Says what the subcommands do", "O(1)"),
        doc("object|idletime", "2.2.3", "Tells how long a key has not been used", "O(1)")
            .tips(&["nondeterministic_output"])
            .keys(&[one(2, "RO")])
            .takes(&[key("key", 0)]),
        doc("object|refcount", "2.2.3", "Tells how many references a value has", "O(1)")
            .tips(&["nondeterministic_output"])
            .keys(&[one(2, "RO")])
            .takes(&[key("key", 0)]),
        doc("persist", "2.2.0", "Takes a key's lifetime away", "O(1)")
            .keys(&[one(1, "RW update")])
            .takes(&[key("key", 0)]),
        doc("pexpire", "2.6.0", "Gives a key a lifetime in milliseconds", "O(1)")
            .keys(&[one(1, "RW update")])
            .takes(&[
                key("key", 0),
                integer("milliseconds"),
                one_of(
                    "condition",
                    &[token("nx", "NX"), token("xx", "XX"), token("gt", "GT"), token("lt", "LT")],
                )
                .with_version("7.0.0")
                .optional(),
            ]),
        doc("pexpireat", "2.6.0", "Makes a key end at a Unix time in milliseconds", "O(1)")
            .keys(&[one(1, "RW update")])
            .takes(&[
                key("key", 0),
                unix_time("unix-time-milliseconds"),
                one_of(
                    "condition",
                    &[token("nx", "NX"), token("xx", "XX"), token("gt", "GT"), token("lt", "LT")],
                )
                .with_version("7.0.0")
                .optional(),
            ]),
        doc("pexpiretime", "7.0.0", "Tells the Unix time in milliseconds at which a key ends", "O(1)")
            .keys(&[one(1, "RO access")])
            .takes(&[key("key", 0)]),
        doc("pttl", "2.6.0", "Tells how many milliseconds a key has left", "O(1)")
            .tips(&["nondeterministic_output"])
            .keys(&[one(1, "RO access")])
            .takes(&[key("key", 0)]),
        doc(
            "randomkey",
            "1.0.0",
            "Names one of the keys, whichever",
            "O(N) here, N being the number of keys in the database",
        )
        .tips(&["request_policy:all_shards", "nondeterministic_output"]),
        doc("rename", "1.0.0", "Gives a key another name and replaces what has it", "O(1)")
            .keys(&[one(1, "RW access delete"), one(2, "OW update")])
            .takes(&[key("key", 0), key("newkey", 1)]),
        doc("renamenx", "1.0.0", "Gives a key another name if nothing has it", "O(1)")
            .keys(&[one(1, "RW access delete"), one(2, "OW insert")])
            .takes(&[key("key", 0), key("newkey", 1)]),
        doc(
            "scan",
            "2.8.0",
            "Goes through the keys, some a call",
            "O(N) for a whole round, N being the number of keys in the database",
        )
        .tips(&["nondeterministic_output", "request_policy:special"])
        .takes(&[
            integer("cursor"),
            pattern("pattern").with_token("MATCH").optional(),
            integer("count").with_token("COUNT").optional(),
            string("type").with_token("TYPE").with_version("6.0.0").optional(),
        ]),
        doc(
            "sort",
            "1.0.0",
            "Puts the elements of a list, set or sorted set in an order",
            "O(N*log(N)), N being the number of elements",
        )
        .categories(SORTS)
        .keys(&[one(1, "RO access"), unknown(None, "RO access"), unknown(Some("STORE"), "OW update")])
        .takes(SORT),
        doc(
            "sort_ro",
            "7.0.0",
            "Puts the elements of a list, set or sorted set in an order and stores nothing",
            "O(N*log(N)), N being the number of elements",
        )
        .categories(SORTS)
        .keys(&[one(1, "RO access"), unknown(None, "RO access")])
        .takes(SORT.split_at(6).0),
        doc("touch", "3.2.1", "Counts how many of the keys exist", "O(N), N being the number of keys")
            .tips(&["request_policy:multi_shard", "response_policy:agg_sum"])
            .keys(&[all(1, 1, "RO")])
            .takes(&[key("key", 0).multiple()]),
        doc("ttl", "1.0.0", "Tells how many seconds a key has left", "O(1)")
            .tips(&["nondeterministic_output"])
            .keys(&[one(1, "RO access")])
            .takes(&[key("key", 0)]),
        doc("type", "1.0.0", "Tells what kind of value a key has", "O(1)")
            .keys(&[one(1, "RO")])
            .takes(&[key("key", 0)]),
        doc(
            "unlink",
            "4.0.0",
            "Deletes keys and tells how many were there",
            "O(N), N being the number of keys",
        )
        .tips(&["request_policy:multi_shard", "response_policy:agg_sum"])
        .keys(&[all(1, 1, "RM delete")])
        .takes(&[key("key", 0).multiple()]),
        doc("wait", "3.0.0", "Waits until enough replicas have this connection's writes", "O(1)")
            .categories(&["connection"])
            .tips(&["request_policy:all_shards", "response_policy:agg_min"])
            .takes(&[integer("numreplicas"), integer("timeout")]),
        doc("waitaof", "7.2.0", "Waits until this connection's writes are in enough files", "O(1)")
            .categories(&["connection"])
            .tips(&["request_policy:all_shards", "response_policy:agg_min"])
            .takes(&[integer("numlocal"), integer("numreplicas"), integer("timeout")]),
    ],
};
