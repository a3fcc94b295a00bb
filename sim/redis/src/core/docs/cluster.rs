//! What COMMAND DOCS and COMMAND INFO say of the commands of Redis Cluster.

use super::{Section, block, doc, integer, one_of, string, token};

const NO_ORDER: &[&str] = &["nondeterministic_output"];

pub(super) static CLUSTER: Section = Section {
    group: "cluster",
    categories: &[],
    docs: &[
        doc("asking", "3.0.0", "Lets the next command use a slot that is on its way here", "O(1)")
            .categories(&["connection"]),
        doc(
            "cluster",
            "3.0.0",
            "Shows and changes what the node knows of its cluster",
            "Depends on the subcommand",
        ),
        doc("cluster|addslots", "3.0.0", "Makes slots the node's", "O(N), N being the number of slots")
            .takes(&[integer("slot").multiple()]),
        doc(
            "cluster|addslotsrange",
            "7.0.0",
            "Makes ranges of slots the node's",
            "O(N), N being the number of slots",
        )
        .takes(&[block("start-slot_end-slot", &[integer("start-slot"), integer("end-slot")]).multiple()]),
        doc("cluster|bumpepoch", "3.0.0", "Raises the epoch of the node's configuration", "O(1)")
            .tips(NO_ORDER),
        doc("cluster|count-failure-reports", "3.0.0", "Counts who says that a node fails", "O(N)")
            .tips(NO_ORDER)
            .takes(&[string("node-id")]),
        doc("cluster|countkeysinslot", "3.0.0", "Counts the keys of a slot", "O(1)")
            .takes(&[integer("slot")]),
        doc("cluster|delslots", "3.0.0", "Makes slots nobody's", "O(N), N being the number of slots")
            .takes(&[integer("slot").multiple()]),
        doc(
            "cluster|delslotsrange",
            "7.0.0",
            "Makes ranges of slots nobody's",
            "O(N), N being the number of slots",
        )
        .takes(&[block("start-slot_end-slot", &[integer("start-slot"), integer("end-slot")]).multiple()]),
        doc("cluster|failover", "3.0.0", "Makes a replica take over from its master", "O(1)").takes(&[
            one_of("options", &[token("force", "FORCE"), token("takeover", "TAKEOVER")]).optional(),
        ]),
        doc("cluster|flushslots", "3.0.0", "Makes all slots of the node nobody's", "O(1)"),
        doc("cluster|forget", "3.0.0", "Drops a node from those that are known", "O(1)")
            .takes(&[string("node-id")]),
        doc("cluster|getkeysinslot", "3.0.0", "Names keys of a slot", "O(log(N))")
            .tips(NO_ORDER)
            .takes(&[integer("slot"), integer("count")]),
        doc("cluster|help", "5.0.0", "Explains the subcommands", "O(1)"),
        doc("cluster|info", "3.0.0", "Tells the state of the cluster", "O(1)").tips(NO_ORDER),
        doc("cluster|keyslot", "3.0.0", "Tells the slot of a key", "O(N), N being the length of the key")
            .takes(&[string("key")]),
        doc(
            "cluster|links",
            "7.0.0",
            "Lists the connections between nodes",
            "O(N), N being the number of nodes",
        )
        .tips(NO_ORDER),
        doc("cluster|meet", "3.0.0", "Makes another node known", "O(1)").takes(&[
            string("ip"),
            integer("port"),
            integer("cluster_bus_port").with_version("4.0.0").optional(),
        ]),
        doc("cluster|myid", "3.0.0", "Tells the node's id", "O(1)"),
        doc("cluster|nodes", "3.0.0", "Lists the nodes of the cluster", "O(N), N being the number of nodes")
            .tips(NO_ORDER),
        doc("cluster|replicas", "5.0.0", "Lists the replicas of a node", "O(1)")
            .tips(NO_ORDER)
            .takes(&[string("node-id")]),
        doc("cluster|replicate", "3.0.0", "Makes the node a replica of another", "O(1)")
            .takes(&[string("node-id")]),
        doc(
            "cluster|reset",
            "3.0.0",
            "Drops what the node knows of its cluster",
            "O(N), N being the number of nodes",
        )
        .takes(&[one_of("hard_soft", &[token("hard", "HARD"), token("soft", "SOFT")]).optional()]),
        doc("cluster|saveconfig", "3.0.0", "Writes what the node knows of its cluster to its disk", "O(1)"),
        doc("cluster|set-config-epoch", "3.0.0", "Sets the epoch of a new node", "O(1)")
            .takes(&[integer("config-epoch")]),
        doc("cluster|setslot", "3.0.0", "Tells what becomes of a slot", "O(1)").takes(&[
            integer("slot"),
            one_of(
                "subcommand",
                &[
                    string("node-id").with_token("IMPORTING"),
                    string("node-id").with_token("MIGRATING"),
                    string("node-id").with_token("NODE"),
                    token("stable", "STABLE"),
                ],
            ),
        ]),
        doc("cluster|shards", "7.0.0", "Tells who has which slots", "O(N), N being the number of nodes")
            .tips(NO_ORDER),
        doc("cluster|slaves", "3.0.0", "Lists the replicas of a node", "O(1)")
            .with_deprecation("5.0.0", "`CLUSTER REPLICAS`")
            .tips(NO_ORDER)
            .takes(&[string("node-id")]),
        doc("cluster|slots", "3.0.0", "Tells who has which slots", "O(N), N being the number of nodes")
            .with_deprecation("7.0.0", "`CLUSTER SHARDS`")
            .tips(NO_ORDER),
        doc("readonly", "3.0.0", "Lets the connection read from a replica", "O(1)")
            .categories(&["connection"]),
        doc("readwrite", "3.0.0", "Ends what READONLY began", "O(1)").categories(&["connection"]),
    ],
};
