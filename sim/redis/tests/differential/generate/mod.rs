//! Scripts from a seed: what lock clients do, and what nobody does but a server must answer.
//!
//! Commands come from templates (`templates.rs`) whose `$words` are filled in here. Nothing generated has a reply that
//! depends on how fast the test runs: lifetimes are either over within a pause of the script, or far away and further
//! apart from one another than a script can last.

mod containers;
mod library_scripts;
mod lua;
mod lua_libraries;
mod lua_limits;
mod lua_scripts;
mod messages;
mod server;
mod streams;
mod templates;
mod wire;
mod words;

use std::time::Duration;

use super::random::Random;
use super::script::{Bytes, Step};

/// Longer than the shortest lifetimes, which are 2 and 3 ms. (One of 1 ms may be over before PEXPIRE looks: then Redis
/// deletes the key at once.)
const PAUSE: Duration = Duration::from_millis(6);
/// How often a script ends in bytes that are no request, in percent.
const ENDS_BADLY: usize = 15;
/// How often a command is spoilt, in percent.
const SPOILT: usize = 12;

/// Script number `index` of the run with this seed.
pub(crate) fn script(seed: u64, index: u64) -> Vec<Step> {
    let mut random = Random::of_script(seed, index);
    let flavour = *random.weighted(templates::FLAVOURS);
    let mut generator = Generator::new(random);
    generator.script(flavour)
}

/// What a script is mostly about: families of templates by weight.
pub(crate) type Flavour = &'static [(usize, Family)];
/// Templates by weight.
pub(crate) type Family = &'static [(usize, &'static str)];

struct Generator {
    random: Random,
    connections: usize,
    /// Seconds; each is used once, so that no two lifetimes end at nearly the same time.
    lifetimes: Vec<usize>,
    /// The command being built sets a lifetime of a millisecond or two.
    short: bool,
    /// Something short-lived may be waiting for an EXEC.
    short_queued: bool,
    /// The texts of the script's Lua scripts so far, for EVALSHA, and whether they set a short lifetime.
    scripts: Vec<(Bytes, bool)>,
}

impl Generator {
    fn new(random: Random) -> Generator {
        Generator {
            random,
            connections: 1,
            lifetimes: Vec::new(),
            short: false,
            short_queued: false,
            scripts: Vec::new(),
        }
    }

    fn script(&mut self, flavour: Flavour) -> Vec<Step> {
        self.connections = 1 + self.random.below(3);
        let mut steps = Vec::new();
        for connection in 0..self.connections {
            if self.random.percent(35) {
                steps.push(Step::send(connection, vec![b"HELLO".to_vec(), b"3".to_vec()]));
            }
        }
        let length = 10 + self.random.below(21);
        while steps.len() < length {
            if self.random.percent(1) {
                self.expires_while_watched(&mut steps);
            } else if self.random.percent(2) {
                let connection = self.connection();
                steps.push(Step::Round { connection, args: self.command(templates::ROUNDS) });
            } else {
                steps.push(self.step(flavour));
            }
        }
        if self.random.percent(ENDS_BADLY) {
            let connection = self.connection();
            // What is queued may have known differences, which a raw EXEC would not know of.
            steps.push(Step::send(connection, vec![b"DISCARD".to_vec()]));
            steps.push(Step::Raw { connection, pieces: self.bad_ending() });
        }
        steps
    }

    fn step(&mut self, flavour: Flavour) -> Step {
        let connection = self.connection();
        let family = *self.random.weighted(flavour);
        let mut args = self.command(family);
        if self.random.percent(SPOILT) && !templates::NOT_SPOILT.contains(&name(&args).as_str()) {
            self.spoil(&mut args);
        }
        if self.random.percent(10) {
            args[0] = args[0]
                .iter()
                .map(|byte| if self.random.percent(50) { byte ^ case_bit(*byte) } else { *byte })
                .collect();
        }
        keep_in_order(&mut args);
        self.short_queued |= self.short;
        let pause =
            if self.short || (self.short_queued && name(&args) == "EXEC") { PAUSE } else { Duration::ZERO };
        self.short = false;
        Step::Send { connection, args, pause }
    }

    /// A key that is alive when it is watched and gone at EXEC.
    fn expires_while_watched(&mut self, steps: &mut Vec<Step>) {
        let connection = self.connection();
        let key = self.key();
        let write = self.filled("SET $k written EX $lt");
        let look = self.filled("GET $k");
        let word = |word: &str| word.as_bytes().to_vec();
        let set = vec![word("SET"), key.clone(), word("v"), word("PX"), word("60")];
        for args in [set, vec![word("WATCH"), key], vec![word("MULTI")], look, write] {
            steps.push(Step::send(connection, args));
        }
        if let Some(Step::Send { pause, .. }) = steps.last_mut() {
            *pause = Duration::from_millis(70);
        }
        steps.push(Step::send(connection, vec![word("EXEC")]));
    }

    fn connection(&mut self) -> usize {
        self.random.below(self.connections)
    }

    fn command(&mut self, family: Family) -> Vec<Bytes> {
        let template = *self.random.weighted(family);
        self.filled(template)
    }

    /// A template with its words filled in.
    fn filled(&mut self, template: &str) -> Vec<Bytes> {
        let mut args = Vec::new();
        for word in template.split(' ') {
            match word.strip_prefix('$') {
                Some(kind) => self.fill(kind, &mut args),
                None => args.push(word.as_bytes().to_vec()),
            }
        }
        args
    }

    /// A word that stands for keys, strings, numbers, lifetimes or the options of such commands.
    fn fill(&mut self, kind: &str, args: &mut Vec<Bytes>) {
        match kind {
            "k" => args.push(self.key()),
            "ks" => (0..1 + self.random.below(3)).for_each(|_| args.push(self.key())),
            "f" => args.push(text(self.random.pick(words::FIELDS))),
            "fs" => {
                (0..1 + self.random.below(3)).for_each(|_| args.push(text(self.random.pick(words::FIELDS))))
            }
            "v" => args.push(self.value()),
            "kvs" => (0..1 + self.random.below(3)).for_each(|_| args.extend([self.key(), self.value()])),
            "fvs" => (0..1 + self.random.below(3)).for_each(|_| {
                args.extend([text(self.random.pick(words::FIELDS)), self.value()]);
            }),
            "n" => args.push(self.number()),
            "float" => args.push(self.fraction()),
            "lt" => args.push(self.lifetime_seconds().to_string().into_bytes()),
            "plt" => args.push(self.lifetime_ms()),
            "short" => {
                self.short = true;
                args.push(text(self.random.pick(&["2", "3"])));
            }
            "at" => args.push(text(self.random.pick(words::MOMENTS))),
            "pat" => args.push(text(self.random.pick(words::MOMENTS)).into_iter().chain(*b"000").collect()),
            "odd" => args.push(text(self.random.pick(words::ODD_NUMBERS))),
            "cond" => args.push(text(self.random.pick(words::CONDITIONS))),
            "set" => self.set_options(args),
            "getex" => {
                let option = *self.random.weighted(words::GETEX_OPTIONS);
                args.append(&mut self.filled(option));
            }
            "copy" => {
                let option = self.random.pick(words::COPY_OPTIONS);
                args.append(&mut self.filled(option));
            }
            "scan" => args.push(text(self.random.pick(words::SCAN_OPTIONS))),
            "index" => args.push(text(self.random.pick(words::INDEXES))),
            "offset" => args.push(text(self.random.pick(words::OFFSETS))),
            // Any number would be a cursor somewhere in the middle of a round.
            "badcursor" => args.push(text(self.random.pick(&[
                "abc",
                "1.5",
                " 5",
                "5 ",
                "0x10",
                "-",
                "99999999999999999999",
            ]))),
            other => self.fill_of_containers_and_scripts(other, args),
        }
    }

    /// A word that stands for what containers hold, or for scripts, messages and whole requests.
    fn fill_of_containers_and_scripts(&mut self, kind: &str, args: &mut Vec<Bytes>) {
        match kind {
            "e" => args.push(text(self.random.pick(words::ELEMENTS))),
            "es" => {
                (0..1 + self.random.below(4)).for_each(|_| args.push(text(self.random.pick(words::ELEMENTS))))
            }
            "m" => {
                args.extend([text(self.random.pick(words::SCORES)), text(self.random.pick(words::ELEMENTS))])
            }
            "ms" => (0..1 + self.random.below(4)).for_each(|_| {
                args.extend([text(self.random.pick(words::SCORES)), text(self.random.pick(words::ELEMENTS))]);
            }),
            "score" => args.push(text(self.random.pick(words::SCORES))),
            "bound" => args.push(text(self.random.pick(words::SCORE_BOUNDS))),
            "name" => args.push(text(self.random.pick(words::NAME_BOUNDS))),
            "zadd" => {
                args.push(text(self.random.pick(&["NX", "XX", "GT", "LT", "CH", "ch", "nosuchoption"])))
            }
            "zrange" => {
                let option = self.random.pick(words::ZRANGE_OPTIONS);
                args.append(&mut self.filled(option));
            }
            "zset" => {
                let option = self.random.pick(words::ZSET_OPTIONS);
                args.append(&mut self.filled(option));
            }
            "few" => args.push(text(self.random.pick(&["0", "1", "2", "3", "7"]))),
            "side" => args.push(text(self.random.pick(&["LEFT", "RIGHT", "left"]))),
            "lpos" => {
                let option = self.random.pick(words::LPOS_OPTIONS);
                args.append(&mut self.filled(option));
            }
            "count" => args.push(text(self.random.pick(&["1", "2", "3", "100", "1000000"]))),
            "lua" => self.eval_arguments(args),
            "sha" => args.push(self.sha()),
            "lockscript" => self.lock_script_call(args),
            "token" => args.push(text(self.random.pick(words::TOKENS))),
            "length" => args.push(text(self.random.pick(&["7", "5", "0", "100"]))),
            "owner" => args.push(text(self.random.pick(&["c1:1", "c1:2", "c2:1"]))),
            "bit" => args.push(text(self.random.pick(&["0", "1"]))),
            "heard" => args.push(text(self.random.pick(messages::HEARD))),
            "heardpattern" => args.push(text(self.random.pick(messages::HEARD_PATTERNS))),
            "unheard" => args.push(text(self.random.pick(messages::UNHEARD))),
            "messagelua" => args.push(text(self.random.pick(messages::MESSAGE_SCRIPTS))),
            "yesno" => args.push(text(self.random.pick(&["yes", "no"]))),
            "manyks" => self.many(|number| args.push(format!("many:{number}").into_bytes())),
            "manykvs" => self.many(|number| {
                args.extend([format!("many:{number}").into_bytes(), number.to_string().into_bytes()]);
            }),
            // As many as Redis keeps in order.
            "manyfvs" => (0..500).for_each(|number| {
                args.extend([format!("f{number}").into_bytes(), number.to_string().into_bytes()]);
            }),
            "huge" => args.push(vec![b'h'; 1 << 20]),
            "largelua" => args.push(text(self.random.pick(words::LARGE_SCRIPTS))),
            "script" => {
                let script = self.script_text();
                args.push(script);
            }
            "pattern" => args.push(text(self.random.pick(words::PATTERNS))),
            "junk" => (0..self.random.below(5)).for_each(|_| args.push(self.value())),
            other => self.fill_of_the_server(other, args),
        }
    }

    /// A word that stands for what the server is asked about itself.
    fn fill_of_the_server(&mut self, kind: &str, args: &mut Vec<Bytes>) {
        match kind {
            "command" => args.push(text(self.random.pick(words::COMMANDS))),
            "setting" => args.push(text(self.random.pick(words::SETTINGS))),
            "unknown" => args.push(text(self.random.pick(words::UNKNOWN_COMMANDS))),
            "cluster" => {
                let asked = self.random.pick(words::CLUSTER_QUESTIONS);
                args.append(&mut self.filled(asked));
            }
            "failover" => {
                let option = self.random.pick(words::FAILOVER_OPTIONS);
                args.append(&mut self.filled(option));
            }
            other => self.fill_of_streams_and_sorts(other, args),
        }
    }

    /// A word that stands for what streams and SORT are asked.
    fn fill_of_streams_and_sorts(&mut self, kind: &str, args: &mut Vec<Bytes>) {
        match kind {
            "newid" => args.push(text(self.random.pick(streams::NEW_IDS))),
            "id" => args.push(text(self.random.pick(streams::IDS))),
            "trim" => {
                let option = self.random.pick(streams::TRIMS);
                args.append(&mut self.filled(option));
            }
            "filling" => args.push(text(streams::FILLING)),
            "entries" => args.push(text(self.random.pick(&["3", "120", "250", "480"]))),
            "sort" => {
                let option = self.random.pick(streams::SORT_OPTIONS);
                args.append(&mut self.filled(option));
            }
            "pattern_of_keys" => args.push(text(self.random.pick(&["w*", "h*->f", "w", "*", "#"]))),
            other => panic!("a template has the unknown word `${other}`"),
        }
    }

    fn many(&mut self, add: impl FnMut(usize)) {
        let first = self.random.below(100);
        (first..first + 1_000 + self.random.below(3_000)).for_each(add);
    }

    fn key(&mut self) -> Bytes {
        self.random.weighted(words::KEYS).to_vec()
    }

    fn value(&mut self) -> Bytes {
        match self.random.below(60) {
            0 => vec![b'x'; 100 + self.random.below(400)],
            1 => vec![b'y'; 20_000],
            _ => self.random.pick(words::VALUES).to_vec(),
        }
    }

    fn number(&mut self) -> Bytes {
        if self.random.percent(75) {
            (self.random.below(2_000) as i64 - 1_000).to_string().into_bytes()
        } else {
            self.random.pick(words::ODD_NUMBERS).as_bytes().to_vec()
        }
    }

    fn fraction(&mut self) -> Bytes {
        if self.random.percent(20) {
            return self.random.pick(words::FLOATS).as_bytes().to_vec();
        }
        let digits = |random: &mut Random| {
            let count = 1 + random.below(12);
            (0..count).map(|_| char::from(b'0' + random.below(10) as u8)).collect::<String>()
        };
        let sign = self.random.pick(&["", "", "-"]);
        let (whole, decimals) = (digits(&mut self.random), digits(&mut self.random));
        match self.random.below(3) {
            0 => format!("{sign}{whole}.{decimals}"),
            1 => format!("{sign}{whole}{decimals}"),
            _ => format!("{sign}{whole}.{decimals}e{}", self.random.below(60) as i64 - 40),
        }
        .into_bytes()
    }

    fn lifetime_seconds(&mut self) -> usize {
        let slots = 64;
        let unused = |taken: &[usize], seconds: &usize| !taken.contains(seconds);
        let mut seconds = 100 + 13 * self.random.below(slots);
        while !unused(&self.lifetimes, &seconds) {
            seconds += 13;
        }
        self.lifetimes.push(seconds);
        seconds
    }

    /// TTL rounds: a part of a second below one half leaves the test time to look.
    fn lifetime_ms(&mut self) -> Bytes {
        let part = [0, 200, 400][self.random.below(3)];
        (self.lifetime_seconds() * 1_000 + part).to_string().into_bytes()
    }

    fn set_options(&mut self, args: &mut Vec<Bytes>) {
        for _ in 0..self.random.below(4) {
            let option = *self.random.weighted(words::SET_OPTIONS);
            let mut filled = self.filled(option);
            if self.random.percent(30) {
                filled[0].make_ascii_lowercase();
            }
            args.append(&mut filled);
        }
    }

    /// Too few arguments, too many, or a wrong one.
    fn spoil(&mut self, args: &mut Vec<Bytes>) {
        let at = self.random.below(args.len());
        match self.random.below(5) {
            0 => args.truncate(args.len().max(2) - 1),
            1 => args.push(self.value()),
            2 if at > 0 => args[at] = self.random.pick(words::ODD_NUMBERS).as_bytes().to_vec(),
            3 if at > 0 => args[at] = self.value(),
            4 if at > 0 => drop(args.remove(at)),
            _ => args.push(self.random.pick(words::CONDITIONS).as_bytes().to_vec()),
        }
    }
}

/// Large hashes have no order, and neither has what ZSCAN shows of large sorted sets.
fn keep_in_order(args: &mut [Bytes]) {
    if name(args).starts_with('H') || matches!(name(args).as_str(), "ZADD" | "ZINCRBY") {
        args.iter_mut().for_each(|arg| *arg = small(std::mem::take(arg)));
    }
}

/// At most as long as what Redis keeps in order in a hash or a sorted set.
fn small(mut bytes: Bytes) -> Bytes {
    bytes.truncate(64);
    bytes
}

fn text(text: &str) -> Bytes {
    text.as_bytes().to_vec()
}

fn name(args: &[Bytes]) -> String {
    args.first().map(|name| String::from_utf8_lossy(name).to_uppercase()).unwrap_or_default()
}

fn case_bit(byte: u8) -> u8 {
    if byte.is_ascii_alphabetic() { 0x20 } else { 0 }
}
