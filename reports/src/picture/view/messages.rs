//! Messages as they are drawn: with clean words, and each with the lock that it is about.
//!
//! A request is about the lock whose key it names, or whose object where it goes to the resource; a reply is about the
//! lock of its request. Handshakes, scripts that are loaded and what has no words are about none.

use std::collections::BTreeMap;

use doublehold_history::LockId;
use doublehold_scenarios::Scenario;
use doublehold_scenarios::detail::{Message, Phrase, PhraseKind};
use doublehold_text::clean;

/// Keys and tokens are whatever a scenario and a lock make them.
pub(super) fn clean_messages(mut messages: Vec<Message>) -> Vec<Message> {
    for phrase in messages.iter_mut().flat_map(|message| &mut message.phrases) {
        (phrase.words, phrase.short) = (clean(&phrase.words), clean(&phrase.short));
        phrase.meaning = phrase.meaning.as_deref().map(clean);
    }
    messages
}

/// Of each message the lock that it is about; empty where there is one lock.
pub(super) fn locks(messages: &[Message], scenario: &Scenario) -> Vec<Option<LockId>> {
    if scenario.lock.names.len() < 2 {
        return Vec::new();
    }
    let keys: Vec<(&str, LockId)> =
        scenario.lock.names.iter().map(String::as_str).zip((0..).map(LockId)).collect();
    let objects: Vec<(&str, LockId)> =
        scenario.resource.objects.iter().map(|it| (it.name.as_str(), it.lock)).collect();
    let mut asked: BTreeMap<(u64, u64), LockId> = BTreeMap::new();
    let mut lock_of = |message: &Message| {
        let names = if message.to == scenario.resource.host { &objects } else { &keys };
        let of_phrase = |phrase: &Phrase| {
            let place = (message.connection, phrase.number);
            match phrase.kind {
                PhraseKind::Reply => asked.get(&place).copied(),
                PhraseKind::Replication | PhraseKind::Push => first_named_lock(&phrase.words, names),
                PhraseKind::Request => {
                    let lock = first_named_lock(&phrase.words, names)?;
                    asked.insert(place, lock);
                    Some(lock)
                }
            }
        };
        // Every request is looked at, since each has its reply.
        let all: Vec<Option<LockId>> = message.phrases.iter().map(of_phrase).collect();
        all.into_iter().flatten().next()
    };
    messages.iter().map(&mut lock_of).collect()
}

/// The first that is named, as a word or as a part in braces: `{stock}:fencing` is counted for `stock`.
fn first_named_lock(words: &str, names: &[(&str, LockId)]) -> Option<LockId> {
    let words = format!(" {words} ");
    let place = |name: &str| {
        // A request to the resource has a comma behind the object.
        let forms = [format!(" {name} "), format!(" {name},"), format!("{{{name}}}")];
        forms.iter().filter_map(|form| words.find(form)).min()
    };
    let places = names.iter().filter_map(|(name, lock)| Some((place(name)?, *lock)));
    places.min_by_key(|(place, _)| *place).map(|(_, lock)| lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_about_the_first_lock_that_it_names_as_a_whole() {
        let names = [("stock", LockId(0)), ("orders", LockId(1)), ("my stock", LockId(2))];
        for (words, lock) in [
            ("SET stock 0a1b NX PX 4000", Some(0)),
            ("SET orders stock NX PX 4000", Some(1)),
            ("EVALSHA 9c 2 orders {orders}:fencing t", Some(1)),
            ("INCR {stock}:fencing", Some(0)),
            ("GET my stock", Some(2)),
            ("write orders, computed from version 3", Some(1)),
            ("GET stocks", None),
            ("SCRIPT LOAD return", None),
        ] {
            assert_eq!(first_named_lock(words, &names), lock.map(LockId), "{words}");
        }
    }
}
