//! Figures of runs: what they hold is what the run had, in the whole catalogue; what they are written in is
//! well-formed, needs nothing from outside, and is the same every time.

mod catalogue;
mod page;

use doublehold_history::TrueNs;
use doublehold_pages::figure::{Options, html, svg};
use doublehold_render::picture::view::{ClaimBar, View, Wait};
use doublehold_scenarios::format::Source;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::report::Report;
use doublehold_scenarios::{Detailed, Engine, Scenario, SimEngine, catalog};

/// A run and what is drawn of it.
struct Drawn {
    report: Report,
    view: View,
    svg: String,
}

fn drawn(scenario: &Scenario) -> Drawn {
    let prepared = SimEngine.prepare(scenario).expect("it can be run");
    let (report, _, detail) = prepared.run_with_detail(scenario.own_seed());
    let view = View::from_run(&report, Some(detail));
    let svg = svg(&view, &Options::default());
    Drawn { report, view, svg }
}

fn of_catalogue(name: &str) -> Drawn {
    drawn(&catalog::load(name, &[]).expect("a scenario of the catalogue"))
}

#[test]
fn the_same_run_is_the_same_picture_also_when_it_is_replayed() {
    for name in ["clock-jump", "failover-before-replication", "quiet"] {
        let (first, second) = (of_catalogue(name), of_catalogue(name));
        let plan = Plan::from_report(&first.report).to_toml().expect("a plan");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.plan");
        std::fs::write(&path, plan).expect("the plan can be written");
        let plan = Plan::read(path.to_str().expect("a path")).expect("the plan can be read");
        let replayed = drawn(&Scenario { seed: Some(plan.seed), ..plan.scenario });
        assert_eq!(first.svg, second.svg, "{name}");
        assert_eq!(first.svg, replayed.svg, "{name}");
        let page = |drawn: &Drawn| html(&drawn.view, &Options::default()).expect("a page");
        assert_eq!(page(&first), page(&second), "{name}");
        assert_eq!(page(&first), page(&replayed), "{name}");
    }
}

#[test]
fn figures_on_one_page_do_not_use_each_others_patterns() {
    let view = of_catalogue("lease-pause").view;
    let named = |id: &str| svg(&view, &Options { id: id.to_owned(), ..Options::default() });
    let (one, other) = (named("1 \"<one"), named("other"));
    let ids = |markup: &str| {
        let document = roxmltree::Document::parse(markup).expect("well-formed");
        let all = document.descendants().filter_map(|node| node.attribute("id").map(str::to_owned));
        all.collect::<std::collections::BTreeSet<String>>()
    };
    assert!(ids(&one).is_disjoint(&ids(&other)) && ids(&one).len() > 5);
    for part in one.split("url(#").skip(1) {
        let name = part.split(')').next().expect("a name");
        assert!(ids(&one).contains(name), "{name} is used and not there");
    }
}

/// Where the row of each label is, in every panel: a label's line is four pixels below the row's middle.
fn rows(document: &roxmltree::Document<'_>, label: &str) -> Vec<f64> {
    let texts = document.descendants().filter(|it| it.has_tag_name("text") && it.text() == Some(label));
    texts.filter_map(|it| it.attribute("y")?.parse::<f64>().ok()).map(|y| y - 4.0).collect()
}

#[test]
fn messages_about_one_of_several_locks_go_between_its_rows() {
    let drawn = of_catalogue("opposite-order");
    let document = roxmltree::Document::parse(&drawn.svg).expect("well-formed");
    let mut seen = std::collections::BTreeMap::new();
    for arrow in document.descendants().filter(|it| it.attribute("class") == Some("message")) {
        let title = arrow.descendants().find_map(|it| it.has_tag_name("title").then(|| it.text())?);
        let title = title.expect("it says what it is");
        let Some(lock) = ["stock", "orders"].into_iter().find(|lock| title.contains(&format!("SET {lock} ")))
        else {
            continue;
        };
        let end = |name: &str| arrow.attribute(name).and_then(|it| it.parse::<f64>().ok()).expect("a number");
        let is_of = |label: &str, y: f64| rows(&document, label).iter().any(|row| (row - y).abs() < 8.1);
        assert!(is_of(&format!("A {lock}"), end("y2")), "{title} ends at {}", end("y2"));
        let from = ["c1", "c2"].into_iter().find(|it| is_of(&format!("{it} {lock}"), end("y1")));
        *seen
            .entry((from.unwrap_or_else(|| panic!("{title} begins at {}", end("y1"))), lock))
            .or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 4, "both clients ask for both: {seen:?}");
}

#[test]
fn a_reply_is_about_the_lock_of_its_request_and_a_write_about_that_of_its_object() {
    let text = r#"
        claim = "Objects need not be called as their locks are"
        lock = { algorithm = "single", name = ["stock", "orders"], ttl = "10s" }
        nodes = { names = ["A"] }
        resource = { object = { item = "stock", stock = "orders" } }
        clients = [{ name = "c1", program = ["acquire stock", "acquire orders", "write item", "write stock"] }]
    "#;
    let source =
        Source { name: "two".into(), file: "two.toml".into(), text: text.into(), ..Source::default() };
    let view = drawn(&source.read().unwrap_or_else(|error| panic!("{error}"))).view;
    let of = |short: &str| {
        let all = view.messages.iter().zip(&view.message_locks);
        let said = all.filter(|(it, _)| it.phrases.iter().any(|phrase| phrase.short.starts_with(short)));
        said.map(|(_, lock)| lock.map(|it| it.0)).collect::<Vec<_>>()
    };
    assert_eq!((of("SET"), of("OK")), (vec![Some(0), Some(1)], vec![Some(0), Some(1)]));
    assert_eq!((of("write item"), of("write stock")), (vec![Some(0)], vec![Some(1)]));
}

#[test]
fn a_known_script_is_told_in_words_and_the_command_to_whoever_points_at_it() {
    let drawn = of_catalogue("late-clean-up");
    let document = roxmltree::Document::parse(&drawn.svg).expect("well-formed");
    let said = |tag| document.descendants().filter(move |it| it.has_tag_name(tag)).filter_map(|it| it.text());
    assert!(said("text").any(|text| text == "delete stock if mine"));
    assert!(!said("text").any(|text| text.starts_with("EVALSHA")), "none of its scripts is unknown");
    assert!(said("title").any(|title| title.starts_with("delete stock if mine (EVALSHA 6fbe84d1")));
}

/// In the catalogue, claims that overlap validly overlap as claims for just as long.
#[test]
fn a_valid_overlap_that_is_shorter_than_that_of_the_claims_has_a_band_of_its_own() {
    let mut view = of_catalogue("clock-jump").view;
    let (claims, valid) = (view.lanes.overlaps[0].clone(), &mut view.lanes.overlaps[1]);
    assert_eq!((valid.from, valid.to), (claims.from, claims.to));
    valid.to = TrueNs(valid.from.0 + 500_000_000);
    valid.words = "c1 and c2 both validly hold: 500 ms".to_owned();
    let figure = svg(&view, &Options::default());
    for (predicate, overlap) in [("P1", &claims), ("P2", &view.lanes.overlaps[1])] {
        let band = format!(
            r#"data-predicate="{predicate}" data-from="{}" data-to="{}""#,
            overlap.from.0, overlap.to.0
        );
        assert!(figure.contains(&band), "{band}");
        // The tooltip of the band, and the label, which is a line lower where both begin.
        let words = format!(">{predicate}: {}", overlap.words);
        assert!(figure.matches(&words).count() >= 2, "{words}");
    }
}

/// Bars that would be drawn on each other are drawn once: a figure is not larger than what can be seen.
#[test]
fn a_run_of_very_many_grants_is_a_figure_of_bounded_size() {
    let mut view = of_catalogue("quiet").view;
    let (claim, wait) = (view.lanes.clients[0].claims[0].clone(), view.lanes.clients[0].waits[0].clone());
    let ended = view.ended.0;
    let spans = |many: u64| {
        (0..many).map(move |turn| (TrueNs(ended * turn / many), TrueNs(ended * (turn + 1) / many)))
    };
    let mut sizes = Vec::new();
    for many in [20_000, 80_000] {
        let lane = &mut view.lanes.clients[0];
        lane.claims = spans(many)
            .map(|(from, to)| ClaimBar { from, to, valid: vec![(from, to)], ..claim.clone() })
            .collect();
        lane.waits = spans(many).map(|(from, to)| Wait { from, to, ..wait.clone() }).collect();
        let figure = svg(&view, &Options::default());
        assert!(
            figure.matches(r#"class="claim""#).count() > 2_000,
            "half a pixel apart, all of them are drawn"
        );
        sizes.push(figure.len());
    }
    assert!(sizes[1] < sizes[0] * 11 / 10 && sizes[1] < 4_000_000, "{sizes:?} bytes");
}
