//! A part of a search whose seeds are shared out among several processes, and what its JSON says of that: enough to
//! tell that parts belong together, and which are missing.

use doublehold_scenarios::Seed;
use serde::Serialize;

use crate::nondeterminism::Nondeterminism;

/// A part of a larger search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchPart {
    /// Its number, from 1.
    pub number: u64,
    /// The number of parts.
    pub of: u64,
    /// The first seed of the whole search.
    pub first: Seed,
    /// The number of runs of the whole search.
    pub runs: u64,
    /// The version of the program.
    pub program: String,
    /// A digest of the scenario with its weather, and of the run from the first seed of the whole search.
    pub digest: String,
}

#[derive(Serialize)]
pub(super) struct JsonPart<'a> {
    number: u64,
    of: u64,
    first_seed: String,
    runs: u64,
    program: &'a str,
    digest: &'a str,
    nondeterminism: Option<JsonSign>,
}

/// A sign that something from outside reached into runs.
#[derive(Serialize)]
struct JsonSign {
    sign: &'static str,
    seed: Option<String>,
}

impl JsonPart<'_> {
    pub(super) fn new<'a>(part: &'a SearchPart, sign: Option<&Nondeterminism>) -> JsonPart<'a> {
        let SearchPart { number, of, first, runs, program, digest } = part;
        let sign = sign.map(Nondeterminism::word_and_seed);
        JsonPart {
            number: *number,
            of: *of,
            first_seed: first.to_string(),
            runs: *runs,
            program,
            digest,
            nondeterminism: sign.map(|(sign, seed)| JsonSign { sign, seed: seed.map(|it| it.to_string()) }),
        }
    }
}
