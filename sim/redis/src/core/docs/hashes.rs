//! What COMMAND DOCS and COMMAND INFO say of the commands about hashes.

use super::{Section, block, doc, double, integer, key, one, pattern, string, token};

pub(super) static HASHES: Section = Section {
    group: "hash",
    categories: &["hash"],
    docs: &[
        doc("hdel", "2.0.0", "Deletes fields of a hash", "O(N), N being the number of fields named")
            .keys(&[one(1, "RW delete")])
            .takes(&[key("key", 0), string("field").multiple()]),
        doc("hexists", "2.0.0", "Tells whether a hash has a field", "O(1)")
            .keys(&[one(1, "RO")])
            .takes(&[key("key", 0), string("field")]),
        doc("hget", "2.0.0", "Reads one field of a hash", "O(1)")
            .keys(&[one(1, "RO access")])
            .takes(&[key("key", 0), string("field")]),
        doc("hgetall", "2.0.0", "Reads all of a hash", "O(N), N being the number of its fields")
            .tips(&["nondeterministic_output_order"])
            .keys(&[one(1, "RO access")])
            .takes(&[key("key", 0)]),
        doc("hincrby", "2.0.0", "Adds an amount to a number in a hash", "O(1)")
            .keys(&[one(1, "RW access update")])
            .takes(&[key("key", 0), string("field"), integer("increment")]),
        doc("hincrbyfloat", "2.6.0", "Adds an amount to a number with a fraction in a field", "O(1)")
            .keys(&[one(1, "RW access update")])
            .takes(&[key("key", 0), string("field"), double("increment")]),
        doc("hkeys", "2.0.0", "Lists the fields of a hash", "O(N), N being the number of its fields")
            .tips(&["nondeterministic_output_order"])
            .keys(&[one(1, "RO access")])
            .takes(&[key("key", 0)]),
        doc("hlen", "2.0.0", "Counts the fields of a hash", "O(1)")
            .keys(&[one(1, "RO")])
            .takes(&[key("key", 0)]),
        doc("hmget", "2.0.0", "Reads several fields of a hash", "O(N), N being the number of fields named")
            .keys(&[one(1, "RO access")])
            .takes(&[key("key", 0), string("field").multiple()]),
        doc("hmset", "2.0.0", "Sets fields of a hash", "O(N), N being the number of fields named")
            .with_deprecation("4.0.0", "`HSET`")
            .keys(&[one(1, "RW update")])
            .takes(&[key("key", 0), block("field_value", &[string("field"), string("value")]).multiple()]),
        doc("hrandfield", "6.2.0", "Draws fields of a hash", "O(N), N being the number of its fields")
            .tips(&["nondeterministic_output"])
            .keys(&[one(1, "RO access")])
            .takes(&[
                key("key", 0),
                block("options", &[integer("count"), token("withvalues", "WITHVALUES").optional()])
                    .optional(),
            ]),
        doc(
            "hscan",
            "2.8.0",
            "Goes through a hash, some fields a call",
            "O(N) for a call here, N being the number of its fields",
        )
        .tips(&["nondeterministic_output"])
        .keys(&[one(1, "RO access")])
        .takes(&[
            key("key", 0),
            integer("cursor"),
            pattern("pattern").with_token("MATCH").optional(),
            integer("count").with_token("COUNT").optional(),
        ]),
        doc(
            "hset",
            "2.0.0",
            "Sets fields of a hash and tells how many are new",
            "O(N), N being the number of fields named",
        )
        .keys(&[one(1, "RW update")])
        .takes(&[key("key", 0), block("field_value", &[string("field"), string("value")]).multiple()]),
        doc("hsetnx", "2.0.0", "Sets a field of a hash that is not there yet", "O(1)")
            .keys(&[one(1, "RW insert")])
            .takes(&[key("key", 0), string("field"), string("value")]),
        doc("hstrlen", "3.2.0", "Tells how long the value of a field is", "O(1)")
            .keys(&[one(1, "RO")])
            .takes(&[key("key", 0), string("field")]),
        doc("hvals", "2.0.0", "Lists the values of a hash", "O(N), N being the number of its fields")
            .tips(&["nondeterministic_output_order"])
            .keys(&[one(1, "RO access")])
            .takes(&[key("key", 0)]),
    ],
};
