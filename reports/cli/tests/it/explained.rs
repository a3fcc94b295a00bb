//! What a page says of a format, to be compared with what is written: sections, words in backticks, names of fields.

use std::collections::BTreeSet;

use serde_json::Value;

/// What stands under a heading, such as `## A run`, up to the next of its order or a higher one.
#[track_caller]
pub(crate) fn section<'p>(page: &'p str, heading: &str) -> &'p str {
    let (_, rest) =
        page.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no section `{heading}`"));
    let order = heading.bytes().take_while(|byte| *byte == b'#').count();
    let ends = (2..=order).filter_map(|order| rest.find(&format!("\n{} ", "#".repeat(order))));
    &rest[..ends.min().unwrap_or(rest.len())]
}

/// The words in backticks, but for those of blocks.
pub(crate) fn words(part: &str) -> BTreeSet<String> {
    let text = part.split("```").step_by(2).collect::<String>();
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The names of all fields of a value and of what is in it.
pub(crate) fn fields(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Object(map) => {
            map.iter().flat_map(|(name, value)| fields(value).into_iter().chain([name.clone()])).collect()
        }
        Value::Array(values) => values.iter().flat_map(fields).collect(),
        _ => BTreeSet::new(),
    }
}
