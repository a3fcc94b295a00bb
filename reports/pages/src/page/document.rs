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
    /// The answer, which stands out most: for whom it is, how often each thing happens, and what else there is to say.
    Answer { lead: Line, outcomes: Vec<Line>, sentences: Vec<Line> },
    /// Ways to the parts of the page, by their names.
    Contents(Vec<(String, String)>),
    /// Sentences, one below another.
    List(Vec<Line>),
    /// A table.
    Table(Table),
    /// A picture.
    Figure(Figure),
    /// Sliders over the rates of faults: what their script needs, as JSON. A page has them once.
    Sliders(String),
    /// Text as it is in a file or on a terminal.
    Code(String),
    /// What is shown on request.
    Details { summary: Line, id: Option<String>, blocks: Vec<Block> },
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
    /// Its panels, side by side where there is room: the end of each one's name, and the text of one `<svg>`.
    pub(crate) panels: Vec<(String, String)>,
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
    /// Every picture of ours.
    pub(crate) fn figures(&self) -> Vec<&Figure> {
        fn gather<'a>(blocks: &'a [Block], figures: &mut Vec<&'a Figure>) {
            for block in blocks {
                match block {
                    Block::Figure(figure) if !figure.is_foreign => figures.push(figure),
                    Block::Details { blocks, .. } => gather(blocks, figures),
                    _ => {}
                }
            }
        }
        let mut figures = Vec::new();
        gather(&self.blocks, &mut figures);
        figures
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

    /// The words, with names between backticks: for places that know no other mark.
    pub(crate) fn with_backticks(&self) -> String {
        let words = |span: &Span| match span {
            Span::Code(text) => format!("`{text}`"),
            Span::Plain(text) | Span::Strong(text) | Span::Link(text, _) => text.clone(),
        };
        self.0.iter().map(words).collect()
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

    /// The words of all its lines.
    pub(crate) fn words(&self) -> String {
        self.lines.iter().map(Line::words).collect::<Vec<_>>().join(": ")
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
    /// A heading that links lead to.
    pub(crate) fn anchored(text: impl Into<String>, id: impl Into<String>) -> Block {
        Block::Heading { order: 2, line: Line::from_text(text), id: Some(id.into()) }
    }

    /// What is shown on request.
    pub(crate) fn details(summary: Line, blocks: Vec<Block>) -> Block {
        Block::Details { summary, id: None, blocks }
    }

    pub(crate) fn heading(order: u8, text: impl Into<String>) -> Block {
        Block::Heading { order, line: Line::from_text(text), id: None }
    }

    pub(crate) fn text(text: impl Into<String>) -> Block {
        Block::Paragraph(Line::from_text(text))
    }
}
