//! What the TOML parser refuses, answered with the key it is about and a way out.
//!
//! The parser says that a key is there twice, or that it recurses no further, and not which key or how far. Lines are
//! found by looking at the text, so an odd spelling may cost the line of the other place, never the answer.

use std::ops::Range;

use doublehold_text::shorten;
use toml::de::Error;

use super::problem::{ItemOrigin, Problem};

/// Tables and lists within each other. Beyond this nothing has a meaning, and what recurses over a tree needs a bound.
pub(crate) const DEPTH_MAX: usize = 16;
/// The way out of what is no TOML.
pub(crate) const HINT: &str = "scenario files are TOML: `key = value` lines under `[table]` headings";
const TOO_DEEP: &str = "this is nested more than 16 deep";

/// The refusal of a text that is no TOML, or none of a depth that could mean anything.
pub(crate) fn refusal(text: &str, error: &Error) -> Problem {
    let (line, cause) = place_and_cause(text, error);
    if is_too_deep(error) {
        return too_deep(ItemOrigin::Line(line));
    }
    if error.message().starts_with("duplicate key")
        && let Some(problem) = error.span().and_then(|span| duplicate(text, span))
    {
        return problem;
    }
    Problem::new(ItemOrigin::Line(line), cause, HINT)
}

/// The line of an error, and what it says, on one line.
pub(crate) fn place_and_cause(text: &str, error: &Error) -> (usize, String) {
    if is_too_deep(error) {
        // A dotted key comes without its place.
        let line = error.span().map_or_else(|| deepest_line(text), |span| line_at(text, span.start));
        return (line, TOO_DEEP.to_owned());
    }
    let line = error.span().map_or(1, |span| line_at(text, span.start));
    (line, error.message().lines().collect::<Vec<_>>().join(", "))
}

/// Whether the parser gave up on the depth of a text.
pub(crate) fn is_too_deep(error: &Error) -> bool {
    error.message().contains("recurs")
}

/// The refusal of a value or a key that is nested too deeply.
pub(crate) fn too_deep(origin: ItemOrigin) -> Problem {
    let hint = "the deepest key of the format has six parts, such as `network.links.0.delay.median`";
    Problem::new(origin, TOO_DEEP, hint)
}

fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

/// The line on which most is nested.
fn deepest_line(text: &str) -> usize {
    let depth = |line: &str| line.bytes().filter(|byte| b".[{".contains(byte)).count();
    // The first of those that are equally deep: the parser stops there.
    let deepest = text.lines().enumerate().min_by_key(|(_, line)| std::cmp::Reverse(depth(line)));
    deepest.map_or(1, |(index, _)| index + 1)
}

fn duplicate(text: &str, span: Range<usize>) -> Option<Problem> {
    let key = text.get(span.clone())?.trim_matches(['"', '\'']);
    let before = &text[..span.start];
    let line = line_at(text, span.start);
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let other = before[..start].lines().enumerate().filter(|(_, line)| names(line, key)).last();
    let at = other.map_or(String::new(), |(index, _)| format!(", at line {}", index + 1));
    let is_list = |line: &str| line.trim_start().starts_with("[[");
    let lists = is_list(&text[start..]) || other.is_some_and(|(_, line)| is_list(line));
    let key = shorten(key);
    let hint = if lists {
        format!("head each table of a list `[[{key}]]`, not `[{key}]`")
    } else {
        "each key stands once: keep one of the two".to_owned()
    };
    Some(Problem::new(ItemOrigin::Line(line), format!("`{key}` is there already{at}"), hint))
}

/// Whether a line sets the key or heads its table.
fn names(line: &str, key: &str) -> bool {
    let rest = line.trim_start().trim_start_matches('[').trim_start_matches([' ', '"', '\'']);
    rest.strip_prefix(key)
        .is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with(['=', ']', '.']))
}
