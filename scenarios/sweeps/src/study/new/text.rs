//! The file of a new study, from its first line to its last.

use std::time::Duration;

use doublehold_lockimpl::{Descriptor, Nodes};
use doublehold_text::{exact_duration, file_duration, group_digits};
use toml::Value;

use super::{
    FAILOVERS, GRANTS, INDEPENDENT_NODES, NewStudy, PAUSES, REPLICATED_NODES, TTL, takes_nodes, wanted_nodes,
};

/// Runs of each stratum of a design, if all designs together leave room for so many.
const RUNS_MAX: u64 = 60;
/// Strata of the weather `field`: no fault, or one or two of its 15 lines.
const STRATA: u64 = 136;
/// Runs of the whole study, at most: less than two minutes on two cores.
const RUNS_OF_ALL: u64 = 330_000;
/// As in `field-rates`: more runs of one design tell little more.
const BY_WEIGHT_MAX: u64 = 70_000;
/// The work of the usual world, which is for leases from 4 s up.
const USUAL_WORK: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(1500));
const USUAL_TTL: Duration = Duration::from_secs(4);
/// The longest wait for a lock in the usual world.
const USUAL_WAIT: Duration = Duration::from_secs(60);

/// Numbers of a study, and which of them are guesses.
struct Numbers<'a> {
    study: &'a NewStudy,
    locks: &'a [&'a Descriptor],
    ttl: Duration,
    pauses: Duration,
    failovers: Duration,
    grants: &'a str,
}

pub(super) fn text(study: &NewStudy, locks: &[&Descriptor]) -> String {
    let numbers = Numbers {
        study,
        locks,
        ttl: study.ttl.unwrap_or(TTL),
        pauses: study.pauses.unwrap_or(PAUSES),
        failovers: study.failovers.unwrap_or(FAILOVERS),
        grants: study.grants.as_deref().unwrap_or(GRANTS),
    };
    let head = [numbers.head(), numbers.strata(), numbers.set()];
    let designs = locks.iter().map(|lock| numbers.design(lock));
    head.into_iter().chain(designs).chain([numbers.next(locks[0])]).collect::<Vec<_>>().join("\n")
}

/// Says whose a number is.
fn origin(is_given: bool) -> &'static str {
    if is_given { "Yours" } else { "A guess: put in yours" }
}

/// A text as a file has it, with its quotes.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A long time in hours, as weathers have it: `336h`.
fn hours(time: Duration) -> String {
    match time.as_secs() / 3600 {
        hours if Duration::from_secs(hours * 3600) == time => format!("{hours}h"),
        _ => file_duration(time),
    }
}

impl Numbers<'_> {
    /// Replicas that can be promoted; none where no lock has any.
    fn replicas(&self) -> u64 {
        let mut replicated = self.locks.iter().filter(|lock| lock.nodes == Nodes::Replicated);
        replicated.next().map_or(0, |lock| self.nodes_of(lock).unwrap_or(REPLICATED_NODES) - 1)
    }

    /// The number of nodes that was asked for, where this lock takes it.
    fn nodes_of(&self, lock: &Descriptor) -> Option<u64> {
        self.study.nodes.filter(|nodes| takes_nodes(lock, *nodes))
    }

    /// The shortest and the longest work: in the usual world's proportion to the lease, or shorter.
    fn work(&self) -> (Duration, Duration) {
        if self.ttl >= USUAL_TTL {
            return USUAL_WORK;
        }
        let milliseconds = |part: Duration| Duration::from_millis(part.as_millis() as u64);
        (milliseconds(self.ttl / 80), milliseconds(self.ttl * 3 / 8))
    }

    fn head(&self) -> String {
        let (shortest, longest) = self.work();
        let failovers = match self.replicas() {
            0 => String::new(),
            _ => format!(", and a failover comes once in {}", exact_duration(self.failovers)),
        };
        format!(
            r#"# A study of your own. Save it as mine.toml, put in your numbers, sweep it, and make a page of it:
#
#     doublehold sweep mine.toml
#     doublehold report mine
#
# A sweep takes two minutes on two cores at most. scenarios/sweeps/STUDIES.md describes each key.

# What the study asks, and what has to be known to read its answer. Reports print both: say here what you change
# below.
question = "How often would two clients hold the lock of my service at once, or data be damaged?"
assumptions = [
  "A lease is {ttl}. A client pauses for long once in {pauses}{failovers}. All other faults come as often as in the weather `field`, which are guesses.",
  "In each run three clients change one object under the lock, each in two turns, with work of {shortest} to {longest}. Faults are drawn for 20 s: what strikes when the clients are done harms nobody.",
  "Faults strike independently of each other: what makes them come together, such as a rack that loses power, is not in these rates and may matter more.",
]

# Random faults as often as monitoring counts them; `doublehold weather field` shows them with their sources.
weather = "field"

# How often all clients together obtain the lock: a report tells months by it. {grants_origin}.
use = "{grants}"
# The share of grants during which somebody else asks for the same lock. "always" is the worst case; write another
# as "one in ten".
busy = "always"

# Runs of each stratum of each design. A stratum is all runs that have the same faults, by lines of the weather.
runs = {runs}
"#,
            ttl = exact_duration(self.ttl),
            pauses = exact_duration(self.pauses),
            shortest = exact_duration(shortest),
            longest = exact_duration(longest),
            grants = self.grants,
            grants_origin = origin(self.study.grants.is_some()),
            runs = self.runs(),
        )
    }

    /// Runs of one design.
    fn runs_of_a_design(&self) -> u64 {
        RUNS_OF_ALL / self.locks.len() as u64
    }

    /// Runs of each stratum: half of a design's at most, since few strata weigh much.
    fn runs(&self) -> u64 {
        (self.runs_of_a_design() / 2 / STRATA).clamp(1, RUNS_MAX)
    }

    /// Rare faults are weighed, and not waited for.
    fn strata(&self) -> String {
        let by_weight = self.runs_of_a_design().saturating_sub(STRATA * self.runs()).clamp(1, BY_WEIGHT_MAX);
        format!(
            r#"# Almost no run has a fault in the field. So runs are made to have some, and weighed by how often that comes.
[strata]
# A run has two faults at most. What has more is not run: it widens intervals.
faults = 2
# Without a fault nothing goes wrong. That is true as long as no work outlasts the lease, see `clients.work`; else
# take "unknown".
quiet = "holds"
# {by_weight_words} runs more of each design. Four times as many halve the width of intervals, and take four times as
# long.
by_weight = {by_weight}
"#,
            by_weight_words = group_digits(by_weight),
        )
    }

    /// The part that all designs have in common: the numbers of the service.
    fn set(&self) -> String {
        let (shortest, longest) = self.work();
        let mut text = format!(
            r#"# What is the same for all designs.
[set]
# How long a grant lasts, unless it is given back before. {ttl_origin}.
"lock.ttl" = "{ttl}"
# How long a client works under the lock. A guess: put in yours, since rates grow with it. Keep the longest work
# well below the lease ({ttl}), since `quiet = "holds"` rests on that. Six turns of it must fit into "weather.for",
# which is 20 s.
"clients.work" = "{shortest}..{longest}"
"#,
            ttl = file_duration(self.ttl),
            ttl_origin = origin(self.study.ttl.is_some()),
            shortest = file_duration(shortest),
            longest = file_duration(longest),
        );
        if self.ttl * 2 > USUAL_WAIT {
            text += &format!(
                r#"# How long whoever asks may wait: twice the lease, since a holder that died is waited for that long.
"limits.obtain_within" = "{}"
"#,
                file_duration(self.ttl * 2)
            );
        }
        text += &format!(
            r#"# The mean time between two long pauses of one client. {pauses_origin}.
"weather.pause[clients].every" = "{pauses}"
# Where that number comes from: reports print it beside the number.
# "weather.pause[clients].source" = "our monitoring, October"
"#,
            pauses = hours(self.pauses),
            pauses_origin = origin(self.study.pauses.is_some()),
        );
        text + &self.promotions()
    }

    /// The mean time between two promotions of a replica, so that failovers come as often as was asked for.
    fn promotions(&self) -> String {
        let replicas = self.replicas();
        if replicas == 0 {
            return r#"# Other rates go the same way:
# "weather.clock-step.every" = "8760h"
"#
            .to_owned();
        }
        format!(
            r#"# The mean time between two promotions of one replica. There {are}, so that a failover comes once in
# {failovers}. {origin}.
"weather.promote.every" = "{every}"
# "weather.promote.source" = "the log of our failovers"
"#,
            are =
                if replicas == 1 { "is one replica".to_owned() } else { format!("are {replicas} replicas") },
            failovers = hours(self.failovers),
            origin = origin(self.study.failovers.is_some()),
            every = hours(self.failovers.saturating_mul(u32::try_from(replicas).unwrap_or(u32::MAX))),
        )
    }

    fn design(&self, lock: &Descriptor) -> String {
        let nodes = match (self.study.nodes, self.nodes_of(lock), lock.nodes) {
            (_, Some(nodes), _) => format!("set = {{ \"nodes.count\" = {nodes} }}\n"),
            (Some(nodes), None, _) => {
                format!("# {}: `--nodes {nodes}` is not for it.\n", wanted_nodes(lock))
            }
            (None, None, Nodes::One) => String::new(),
            (None, None, Nodes::Replicated) => {
                format!("# A master with two replicas.\n# set = {{ \"nodes.count\" = {REPLICATED_NODES} }}\n")
            }
            (None, None, Nodes::Independent) => {
                format!("# As many nodes.\n# set = {{ \"nodes.count\" = {INDEPENDENT_NODES} }}\n")
            }
        };
        let (name, about) = (quoted(lock.name), quoted(lock.meaning));
        format!(
            r#"# `doublehold locks {lock}` shows its switches.
[[designs]]
name = {name}
about = {about}
lock = {name}
{nodes}"#,
            lock = lock.name
        )
    }

    /// The next thing to try, as comments: a design that differs from the first in one thing.
    fn next(&self, lock: &Descriptor) -> String {
        let has_elapsed_check = lock.switches.iter().any(|switch| switch.name == "elapsed_check");
        let switch = match has_elapsed_check {
            true => {
                "\n# `\"lock.elapsed_check\" = true` is another: the holder looks at its deadline before it writes."
            }
            false => "",
        };
        let nodes = self.nodes_of(lock).map_or(String::new(), |nodes| format!("\"nodes.count\" = {nodes}, "));
        format!(
            r#"# What to change next: take the `#` away from these lines. The design then differs from the first in one thing, and
# the page says what that buys.{switch}
# [[designs]]
# name = "{name}, version checked"
# about = "The same, and the resource refuses a write that is based on an old version"
# lock = "{name}"
# set = {{ {nodes}"resource.version_check" = true }}
"#,
            name = lock.name
        )
    }
}
