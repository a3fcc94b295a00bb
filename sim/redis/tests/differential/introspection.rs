//! What the node says of each of its commands against what a real Redis says of the same: clients route by it, and
//! redis-cli makes its hints of it.

use std::collections::BTreeSet;

use super::client::{Answer, Clients};
use super::known::Known;
use super::ours;
use super::real::RealRedis;
use super::resp::{Value, parse};
use super::script::{Bytes, Step};

#[test]
fn every_command_is_described_as_a_real_redis_describes_it() {
    let Some(server) = RealRedis::start_if_there() else { return };
    let (mut real, mut ours) = (Clients::of(server.port), Clients::of(ours::start()));
    let known = Known::read().expect("the list of known differences is well-formed");
    let names = names(&mut ours);
    assert!(names.len() > 80, "only {} commands", names.len());
    let mut wrong = Vec::new();
    for (connection, protocol) in [(0, "2"), (1, "3")] {
        for server in [&mut real, &mut ours] {
            ask(server, connection, &["HELLO", protocol]);
        }
        for name in &names {
            for what in ["INFO", "DOCS"] {
                let command = ["COMMAND", what, name];
                let answers = [&mut real, &mut ours].map(|server| ask(server, connection, &command));
                let words: Vec<Bytes> = command.iter().map(|word| word.as_bytes().to_vec()).collect();
                if !known.agree(&words, &[], &answers[0], &answers[1]) {
                    let [real, ours] =
                        answers.map(|answer| String::from_utf8_lossy(&answer.bytes).into_owned());
                    wrong.push(format!("{command:?} in RESP{protocol}\nreal: {real:?}\nours: {ours:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), 4 * names.len(), wrong.join("\n"));
}

/// The crate's first page.
const CRATE_DOCS: &str = include_str!("../../src/lib.rs");

#[test]
fn what_the_node_lacks_is_named_on_the_crates_first_page_and_nothing_else_is() {
    let Some(server) = RealRedis::start_if_there() else { return };
    let real = names(&mut Clients::of(server.port));
    let ours = names(&mut Clients::of(ours::start()));
    let is_ours = |name: &String| ours.contains(name);
    // A container that is not there need not have its subcommands named.
    let is_within_reach = |name: &&String| {
        let container = name.split('|').next().unwrap_or_default().to_owned();
        !name.contains('|') || is_ours(&container)
    };
    let lacking = real.iter().filter(|name| !is_ours(name)).filter(is_within_reach);
    let lacking: BTreeSet<String> = lacking.map(|name| name.to_uppercase().replace('|', " ")).collect();
    let rows = CRATE_DOCS.lines().filter(|line| line.starts_with("//! | "));
    let named: BTreeSet<String> =
        rows.flat_map(|row| row.split('`').skip(1).step_by(2)).map(str::to_owned).collect();
    let difference: Vec<&String> = named.symmetric_difference(&lacking).collect();
    assert!(difference.is_empty(), "named though it is there, or lacking and not named: {difference:?}");
    assert!(ours.iter().all(|name| real.contains(name)), "a command that Redis does not have");
}

/// Every command and subcommand a server has.
fn names(ours: &mut Clients) -> Vec<String> {
    let answer = ask(ours, 0, &["COMMAND", "LIST", "FILTERBY", "PATTERN", "*"]);
    let (list, _) = parse(&answer.bytes).expect("a complete reply");
    let text = |item: &Value| String::from_utf8(item.text().expect("a name").to_vec()).expect("a name");
    list.items().iter().map(text).collect()
}

fn ask(server: &mut Clients, connection: usize, words: &[&str]) -> Answer {
    let step = Step::send(connection, words.iter().map(|word| word.as_bytes().to_vec()).collect());
    server.send(&step).expect("the server takes connections");
    server.receive(&step).expect("the server takes connections")
}
