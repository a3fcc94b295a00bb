//! Examples of what a sweep counted: `examples.jsonl` beside its records, a line for each.
//!
//! An example is one run of a cell that violates a predicate, made as small as it gets, with its picture and the lines
//! that show it again. Whoever sweeps writes them; a report only shows them, so that it runs nothing. They are text
//! and pictures ready to be shown: nothing in them is computed with.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::path::Path;

use doublehold_history::Predicate;
use doublehold_text::shorten;
use serde::{Deserialize, Serialize};

use super::RecordsError;
use super::opening;

/// The file's name.
pub const EXAMPLES: &str = "examples.jsonl";

/// One run that violates a predicate, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// The cell in which it was found.
    pub cell: u64,
    /// What it violates.
    pub predicate: Predicate,
    /// The seed under which the sweep found it.
    pub seed: u64,
    /// The design's name.
    pub design: String,
    /// What happens, in one line.
    pub headline: String,
    /// The cause in one sentence, if runs without it have shown that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The events in one sentence, if the cause is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what_happened: Option<String>,
    /// Whether it was seen through redis-rs, and not only through a sweep's lean connections.
    pub real: bool,
    /// From how many other seeds the small scenario violates it too, and of how many that were tried.
    pub others: [u64; 2],
    /// How much smaller it was made.
    pub size: Shrinkage,
    /// What happens, step by step.
    pub sentences: Vec<TimedSentence>,
    /// Its picture: the text of one `<svg>`, to scale, with nothing from elsewhere.
    pub svg: String,
    /// The small scenario, a TOML file's text.
    pub scenario: String,
    /// The command that runs the found run again as it was.
    pub replay: String,
    /// The command that runs the small scenario.
    pub run: String,
}

/// A run's size before and after it was shrunk: how many `faults`, `clients`, `steps` and `nodes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shrinkage {
    /// As it was found.
    pub from: BTreeMap<String, u64>,
    /// As it is shown.
    pub to: BTreeMap<String, u64>,
}

/// One step of an example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimedSentence {
    /// When, in true time: `12.031 s`.
    pub at: String,
    /// What.
    pub words: String,
}

/// Reads the examples in a folder; none if there is no such file. A torn last line is left out: the sweep that was
/// writing it makes it again.
///
/// # Errors
///
/// If the file cannot be read, or a line that is not its last is no example.
pub fn examples_in(folder: &Path) -> Result<Vec<Example>, RecordsError> {
    let path = folder.join(EXAMPLES);
    let mut text = String::new();
    match opening::open_for_reading(&path).and_then(|mut file| file.read_to_string(&mut text)) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(RecordsError::io("read", &path, source)),
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut examples = Vec::new();
    for (number, line) in (1..).zip(&lines) {
        match serde_json::from_str(line) {
            Ok(example) => examples.push(example),
            Err(_) if number == lines.len() => {}
            Err(error) => {
                let cause = format!("line {number} is no example: {}", shorten(&error.to_string()));
                return Err(RecordsError::unusable(&path, cause, "remove the file, and sweep again"));
            }
        }
    }
    Ok(examples)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"cell":3,"predicate":"P2","seed":17,"design":"single","headline":"c1 and c2 both hold it",
        "real":true,"others":[40,50],"size":{"from":{"faults":9},"to":{"faults":1}},
        "sentences":[{"at":"1.2 s","words":"c1 pauses"}],"svg":"<svg/>","scenario":"","replay":"r","run":"s"}"#;

    #[test]
    fn a_torn_last_line_is_left_out_and_a_wrong_one_before_it_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(examples_in(folder.path()).expect("no file is no example").len(), 0);
        let line = LINE.replace('\n', " ");
        let write = |text: &str| std::fs::write(folder.path().join(EXAMPLES), text).expect("written");
        write(&format!("{line}\n{}", &line[..50]));
        let read = examples_in(folder.path()).expect("one is whole");
        assert_eq!(read.len(), 1);
        assert_eq!((read[0].predicate, read[0].why.as_deref()), (Predicate::P2, None));
        write(&format!("{}\n{line}\n", &line[..50]));
        assert!(examples_in(folder.path()).unwrap_err().to_string().contains("line 1 is no example"));
    }
}
