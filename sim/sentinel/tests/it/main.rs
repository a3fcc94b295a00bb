//! Sentinels on simulated hosts, with the nodes that they watch.

mod failover;
mod safety;
mod world;
