//! The meanings of all locks' scripts, in words: for pictures of what was sent.
//!
//! A script that is no lock's of this crate has no words here.

use std::sync::LazyLock;

use super::{hash, job, list, local_remote};
use crate::connection::{extension_scripts, scripts};
use crate::parts::waiting::Signals;

/// The names of the scripts, each with what it does to its first key, which is at `{}`.
static MEANINGS: LazyLock<Vec<(String, &'static str)>> = LazyLock::new(|| {
    let [publish, push] = Signals::new().hashes().map(str::to_owned);
    let named = |(script, meaning): (&scripts::Script, &'static str)| (script.hash().to_owned(), meaning);
    let textbook = [
        (&*scripts::CLAIM_FENCED, "set {} if free, with a number"),
        (&*scripts::COMPARE_AND_DELETE, "delete {} if mine"),
        (&*scripts::EXTEND, "extend {} if mine"),
        (&*scripts::EXTEND_OR_SET, "extend {} if mine, set it if free"),
        (&*extension_scripts::EXTEND_UNTIL, "extend {} if mine, to a moment"),
        (&*extension_scripts::EXTEND_MORE, "extend {} if mine, by more"),
    ];
    let others = [
        (&hash::ACQUIRE, "take {} if free or mine"),
        (&hash::RELEASE, "count {} down if mine, delete it at 0"),
        (&hash::EXTEND, "extend {} if mine"),
        (&job::TAKE, "take the job {} if it waits"),
        (&job::EXTEND, "set {} again if mine"),
        (&job::FINISH, "finish the job {} if mine"),
        (&job::CHECK, "look for stalled jobs"),
        (&list::RELEASE, "delete {} if mine, and wake one"),
        (&list::EXTEND, "extend {} if mine"),
        (&local_remote::ASK, "extend {} if mine, set it if free"),
        (&local_remote::FAIL, "extend {} if mine, set it if free"),
    ];
    let signals = [(publish, "delete {} if mine, and tell"), (push, "delete {} if mine, and wake one")];
    let others = others.map(|(script, meaning)| (script.hash().to_owned(), meaning));
    textbook.map(named).into_iter().chain(others).chain(signals).collect()
});

/// The meaning of a script for its first key, which is at `{}`, by the SHA-1 of its source. `None` for a script that
/// no lock of this crate sends.
///
/// ```
/// use doublehold_lockimpl::script_meaning;
///
/// assert_eq!(script_meaning("6fbe84d1140fd2047394924af9d845b83c070bec"), Some("delete {} if mine"));
/// assert_eq!(script_meaning("0000000000000000000000000000000000000000"), None);
/// ```
pub fn script_meaning(hash: &str) -> Option<&'static str> {
    MEANINGS.iter().find(|(name, _)| name == hash).map(|(_, meaning)| *meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_that_a_lock_may_send_has_words() {
        let all = crate::descriptors();
        let sources = all.iter().flat_map(|lock| lock.scripts.iter());
        let mut seen = 0;
        for source in sources {
            let hash = redis::Script::new(source).get_hash().to_owned();
            assert!(script_meaning(&hash).is_some(), "{source}");
            seen += 1;
        }
        assert!(seen > 20, "{seen} scripts");
    }
}
