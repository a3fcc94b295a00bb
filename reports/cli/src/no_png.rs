//! Stands in for PNG files in a program that was built without them (feature `png`).

use thiserror::Error;

use crate::error::CliError;

/// Refuses what would need PNG files, before any run.
pub(crate) fn require(asked: &str) -> Result<(), CliError> {
    Err(CliError::Usage {
        problem: format!("{asked} needs PNG files, and this program was built without them"),
        hint: "ask for `.svg` or `.html`, or build with PNG files: \
               `cargo install --locked --path reports/cli --features png`"
            .to_owned(),
    })
}

/// There is no value of it: [`require`] came first.
#[derive(Debug, Error)]
#[error("built without PNG files")]
pub(crate) struct PngError;

pub(crate) fn png(_svg: &str) -> Result<Vec<u8>, PngError> {
    Err(PngError)
}
