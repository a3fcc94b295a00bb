//! Statistics, beside tables, exact sums and experiments.
//!
//! One binary, since each links all that a run needs.

mod statistics;
