//! The rules, each a function from a file to what is wrong with it. They read formatted text, not syntax: rustfmt has
//! been here.

use std::collections::BTreeMap;

use crate::Source;

const WIDTH: usize = 120;
const FUNCTION_LINES: usize = 70;
const FILE_LINES: usize = 450;

/// Words that a reader of another mother tongue has to guess at, with the plain one.
const POETRY: &[(&str, &str)] = &[
    ("Deed", "action, effect"),
    ("Told", "event"),
    ("Teller", "what it collects"),
    ("Coming", "Pending"),
    ("elders", "older forms"),
    ("sisters", "replicas"),
    ("knot", "component"),
    ("let_go", "resume, release"),
    ("take_back", "undo"),
    ("carry_out", "execute"),
    ("_nobody_reads", "_ignored"),
    ("_nobody_listens", "_ignored"),
    ("_nobody_watches", "_ignored"),
    ("_already_gone", "_ignored"),
];

pub(crate) fn header(source: &Source) -> Vec<String> {
    let opens = source.text.starts_with("//! ");
    if opens { Vec::new() } else { vec!["it does not open with `//! ` and what it is for".to_owned()] }
}

/// Texts that are data may be as long as they are: a line counts only up to the string it ends with, and the lines of a
/// snapshot do not count.
pub(crate) fn width(source: &Source) -> Vec<String> {
    let mut in_snapshot = false;
    let mut of_code = |line: &str| {
        in_snapshot = if in_snapshot { !line.contains("\"#]]") } else { line.ends_with("str![[r#\"") };
        !in_snapshot
    };
    let code = source.text.lines().enumerate().filter(|(_, line)| of_code(line));
    let wide = code.filter(|(_, line)| line.chars().count() > WIDTH && !holds_long_text(line));
    wide.map(|(index, _)| format!("line {} is wider than {WIDTH} columns", index + 1)).collect()
}

fn holds_long_text(line: &str) -> bool {
    let code = line.trim_start();
    !code.starts_with("//") && code.contains('"')
}

/// The first group of imports is the standard library's, if there is one.
pub(crate) fn imports(source: &Source) -> Vec<String> {
    let is_import = |line: &str| line.starts_with("use ") || line.starts_with("pub use ");
    let lines = source.text.lines().filter(|line| is_import(line));
    let first_std = lines.clone().position(|line| line.starts_with("use std::"));
    match first_std {
        Some(place) if place > 0 => vec![format!("{place} imports come before those of `std`")],
        _ => Vec::new(),
    }
}

/// A public function of a library that returns a `Result` has a section that says when it fails.
pub(crate) fn errors_sections(source: &Source) -> Vec<String> {
    if !source.is_shipped() || source.path.ends_with("main.rs") {
        return Vec::new();
    }
    let lines: Vec<&str> = source.text.lines().collect();
    let is_public = |line: &str| {
        let line = line.trim_start();
        ["pub fn ", "pub async fn "].iter().any(|start| line.starts_with(start))
    };
    let fallible = (0..lines.len()).filter(|&at| is_public(lines[at])).filter(|&at| {
        let signature: String =
            lines[at..].iter().take_while(|line| !line.trim().is_empty()).take(12).copied().collect();
        signature
            .split(['{', ';'])
            .next()
            .is_some_and(|head| head.contains("-> Result<") || head.contains("-> io::Result<"))
    });
    let silent = fallible.filter(|&at| {
        let docs = lines[..at].iter().rev().take_while(|line| line.trim_start().starts_with(['/', '#']));
        !docs.into_iter().any(|line| line.contains("# Errors"))
    });
    silent.map(|at| format!("line {}: no `# Errors` section", at + 1)).collect()
}

/// A function ends at the first line that closes a brace as far left as it began. One of a trait may have no body.
pub(crate) fn long_functions(source: &Source) -> Vec<String> {
    let lines: Vec<&str> = source.text.lines().collect();
    let begins = |line: &str| {
        let code = line.trim_start();
        [
            "fn ",
            "pub fn ",
            "pub(crate) fn ",
            "pub(super) fn ",
            "async fn ",
            "pub async fn ",
            "const fn ",
            "pub const fn ",
        ]
        .iter()
        .any(|start| code.starts_with(start))
    };
    let mut long = Vec::new();
    for at in (0..lines.len()).filter(|&at| begins(lines[at])) {
        let indent = lines[at].len() - lines[at].trim_start().len();
        let close = format!("{}}}", " ".repeat(indent));
        let length = lines[at..].iter().position(|line| *line == close).map_or(0, |end| end + 1);
        let has_body = lines[at..]
            .iter()
            .find(|line| line.ends_with(['{', ';']))
            .is_some_and(|line| line.ends_with('{'));
        if length > FUNCTION_LINES && has_body {
            long.push(format!("line {}: a function of {length} lines", at + 1));
        }
    }
    long
}

pub(crate) fn long_file(source: &Source) -> Vec<String> {
    let lines = source.text.lines().count();
    if lines > FILE_LINES { vec![format!("{lines} lines, more than {FILE_LINES}")] } else { Vec::new() }
}

pub(crate) fn poetry(source: &Source) -> Vec<String> {
    if source.path == "selftest/tidy/tests/tidy/rules.rs" {
        return Vec::new(); // the list itself
    }
    let part_of_a_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words: Vec<&str> = source.text.split(|letter| !part_of_a_word(letter)).collect();
    let found = POETRY.iter().filter(|(word, _)| words.contains(word));
    found.map(|(word, plain)| format!("`{word}`: say {plain}")).collect()
}

/// Public types and traits whose name is one in another crate, too.
pub(crate) fn shared_names(sources: &[Source]) -> Vec<(String, Vec<String>)> {
    let mut crates: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.is_shipped()) {
        let package = source.path.split("/src/").next().unwrap_or_default().to_owned();
        for name in source.text.lines().filter_map(public_type) {
            let of = crates.entry(name.to_owned()).or_default();
            if !of.contains(&package) {
                of.push(package.clone());
            }
        }
    }
    crates.into_iter().filter(|(_, of)| of.len() > 1).collect()
}

/// The name of a type that a line at the left margin makes public.
fn public_type(line: &str) -> Option<&str> {
    let kinds = ["pub struct ", "pub enum ", "pub trait ", "pub type "];
    let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
    rest.split(|letter: char| !letter.is_ascii_alphanumeric()).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { path: "sim/src/planted.rs".to_owned(), text: text.to_owned() }
    }

    fn finds(rule: fn(&Source) -> Vec<String>, bad: &str, good: &str) {
        assert_eq!(rule(&source(bad)).len(), 1, "{bad}");
        assert_eq!(rule(&source(good)), [] as [String; 0], "{good}");
    }

    #[test]
    fn a_file_without_a_header_is_found() {
        finds(header, "use std::fmt;\n", "//! What it is for.\n\nuse std::fmt;\n");
    }

    #[test]
    fn a_wide_line_is_found_and_a_long_text_is_none() {
        let (comment, text) =
            (format!("    // {}\n", "é".repeat(115)), format!("say(\"{}\");\n", "x".repeat(200)));
        finds(width, &comment, &text);
        finds(width, &format!("/// {}\n", "x".repeat(117)), &format!("/// {}\n", "é".repeat(116)));
        let snapshot = format!("    say(str![[r#\"\n{}\n\"#]]);\n", "x".repeat(200));
        finds(width, &format!("{snapshot}{comment}"), &snapshot);
    }

    #[test]
    fn imports_in_the_wrong_order_are_found() {
        finds(
            imports,
            "use serde::Serialize;\n\nuse std::fmt;\n",
            "use std::fmt;\n\nuse serde::Serialize;\n",
        );
        finds(imports, "use crate::Clock;\nuse std::fmt;\n", "use crate::Clock;\n");
    }

    #[test]
    fn a_function_that_may_fail_and_does_not_say_when_is_found() {
        let bad = "/// Reads.\npub fn read(\n    path: &str,\n) -> Result<(), Error> {\n}\n";
        finds(
            errors_sections,
            bad,
            &bad.replace("/// Reads.", "/// Reads.\n///\n/// # Errors\n///\n/// Never."),
        );
        finds(errors_sections, "    pub fn r() -> io::Result<()> {\n", "fn r() -> Result<(), ()> {\n");
        finds(
            errors_sections,
            "pub async fn r() -> Result<(), ()> {\n",
            "pub fn r() -> u8 {\n    Result<()>\n",
        );
    }

    #[test]
    fn a_long_function_is_found() {
        let function = |lines: usize| {
            format!("impl A {{\n    pub fn f() {{\n{}    }}\n}}\n", "        g();\n".repeat(lines))
        };
        finds(long_functions, &function(69), &function(68));
        let declared =
            format!("trait A {{\n    fn f(\n        a: B,\n    );\n{}}}\n", "    fn g();\n".repeat(99));
        assert_eq!(
            long_functions(&source(&format!("{declared}fn h() {{\n    {{\n    }}\n}}\n"))),
            [] as [String; 0]
        );
    }

    #[test]
    fn a_long_file_is_found() {
        finds(long_file, &"\n".repeat(451), &"\n".repeat(450));
    }

    #[test]
    fn poetry_is_found_in_whole_words() {
        finds(poetry, "enum Turn { Deed }", "enum Turn { Deeds, IndeedDeed }");
        finds(poetry, "let _nobody_reads = write();", "let _ignored = write();");
    }

    #[test]
    fn a_name_that_two_crates_share_is_found() {
        let of = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
        let twice = [
            of("sim/src/a.rs", "pub struct Event<T> {\n"),
            of("scenarios/src/b.rs", "pub enum Event {\n"),
            of("scenarios/src/c.rs", "pub struct Other;\n    pub struct Event;\n"),
            of("scenarios/tests/d.rs", "pub struct Other;\n"),
        ];
        let of_both = vec!["sim".to_owned(), "scenarios".to_owned()];
        assert_eq!(shared_names(&twice), [("Event".to_owned(), of_both)]);
    }
}
