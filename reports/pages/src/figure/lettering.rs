//! How much room a text takes, as far as can be known without its font: rather too much than too little.
//!
//! Widths are those of DejaVu Sans, which is wider than most sans-serif fonts.

/// The size of most texts.
pub(super) const SIZE: f64 = 12.0;
/// The size of labels inside a picture.
pub(super) const SMALL: f64 = 10.0;

/// The font of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Font {
    pub(super) size: f64,
    pub(super) bold: bool,
}

impl Font {
    pub(super) const TEXT: Font = Font { size: SIZE, bold: false };
    pub(super) const STRONG: Font = Font { size: SIZE, bold: true };
    pub(super) const LABEL: Font = Font { size: SMALL, bold: false };
    pub(super) const STRONG_LABEL: Font = Font { size: SMALL, bold: true };

    /// The width of a letter at size 1, against that of a font that is not bold.
    fn widening(self) -> f64 {
        if self.bold { 1.12 } else { 1.0 }
    }
}

/// The width of a text.
pub(super) fn width(text: &str, font: Font) -> f64 {
    text.chars().map(advance).sum::<f64>() * font.size * font.widening()
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
pub(super) fn clip_text(text: &str, font: Font, room: f64) -> Option<String> {
    if width(text, font) <= room {
        return Some(text.to_owned());
    }
    let mut short = String::new();
    let mut used = width("…", font);
    for letter in text.chars() {
        used += width(letter.encode_utf8(&mut [0; 4]), font);
        if used > room {
            break;
        }
        short.push(letter);
    }
    (short.chars().count() >= 2).then(|| short.trim_end().to_owned() + "…")
}

/// A paragraph in lines that fit.
pub(super) fn wrap_text(text: &str, font: Font, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if width(&longer, font) > room && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
            line.push_str(word);
        } else {
            line = longer;
        }
    }
    lines.push(line);
    lines
}
