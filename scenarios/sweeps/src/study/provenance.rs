//! The sources of a weather line's numbers, once a study has set some of them.
//!
//! A line of a weather has one source for all its numbers, in words. Of a line with a number that a study sets, that
//! source would speak of another number: so the study stands in its place, unless the study gives a source of its own.

use std::collections::BTreeMap;

use doublehold_scenarios::format::tree::Item;

use super::{Change, parameters};

/// Puts the study in the place of each source that speaks of a number which one of these changes has set.
pub(super) fn tell(tree: &mut Item, changes: &[&Change]) {
    let mut set: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for change in changes {
        for (line, key) in parameters::weather_keys(tree, &change.key) {
            let keys = set.entry(line).or_default();
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    for (line, keys) in set {
        let own = keys.iter().any(|key| key == "source");
        let numbers: Vec<&str> =
            keys.iter().map(String::as_str).filter(|key| !NO_NUMBERS.contains(key)).collect();
        if own || numbers.is_empty() {
            continue;
        }
        let source = format!(
            "Set by this study: {}. Other numbers are as in its weather",
            doublehold_text::list(&numbers)
        );
        // A line that one of the changes has taken out has no such path.
        let _ = tree.overlay(&format!("{line}.source"), Item::text(&source, tree.origin));
    }
}

/// Whom a line strikes and in which way: no source speaks of that.
const NO_NUMBERS: [&str; 6] = ["host", "from", "to", "both_ways", "either_way", "sign"];
