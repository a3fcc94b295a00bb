//! Some of the claims, as typed: `L,T`, `one-node`, `L4b`.

use doublehold_scenarios::topics::TOPICS;
use doublehold_text::suggest;
use thiserror::Error;

use crate::claims::DebateClaim;

/// Topics and claims to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection(Vec<String>);

/// A word that is neither a topic nor a claim.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown topic or claim `{word}`\nhint: {hint}")]
pub struct UnknownClaim {
    word: String,
    hint: String,
}

impl Selection {
    /// The claims that such words name: a topic by its name or by the letter of its claims, or a claim by its number.
    ///
    /// # Errors
    ///
    /// If a word names none.
    pub fn parse(words: &[String], claims: &[DebateClaim]) -> Result<Selection, UnknownClaim> {
        match words.iter().find(|word| !claims.iter().any(|claim| names(word, claim))) {
            Some(word) => Err(unknown_claim(word, claims)),
            None => Ok(Selection(words.to_vec())),
        }
    }

    /// True if such a claim is among them.
    pub fn has(&self, claim: &DebateClaim) -> bool {
        self.0.iter().any(|word| names(word, claim))
    }
}

/// A letter is that of the claim's own number: `F` and `Q` share a topic.
fn names(word: &str, claim: &DebateClaim) -> bool {
    let letter = claim.id.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let letter = &claim.id[..claim.id.len() - letter.len()];
    [claim.topic.name, letter, &claim.id].iter().any(|name| name.eq_ignore_ascii_case(word))
}

fn unknown_claim(word: &str, claims: &[DebateClaim]) -> UnknownClaim {
    let topics: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
    let letters = TOPICS.iter().flat_map(|topic| topic.letters).copied();
    let ids: Vec<&str> = claims.iter().map(|claim| claim.id.as_str()).collect();
    let upper = word.to_uppercase();
    let mut near = suggest::similar_words(word, &topics);
    near.extend(suggest::similar_words(&upper, &ids));
    let hint = if near.is_empty() {
        let topics: Vec<&str> = topics.iter().copied().chain(letters).collect();
        format!(
            "topics are {}; a claim is named as in `doublehold debate`, such as `L4b`",
            suggest::list(&topics)
        )
    } else {
        format!("did you mean {}?", suggest::either(&near))
    };
    UnknownClaim { word: doublehold_text::shorten(word), hint }
}
