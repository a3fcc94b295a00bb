//! A look inside both locks, in every pair: the white-box rules that only one of them breaks, and the steps and replies
//! that neither met.
//!
//! A rule sees a mistake whenever it is made, where a predicate needs an unlucky moment besides. To ask all of them
//! costs one in a hundred of what the two runs do.

use std::collections::{BTreeMap, BTreeSet};

use doublehold_history::{EventKind, History, ReleaseOutcome};
use doublehold_scenarios::Report;
use doublehold_scenarios::report::white_box::{Rule, RuleVerdict, ask};
use doublehold_statistics::Paired;

/// What was seen inside both locks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    /// For each rule, in how many pairs it was broken by whom. Pairs in which it says nothing of one are left out.
    pub rules: BTreeMap<Rule, Paired>,
    /// The first breach of a rule by the first lock alone, in words.
    pub breaches: BTreeMap<Rule, String>,
    met: BTreeSet<Met>,
}

impl Inside {
    /// Looks inside one more pair.
    pub(crate) fn add(&mut self, mine: &Report, theirs: &Report) {
        self.met.extend(met(&mine.history));
        self.met.extend(met(&theirs.history));
        for rule in Rule::ALL {
            let verdicts = (ask(rule, mine), ask(rule, theirs));
            let (is_mine, is_theirs) = match &verdicts {
                (RuleVerdict::Off(_), _) | (_, RuleVerdict::Off(_)) => continue,
                (mine, theirs) => (*mine != RuleVerdict::Holds, *theirs != RuleVerdict::Holds),
            };
            let pairs = self.rules.entry(rule).or_default();
            match (is_mine, is_theirs) {
                (true, true) => pairs.both += 1,
                (true, false) => pairs.only_first += 1,
                (false, true) => pairs.only_second += 1,
                (false, false) => pairs.neither += 1,
            }
            if let (RuleVerdict::Broken(breaches), RuleVerdict::Holds) = verdicts
                && let Some(breach) = breaches.first()
            {
                self.breaches.entry(rule).or_insert_with(|| breach.words.clone());
            }
        }
    }

    pub(crate) fn merge(&mut self, later: Inside) {
        for (rule, theirs) in later.rules {
            let pairs = self.rules.entry(rule).or_default();
            pairs.both += theirs.both;
            pairs.only_first += theirs.only_first;
            pairs.only_second += theirs.only_second;
            pairs.neither += theirs.neither;
        }
        for (rule, words) in later.breaches {
            self.breaches.entry(rule).or_insert(words);
        }
        self.met.extend(later.met);
    }

    /// The steps and replies that neither lock met, in words.
    pub fn unmet(&self) -> Vec<&'static str> {
        ALL.into_iter().filter(|(it, _)| !self.met.contains(it)).map(|(_, words)| words).collect()
    }
}

/// Something that happens to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Met {
    Refusal,
    NoAnswer,
    Extension,
    LostExtension,
    ExpiryNoticed,
    ReleaseOfALostLock,
    ReleaseWithoutAnswer,
    Death,
    GivenUp,
    RefusedWrite,
}

const ALL: [(Met, &str); 10] = [
    (Met::Refusal, "a call that was refused"),
    (Met::NoAnswer, "a call without an answer"),
    (Met::Extension, "an extension"),
    (Met::LostExtension, "an extension of a lock that was lost"),
    (Met::ExpiryNoticed, "a deadline that its holder saw passed"),
    (Met::ReleaseOfALostLock, "a release of a lock that was lost"),
    (Met::ReleaseWithoutAnswer, "a release without an answer"),
    (Met::Death, "a client that died"),
    (Met::GivenUp, "a client that gave up"),
    (Met::RefusedWrite, "a write that the resource refused"),
];

/// What happened in a run.
fn met(history: &History) -> BTreeSet<Met> {
    let met = |event: &EventKind| match event {
        EventKind::Refused { .. } => Some(Met::Refusal),
        EventKind::AcquireUnknown { .. } => Some(Met::NoAnswer),
        EventKind::Extended { .. } => Some(Met::Extension),
        EventKind::ExtendFailed { .. } => Some(Met::LostExtension),
        EventKind::ExpiryNoticed { .. } => Some(Met::ExpiryNoticed),
        EventKind::ReleaseReturned { outcome: ReleaseOutcome::NotOwner, .. } => Some(Met::ReleaseOfALostLock),
        EventKind::ReleaseReturned { outcome: ReleaseOutcome::Unknown, .. } => {
            Some(Met::ReleaseWithoutAnswer)
        }
        EventKind::Died { .. } => Some(Met::Death),
        EventKind::GaveUp { .. } => Some(Met::GivenUp),
        EventKind::WriteRefused { .. } => Some(Met::RefusedWrite),
        _ => None,
    };
    history.events().iter().filter_map(|event| met(&event.what)).collect()
}
