//! A page as one HTML file: everything in it, nothing from elsewhere, and no script but that of the sliders.
//!
//! Text from files is escaped by the templates. Pictures that we draw are put in as they are. A picture that others may
//! have drawn, an example's out of a file that anybody may have changed, is an `<img>` with the whole picture in its
//! address. An image runs nothing, loads nothing, leads nowhere and paints in its own box only, whatever it says: that
//! is the browser's promise, and not ours to keep. In exchange nobody is told more by pointing at it.
//!
//! Opened by itself an image is a page of its own, without rights over this one or any other, as is any file that was
//! sent. So the style sheet keeps it from being pointed at: no menu of the browser's offers to open it.
//!
//! Decision: "A picture that comes from a file is shown as an image" (docs/decisions/pictures.md).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use doublehold_render::palette::{OF_SWEEP, properties};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::document::{Block, Document, Entry, Figure, Line, Span, Table};
use super::sliders;

const STYLE: &str = include_str!("style.css");
/// The permissions of the page: to show its own styles, and images that are in it.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'";

pub(crate) fn html(document: &Document) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                // Should a text ever get through as markup, it still runs, loads and sends nothing.
                meta http-equiv="Content-Security-Policy" content=(policy());
                link rel="icon" href="data:,";
                title { (document.title) }
                style { (PreEscaped(colours())) (PreEscaped(STYLE)) }
            }
            body {
                main {
                    @for block in &document.blocks { (render_block(block)) }
                }
            }
        }
    };
    page.into_string()
}

/// The permissions of the page, with that of our script alone.
fn policy() -> String {
    format!("{POLICY}; script-src {}", sliders::script_hash())
}

/// The colours of the page on white and in the dark.
fn colours() -> String {
    let light = properties(OF_SWEEP.map(|(name, light, _)| (name, light)));
    let dark = properties(OF_SWEEP.map(|(name, _, dark)| (name, dark)));
    format!("{light}@media screen and (prefers-color-scheme: dark) {{ {dark} }}\n")
}

fn render_block(block: &Block) -> Markup {
    match block {
        Block::Heading { order, line, id } => heading(*order, line, id.as_deref()),
        Block::Paragraph(line) => html! { p { (render_line(line)) } },
        Block::Note(lines) => html! { div.note { @for line in lines { p { (render_line(line)) } } } },
        Block::Answer { lead, outcomes, sentences } => html! {
            div #answer {
                p { (render_line(lead)) }
                ul { @for line in outcomes { li { (render_line(line)) } } }
                @for line in sentences { p { (render_line(line)) } }
            }
        },
        Block::Contents(links) => html! {
            nav aria-label="Contents" {
                @for (words, id) in links { a href={ "#" (id) } { (words) } " " }
            }
        },
        Block::List(lines) => html! { ul { @for line in lines { li { (render_line(line)) } } } },
        Block::Table(table) => render_table(table),
        Block::Figure(figure) => render_figure(figure),
        Block::Sliders(data) => html! {
            details {
                summary { "Try other rates" }
                div #sliders {}
                noscript { p { "The sliders need a script, which this browser does not run." } }
                script type="application/json" id="sliders-data" { (PreEscaped(data)) }
                script { (PreEscaped(sliders::script())) }
            }
        },
        Block::Code(text) => html! { pre { code { (text) } } },
        Block::Details { summary, id, blocks } => html! {
            details id=[id.as_deref()] {
                summary { (render_line(summary)) }
                @for block in blocks { (render_block(block)) }
            }
        },
    }
}

fn heading(order: u8, line: &Line, id: Option<&str>) -> Markup {
    let words = render_line(line);
    match order {
        1 => html! { h1 id=[id] { (words) } },
        2 => html! { h2 id=[id] { (words) } },
        3 => html! { h3 id=[id] { (words) } },
        _ => html! { h4 id=[id] { (words) } },
    }
}

fn render_line(line: &Line) -> Markup {
    html! {
        @for span in &line.0 {
            @match span {
                Span::Plain(text) => (bind_units(text)),
                Span::Code(text) => code { (text) },
                Span::Strong(text) => strong { (bind_units(text)) },
                Span::Link(text, to) => a href={ "#" (to) } { (text) },
            }
        }
    }
}

/// No line ends between a number and its sign.
fn bind_units(text: &str) -> String {
    text.replace(" %", "\u{a0}%").replace(" × ", "\u{a0}×\u{a0}")
}

fn render_table(table: &Table) -> Markup {
    let class = |column: usize| (column >= table.words).then_some("n");
    // On a telephone each cell has the heading of its column before it.
    let label = |column: usize| table.head.get(column).map(|entry| entry.words());
    html! {
        div.wide {
            table {
                thead { tr { @for (column, entry) in table.head.iter().enumerate() {
                    th class=[class(column)] title=[entry.title.as_ref()] scope="col" { (render_entry(entry)) }
                } } }
                tbody { @for row in &table.rows { tr { @for (column, entry) in row.iter().enumerate() {
                    td class=[class(column)] title=[entry.title.as_ref()] data-label=[label(column)] {
                        div { (render_entry(entry)) }
                    }
                } } } }
            }
        }
    }
}

fn render_entry(entry: &Entry) -> Markup {
    html! {
        @for (place, line) in entry.lines.iter().enumerate() {
            @if place == 0 { (render_line(line)) } @else { br; small { (render_line(line)) } }
        }
    }
}

fn render_figure(figure: &Figure) -> Markup {
    html! {
        figure {
            @if figure.is_foreign {
                div.wide tabindex="0" {
                    @for (_, svg) in &figure.panels {
                        img alt=(figure.caption.words())
                            src={ "data:image/svg+xml;base64," (STANDARD.encode(svg)) };
                    }
                }
            } @else {
                div.panels {
                    @for (name, svg) in &figure.panels {
                        div role="img" aria-label={ (name) ": " (figure.caption.words()) } { (PreEscaped(svg)) }
                    }
                }
            }
            figcaption { (render_line(&figure.caption)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOREIGN: &str = "<b onclick=\"x\">'&";

    /// Whatever may come from a file, in every place that a page has for words.
    #[test]
    fn no_place_lets_markup_through() {
        let line = || Line::from_text(FOREIGN).code(FOREIGN).strong(FOREIGN).link(FOREIGN, FOREIGN);
        let entry = || Entry::line(line()).below(line()).with_title(FOREIGN);
        let figure = |is_foreign: bool| {
            // A picture of ours has its words escaped where it is drawn.
            let svg = if is_foreign { FOREIGN } else { "<svg/>" }.to_owned();
            let panels = vec![(FOREIGN.to_owned(), svg)];
            Block::Figure(Figure { name: FOREIGN.to_owned(), panels, is_foreign, caption: line() })
        };
        let headings =
            (1..=4).map(|order| Block::Heading { order, line: line(), id: Some(FOREIGN.to_owned()) });
        let others = [
            Block::Paragraph(line()),
            Block::Note(vec![line()]),
            Block::Answer { lead: line(), outcomes: vec![line()], sentences: vec![line()] },
            Block::Contents(vec![(FOREIGN.to_owned(), FOREIGN.to_owned())]),
            Block::List(vec![line()]),
            Block::Table(Table { head: vec![entry()], rows: vec![vec![entry()]], words: 1 }),
            figure(true),
            figure(false),
            Block::Code(FOREIGN.to_owned()),
            Block::Details {
                summary: line(),
                id: Some(FOREIGN.to_owned()),
                blocks: vec![Block::Paragraph(line())],
            },
        ];
        let blocks = headings.chain(others).collect();
        let page = html(&Document { title: FOREIGN.to_owned(), blocks });
        assert!(page.matches("&lt;b onclick=&quot;x&quot;&gt;").count() > 60, "{page}");
        for raw in ["<b ", "onclick=\""] {
            assert!(!page.contains(raw), "{raw}: {page}");
        }
    }
}
