//! Remedies, beside worlds whose probabilities are known.

mod why;
