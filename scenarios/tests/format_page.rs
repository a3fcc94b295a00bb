//! The page that explains the format shows a file that is one, and names every word of the format.

use std::collections::BTreeSet;

use doublehold_scenarios::format::{Key, vocabulary};
use doublehold_scenarios::report::Judgement;
use doublehold_scenarios::{Engine, Keep, SimEngine, catalog};

#[test]
fn the_example_of_the_format_page_is_a_scenario() {
    let page = include_str!("../FORMAT.md");
    let (_, block) = page.split_once("```toml\n").expect("the page has an example");
    let (example, _) = block.split_once("```").expect("the example ends");
    let path = std::env::temp_dir().join(format!("doublehold-format-{}.toml", std::process::id()));
    std::fs::write(&path, example).expect("a temporary file");
    let path = path.to_str().expect("a temporary path is text");
    for name in [path.to_owned(), format!("{path}/again")] {
        let scenario = catalog::load(&name, &[]).unwrap_or_else(|error| panic!("{error}"));
        for seed in 1..=10 {
            let judgement = SimEngine.run(&scenario, seed, Keep::History).judgement();
            assert_eq!(judgement, Judgement::AsExpected, "{name}, seed {seed}");
        }
    }
    std::fs::remove_file(path).expect("it was written above");
}

#[test]
fn the_format_page_names_every_word_of_the_format() {
    let page = include_str!("../FORMAT.md");
    let part_of_a_word = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let named: BTreeSet<&str> = page.split(|letter| !part_of_a_word(letter)).collect();
    let last_part = |Key { path, word }: Key| match word {
        Some(word) => word,
        None => path.rsplit('.').next().unwrap_or_default().to_owned(),
    };
    let words = vocabulary().into_iter().map(last_part);
    let missing: BTreeSet<String> =
        words.filter(|word| !word.split(' ').all(|part| named.contains(part))).collect();
    assert!(missing.is_empty(), "the page does not say {missing:?}");
}
