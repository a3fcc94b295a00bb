//! What COMMAND DOCS and COMMAND INFO say of the commands about sets.

use super::{Section, all, counted_keys, doc, integer, key, one, pattern, string};

pub(super) static SETS: Section = Section {
    group: "set",
    categories: &["set"],
    docs: &[
        doc("sadd", "1.0.0", "Adds members to a set", "O(N), N being the number of members given")
            .keys(&[one(1, "RW insert")])
            .takes(&[key("key", 0), string("member").multiple()]),
        doc("scard", "1.0.0", "Counts the members of a set", "O(1)")
            .keys(&[one(1, "RO")])
            .takes(&[key("key", 0)]),
        doc(
            "sdiff",
            "1.0.0",
            "Reads what is in a set and in none of the others",
            "O(N), N being the number of members of all of them",
        )
        .tips(&["nondeterministic_output_order"])
        .keys(&[all(1, 1, "RO access")])
        .takes(&[key("key", 0).multiple()]),
        doc(
            "sdiffstore",
            "1.0.0",
            "Stores what is in a set and in none of the others",
            "O(N), N being the number of members of all of them",
        )
        .keys(&[one(1, "OW update"), all(2, 1, "RO access")])
        .takes(&[key("destination", 0), key("key", 1).multiple()]),
        doc(
            "sinter",
            "1.0.0",
            "Reads what several sets have in common",
            "O(N), N being the number of members of all of them",
        )
        .tips(&["nondeterministic_output_order"])
        .keys(&[all(1, 1, "RO access")])
        .takes(&[key("key", 0).multiple()]),
        doc(
            "sintercard",
            "7.0.0",
            "Counts what several sets have in common",
            "O(N), N being the number of members of all of them",
        )
        .keys(&[counted_keys(1, "RO access")])
        .takes(&[
            integer("numkeys"),
            key("key", 0).multiple(),
            integer("limit").with_token("LIMIT").optional(),
        ]),
        doc(
            "sinterstore",
            "1.0.0",
            "Stores what several sets have in common",
            "O(N), N being the number of members of all of them",
        )
        .keys(&[one(1, "RW update"), all(2, 1, "RO access")])
        .takes(&[key("destination", 0), key("key", 1).multiple()]),
        doc("sismember", "1.0.0", "Tells whether a set has a member", "O(1)")
            .keys(&[one(1, "RO")])
            .takes(&[key("key", 0), string("member")]),
        doc("smembers", "1.0.0", "Reads all of a set", "O(N), N being the number of its members")
            .tips(&["nondeterministic_output_order"])
            .keys(&[one(1, "RO access")])
            .takes(&[key("key", 0)]),
        doc(
            "smismember",
            "6.2.0",
            "Tells which of several members a set has",
            "O(N), N being the number of members given",
        )
        .keys(&[one(1, "RO access")])
        .takes(&[key("key", 0), string("member").multiple()]),
        doc("smove", "1.0.0", "Moves a member from one set to another", "O(1)")
            .keys(&[one(1, "RW access delete"), one(2, "RW insert")])
            .takes(&[key("source", 0), key("destination", 1), string("member")]),
        doc(
            "spop",
            "1.0.0",
            "Takes members of a set, drawn from it",
            "O(N), N being the number of its members",
        )
        .tips(&["nondeterministic_output"])
        .keys(&[one(1, "RW access delete")])
        .takes(&[key("key", 0), integer("count").with_version("3.2.0").optional()]),
        doc("srandmember", "1.0.0", "Draws members of a set", "O(N), N being the number of its members")
            .tips(&["nondeterministic_output"])
            .keys(&[one(1, "RO access")])
            .takes(&[key("key", 0), integer("count").with_version("2.6.0").optional()]),
        doc("srem", "1.0.0", "Removes members of a set", "O(N), N being the number of members given")
            .keys(&[one(1, "RW delete")])
            .takes(&[key("key", 0), string("member").multiple()]),
        doc(
            "sscan",
            "2.8.0",
            "Goes through a set, some members a call",
            "O(N) for a call here, N being the number of its members",
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
            "sunion",
            "1.0.0",
            "Reads what is in one of several sets",
            "O(N), N being the number of members of all of them",
        )
        .tips(&["nondeterministic_output_order"])
        .keys(&[all(1, 1, "RO access")])
        .takes(&[key("key", 0).multiple()]),
        doc(
            "sunionstore",
            "1.0.0",
            "Stores what is in one of several sets",
            "O(N), N being the number of members of all of them",
        )
        .keys(&[one(1, "OW update"), all(2, 1, "RO access")])
        .takes(&[key("destination", 0), key("key", 1).multiple()]),
    ],
};
