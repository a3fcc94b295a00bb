//! What COMMAND DOCS and COMMAND INFO say of the commands about bits.

use super::{Section, doc, integer, key, one};

pub(super) static BITS: Section = Section {
    group: "bitmap",
    categories: &["bitmap"],
    docs: &[
        doc("getbit", "2.2.0", "Reads one bit of a string", "O(1)")
            .keys(&[one(1, "RO access")])
            .takes(&[key("key", 0), integer("offset")]),
        doc("setbit", "2.2.0", "Sets or clears one bit of a string", "O(1)")
            .keys(&[one(1, "RW access update")])
            .takes(&[key("key", 0), integer("offset"), integer("value")]),
    ],
};
