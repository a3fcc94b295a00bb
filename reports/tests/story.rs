//! Which events are told under a picture that has no room for all of them.

use doublehold::picture::picture;
use doublehold::style::Style;
use doublehold_scenarios::format::Source;
use doublehold_scenarios::{Engine, Keep, SimEngine};

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
    let source = Source { name: "starving".into(), file: "starving.toml".into(), text, ..Source::default() };
    let scenario = source.read().unwrap_or_else(|error| panic!("{error}"));
    let drawn = picture(&SimEngine.run(&scenario, 1, Keep::History), &Style::UNICODE);
    assert!(drawn.contains("lesser events"), "there is more than fits:\n{drawn}");
    assert!(drawn.contains("c3 is refused: taken ("), "{drawn}");
    assert!(drawn.contains("c3 is granted \"stock\""), "{drawn}");
}
