//! A call of a script.

use crate::core::command::Lookup;
use crate::resp::Args;

/// How a script is called.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    /// The whole request: EVAL, script, number of keys, keys, arguments.
    pub(crate) args: &'a Args<'a>,
    /// How many of the arguments are keys.
    pub(crate) keys: usize,
    /// EVAL_RO and EVALSHA_RO.
    pub(crate) read_only: bool,
    /// Finds the commands that the script calls.
    pub(crate) lookup: Lookup,
}
