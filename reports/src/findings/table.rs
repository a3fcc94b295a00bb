//! Tables of counts: as plain text for terminals, as Markdown for pages. Pure, and wide characters count as one.

/// A way to lay out a table.
pub(super) trait Table {
    /// The text of a table with this heading; each row has as many cells.
    fn lay_out(&self, heading: &[&str], rows: &[Vec<String>]) -> String;
}

/// Columns of characters.
pub(super) struct Plain;
/// As pages of CI systems show it.
pub(super) struct Markdown;

impl Table for Plain {
    /// The first column to the left, numbers to the right.
    fn lay_out(&self, heading: &[&str], rows: &[Vec<String>]) -> String {
        let width = |column: usize| {
            let cells = rows.iter().map(|row| row[column].chars().count());
            cells.chain([heading[column].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..heading.len()).map(width).collect();
        let heading = heading.iter().map(|cell| (*cell).to_owned()).collect();
        let line = |row: &Vec<String>| {
            let mut line = format!("  {:<width$}", row[0], width = widths[0]);
            for (cell, width) in row.iter().zip(&widths).skip(1) {
                line += &format!("  {cell:>width$}");
            }
            line + "\n"
        };
        [&heading].into_iter().chain(rows).map(line).collect()
    }
}

impl Table for Markdown {
    fn lay_out(&self, heading: &[&str], rows: &[Vec<String>]) -> String {
        let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        let rule: Vec<&str> =
            (0..heading.len()).map(|column| if column == 0 { "---" } else { "--:" }).collect();
        let rows = rows.iter().map(|row| line(row.iter().map(String::as_str).collect()));
        line(heading.to_vec()) + &line(rule) + &rows.collect::<String>()
    }
}
