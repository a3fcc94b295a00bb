//! Command lines that can be pasted into a POSIX shell.

/// The arguments as one line, quoted where a shell would take them apart.
pub fn line<'a>(arguments: impl IntoIterator<Item = &'a str>) -> String {
    // Only a NUL byte cannot be quoted, and no argument of a process has one.
    shlex::try_join(arguments).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pasted_line_means_what_was_typed() {
        let arguments = ["run", "my file.toml", "--set", "lock.name=\"it's\"", ""];
        assert_eq!(shlex::split(&line(arguments)).as_deref(), Some(&arguments.map(str::to_owned)[..]));
    }
}
