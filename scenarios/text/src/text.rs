//! Lists, and text from outside.
//!
//! Text from files and command lines is shown on terminals, so [`clean`] and [`shorten`] let nothing through that a
//! terminal obeys. Knows neither colours nor the width of a line.
//!
//! Decision: "Files and their names are untrusted input; the person at the keyboard is trusted"
//! (docs/decisions/scenarios.md).

/// `c1`, `c1 and c2`, `c1, c2 and c3`; `nobody` if there is none.
pub fn list<S: AsRef<str>>(names: &[S]) -> String {
    if names.is_empty() { "nobody".to_owned() } else { join_names(names, "and") }
}

/// Names with commas, and with `conjunction` before the last.
pub fn join_names<S: AsRef<str>>(names: &[S], conjunction: &str) -> String {
    match names {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} {conjunction} {}", first.join(", "), last.as_ref())
        }
    }
}

/// The same text with its first letter made large.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// For text that is laid out: without characters that a terminal would obey, each run of white space one space.
pub fn clean(text: &str) -> String {
    let visible: String = text.chars().map(|c| if acts_on_a_terminal(c) { ' ' } else { c }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// For text that a message quotes: short enough for one line, and a mark for each character that a terminal would obey,
/// so that whoever typed it sees that it is there.
pub fn shorten(text: &str) -> String {
    let printable = |letter: char| if acts_on_a_terminal(letter) { '\u{fffd}' } else { letter };
    let mut short: String = text.chars().take(60).map(printable).collect();
    if text.chars().nth(60).is_some() {
        short.push('…');
    }
    short
}

/// For a message of several lines that quotes what is in files: a mark for each character that a terminal would obey,
/// but for the ends of lines.
pub fn mark_controls(text: &str) -> String {
    text.chars().map(|c| if c != '\n' && acts_on_a_terminal(c) { '\u{fffd}' } else { c }).collect()
}

/// Whether a terminal obeys a character instead of showing it: control characters, those that turn the direction of
/// writing, and those without a width, which make two different names look alike.
fn acts_on_a_terminal(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_cannot_send_escape_sequences_to_the_terminal() {
        assert_eq!(clean("a\x1b[31mb\u{9b}c\u{7}"), "a [31mb c");
    }

    #[test]
    fn a_story_cannot_turn_or_hide_what_is_written() {
        assert_eq!(clean("a\u{202e}b\u{2066}c\u{200b}d\u{feff}"), "a b c d");
        assert_eq!(clean("naïve e\u{301} 鍵 →"), "naïve e\u{301} 鍵 →");
    }

    #[test]
    fn what_a_message_quotes_is_short_and_shows_where_something_is_hidden() {
        assert_eq!(shorten("a\x1b[31m\u{202e}b"), "a\u{fffd}[31m\u{fffd}b");
        assert_eq!(shorten(&"é".repeat(60)), "é".repeat(60));
        assert_eq!(shorten(&"é".repeat(61)), "é".repeat(60) + "…");
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(list::<&str>(&[]), "nobody");
        assert_eq!(list(&["A"]), "A");
        assert_eq!(list(&["A", "B", "C"]), "A, B and C");
        assert_eq!(join_names(&["A", "B"], "or"), "A or B");
    }
}
