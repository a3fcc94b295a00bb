//! The catalogue: scenario files that come with the program, and the way from a name or a path to a scenario.
//!
//! Its files lie in folders, one a topic, which are no part of a name. A name is the catalogue's first; what ends in
//! `.toml` or has a separator in it may be a file. A variant is named after its scenario: `lease-pause/redlock`, or
//! `my.toml/redlock` for a file.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

use doublehold_history::Predicate;
use doublehold_text::shorten;
use doublehold_text::suggest;

use crate::error::{FileKind, FilePlace, ScenarioError};
use crate::format::Source;
use crate::model::scenario::{Expected, Scenario};

/// A scenario file is a page or two; a mebibyte is room for any that a program could write. Checked before the file is
/// read, and again while it is, since some files have no length.
pub const FILE_MAX_BYTES: u64 = 1 << 20;
/// A plan writes out every default of a scenario, which may be larger than the file that it was read from.
const PLAN_MAX_BYTES: u64 = 4 << 20;

/// The files in `catalog/`, in the order of their names; `build.rs` lists them.
const FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

/// A file of the catalogue.
struct File {
    /// The folder that it is in.
    topic: &'static str,
    stem: &'static str,
    text: &'static str,
}

/// One line of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name to run it by: `lease-pause`, `lease-pause/redlock`.
    pub name: String,
    /// What it is about: one of [`TOPICS`](crate::topics::TOPICS), or empty for a file of one's own.
    pub topic: &'static str,
    /// The claim it tests.
    pub claim: String,
    /// Who makes the claim, and where.
    pub source: String,
    /// What happens in it.
    pub story: String,
    /// What it should show.
    pub expect: BTreeMap<Predicate, Expected>,
}

/// Everything in the catalogue: each scenario, followed by its variants.
///
/// # Errors
///
/// If a file of the catalogue is wrong, which only a change to the program can bring about.
pub fn entries() -> Result<Vec<Entry>, ScenarioError> {
    names()?.iter().map(|name| Ok(entry(load(name, &[])?))).collect()
}

/// What is under one name: a scenario of the catalogue or of a file, followed by its variants.
///
/// # Errors
///
/// If there is no such scenario, or its file or any of its variants is refused.
pub fn entries_of(name_or_path: &str) -> Result<Vec<Entry>, ScenarioError> {
    variants(name_or_path)?.iter().map(|name| Ok(entry(load(name, &[])?))).collect()
}

/// The names to run a scenario and each of its variants by.
///
/// # Errors
///
/// If there is no such scenario, or its file is refused.
///
/// ```
/// let names = doublehold_scenarios::catalog::variants("fencing-33-34").unwrap();
/// assert_eq!(names, ["fencing-33-34"]);
/// let names = doublehold_scenarios::catalog::variants("gc-in-flight").unwrap();
/// assert_eq!(names, ["gc-in-flight", "gc-in-flight/sequential"]);
/// ```
pub fn variants(name_or_path: &str) -> Result<Vec<String>, ScenarioError> {
    let source = source(name_or_path, Path::new(""))?;
    let variants = match source.variant {
        None => source.variants()?,
        // A variant has none.
        Some(_) => Vec::new(),
    };
    let variants = variants.iter().map(|variant| format!("{name_or_path}/{variant}"));
    Ok(std::iter::once(name_or_path.to_owned()).chain(variants).collect())
}

fn entry(scenario: Scenario) -> Entry {
    let Scenario { name, claim, source, story, expect, .. } = scenario;
    let topic = find_file(name.split('/').next().unwrap_or(&name)).map_or("", |file| file.topic);
    Entry { name, topic, claim, source, story, expect }
}

/// Loads a scenario by its name or its file's path, with changes such as `("lock.ttl", "5s")` applied.
///
/// # Errors
///
/// If there is no such scenario, the file cannot be read, or anything in it or in the changes is refused.
///
/// ```
/// let scenario = doublehold_scenarios::catalog::load("lease-pause", &[]).unwrap();
/// assert_eq!(scenario.clients.len(), 2);
///
/// let error = doublehold_scenarios::catalog::load("lease-paws", &[]).unwrap_err();
/// assert_eq!(error.to_string(), "unknown scenario `lease-paws`\nhint: did you mean `lease-pause`?");
/// ```
pub fn load(name_or_path: &str, sets: &[(String, String)]) -> Result<Scenario, ScenarioError> {
    let mut source = source(name_or_path, Path::new(""))?;
    source.sets = sets.to_vec();
    source.read()
}

/// The place at which such a scenario, or a change to it, says what is at a path such as `faults.0`, or else above
/// that; `None` where it says nothing of it.
///
/// ```
/// let place = doublehold_scenarios::catalog::place_of("lease-pause", &[], "faults.0.for").unwrap();
/// assert!(place.to_string().starts_with("line "));
/// ```
pub fn place_of(name_or_path: &str, sets: &[(String, String)], path: &str) -> Option<FilePlace> {
    let source = Source { sets: sets.to_vec(), ..source(name_or_path, Path::new("")).ok()? };
    source.place_of(path)
}

/// Loads a scenario by its name or its file's path, which counts from a folder.
///
/// # Errors
///
/// If there is no such scenario, the file cannot be read, or anything in it is refused.
pub fn load_from(folder: &Path, name_or_path: &str) -> Result<Scenario, ScenarioError> {
    source(name_or_path, folder)?.read()
}

/// The names of all scenarios and variants.
fn names() -> Result<Vec<String>, ScenarioError> {
    let mut names = Vec::new();
    for File { stem, text, .. } in FILES {
        names.push((*stem).to_owned());
        let variants = catalogue_source(stem, text, None).variants()?;
        names.extend(variants.iter().map(|variant| format!("{stem}/{variant}")));
    }
    Ok(names)
}

fn find_file(stem: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.stem == stem)
}

fn catalogue_source(stem: &str, text: &str, variant: Option<&str>) -> Source {
    let name = variant.map_or(stem.to_owned(), |variant| format!("{stem}/{variant}"));
    let file = name.clone();
    Source { name, file, text: text.to_owned(), variant: variant.map(str::to_owned), ..Source::default() }
}

fn source(name: &str, folder: &Path) -> Result<Source, ScenarioError> {
    let (stem, variant) = match name.split_once('/') {
        Some((stem, variant)) => (stem, Some(variant)),
        None => (name, None),
    };
    if let Some(File { text, .. }) = find_file(stem) {
        let source = catalogue_source(stem, text, variant);
        return match variant {
            Some(variant) if !source.variants()?.iter().any(|known| known == variant) => {
                Err(unknown_scenario(name))
            }
            _ => Ok(source),
        };
    }
    let looks_like_a_file = name.ends_with(".toml") || name.contains(['/', std::path::MAIN_SEPARATOR]);
    // `clock-jump.toml` is no file here, but a name of the catalogue with too much at its end.
    let is_named = name.strip_suffix(".toml").is_some_and(|stem| find_file(stem).is_some());
    let path = folder.join(name);
    if looks_like_a_file && (!is_named || path.exists()) {
        file_source(&path.to_string_lossy())
    } else {
        Err(unknown_scenario(name))
    }
}

fn unknown_scenario(name: &str) -> ScenarioError {
    ScenarioError::Unknown { name: shorten(name), hint: suggest_names(name) }
}

/// What a name that nothing has was probably meant to be.
fn suggest_names(name: &str) -> String {
    let names = names().unwrap_or_default();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let bare = name.strip_suffix(".toml").unwrap_or(name);
    let ends_so: Vec<&str> =
        names.iter().copied().filter(|known| known.ends_with(&format!("/{bare}"))).collect();
    if names.contains(&bare) {
        return format!("`{bare}` is in the catalogue: name it without `.toml`");
    }
    if let Some(file) = file_beside(name) {
        return file;
    }
    if let Some(variant) = variant_meant(name) {
        return variant;
    }
    if let Some(known) = name.strip_suffix(".plan").filter(|bare| names.contains(bare)) {
        return format!(
            "there is no such file; a plan is for `doublehold replay`, and `{known}` is in the catalogue"
        );
    }
    match (suggest::closest(name, &names), ends_so.as_slice()) {
        (_, [first, .., last]) => format!("`{first}` and `{last}` end so: name one of the variants whole"),
        (_, [only]) => format!("did you mean `{only}`?"),
        (Some(close), _) => format!("did you mean `{close}`?"),
        (None, _) if Path::new(name).is_file() => {
            "a scenario's file has a name that ends in `.toml`; a plan is for `doublehold replay`".to_owned()
        }
        (None, _) if name.ends_with(".plan") => {
            "a plan is for `doublehold replay`; run `doublehold list` for the catalogue".to_owned()
        }
        (None, _) => "run `doublehold list` for the catalogue; a file's name ends in `.toml`".to_owned(),
    }
}

/// The file whose name lacks its ending, if it is there.
pub fn file_beside(name: &str) -> Option<String> {
    let files = [".toml", ".plan"].map(|ending| format!("{name}{ending}"));
    let file = files.into_iter().find(|file| Path::new(file).is_file())?;
    Some(format!("did you mean the file `{}`?", shorten(&file)))
}

/// A hint at the variant that was meant, if the scenario before the `/` is one of the catalogue.
fn variant_meant(name: &str) -> Option<String> {
    let (stem, typed) = name.split_once('/')?;
    let File { text, .. } = find_file(stem)?;
    let variants = catalogue_source(stem, text, None).variants().ok()?;
    let variants: Vec<&str> = variants.iter().map(String::as_str).collect();
    let whole = |variants: &[&str]| -> Vec<String> {
        variants.iter().map(|variant| format!("{stem}/{variant}")).collect()
    };
    let alike = suggest::similar_words(typed, &variants);
    Some(match (&alike[..], &variants[..]) {
        (_, []) => format!("`{stem}` has no variants: name it alone"),
        ([], all) => format!("known are {}", suggest::list(&borrow_names(&whole(all)))),
        (alike, _) => format!("did you mean {}?", suggest::either(&borrow_names(&whole(alike)))),
    })
}

fn borrow_names(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

/// The file that a name is read from; `None` for the catalogue, which is part of the program.
pub fn file_of(name_or_path: &str) -> Option<String> {
    let stem = name_or_path.split('/').next().unwrap_or(name_or_path);
    find_file(stem).is_none().then(|| file_and_variant(name_or_path).0)
}

/// `my.toml/redlock` is the variant of a file, unless it is a file itself.
fn file_and_variant(path: &str) -> (String, Option<String>) {
    match path.rsplit_once(".toml/") {
        Some((stem, variant)) if !Path::new(path).exists() => {
            (format!("{stem}.toml"), Some(variant.to_owned()))
        }
        _ => (path.to_owned(), None),
    }
}

fn file_source(path: &str) -> Result<Source, ScenarioError> {
    let (file, variant) = file_and_variant(path);
    let text = read_text(&file, FileKind::Scenario)?;
    let stem = Path::new(&file).file_stem().map_or(file.clone(), |stem| stem.to_string_lossy().into_owned());
    let name = variant.as_ref().map_or(stem.clone(), |variant| format!("{stem}/{variant}"));
    Ok(Source { name, file, text, variant, ..Source::default() })
}

/// What to name instead of something that is no file.
fn which_file(what: FileKind) -> &'static str {
    match what {
        FileKind::Scenario | FileKind::Weather | FileKind::Study => "name a file that ends in `.toml`",
        FileKind::Plan => "name the file that `run NAME --plan FILE` wrote",
    }
}

/// What to begin with instead of a file that is empty.
fn example(what: FileKind) -> &'static str {
    match what {
        FileKind::Scenario => "start from one in the catalogue, scenarios/catalog/",
        FileKind::Weather => {
            "start from one that comes with the program: `doublehold weather cloud` prints it"
        }
        FileKind::Study => "start from one that comes with the program, scenarios/sweeps/studies/*.toml",
        FileKind::Plan => which_file(what),
    }
}

/// Reads a file that a user named: small, a file, text, and not empty.
///
/// # Errors
///
/// If it is none of these.
pub fn read_text(path: &str, what: FileKind) -> Result<String, ScenarioError> {
    let file_name = || shorten(path);
    let refused = |cause: &str, hint: &str| ScenarioError::NotText {
        what,
        file: file_name(),
        cause: cause.to_owned(),
        hint: hint.to_owned(),
    };
    let unreadable = |source: io::Error| ScenarioError::Unreadable { what, file: file_name(), source };
    // Asked before the file is opened: opening a pipe that nobody writes to waits for ever.
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        let cause = if metadata.is_dir() { "it is a directory" } else { "it is no file" };
        return Err(refused(cause, which_file(what)));
    }
    let limit = match what {
        FileKind::Scenario | FileKind::Weather | FileKind::Study => FILE_MAX_BYTES,
        FileKind::Plan => PLAN_MAX_BYTES,
    };
    let too_large = || {
        let cause = format!("it is larger than {} MiB", limit >> 20);
        refused(&cause, &format!("a {what} is a page or two of TOML: name another file"))
    };
    if metadata.len() > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit {
        return Err(too_large());
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|byte| *byte == b'\n').count();
        refused(&format!("line {line}: it is not UTF-8 text"), "save it as UTF-8")
    })?;
    if text.trim().is_empty() {
        return Err(refused("it is empty", example(what)));
    }
    Ok(text)
}
