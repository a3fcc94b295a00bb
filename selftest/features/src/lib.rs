//! Empty: the crate is its manifest, which says why it is there.
