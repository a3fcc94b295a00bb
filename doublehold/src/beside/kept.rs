//! The survey of a reference, found once and kept as a file, so that the next check of a lock beside it begins
//! with pairs.
//!
//! A file that cannot be read, or is of something else, is no survey: it is found anew, and one that cannot be
//! written is found anew next time. So a folder that was copied, cut off or edited costs time and nothing else.

use std::fs;
use std::io;
use std::path::Path;

use doublehold_beside::{Beside, BesideError, PairBudget, Survey};
use doublehold_scenarios::{Engine, Stepped};

/// The folder of surveys, in that of all files.
const FOLDER: &str = "kept";

/// The survey of the reference: the one that is kept in this folder, which took no runs, or a new one.
pub(super) fn survey<A, B>(
    beside: &Beside<A, B>,
    budget: &PairBudget,
    folder: Option<&Path>,
) -> Result<Survey, BesideError>
where
    A: Engine<Prepared: Stepped> + Send + Sync + 'static,
    B: Engine<Prepared: Stepped> + Send + Sync + 'static,
{
    let Some(folder) = folder else { return beside.survey(budget) };
    let key = beside.survey_key(budget)?;
    let path = folder.join(FOLDER).join(format!("{key}.json"));
    let known = fs::read_to_string(&path).ok();
    if let Some(known) = known.and_then(|text| Survey::from_json(&text, &key, beside.conditions().len())) {
        return Ok(known);
    }
    let survey = beside.survey(budget)?;
    let text = survey.to_json(&key).map_err(io::Error::other);
    let _found_anew_next_time = text.and_then(|text| write(&path, &text));
    Ok(survey)
}

/// Writes a file as a whole: two checks may share a folder.
fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
    let unfinished = path.with_extension(format!("{}.unfinished", std::process::id()));
    fs::write(&unfinished, text)?;
    fs::rename(&unfinished, path)
}
