//! `docs/failover.md`: each step as measured and as simulated.
