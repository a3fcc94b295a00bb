//! The scripts by which shells complete.

use std::process::Command;

fn output_of(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_doublehold")).args(arguments).output();
    let output = output.expect("the binary starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The names that the program's own help lists.
pub(crate) fn subcommands() -> Vec<String> {
    let (_, help, _) = output_of(&["--help"]);
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
        let (status, script, said) = output_of(&["completions", shell]);
        assert_eq!((status, said.as_str()), (Some(0), ""), "{shell}");
        for name in &names {
            assert!(script.contains(name.as_str()), "{shell} does not know `{name}`");
        }
        assert!(script.contains("doublehold") && script.contains("obtain-within"), "{shell}");
    }
}

#[test]
fn a_shell_that_nobody_knows_is_refused_with_those_there_are() {
    let (status, script, said) = output_of(&["completions", "tcsh"]);
    assert_eq!((status, script.as_str()), (Some(2), ""));
    assert!(said.contains("[possible values: bash, elvish, fish, powershell, zsh]"), "{said}");
}
