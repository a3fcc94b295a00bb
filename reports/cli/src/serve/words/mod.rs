//! `DOUBLEHOLD …`: the words by which a client of any served port strikes faults, tells of its locks, and asks for the
//! verdict. Each is answered when it holds.
//!
//! Decision: "Words of a Redis command strike served nodes" (docs/decisions/redis.md).
//!
//! | | |
//! |---|---|
//! | all words, with their arguments | `word` |
//! | from arguments to a word, with refusals | `read` |
//! | moments that are known here | `moment` |
//! | from a word to its reply | `obey` |
//! | what the record says of a fault | `sentence` |
//! | replies in RESP | `said` |

mod moment;
mod obey;
mod read;
mod said;
mod sentence;
mod word;

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

use doublehold_sim_redis::core::Peer;
use doublehold_sim_redis::resp::Args;
pub(crate) use moment::check_moment;
use said::Said;
pub(crate) use word::Word;

use super::control::Control;

/// The command that no Redis has.
pub(super) const WORD: &[u8] = b"DOUBLEHOLD";

/// Does what a fault's word says, if that takes no time; else the word is the error.
pub(super) fn strike(control: &Arc<Control>, word: Word) -> Result<(), Word> {
    if let Some((what, node)) = sentence::of(&word) {
        control.record.note_fault(what, node);
    }
    obey::at_once(control, Peer::default(), word).map(|_said| ())
}

/// Does what a fault's word says, which takes its time. What cannot be done, such as a crash of who is down, is done
/// already.
pub(super) async fn strike_in_time(control: &Arc<Control>, word: Word) {
    let _said = obey::in_time(control, word).await;
}

/// Does what a line says, as if a client of nobody had sent it behind `DOUBLEHOLD`.
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) async fn type_word(control: &Arc<Control>, line: &str) -> Result<(), String> {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let word = read::word(control, &words)?;
    match strike(control, word) {
        Ok(()) => Ok(()),
        Err(word) => match obey::in_time(control, word).await {
            Said::Error(problem) => Err(problem),
            _ => Ok(()),
        },
    }
}

/// The reply to a word, which is done when the reply is waited for.
pub(super) fn answer(
    control: &Arc<Control>,
    from: Peer,
    request: &Args<'_>,
) -> Pin<Box<dyn Future<Output = Vec<u8>> + Send>> {
    let words: Vec<&[u8]> = request.iter().skip(1).collect();
    let word = match read::word(control, &words) {
        Ok(word) => word,
        Err(problem) => return Box::pin(ready(Said::Error(problem).to_resp())),
    };
    let control = Arc::clone(control);
    Box::pin(async move {
        // A crash is written down before the node is gone, and what it forgets after it.
        if let Some((what, node)) = sentence::of(&word) {
            control.record.note_fault(what, node);
        }
        match obey::at_once(&control, from, word) {
            Ok(said) => said.to_resp(),
            // It is done also if whoever asked for it has gone by then.
            Err(word) => match tokio::spawn(async move { obey::in_time(&control, word).await }).await {
                Ok(said) => said.to_resp(),
                Err(_ended) => Said::Error("the program ends".to_owned()).to_resp(),
            },
        }
    })
}
