//! Files that documents name. A document may leave out the beginning of a path: `run/client/program.rs`.

/// What looks like a path in backticks and is the end of no file's or folder's path.
pub(crate) fn missing(text: &str, files: &[String]) -> Vec<String> {
    let quoted = text.split("```").step_by(2).flat_map(|prose| prose.split('`').skip(1).step_by(2));
    let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let paths = quoted
        .filter(|word| looks_like_a_path(word))
        .chain(links.filter(|link| !link.is_empty() && !link.contains("://")));
    paths.filter(|path| !exists(path, files)).map(str::to_owned).collect()
}

fn looks_like_a_path(word: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    let ends_as_file = [".rs", ".md", ".toml", ".txt"].iter().any(|end| word.ends_with(end));
    word.chars().all(plain) && (ends_as_file || word.ends_with('/') || word.contains("/src/"))
}

fn exists(path: &str, files: &[String]) -> bool {
    let path = path.trim_start_matches("../").trim_end_matches('/');
    files.iter().any(|file| {
        let (file, inside) = (format!("/{file}"), format!("/{path}"));
        file.ends_with(&inside) || file.contains(&format!("{inside}/"))
    })
}

#[test]
fn a_file_that_is_not_there_is_found() {
    let files = ["sim/src/kernel.rs".to_owned(), "sim/redis/src/core/docs/a.txt".to_owned()];
    let text = "See `sim/src/kernel.rs`, `kernel.rs`, `core/docs/`, [it](sim/src/kernel.rs#top) and `clock-jump/k3`.";
    assert_eq!(missing(text, &files), [] as [String; 0]);
    assert_eq!(
        missing("See `src/gone.rs`, `sim/src/gone` and [it](gone.md).", &files),
        ["src/gone.rs", "sim/src/gone", "gone.md"]
    );
}
