//! What COMMAND DOCS and COMMAND INFO say of the commands about streams.

use super::{Argument, Section, block, doc, half_behind, integer, key, one, one_of, string, token};

static STRATEGIES: &[Argument] = &[token("maxlen", "MAXLEN"), token("minid", "MINID").with_version("6.2.0")];
static OPERATORS: &[Argument] = &[token("equal", "="), token("approximately", "~")];
static TRIM: &[Argument] = &[
    one_of("strategy", STRATEGIES),
    one_of("operator", OPERATORS).optional(),
    string("threshold"),
    integer("count").with_token("LIMIT").with_version("6.2.0").optional(),
];

pub(super) static STREAMS: Section = Section {
    group: "stream",
    categories: &["stream"],
    docs: &[
        doc(
            "xadd",
            "5.0.0",
            "Adds an entry at the end of a stream",
            "O(1), or O(N) where it trims, N being the number of entries that go",
        )
        .tips(&["nondeterministic_output"])
        .keys(&[one(1, "RW update")])
        .takes(&[
            key("key", 0),
            token("nomkstream", "NOMKSTREAM").with_version("6.2.0").optional(),
            block("trim", TRIM).optional(),
            one_of("id_or_auto", &[token("auto_id", "*"), string("id")]),
            block("field_value", &[string("field"), string("value")]).multiple(),
        ]),
        doc("xdel", "5.0.0", "Removes entries of a stream", "O(N), N being the number of ids given")
            .keys(&[one(1, "RW delete")])
            .takes(&[key("key", 0), string("id").multiple()]),
        doc("xlen", "5.0.0", "Counts the entries of a stream", "O(1)")
            .keys(&[one(1, "RO")])
            .takes(&[key("key", 0)]),
        doc(
            "xrange",
            "5.0.0",
            "Reads the entries of a stream whose ids lie in a range",
            "O(N), N being the number of entries read",
        )
        .keys(&[one(1, "RO access")])
        .takes(&[
            key("key", 0),
            string("start"),
            string("end"),
            integer("count").with_token("COUNT").optional(),
        ]),
        doc(
            "xread",
            "5.0.0",
            "Reads what came to streams behind some ids, or waits for it",
            "O(N) for each stream, N being the number of entries read",
        )
        .keys(&[half_behind("STREAMS", "RO access")])
        .takes(&[
            integer("count").with_token("COUNT").optional(),
            integer("milliseconds").with_token("BLOCK").optional(),
            block("streams", &[key("key", 0).multiple(), string("id").multiple()]).with_token("STREAMS"),
        ]),
        doc(
            "xrevrange",
            "5.0.0",
            "Reads the entries of a stream whose ids lie in a range, the last one first",
            "O(N), N being the number of entries read",
        )
        .keys(&[one(1, "RO access")])
        .takes(&[
            key("key", 0),
            string("end"),
            string("start"),
            integer("count").with_token("COUNT").optional(),
        ]),
        doc("xsetid", "5.0.0", "Sets the id behind which a stream goes on", "O(1)")
            .keys(&[one(1, "RW update")])
            .takes(&[
                key("key", 0),
                string("last-id"),
                integer("entries_added").with_token("ENTRIESADDED").with_version("7.0.0").optional(),
                string("max_deleted_entry_id").with_token("MAXDELETEDID").with_version("7.0.0").optional(),
            ]),
        doc(
            "xtrim",
            "5.0.0",
            "Removes entries from the beginning of a stream",
            "O(N), N being the number of entries that go",
        )
        .tips(&["nondeterministic_output"])
        .keys(&[one(1, "RW delete")])
        .takes(&[key("key", 0), block("trim", TRIM)]),
    ],
};
