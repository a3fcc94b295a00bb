//! Studies that come with the program, and files by path. The text of each is in `studies/`.

use std::path::Path;

use doublehold_scenarios::catalog::{file_beside, read_text};
use doublehold_scenarios::error::{FileKind, ScenarioError};
use doublehold_text::shorten;
use doublehold_text::suggest;

use super::Study;

/// Names and texts, the most general question first.
const FILES: [(&str, &str); 12] = [
    ("which-lock", include_str!("../../studies/which-lock.toml")),
    ("which-service", include_str!("../../studies/which-service.toml")),
    ("fencing-forms", include_str!("../../studies/fencing-forms.toml")),
    ("field-rates", include_str!("../../studies/field-rates.toml")),
    ("my-service", include_str!("../../studies/my-service.toml")),
    ("which-library", include_str!("../../studies/which-library.toml")),
    ("library-rates", include_str!("../../studies/library-rates.toml")),
    ("ttl-vs-pause", include_str!("../../studies/ttl-vs-pause.toml")),
    ("clock-drift-frontier", include_str!("../../studies/clock-drift-frontier.toml")),
    ("failover-window", include_str!("../../studies/failover-window.toml")),
    ("failover-time", include_str!("../../studies/failover-time.toml")),
    ("article-locks", include_str!("../../studies/article-locks.toml")),
];

/// A study that comes with the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundledStudy {
    /// Its name.
    pub name: &'static str,
    /// Its file.
    pub text: &'static str,
}

/// All of them.
pub fn bundled_studies() -> impl Iterator<Item = BundledStudy> {
    FILES.iter().map(|&(name, text)| BundledStudy { name, text })
}

pub(super) fn load(name_or_path: &str) -> Result<Study, ScenarioError> {
    if let Some(found) = bundled_studies().find(|found| found.name == name_or_path) {
        return Study::parse(found.name, found.name, found.text);
    }
    let is_path = name_or_path.ends_with(".toml") || name_or_path.contains(['/', '\\']);
    if !is_path {
        let names: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        let hint = suggest::hint(name_or_path, &names);
        let is_list = suggest::similar_words(name_or_path, &names).is_empty();
        let hint = if is_list { hint + "; a file's name ends in `.toml`" } else { hint };
        let hint = file_beside(name_or_path).unwrap_or(hint);
        return Err(ScenarioError::UnknownStudy { name: shorten(name_or_path), hint });
    }
    let text = read_text(name_or_path, FileKind::Study)?;
    let stem = Path::new(name_or_path).file_stem();
    let name = stem.map_or_else(|| name_or_path.to_owned(), |stem| stem.to_string_lossy().into_owned());
    Study::parse(&name, name_or_path, &text)
}
