//! A run as one HTML page that can be zoomed: the view model as JSON, and a small script that draws it.
//!
//! Self-contained: no library, no font, no network, which the page's own policy forbids. Without scripts it shows the
//! SVG. Names of hosts, keys and locks are user input: in markup they are escaped, in the JSON nothing can end the
//! element that holds it, and the script only ever sets text. Four things are put in as they are, without escapes: the
//! style and the script, which are files of ours; the SVG, which has escaped its texts; and the JSON, see [`inert`].

use doublehold_render::palette::{OF_RUN, properties};
use doublehold_render::picture::view::View;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::paper::printable;
use super::{Options, svg};

const STYLE: &str = include_str!("page/page.css");
const DRAWING: &str = include_str!("page/page.js");
const LABELS: &str = include_str!("page/labels.js");
const BANDS: &str = include_str!("page/bands.js");
const LEGEND: &str = include_str!("page/legend.js");
const INPUT: &str = include_str!("page/input.js");

/// What may be loaded: nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'";

/// The buttons above the picture, each with the act that the script knows it by and the key that does the same.
const TOOLS: [(&str, &str, &str); 5] = [
    ("in", "+", "zoom in"),
    ("out", "-", "zoom out"),
    ("left", "left", "left"),
    ("right", "right", "right"),
    ("whole", "0", "whole run"),
];
/// Those that have nothing to do if nothing is violated.
const OF_EVIDENCE: [(&str, &str, &str); 2] =
    [("previous", "p", "previous evidence"), ("next", "n", "next evidence")];

const CANVAS: &str = "lanes of hosts over true time; the lists beside it say the same";

/// Draws a run as one HTML page.
///
/// # Errors
///
/// None in practice: everything in a view can be written as JSON.
pub fn html(view: &View, options: &Options) -> serde_json::Result<String> {
    let data = inert(&serde_json::to_string(view)?);
    let script = format!("\n(() => {{\n{DRAWING}{LABELS}{BANDS}{LEGEND}{INPUT}}})();\n");
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width";
                link rel="icon" href="data:,";
                title { (printable(&view.title())) }
                style { (PreEscaped(style())) }
            }
            body {
                (header(view))
                noscript {
                    style { "main{display:none}" }
                    (PreEscaped(svg(view, options)))
                }
                main {
                    (picture(view))
                    (lists(view))
                }
                div #tip role="tooltip" {}
                script type="application/json" id="view" { (PreEscaped(data)) }
                script { (PreEscaped(script)) }
            }
        }
    };
    Ok(page.into_string())
}

/// The style sheet, with the colours of the page on white and in the dark.
fn style() -> String {
    let light = properties(OF_RUN.map(|(name, colour, _)| (name, colour)));
    let dark = properties(OF_RUN.map(|(name, _, colour)| (name, colour)));
    format!("\n{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n{STYLE}")
}

fn header(view: &View) -> Markup {
    html! {
        header {
            h1 { (printable(&view.scenario)) } " "
            @if !view.seed.is_empty() {
                span.faint { "seed " (printable(&view.seed)) ", trace " (printable(&view.trace_hash)) }
            }
            p { (printable(&view.claim)) }
            p {
                @for it in &view.verdicts {
                    span.verdict.(it.verdict) title=(it.name) { (it.predicate) " " (it.verdict) }
                }
            }
            @if let Some(account) = &view.account {
                p { b { (account.label()) ":" } " " (printable(&account.words)) }
            }
        }
    }
}

/// The picture with its tools, its legend and the clocks below.
fn picture(view: &View) -> Markup {
    let button = |(act, key, words): (&str, &str, &str), disabled: bool| {
        html! {
            button type="button" data-act=(act) title={ "key " (key) } disabled[disabled] { (words) }
        }
    };
    html! {
        section #picture aria-label="picture" {
            div #tools {
                @for tool in TOOLS { (button(tool, false)) }
                @for tool in OF_EVIDENCE { (button(tool, view.evidence.is_empty())) }
                span #shown.faint role="status" {}
            }
            div #frame { canvas #canvas tabindex="0" role="img" aria-label=(CANVAS) {} }
            ul #legend aria-label="what the signs mean" {}
            details #own open {
                summary { "every host's own clocks, " span #at.faint {} }
                table #clocks {}
            }
        }
    }
}

/// The lists beside the picture, which the script fills.
fn lists(view: &View) -> Markup {
    let evidence = match view.evidence.is_empty() {
        true => "none, since no rule is violated",
        false => "click for the events that prove it",
    };
    html! {
        aside {
            h2 { "evidence: " (evidence) }
            ol #evidence {}
            h2 { "what happened" }
            ol #story {}
            p #left-out.faint {}
        }
    }
}

/// JSON in which no reader of HTML finds the end of an element, or the beginning of a comment.
pub(crate) fn inert(json: &str) -> String {
    json.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A colour that the script reads and nobody declares would be drawn in black.
    #[test]
    fn the_script_and_the_style_have_the_colours_of_the_palette() {
        let (_, names) = DRAWING.split_once("const COLOURS = \"").expect("the script's list");
        let (names, _) = names.split_once('"').expect("its end");
        let read: Vec<&str> = names.split(' ').collect();
        let used = STYLE.match_indices("var(--").map(|(at, start)| &STYLE[at + start.len()..]);
        let used = used.map(|rest| rest.split(')').next().unwrap_or(rest));
        for name in read.iter().copied().chain(used) {
            assert!(OF_RUN.iter().any(|(known, ..)| *known == name), "`--{name}` is not declared");
        }
        let files = [
            ("css", STYLE),
            ("page", DRAWING),
            ("labels", LABELS),
            ("bands", BANDS),
            ("legend", LEGEND),
            ("input", INPUT),
        ];
        for (file, text) in files {
            let is_colour = |word: &str| {
                let digits: String = word.chars().take_while(char::is_ascii_hexdigit).collect();
                matches!(digits.len(), 3 | 6)
            };
            // `#own` is an element; a colour has digits of base sixteen alone.
            let colour = text.split('#').skip(1).find(|word| is_colour(word));
            assert_eq!(colour.map(|word| word.chars().take(9).collect::<String>()), None, "{file}");
        }
    }
}
