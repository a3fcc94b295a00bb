//! What COMMAND DOCS and COMMAND INFO say of the commands about the server.

use super::{Section, block, doc, integer, key, one, one_of, pattern, string, token};

pub(super) static SERVER: Section = Section {
    group: "server",
    categories: &[],
    docs: &[
        doc(
            "command",
            "2.8.13",
            "Describes every command the server has",
            "O(N), N being the number of commands",
        )
        .categories(&["connection"])
        .tips(&["nondeterministic_output_order"]),
        doc("command|count", "2.8.13", "Counts the commands the server has", "O(1)")
            .categories(&["connection"]),
        doc(
            "command|docs",
            "7.0.0",
            "Tells what commands are for and which arguments they take",
            "O(N), N being the number of commands asked for",
        )
        .categories(&["connection"])
        .tips(&["nondeterministic_output_order"])
        .takes(&[string("command-name").optional().multiple()]),
        doc(
            "command|getkeys",
            "2.8.13",
            "Finds the keys among the words of a command",
            "O(N), N being the number of words",
        )
        .categories(&["connection"]),
        doc(
            "command|getkeysandflags",
            "7.0.0",
            "Finds the keys among the words of a command, and tells what is done to them",
            "O(N), N being the number of words",
        )
        .categories(&["connection"]),
        doc("command|help", "5.0.0", "Explains the subcommands", "O(1)").categories(&["connection"]),
        doc(
            "command|info",
            "2.8.13",
            "Tells arity, flags and keys of commands, of all if none is named",
            "O(N), N being the number of commands asked for",
        )
        .categories(&["connection"])
        .tips(&["nondeterministic_output_order"])
        .takes(&[string("command-name").optional().multiple()]),
        doc(
            "command|list",
            "7.0.0",
            "Names the commands, all or those that pass a filter",
            "O(N), N being the number of commands",
        )
        .categories(&["connection"])
        .tips(&["nondeterministic_output_order"])
        .takes(&[one_of(
            "filterby",
            &[
                string("module-name").with_token("MODULE"),
                string("category").with_token("ACLCAT"),
                pattern("pattern").with_token("PATTERN"),
            ],
        )
        .with_token("FILTERBY")
        .optional()]),
        doc("config", "2.0.0", "Reads and changes the server's settings", "Depends on the subcommand"),
        doc(
            "config|get",
            "2.0.0",
            "Reads the settings whose names match",
            "O(N), N being the number of settings",
        )
        .takes(&[block("parameter", &[string("parameter")]).multiple()]),
        doc("config|help", "5.0.0", "Explains the subcommands", "O(1)"),
        doc("config|resetstat", "2.0.0", "Sets the counters that INFO shows back to zero", "O(1)"),
        doc("config|rewrite", "2.8.0", "Writes the settings in force to the configuration file", "O(1)"),
        doc(
            "config|set",
            "2.0.0",
            "Changes settings, all of them or none",
            "O(N), N being the number of settings",
        )
        .tips(&["request_policy:all_nodes", "response_policy:all_succeeded"])
        .takes(&[block("parameter_value", &[string("parameter"), string("value")]).multiple()]),
        doc("dbsize", "1.0.0", "Counts the keys of the selected database", "O(1)")
            .categories(&["keyspace"])
            .tips(&["request_policy:all_shards", "response_policy:agg_sum"]),
        doc("failover", "6.2.0", "Makes a replica the master and the master its replica", "O(1)").takes(&[
            block("target", &[string("host"), integer("port"), token("force", "FORCE").optional()])
                .with_token("TO")
                .optional(),
            token("abort", "ABORT").optional(),
            integer("milliseconds").with_token("TIMEOUT").optional(),
        ]),
        doc("flushall", "1.0.0", "Deletes every key of every database", "O(N), N being the number of keys")
            .categories(&["keyspace", "dangerous"])
            .tips(&["request_policy:all_shards", "response_policy:all_succeeded"])
            .takes(&[one_of(
                "async",
                &[token("async", "ASYNC").with_version("4.0.0"), token("sync", "SYNC").with_version("6.2.0")],
            )
            .optional()]),
        doc(
            "flushdb",
            "1.0.0",
            "Deletes every key of the selected database",
            "O(N), N being the number of keys",
        )
        .categories(&["keyspace", "dangerous"])
        .tips(&["request_policy:all_shards", "response_policy:all_succeeded"])
        .takes(&[one_of(
            "async",
            &[token("async", "ASYNC").with_version("4.0.0"), token("sync", "SYNC").with_version("6.2.0")],
        )
        .optional()]),
        doc("info", "1.0.0", "Reports about the server, by section", "O(1)")
            .categories(&["dangerous"])
            .tips(&["nondeterministic_output", "request_policy:all_shards", "response_policy:special"])
            .takes(&[string("section").optional().multiple()]),
        doc("memory", "4.0.0", "What the server knows of its memory", "Depends on the subcommand"),
        doc("memory|help", "4.0.0", "Explains the subcommands", "O(1)"),
        doc("memory|usage", "4.0.0", "Tells what a key counts for where memory is limited", "O(N)")
            .keys(&[one(2, "RO")])
            .takes(&[key("key", 0), integer("count").with_token("SAMPLES").optional()]),
        doc("monitor", "1.0.0", "Shows every command that the server executes", "O(1)"),
        doc("psync", "2.8.0", "Asks a master for its stream; replicas do", "")
            .takes(&[string("replicationid"), integer("offset")]),
        doc("replconf", "3.0.0", "Tells a master about a replica, or acknowledges its stream", "O(1)")
            .internal(),
        doc("replicaof", "5.0.0", "Makes the server follow a master, or be one", "O(1)").takes(&[one_of(
            "args",
            &[
                block("host-port", &[string("host"), integer("port")]),
                block("no-one", &[token("no", "NO"), token("one", "ONE")]),
            ],
        )]),
        doc("role", "2.8.12", "Tells whether the server is a master or a replica, and of whom", "O(1)")
            .categories(&["admin", "dangerous"]),
        doc(
            "shutdown",
            "1.0.0",
            "Ends the server, after saving if told to",
            "O(N) if it saves, N being the number of keys",
        )
        .takes(&[
            one_of("nosave_save", &[token("nosave", "NOSAVE"), token("save", "SAVE")]).optional(),
            token("now", "NOW").with_version("7.0.0").optional(),
            token("force", "FORCE").with_version("7.0.0").optional(),
            token("abort", "ABORT").with_version("7.0.0").optional(),
        ]),
        doc("slaveof", "1.0.0", "Makes the server follow a master, or be one", "O(1)")
            .with_deprecation("5.0.0", "`REPLICAOF`")
            .takes(&[one_of(
                "args",
                &[
                    block("host-port", &[string("host"), integer("port")]),
                    block("no-one", &[token("no", "NO"), token("one", "ONE")]),
                ],
            )]),
        doc(
            "swapdb",
            "4.0.0",
            "Makes two databases change their places",
            "O(N), N being the number of clients that watch keys of either",
        )
        .categories(&["keyspace", "dangerous"])
        .takes(&[integer("index1"), integer("index2")]),
        doc("sync", "1.0.0", "Asks a master for its data and its stream", ""),
        doc("time", "2.6.0", "Tells the server's time in seconds and microseconds", "O(1)")
            .tips(&["nondeterministic_output"]),
    ],
};
