//! docs/commands.md is the program's own help. `UPDATE_GOLDEN=1 cargo test -p doublehold-cli --test it commands_page`
//! writes it anew.

use std::fs;
use std::path::Path;

use crate::completions::subcommands;
use crate::kit::{Ask, Folder, doublehold};

const HEAD: &str = "# Commands

This page is the help of the program, which `doublehold COMMAND --help` prints too. In a clone, `cargo run --release --`
stands for `doublehold`; `cargo install --locked --path reports/cli --features png` installs it.
[JSON.md](../reports/JSON.md) describes `--format json`, and [searching.md](searching.md) explains the commands that
search.
";

/// The page, as the program's help has it.
fn page() -> String {
    let mut page = HEAD.to_owned();
    for name in subcommands().iter().filter(|name| *name != "help") {
        let help = doublehold(&[name, "--help"]).env("COLUMNS", "100").prints(0);
        page += &format!("\n## {name}\n\n```\n{}\n```\n", help.trim_end());
    }
    page
}

#[test]
fn the_page_of_commands_is_the_programs_help() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
    let page = page();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &page).expect("the page can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "write docs/commands.md anew: UPDATE_GOLDEN=1 cargo test -p doublehold-cli --test it commands_page"
    );
}

#[test]
fn each_command_has_a_manual_page() {
    let folder = Folder::new();
    folder.doublehold(&["man", "."]).ends(0);
    for name in subcommands().iter().filter(|name| *name != "help") {
        let text = fs::read_to_string(folder.at().join(format!("doublehold-{name}.1")));
        let text = text.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(text.contains(".SH OPTIONS") && text.contains(".SH SYNOPSIS"), "{name}: {text}");
    }
}

#[test]
fn a_folder_for_manual_pages_must_exist() {
    let refused = doublehold(&["man", "/no/such/folder"]).refused();
    assert!(refused.contains("cannot write the manual pages to `/no/such/folder`"), "{refused}");
    assert!(refused.contains("hint: name a folder that exists"), "{refused}");
}
