//! The HTML form: one file that needs nothing else, whatever hosts, keys and locks are called.

use doublehold_pages::figure::{Options, html, svg};
use doublehold_render::picture::view::View;
use roxmltree::Document;

use super::catalogue::every_scenario;
use super::of_catalogue;

fn page(view: &View) -> String {
    html(view, &Options::default()).expect("a page")
}

#[test]
fn a_page_needs_nothing_from_outside() {
    every_scenario(|name, drawn| {
        let page = page(&drawn.view).replace("http://www.w3.org/2000/svg", "");
        for outside in
            ["http:", "https:", "//www", "src=", "@import", "import(", "fetch(", "XMLHttp", "url(\"", "url('"]
        {
            assert!(!page.contains(outside), "{name}: `{outside}`");
        }
        assert_eq!(page.matches("url(").count(), page.matches("url(#").count(), "{name}");
        assert!(page.contains("default-src 'none'"), "its own policy forbids the network");
        assert!(page.len() < 2_000_000, "{name}: {} bytes", page.len());
    });
}

/// The JSON in a page, as a browser finds it: up to the first end of a script.
fn embedded(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once(r#"<script type="application/json" id="view">"#).expect("the view");
    let (json, _) = rest.split_once("</script").expect("its end");
    serde_json::from_str(json).expect("JSON")
}

#[test]
fn a_page_holds_the_whole_view() {
    let view = of_catalogue("suspend-in-flight").view;
    assert_eq!(embedded(&page(&view)), serde_json::to_value(&view).expect("JSON"));
}

/// Names that would end an element, begin one, or be an entity; in all places where a scenario or a lock has a say.
#[test]
fn names_are_text_wherever_they_stand() {
    let evil = r#"</script><script>alert(1)</script><!--<b a="'>&amp;&lt;"#;
    let mut view = of_catalogue("lease-pause").view;
    for name in [&mut view.scenario, &mut view.claim, &mut view.left_out] {
        name.push_str(evil);
    }
    view.hosts.iter_mut().for_each(|host| host.name.push_str(evil));
    view.account.as_mut().expect("something is violated").words.push_str(evil);
    view.lanes.clients.iter_mut().for_each(|lane| lane.label.push_str(evil));
    view.lanes.nodes.iter_mut().for_each(|lane| lane.label.push_str(evil));
    view.lanes.faults.iter_mut().for_each(|fault| fault.words.push_str(evil));
    view.lanes.overlaps.iter_mut().for_each(|overlap| overlap.words.push_str(evil));
    view.story.iter_mut().for_each(|line| line.words.push_str(evil));
    view.events.iter_mut().for_each(|event| event.words.push_str(evil));
    view.evidence.iter_mut().for_each(|evidence| evidence.words.push_str(evil));
    for phrase in view.messages.iter_mut().flat_map(|message| &mut message.phrases) {
        (phrase.words, phrase.short) = (evil.to_owned(), evil.to_owned());
    }
    let plain = of_catalogue("lease-pause").view;
    let tags = |markup: &str| markup.matches("<script").count() + markup.matches("</script").count();
    assert_eq!(tags(&page(&view)), tags(&page(&plain)), "a name began or ended a script");
    assert!(!page(&view).contains("<!--") && !page(&view).contains("<b a="));
    assert_eq!(embedded(&page(&view)), serde_json::to_value(&view).expect("JSON"));
    let figure = svg(&view, &Options::default());
    let document = Document::parse(&figure).expect("well-formed");
    let known = [
        "svg", "style", "defs", "pattern", "marker", "g", "clipPath", "rect", "line", "circle", "path",
        "text", "title",
    ];
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        assert!(known.contains(&node.tag_name().name()), "{node:?}");
    }
    let said: String = document.descendants().filter_map(|node| node.text()).collect();
    assert!(said.contains(evil), "the name is shown as it is");
}

/// Characters that XML cannot hold, and those that act on a terminal, come from scenario files.
#[test]
fn characters_that_no_document_may_hold_are_shown_as_a_mark() {
    let mut view = of_catalogue("quiet").view;
    view.claim = "a\u{0}b\u{1b}c\u{ffff}d\ne".to_owned();
    let figure = svg(&view, &Options::default());
    let document = Document::parse(&figure).expect("well-formed");
    let said: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
    assert!(said.contains(&"a\u{fffd}b\u{fffd}c\u{fffd}d e"), "{said:?}");
}

#[test]
fn without_scripts_a_page_shows_the_figure() {
    let view = of_catalogue("clock-jump").view;
    let page = page(&view);
    let (_, rest) = page.split_once("<noscript>").expect("a page without scripts");
    let (inside, _) = rest.split_once("</noscript>").expect("its end");
    assert!(inside.contains(&svg(&view, &Options::default())));
}
