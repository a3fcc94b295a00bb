//! What COMMAND DOCS and COMMAND INFO say of the commands about lists.

use super::{
    Argument, Section, all_but_last, counted_keys, doc, double, integer, key, one, one_of, string, token,
};

static SIDES: &[Argument] = &[token("left", "LEFT"), token("right", "RIGHT")];

pub(super) static LISTS: Section = Section {
    group: "list",
    categories: &["list"],
    docs: &[
        doc("blmove", "6.2.0", "Moves an element from one list to another, or waits for one", "O(1)")
            .keys(&[one(1, "RW access delete"), one(2, "RW insert")])
            .takes(&[
                key("source", 0),
                key("destination", 1),
                one_of("wherefrom", SIDES),
                one_of("whereto", SIDES),
                double("timeout"),
            ]),
        doc(
            "blmpop",
            "7.0.0",
            "Takes elements from the first list that has some, or waits for them",
            "O(N+M), N being the number of keys and M of elements taken",
        )
        .keys(&[counted_keys(2, "RW access delete")])
        .takes(&[
            double("timeout"),
            integer("numkeys"),
            key("key", 0).multiple(),
            one_of("where", SIDES),
            integer("count").with_token("COUNT").optional(),
        ]),
        doc(
            "blpop",
            "2.0.0",
            "Takes an element from the left of a list, or waits for one",
            "O(N), N being the number of keys",
        )
        .keys(&[all_but_last(1, "RW access delete")])
        .takes(&[key("key", 0).multiple(), double("timeout")]),
        doc(
            "brpop",
            "2.0.0",
            "Takes an element from the right of a list, or waits for one",
            "O(N), N being the number of keys",
        )
        .keys(&[all_but_last(1, "RW access delete")])
        .takes(&[key("key", 0).multiple(), double("timeout")]),
        doc(
            "brpoplpush",
            "2.2.0",
            "Moves an element from the right of a list to the left of another, or waits for one",
            "O(1)",
        )
        .with_deprecation("6.2.0", "`BLMOVE` with the `RIGHT` and `LEFT` arguments")
        .keys(&[one(1, "RW access delete"), one(2, "RW insert")])
        .takes(&[key("source", 0), key("destination", 1), double("timeout")]),
        doc("lindex", "1.0.0", "Reads one element of a list", "O(1)")
            .keys(&[one(1, "RO access")])
            .takes(&[key("key", 0), integer("index")]),
        doc("linsert", "2.2.0", "Adds an element beside another one", "O(N), N being the length of the list")
            .keys(&[one(1, "RW insert")])
            .takes(&[
                key("key", 0),
                one_of("where", &[token("before", "BEFORE"), token("after", "AFTER")]),
                string("pivot"),
                string("element"),
            ]),
        doc("llen", "1.0.0", "Counts the elements of a list", "O(1)")
            .keys(&[one(1, "RO")])
            .takes(&[key("key", 0)]),
        doc("lmove", "6.2.0", "Moves an element from one list to another", "O(1)")
            .keys(&[one(1, "RW access delete"), one(2, "RW insert")])
            .takes(&[
                key("source", 0),
                key("destination", 1),
                one_of("wherefrom", SIDES),
                one_of("whereto", SIDES),
            ]),
        doc(
            "lmpop",
            "7.0.0",
            "Takes elements from the first list that has some",
            "O(N+M), N being the number of keys and M of elements taken",
        )
        .keys(&[counted_keys(1, "RW access delete")])
        .takes(&[
            integer("numkeys"),
            key("key", 0).multiple(),
            one_of("where", SIDES),
            integer("count").with_token("COUNT").optional(),
        ]),
        doc(
            "lpop",
            "1.0.0",
            "Takes elements from the left of a list",
            "O(N), N being the number of elements taken",
        )
        .keys(&[one(1, "RW access delete")])
        .takes(&[key("key", 0), integer("count").with_version("6.2.0").optional()]),
        doc(
            "lpos",
            "6.0.6",
            "Finds the places of an element in a list",
            "O(N), N being the length of the list",
        )
        .keys(&[one(1, "RO access")])
        .takes(&[
            key("key", 0),
            string("element"),
            integer("rank").with_token("RANK").optional(),
            integer("num-matches").with_token("COUNT").optional(),
            integer("len").with_token("MAXLEN").optional(),
        ]),
        doc(
            "lpush",
            "1.0.0",
            "Adds elements at the left of a list",
            "O(N), N being the number of elements given",
        )
        .keys(&[one(1, "RW insert")])
        .takes(&[key("key", 0), string("element").multiple()]),
        doc(
            "lpushx",
            "2.2.0",
            "Adds elements at the left of a list that is there",
            "O(N), N being the number of elements given",
        )
        .keys(&[one(1, "RW insert")])
        .takes(&[key("key", 0), string("element").multiple()]),
        doc(
            "lrange",
            "1.0.0",
            "Reads some of a list",
            "O(S+N), S being the first place and N the number of elements read",
        )
        .keys(&[one(1, "RO access")])
        .takes(&[key("key", 0), integer("start"), integer("stop")]),
        doc(
            "lrem",
            "1.0.0",
            "Removes elements of a list by their value",
            "O(N), N being the length of the list",
        )
        .keys(&[one(1, "RW delete")])
        .takes(&[key("key", 0), integer("count"), string("element")]),
        doc("lset", "1.0.0", "Replaces one element of a list", "O(1)").keys(&[one(1, "RW update")]).takes(&[
            key("key", 0),
            integer("index"),
            string("element"),
        ]),
        doc("ltrim", "1.0.0", "Removes all but some of a list", "O(N), N being the length of the list")
            .keys(&[one(1, "RW delete")])
            .takes(&[key("key", 0), integer("start"), integer("stop")]),
        doc(
            "rpop",
            "1.0.0",
            "Takes elements from the right of a list",
            "O(N), N being the number of elements taken",
        )
        .keys(&[one(1, "RW access delete")])
        .takes(&[key("key", 0), integer("count").with_version("6.2.0").optional()]),
        doc("rpoplpush", "1.2.0", "Moves an element from the right of a list to the left of another", "O(1)")
            .with_deprecation("6.2.0", "`LMOVE` with the `RIGHT` and `LEFT` arguments")
            .keys(&[one(1, "RW access delete"), one(2, "RW insert")])
            .takes(&[key("source", 0), key("destination", 1)]),
        doc(
            "rpush",
            "1.0.0",
            "Adds elements at the right of a list",
            "O(N), N being the number of elements given",
        )
        .keys(&[one(1, "RW insert")])
        .takes(&[key("key", 0), string("element").multiple()]),
        doc(
            "rpushx",
            "2.2.0",
            "Adds elements at the right of a list that is there",
            "O(N), N being the number of elements given",
        )
        .keys(&[one(1, "RW insert")])
        .takes(&[key("key", 0), string("element").multiple()]),
    ],
};
