//! What a page holds, whatever it is written as: paragraphs, tables, pictures. HTML and Markdown are made from the same
//! blocks, so that they cannot disagree.
//!
//! Texts here are as people wrote them. Whoever renders a block escapes what its format obeys.

/// A page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document {
    /// What the window and the mail are called.
    pub(crate) title: String,
    /// Everything, from top to bottom.
    pub(crate) blocks: Vec<Block>,
}

/// A piece of a page.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    /// A heading of the second, third or fourth order, and what links call it.
    Heading { order: u8, line: Line, id: Option<String> },
    /// A paragraph.
    Paragraph(Line),
    /// Paragraphs that stand out: what the page says in short, or what to beware of.
    Note(Vec<Line>),
    /// Sentences, one below another.
    List(Vec<Line>),
    /// A table.
    Table(Table),
    /// A picture.
    Figure(Figure),
    /// Text as it is in a file or on a terminal.
    Code(String),
    /// What is shown on request.
    Details { summary: Line, blocks: Vec<Block> },
}

/// A table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// The heading of each column.
    pub(crate) head: Vec<Entry>,
    /// Each as long as the heading.
    pub(crate) rows: Vec<Vec<Entry>>,
    /// How many of the first columns are words; the others are numbers.
    pub(crate) words: usize,
}

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    /// Its lines; the first is what matters most.
    pub(crate) lines: Vec<Line>,
    /// What is shown to whoever points at it.
    pub(crate) title: Option<String>,
}

/// A picture.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    /// Its name in files.
    pub(crate) name: String,
    /// The text of one `<svg>`.
    pub(crate) svg: String,
    /// True if somebody else may have drawn it: then it is shown as an image only.
    pub(crate) is_foreign: bool,
    /// What it shows and how to read it.
    pub(crate) caption: Line,
}

/// Words in one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line(pub(crate) Vec<Span>);

/// Words that look alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    /// As everything.
    Plain(String),
    /// Names, and what can be typed.
    Code(String),
    /// What matters.
    Strong(String),
    /// A way to another place of this page, by its name.
    Link(String, String),
}

impl Document {
    /// Every picture that is shown without being asked for.
    pub(crate) fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Figure(figure) => Some(figure),
            _ => None,
        })
    }
}

impl Line {
    /// Plain words.
    pub(crate) fn from_text(text: impl Into<String>) -> Line {
        Line::default().text(text)
    }

    /// Words with names between backticks, as studies have them.
    pub(crate) fn from_backticks(text: &str) -> Line {
        let parts: Vec<&str> = text.split('`').collect();
        if parts.len().is_multiple_of(2) {
            return Line::from_text(text);
        }
        let spans = parts.iter().enumerate().map(|(place, part)| match place % 2 {
            0 => Span::Plain((*part).to_owned()),
            _ => Span::Code((*part).to_owned()),
        });
        Line(spans.collect())
    }

    pub(crate) fn text(mut self, text: impl Into<String>) -> Line {
        self.0.push(Span::Plain(text.into()));
        self
    }

    pub(crate) fn code(mut self, text: impl Into<String>) -> Line {
        self.0.push(Span::Code(text.into()));
        self
    }

    pub(crate) fn strong(mut self, text: impl Into<String>) -> Line {
        self.0.push(Span::Strong(text.into()));
        self
    }

    pub(crate) fn link(mut self, text: impl Into<String>, to: impl Into<String>) -> Line {
        self.0.push(Span::Link(text.into(), to.into()));
        self
    }

    /// Names in a row: `a`, `b` and `c`.
    pub(crate) fn codes(mut self, names: &[&str]) -> Line {
        for (place, name) in names.iter().enumerate() {
            let before = match place {
                0 => "",
                _ if place + 1 == names.len() => " and ",
                _ => ", ",
            };
            self = if before.is_empty() { self } else { self.text(before) };
            self = self.code(*name);
        }
        self
    }

    pub(crate) fn then(mut self, other: Line) -> Line {
        self.0.extend(other.0);
        self
    }

    /// The words alone.
    pub(crate) fn words(&self) -> String {
        let words = |span: &Span| match span {
            Span::Plain(text) | Span::Code(text) | Span::Strong(text) | Span::Link(text, _) => text.clone(),
        };
        self.0.iter().map(words).collect()
    }
}

impl Entry {
    /// One line of plain words.
    pub(crate) fn from_text(text: impl Into<String>) -> Entry {
        Entry { lines: vec![Line::from_text(text)], title: None }
    }

    pub(crate) fn line(line: Line) -> Entry {
        Entry { lines: vec![line], title: None }
    }

    /// With a line below.
    pub(crate) fn below(mut self, line: Line) -> Entry {
        self.lines.push(line);
        self
    }

    pub(crate) fn with_title(mut self, title: impl Into<String>) -> Entry {
        self.title = Some(title.into());
        self
    }
}

impl Block {
    pub(crate) fn heading(order: u8, text: impl Into<String>) -> Block {
        Block::Heading { order, line: Line::from_text(text), id: None }
    }

    pub(crate) fn text(text: impl Into<String>) -> Block {
        Block::Paragraph(Line::from_text(text))
    }
}
