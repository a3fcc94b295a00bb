//! The libraries as a page of Markdown, for people who use one and know nothing of us: `docs/libraries.md`.
//!
//! What was read and what is wrong with it is the profile's to say; what came of it is written from runs.

use doublehold_lockimpl::{Descriptor, Flaw, Profile, Remedy};
use doublehold_scenarios::catalog;

use super::behind_sentinel;
use super::library::{driver, languages, lease, newest};
use super::measurements;
use super::outcome::Outcome;
use crate::error::CliError;

/// The beginning of the page: what runs here.
const TITLE: &str = include_str!("title.md");
/// All that a reader has to know before the libraries.
const HEAD: &str = include_str!("head.md");

/// What was measured comes first, since it is why a reader may believe the rest; then an index, and all libraries by
/// their language.
pub(super) fn page(locks: &[Descriptor]) -> Result<String, CliError> {
    let (mut text, mut sections) = (HEAD.to_owned(), String::new());
    for language in languages(locks) {
        let mut links = Vec::new();
        sections += &format!("## {language}\n\n");
        for lock in locks {
            let Some((profile, _)) = lock.profile.filter(|(profile, _)| profile.language == language) else {
                continue;
            };
            links.push(link(profile));
            sections += &section(lock)?;
        }
        text += &format!("- **{language}**: {}\n", links.join(", "));
    }
    let (measured, sentinel) = (measurements::part(locks)?, behind_sentinel::part(locks)?);
    Ok(format!("{TITLE}{measured}\n{sentinel}\n{text}\n{}\n", sections.trim_end()))
}

/// One lock; a lock that is no library has nothing but what it is.
pub(super) fn section(lock: &Descriptor) -> Result<String, CliError> {
    let Some((profile, engine)) = lock.profile else {
        return Ok(format!("### {}\n\n{}. Source: {}.\n", lock.name, lock.meaning, lock.source));
    };
    let Profile { library, version, meaning, files, read_on, .. } = profile;
    let mut text = format!(
        "<a id=\"{}\"></a>\n\n### {library}, {version}\n\n{} Its lease: {}.\n\n",
        anchor(profile),
        sentence(meaning),
        lease(profile),
    );
    for flaw in profile.flaws {
        text += &format!(
            "- **{}**\n  - Shown by `doublehold run {}`: {}.{}\n  - {}: {} {}\n",
            sentence(flaw.what),
            flaw.scenario,
            Outcome::simulate(flaw.scenario, &[])?.words(),
            measurements::measured_words(flaw.scenario)
                .map(|figure| format!(" *Measured* in the library itself: {figure}."))
                .unwrap_or_default(),
            change(flaw),
            repair(flaw)?,
            sentence(&Outcome::simulate(flaw.repaired, &[])?.words())
        );
    }
    if profile.flaws.is_empty() {
        text += "Nothing is known to be wrong with it that a run here shows.\n";
    }
    if !profile.left_out.is_empty() {
        text += "\nNot modelled:\n\n";
        profile
            .left_out
            .iter()
            .for_each(|left_out| text += &format!("- {}.\n", left_out.trim_end_matches('.')));
    }
    let (name, driver, newest) = (lock.name, driver(profile), newest(profile));
    text += &format!(
        "\nRead on {read_on}: {files}. Newest version: {newest}. Its driver here is {driver}. In the simulator it is the lock `{name}`: `{engine}`, set as this library is. \
         `doublehold locks {name}` lists its switches and defaults.\n\n"
    );
    Ok(text)
}

/// Says who can change it, and which command shows the change: to be read before a colon.
fn change(flaw: &Flaw) -> String {
    let shows = format!("`doublehold run {}` shows", flaw.repaired);
    match flaw.remedy {
        Remedy::Option(option) => {
            format!("**You can change it** by the option `{option}`. {shows} the change")
        }
        Remedy::Code(code) => format!("**Your code can avoid it.** {code} {shows} what its authors could do"),
        Remedy::Authors => format!("Only its authors can change it. {shows} the change"),
    }
}

/// What the repaired variant tells of itself, to be read after a colon.
fn repair(flaw: &Flaw) -> Result<String, CliError> {
    let story = catalog::load(flaw.repaired, &[])?.story;
    Ok(match story.strip_prefix("The ") {
        Some(rest) => format!("the {rest}"),
        None => story,
    })
}

/// The usual name of a library, as a link to all that is known of it.
pub(super) fn link(profile: &Profile) -> String {
    format!("[{}](#{})", profile.library, anchor(profile))
}

fn anchor(profile: &Profile) -> String {
    format!("lock-{}", profile.name)
}

/// With a capital at its beginning and a full stop at its end.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}
