//! How much room a text takes, as far as can be known without its font: rather too much than too little.
//!
//! Widths are those of DejaVu Sans, which is wider than most sans-serif fonts.

/// The size of most texts.
pub(super) const SIZE: f64 = 12.0;
/// The size of labels inside a picture.
pub(super) const SMALL: f64 = 10.0;

/// How wide a text is at a size.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

fn advance(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | '\'' | '|' | '.' | ',' | ':' | ';' | '!' | 'I' | ' ' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' => 0.41,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '→' | '…' => 0.97,
        'A'..='Z' => 0.71,
        '0'..='9' => 0.64,
        letter if letter.is_ascii() => 0.61,
        letter => unicode_width::UnicodeWidthChar::width(letter).unwrap_or(1) as f64 * 0.7,
    }
}

/// As much of a text as fits, with a mark where it was cut; nothing if that would be no more than the mark.
pub(super) fn clip_text(text: &str, size: f64, room: f64) -> Option<String> {
    if width(text, size) <= room {
        return Some(text.to_owned());
    }
    let mut short = String::new();
    let mut used = advance('…') * size;
    for letter in text.chars() {
        used += advance(letter) * size;
        if used > room {
            break;
        }
        short.push(letter);
    }
    (short.chars().count() >= 2).then(|| short.trim_end().to_owned() + "…")
}

/// A paragraph in lines that fit.
pub(super) fn wrap_text(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if width(&longer, size) > room && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
            line.push_str(word);
        } else {
            line = longer;
        }
    }
    lines.push(line);
    lines
}
