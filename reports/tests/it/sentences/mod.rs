//! Every sentence under every picture of the catalogue is so, and so are the lanes above it: each sentence is of a kind
//! that has a rule, and the rule finds in history, keys, faults and trace what the sentence says. A new kind needs a
//! rule first.

mod causes;
mod evidence;
mod failovers;
mod faults;
mod grants;
mod lanes;
mod rules;
mod seen;
mod several;
mod touches;
mod waits;

use std::collections::BTreeSet;

use doublehold_render::picture::{account, sentences};
use doublehold_scenarios::format::Source;
use doublehold_scenarios::scenario::Scenario;
use doublehold_scenarios::{Engine, Prepared, SimEngine, catalog};
use regex_lite::Regex;
use rules::RULES;
use seen::Seen;
use several::{of_one, plain};

const SEEDS: [u64; 3] = [1, 2, 7];

/// Scenarios for the kinds of sentences that no entry of the catalogue has.
const OTHERS: &[(&str, &str)] = &[
    (
        "everything is mended",
        r#"
        claim = "faults end, also while another of their kind goes on"
        lock = { algorithm = "single", ttl = "20s" }
        nodes = { names = ["A"] }
        clients = [
            { name = "c1", program = ["acquire", "work 6s", "release"] },
            { name = "c2", program = ["acquire", "work 1s", "release"], start = "8s" },
        ]
        faults = [
            { kind = "clock-step", host = "A", by = "+1s", for = "2s", at = "1s" },
            { kind = "clock-drift", host = "c1", by = "1/100", for = "1s", at = "1s" },
            { kind = "clock-freeze", host = "c2", clock = "wall", for = "1s", at = "1s" },
            { kind = "slow", from = "c1", to = "A", by = "10ms", for = "1s", at = "1s" },
            { kind = "loss", from = "c2", to = "A", probability = "1/3", for = "1500ms", at = "1s" },
            { kind = "cut", from = "c2", to = "A", for = "1s", at = "2s" },
            { kind = "pause", host = "c2", for = "2s", at = "4s" },
            { kind = "pause", host = "c2", for = "2s", at = "5s" },
        ]
        "#,
    ),
    (
        "clients come and go",
        r#"
        claim = "a client dies with its claim, and another without one; one runs again, and one gives up"
        lock = { algorithm = "single", ttl = "5s" }
        nodes = { names = ["A"] }
        clients = [
            { name = "c1", program = ["acquire", "work 2s", "release"] },
            { name = "c2", program = ["try", "work 1s", "release"], start = "c1's grant" },
            { name = "c3", program = ["acquire", "work 1s", "release"], start = "c1's grant" },
        ]
        faults = [
            { kind = "crash", host = "c1", for = "1s", at = "1s after c1's grant" },
            { kind = "crash", host = "c3", for = "1s", at = "c3's refusal" },
            { kind = "crash", host = "c3", for = "1s", at = "c3's release" },
            { kind = "crash", host = "c3", at = "500ms after c3's grant after c3's boot after c3's release" },
        ]
        "#,
    ),
    (
        "a lease is extended in time, and once too late",
        r#"
        claim = "an extension succeeds or fails"
        lock = { algorithm = "single", ttl = "5s", elapsed_check = true }
        nodes = { names = ["A"] }
        clients = [{ name = "c1", program = ["acquire", "work 3s", "extend", "work 3s", "extend", "release"] }]
        faults = [{ kind = "pause", host = "c1", for = "9s", at = "c1's extend" }]
        "#,
    ),
    (
        "a yes that comes too late is no vote",
        r#"
        claim = "B has the key, and did not vote: its replies take longer than the client waits"
        lock = { algorithm = "redlock", ttl = "10s", on_timeout = "keep" }
        nodes = { names = ["A", "B", "C", "D", "E"] }
        clients = [{ name = "c1", program = ["acquire", "work 1s", "release"], rounds = 2 }]
        faults = [{ kind = "slow", from = "B", to = "c1", by = "200ms", at = "c1's 2nd acquire" }]
        "#,
    ),
    (
        "a release that comes late deletes the next key",
        r#"
        claim = "c1's DEL arrives when c2 holds, and c3 enters"
        lock = { algorithm = "single", ttl = "2s", request_timeout = "500ms", release = "plain-delete" }
        nodes = { names = ["A"] }
        clients = [
            { name = "c1", program = ["acquire", "work 1s", "release"] },
            { name = "c2", program = ["acquire", "work 1800ms", "release"], start = "2100ms" },
            { name = "c3", program = ["acquire", "work 1s", "release"], start = "2200ms", retry = "20ms" },
        ]
        faults = [{ kind = "packet-delay", from = "c1", to = "A", by = "2s", at = "c1's release" }]
        "#,
    ),
    (
        "a release that comes late deletes the next key, and nobody enters",
        r#"
        claim = "c1's DEL arrives when c2 holds"
        lock = { algorithm = "single", ttl = "2s", request_timeout = "500ms", release = "plain-delete" }
        nodes = { names = ["A"] }
        clients = [
            { name = "c1", program = ["acquire", "work 1s", "release"] },
            { name = "c2", program = ["acquire", "work 1800ms", "release"], start = "2100ms" },
        ]
        faults = [{ kind = "packet-delay", from = "c1", to = "A", by = "2s", at = "c1's release" }]
        "#,
    ),
    (
        "cleaning up deletes another's key",
        r#"
        claim = "c1 gives up an attempt, and its DEL frees c2's lock"
        lock = { algorithm = "single", ttl = "20s", request_timeout = "500ms", release = "plain-delete" }
        nodes = { names = ["A"] }
        clients = [
            { name = "c1", program = ["try", "release"], rounds = 2, start = "c2's grant" },
            { name = "c2", program = ["acquire", "work 4s", "release"] },
        ]
        faults = [{ kind = "packet-delay", from = "A", to = "c1", by = "2s", at = "c1's 2nd acquire" }]
        "#,
    ),
    (
        "an attempt's clean-up deletes another's keys, before its call is granted the lock",
        r#"
        claim = "c2 cleans up after its first attempt, and its second one succeeds"
        lock = { algorithm = "redlock", ttl = "4s", release = "plain-delete", tries = 5 }
        nodes = { names = ["A", "B", "C"] }
        clients = [
            { name = "c1", program = ["acquire", "work 6s", "release"] },
            { name = "c2", program = ["acquire", "work 1s", "release"], start = "c1's grant" },
        ]
        "#,
    ),
    (
        "a write outlives its client",
        r#"
        claim = "c1 dies with its claim, and its write arrives all the same"
        lock = { algorithm = "single", ttl = "5s" }
        nodes = { names = ["A"] }
        clients = [
            { name = "c1", program = ["acquire", "read", "write", "release"] },
            { name = "c2", program = ["acquire", "read", "work 1s", "write", "release"], start = "c1's grant" },
        ]
        faults = [
            { kind = "packet-delay", from = "c1", to = "resource", by = "30s", at = "c1's write" },
            { kind = "crash", host = "c1", at = "1s after c1's write" },
        ]
        "#,
    ),
    (
        "two clocks jump by different amounts",
        r#"
        claim = "C and D forget c1's key for steps of their own"
        lock = { algorithm = "redlock", ttl = "10s" }
        nodes = { names = ["A", "B", "C", "D", "E"] }
        clients = [
            { name = "c1", program = ["acquire", "work 5s", "release"] },
            { name = "c2", program = ["acquire", "work 1s", "release"], start = "c1's grant" },
        ]
        faults = [
            { kind = "cut", from = "c1", to = "E", at = "0s" },
            { kind = "clock-step", host = "C", by = "+10s", at = "c1's grant" },
            { kind = "clock-step", host = "D", by = "+20s", at = "c1's grant" },
        ]
        "#,
    ),
    (
        "a dead client's key keeps all others waiting",
        r#"
        claim = "c1 dies, and its key stays"
        lock = { algorithm = "single", ttl = "60s" }
        nodes = { names = ["A"] }
        clients = [
            { name = "c1", program = ["acquire", "work 3s", "release"] },
            { name = "c2", program = ["acquire", "release"], start = "c1's grant" },
        ]
        faults = [{ kind = "crash", host = "c1", at = "1s after c1's grant" }]
        limits = { obtain_free_within = "5s", time = "30s" }
        "#,
    ),
    (
        "faults strike every time",
        r#"
        claim = "the third pause is too long for the lease"
        lock = { algorithm = "single", ttl = "5s" }
        nodes = { names = ["A"] }
        clients = [
            { name = "c1", program = ["acquire", "read", "work 2s", "write", "release"], rounds = 5 },
            { name = "c2", program = ["acquire", "read", "work 1s", "write", "release"], rounds = 2, start = "7s" },
        ]
        faults = [
            { kind = "pause", host = "c1", for = "4s", at = "c1's read", each = true },
            { kind = "clock-step", host = "A", by = "+1ms", at = "the 2nd SET executed for c1", each = true },
            { kind = "slow", from = "c2", to = "A", by = "5ms", for = "10ms", at = "c2's acquire", each = true },
        ]
        "#,
    ),
    (
        "roles change",
        r#"
        claim = "a replica is promoted, and the old master is told to follow it"
        lock = { algorithm = "replicated", ttl = "5s" }
        nodes = { names = ["M", "R1"], master = "M" }
        clients = [{ name = "c1", program = ["acquire", "work 1s", "release"], rounds = 4, start = "2s" }]
        faults = [
            { kind = "promote", host = "R1", tell = [], at = "3s" },
            { kind = "follow", host = "M", master = "R1", at = "4s" },
        ]
        "#,
    ),
    (
        "a pause ends with the process that it stopped",
        r#"
        claim = "what died does not go on"
        lock = { algorithm = "single", ttl = "5s" }
        nodes = { names = ["A"] }
        clients = [{ name = "c1", program = ["acquire", "work 3s", "release"] }]
        faults = [
            { kind = "pause", host = "c1", for = "4s", at = "c1's grant" },
            { kind = "crash", host = "c1", for = "1s", at = "1s after c1's grant" },
        ]
        "#,
    ),
    (
        "a late release deletes the same client's next key, and nobody enters",
        r#"
        claim = "c1's clock stands still, so its second token is its first"
        lock = { algorithm = "single", ttl = "3s", token_value = "timestamp" }
        nodes = { names = ["A"], scripts = "loaded" }
        clients = [
            { name = "c1", program = ["acquire", "work 500ms", "release", "acquire", "work 2500ms", "release"] },
        ]
        faults = [
            { kind = "clock-freeze", host = "c1", clock = "wall", for = "5s", at = "0s" },
            { kind = "packet-delay", from = "c1", to = "A", by = "4s", at = "c1's release" },
        ]
        "#,
    ),
    (
        "a process stops with its threads, and one of them holds twice",
        r#"
        claim = "c1 gives its inner grant back while c3 holds, and c2 waits in c1's process"
        lock = { algorithm = "thread-count", ttl = "3s" }
        nodes = { names = ["A"] }
        clients = [
            { name = "c1", process = "web", program = [
                "acquire", "acquire", "work 1s", "release", "work 1s", "release",
            ] },
            { name = "c2", process = "web", program = ["acquire", "work 1s", "release"], start = "c1's grant" },
            { name = "c3", program = ["acquire", "work 9s", "release"], start = "c1's grant" },
        ]
        faults = [{ kind = "pause", host = "web", for = "4s", at = "500ms after c1's grant" }]
        "#,
    ),
];

struct Checker {
    patterns: Vec<Regex>,
    used: BTreeSet<usize>,
    evidence: Vec<Regex>,
    evidence_used: BTreeSet<usize>,
    causes: Vec<Regex>,
    causes_used: BTreeSet<usize>,
    false_ones: Vec<String>,
    checked: usize,
}

impl Checker {
    fn new() -> Checker {
        let pattern = |says: &str| Regex::new(says).expect("a pattern");
        Checker {
            patterns: RULES.iter().map(|rule| pattern(rule.says)).collect(),
            used: BTreeSet::new(),
            evidence: evidence::RULES.iter().map(|rule| pattern(rule.says)).collect(),
            evidence_used: BTreeSet::new(),
            causes: causes::RULES.iter().map(|rule| pattern(rule.says)).collect(),
            causes_used: BTreeSet::new(),
            false_ones: Vec::new(),
            checked: 0,
        }
    }

    fn check_evidence(&mut self, seen: &Seen<'_>) {
        let report = seen.report;
        for words in report.verdicts.iter().flat_map(|(_, verdict)| verdict.evidence()) {
            self.checked += 1;
            let words = words.sentence(report.history.header());
            let matched =
                self.evidence.iter().enumerate().find_map(|(index, it)| Some((index, it.captures(&words)?)));
            let so = match matched {
                Some((index, captures)) => {
                    self.evidence_used.insert(index);
                    (evidence::RULES[index].holds)(seen, &captures)
                }
                None => None,
            };
            if so != Some(true) {
                self.false_ones
                    .push(format!("{} --seed {}: {words} ({so:?})", report.scenario.name, report.seed));
            }
        }
    }

    fn check_cause(&mut self, seen: &Seen<'_>) {
        let Some(mut words) = account(seen.report).map(|account| account.words) else { return };
        // Of two locks; all else is about one.
        match several::waited_for_another(seen, &words) {
            None => {}
            Some(true) => words = several::without_the_wait(&words),
            Some(false) => self.false_ones.push(format!("{}, cause: {words}", seen.report.scenario.name)),
        }
        let plain = plain(seen.report, &words);
        let report = plain.lock.map(|lock| of_one(seen.report, lock, plain.object));
        let seen = &Seen::new(report.as_ref().unwrap_or(seen.report), seen.trace);
        // A consequence is a sentence of its own.
        let parts: Vec<String> = plain.words.split("; ").flat_map(|part| self.ways(part)).collect();
        for part in &parts {
            let part = part.as_str();
            self.checked += 1;
            let mut matching =
                self.causes.iter().enumerate().filter_map(|(index, it)| Some((index, it.captures(part)?)));
            let so = matching.find_map(|(index, captures)| {
                self.causes_used.insert(index);
                (causes::RULES[index].holds)(seen, &captures)
            });
            if so != Some(true) {
                let report = seen.report;
                self.false_ones
                    .push(format!("{} --seed {}, cause: {part} ({so:?})", report.scenario.name, report.seed));
            }
        }
    }

    /// Takes apart the list that tells what became of a key on different nodes: each way, with what came of all.
    fn ways(&self, part: &str) -> Vec<String> {
        let known = |words: &str| self.causes.iter().any(|it| it.is_match(words));
        let Some((ways, granted)) = part.rsplit_once(", and ") else { return vec![part.to_owned()] };
        // A list of nodes has commas, too: of all ways to take it apart, the first of which each piece has a rule.
        let pieces: Vec<&str> = ways.split(", ").collect();
        let apart = |joined: u32| {
            let mut all = vec![pieces[0].to_owned()];
            for (place, piece) in pieces.iter().enumerate().skip(1) {
                match all.last_mut() {
                    Some(last) if joined >> (place - 1) & 1 == 1 => *last += &format!(", {piece}"),
                    _ => all.push((*piece).to_owned()),
                }
            }
            all.into_iter().map(|way| format!("{way}, and {granted}")).collect::<Vec<_>>()
        };
        let mut taken_apart = (0..1 << (pieces.len() - 1)).rev().map(apart);
        taken_apart.find(|all| all.iter().all(|way| known(way))).unwrap_or_else(|| vec![part.to_owned()])
    }

    fn check(&mut self, scenario: &Scenario, seed: u64) {
        let prepared = SimEngine.prepare(scenario).expect("it can be run");
        let (report, trace) = prepared.run_traced(seed);
        let seen = Seen::new(&report, &trace);
        self.check_evidence(&seen);
        self.check_cause(&seen);
        let lanes = lanes::wrong(&report, &trace).into_iter();
        self.false_ones.extend(lanes.map(|why| format!("{} --seed {seed}, lane of {why}", scenario.name)));
        for sentence in sentences(&report) {
            self.checked += 1;
            let plain = plain(&report, &sentence.words);
            let one = plain.lock.map(|lock| of_one(&report, lock, plain.object));
            let seen = Seen::new(one.as_ref().unwrap_or(&report), &trace);
            let words = plain.words.as_str();
            let matched =
                self.patterns.iter().enumerate().find_map(|(index, it)| Some((index, it.captures(words)?)));
            let so = match (faults::struck(&seen, sentence.at, words), matched) {
                (Some(so), _) => Ok(so),
                (None, Some((index, captures))) => {
                    self.used.insert(index);
                    (RULES[index].holds)(&seen, sentence.at, &captures).ok_or("it names what is not there")
                }
                (None, None) => Err("no rule says what it may be made from"),
            };
            if so != Ok(true) {
                let at = sentence.at.0;
                let words = &sentence.words;
                self.false_ones.push(format!("{} --seed {seed}, {at} ns: {words} ({so:?})", scenario.name));
            }
        }
    }
}

#[test]
fn every_sentence_and_every_lane_of_every_picture_is_so() {
    let mut checker = Checker::new();
    for entry in catalog::entries().expect("the catalogue is well formed") {
        let scenario = catalog::load(&entry.name, &[]).expect("it was listed");
        for seed in SEEDS {
            checker.check(&scenario, seed);
        }
    }
    for (name, text) in OTHERS {
        let source =
            Source { name: (*name).into(), file: (*name).into(), text: (*text).into(), ..Source::default() };
        checker.check(&source.read().unwrap_or_else(|error| panic!("{error}")), 1);
    }
    assert!(
        checker.false_ones.is_empty(),
        "{} of {}:\n{}",
        checker.false_ones.len(),
        checker.checked,
        checker.false_ones.join("\n")
    );
    assert!(checker.checked > 1_000, "{} sentences", checker.checked);
    let idle = RULES.iter().enumerate().filter(|(index, _)| !checker.used.contains(index));
    let rules = evidence::RULES.iter().enumerate();
    let idle_too = rules.filter(|(index, _)| !checker.evidence_used.contains(index));
    let causes = causes::RULES.iter().enumerate();
    // No lock here sets a key that is there.
    let idle_causes = causes
        .filter(|(index, rule)| !checker.causes_used.contains(index) && !rule.says.contains("overwrote"))
        .map(|(_, rule)| rule.says);
    let unused: Vec<&str> = idle
        .map(|(_, rule)| rule.says)
        .chain(idle_too.map(|(_, rule)| rule.says))
        .chain(idle_causes)
        .collect();
    assert!(unused.is_empty(), "rules that were never asked:\n{}", unused.join("\n"));
}
