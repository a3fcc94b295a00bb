//! Words that leave a run as it is: what a scenario says of itself, what it expects, its variants, and names.

use doublehold_history::Predicate;
use doublehold_scenarios::Seed;
use doublehold_scenarios::format::Source;
use doublehold_scenarios::report::Judgement;
use doublehold_scenarios::scenario::Scenario;

use crate::keyword_effects::row::{ONE, Row, TWO, read, run};
use crate::keyword_effects::seen::Seen;

/// A word, and whether it does what it says.
pub(crate) type Word = (&'static str, fn() -> bool);

pub(crate) const WORDS: &[Word] = &[
    ("id", || said("id", "SHOP-12").id == "SHOP-12"),
    ("seed", || said("seed", "'788'").own_seed() == Seed(788) && said("id", "x").own_seed() == Seed(1)),
    ("claim", || said("claim", "a lock can be taken").claim == "a lock can be taken"),
    ("source", || said("source", "a page").source == "a page"),
    ("story", || said("story", "what happens").story == "what happens"),
    ("expect.P1=holds", || expected(Predicate::P1, "holds")),
    ("expect.P1=violated", || expected(Predicate::P1, "violated")),
    ("expect.P1=not-seen", || unseen(Predicate::P1)),
    ("expect.P2=holds", || expected(Predicate::P2, "holds")),
    ("expect.P2=violated", || expected(Predicate::P2, "violated")),
    ("expect.P2=not-seen", || unseen(Predicate::P2)),
    ("expect.P3=holds", || expected(Predicate::P3, "holds")),
    ("expect.P3=violated", || expected(Predicate::P3, "violated")),
    ("expect.P3=not-seen", || unseen(Predicate::P3)),
    ("expect.P4=holds", || expected(Predicate::P4, "holds")),
    ("expect.P4=violated", || expected(Predicate::P4, "violated")),
    ("expect.P4=not-seen", || unseen(Predicate::P4)),
    ("expect.WR=holds", || expected(Predicate::WR, "holds")),
    ("expect.WR=violated", || expected(Predicate::WR, "violated")),
    ("expect.LV=holds", || expected(Predicate::LV, "holds")),
    ("expect.LV=violated", || expected(Predicate::LV, "violated")),
    ("limits.obtain_within", bounded),
    ("limits.obtain_free_within", bounded_while_free),
    ("limits.after_faults", counted_after_faults),
    ("resource.object", || header(&[("resource.object", "shelf")]).2 == ["shelf"]),
    ("clients.name", || header(&[("clients.0.name", "ada")]).0 == ["ada"]),
    ("lock.name", || header(&[("lock.name", "door")]).1 == ["door"] && header(&[]).1 == ["stock"]),
    ("faults.optional", optional),
    ("variants.name", || variant("again").name == "wiring/again"),
    ("variants.set", || {
        variant("again").lock.ttl.as_secs() == 20 && variant("other").lock.ttl.as_secs() == 10
    }),
    ("variants.id", || variant("again").id == "X1" && variant("other").id.is_empty()),
    ("variants.claim", || variant("again").claim == "another claim"),
    ("variants.source", || variant("again").source == "another source"),
    ("variants.story", || variant("again").story == "another story"),
    ("variants.expect", || variant("again").expect.len() == 2 && variant("other").expect.len() == 1),
];

/// Rows of this topic: none, since a row changes the run.
pub(crate) fn rows() -> Vec<Row> {
    Vec::new()
}

#[test]
fn every_word_about_a_run_does_what_it_says() {
    let wrong: Vec<&str> = WORDS.iter().filter(|(_, shows)| !shows()).map(|(word, _)| *word).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn said(key: &str, text: &str) -> Scenario {
    read(ONE, &[(key, text)]).expect("a text is a text")
}

/// Nothing goes wrong in one of them, everything in the other.
fn judged(predicate: Predicate, expected: &str, calm: bool) -> Judgement {
    let key = format!("expect.{predicate}");
    let mut sets = vec![(key.as_str(), expected), ("limits.obtain_within", "30s")];
    if !calm {
        sets.extend([
            ("lock.elapsed_check", "false"),
            ("lock.release", "plain-delete"),
            ("limits.obtain_within", "1ms"),
            ("clients.0.program", "['acquire', 'read', 'work 15s', 'write', 'release']"),
            ("clients.1.program", "['acquire', 'read', 'work 9s', 'write', 'release']"),
        ]);
    }
    run(TWO, &sets, 1).report.judgement()
}

fn expected(predicate: Predicate, word: &str) -> bool {
    let as_expected = |calm| judged(predicate, word, calm) == Judgement::AsExpected;
    let contradicted = |calm| judged(predicate, word, calm) == Judgement::Contradicted;
    let calm = word == "holds";
    as_expected(calm) && contradicted(!calm)
}

/// Nobody asks for the lock in one of them, and in the other it is granted, and a row is read and written.
fn unseen(predicate: Predicate) -> bool {
    let key = format!("expect.{predicate}");
    let judged = |program: &str| {
        let sets = [(key.as_str(), "not-seen"), ("clients.0.program", program)];
        run(ONE, &sets, 1).report.judgement()
    };
    judged("['work 1s']") == Judgement::AsExpected
        && judged("['acquire', 'read', 'write', 'release']") == Judgement::Contradicted
}

fn liveness(sets: &[(&str, &str)]) -> &'static str {
    run(TWO, sets, 1).verdict(Predicate::LV)
}

/// LV says nothing without a bound. c2 waits for a second, while c1 holds the lock.
fn bounded() -> bool {
    liveness(&[]) == "inconclusive"
        && liveness(&[("limits.obtain_within", "2s")]) == "holds"
        && liveness(&[("limits.obtain_within", "500ms")]) == "violated"
}

/// When c1 has released the lock, c2 asks within 100 ms; before that this bound does not run.
fn bounded_while_free() -> bool {
    liveness(&[("limits.obtain_free_within", "500ms")]) == "holds"
        && liveness(&[("limits.obtain_free_within", "1ms")]) == "violated"
}

/// c1 pauses for 3 s while it holds, so c2 waits for longer than 2 s; once that is over it obtains at once.
fn counted_after_faults() -> bool {
    let pause = ("faults", "[{ kind = 'pause', host = 'c1', for = '3s', at = \"c1's grant\" }]");
    let bound = ("limits.obtain_within", "2s");
    liveness(&[pause, bound]) == "violated"
        && liveness(&[pause, bound, ("limits.after_faults", "true")]) == "holds"
        && liveness(&[pause, ("limits.obtain_within", "500ms"), ("limits.after_faults", "true")])
            == "violated"
}

/// What a history is headed with: clients, locks, objects.
fn header(sets: &[(&str, &str)]) -> (Vec<String>, Vec<String>, Vec<String>) {
    let Seen { report, .. } = run(ONE, sets, 1);
    let header = report.history.header();
    (header.clients.clone(), header.locks.clone(), header.objects.clone())
}

/// A fault that never struck leaves nothing shown, unless it is optional.
fn optional() -> bool {
    let never = "[{ kind = 'pause', host = 'c1', for = '1s', at = \"c1's 100th grant\" }]";
    let holds = |sets: &[(&str, &str)]| run(ONE, sets, 1).verdict(Predicate::P1);
    holds(&[("faults", never)]) == "inconclusive"
        && holds(&[("faults", never), ("faults.0.optional", "true")]) == "holds"
        && holds(&[("faults", never), ("faults.0.optional", "false")]) == "inconclusive"
}

fn variant(name: &str) -> Scenario {
    let variants = r#"
        expect = { P1 = "holds" }
        [[variants]]
        name = "again"
        id = "X1"
        claim = "another claim"
        source = "another source"
        story = "another story"
        expect = { P2 = "holds" }
        set = { "lock.ttl" = "20s" }
        [[variants]]
        name = "other"
    "#;
    let source = Source {
        name: format!("wiring/{name}"),
        file: "wiring".into(),
        text: format!("{ONE}{variants}"),
        variant: Some(name.into()),
        ..Source::default()
    };
    source.read().unwrap_or_else(|error| panic!("{error}"))
}
