//! Who and what a picture shows where there is much of it: many clients, many links, more events than fit.

use doublehold::picture::picture;
use doublehold::style::Style;
use doublehold_scenarios::format::Source;
use doublehold_scenarios::{Engine, Keep, SimEngine};

/// The picture of a scenario's run, given as a file's text.
fn drawn(text: &str) -> String {
    let source =
        Source { name: "mine".into(), file: "mine.toml".into(), text: text.into(), ..Source::default() };
    let scenario = source.read().unwrap_or_else(|error| panic!("{error}"));
    picture(&SimEngine.run(&scenario, 1, Keep::History), &Style::UNICODE)
}

/// What is drawn in the lane with this label.
fn lane<'a>(drawn: &'a str, label: &str) -> &'a str {
    drawn
        .lines()
        .find_map(|line| line.strip_prefix(&format!("  {label} ")))
        .unwrap_or_else(|| panic!("{label}:\n{drawn}"))
}

#[test]
fn clients_whose_names_are_alike_are_counted_and_the_legend_says_who_is_who() {
    let drawn = drawn(
        "claim = 'names that begin alike, and end alike'\n\
         lock = { algorithm = 'single', ttl = '10s' }\n\
         nodes = { names = ['A'] }\n\
         clients = [\n\
           { name = 'payment-worker-anna', program = ['acquire', 'work 1s', 'release'] },\n\
           { name = 'payment-worker-alina', program = ['acquire', 'work 1s', 'release'] },\n\
         ]\n",
    );
    let keys: String = lane(&drawn, "A").chars().filter(|it| !it.is_whitespace()).collect();
    assert!(keys.contains("11112222") || keys.contains("22221111"), "{drawn}");
    assert!(
        drawn.contains(
            "1 the node holds payment-worker-anna's key   2 the node holds payment-worker-alina's key"
        ),
        "{drawn}"
    );
    assert!(
        lane(&drawn, "1 payment-wo").contains('█') && lane(&drawn, "2 payment-wo").contains('█'),
        "{drawn}"
    );
}

#[test]
fn a_fault_of_links_is_drawn_once_however_many_hosts_it_strikes() {
    let drawn = drawn(
        "claim = 'cuts'\n\
         lock = { algorithm = 'redlock', ttl = '10s' }\n\
         nodes = { names = ['A', 'B', 'C'] }\n\
         clients = [{ name = 'c1', program = ['acquire', 'work 6s', 'release'] }]\n\
         faults = [\n\
           { kind = 'cut', from = 'c1', to = ['A', 'B'], for = '1s', at = '1s' },\n\
           { kind = 'cut', from = 'C', to = 'A', for = '1s', at = '1500ms' },\n\
           { kind = 'cut', from = 'B', to = 'A', for = '1s', at = '4s' },\n\
           { kind = 'slow', from = 'B', to = 'A', by = '1ms', for = '1s', at = '4s' },\n\
         ]\n",
    );
    assert_eq!(drawn.matches("links cut").count(), 1, "two that overlap are one shade:\n{drawn}");
    assert!(lane(&drawn, "links").contains("link cut"), "and a third is another:\n{drawn}");
    assert_eq!(drawn.matches("link slow").count(), 1, "{drawn}");
    let shaded =
        drawn.lines().take_while(|line| !line.starts_with("  time")).filter(|line| line.contains('┄'));
    assert_eq!(shaded.count(), 2, "a row for each kind:\n{drawn}");
}

#[test]
fn a_client_that_waited_too_long_is_told_of_among_many_that_did_not() {
    let worker = |name: &str| {
        format!(
            "{{ name = '{name}', program = ['acquire', 'work 1s', 'release'], rounds = 20, retry = '10ms' }}"
        )
    };
    let text = format!(
        "claim = 'a client that never gets a turn'\n\
         lock = {{ algorithm = 'single', ttl = '10s' }}\n\
         nodes = {{ names = ['A'] }}\n\
         clients = [{}, {}, {{ name = 'c3', program = ['acquire', 'release'], retry = '9s' }}]\n\
         limits = {{ obtain_within = '10s' }}\n",
        worker("c1"),
        worker("c2"),
    );
    let drawn = drawn(&text);
    assert!(drawn.contains("lesser events"), "there is more than fits:\n{drawn}");
    assert!(drawn.contains("c3 is refused: taken ("), "{drawn}");
    assert!(drawn.contains("c3 is granted \"stock\""), "{drawn}");
}
