//! The meaning of a script, in words, where it is a known one: of a lock of ours, or as the Redis documentation has it.
//!
//! A script is known by its hash. Whoever sends a text that is the documentation's but for blanks, quotes and case
//! makes its hash known from then on, so one request that comes before it is shown as it is sent.

use std::collections::BTreeMap;

use doublehold_lockimpl::script_meaning;

/// Texts that libraries and users copy, without blanks, in small letters and with apostrophes. Their ends are
/// [`ENDS`].
const PUBLISHED: [(&str, &str); 4] = [
    ("if redis.call('get',keys[1])==argv[1] then return redis.call('del',keys[1])", "delete {} if mine"),
    ("if redis.call('get',keys[1])==argv[1] then return redis.call('unlink',keys[1])", "delete {} if mine"),
    (
        "if redis.call('get',keys[1])==argv[1] then return redis.call('pexpire',keys[1],argv[2])",
        "extend {} if mine",
    ),
    (
        "if redis.call('get',keys[1])==argv[1] then return redis.call('expire',keys[1],argv[2])",
        "extend {} if mine",
    ),
];
/// The continuation of those.
const ENDS: [&str; 3] = ["else return 0 end", "end return 0", "else return false end"];

/// Scripts that were heard.
#[derive(Default)]
pub(super) struct HeardScripts {
    meanings: BTreeMap<String, &'static str>,
}

impl HeardScripts {
    /// The meaning of a request that runs a script, with the name of its first key as `shown` has it.
    pub(super) fn meaning(&mut self, request: &[&[u8]], shown: impl Fn(&[u8]) -> String) -> Option<String> {
        let is = |place: usize, word: &str| {
            request.get(place).is_some_and(|it: &&[u8]| it.eq_ignore_ascii_case(word.as_bytes()))
        };
        let text = |place: usize| std::str::from_utf8(request.get(place)?).ok();
        if is(0, "SCRIPT") && is(1, "LOAD") {
            self.learn(text(2)?);
            return None;
        }
        let meaning = if is(0, "EVALSHA") {
            let hash = text(1)?.to_ascii_lowercase();
            script_meaning(&hash).or_else(|| self.meanings.get(&hash).copied())
        } else if is(0, "EVAL") {
            self.learn(text(1)?)
        } else {
            None
        };
        let key = text(2)?.parse::<usize>().ok().filter(|keys| *keys > 0).and(request.get(3))?;
        Some(meaning?.replace("{}", &shown(key)))
    }

    /// Keeps the hash of a script, if it is a known one.
    fn learn(&mut self, source: &str) -> Option<&'static str> {
        let hash = redis::Script::new(source).get_hash().to_owned();
        let meaning = script_meaning(&hash).or_else(|| published(source))?;
        self.meanings.insert(hash, meaning);
        Some(meaning)
    }
}

/// The meaning of a script whose text is a published one.
fn published(source: &str) -> Option<&'static str> {
    let source = plain(source);
    let is_it = |(start, _): &&(&str, &str)| {
        source.strip_prefix(&plain(start)).is_some_and(|rest| ENDS.iter().any(|end| plain(end) == rest))
    };
    PUBLISHED.iter().find(is_it).map(|(_, meaning)| *meaning)
}

fn plain(source: &str) -> String {
    source.replace('"', "'").to_lowercase().split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(scripts: &mut HeardScripts, request: &[&str]) -> Option<String> {
        let request: Vec<&[u8]> = request.iter().map(|word| word.as_bytes()).collect();
        scripts.meaning(&request, |key| String::from_utf8_lossy(key).into_owned())
    }

    #[test]
    fn a_script_of_the_documentation_is_known_however_it_is_written() {
        let source = r#"if redis.call("get",KEYS[1]) == ARGV[1]
            then return redis.call("del",KEYS[1])
            else return 0 end"#;
        let mut scripts = HeardScripts::default();
        let hash = redis::Script::new(source).get_hash().to_owned();
        assert_eq!(
            meaning(&mut scripts, &["EVALSHA", &hash, "1", "my stock", "t"]),
            None,
            "nobody sent its text"
        );
        assert_eq!(meaning(&mut scripts, &["SCRIPT", "LOAD", source]), None);
        let said = Some("delete my stock if mine".to_owned());
        assert_eq!(meaning(&mut scripts, &["EVALSHA", &hash, "1", "my stock", "t"]), said);
        assert_eq!(meaning(&mut scripts, &["eval", source, "1", "my stock", "t"]), said);
    }

    #[test]
    fn a_script_of_a_lock_of_ours_is_known_by_its_hash_and_another_is_not() {
        let (mut scripts, hash) = (HeardScripts::default(), "6FBE84D1140FD2047394924AF9D845B83C070BEC");
        assert_eq!(
            meaning(&mut scripts, &["EVALSHA", hash, "1", "stock", "t"]).as_deref(),
            Some("delete stock if mine")
        );
        assert_eq!(meaning(&mut scripts, &["EVALSHA", hash, "0"]), None, "it has no key");
        let close =
            "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[2]) else return 0 end";
        assert_eq!(meaning(&mut scripts, &["EVAL", close, "1", "stock", "t"]), None);
        assert_eq!(meaning(&mut scripts, &["GET", "stock"]), None);
    }
}
