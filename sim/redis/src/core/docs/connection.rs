//! What COMMAND DOCS and COMMAND INFO say of the commands about connections.

use super::{Section, block, doc, integer, one_of, string, token};

pub(super) static CONNECTION: Section = Section {
    group: "connection",
    categories: &["connection"],
    docs: &[
        doc("auth", "1.0.0", "Says who the client is; the default user needs no password here", "O(1)")
            .takes(&[string("username").with_version("6.0.0").optional(), string("password")]),
        doc("client", "2.4.0", "What the server knows of its connections", "Depends on the subcommand")
            .categories(&[]),
        doc("client|caching", "6.0.0", "Says whether what the next command reads is tracked", "O(1)")
            .takes(&[one_of("mode", &[token("yes", "YES"), token("no", "NO")])]),
        doc("client|getname", "2.6.9", "Tells the name of this connection", "O(1)"),
        doc("client|getredir", "6.0.0", "Tells which connection hears what this one tracks", "O(1)"),
        doc("client|help", "5.0.0", "Explains the subcommands", "O(1)"),
        doc("client|id", "5.0.0", "Tells the id of this connection", "O(1)"),
        doc("client|info", "6.2.0", "Describes this connection", "O(1)").tips(&["nondeterministic_output"]),
        doc(
            "client|kill",
            "2.4.0",
            "Ends connections: the one from an address, or all that match",
            "O(N), N being the number of connections",
        )
        .takes(&[one_of(
            "filter",
            &[
                string("ip:port").with_deprecation("2.8.12"),
                one_of(
                    "new-format",
                    &[
                        integer("client-id").with_token("ID").with_version("2.8.12").optional(),
                        one_of(
                            "normal_master_slave_pubsub",
                            &[
                                token("normal", "NORMAL"),
                                token("master", "MASTER").with_version("3.2.0"),
                                token("slave", "SLAVE"),
                                token("replica", "REPLICA").with_version("5.0.0"),
                                token("pubsub", "PUBSUB"),
                            ],
                        )
                        .with_token("TYPE")
                        .with_version("2.8.12")
                        .optional(),
                        string("username").with_token("USER").optional(),
                        string("ip:port").with_token("ADDR").optional(),
                        string("ip:port").with_token("LADDR").with_version("6.2.0").optional(),
                        string("yes/no").with_token("SKIPME").optional(),
                    ],
                )
                .multiple(),
            ],
        )]),
        doc(
            "client|list",
            "2.4.0",
            "Describes all connections, or those of one kind or with these ids",
            "O(N), N being the number of connections",
        )
        .tips(&["nondeterministic_output"])
        .takes(&[
            one_of(
                "normal_master_replica_pubsub",
                &[
                    token("normal", "NORMAL"),
                    token("master", "MASTER"),
                    token("replica", "REPLICA"),
                    token("pubsub", "PUBSUB"),
                ],
            )
            .with_token("TYPE")
            .with_version("5.0.0")
            .optional(),
            block("id", &[integer("client-id").multiple()]).with_token("ID").with_version("6.2.0").optional(),
        ]),
        doc(
            "client|no-evict",
            "7.0.0",
            "Notes that this connection is not to be evicted; nothing is evicted here",
            "O(1)",
        )
        .takes(&[one_of("enabled", &[token("on", "ON"), token("off", "OFF")])]),
        doc("client|pause", "2.9.50", "Makes requests wait, all or those that may write", "O(1)").takes(&[
            integer("timeout"),
            one_of("mode", &[token("write", "WRITE"), token("all", "ALL")]).with_version("6.2.0").optional(),
        ]),
        doc(
            "client|reply",
            "3.2.0",
            "Switches the replies of this connection on or off, or skips one",
            "O(1)",
        )
        .takes(&[one_of("on_off_skip", &[token("on", "ON"), token("off", "OFF"), token("skip", "SKIP")])]),
        doc("client|setname", "2.6.9", "Names this connection", "O(1)").takes(&[string("connection-name")]),
        doc(
            "client|tracking",
            "6.0.0",
            "Tells this connection, or another, when keys that it has read change",
            "O(1), and more with some options",
        )
        .takes(&[
            one_of("status", &[token("on", "ON"), token("off", "OFF")]),
            integer("client-id").with_token("REDIRECT").optional(),
            string("prefix").with_token("PREFIX").optional().multiple_with_token(),
            token("bcast", "BCAST").optional(),
            token("optin", "OPTIN").optional(),
            token("optout", "OPTOUT").optional(),
            token("noloop", "NOLOOP").optional(),
        ]),
        doc("client|trackinginfo", "6.2.0", "Tells what is tracked for this connection", "O(1)"),
        doc("client|unblock", "5.0.0", "Ends the wait of another connection", "O(1)").takes(&[
            integer("client-id"),
            one_of("timeout_error", &[token("timeout", "TIMEOUT"), token("error", "ERROR")]).optional(),
        ]),
        doc(
            "client|unpause",
            "6.2.0",
            "Lets requests go on that a pause made wait",
            "O(N), N being the number of those that wait",
        ),
        doc("echo", "1.0.0", "Answers with the same text", "O(1)").takes(&[string("message")]),
        doc("hello", "6.0.0", "Chooses the protocol, and introduces client and server to each other", "O(1)")
            .takes(&[block(
                "arguments",
                &[
                    integer("protover"),
                    block("username_password", &[string("username"), string("password")])
                        .with_token("AUTH")
                        .optional(),
                    string("clientname").with_token("SETNAME").optional(),
                ],
            )
            .optional()]),
        doc("ping", "1.0.0", "Answers, to show that the server does", "O(1)")
            .tips(&["request_policy:all_shards", "response_policy:all_succeeded"])
            .takes(&[string("message").optional()]),
        doc("quit", "1.0.0", "Closes the connection", "O(1)"),
        doc("reset", "6.2.0", "Makes the connection what it was when it opened", "O(1)"),
        doc("select", "1.0.0", "Chooses the database", "O(1)").takes(&[integer("index")]),
    ],
};
