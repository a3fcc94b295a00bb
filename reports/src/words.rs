//! Small wording: points in time, lists, wrapped paragraphs, plain ASCII.
//!
//! Text from scenario files is shown on terminals, so [`wrap`] and [`clean`] let nothing through that a terminal obeys.

use doublehold_history::TrueNs;
use doublehold_scenarios::format::acts_on_a_terminal;

/// A point in true time, always in seconds, so that two of them compare at a glance: `12.031 s`.
pub(crate) fn instant(at: TrueNs) -> String {
    let ms = (u128::from(at.0) + 500_000) / 1_000_000;
    format!("{}.{:03} s", ms / 1_000, ms % 1_000)
}

/// `c1`, `c1 and c2`, `c1, c2 and c3`; `nobody` if there is none.
pub(crate) fn list<S: AsRef<str>>(names: &[S]) -> String {
    match names {
        [] => "nobody".to_owned(),
        [only] => only.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

/// The text without characters that a terminal would obey, each run of white space one space.
pub(crate) fn clean(text: &str) -> String {
    let visible: String = text.chars().map(|c| if acts_on_a_terminal(c) { ' ' } else { c }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A paragraph in lines of at most `width` columns: the first begins with `first`, the others with `rest`. A word that
/// is wider than a line gets one of its own; a number and its unit are one word.
pub(crate) fn wrap(text: &str, first: &str, rest: &str, width: usize) -> String {
    let options = textwrap::Options::new(width)
        .initial_indent(first)
        .subsequent_indent(rest)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .break_words(false);
    let text = bind_units(&clean(text));
    let lines = textwrap::wrap(&text, options);
    lines.iter().map(|line| line.replace(BINDER, " ").trim_end().to_owned() + "\n").collect()
}

/// A space that no line ends at: from the private use area, so that no text has one. [`wrap`] makes it a space.
pub(crate) const BINDER: char = '\u{e000}';

/// Binds each number to its unit.
fn bind_units(text: &str) -> String {
    let mut bound = String::with_capacity(text.len());
    for word in text.split(' ') {
        let is_unit = matches!(word.trim_end_matches([';', ',', ':', ')', '.']), "s" | "ms" | "µs");
        if is_unit && bound.ends_with(|c: char| c.is_ascii_digit()) {
            bound.push(BINDER);
        } else if !bound.is_empty() {
            bound.push(' ');
        }
        bound.push_str(word);
    }
    bound
}

/// How many columns a text takes on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// The text in ASCII, for output that shows nothing else.
pub(crate) fn to_ascii(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut ascii = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_ascii() => ascii.push(c),
            'µ' | 'μ' => ascii.push('u'),
            '‘' | '’' => ascii.push('\''),
            '“' | '”' => ascii.push('"'),
            '–' | '—' | '−' => ascii.push('-'),
            '…' => ascii.push_str("..."),
            '×' => ascii.push('x'),
            '≥' => ascii.push_str(">="),
            '≤' => ascii.push_str("<="),
            '→' => ascii.push_str("->"),
            '·' => ascii.push('-'),
            _ => ascii.push('?'),
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_wraps_with_a_hanging_indent() {
        assert_eq!(wrap("one two  three\nfour", "- ", "  ", 9), "- one two\n  three\n  four\n");
        assert_eq!(wrap("incomprehensibilities", "", "", 5), "incomprehensibilities\n");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(columns("鍵 a"), 4);
        assert_eq!(wrap("鍵鍵 鍵鍵", "", "", 8), "鍵鍵\n鍵鍵\n");
        assert_eq!(wrap("éé éé", "", "", 5), "éé éé\n");
    }

    #[test]
    fn a_number_and_its_unit_stay_on_one_line() {
        assert_eq!(wrap("held for 1.5 s; again", "", "", 10), "held for\n1.5 s;\nagain\n");
    }

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
    fn ascii_keeps_what_the_sentence_says() {
        assert_eq!(to_ascii("5 µs – “late” … ≥ 3 → ☃"), "5 us - \"late\" ... >= 3 -> ?");
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(list::<&str>(&[]), "nobody");
        assert_eq!(list(&["A"]), "A");
        assert_eq!(list(&["A", "B", "C"]), "A, B and C");
    }
}
