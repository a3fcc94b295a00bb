//! What COMMAND DOCS and COMMAND INFO say of the commands about messages.

use super::{Section, all, block, doc, one, pattern, string};

pub(super) static PUBSUB: Section = Section {
    group: "pubsub",
    categories: &["pubsub"],
    docs: &[
        doc(
            "psubscribe",
            "2.0.0",
            "Subscribes to all channels that match a pattern",
            "O(N), N being the number of patterns",
        )
        .takes(&[block("pattern", &[pattern("pattern")]).multiple()]),
        doc(
            "publish",
            "2.0.0",
            "Sends a message to whoever has subscribed to its channel or to a pattern that it matches",
            "O(N+M), N being the number of the channel's subscribers and M that of all patterns",
        )
        .takes(&[string("channel"), string("message")]),
        doc("pubsub", "2.8.0", "What the server knows of subscriptions", "Depends on the subcommand")
            .categories(&[]),
        doc(
            "pubsub|channels",
            "2.8.0",
            "Lists the channels that have subscribers",
            "O(N), N being the number of channels",
        )
        .takes(&[pattern("pattern").optional()]),
        doc("pubsub|help", "6.2.0", "Lists the subcommands", "O(1)").categories(&[]),
        doc("pubsub|numpat", "2.8.0", "Counts the patterns that have subscribers", "O(1)"),
        doc(
            "pubsub|numsub",
            "2.8.0",
            "Counts the subscribers of channels",
            "O(N), N being the number of channels asked for",
        )
        .takes(&[string("channel").optional().multiple()]),
        doc(
            "pubsub|shardchannels",
            "7.0.0",
            "Lists the shard channels that have subscribers",
            "O(N), N being the number of shard channels",
        )
        .takes(&[pattern("pattern").optional()]),
        doc(
            "pubsub|shardnumsub",
            "7.0.0",
            "Counts the subscribers of shard channels",
            "O(N), N being the number of shard channels asked for",
        )
        .takes(&[string("shardchannel").optional().multiple()]),
        doc(
            "punsubscribe",
            "2.0.0",
            "Ends subscriptions to patterns: these, or all",
            "O(N), N being the number of patterns",
        )
        .takes(&[pattern("pattern").optional().multiple()]),
        doc(
            "spublish",
            "7.0.0",
            "Sends a message to whoever has subscribed to its shard channel",
            "O(N), N being the number of the channel's subscribers",
        )
        .keys(&[one(1, "not_key")])
        .takes(&[string("shardchannel"), string("message")]),
        doc("ssubscribe", "7.0.0", "Subscribes to shard channels", "O(N), N being the number of channels")
            .keys(&[all(1, 1, "not_key")])
            .takes(&[string("shardchannel").multiple()]),
        doc("subscribe", "2.0.0", "Subscribes to channels", "O(N), N being the number of channels")
            .takes(&[string("channel").multiple()]),
        doc(
            "sunsubscribe",
            "7.0.0",
            "Ends subscriptions to shard channels: these, or all",
            "O(N), N being the number of channels",
        )
        .keys(&[all(1, 1, "not_key")])
        .takes(&[string("shardchannel").optional().multiple()]),
        doc(
            "unsubscribe",
            "2.0.0",
            "Ends subscriptions to channels: these, or all",
            "O(N), N being the number of channels",
        )
        .takes(&[string("channel").optional().multiple()]),
    ],
};
