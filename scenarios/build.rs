//! Lists the scenario files of `catalog/`, so that one that is dropped there is in the program.
//!
//! Each lies in the folder of its topic. In the order of their names, whatever their topics: the catalogue must not
//! depend on the order in which a file system lists them. A name is one file's only, since it is run without its topic.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> Result<(), Box<dyn Error>> {
    let catalog = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("catalog");
    // Of a folder, this watches all that is in it.
    println!("cargo::rerun-if-changed={}", catalog.display());
    let mut files = BTreeMap::new();
    for folder in entries(&catalog)? {
        let topic = lower_case(&folder).filter(|_| folder.is_dir());
        let topic =
            topic.ok_or_else(|| format!("{}: a scenario lies in a topic's folder", folder.display()))?;
        for file in entries(&folder)? {
            let is_toml = file.extension().is_some_and(|extension| extension == "toml");
            let stem = lower_case(&file).filter(|_| is_toml).ok_or_else(|| {
                format!("{}: a scenario's file is named `lower-case-and-digits.toml`", file.display())
            })?;
            if files.insert(stem, (topic.clone(), file.clone())).is_some() {
                return Err(format!("{}: another topic has a scenario of this name", file.display()).into());
            }
        }
    }
    let mut list = String::from("&[\n");
    for (stem, (topic, file)) in &files {
        writeln!(list, "    File {{ topic: {topic:?}, stem: {stem:?}, text: include_str!({file:?}) }},")?;
    }
    list.push(']');
    fs::write(Path::new(&env::var("OUT_DIR")?).join("catalog.rs"), list)?;
    Ok(())
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

/// A name without its ending, if it is of lower-case letters, digits and hyphens.
fn lower_case(path: &Path) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    path.file_stem().and_then(|stem| stem.to_str()).filter(|stem| stem.bytes().all(plain)).map(str::to_owned)
}
