//! Command lines that can be pasted into a POSIX shell.

/// The arguments as one line, quoted where a shell would take them apart.
pub(crate) fn line<'a>(arguments: impl IntoIterator<Item = &'a str>) -> String {
    arguments.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pasted_line_means_what_was_typed() {
        let arguments = ["run", "my file.toml", "--set", "lock.name=\"it's\"", ""];
        assert_eq!(line(arguments), r#"run 'my file.toml' --set 'lock.name="it'\''s"' ''"#);
    }
}
