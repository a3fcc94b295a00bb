//! Weathers that come with the program, and files by path. The text of each is in `weather/`, with the reason for every
//! number.

use std::path::Path;

use doublehold_text::suggest;

use crate::catalog::{file_beside, read_text};
use crate::error::{FileKind, ScenarioError};
use crate::format;
use crate::weather::Weather;

/// Names and texts, from mild to wild, then one for each assumption that an algorithm may be defended with.
const FILES: [(&str, &str); 13] = [
    ("calm", include_str!("../../weather/calm.toml")),
    ("field", include_str!("../../weather/field.toml")),
    ("datacenter", include_str!("../../weather/datacenter.toml")),
    ("cloud", include_str!("../../weather/cloud.toml")),
    ("hostile", include_str!("../../weather/hostile.toml")),
    ("no-clock-faults", include_str!("../../weather/no-clock-faults.toml")),
    ("no-amnesia", include_str!("../../weather/no-amnesia.toml")),
    ("no-clock-faults-no-amnesia", include_str!("../../weather/no-clock-faults-no-amnesia.toml")),
    ("pauses-only", include_str!("../../weather/pauses-only.toml")),
    ("clocks-only", include_str!("../../weather/clocks-only.toml")),
    ("crashes-only", include_str!("../../weather/crashes-only.toml")),
    ("slow-nodes", include_str!("../../weather/slow-nodes.toml")),
    ("network-only", include_str!("../../weather/network-only.toml")),
];

/// A weather that comes with the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: String,
    /// The weather.
    pub weather: Weather,
    /// Its file, with the reasons for its numbers.
    pub text: &'static str,
}

/// All of them, from mild to wild.
///
/// # Errors
///
/// If one of them is wrong, which only a change to the program can bring about.
pub fn presets() -> Result<Vec<Preset>, ScenarioError> {
    FILES.iter().map(|(name, text)| parse_preset(name, text)).collect()
}

/// The one of that name.
///
/// # Errors
///
/// If there is none.
///
/// ```
/// use doublehold_scenarios::weather::preset;
///
/// assert!(preset("calm")?.weather.faults.is_empty());
/// assert!(preset("clod").unwrap_err().to_string().contains("did you mean `cloud`?"));
/// # Ok::<(), doublehold_scenarios::ScenarioError>(())
/// ```
pub fn preset(name: &str) -> Result<Preset, ScenarioError> {
    match FILES.iter().find(|(known, _)| *known == name) {
        Some((name, text)) => parse_preset(name, text),
        None => Err(ScenarioError::UnknownWeather { name: name.to_owned(), hint: hint(name) }),
    }
}

/// A preset by its name, or a file by its path.
///
/// # Errors
///
/// If there is no such preset, the file cannot be read, or anything in it is refused.
pub fn load(name_or_path: &str) -> Result<Weather, ScenarioError> {
    read_from(Path::new(""), name_or_path)
}

/// The same, where the path of a file counts from a folder.
///
/// # Errors
///
/// As [`load`].
pub fn read_from(folder: &Path, name_or_path: &str) -> Result<Weather, ScenarioError> {
    let is_path = name_or_path.ends_with(".toml") || name_or_path.contains(['/', '\\']);
    if !is_path {
        let file = |error| match (error, file_beside(name_or_path)) {
            (ScenarioError::UnknownWeather { name, .. }, Some(hint)) => {
                ScenarioError::UnknownWeather { name, hint }
            }
            (error, _) => error,
        };
        return preset(name_or_path).map(|preset| preset.weather).map_err(file);
    }
    let path = folder.join(name_or_path);
    let path = path.to_string_lossy();
    let text = read_text(&path, FileKind::Weather)?;
    format::weather::parse(&path, &text).map(|(_, weather)| weather)
}

fn parse_preset(name: &'static str, text: &'static str) -> Result<Preset, ScenarioError> {
    let (about, weather) = format::weather::parse(&format!("{name}.toml"), text)?;
    Ok(Preset { name, about, weather, text })
}

/// The presets' names, for messages.
pub fn hint(name: &str) -> String {
    suggest::hint(name, &FILES.map(|(name, _)| name))
}
