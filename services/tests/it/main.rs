//! The services as their clients see them: random sequences of commands against naive models, and properties
//! of each service. One binary, so that it links once. Nothing here models a network: a test carries each
//! message itself.

mod carrier;
mod database;
mod etcd;
mod model;
mod replication;
mod zookeeper;
