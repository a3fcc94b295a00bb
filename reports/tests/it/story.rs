//! Who and what a picture shows where there is much of it: many clients, many links, more events than fit.

use doublehold_history::{EventKind, Evidence, Predicate};
use doublehold_render::picture::{account, picture};
use doublehold_render::style::Style;
use doublehold_scenarios::format::Source;
use doublehold_scenarios::{Engine, Report, SimEngine, catalog};

/// The picture of a scenario's run, given as a file's text.
fn drawn(text: &str) -> String {
    picture(&run(text), &Style::UNICODE)
}

fn run(text: &str) -> Report {
    let source =
        Source { name: "mine".into(), file: "mine.toml".into(), text: text.into(), ..Source::default() };
    let scenario = source.read().unwrap_or_else(|error| panic!("{error}"));
    SimEngine.run(&scenario, 1)
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

/// Who gives up has not done what comes after, and the rounds of its program are over at once.
#[test]
fn the_steps_that_a_refused_round_leaves_out_are_told() {
    let drawn = drawn(
        "claim = 'two ticks, of which the second asks for another lock as well'\n\
         lock = { algorithm = 'single', ttl = '50s', name = ['stock', 'orders'] }\n\
         nodes = { names = ['A'] }\n\
         clients = [\n\
           { name = 'c1', program = ['acquire stock', 'work 20s', 'release stock'] },\n\
           { name = 'c2', start = '1s', rounds = 2, program = ['acquire orders', 'read orders', 'try stock', \
             'read stock', 'work 1s..2s', 'release stock', 'write orders', 'release orders', 'work 40s'] },\n\
           { name = 'c3', start = '2s', program = ['try stock', 'release stock'] },\n\
           { name = 'c4', start = '3s', program = ['try stock', 'work 1s', 'work 2s', 'work 3s', 'work 4s', \
             'work 5s', 'work 6s', 'work 7s', 'release stock'] },\n\
         ]\n",
    );
    let flat = drawn.split_whitespace().collect::<Vec<_>>().join(" ");
    let left =
        "c2 gives up asking for \"stock\", and leaves out: read stock, work 1s..2s, write orders, work 40s";
    assert_eq!(flat.matches(left).count(), 2, "{drawn}");
    assert!(flat.contains("c2 calls release of \"orders\""), "what it has it gives back:\n{drawn}");
    let nothing = drawn.lines().find(|line| line.contains("c3 gives up")).expect("it is refused");
    assert!(
        nothing.ends_with("c3 gives up asking for \"stock\""),
        "there is nothing to leave out: {nothing}"
    );
    let many = "leaves out: work 1s, work 2s, work 3s, work 4s, work 5s, work 6s, and 1 more";
    assert!(flat.contains(many), "{drawn}");
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

/// The list of a catalogue run, with its spaces and line ends as one.
fn told(name: &str) -> String {
    let scenario = catalog::load(name, &[]).expect("it is in the catalogue");
    picture(&SimEngine.run(&scenario, 1), &Style::UNICODE).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_refusal_that_comes_after_the_lease_says_how_much_time_had_passed_and_how_much_was_allowed() {
    for (name, figures) in [
        ("gc-in-flight", "12.002 s had passed on its monotonic clock, 9.898 s were allowed"),
        ("suspend-in-flight/boot-clock", "12.607 s had passed on its boot clock, 9.898 s were allowed"),
    ] {
        let text = told(name);
        assert!(text.contains(&format!("c1 is refused: granted too late to be valid; {figures}")), "{text}");
        assert!(!text.contains("had passed since it asked"), "said once: {text}");
    }
    let nodes_say_no = told("suspend-in-flight/node-timeouts");
    assert!(nodes_say_no.contains(" had passed since it asked, and the lease is 10 s"), "{nodes_say_no}");
}

/// Faults that change nothing, more than any list has room for, and then two double holds.
#[test]
fn grants_that_decide_a_verdict_are_shown_before_all_others() {
    let step = |ms: usize| format!("{{ kind = 'clock-step', host = 'A', by = '+1ms', at = '{ms}ms' }}");
    let steps: Vec<String> = (1..=30).map(step).collect();
    let client = |name: &str, start: &str| {
        format!(
            "{{ name = '{name}', program = ['acquire', 'read', 'work 3s', 'write', 'release'], start = '{start}' }}"
        )
    };
    let text = format!(
        "claim = 'everybody overruns'\n\
         lock = {{ algorithm = 'single', ttl = '2s' }}\n\
         nodes = {{ names = ['A'] }}\n\
         clients = [{}, {}, {}]\n\
         faults = [{}]\n",
        client("c1", "1s"),
        client("c2", "2s"),
        client("c3", "2s"),
        steps.join(", "),
    );
    let report = run(&text);
    let drawn = picture(&report, &Style::UNICODE);
    let list = drawn.rsplit("\n\n").next().expect("a list");
    let mut decided = 0;
    for (_, verdict) in report.verdicts.iter() {
        let Some(Evidence::Overlap(first)) = verdict.evidence().first() else { continue };
        for grant in first.grants {
            let client = report.history.events().iter().find_map(|event| match event.what {
                EventKind::Granted { client, grant: it, .. } if it == grant => Some(client),
                _ => None,
            });
            let client = report.history.header().client(client.expect("it was granted"));
            assert!(
                list.contains(&format!("{client} is granted \"stock\"")),
                "{client} is missing:\n{drawn}"
            );
            decided += 1;
        }
    }
    assert_eq!(decided, 4, "P1 and P2 are violated");
    let last = list.trim_end().lines().last().expect("a last line");
    assert!(last.contains(" more events"), "what is left out is not called lesser:\n{drawn}");
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

/// A pause of c1 in each of its 12 rounds, and a step of A's clock at every second SET.
const EVERY_TIME: &str = "\
    claim = 'faults strike every time'
    lock = { algorithm = 'single', ttl = '10s' }
    nodes = { names = ['A'] }
    clients = [{ name = 'c1', program = ['acquire', 'read', 'work 1s', 'write', 'release'], rounds = 12 }]
    faults = [
      { kind = 'pause', host = 'c1', for = '300ms', at = \"c1's read\", each = true },
      { kind = 'clock-step', host = 'A', by = '+1ms', at = 'the 2nd SET executed for c1', each = true },
      { kind = 'clock-step', host = 'A', by = '-1ms', at = 'SET executed for c1', each = true },
    ]
";

#[test]
fn a_client_that_restarted_before_it_took_the_key_did_not_leave_it_behind() {
    // One client waits for longer than it may, for the key of another that crashed before it took the key or after it.
    for (crashed_at, down_for, why) in
        [("1ms", "0s", None), ("500ms", "1m", Some("c1's process is gone, and its key stays on A"))]
    {
        let report = run(&format!(
            "claim = 'a key stays'\n\
             lock = {{ algorithm = 'single', ttl = '100s' }}\n\
             nodes = {{ names = ['A'] }}\n\
             clients = [\n\
               {{ name = 'c1', program = ['acquire', 'work 60s', 'release'] }},\n\
               {{ name = 'c2', program = ['work 1s', 'acquire', 'release'], give_up_after = '50s' }},\n\
             ]\n\
             faults = [{{ kind = 'crash', host = 'c1', at = '{crashed_at}', for = '{down_for}' }}]\n\
             limits = {{ time = '5m', obtain_within = '5s' }}\n"
        ));
        assert_eq!(report.verdicts.get(Predicate::LV).as_str(), "violated", "{crashed_at}");
        assert_eq!(account(&report).map(|it| it.words).as_deref(), why, "{crashed_at}");
    }
}

#[test]
fn a_fault_that_strikes_every_time_is_one_event_and_has_one_label() {
    let drawn = drawn(EVERY_TIME);
    let text = drawn.split_whitespace().collect::<Vec<_>>().join(" ");
    for says in [
        "c1 pauses for 300 ms, at c1's read, every time (12 times, until ",
        "A has its wall clock stepped by +1 ms, at every 2nd SET executed for c1 (6 times, until ",
        "A has its wall clock stepped by -1 ms, at every SET executed for c1 (12 times, until ",
    ] {
        assert_eq!(text.matches(says).count(), 1, "{says}:\n{drawn}");
    }
    assert_eq!(drawn.matches("pauses for").count(), 1, "{drawn}");
    assert_eq!((drawn.matches("paused").count(), drawn.matches("▲clock step").count()), (1, 2), "{drawn}");
}

#[test]
fn of_a_fault_that_strikes_every_time_the_last_before_a_violation_is_told_too() {
    let drawn = drawn(
        "claim = 'the pauses add up'\n\
         lock = { algorithm = 'single', ttl = '5s' }\n\
         nodes = { names = ['A'] }\n\
         clients = [\n\
           { name = 'c1', program = ['acquire', 'read', 'work 2s', 'write', 'release'], rounds = 5 },\n\
           { name = 'c2', program = ['acquire', 'read', 'work 1s', 'write', 'release'], start = '13s' },\n\
         ]\n\
         faults = [{ kind = 'pause', host = 'c1', for = '4s', at = \"c1's read\", each = true }]\n",
    );
    let text = drawn.split_whitespace().collect::<Vec<_>>().join(" ");
    let (again, double) = (text.find("c1 pauses for 4 s, again"), text.find(": double hold"));
    assert!(again.is_some() && again < double, "{drawn}");
    assert_eq!(drawn.matches("c1 pauses for 4 s").count(), 2, "{drawn}");
}

#[test]
fn several_who_still_hold_are_told_as_several() {
    let client = "['acquire', 'work 3s', 'release']";
    let drawn = drawn(&format!(
        "claim = 'everybody takes it'\n\
         lock = {{ algorithm = 'set-ex', ttl = '10s' }}\n\
         nodes = {{ names = ['A'] }}\n\
         clients = [\n\
           {{ name = 'c1', program = {client} }}, {{ name = 'c2', program = {client}, start = '1s' }},\n\
           {{ name = 'c3', program = {client}, start = '2s' }},\n\
         ]\n",
    ));
    let text = drawn.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("while c1 still believes in its own grant: double hold"), "{drawn}");
    assert!(text.contains("while c1 and c2 still believe in their own grants: double hold"), "{drawn}");
}
