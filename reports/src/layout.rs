//! How text is laid out: wrapped paragraphs, widths, plain ASCII.
//!
//! Text from scenario files is shown on terminals, so [`wrap`] lets nothing through that a terminal obeys.

use doublehold_text::clean;

/// A paragraph in lines of at most `width` columns: the first begins with `first`, the others with `rest`. A word that
/// is wider than a line gets one of its own; a number and its unit are one word.
pub fn wrap(text: &str, first: &str, rest: &str, width: usize) -> String {
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
        let is_unit = matches!(
            word.trim_end_matches([';', ',', ':', ')', '.']),
            "ns" | "µs" | "ms" | "s" | "min" | "h" | "d"
        );
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
pub fn columns(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// The text and as many spaces after it as it lacks of so many columns. Rust's `{:<width$}` counts characters.
pub fn align_left(text: &str, width: usize) -> String {
    text.to_owned() + &spaces(text, width)
}

/// The text and as many spaces before it as it lacks of so many columns.
pub fn align_right(text: &str, width: usize) -> String {
    spaces(text, width) + text
}

fn spaces(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(columns(text)))
}

/// The columns that the widest of these texts takes.
pub fn widest<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> usize {
    texts.into_iter().map(|text| columns(text.as_ref())).max().unwrap_or(0)
}

/// The columns that each column of a table takes; all rows have as many cells.
pub fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let cells = rows.first().map_or(0, Vec::len);
    (0..cells).map(|cell| widest(rows.iter().map(|row| &row[cell]))).collect()
}

/// A name in the margin, and a paragraph beside it: two columns after the widest of the names.
pub fn hanging_paragraph(name: &str, margin: usize, paragraph: &str, width: usize) -> String {
    wrap(paragraph, &align_left(name, margin + 2), &" ".repeat(margin + 2), width)
}

const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/// The text in ASCII, for output that shows nothing else.
pub fn to_ascii(text: &str) -> String {
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
            // Only powers of ten below one are written with raised digits.
            '⁻' => ascii.push_str("^-"),
            c if RAISED.contains(c) => {
                ascii.extend(RAISED.chars().zip('0'..).find(|it| it.0 == c).map(|it| it.1))
            }
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
    fn wide_characters_keep_columns_apart() {
        assert_eq!((align_left("鍵", 4), align_right("鍵", 4)), ("鍵  ".to_owned(), "  鍵".to_owned()));
        assert_eq!(
            (align_left("鍵鍵", 3), align_right("é", 2)),
            ("鍵鍵".to_owned(), " é".to_owned()),
            "too wide is left"
        );
        assert_eq!(widest(["abc", "鍵鍵", ""]), 4);
        assert_eq!(widest::<&str>([]), 0);
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        assert_eq!(widths(&[row(["鍵", "a"]), row(["b", "cde"])]), [2, 3]);
        assert_eq!(widths(&[]), [0; 0]);
        assert_eq!(hanging_paragraph("鍵", 3, "one two", 9), "鍵   one\n     two\n");
    }

    #[test]
    fn a_number_and_its_unit_stay_on_one_line() {
        assert_eq!(wrap("held for 1.5 s; again", "", "", 10), "held for\n1.5 s;\nagain\n");
    }

    #[test]
    fn ascii_keeps_what_the_sentence_says() {
        assert_eq!(to_ascii("5 µs – “late” … ≥ 3 → ☃"), "5 us - \"late\" ... >= 3 -> ?");
        assert_eq!(to_ascii("3.4 × 10⁻⁹, 10⁻¹⁰"), "3.4 x 10^-9, 10^-10");
    }
}
