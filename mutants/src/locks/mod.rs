//! The mutants, by what their locks run on.

pub(crate) mod canary;
pub(crate) mod one_node;
pub(crate) mod quorum;
pub(crate) mod replicated;
