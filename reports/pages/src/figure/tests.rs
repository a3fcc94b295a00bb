//! Texts of figures, of the whole catalogue: where they are, by the estimate that the drawing itself goes by.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use doublehold_render::picture::view::View;
use doublehold_scenarios::{Detailed, Engine, SimEngine, catalog};
use roxmltree::{Document, Node};

use super::lettering::{Font, SIZE, SMALL, width};
use super::{Options, svg};

/// A text and the room that it takes.
#[derive(Debug)]
struct Written {
    words: String,
    size: f64,
    left: f64,
    right: f64,
    baseline: f64,
}

impl Written {
    fn new(node: Node<'_, '_>) -> Written {
        let number = |name: &str| node.attribute(name).and_then(|it| it.parse::<f64>().ok());
        let size = match node.attribute("class") {
            Some("label") => SMALL,
            _ => number("font-size").unwrap_or(SIZE),
        };
        let words = node.text().unwrap_or_default().to_owned();
        let wide = width(&words, Font { size, bold: node.attribute("font-weight") == Some("bold") });
        let x = number("x").unwrap_or_default();
        let left = match node.attribute("text-anchor") {
            Some("middle") => x - wide / 2.0,
            Some("end") => x - wide,
            _ => x,
        };
        Written { words, size, left, right: left + wide, baseline: number("y").unwrap_or_default() }
    }

    /// True if two texts cover each other, or stand so close in one line that they are read as one.
    fn runs_into(&self, other: &Written) -> bool {
        let apart = (self.baseline - other.baseline).abs();
        let (upper, gap) = (self.size.min(other.size), if apart < 1.0 { 5.0 } else { 0.0 });
        apart < upper - 0.5 && self.left < other.right + gap && other.left < self.right + gap
    }
}

static VIEWS: LazyLock<Vec<View>> = LazyLock::new(|| {
    let view = |entry: &catalog::Entry| {
        let scenario = catalog::load(&entry.name, &[]).expect("a scenario of the catalogue");
        let prepared = SimEngine.prepare(&scenario).expect("it can be run");
        let (report, _, detail) = prepared.run_with_detail(scenario.own_seed());
        View::from_run(&report, Some(detail))
    };
    catalog::entries().expect("the catalogue can be read").iter().map(view).collect()
});

fn every_figure(widths: &[u32], mut see: impl FnMut(&str, &Document<'_>)) {
    for (view, width) in VIEWS.iter().flat_map(|view| widths.iter().map(move |width| (view, *width))) {
        let figure = svg(view, &Options { width, ..Options::default() });
        see(&format!("{}, {width} wide", view.scenario), &Document::parse(&figure).expect("well-formed"));
    }
}

fn texts(document: &Document<'_>) -> Vec<Written> {
    document.descendants().filter(|node| node.has_tag_name("text")).map(Written::new).collect()
}

#[test]
fn no_two_texts_run_into_each_other_and_none_is_small() {
    let mut wrong = Vec::new();
    every_figure(&[Options::default().width, Options::IN_REPORT, Options::NARROWEST], |name, document| {
        let texts = texts(document);
        for (place, text) in texts.iter().enumerate() {
            if text.size < 10.0 {
                wrong.push(format!("{name}: `{}` has {} pixels", text.words, text.size));
            }
            for other in texts[place + 1..].iter().filter(|other| text.runs_into(other)) {
                wrong.push(format!("{name}: `{}` runs into `{}`", text.words, other.words));
            }
        }
    });
    assert!(wrong.is_empty(), "{} texts:\n{}", wrong.len(), wrong.join("\n"));
}

/// Words for which a label had no room are said to a reader who points at what it is about.
#[test]
fn whatever_may_have_a_label_says_the_same_when_pointed_at() {
    let classes = ["overlap", "key", "write", "deadline", "message", "fault", "claim", "clock"];
    let mut seen = BTreeSet::new();
    every_figure(&[Options::default().width], |name, document| {
        for node in document.descendants().filter(|node| !node.has_tag_name("text")) {
            let Some(class) = node.attribute("class").filter(|class| classes.contains(class)) else {
                continue;
            };
            assert!(node.children().any(|it| it.has_tag_name("title")), "{name}: {node:?} says nothing");
            seen.insert(class.to_owned());
        }
    });
    assert_eq!(seen.len(), classes.len(), "{seen:?}");
}

#[test]
fn words_of_double_holds_stand_on_paper_above_the_lanes() {
    let mut captions = 0;
    every_figure(&[Options::default().width, Options::NARROWEST], |name, document| {
        let number = |node: &Node<'_, '_>, name| node.attribute(name).and_then(|it| it.parse::<f64>().ok());
        let bands: Vec<(f64, f64)> = document
            .descendants()
            .filter(|node| node.attribute("class") == Some("overlap"))
            .filter_map(|node| Some((number(&node, "y")?, number(&node, "height")?)))
            .collect();
        for text in texts(document).iter().filter(|text| text.size == SMALL && text.words.starts_with('P')) {
            let is_caption = ["P1:", "P2:", "P1 and P2:"].iter().any(|start| text.words.starts_with(start));
            if is_caption {
                let is_over =
                    bands.iter().any(|(y, height)| *y < text.baseline && text.baseline < y + height);
                assert!(!is_over, "{name}: `{}` stands over a double hold", text.words);
                captions += 1;
            }
        }
    });
    assert!(captions > 100, "{captions} captions");
}
