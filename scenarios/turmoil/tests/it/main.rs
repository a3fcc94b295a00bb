//! The second engine beside the first: where they agree, what the second refuses, and that it is deterministic.

mod agreement;
mod both;
mod determinism;
mod differences;
mod gate;
#[path = "../../../tests/it/keyword_effects/mod.rs"]
mod keyword_effects;
mod pages;
mod refusals;
mod subject;
mod table;
mod to_the_nanosecond;
