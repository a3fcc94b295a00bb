//! "Did you mean": the known word closest to one that is not known.

use crate::text;

/// More than this many words are a list of what there is, not an answer to what was meant.
const ALIKE_MAX: usize = 3;

/// The way out after an unknown word: the known ones that it may have been, or all of them.
pub fn hint(unknown: &str, known: &[&str]) -> String {
    match &similar_words(unknown, known)[..] {
        [] if known.is_empty() => "there is none".to_owned(),
        [] => format!("known are {}", list(known)),
        words => format!("did you mean {}?", either(words)),
    }
}

/// The known words that begin with the unknown one, if they are few, or else the closest.
pub fn similar_words<'a>(unknown: &str, known: &[&'a str]) -> Vec<&'a str> {
    let typed = unknown.to_lowercase();
    // One letter is the beginning of too much: `c9` is not `clock-step` cut short, and neither is `c`.
    let begins = |word: &&&str| typed.chars().count() > 1 && word.to_lowercase().starts_with(&typed);
    let beginning: Vec<&str> = known.iter().filter(begins).copied().collect();
    match beginning.len() {
        1..=ALIKE_MAX => beginning,
        _ => closest(unknown, known).into_iter().collect(),
    }
}

/// The known word that differs by the fewest letters, if those are few beside its length.
pub fn closest<'a>(unknown: &str, known: &[&'a str]) -> Option<&'a str> {
    // Nobody mistypes a word of hundreds of letters, and the comparison is quadratic.
    if unknown.len() > 100 {
        return None;
    }
    let unknown = unknown.to_lowercase();
    let limit = 1 + unknown.chars().count() / 3;
    let distances = known.iter().map(|word| (strsim::levenshtein(&unknown, &word.to_lowercase()), *word));
    // Every letter of the word differing is no likeness: `c9` is not a mistyped `C`.
    let alike = distances.filter(|(distance, word)| *distance <= limit && *distance < word.chars().count());
    alike.min_by_key(|(distance, _)| *distance).map(|(_, word)| word)
}

/// Names in backticks, with commas and an "and".
pub fn list(words: &[&str]) -> String {
    quote_list(words, "and")
}

/// Names in backticks, with commas and an "or".
pub fn either(words: &[&str]) -> String {
    quote_list(words, "or")
}

fn quote_list(names: &[&str], conjunction: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|word| format!("`{word}`")).collect();
    text::join_names(&quoted, conjunction)
}
