//! From the arguments of `DOUBLEHOLD` to a word: everything that is wrong is named, with the way out.

use std::sync::Arc;
use std::time::Duration;

use doublehold_history::ReleaseOutcome;
use doublehold_scenarios::format::NoMoment;
use doublehold_scenarios::when::When;
use doublehold_text::suggest;

use super::moment::check_moment;
use super::word::{NEEDS_A_WORLD, USAGES, Usage, Word};
use crate::serve::control::Control;
use crate::serve::record::Statement;
use crate::serve::weather::host::Host;
use crate::serve::weather::links::Way;
use crate::serve::weather::strikes::{Blow, Strike};

/// How long AWAIT waits where nobody says.
///
/// Shorter than the 5 s for which redis-py waits for a reply: what has not struck is to be said, and not lost.
const PATIENCE: Duration = Duration::from_secs(4);

/// The furthest that a drift goes: clocks that stand, and clocks that run twice as fast.
const FURTHEST_PPM: i64 = 1_000_000;

/// The longest name that fits beside a picture.
const LONGEST_NAME: usize = 100;

/// A word from its arguments.
///
/// # Errors
/// What is wrong, in words.
pub(super) fn word(control: &Control, words: &[&[u8]]) -> Result<Word, String> {
    let Some((first, rest)) = words.split_first() else {
        return Err("say what: `DOUBLEHOLD HELP` lists the words".to_owned());
    };
    let name = String::from_utf8_lossy(first).to_ascii_uppercase();
    let Some(usage) = USAGES.iter().find(|usage| usage.name == name) else { return Err(unknown(&name)) };
    let mut arguments = Arguments { control, usage, rest };
    let word = arguments.word()?;
    match arguments.rest.first() {
        None => Ok(word),
        Some(_) => Err(arguments.misused("takes no more than that")),
    }
}

fn unknown(name: &str) -> String {
    if let Some((_, instead)) = NEEDS_A_WORLD.iter().find(|(word, _)| *word == name) {
        return format!(
            "{name} needs a simulated machine, and this one is real: {instead}. `doublehold run` has all faults"
        );
    }
    let names: Vec<&str> = USAGES.iter().map(|usage| usage.name).collect();
    let hint = match &suggest::similar_words(name, &names)[..] {
        [] => "`DOUBLEHOLD HELP` lists the words".to_owned(),
        words => format!("did you mean {}?", suggest::either(words)),
    };
    format!("no word `{}`: {hint}", doublehold_text::shorten(name))
}

/// The arguments of one word, taken one after the other.
struct Arguments<'a> {
    control: &'a Control,
    usage: &'static Usage,
    rest: &'a [&'a [u8]],
}

impl Arguments<'_> {
    fn word(&mut self) -> Result<Word, String> {
        Ok(match self.usage.name {
            "CLOCK" => Word::Clock { host: self.host()?, by_us: self.signed_us()? },
            "DRIFT" => Word::Drift { host: self.host()?, ppm: self.ppm()? },
            "PAUSE" => Word::Pause { host: self.host()?, duration: self.duration()? },
            "SLOW" => Word::Slow { host: self.node()?, by: self.duration()? },
            "HOLD" | "DROP" | "REPEAT" => Word::Strike(self.strike()?),
            "AT" => self.at()?,
            "CUT" => Word::Cut(self.ways()?),
            "HEAL" if self.rest.is_empty() => Word::HealAll,
            "HEAL" => Word::Heal(self.ways()?),
            "RESET-CONNECTIONS" => Word::ResetConnections { client: self.client()?, host: self.node()? },
            "CRASH" => Word::Crash(self.host()?),
            "RESTART" => Word::Restart(self.host()?),
            "PROMOTE" => self.promote()?,
            "REFUSE-WRITES" => Word::RefuseWrites { host: self.node()?, refuses: !self.is_next("OFF") },
            "FLUSH" => Word::Flush(self.node()?),
            "EVICT" => Word::Evict { host: self.node()?, volatile_only: self.is_next("VOLATILE") },
            "AWAIT" => {
                let over = self.is_next("OVER");
                Word::Await { over, at_most: self.optional_duration()?.unwrap_or(PATIENCE) }
            }
            "RESET" if self.rest.is_empty() => Word::Reset { name: None },
            "RESET" => Word::Reset { name: Some(self.name("a test's name")?) },
            "STATUS" => Word::Status,
            "IAM" => Word::Iam(self.client()?),
            "READ" => Word::Read { key: self.text("a key")? },
            "WRITE" => {
                Word::Write { key: self.text("a key")?, value: self.bytes("a value")?, fence: self.fence()? }
            }
            "VERDICT" => Word::Verdict(self.predicate()?),
            "HISTORY" => Word::History,
            "PICTURE" => Word::Picture,
            "HELP" => Word::Help,
            _ => self.tell()?,
        })
    }

    fn tell(&mut self) -> Result<Word, String> {
        let client = self.client()?;
        let told = match self.usage.name {
            "ASKS" => Statement::Asks,
            "GRANTED" => Statement::Granted { lease: self.lease()?, fence: self.fence()? },
            "EXTENDED" => Statement::Extended { lease: self.lease()? },
            "REFUSED" => Statement::Refused,
            "LOST" => Statement::Lost,
            "RELEASES" => Statement::Releases,
            "RELEASED" => Statement::Released(self.outcome()),
            _ => Statement::Died,
        };
        Ok(Word::Tell { client, lock: self.lock()?, told })
    }

    /// The lock's name, if there is one: a word may stand before it, since a lock may be called as a time is.
    fn lock(&mut self) -> Result<Option<String>, String> {
        let is_named = self.is_next("LOCK") || !self.rest.is_empty();
        if is_named { self.name("the lock's name").map(Some) } else { Ok(None) }
    }

    fn outcome(&mut self) -> ReleaseOutcome {
        if self.is_next("NOT-OWNER") {
            ReleaseOutcome::NotOwner
        } else if self.is_next("UNKNOWN") {
            ReleaseOutcome::Unknown
        } else {
            ReleaseOutcome::Released
        }
    }

    fn strike(&mut self) -> Result<Strike, String> {
        let client = self.client_or_any()?;
        let node = self.node()?.name.clone();
        let blow = match self.usage.name {
            "HOLD" => Blow::Hold(self.duration()?),
            "REPEAT" => Blow::Repeat(self.duration()?),
            _ => Blow::Drop,
        };
        let text: Vec<_> = self.rest.iter().map(|word| String::from_utf8_lossy(word)).collect();
        self.rest = &[];
        Ok(Strike { blow, client, node, text: (!text.is_empty()).then(|| text.join(" ")) })
    }

    fn at(&mut self) -> Result<Word, String> {
        let place = self.rest.iter().position(|word| word.eq_ignore_ascii_case(b"DO"));
        let Some((moment, [_do, rest @ ..])) = place.and_then(|place| self.rest.split_at_checked(place))
        else {
            return Err(self.misused("needs a moment, DO, and what is done then"));
        };
        self.rest = &[];
        let join = |words: &[&[u8]]| {
            words.iter().map(|it| String::from_utf8_lossy(it)).collect::<Vec<_>>().join(" ")
        };
        let when: When = join(moment).parse().map_err(|problem: NoMoment| problem.to_string())?;
        check_moment(&when, self.control)?;
        let done = word(self.control, rest)?;
        if !done.is_fault() {
            return Err(
                "AT strikes faults only: what clients tell, and questions, come from clients".to_owned()
            );
        }
        let typed = format!("AT {} DO {}", join(moment), join(rest));
        Ok(Word::At { typed, when, word: Box::new(done) })
    }

    fn promote(&mut self) -> Result<Word, String> {
        let host = self.node()?;
        if self.control.hosts.iter().filter(|it| it.is_node()).count() < 2 || !self.control.is_replicated() {
            return Err("PROMOTE needs replicas: `doublehold serve --faults --replicas 2`".to_owned());
        }
        let mut tell = Vec::new();
        if self.is_next("TELL") {
            while !self.rest.is_empty() {
                tell.push(self.node()?);
            }
        } else {
            tell.extend(self.control.hosts.iter().filter(|it| it.is_node() && it.is_up()).cloned());
        }
        tell.retain(|it| it.name != host.name);
        Ok(Word::Promote { host, tell })
    }

    /// Both ways between two; with `ONE-WAY` behind them, only that from the first to the second.
    fn ways(&mut self) -> Result<Vec<Way>, String> {
        let (one, other) = (self.text("a client or a node")?, self.text("a client or a node")?);
        let name =
            |text: &str| self.find_host(text).map_or_else(|| text.to_owned(), |host| host.name.clone());
        if self.find_host(&one).is_none() && self.find_host(&other).is_none() {
            return Err(format!("neither `{one}` nor `{other}` is a node: {}", self.known_hosts(&one)));
        }
        let (one, other) = (name(&one), name(&other));
        if one == other {
            return Err(format!("{one} has no link to itself: name two"));
        }
        let way = Way::new(&one, &other);
        Ok(if self.is_next("ONE-WAY") { vec![way] } else { vec![way.clone(), way.back()] })
    }

    /// The next argument, which is what a message calls `what`.
    fn bytes(&mut self, what: &str) -> Result<Vec<u8>, String> {
        let Some((first, rest)) = self.rest.split_first() else {
            return Err(self.misused(&format!("needs {what}")));
        };
        self.rest = rest;
        Ok(first.to_vec())
    }

    fn text(&mut self, what: &str) -> Result<String, String> {
        Ok(doublehold_text::clean(&String::from_utf8_lossy(&self.bytes(what)?)))
    }

    /// Takes the next argument if it is this word.
    fn is_next(&mut self, word: &str) -> bool {
        let Some((first, rest)) = self.rest.split_first() else { return false };
        let is_it = first.eq_ignore_ascii_case(word.as_bytes());
        if is_it {
            self.rest = rest;
        }
        is_it
    }

    /// The next argument, as something is called.
    fn name(&mut self, what: &str) -> Result<String, String> {
        let bytes = self.bytes(what)?;
        let Ok(name) = std::str::from_utf8(&bytes) else {
            return Err(format!("`{}` is not UTF-8: give {what}", String::from_utf8_lossy(&bytes)));
        };
        match name.chars().count() {
            _ if name.trim().is_empty() => Err(self.misused(&format!("needs {what}"))),
            ..=LONGEST_NAME => Ok(doublehold_text::clean(name)),
            length => Err(format!(
                "`{}` has {length} characters: a name has {LONGEST_NAME} at most",
                doublehold_text::shorten(name)
            )),
        }
    }

    fn client(&mut self) -> Result<String, String> {
        let name = self.name("a client's name, such as c1")?;
        match self.find_host(&name) {
            Some(host) => {
                Err(format!("`{name}` is a node, on port {}: give your client another name", host.port))
            }
            None if name == "*" => Err("`*` is any client: name one, such as c1".to_owned()),
            None => Ok(name),
        }
    }

    fn client_or_any(&mut self) -> Result<Option<String>, String> {
        if self.is_next("*") { Ok(None) } else { self.client().map(Some) }
    }

    fn find_host(&self, text: &str) -> Option<&Arc<Host>> {
        let is_it = |host: &&Arc<Host>| host.name.eq_ignore_ascii_case(text) || host.port.to_string() == text;
        self.control.hosts.iter().find(is_it)
    }

    fn known_hosts(&self, unknown: &str) -> String {
        let names: Vec<&str> = self.control.hosts.iter().map(|host| host.name.as_str()).collect();
        let ports: Vec<String> = self.control.hosts.iter().map(|host| host.port.to_string()).collect();
        let closest = suggest::closest(unknown, &names).map(|name| format!("did you mean `{name}`? "));
        let (names, ports) = (suggest::list(&names), doublehold_text::join_names(&ports, "and"));
        format!("{}there are {names}, on ports {ports}", closest.unwrap_or_default())
    }

    fn host(&mut self) -> Result<Arc<Host>, String> {
        let text = self.text("a node, such as A")?;
        let host = self.find_host(&text).cloned();
        host.ok_or_else(|| format!("no node `{text}`: {}", self.known_hosts(&text)))
    }

    fn node(&mut self) -> Result<Arc<Host>, String> {
        let host = self.host()?;
        if host.is_node() {
            return Ok(host);
        }
        let (name, word) = (&host.name, self.usage.name);
        Err(format!(
            "{name} is a Sentinel, and {word} is for nodes: Sentinels have CLOCK, DRIFT, PAUSE, CUT and CRASH"
        ))
    }

    fn duration(&mut self) -> Result<Duration, String> {
        let text = self.text("a time, such as 3s")?;
        let is_bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let with_unit = if is_bare { format!("{text}ms") } else { text.clone() };
        doublehold_scenarios::format::duration(&with_unit).map_err(|problem| {
            format!("`{text}` is not a time: it {problem}; milliseconds may stand without a unit")
        })
    }

    fn optional_duration(&mut self) -> Result<Option<Duration>, String> {
        if self.rest.is_empty() { Ok(None) } else { self.duration().map(Some) }
    }

    /// A lease, if the next argument is no other word.
    fn lease(&mut self) -> Result<Option<Duration>, String> {
        let Some(next) = self.rest.first() else { return Ok(None) };
        if [b"FENCE".as_slice(), b"LOCK"].iter().any(|word| next.eq_ignore_ascii_case(word)) {
            return Ok(None);
        }
        // A library that was granted a lease too late may say so: it is over.
        let us =
            self.signed_us().map_err(|problem| format!("{problem}; a lock's name stands behind LOCK"))?;
        Ok(Some(Duration::from_micros(u64::try_from(us).unwrap_or(0))))
    }

    fn signed_us(&mut self) -> Result<i64, String> {
        let text = self.text("a time, such as 10s or -500ms")?;
        let (is_negative, size) = match text.strip_prefix('-') {
            Some(size) => (true, size),
            None => (false, text.strip_prefix('+').unwrap_or(&text)),
        };
        let mut sized = Arguments { control: self.control, usage: self.usage, rest: &[size.as_bytes()] };
        let us = i64::try_from(sized.duration()?.as_micros()).unwrap_or(i64::MAX);
        Ok(if is_negative { -us } else { us })
    }

    fn ppm(&mut self) -> Result<i64, String> {
        let text = self.text("parts of a million, such as 200 or -200")?;
        let number = text.strip_suffix("ppm").unwrap_or(&text).trim();
        match number.parse() {
            Ok(ppm) if (-FURTHEST_PPM..=FURTHEST_PPM).contains(&ppm) => Ok(ppm),
            Ok(_) => {
                Err(format!("`{text}` is beyond {FURTHEST_PPM} parts of a million, which is twice as fast"))
            }
            Err(_) => Err(format!("`{text}` is no whole number of parts of a million, such as 200 or -200")),
        }
    }

    fn fence(&mut self) -> Result<Option<u64>, String> {
        if !self.is_next("FENCE") {
            return Ok(None);
        }
        let text = self.text("a number")?;
        text.parse()
            .map(Some)
            .map_err(|_| format!("`{text}` is no fencing number: give a whole number from 0 up"))
    }

    fn predicate(&mut self) -> Result<Option<doublehold_history::Predicate>, String> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let text = self.text("a predicate")?;
        text.parse().map(Some).map_err(|problem: doublehold_history::UnknownPredicate| problem.to_string())
    }

    fn misused(&self, problem: &str) -> String {
        format!("{} {problem}: `{}`", self.usage.name, self.usage.line())
    }
}
