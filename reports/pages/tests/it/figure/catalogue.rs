//! Every scenario of the catalogue as a figure, held against its report and its text picture.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use doublehold_history::instant;
use doublehold_history::{Evidence, Predicate, TrueNs, claims};
use doublehold_render::picture::picture;
use doublehold_render::style::Style;
use doublehold_scenarios::catalog;
use roxmltree::{Document, Node};

use super::{Drawn, of_catalogue};

static DRAWN: LazyLock<Vec<Drawn>> = LazyLock::new(|| {
    let entries = catalog::entries().expect("the catalogue can be read");
    entries.iter().map(|entry| of_catalogue(&entry.name)).collect()
});

pub(super) fn every_scenario(mut see: impl FnMut(&str, &Drawn)) {
    DRAWN.iter().for_each(|drawn| see(&drawn.report.scenario.name, drawn));
}

/// What the report has, the view has, at the same instants.
#[test]
fn the_view_has_every_claim_key_fault_and_double_hold_of_the_report() {
    every_scenario(|name, Drawn { report, view, .. }| {
        let bars = view.lanes.clients.iter().flat_map(|lane| &lane.claims);
        let bars: BTreeSet<_> = bars.map(|bar| (bar.grant, bar.from, bar.to, bar.valid.clone())).collect();
        let claimed = claims(&report.history).into_iter().map(|claim| {
            let valid: Vec<_> = claim.valid.iter().map(|span| (span.from, span.to)).collect();
            (claim.grant, claim.span.from, claim.span.to, valid)
        });
        assert_eq!(bars, claimed.collect(), "{name}");

        let keys = view.lanes.nodes.iter().flat_map(|lane| lane.keys.iter().map(move |key| (lane.host, key)));
        let keys: BTreeSet<_> =
            keys.map(|(node, key)| (node, key.grant, key.from, key.until.map(|it| it.0))).collect();
        let held = report.keys.iter().filter(|key| key.until.is_none_or(|(until, _)| until > key.from));
        let held = held.map(|key| (key.node, key.grant, key.from, key.until.map(|it| it.0)));
        assert_eq!(keys, held.collect(), "{name}");

        let struck: Vec<_> =
            report.faults.iter().filter_map(|fault| Some((fault.from?, fault.until))).collect();
        let spans: Vec<_> = view.lanes.faults.iter().map(|fault| (fault.from, fault.until)).collect();
        assert_eq!(spans, struck, "{name}");

        for predicate in [Predicate::P1, Predicate::P2] {
            let evidence = report.verdicts.get(predicate).evidence().iter();
            let overlaps: Vec<_> = evidence
                .filter_map(|it| {
                    if let Evidence::Overlap(it) = it { Some((it.grants, it.from, it.to)) } else { None }
                })
                .collect();
            let spans = view.lanes.overlaps.iter().filter(|span| span.predicate == predicate);
            let spans: Vec<_> = spans.map(|span| (span.grants, span.from, span.to)).collect();
            assert_eq!(spans, overlaps, "{name} {predicate}");
        }
    });
}

/// The sentences of the text picture are those of the view, in the same order, at the same instants.
#[test]
fn the_text_picture_and_the_view_say_the_same() {
    every_scenario(|name, Drawn { report, view, .. }| {
        let text = picture(report, &Style { width: Style::MAX_WIDTH, ..Style::UNICODE });
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut rest = text.as_str();
        if let Some(account) = &view.account {
            rest = after(rest, &format!("{}: {}", account.label(), account.words), name);
        }
        for line in &view.story {
            rest = after(rest, &format!("{} {}", instant(line.at), line.words), name);
        }
        for predicate in [Predicate::P1, Predicate::P2] {
            let drawn = picture(report, &Style::ASCII)
                .lines()
                .any(|line| line.trim_start().starts_with(predicate.as_str()));
            let overlaps = view.lanes.overlaps.iter().any(|it| it.predicate == predicate);
            assert_eq!(drawn, overlaps, "{name}: a row of {predicate}");
        }
    });
}

/// What follows a text in another.
fn after<'t>(text: &'t str, wanted: &str, name: &str) -> &'t str {
    let wanted = wanted.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, rest) = text.split_once(&wanted).unwrap_or_else(|| panic!("{name}: `{wanted}` is not in {text}"));
    rest
}

#[test]
fn the_figure_has_everything_that_the_view_has() {
    every_scenario(|name, Drawn { view, svg, .. }| {
        let document = Document::parse(svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        let spans = |class: &str| spans_of(&document, class);
        for lane in &view.lanes.clients {
            for claim in &lane.claims {
                assert!(spans("claim").contains(&(claim.from, claim.to)), "{name}: {claim:?}");
                assert!(claim.valid.iter().all(|valid| spans("valid").contains(valid)), "{name}: {claim:?}");
            }
            for at in lane.writes.iter().filter_map(|write| write.arrived) {
                assert!(
                    instants_of(&document, "write", "data-at").contains(&at),
                    "{name}: a write at {at:?}"
                );
            }
        }
        for key in view.lanes.nodes.iter().flat_map(|lane| &lane.keys) {
            let until = key.until.map_or(view.ended, |(at, _)| at);
            assert!(spans("key").contains(&(key.from, until)), "{name}: {key:?}");
        }
        for fault in &view.lanes.faults {
            assert!(instants_of(&document, "fault", "data-from").contains(&fault.from), "{name}: {fault:?}");
        }
        for overlap in &view.lanes.overlaps {
            let marked = nodes(&document, "overlap").any(|node| {
                let of = node.attribute("data-predicate").unwrap_or_default();
                of.split(' ').any(|it| it == overlap.predicate.as_str())
                    && span(&node) == (overlap.from, overlap.to)
            });
            assert!(marked, "{name}: {overlap:?}");
        }
        let said = texts(&document).join(" ");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in view
            .story
            .iter()
            .map(|line| &line.words)
            .chain(view.account.as_ref().map(|account| &account.words))
        {
            assert!(said.contains(words.as_str()), "{name}: `{words}` is not in {said}");
        }
    });
}

/// Each piece of evidence leads to events, the events are those of the clients that it names, and their time is marked.
#[test]
fn evidence_leads_to_the_events_that_prove_it() {
    every_scenario(|name, Drawn { report, view, .. }| {
        let pieces: usize =
            report.verdicts.iter().map(|(_, verdict)| verdict.evidence().len().min(200)).sum();
        assert_eq!(view.evidence.len(), pieces, "{name}");
        for evidence in &view.evidence {
            assert!(!evidence.events.is_empty(), "{name}: {evidence:?}");
            assert!(evidence.from <= evidence.to && evidence.to <= view.ended, "{name}: {evidence:?}");
            for place in &evidence.events {
                let event = &view.events[*place];
                assert!(event.host.is_some_and(|host| evidence.hosts.contains(&host)), "{name}: {event:?}");
            }
            let at = |at: TrueNs| evidence.events.iter().any(|place| view.events[*place].at == at);
            if matches!(evidence.predicate, Predicate::P1 | Predicate::P2) {
                assert!(at(evidence.from), "{name}: no event begins {evidence:?}");
            }
        }
    });
}

/// Nothing is drawn beyond the paper; what moves out of a panel is cut off at its edge.
#[test]
fn everything_is_inside_the_figure() {
    every_scenario(|name, Drawn { svg, .. }| {
        let document = Document::parse(svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        let view_box = document.root_element().attribute("viewBox").expect("a viewBox");
        let size: Vec<f64> = view_box.split(' ').map(|number| number.parse().expect("a number")).collect();
        for node in document.descendants().filter(Node::is_element) {
            let is_in = |tag| node.ancestors().any(|it| it.has_tag_name(tag));
            let clipped = node.ancestors().any(|it| it.has_attribute("clip-path"));
            if is_in("defs") || is_in("pattern") {
                continue;
            }
            for (x, y) in corners(&node) {
                assert!((0.0..=size[3]).contains(&y), "{name}: {node:?} at {x} {y} of {view_box}");
                assert!(clipped || (0.0..=size[2]).contains(&x), "{name}: {node:?} at {x} {y} of {view_box}");
            }
        }
    });
}

fn nodes<'d>(document: &'d Document<'_>, class: &str) -> impl Iterator<Item = Node<'d, 'd>> {
    document.descendants().filter(move |node| node.attribute("class") == Some(class))
}

fn number(node: &Node<'_, '_>, name: &str) -> Option<u64> {
    node.attribute(name)?.parse().ok()
}

fn span(node: &Node<'_, '_>) -> (TrueNs, TrueNs) {
    let at = |name| TrueNs(number(node, name).unwrap_or(u64::MAX));
    (at("data-from"), at("data-to"))
}

fn spans_of(document: &Document<'_>, class: &str) -> BTreeSet<(TrueNs, TrueNs)> {
    nodes(document, class).map(|node| span(&node)).collect()
}

fn instants_of(document: &Document<'_>, class: &str, name: &str) -> BTreeSet<TrueNs> {
    nodes(document, class).filter_map(|node| number(&node, name)).map(TrueNs).collect()
}

fn texts<'d>(document: &'d Document<'_>) -> Vec<&'d str> {
    document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect()
}

/// Where an element is: two corners of a rectangle, the ends of a line, the begin of a text.
fn corners(node: &Node<'_, '_>) -> Vec<(f64, f64)> {
    let at = |name: &str| node.attribute(name).map_or(0.0, |it| it.parse::<f64>().expect("a number"));
    match node.tag_name().name() {
        "rect" => vec![(at("x"), at("y")), (at("x") + at("width"), at("y") + at("height"))],
        "line" => vec![(at("x1"), at("y1")), (at("x2"), at("y2"))],
        "circle" => vec![(at("cx") - at("r"), at("cy") - at("r")), (at("cx") + at("r"), at("cy") + at("r"))],
        "text" => vec![(at("x"), at("y"))],
        _ => Vec::new(),
    }
}
