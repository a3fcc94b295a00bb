//! A page as Markdown, for merge requests and wikis. Without pictures, which it names.

use super::document::{Block, Document, Entry, Figure, Line, Span, Table};

pub(crate) fn markdown(document: &Document) -> String {
    let mut text = String::new();
    for block in &document.blocks {
        add(&mut text, block);
    }
    text
}

fn add(text: &mut String, block: &Block) {
    match block {
        Block::Heading { order, line, .. } => {
            *text += &format!("{} {}\n\n", "#".repeat((*order).into()), render_line(line));
        }
        Block::Paragraph(line) => *text += &format!("{}\n\n", render_line(line)),
        Block::Note(lines) => {
            let lines: Vec<String> = lines.iter().map(|line| format!("> {}\n", render_line(line))).collect();
            *text += &(lines.join(">\n") + "\n");
        }
        Block::Answer { lead, outcomes, sentences } => {
            *text += &format!("{}\n\n", render_line(lead));
            outcomes.iter().for_each(|line| *text += &format!("- {}\n", render_line(line)));
            text.push('\n');
            sentences.iter().for_each(|line| *text += &format!("{}\n\n", render_line(line)));
        }
        // Wikis and merge requests make contents of their own, and run no script.
        Block::Contents(_) | Block::Sliders(_) => {}
        Block::List(lines) => {
            lines.iter().for_each(|line| *text += &format!("- {}\n", render_line(line)));
            text.push('\n');
        }
        Block::Table(table) => *text += &render_table(table),
        Block::Figure(Figure { name, caption, .. }) => {
            *text += &format!("*Picture `{name}`: {}*\n\n", render_line(caption));
        }
        Block::Code(code) => *text += &fence_text(code),
        Block::Details { summary, blocks, .. } => {
            *text += &format!("<details><summary>{}</summary>\n\n", escape_markdown(&summary.words()));
            blocks.iter().for_each(|block| add(text, block));
            *text += "</details>\n\n";
        }
    }
}

fn render_line(line: &Line) -> String {
    let span = |span: &Span| match span {
        Span::Plain(text) | Span::Link(text, _) => escape_markdown(text),
        Span::Strong(text) => {
            // Markdown wants the stars at the words.
            let words = text.trim_end();
            format!("**{}**{}", escape_markdown(words), &text[words.len()..])
        }
        Span::Code(text) => code(text),
    };
    line.0.iter().map(span).collect()
}

/// Nothing that Markdown or HTML obeys.
fn escape_markdown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\n' | '\r' => safe.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                safe.push('\\');
                safe.push(letter);
            }
            _ => safe.push(letter),
        }
    }
    safe
}

/// Text between as many backticks as it needs. A bar would end a cell of a table even there, and around nothing two
/// backticks would begin what the next two end, so that all between them is code and what follows is not.
fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    if text.is_empty() || text.contains('|') {
        return format!("<code>{}</code>", escape_markdown(&text));
    }
    let ticks = "`".repeat(longest_row(&text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{space}{text}{space}{ticks}")
}

fn fence_text(text: &str) -> String {
    let fence = "`".repeat(longest_row(text).max(2) + 1);
    format!("{fence}\n{}\n{fence}\n\n", text.trim_end())
}

/// How many backticks come in a row at most.
fn longest_row(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}

fn render_table(table: &Table) -> String {
    let line = |entries: &[Entry]| {
        let entries: Vec<String> = entries.iter().map(entry).collect();
        format!("| {} |\n", entries.join(" | "))
    };
    let rule: Vec<&str> =
        (0..table.head.len()).map(|column| if column < table.words { "---" } else { "--:" }).collect();
    let rows: String = table.rows.iter().map(|row| line(row)).collect();
    format!("{}| {} |\n{rows}\n", line(&table.head), rule.join(" | "))
}

fn entry(entry: &Entry) -> String {
    entry.lines.iter().map(render_line).collect::<Vec<_>>().join("<br>")
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn code_ends_where_it_ends() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code("a|`<b>"), "<code>a\\|\\`&lt;b&gt;</code>");
        // Before a text that needs two backticks, two around nothing would end at them, and its markup would be bare.
        assert_eq!(code(""), "<code></code>");
    }
}
