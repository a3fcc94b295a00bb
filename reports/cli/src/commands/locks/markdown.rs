//! The libraries as a page of Markdown, for people who use one and know nothing of us: `docs/libraries.md`.
//!
//! What was read and what is wrong with it is the profile's to say; what came of it is written from runs.

use doublehold_history::{Evidence, Predicate};
use doublehold_lockimpl::{Descriptor, Flaw, Profile, Value};
use doublehold_scenarios::{Engine, Report, SimEngine, catalog};
use doublehold_words::{duration, list};

use super::library::languages;
use crate::error::CliError;

/// The beginning of the page: all that a reader has to know first.
const HEAD: &str = include_str!("head.md");
/// Few, since each row is a run of its own: what is wrong with a library shows in all of them.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

/// All libraries by their language, after an index.
pub(super) fn page(locks: &[Descriptor]) -> Result<String, CliError> {
    let (mut text, mut sections) = (HEAD.to_owned(), String::new());
    for language in languages(locks) {
        let mut links = Vec::new();
        sections += &format!("## {language}\n\n");
        for lock in locks {
            let Some((profile, _)) = lock.profile.filter(|(profile, _)| profile.language == language) else {
                continue;
            };
            links.push(format!("[{}](#{})", profile.library, anchor(profile)));
            sections += &section(lock)?;
        }
        text += &format!("- **{language}**: {}\n", links.join(", "));
    }
    Ok(text + "\n" + sections.trim_end() + "\n")
}

/// One lock; a lock that is no library has nothing but what it is.
pub(super) fn section(lock: &Descriptor) -> Result<String, CliError> {
    let Some((profile, engine)) = lock.profile else {
        return Ok(format!("### {}\n\n{}. Source: {}.\n", lock.name, lock.meaning, lock.source));
    };
    let Profile { library, version, meaning, files, read_on, .. } = profile;
    let ttl = profile.ttl.map_or("none unless its user says".to_owned(), |ttl| Value::from(ttl).to_string());
    let mut text = format!(
        "<a id=\"{}\"></a>\n\n### {library} {version}\n\n{} Its lease: {ttl}. Read on {read_on}: {files}. In a \
         scenario: `algorithm = \"{}\"`, a setting of `{engine}`; all of it: `doublehold locks {}`.\n\n",
        anchor(profile),
        sentence(meaning),
        lock.name,
        lock.name,
    );
    for flaw in profile.flaws {
        text += &format!("- **{}**\n", sentence(flaw.what));
        text += &format!("  `doublehold run {}`: {}.\n", flaw.scenario, came_out(flaw.scenario)?);
        text += &format!(
            "  Without it: `doublehold run {}`: {}. {}\n",
            flaw.repaired,
            came_out(flaw.repaired)?,
            repair(flaw)?
        );
    }
    if profile.flaws.is_empty() {
        text += "Nothing is known to be wrong with it that a run here shows.\n";
    }
    if !profile.left_out.is_empty() {
        text += "\nNot modelled:\n\n";
        profile.left_out.iter().for_each(|left_out| text += &format!("- {left_out}\n"));
    }
    Ok(text + "\n")
}

/// What the repaired variant tells of itself.
fn repair(flaw: &Flaw) -> Result<String, CliError> {
    Ok(catalog::load(flaw.repaired, &[])?.story)
}

/// What is violated in how many runs, and how long two held at once.
fn came_out(scenario: &str) -> Result<String, CliError> {
    let scenario = catalog::load(scenario, &[])?;
    let runs: Vec<Report> = SEEDS.map(|seed| SimEngine.run(&scenario, seed)).collect();
    let count = |predicate: Predicate| {
        runs.iter().filter(|run| run.verdicts.get(predicate).as_str() == "violated").count()
    };
    let violated: Vec<String> = Predicate::ALL
        .into_iter()
        .filter(|predicate| count(*predicate) > 0)
        .map(|predicate| match count(predicate) {
            all if all == runs.len() => predicate.to_string(),
            some => format!("{predicate} in {some} of {}", runs.len()),
        })
        .collect();
    let overlap = runs.iter().map(longest_overlap).max().unwrap_or(0);
    Ok(match (violated.is_empty(), overlap) {
        (true, _) => "nothing is violated".to_owned(),
        (false, 0) => format!("{} violated", list(&violated)),
        (false, overlap) => {
            format!("{} violated; two held it at once for {}", list(&violated), duration(overlap))
        }
    })
}

fn longest_overlap(run: &Report) -> u64 {
    let length = |evidence: &Evidence| match evidence {
        Evidence::Overlap(overlap) => Some(overlap.to.since(overlap.from)),
        _ => None,
    };
    run.verdicts.get(Predicate::P1).evidence().iter().filter_map(length).max().unwrap_or(0)
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
