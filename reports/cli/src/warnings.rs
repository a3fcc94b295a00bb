//! What could not be written, or not be made smaller, at the end of a search: told after everything else that the
//! search has to say, since that must not be lost by it.

use crate::error::CliError;
use crate::output;

/// Errors so far.
#[derive(Default)]
pub(crate) struct Warnings(Vec<CliError>);

impl Warnings {
    /// Goes on without what failed.
    pub(crate) fn note<T>(&mut self, result: Result<T, CliError>) -> Option<T> {
        result.map_err(|error| self.0.push(error)).ok()
    }

    /// Says all of them.
    pub(crate) fn print(&self) {
        self.0.iter().for_each(|error| output::inform(&format!("error: {error}")));
    }

    /// The last is the command's own error; those before it are said here.
    pub(crate) fn into_result(mut self) -> Result<(), CliError> {
        let last = self.0.pop();
        self.print();
        last.map_or(Ok(()), Err)
    }
}
