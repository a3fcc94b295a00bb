//! Claims as written down: the files in `topics/`, read and checked.
//!
//! Assumes that the files are part of the program; a mistake in one is told with its file, and is found by the tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use doublehold_history::Predicate;
use doublehold_scenarios::topics::{TOPICS, Topic};
use serde::Deserialize;
use thiserror::Error;

use crate::figure::Figure;
use crate::finding::DebateFinding;

/// The files, in the order of the topics.
const FILES: [(&str, &str); TOPICS.len()] = [
    ("one-node", include_str!("../topics/one-node.toml")),
    ("failover", include_str!("../topics/failover.toml")),
    ("redlock", include_str!("../topics/redlock.toml")),
    ("time", include_str!("../topics/time.toml")),
    ("fencing", include_str!("../topics/fencing.toml")),
    ("renewal", include_str!("../topics/renewal.toml")),
    ("services", include_str!("../topics/services.toml")),
    ("liveness", include_str!("../topics/liveness.toml")),
    ("libraries", include_str!("../topics/libraries.toml")),
];

/// One sentence that somebody says about locks.
#[derive(Clone, Debug)]
pub struct DebateClaim {
    /// Its number, such as `L4b`: the letter of its topic, and its place in that.
    pub id: String,
    /// The topic that it belongs to.
    pub topic: &'static Topic,
    /// The sentence, in words of ours.
    pub text: String,
    /// Its authors; `ours` where it follows from what others say.
    pub who: Vec<String>,
    /// The place where they say it.
    pub source: String,
    /// Anything else that a reader should know; the reason, where a prediction was wrong.
    pub note: Option<String>,
    /// The cases that test it, or all that it would take to test it.
    pub cases: Result<Vec<DebateCase>, NotYet>,
    /// The outcome in words; `None` where nothing is run yet.
    pub finding: Option<DebateFinding>,
}

/// One test of a claim.
#[derive(Clone, Debug)]
pub enum DebateCase {
    /// Verdicts of a scenario.
    Run(RunCase),
    /// The value at which a verdict turns.
    Threshold(Threshold),
    /// A figure, and its bound.
    Measure(Measure),
}

/// The scenario of a case.
#[derive(Clone, Debug, Deserialize)]
pub struct Setup {
    /// The thing that it varies, in a few words.
    pub about: Option<String>,
    /// A name of the catalogue.
    pub scenario: String,
    /// Changes in it, as `--set` makes them.
    #[serde(default)]
    set: BTreeMap<String, toml::Value>,
    /// From how many seeds, beginning with 1.
    seeds: Option<u64>,
}

impl Setup {
    /// The changes, as `--set` takes them.
    pub fn sets(&self) -> Vec<(String, String)> {
        let text = |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.set.iter().map(|(key, value)| (key.clone(), text(value))).collect()
    }

    /// The number of seeds: enough to see that a verdict does not hang on one draw of the delays.
    pub fn seeds(&self, otherwise: u64) -> u64 {
        self.seeds.unwrap_or(otherwise)
    }
}

/// A scenario that is run from some seeds, and what its verdicts should be.
#[derive(Clone, Debug, Deserialize)]
pub struct RunCase {
    #[serde(flatten)]
    /// The scenario, its changes and its seeds.
    pub setup: Setup,
    /// Statements of those who make the claim, where they say something of a predicate.
    #[serde(default)]
    pub says: BTreeMap<Predicate, Says>,
    /// The prediction.
    pub expect: BTreeMap<Predicate, Prediction>,
    /// True if it is outside of the scope of its claim's finding, and would refute one that said more.
    #[serde(skip)]
    pub is_attack: bool,
}

/// A statement about a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Says {
    /// It always holds.
    Holds,
    /// It can be violated.
    Violated,
}

/// A prediction of a predicate over many seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prediction {
    /// It holds from every seed.
    Holds,
    /// It is violated from every seed.
    Violated,
    /// It is violated from some seeds, and not from all.
    Sometimes,
    /// Nothing happens that it is about: nobody is granted the lock, or nothing is read or written.
    NotSeen,
}

impl Prediction {
    /// The word in the file: `holds`.
    pub fn as_str(self) -> &'static str {
        match self {
            Prediction::Holds => "holds",
            Prediction::Violated => "violated",
            Prediction::Sometimes => "sometimes",
            Prediction::NotSeen => "not-seen",
        }
    }
}

/// A key of a scenario, and the value of it at which a predicate turns.
#[derive(Clone, Debug, Deserialize)]
pub struct Threshold {
    #[serde(flatten)]
    /// The scenario, its changes and its seeds.
    pub setup: Setup,
    vary: Keys,
    /// A value as text; `{}` stands for the integer that is varied: `{}ms`.
    value: String,
    /// The least integer that is tried.
    pub low: i64,
    /// The largest.
    pub high: i64,
    /// The distance of two that are told apart.
    pub step: i64,
    /// The predicate that turns.
    pub predicate: Predicate,
    /// The value at which it should turn, as a formula.
    pub formula: String,
    /// The value of the formula.
    pub predicted: f64,
    /// The distance that the measured value may have from it, beyond the step: some things are drawn anew from each
    /// seed, such as delays.
    #[serde(default)]
    pub tolerance: f64,
    /// The side on which nothing is seen of the predicate, if there is one: nothing holds there, and the reason is that
    /// something else cannot happen any more.
    pub not_seen: Option<NotSeen>,
}

/// A side of a threshold on which nothing is seen of the predicate.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotSeen {
    /// Which side.
    pub side: Ends,
    /// What cannot happen there, in a few words: `c1 is refused`.
    pub why: String,
}

/// The sides of a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ends {
    /// Values below it.
    Below,
    /// Values above it.
    Above,
}

/// One key, or several that get the same value.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Keys {
    One(String),
    Several(Vec<String>),
}

impl Threshold {
    /// The keys that are varied, all alike.
    pub fn keys(&self) -> Vec<&str> {
        match &self.vary {
            Keys::One(key) => vec![key],
            Keys::Several(keys) => keys.iter().map(String::as_str).collect(),
        }
    }

    /// Such a number as the scenario takes it: `9848ms`.
    pub fn text(&self, number: impl fmt::Display) -> String {
        self.value.replace("{}", &number.to_string())
    }

    /// Such a number with its unit and sign only, where the value is a whole program or list: `9848ms`.
    pub fn number(&self, number: impl fmt::Display) -> String {
        let (before, after) = self.value.split_once("{}").unwrap_or_default();
        let sign = before.chars().next_back().filter(|sign| matches!(sign, '+' | '-'));
        let unit: String = after
            .chars()
            .take_while(|it| it.is_alphabetic() || matches!(it, '%' | '/' | '0'..='9'))
            .collect();
        format!("{}{number}{unit}", sign.map(String::from).unwrap_or_default())
    }
}

/// A figure of a scenario's runs, and the bound that is claimed for it.
#[derive(Clone, Debug, Deserialize)]
pub struct Measure {
    #[serde(flatten)]
    /// The scenario, its changes and its seeds.
    pub setup: Setup,
    /// The figure.
    pub figure: Figure,
    /// The bound as a formula.
    pub formula: String,
    /// The most that it may be.
    pub at_most: Option<f64>,
    /// The least that it may be.
    pub at_least: Option<f64>,
}

/// All that it would take to run a claim.
#[derive(Clone, Debug)]
pub struct NotYet {
    /// The sort of thing that is missing.
    pub missing: Missing,
    /// The thing itself.
    pub needs: String,
}

/// A sort of thing that this program does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// ZooKeeper, etcd, a database.
    #[serde(rename = "another lock service")]
    Service,
    /// Processes that watch nodes and vote, beside the nodes.
    #[serde(rename = "Sentinel or Cluster hosts")]
    Hosts,
    /// Data kept on several machines.
    #[serde(rename = "a resource of several replicas")]
    Replicas,
    /// A resource that does something that ours cannot.
    #[serde(rename = "a resource that does not exist")]
    Resource,
    /// Threads that share a process's state.
    #[serde(rename = "threads of one process")]
    Threads,
    /// An algorithm, or a switch of one.
    #[serde(rename = "a lock that does not exist")]
    Lock,
}

impl Missing {
    /// The words in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Missing::Service => "another lock service",
            Missing::Hosts => "Sentinel or Cluster hosts",
            Missing::Replicas => "a resource of several replicas",
            Missing::Resource => "a resource that does not exist",
            Missing::Threads => "threads of one process",
            Missing::Lock => "a lock that does not exist",
        }
    }
}

/// A file of claims that is wrong.
#[derive(Debug, Error)]
#[error("claims of the topic `{topic}`: {cause}")]
pub struct BadClaims {
    /// Which file.
    pub topic: &'static str,
    /// The mistake in it.
    pub cause: String,
}

/// A file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    claims: Vec<RawClaim>,
}

/// A claim as typed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawClaim {
    id: String,
    claim: String,
    who: Vec<String>,
    r#where: String,
    note: Option<String>,
    /// When it is right and when it is wrong, in one sentence.
    when: Option<String>,
    /// What all its cases assume, other than the attacks.
    scope: Option<String>,
    /// Why nothing can be run outside of the scope.
    no_attack: Option<String>,
    #[serde(default)]
    runs: Vec<RunCase>,
    /// Runs outside of the scope: each would refute the finding, if that said more.
    #[serde(default)]
    attacks: Vec<RunCase>,
    #[serde(default)]
    thresholds: Vec<Threshold>,
    #[serde(default)]
    measures: Vec<Measure>,
    not_yet: Option<Missing>,
    needs: Option<String>,
}

/// All claims, topic by topic.
///
/// # Errors
///
/// If a file is wrong, which only a change to the program can bring about.
///
/// ```
/// let claims = doublehold_debate::claims()?;
/// let pause = claims.iter().find(|claim| claim.id == "L2").unwrap();
/// assert_eq!((pause.topic.name, &pause.who[..]), ("redlock", &["Kleppmann".to_owned()][..]));
/// # Ok::<(), doublehold_debate::BadClaims>(())
/// ```
pub fn claims() -> Result<Vec<DebateClaim>, BadClaims> {
    let mut claims = Vec::new();
    for (topic, (name, text)) in TOPICS.iter().zip(FILES) {
        let bad = |cause: String| BadClaims { topic: name, cause };
        let file: File = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
        for typed in file.claims {
            let id = typed.id.clone();
            claims.push(claim(topic, typed).map_err(|cause| bad(format!("{id}: {cause}")))?);
        }
    }
    let mut ids = BTreeSet::new();
    for DebateClaim { id, topic, .. } in &claims {
        if !ids.insert(id) {
            return Err(BadClaims { topic: topic.name, cause: format!("{id} is there twice") });
        }
    }
    Ok(claims)
}

/// A claim as meant.
fn claim(topic: &'static Topic, typed: RawClaim) -> Result<DebateClaim, String> {
    let RawClaim { id, claim, who, r#where, note, when, scope, no_attack, .. } = typed;
    if !topic.letters.iter().any(|letter| id.starts_with(letter)) {
        return Err(format!("a claim of `{}` has a number that begins with {:?}", topic.name, topic.letters));
    }
    let attacks = typed.attacks.into_iter().map(|run| RunCase { is_attack: true, ..run });
    let runs = typed.runs.into_iter().chain(attacks).map(DebateCase::Run);
    let thresholds = typed.thresholds.into_iter().map(DebateCase::Threshold);
    let cases: Vec<DebateCase> =
        runs.chain(thresholds).chain(typed.measures.into_iter().map(DebateCase::Measure)).collect();
    let (cases, finding) = match (typed.not_yet, typed.needs, cases.is_empty()) {
        (Some(missing), Some(needs), true) => match (when, scope, no_attack) {
            (None, None, None) => (Err(NotYet { missing, needs }), None),
            _ => return Err("it cannot be run yet, so it has neither `when` nor `scope`".to_owned()),
        },
        (None, None, false) => {
            let finding = DebateFinding::new(&cases, when, scope, no_attack)?;
            (Ok(cases), Some(finding))
        }
        _ => return Err("it has either cases, or both `not_yet` and `needs`".to_owned()),
    };
    Ok(DebateClaim { id, topic, text: claim, who, source: r#where, note, cases, finding })
}
