//! What COMMAND DOCS and COMMAND INFO say of the commands about scripts.

use super::{Section, counted_keys, doc, integer, key, one_of, string, token};

pub(super) static SCRIPTING: Section = Section {
    group: "scripting",
    categories: &["scripting"],
    docs: &[
        doc("eval", "2.6.0", "Runs a Lua script", "Depends on the script")
            .keys(&[counted_keys(2, "RW access update")])
            .takes(&[
                string("script"),
                integer("numkeys"),
                key("key", 0).optional().multiple(),
                string("arg").optional().multiple(),
            ]),
        doc("eval_ro", "7.0.0", "Runs a Lua script that may not write", "Depends on the script")
            .keys(&[counted_keys(2, "RO access")])
            .takes(&[
                string("script"),
                integer("numkeys"),
                key("key", 0).optional().multiple(),
                string("arg").optional().multiple(),
            ]),
        doc("evalsha", "2.6.0", "Runs a cached Lua script by its SHA1", "Depends on the script")
            .keys(&[counted_keys(2, "RW access update")])
            .takes(&[
                string("sha1"),
                integer("numkeys"),
                key("key", 0).optional().multiple(),
                string("arg").optional().multiple(),
            ]),
        doc(
            "evalsha_ro",
            "7.0.0",
            "Runs a cached Lua script that may not write, by its SHA1",
            "Depends on the script",
        )
        .keys(&[counted_keys(2, "RO access")])
        .takes(&[
            string("sha1"),
            integer("numkeys"),
            key("key", 0).optional().multiple(),
            string("arg").optional().multiple(),
        ]),
        doc("function", "7.0.0", "What the server does with functions", "Depends on the subcommand")
            .categories(&[]),
        doc("function|flush", "7.0.0", "Forgets every function: there are none here", "O(1)")
            .tips(&["request_policy:all_shards", "response_policy:all_succeeded"])
            .takes(&[one_of("async", &[token("async", "ASYNC"), token("sync", "SYNC")]).optional()]),
        doc("function|help", "7.0.0", "Explains the subcommands", "O(1)"),
        doc("function|list", "7.0.0", "Lists the functions: there are none here", "O(1)")
            .tips(&["nondeterministic_output_order"])
            .takes(&[
                string("library-name-pattern").with_token("LIBRARYNAME").optional(),
                token("withcode", "WITHCODE").optional(),
            ]),
        doc("script", "2.6.0", "What the server does with cached Lua scripts", "Depends on the subcommand")
            .categories(&[]),
        doc(
            "script|exists",
            "2.6.0",
            "Tells which scripts are cached",
            "O(N), N being the number of scripts",
        )
        .tips(&["request_policy:all_shards", "response_policy:agg_logical_and"])
        .takes(&[string("sha1").multiple()]),
        doc("script|flush", "2.6.0", "Forgets every cached script", "O(N), N being the number of scripts")
            .tips(&["request_policy:all_nodes", "response_policy:all_succeeded"])
            .takes(&[one_of("async", &[token("async", "ASYNC"), token("sync", "SYNC")])
                .with_version("6.2.0")
                .optional()]),
        doc("script|help", "5.0.0", "Explains the subcommands", "O(1)"),
        doc("script|kill", "2.6.0", "Ends the running script, if it has not written", "O(1)")
            .tips(&["request_policy:all_shards", "response_policy:one_succeeded"]),
        doc(
            "script|load",
            "2.6.0",
            "Caches a script and tells its SHA1",
            "O(N), N being the length of the script",
        )
        .tips(&["request_policy:all_nodes", "response_policy:all_succeeded"])
        .takes(&[string("script")]),
    ],
};
