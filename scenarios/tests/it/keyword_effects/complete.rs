//! No word of the format without a row, and no word that only one of reader and vocabulary knows.

use std::collections::{BTreeMap, BTreeSet};

use doublehold_lockimpl::descriptors;
use doublehold_scenarios::catalog::{self, Entry};
use doublehold_scenarios::format::vocabulary;

use crate::keyword_effects::reentrant::{FOLLOWED, MULTI, THREADS};
use crate::keyword_effects::row::{ONE, REDLOCK, REPLICATED, Row, read};
use crate::keyword_effects::services::CUT;
use crate::keyword_effects::waiting::LIST;

/// The rows of all files.
fn rows() -> Vec<Row> {
    let files: [fn() -> Vec<Row>; 31] = [
        crate::keyword_effects::clients::rows,
        crate::keyword_effects::clocks::rows,
        crate::keyword_effects::data::rows,
        crate::keyword_effects::disks::rows,
        crate::keyword_effects::laws::rows,
        crate::keyword_effects::limits::rows,
        crate::keyword_effects::links::rows,
        crate::keyword_effects::lock::rows,
        crate::keyword_effects::network::rows,
        crate::keyword_effects::nodes::rows,
        crate::keyword_effects::one_key::rows,
        crate::keyword_effects::drivers::rows,
        crate::keyword_effects::libraries::rows,
        crate::keyword_effects::redlock::rows,
        crate::keyword_effects::renewal::rows,
        crate::keyword_effects::reentrant::rows,
        crate::keyword_effects::replicas::rows,
        crate::keyword_effects::requests::rows,
        crate::keyword_effects::resource::rows,
        crate::keyword_effects::resource_replicas::rows,
        crate::keyword_effects::roles::rows,
        crate::keyword_effects::sentinels::rows,
        crate::keyword_effects::service::rows,
        crate::keyword_effects::services::rows,
        crate::keyword_effects::skews::rows,
        crate::keyword_effects::stops::rows,
        crate::keyword_effects::supervised::rows,
        crate::keyword_effects::timing::rows,
        crate::keyword_effects::waiting::rows,
        crate::keyword_effects::when::rows,
        crate::keyword_effects::texts::rows,
    ];
    files.into_iter().flat_map(|rows| rows()).collect()
}

#[test]
fn every_word_of_the_format_has_a_row() {
    let rows: Vec<&str> = rows().iter().map(|row| row.word).chain(words()).collect();
    let known: BTreeSet<String> = vocabulary().iter().map(ToString::to_string).collect();
    let under = |row: &str, word: &str| {
        row.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '=']))
    };
    let shown = locks_of_the_catalogue();
    let missing = known.iter().filter(|word| !rows.iter().any(|row| under(row, word)));
    let missing: Vec<&String> = missing.filter(|word| !shown.contains(*word)).collect();
    assert!(missing.is_empty(), "add a row for each of\n{missing:#?}");
    let strange: Vec<&&str> = rows.iter().filter(|row| !known.contains(**row)).collect();
    assert!(strange.is_empty(), "the format has no such words: {strange:?}");
}

/// The words that leave a run as it is, or are about what is drawn.
fn words() -> impl Iterator<Item = &'static str> {
    crate::keyword_effects::texts::WORDS
        .iter()
        .chain(crate::keyword_effects::weather::WORDS)
        .chain(crate::keyword_effects::services::WORDS)
        .map(|(word, _)| *word)
}

/// The locks that scenarios of the catalogue are about: what each does is shown there, beside what another does.
fn locks_of_the_catalogue() -> BTreeSet<String> {
    let entries = catalog::entries().expect("the catalogue is well formed");
    let lock = |entry: &Entry| catalog::load(&entry.name, &[]).expect("it was listed").lock.algorithm;
    entries.iter().map(|entry| format!("lock.algorithm={}", lock(entry))).collect()
}

/// The words in backticks that a refusal ends with.
fn listed(refusal: &str, before: &str) -> BTreeSet<String> {
    let list = refusal.rsplit(before).next().unwrap_or_default();
    list.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// A word that resembles none.
const UNLIKE: &str = "zzzzzzzzzzzzzzzzzzzzzzzz";

/// Where each table is in a file, and what the reader says that it knows there.
fn known_to_the_reader(at: &str) -> BTreeSet<String> {
    if at == "lock" {
        return known_of_locks();
    }
    let links = ("network.links", "[{ from = 'c1', to = 'M' }]");
    let fault = ("faults", "[{ kind = 'pause', host = 'c1', for = '1s', at = '1s' }]");
    let law = ("network.delay", "{ median = '1ms', sigma = '1/2' }");
    let weather = (
        "weather.faults",
        "[{ kind = 'pause', host = 'M', for = '1s', every = '9s', \
         brings = { kind = 'promote', host = 'R1', after = '1s' } }]",
    );
    let commands = ("nodes.command_time", "{ M = '1ms' }");
    let sentinels = ("sentinels", "{}");
    let service = ("service", "{}");
    let priorities = ("nodes.replica_priority", "{ M = 1 }");
    let mut sets = vec![links, fault, law, weather, commands, sentinels, service, priorities];
    let key = if at.is_empty() { UNLIKE.to_owned() } else { format!("{at}.{UNLIKE}") };
    sets.push((&key, "1"));
    let refusal = read(REPLICATED, &sets).map(|_| ()).expect_err("nobody knows that key");
    assert!(refusal.contains(UNLIKE), "{refusal}");
    let mut known = listed(&refusal, "known are");
    if ["nodes.command_time", "nodes.replica_priority"].contains(&at) {
        // Nodes are keys there.
        known.retain(|key| !["M", "R1", "R2"].contains(&key.as_str()));
    }
    known
}

/// The keys of `[lock]` that the reader does not call unknown. They are too many for a refusal to list.
fn known_of_locks() -> BTreeSet<String> {
    let locks = descriptors();
    let of_locks = locks.iter().flat_map(|lock| lock.switches.iter()).map(|switch| switch.name);
    let keys: BTreeSet<&str> = of_locks.chain(["algorithm", "name", "ttl"]).collect();
    let is_known = |key: &&str| match read(REPLICATED, &[(&format!("lock.{key}"), "'1'")]) {
        Ok(_) => true,
        Err(refusal) => !refusal.contains("unknown key"),
    };
    keys.into_iter().filter(is_known).map(str::to_owned).collect()
}

/// The keys of the vocabulary, by the table they are in.
fn by_table() -> BTreeMap<String, BTreeSet<String>> {
    let mut tables: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for key in vocabulary().into_iter().filter(|key| key.word.is_none()) {
        let (table, key) = key.path.rsplit_once('.').unwrap_or(("", &key.path));
        tables.entry(table.to_owned()).or_default().insert(key.to_owned());
    }
    tables
}

#[test]
fn reader_and_vocabulary_know_the_same_keys() {
    let tables = by_table();
    let places = [
        ("", ""),
        ("lock", "lock"),
        ("nodes", "nodes"),
        ("nodes.command_time", "nodes.command_time"),
        ("nodes.replica_priority", "nodes.replica_priority"),
        ("sentinels", "sentinels"),
        ("service", "service"),
        ("network", "network"),
        ("network.links", "network.links.0"),
        ("law", "network.delay"),
        ("clocks", "clocks.c1"),
        ("resource", "resource"),
        ("clients", "clients.0"),
        ("expect", "expect"),
        ("limits", "limits"),
        ("weather", "weather"),
        ("weather.faults", "weather.faults.0"),
        ("weather.faults.brings", "weather.faults.0.brings"),
    ];
    for (table, at) in places {
        assert_eq!(tables.get(table), Some(&known_to_the_reader(at)), "the keys of `{table}`");
    }
    // All kinds of faults share one table: together they know what it knows.
    let of_faults = tables.iter().filter(|(table, _)| table.split('.').next() == Some("faults"));
    let together: BTreeSet<String> = of_faults.flat_map(|(_, keys)| keys.clone()).collect();
    assert_eq!(together, known_to_the_reader("faults.0"), "the keys of `faults`");
    let seen = |table: &str| places.iter().any(|(known, _)| *known == table) || table.starts_with("faults");
    let unseen: Vec<&String> = tables.keys().filter(|table| !seen(table) && *table != "variants").collect();
    assert!(unseen.is_empty(), "ask the reader about these tables as well: {unseen:?}");
}

#[test]
fn reader_and_vocabulary_know_the_same_keys_of_variants() {
    let text = format!("{ONE}\n[[variants]]\nname = \"again\"\n{UNLIKE} = 1\n");
    let refusal = read(&text, &[]).map(|_| ()).expect_err("nobody knows that key");
    assert_eq!(by_table().get("variants"), Some(&listed(&refusal, "known are")), "{refusal}");
}

/// Puts a word that nobody knows where a choice of that path in the vocabulary belongs, and gives the refusal.
fn refusal_of(path: &str) -> String {
    let (key, value) = match path {
        "clients.program" => ("clients.0.program", format!("['{UNLIKE}']")),
        "clients.on_lost_lock" => ("clients.0.on_lost_lock", UNLIKE.to_owned()),
        "when" => ("clients.0.start", format!("c1's {UNLIKE}")),
        "faults.kind" => ("faults", format!("[{{ kind = '{UNLIKE}' }}]")),
        "faults.clock-freeze.clock" => {
            ("faults", format!("[{{ kind = 'clock-freeze', host = 'c1', clock = '{UNLIKE}' }}]"))
        }
        "weather.faults.kind" => ("weather", format!("{{ faults = [{{ kind = '{UNLIKE}' }}] }}")),
        "weather.faults.clock" => (
            "weather",
            format!(
                "{{ faults = [{{ kind = 'clock-freeze', host = 'c1', every = '9s', for = '1s', clock = '{UNLIKE}' }}] }}"
            ),
        ),
        "weather.faults.sign" => (
            "weather",
            format!(
                "{{ faults = [{{ kind = 'clock-step', host = 'c1', every = '9s', by = '1s', sign = '{UNLIKE}' }}] }}"
            ),
        ),
        "weather.faults.brings.kind" => (
            "weather",
            format!(
                "{{ faults = [{{ kind = 'pause', host = 'master', every = '9s', for = '1s', brings = {{ kind = '{UNLIKE}' }} }}] }}"
            ),
        ),
        _ => (path, UNLIKE.to_owned()),
    };
    // What does nothing, or is not there, without another word.
    let waits = match path {
        "lock.wake" | "lock.wait_clock" => Some((ONE, ("lock.wake", "list"))),
        "lock.renew_from" | "lock.told_on_loss" | "lock.stop_on_release" => {
            Some((ONE, ("lock.renew_every", "3s")))
        }
        "lock.reconnect" => Some((REDLOCK, ("lock.transport_retries", "1"))),
        // Of one node's lock alone.
        "lock.expiry_clock" | "lock.token_value" | "lock.extend_by" | "lock.deadline_from" | "lock.probe" => {
            Some((ONE, ("lock.algorithm", "single")))
        }
        "lock.gives_back" => Some((LIST, ("lock.algorithm", "setnx-getset"))),
        "lock.client_id" | "lock.local" | "lock.script" | "lock.wait" => {
            Some((THREADS, ("lock.algorithm", "local-remote")))
        }
        "lock.members" | "lock.lease_from" | "lock.final_expire" => {
            Some((MULTI, ("lock.algorithm", "multi-lock")))
        }
        "lock.heeds" | "lock.release_says" | "service.kind" => Some((CUT, ("lock.ttl", "10s"))),
        "resource.writes" => Some((CUT, ("lock.algorithm", "row-lock"))),
        "lock.synced" => Some((FOLLOWED, ("lock.algorithm", "hash-replicated"))),
        _ => None,
    };
    if let Some((base, waits)) = waits {
        let refused = read(base, &[waits, (key, &value)]);
        return refused.map(|_| ()).expect_err("nobody knows that word");
    }
    let base = match path.split_once('.').map_or(path, |(table, _)| table) {
        "lock" => REDLOCK,
        "sentinels" => REPLICATED,
        _ => ONE,
    };
    read(base, &[(key, &value)]).map(|_| ()).expect_err("nobody knows that word")
}

#[test]
fn reader_and_vocabulary_know_the_same_values() {
    let mut choices: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for key in vocabulary() {
        if let Some(word) = key.word {
            choices.entry(key.path).or_default().insert(word);
        }
    }
    for (path, mut words) in choices {
        // A timeout is a duration or `none`, and the reader's hint speaks of durations.
        if path.ends_with("_timeout")
            || ["lock.acquire_limit", "lock.initial_ttl", "lock.poll", "lock.renew_every"]
                .contains(&path.as_str())
        {
            continue;
        }
        // There are too many locks for one sentence: the reader names the nearest (`format_refusals`).
        if path == "lock.algorithm" {
            continue;
        }
        let refusal = refusal_of(&path);
        if path == "when" {
            // The reader lists what may follow `c1's`, in one word.
            words.retain(|word| !word.contains(' '));
            words = &words - &["executed", "for", "on", "the", "after"].map(str::to_owned).into();
        }
        assert_eq!(words, listed(&refusal, "known are"), "{path}: {refusal}");
    }
}

/// Where a key of the vocabulary is in a file with one client, and a value that is none: with what its fault needs.
fn nonsense_at(path: &str) -> (String, String) {
    let nonsense = UNLIKE.to_owned();
    match path.split('.').collect::<Vec<_>>()[..] {
        ["clients", key] => (format!("clients.0.{key}"), nonsense),
        ["clocks", key] => (format!("clocks.c1.{key}"), nonsense),
        ["faults", kind, key] => {
            let on_a_host = vocabulary().iter().any(|known| known.path == format!("faults.{kind}.host"));
            let target = match (on_a_host, key) {
                (_, "host" | "from" | "to") => "",
                (true, _) => "host = 'c1',",
                (false, _) => "from = 'c1', to = 'A',",
            };
            ("faults".to_owned(), format!("[{{ kind = '{kind}', {target} {key} = '{UNLIKE}' }}]"))
        }
        _ => (path.to_owned(), nonsense),
    }
}

#[test]
fn every_key_that_is_a_choice_for_the_reader_has_its_words_in_the_vocabulary() {
    for path in vocabulary().into_iter().filter(|key| key.word.is_none()).map(|key| key.path) {
        let (key, value) = nonsense_at(&path);
        // A switch is refused by the locks that do not have it before its value is looked at.
        let chosen = [ONE, REDLOCK, REPLICATED].iter().any(|base| {
            read(base, &[(&key, &value)]).is_err_and(|refusal| refusal.contains("must be one of"))
        });
        let has_words = vocabulary().iter().any(|key| key.path == path && key.word.is_some());
        assert!(has_words || !chosen, "the words of `{path}`");
    }
}
