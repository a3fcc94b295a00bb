//! What COMMAND DOCS and COMMAND INFO say of the commands about sorted sets.

use super::{
    Argument, Section, all_but_last, block, counted_keys, doc, double, integer, key, one, one_of, pattern,
    string, token,
};

static AGGREGATES: &[Argument] = &[token("sum", "SUM"), token("min", "MIN"), token("max", "MAX")];

static EXTREMES: &[Argument] = &[token("min", "MIN"), token("max", "MAX")];

static LIMIT: &[Argument] = &[integer("offset"), integer("count")];

pub(super) static SORTED_SETS: Section = Section {
    group: "sorted-set",
    categories: &["sortedset"],
    docs: &[
        doc(
            "bzmpop",
            "7.0.0",
            "Takes members from the first sorted set that has some, or waits for them",
            "O(K+N), K being the number of keys and N of members",
        )
        .keys(&[counted_keys(2, "RW access delete")])
        .takes(&[
            double("timeout"),
            integer("numkeys"),
            key("key", 0).multiple(),
            one_of("where", EXTREMES),
            integer("count").with_token("COUNT").optional(),
        ]),
        doc(
            "bzpopmax",
            "5.0.0",
            "Takes the member with the highest score, or waits for one",
            "O(K), K being the number of keys",
        )
        .keys(&[all_but_last(1, "RW access delete")])
        .takes(&[key("key", 0).multiple(), double("timeout")]),
        doc(
            "bzpopmin",
            "5.0.0",
            "Takes the member with the lowest score, or waits for one",
            "O(N), N being the number of members",
        )
        .keys(&[all_but_last(1, "RW access delete")])
        .takes(&[key("key", 0).multiple(), double("timeout")]),
        doc(
            "zadd",
            "1.2.0",
            "Adds members to a sorted set, or gives them other scores",
            "O(M+N), M being the number of members given and N of those there",
        )
        .keys(&[one(1, "RW update")])
        .takes(&[
            key("key", 0),
            one_of("condition", &[token("nx", "NX"), token("xx", "XX")]).with_version("3.0.2").optional(),
            one_of("comparison", &[token("gt", "GT"), token("lt", "LT")]).with_version("6.2.0").optional(),
            token("change", "CH").with_version("3.0.2").optional(),
            token("increment", "INCR").with_version("3.0.2").optional(),
            block("score_member", &[double("score"), string("member")]).multiple(),
        ]),
        doc("zcard", "1.2.0", "Counts the members of a sorted set", "O(1)")
            .keys(&[one(1, "RO")])
            .takes(&[key("key", 0)]),
        doc(
            "zcount",
            "2.0.0",
            "Counts the members with scores in a range",
            "O(log(N)), N being the number of members",
        )
        .keys(&[one(1, "RO access")])
        .takes(&[key("key", 0), double("min"), double("max")]),
        doc(
            "zdiff",
            "6.2.0",
            "Reads what is in a sorted set and in none of the others",
            "O(N*log(N)), N being the number of members of all of them",
        )
        .keys(&[counted_keys(1, "RO access")])
        .takes(&[
            integer("numkeys"),
            key("key", 0).multiple(),
            token("withscores", "WITHSCORES").optional(),
        ]),
        doc(
            "zdiffstore",
            "6.2.0",
            "Stores what is in a sorted set and in none of the others",
            "O(N*log(N)), N being the number of members of all of them",
        )
        .keys(&[one(1, "OW update"), counted_keys(2, "RO access")])
        .takes(&[key("destination", 0), integer("numkeys"), key("key", 1).multiple()]),
        doc(
            "zincrby",
            "1.2.0",
            "Adds an amount to the score of a member",
            "O(N), N being the number of members",
        )
        .keys(&[one(1, "RW access update")])
        .takes(&[key("key", 0), integer("increment"), string("member")]),
        doc(
            "zinter",
            "6.2.0",
            "Reads what several sorted sets have in common",
            "O(N*log(N)), N being the number of members of all of them",
        )
        .keys(&[counted_keys(1, "RO access")])
        .takes(&[
            integer("numkeys"),
            key("key", 0).multiple(),
            integer("weight").with_token("WEIGHTS").optional().multiple(),
            one_of("aggregate", AGGREGATES).with_token("AGGREGATE").optional(),
            token("withscores", "WITHSCORES").optional(),
        ]),
        doc(
            "zintercard",
            "7.0.0",
            "Counts what several sorted sets have in common",
            "O(N*log(N)), N being the number of members of all of them",
        )
        .keys(&[counted_keys(1, "RO access")])
        .takes(&[
            integer("numkeys"),
            key("key", 0).multiple(),
            integer("limit").with_token("LIMIT").optional(),
        ]),
        doc(
            "zinterstore",
            "2.0.0",
            "Stores what several sorted sets have in common",
            "O(N*log(N)), N being the number of members of all of them",
        )
        .keys(&[one(1, "OW update"), counted_keys(2, "RO access")])
        .takes(&[
            key("destination", 0),
            integer("numkeys"),
            key("key", 1).multiple(),
            integer("weight").with_token("WEIGHTS").optional().multiple(),
            one_of("aggregate", AGGREGATES).with_token("AGGREGATE").optional(),
        ]),
        doc(
            "zlexcount",
            "2.8.9",
            "Counts the members with names in a range",
            "O(N), N being the number of members",
        )
        .keys(&[one(1, "RO access")])
        .takes(&[key("key", 0), string("min"), string("max")]),
        doc(
            "zmpop",
            "7.0.0",
            "Takes members from the first sorted set that has some",
            "O(K+N), K being the number of keys and N of members",
        )
        .keys(&[counted_keys(1, "RW access delete")])
        .takes(&[
            integer("numkeys"),
            key("key", 0).multiple(),
            one_of("where", EXTREMES),
            integer("count").with_token("COUNT").optional(),
        ]),
        doc(
            "zmscore",
            "6.2.0",
            "Tells the scores of several members",
            "O(N), N being the number of members given",
        )
        .keys(&[one(1, "RO access")])
        .takes(&[key("key", 0), string("member").multiple()]),
        doc(
            "zpopmax",
            "5.0.0",
            "Takes the members with the highest scores",
            "O(M), M being the number of members taken",
        )
        .keys(&[one(1, "RW access delete")])
        .takes(&[key("key", 0), integer("count").optional()]),
        doc(
            "zpopmin",
            "5.0.0",
            "Takes the members with the lowest scores",
            "O(N), N being the number of members",
        )
        .keys(&[one(1, "RW access delete")])
        .takes(&[key("key", 0), integer("count").optional()]),
        doc("zrandmember", "6.2.0", "Draws members of a sorted set", "O(N), N being the number of members")
            .tips(&["nondeterministic_output"])
            .keys(&[one(1, "RO access")])
            .takes(&[
                key("key", 0),
                block("options", &[integer("count"), token("withscores", "WITHSCORES").optional()])
                    .optional(),
            ]),
        doc(
            "zrange",
            "1.2.0",
            "Reads members in a range of ranks, scores or names",
            "O(log(N)+M), N being the number of members and M of those read",
        )
        .keys(&[one(1, "RO access")])
        .takes(&[
            key("key", 0),
            string("start"),
            string("stop"),
            one_of("sortby", &[token("byscore", "BYSCORE"), token("bylex", "BYLEX")])
                .with_version("6.2.0")
                .optional(),
            token("rev", "REV").with_version("6.2.0").optional(),
            block("offset_count", LIMIT).with_token("LIMIT").with_version("6.2.0").optional(),
            token("withscores", "WITHSCORES").optional(),
        ]),
        doc(
            "zrangebylex",
            "2.8.9",
            "Reads members with names in a range",
            "O(N), N being the number of members",
        )
        .with_deprecation("6.2.0", "`ZRANGE` with the `BYLEX` argument")
        .keys(&[one(1, "RO access")])
        .takes(&[
            key("key", 0),
            string("min"),
            string("max"),
            block("offset_count", LIMIT).with_token("LIMIT").optional(),
        ]),
        doc(
            "zrangebyscore",
            "1.0.5",
            "Reads members with scores in a range",
            "O(log(N)+M), N being the number of members and M of those read",
        )
        .with_deprecation("6.2.0", "`ZRANGE` with the `BYSCORE` argument")
        .keys(&[one(1, "RO access")])
        .takes(&[
            key("key", 0),
            double("min"),
            double("max"),
            token("withscores", "WITHSCORES").with_version("2.0.0").optional(),
            block("offset_count", LIMIT).with_token("LIMIT").optional(),
        ]),
        doc(
            "zrangestore",
            "6.2.0",
            "Stores members in a range of ranks, scores or names",
            "O(log(N)+M), N being the number of members and M of those stored",
        )
        .keys(&[one(1, "OW update"), one(2, "RO access")])
        .takes(&[
            key("dst", 0),
            key("src", 1),
            string("min"),
            string("max"),
            one_of("sortby", &[token("byscore", "BYSCORE"), token("bylex", "BYLEX")]).optional(),
            token("rev", "REV").optional(),
            block("offset_count", LIMIT).with_token("LIMIT").optional(),
        ]),
        doc(
            "zrank",
            "2.0.0",
            "Tells how many members come before one",
            "O(log(N)), N being the number of members",
        )
        .keys(&[one(1, "RO access")])
        .takes(&[key("key", 0), string("member")]),
        doc(
            "zrem",
            "1.2.0",
            "Removes members of a sorted set",
            "O(M+N), M being the number of members given and N of those there",
        )
        .keys(&[one(1, "RW delete")])
        .takes(&[key("key", 0), string("member").multiple()]),
        doc(
            "zremrangebylex",
            "2.8.9",
            "Removes members with names in a range",
            "O(N), N being the number of members",
        )
        .keys(&[one(1, "RW delete")])
        .takes(&[key("key", 0), string("min"), string("max")]),
        doc(
            "zremrangebyrank",
            "2.0.0",
            "Removes members in a range of ranks",
            "O(N), N being the number of members",
        )
        .keys(&[one(1, "RW delete")])
        .takes(&[key("key", 0), integer("start"), integer("stop")]),
        doc(
            "zremrangebyscore",
            "1.2.0",
            "Removes members with scores in a range",
            "O(N), N being the number of members",
        )
        .keys(&[one(1, "RW delete")])
        .takes(&[key("key", 0), double("min"), double("max")]),
        doc(
            "zrevrange",
            "1.2.0",
            "Reads members in a range of ranks, highest first",
            "O(M), M being the number of members read",
        )
        .with_deprecation("6.2.0", "`ZRANGE` with the `REV` argument")
        .keys(&[one(1, "RO access")])
        .takes(&[
            key("key", 0),
            integer("start"),
            integer("stop"),
            token("withscores", "WITHSCORES").optional(),
        ]),
        doc(
            "zrevrangebylex",
            "2.8.9",
            "Reads members with names in a range, last first",
            "O(N), N being the number of members",
        )
        .with_deprecation("6.2.0", "`ZRANGE` with the `REV` and `BYLEX` arguments")
        .keys(&[one(1, "RO access")])
        .takes(&[
            key("key", 0),
            string("max"),
            string("min"),
            block("offset_count", LIMIT).with_token("LIMIT").optional(),
        ]),
        doc(
            "zrevrangebyscore",
            "2.2.0",
            "Reads members with scores in a range, highest first",
            "O(log(N)+M), N being the number of members and M of those read",
        )
        .with_deprecation("6.2.0", "`ZRANGE` with the `REV` and `BYSCORE` arguments")
        .keys(&[one(1, "RO access")])
        .takes(&[
            key("key", 0),
            double("max"),
            double("min"),
            token("withscores", "WITHSCORES").optional(),
            block("offset_count", LIMIT).with_token("LIMIT").optional(),
        ]),
        doc(
            "zrevrank",
            "2.0.0",
            "Tells how many members come after one",
            "O(log(N)), N being the number of members",
        )
        .keys(&[one(1, "RO access")])
        .takes(&[key("key", 0), string("member")]),
        doc(
            "zscan",
            "2.8.0",
            "Goes through a sorted set, some members a call",
            "O(N) for a call here, N being the number of members",
        )
        .tips(&["nondeterministic_output"])
        .keys(&[one(1, "RO access")])
        .takes(&[
            key("key", 0),
            integer("cursor"),
            pattern("pattern").with_token("MATCH").optional(),
            integer("count").with_token("COUNT").optional(),
        ]),
        doc("zscore", "1.2.0", "Tells the score of a member", "O(1)")
            .keys(&[one(1, "RO access")])
            .takes(&[key("key", 0), string("member")]),
        doc(
            "zunion",
            "6.2.0",
            "Reads what is in one of several sorted sets",
            "O(N*log(N)), N being the number of members of all of them",
        )
        .keys(&[counted_keys(1, "RO access")])
        .takes(&[
            integer("numkeys"),
            key("key", 0).multiple(),
            integer("weight").with_token("WEIGHTS").optional().multiple(),
            one_of("aggregate", AGGREGATES).with_token("AGGREGATE").optional(),
            token("withscores", "WITHSCORES").optional(),
        ]),
        doc(
            "zunionstore",
            "2.0.0",
            "Stores what is in one of several sorted sets",
            "O(N*log(N)), N being the number of members of all of them",
        )
        .keys(&[one(1, "OW update"), counted_keys(2, "RO access")])
        .takes(&[
            key("destination", 0),
            integer("numkeys"),
            key("key", 1).multiple(),
            integer("weight").with_token("WEIGHTS").optional().multiple(),
            one_of("aggregate", AGGREGATES).with_token("AGGREGATE").optional(),
        ]),
    ],
};
