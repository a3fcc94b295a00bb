//! Lists the scenario files of `catalog/`, so that one that is dropped there is in the program.
//!
//! In the order of their names: the catalogue must not depend on the order in which a file system lists them.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("catalog");
    // Of a folder, this watches the files in it too.
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    files.sort_by(|a, b| a.file_stem().cmp(&b.file_stem()));
    let mut list = String::from("&[\n");
    for file in &files {
        let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if file.extension().is_none_or(|extension| extension != "toml") || !stem.bytes().all(plain) {
            return Err(format!(
                "{}: a scenario's file is named `lower-case-and-digits.toml`",
                file.display()
            )
            .into());
        }
        writeln!(list, "    ({stem:?}, include_str!({file:?})),")?;
    }
    list.push(']');
    fs::write(Path::new(&env::var("OUT_DIR")?).join("catalog.rs"), list)?;
    Ok(())
}
