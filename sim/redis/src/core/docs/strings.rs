//! What COMMAND DOCS and COMMAND INFO say of the commands about strings.

use super::{Section, all, block, doc, double, integer, key, one, one_of, string, token, unix_time};

pub(super) static STRINGS: Section = Section {
    group: "string",
    categories: &["string"],
    docs: &[
        doc(
            "append",
            "2.0.0",
            "Adds text to the end of a string, or stores it where nothing is",
            "O(M), M being the length of the text",
        )
        .keys(&[one(1, "RW insert")])
        .takes(&[key("key", 0), string("value")]),
        doc("decr", "1.0.0", "Takes one from a number", "O(1)")
            .keys(&[one(1, "RW access update")])
            .takes(&[key("key", 0)]),
        doc("decrby", "1.0.0", "Takes an amount from a number", "O(1)")
            .keys(&[one(1, "RW access update")])
            .takes(&[key("key", 0), integer("decrement")]),
        doc(
            "delex",
            "8.4.0",
            "Deletes a key if its string compares as asked",
            "O(N), N being the length of the string",
        )
        .keys(&[one(1, "RW delete variable_flags")])
        .takes(&[
            key("key", 0),
            one_of(
                "condition",
                &[
                    string("ifeq-value").with_token("IFEQ"),
                    string("ifne-value").with_token("IFNE"),
                    integer("ifdeq-digest").with_token("IFDEQ"),
                    integer("ifdne-digest").with_token("IFDNE"),
                ],
            )
            .optional(),
        ]),
        doc(
            "delifeq",
            "9.0.0",
            "Deletes a key if it holds this string, on Valkey",
            "O(N), N being the length of the string",
        )
        .keys(&[one(1, "RW delete")])
        .takes(&[key("key", 0), string("value")]),
        doc("digest", "8.4.0", "Tells the XXH3 hash of a string", "O(N), N being the length of the string")
            .keys(&[one(1, "RO access")])
            .takes(&[key("key", 0)]),
        doc("get", "1.0.0", "Reads a string", "O(1)").keys(&[one(1, "RO access")]).takes(&[key("key", 0)]),
        doc("getdel", "6.2.0", "Reads a string and deletes its key", "O(1)")
            .keys(&[one(1, "RW access delete")])
            .takes(&[key("key", 0)]),
        doc("getex", "6.2.0", "Reads a string and changes its lifetime on the way", "O(1)")
            .keys(&[one(1, "RW access update")])
            .takes(&[
                key("key", 0),
                one_of(
                    "expiration",
                    &[
                        integer("seconds").with_token("EX"),
                        integer("milliseconds").with_token("PX"),
                        unix_time("unix-time-seconds").with_token("EXAT"),
                        unix_time("unix-time-milliseconds").with_token("PXAT"),
                        token("persist", "PERSIST"),
                    ],
                )
                .optional(),
            ]),
        doc("getrange", "2.4.0", "Reads a part of a string", "O(N), N being the length of the part")
            .keys(&[one(1, "RO access")])
            .takes(&[key("key", 0), integer("start"), integer("end")]),
        doc("getset", "1.0.0", "Stores a string and answers with the one before", "O(1)")
            .with_deprecation("6.2.0", "`SET` with `GET`")
            .keys(&[one(1, "RW access update")])
            .takes(&[key("key", 0), string("value")]),
        doc("incr", "1.0.0", "Adds one to a number", "O(1)")
            .keys(&[one(1, "RW access update")])
            .takes(&[key("key", 0)]),
        doc("incrby", "1.0.0", "Adds an amount to a number", "O(1)")
            .keys(&[one(1, "RW access update")])
            .takes(&[key("key", 0), integer("increment")]),
        doc("incrbyfloat", "2.6.0", "Adds an amount to a number with a fraction", "O(1)")
            .keys(&[one(1, "RW access update")])
            .takes(&[key("key", 0), double("increment")]),
        doc("mget", "1.0.0", "Reads several strings", "O(N), N being the number of keys")
            .tips(&["request_policy:multi_shard"])
            .keys(&[all(1, 1, "RO access")])
            .takes(&[key("key", 0).multiple()]),
        doc("mset", "1.0.1", "Stores several strings", "O(N), N being the number of keys")
            .tips(&["request_policy:multi_shard", "response_policy:all_succeeded"])
            .keys(&[all(1, 2, "OW update")])
            .takes(&[block("key_value", &[key("key", 0), string("value")]).multiple()]),
        doc(
            "msetnx",
            "1.0.1",
            "Stores several strings if none of their keys exists",
            "O(N), N being the number of keys",
        )
        .tips(&["request_policy:multi_shard", "response_policy:agg_min"])
        .keys(&[all(1, 2, "OW insert")])
        .takes(&[block("key_value", &[key("key", 0), string("value")]).multiple()]),
        doc("psetex", "2.6.0", "Stores a string with a lifetime in milliseconds", "O(1)")
            .keys(&[one(1, "OW update")])
            .takes(&[key("key", 0), integer("milliseconds"), string("value")]),
        doc("set", "1.0.0", "Stores a string, under conditions and with a lifetime if asked to", "O(1)")
            .keys(&[one(1, "RW access update variable_flags")])
            .takes(&[
                key("key", 0),
                string("value"),
                one_of("condition", &[token("nx", "NX"), token("xx", "XX")])
                    .with_version("2.6.12")
                    .optional(),
                token("get", "GET").with_version("6.2.0").optional(),
                one_of(
                    "expiration",
                    &[
                        integer("seconds").with_token("EX").with_version("2.6.12"),
                        integer("milliseconds").with_token("PX").with_version("2.6.12"),
                        unix_time("unix-time-seconds").with_token("EXAT").with_version("6.2.0"),
                        unix_time("unix-time-milliseconds").with_token("PXAT").with_version("6.2.0"),
                        token("keepttl", "KEEPTTL").with_version("6.0.0"),
                    ],
                )
                .optional(),
            ]),
        doc("setex", "2.0.0", "Stores a string with a lifetime in seconds", "O(1)")
            .keys(&[one(1, "OW update")])
            .takes(&[key("key", 0), integer("seconds"), string("value")]),
        doc("setnx", "1.0.0", "Stores a string if its key does not exist", "O(1)")
            .keys(&[one(1, "OW insert")])
            .takes(&[key("key", 0), string("value")]),
        doc(
            "setrange",
            "2.2.0",
            "Writes over a part of a string",
            "O(M), M being the length of the new part",
        )
        .keys(&[one(1, "RW update")])
        .takes(&[key("key", 0), integer("offset"), string("value")]),
        doc("strlen", "2.2.0", "Tells how long a string is", "O(1)")
            .keys(&[one(1, "RO")])
            .takes(&[key("key", 0)]),
        doc("substr", "1.0.0", "Reads a part of a string", "O(N), N being the length of the part")
            .with_deprecation("2.0.0", "`GETRANGE`")
            .keys(&[one(1, "RO access")])
            .takes(&[key("key", 0), integer("start"), integer("end")]),
    ],
};
