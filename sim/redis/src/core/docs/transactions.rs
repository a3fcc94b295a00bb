//! What COMMAND DOCS and COMMAND INFO say of the commands about transactions.

use super::{Section, all, doc, key};

pub(super) static TRANSACTIONS: Section = Section {
    group: "transactions",
    categories: &["transaction"],
    docs: &[
        doc(
            "discard",
            "2.0.0",
            "Forgets the commands queued since MULTI",
            "O(N), N being the number of queued commands",
        ),
        doc(
            "exec",
            "1.2.0",
            "Runs the commands queued since MULTI, unless a watched key has changed",
            "Depends on the queued commands",
        ),
        doc("multi", "1.2.0", "Begins a transaction: commands are queued until EXEC", "O(1)"),
        doc("unwatch", "2.2.0", "Forgets all watched keys", "O(1)"),
        doc(
            "watch",
            "2.2.0",
            "Makes the next EXEC fail if one of the keys changes first",
            "O(N), N being the number of keys",
        )
        .keys(&[all(1, 1, "RO")])
        .takes(&[key("key", 0).multiple()]),
    ],
};
