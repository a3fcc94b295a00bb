//! The walls inside crates: which files import one another in a circle, and what a room must never name.
//!
//! Crates have walls that the compiler keeps. Inside of one, files of a circle can only be understood together, so a
//! circle may not have more than [`CIRCLE`] of them. Imports are read as text: `use` and paths that begin with `crate`
//! or `super`, through the re-exports of other files. Macros and glob imports are not followed.

use std::collections::{BTreeMap, BTreeSet};

use crate::Source;

/// More files than these are not understood together.
const CIRCLE: usize = 6;

/// Circles that are larger, with how many files they have: the event loop, which was drawn as one thing and may not
/// grow.
const LARGER: [(&str, usize); 1] = [("sim", 12)];

/// What the files of a folder must not name, and why.
const NEVERS: [(&str, &[&str], &str); 8] = [
    (
        "scenarios/src/model/",
        &[
            "crate::format",
            "crate::run",
            "crate::catalog",
            "crate::plan",
            "toml::",
            "doublehold_sim_redis",
            "HostId",
            "PlannedFault",
            "Trigger",
            "SimTime",
        ],
        "a scenario as data knows neither its text nor the kernel nor the runner",
    ),
    (
        "scenarios/src/format/",
        &["crate::run", "HostId", "PlannedFault", "Trigger", "SimTime"],
        "what reads a file does not run it",
    ),
    (
        "scenarios/search/src/",
        &["doublehold_sim_redis", "HostId", "PlannedFault", "Trigger"],
        "a search asks an engine, and no kernel",
    ),
    (
        "scenarios/src/report/",
        &["crate::run", "crate::format", "doublehold_sim_redis", "HostId"],
        "a report is data, and knows nothing of how runs are made",
    ),
    ("scenarios/src/report/mod.rs", &["doublehold_sim"], OF_ENGINES),
    ("scenarios/src/run/client/", &["doublehold_sim", "crate::run::engine"], OF_ENGINES),
    ("scenarios/src/run/keys/", &["doublehold_sim", "crate::run::engine"], OF_ENGINES),
    ("scenarios/src/run/recorder.rs", &["doublehold_sim", "crate::run::engine"], OF_ENGINES),
];

/// The code around a lock in a run asks a stage or a witness, so that a second engine can have it too.
const OF_ENGINES: &str = "what any engine can have names none";

/// The files of each folder of [`NEVERS`] that name what they must not.
pub(crate) fn nevers(sources: &[Source]) -> Vec<String> {
    let mut broken = Vec::new();
    for (folder, names, why) in NEVERS {
        for source in sources.iter().filter(|it| it.is_shipped() && it.path.starts_with(folder)) {
            let code = code(&source.text);
            let named = names.iter().filter(|name| words_in(&code, name));
            broken.extend(named.map(|name| format!("{} names `{name}`: {why}", source.path)));
        }
    }
    broken
}

/// The circles of files that are larger than they may be, each with its crate.
pub(crate) fn circles(sources: &[Source]) -> Vec<String> {
    let mut crates: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in sources.iter().filter(|it| it.is_shipped()) {
        let (of, _) = source.path.split_once("/src/").expect("it ships");
        crates.entry(of).or_default().push(source);
    }
    let mut wrong = Vec::new();
    for (of, files) in crates {
        let may = LARGER.iter().find(|(known, _)| *known == of).map_or(CIRCLE, |(_, files)| *files);
        for circle in Modules::of(&files).circles() {
            if circle.len() > may {
                wrong.push(format!("{of}: {} files, and not {may}: {}", circle.len(), circle.join(", ")));
            }
        }
    }
    wrong
}

/// The modules of a crate by their paths, and what each imports.
struct Modules {
    imports: BTreeMap<String, BTreeSet<String>>,
}

impl Modules {
    fn of(files: &[&Source]) -> Modules {
        let texts: BTreeMap<String, String> =
            files.iter().map(|it| (module(&it.path), code(&it.text))).collect();
        let mut exported: BTreeMap<String, String> = BTreeMap::new();
        for (module, text) in &texts {
            for path in uses(text, true) {
                let name = path.rsplit("::").next().unwrap_or_default();
                exported.extend(absolute(module, &path, &texts).map(|path| (joined(module, name), path)));
            }
        }
        let of = |module: &String, text: &String| {
            let paths = uses(text, false).into_iter().chain(inline(text));
            let targets = paths.filter_map(|path| absolute(module, &path, &texts));
            let files = targets.filter_map(|path| file_of(&path, &exported, &texts));
            (module.clone(), files.filter(|file| file != module).collect())
        };
        Modules { imports: texts.iter().map(|(module, text)| of(module, text)).collect() }
    }

    fn reached(&self, from: &str) -> BTreeSet<String> {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(module) = next.pop() {
            next.extend(self.imports[&module].iter().filter(|to| seen.insert((*to).clone())).cloned());
        }
        seen
    }

    /// Each set of modules that all reach one another.
    fn circles(&self) -> Vec<Vec<String>> {
        let reached: BTreeMap<&String, BTreeSet<String>> =
            self.imports.keys().map(|module| (module, self.reached(module))).collect();
        let circle = |module: &String| -> Vec<String> {
            reached[module].iter().filter(|it| reached[it].contains(module)).cloned().collect()
        };
        let all: BTreeSet<Vec<String>> = self.imports.keys().map(circle).collect();
        all.into_iter().filter(|it| it.len() > 1).collect()
    }
}

/// `a::b` for `x/src/a/b.rs` and `x/src/a/b/mod.rs`; nothing for the crate's own file.
fn module(path: &str) -> String {
    let (_, inside) = path.split_once("/src/").expect("it ships");
    let inside = inside.trim_end_matches(".rs").trim_end_matches("/mod");
    if ["lib", "main"].contains(&inside) { String::new() } else { inside.replace('/', "::") }
}

/// The text without comments and without its tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// True if a text has a name as a word of its own.
fn words_in(text: &str, name: &str) -> bool {
    let part = |letter: Option<char>| letter.is_some_and(|it| it.is_alphanumeric() || it == '_');
    text.match_indices(name)
        .any(|(at, _)| !part(text[..at].chars().next_back()) && !part(text[at + name.len()..].chars().next()))
}

/// The paths of all imports, or of all re-exports.
fn uses(text: &str, exported: bool) -> Vec<String> {
    let mut paths = Vec::new();
    for (at, _) in text.match_indices("use ") {
        let before = text[..at].rsplit('\n').next().unwrap_or_default().trim();
        if before.starts_with("pub") == exported && (before.is_empty() || before.starts_with("pub")) {
            expand("", text[at + 4..].split(';').next().unwrap_or_default(), &mut paths);
        }
    }
    paths
}

/// Each path of `a::{b, c::{d, e}}`.
fn expand(before: &str, tree: &str, paths: &mut Vec<String>) {
    let Some((head, inside)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        paths.push(format!("{before}{}", path.trim()));
        return;
    };
    let before = format!("{before}{}", head.trim());
    let inside = inside.rsplit_once('}').map_or(inside, |(inside, _)| inside);
    let (mut depth, mut begun) = (0, 0);
    for (at, letter) in inside.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&before, &inside[begun..at], paths);
                begun = at + 1;
            }
            _ => {}
        }
    }
    if !inside[begun..].trim().is_empty() {
        expand(&before, &inside[begun..], paths);
    }
}

/// The paths from `crate` or `super` that stand in code.
fn inline(text: &str) -> Vec<String> {
    let part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let statements = text.split(';').filter(|it| !it.contains("use "));
    let words = statements.flat_map(|it| it.split(|letter| !part(letter)));
    words.filter(|it| it.starts_with("crate::") || it.starts_with("super::")).map(str::to_owned).collect()
}

/// A path from the crate's root; `None` for one of another crate.
fn absolute(module: &str, path: &str, texts: &BTreeMap<String, String>) -> Option<String> {
    let (first, rest) = path.split_once("::").unwrap_or((path, ""));
    match first {
        "crate" => Some(rest.to_owned()),
        "self" => Some(joined(module, rest)),
        "super" => absolute(module.rsplit_once("::").map_or("", |(outer, _)| outer), rest, texts)
            .or_else(|| Some(joined(module.rsplit_once("::").map_or("", |(outer, _)| outer), rest))),
        _ => texts.contains_key(&joined(module, first)).then(|| joined(module, path)),
    }
}

fn joined(module: &str, path: &str) -> String {
    if module.is_empty() { path.to_owned() } else { format!("{module}::{path}") }
}

/// The file of a path: the longest part of it that is one, or what that re-exports.
fn file_of(
    path: &str,
    exported: &BTreeMap<String, String>,
    texts: &BTreeMap<String, String>,
) -> Option<String> {
    let mut path = path.to_owned();
    for _ in 0..5 {
        let parts: Vec<&str> = path.split("::").collect();
        let exports = (1..=parts.len()).rev().find_map(|length| {
            let target = exported.get(&parts[..length].join("::"))?;
            Some([&[target.as_str()], &parts[length..]].concat().join("::"))
        });
        match exports {
            Some(next) if next != path => path = next,
            _ => break,
        }
    }
    let parts: Vec<&str> = path.split("::").collect();
    (0..=parts.len()).rev().map(|length| parts[..length].join("::")).find(|it| texts.contains_key(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_circle_of_seven_files_is_found_through_re_exports_and_six_are_left_alone() {
        let ring = |files: usize| -> Vec<Source> {
            let next = |file: usize| (file + 1) % files;
            let of_ring = |file: usize| {
                let text = match file % 3 {
                    0 => format!("use crate::{{other::X, m{}::{{Y, Z}}}};\n", next(file)),
                    1 => format!("fn f() {{ super::m{}::g(); }}\n", next(file)),
                    _ => format!("use super::again{};\n", next(file)),
                };
                of(&format!("a/src/m{file}.rs"), &text)
            };
            let exports = (0..files).map(|file| format!("pub use m{file}::g as again{file};\n"));
            let exports: String =
                exports.collect::<String>().replace(" as again", "again").replace("::g", "::");
            (0..files).map(of_ring).chain([of("a/src/lib.rs", &exports)]).collect()
        };
        let found = circles(&ring(7));
        assert!(found.len() == 1 && found[0].starts_with("a: 7 files"), "{found:?}");
        assert_eq!(circles(&ring(6)), Vec::<String>::new());
    }

    #[test]
    fn a_room_that_names_what_it_must_not_is_named() {
        let sources = [
            of("scenarios/src/model/a.rs", "//! HostId\nuse crate::run::Engine;\n"),
            of("scenarios/src/model/b.rs", "struct NotHostId;\n"),
        ];
        let broken = nevers(&sources);
        assert!(broken.len() == 1 && broken[0].contains("a.rs names `crate::run`"), "{broken:?}");
    }
}
