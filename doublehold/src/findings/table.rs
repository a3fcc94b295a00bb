//! Tables of counts: as plain text for terminals, as Markdown for pages. Pure.

use doublehold_render::layout::{align_left, align_right, widths};

/// A way to lay out a table.
pub(crate) trait Table {
    /// The text of a table with this heading; each row has as many cells.
    fn lay_out(&self, heading: &[&str], rows: &[Vec<String>]) -> String;
}

/// Columns of a terminal. Those for which a line has no room go on below, with the first column again: cells that a
/// terminal breaks can no longer be told apart.
pub(crate) struct Plain {
    /// The most columns that a line may have.
    pub(crate) width: usize,
}

/// As pages of CI systems show it.
pub(crate) struct Markdown;

impl Table for Plain {
    /// The first column to the left, numbers to the right.
    fn lay_out(&self, heading: &[&str], rows: &[Vec<String>]) -> String {
        let heading: Vec<String> = heading.iter().map(|cell| (*cell).to_owned()).collect();
        let all = [&[heading], rows].concat();
        let widths = widths(&all);
        let part = |columns: &[usize]| {
            let line = |row: &Vec<String>| {
                let rest = columns.iter().map(|&it| MARGIN.to_owned() + &align_right(&row[it], widths[it]));
                format!("{MARGIN}{}{}\n", align_left(&row[0], widths[0]), rest.collect::<String>())
            };
            all.iter().map(line).collect::<String>()
        };
        let parts: Vec<String> = self.fold_columns(&widths).iter().map(|columns| part(columns)).collect();
        parts.join("\n")
    }
}

/// Before each column.
const MARGIN: &str = "  ";

impl Plain {
    /// The columns after the first, in parts that fit on a line beside it: at least one each.
    fn fold_columns(&self, widths: &[usize]) -> Vec<Vec<usize>> {
        let taken = |width: usize| MARGIN.len() + width;
        let mut parts: Vec<Vec<usize>> = vec![Vec::new()];
        let mut used = taken(widths[0]);
        for (column, width) in widths.iter().enumerate().skip(1) {
            if used + taken(*width) > self.width && parts.last().is_some_and(|part| !part.is_empty()) {
                parts.push(Vec::new());
                used = taken(widths[0]);
            }
            used += taken(*width);
            parts.last_mut().into_iter().for_each(|part| part.push(column));
        }
        parts
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_is_wider_than_a_line_goes_on_below() {
        let rows = [vec!["pause".to_owned(), "12".to_owned(), "7".to_owned(), "100".to_owned()]];
        let table = |width| Plain { width }.lay_out(&["kind", "drawn", "struck", "read"], &rows);
        assert_eq!(table(40), "  kind   drawn  struck  read\n  pause     12       7   100\n");
        assert_eq!(table(28), table(40));
        let folded = "  kind   drawn  struck\n  pause     12       7\n\n  kind   read\n  pause   100\n";
        assert_eq!(table(27), folded);
        assert_eq!(table(1).lines().count(), 8, "one column at a time: {}", table(1));
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let rows = ["鍵", "abc"].map(|name| vec![name.to_owned(), "7".to_owned()]);
        let table = Plain { width: 40 }.lay_out(&["", "鍵"], &rows);
        assert_eq!(table, "       鍵\n  鍵    7\n  abc   7\n");
    }
}
