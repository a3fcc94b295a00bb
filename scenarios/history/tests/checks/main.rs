//! The checks against independent, slow and obvious versions of themselves on random histories, and on small
//! histories with a story. One binary, so that it links once.

mod anomaly;
mod effects;
mod history_page;
mod jsonl;
mod liveness;
mod mutex;
mod overlap;
mod random;
mod resource;
mod stories;
mod story;
