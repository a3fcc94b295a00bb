//! The facts that a study's own text states in so many words. A header that says otherwise was changed, and its numbers
//! would be told of other designs, or as those of more runs.
//!
//! The text is not read as a study: a study may name files, and reading records opens no others.

use doublehold_text::shorten;
use toml::{Table, Value};

use crate::sweep::StudyHeader;

/// The contradiction between a header and the text of its study, if there is one; none if the text cannot be read.
pub(super) fn contradiction(header: &StudyHeader) -> Option<String> {
    let text: Table = header.text.parse().ok()?;
    let named = |key: &str| text.get(key).and_then(Value::as_str);
    let number = |key: &str| text.get(key).and_then(|it| u64::try_from(it.as_integer()?).ok());
    let differs = |what: &str, here: &str, there: &str| {
        Some(format!("its header says that {what} is `{}`, and its text `{}`", shorten(here), shorten(there)))
    };
    if let Some(question) = named("question").filter(|it| *it != header.question) {
        return differs("the question", &header.question, question);
    }
    if let Some(runs) = number("runs").filter(|it| *it != header.runs) {
        return differs("`runs`", &header.runs.to_string(), &runs.to_string());
    }
    if let Some(seed) = named("seed").filter(|it| it.parse().is_ok_and(|seed: u64| seed != header.seed)) {
        return differs("the first seed", &header.seed.to_string(), seed);
    }
    let designs = text.get("designs")?.as_array()?;
    let name = |design: &Value| design.get("name").and_then(Value::as_str).map(str::to_owned);
    let names: Vec<String> = designs.iter().filter_map(name).collect();
    if names.len() != header.designs.len() {
        return differs("the number of designs", &header.designs.len().to_string(), &names.len().to_string());
    }
    let pairs = header.designs.iter().zip(&names).zip(1..);
    let other = pairs.into_iter().find(|((here, there), _)| here.name != **there);
    other.and_then(|((here, there), number)| differs(&format!("design {number}"), &here.name, there))
}
