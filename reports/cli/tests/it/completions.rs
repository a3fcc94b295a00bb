//! The scripts by which shells complete.

use snapbox::str;

use crate::kit::{Ask, assert_text, doublehold};

/// The names that the program's own help lists.
pub(crate) fn subcommands() -> Vec<String> {
    let help = doublehold(&["--help"]).prints(0);
    let (_, list) = help.split_once("Commands:\n").expect("a list of commands");
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
}

#[test]
fn the_script_of_each_shell_names_every_command() {
    let names = subcommands();
    assert!(names.len() > 16 && names.iter().any(|name| name == "verify-determinism"), "{names:?}");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = doublehold(&["completions", shell]).prints(0);
        for name in &names {
            assert!(script.contains(name.as_str()), "{shell} does not know `{name}`");
        }
        assert!(script.contains("doublehold") && script.contains("obtain-within"), "{shell}");
    }
}

#[test]
fn a_shell_that_nobody_knows_is_refused_with_those_there_are() {
    let said = doublehold(&["completions", "tcsh"]).refused();
    assert_text(
        said,
        str![[r#"
error: invalid value 'tcsh' for '<SHELL>'
  [possible values: bash, elvish, fish, powershell, zsh]

  tip: a similar value exists: 'zsh'

For more information, try '--help'.

"#]],
    );
}
