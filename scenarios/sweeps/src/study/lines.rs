//! The lines of a world's weather, while the world is still the text of its file: their names, and what a study may
//! call them.

use doublehold_scenarios::format::problem::{Problem, Result};
use doublehold_scenarios::format::tree::{Item, ItemValue};
use doublehold_scenarios::weather::LineName;

/// The lines as they are written.
pub(super) fn items(tree: &Item) -> &[Item] {
    match tree.find(&["weather", "faults"]).map(|node| &node.value) {
        Some(ItemValue::List(lines)) => lines,
        _ => &[],
    }
}

/// The names of lines.
pub(super) fn names(lines: &[Item]) -> Vec<LineName> {
    let text = |line: &Item, key: &str| line.find(&[key]).and_then(Item::as_text).map(str::to_owned);
    let hosts = |line: &Item, key: &str| match line.find(&[key]).map(|node| &node.value) {
        Some(ItemValue::List(names)) => {
            Some(names.iter().filter_map(Item::as_text).collect::<Vec<_>>().join(","))
        }
        _ => text(line, key),
    };
    let named = |line: &Item| {
        let ends = hosts(line, "from").zip(hosts(line, "to")).map(|(from, to)| format!("{from}>{to}"));
        let whom = hosts(line, "host").or(ends).unwrap_or_default();
        (text(line, "kind").unwrap_or_default(), whom)
    };
    LineName::of_lines(lines.iter().map(named))
}

/// The words that each line goes by in the list of all parameters: its kind, and its name where others are of its kind.
pub(super) fn words(lines: &[Item]) -> Vec<Vec<String>> {
    let names = names(lines);
    let shortest = LineName::shortest(&names);
    let words = |(name, shortest): (&LineName, String)| {
        let mut words = vec![name.kind().to_owned(), shortest];
        words.dedup();
        words
    };
    names.iter().zip(shortest).map(words).collect()
}

/// The numbers of the lines that a word means: one by its name, or all of a kind.
pub(super) fn meant_by(tree: &Item, word: &str) -> Vec<usize> {
    let names = names(items(tree));
    (0..names.len()).filter(|line| names[*line].is_meant_by(word)).collect()
}

/// True if a word means a line of the weather.
pub(super) fn is_line(tree: &Item, word: &str) -> bool {
    !meant_by(tree, word).is_empty()
}

/// Takes lines out of the weather, or leaves them as they are.
pub(super) fn keep(tree: &mut Item, word: &str, value: &Item) -> Result<()> {
    let ItemValue::Flag(keep) = value.value else {
        let cause = format!("`weather.{word}` must be true or false");
        let hint = format!("vary a key of it, such as `weather.{word}.every`");
        return Err(Problem::new(value.origin, cause, hint));
    };
    let taken_out = if keep { Vec::new() } else { meant_by(tree, word) };
    if let Some(Item { value: ItemValue::List(lines), .. }) = tree.find_mut(&["weather", "faults"]) {
        let mut number = 0..;
        lines.retain(|_| number.next().is_none_or(|number| !taken_out.contains(&number)));
    }
    Ok(())
}
