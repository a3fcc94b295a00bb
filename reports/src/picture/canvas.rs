//! The sheet a picture is drawn on: labelled rows of cells, one character and one colour each.
//!
//! Drawing outside a row is ignored: a renderer has no reason to fail.

use crate::layout::columns;
use crate::style::{Paint, Style};

/// Rows of equal width under each other.
#[derive(Debug)]
pub(super) struct Canvas {
    width: usize,
    rows: Vec<Row>,
}

/// One row.
#[derive(Debug)]
pub(super) struct Row {
    label: String,
    paint: Paint,
    cells: Vec<(char, Paint)>,
}

impl Canvas {
    pub(super) fn new(width: usize) -> Canvas {
        Canvas { width, rows: Vec::new() }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// A new row below the others.
    pub(super) fn row(&mut self, label: &str, paint: Paint) -> &mut Row {
        self.rows.push(Row { label: label.to_owned(), paint, cells: vec![(' ', Paint::Plain); self.width] });
        self.last_row()
    }

    /// The row that was begun last; one without a label if there is none.
    pub(super) fn last_row(&mut self) -> &mut Row {
        if self.rows.is_empty() {
            self.rows.push(Row { label: String::new(), paint: Paint::Plain, cells: Vec::new() });
        }
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }

    /// All rows as text, labels in a column of `label_width`.
    pub(super) fn render(&self, label_width: usize, style: &Style) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let label = clip(&row.label, label_width);
            let padding = " ".repeat(label_width - columns(&label));
            let line = format!("  {}{padding} {}", style.paint(&label, row.paint), row.render(style));
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

impl Row {
    /// Draws one cell.
    pub(super) fn draw_cell(&mut self, column: usize, glyph: char, paint: Paint) {
        if let Some(cell) = self.cells.get_mut(column) {
            *cell = (glyph, paint);
        }
    }

    /// Draws the cells `from..to`; at least one, so that nothing that happened is invisible.
    pub(super) fn fill(&mut self, from: usize, to: usize, glyph: char, paint: Paint) {
        for column in from..to.max(from + 1) {
            self.draw_cell(column, glyph, paint);
        }
    }

    /// Writes text from `column` on.
    pub(super) fn write(&mut self, column: usize, text: &str, paint: Paint) {
        for (offset, glyph) in text.chars().enumerate() {
            self.draw_cell(column + offset, glyph, paint);
        }
    }

    /// Whether the cells `from..to` exist and are blank.
    pub(super) fn is_blank(&self, from: usize, to: usize) -> bool {
        self.cells.get(from..to).is_some_and(|cells| cells.iter().all(|(glyph, _)| *glyph == ' '))
    }

    fn render(&self, style: &Style) -> String {
        let end = self.cells.iter().rposition(|(glyph, _)| *glyph != ' ').map_or(0, |last| last + 1);
        let mut text = String::new();
        for run in self.cells[..end].chunk_by(|a, b| a.1 == b.1) {
            let glyphs: String = run.iter().map(|(glyph, _)| *glyph).collect();
            text.push_str(&style.paint(&glyphs, run[0].1));
        }
        text
    }
}

fn clip(text: &str, width: usize) -> String {
    let mut clipped = text.to_owned();
    while columns(&clipped) > width {
        clipped.pop();
    }
    clipped
}
