//! Random faults as data: what may strike whom, how often, how strongly and for how long.

use std::time::Duration;

use doublehold_sim::{DelayLaw, Probability};
use doublehold_text::every;

use super::fault::{Effect, Nature};

/// Random faults within stated bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weather {
    /// The time from the beginning of a run in which faults begin. They last as long as was drawn, also beyond.
    pub window: Duration,
    /// Whether each run leaves out a random half of the lines. Faults hide each other: a search that always does
    /// everything misses what shows only where something else is left alone (swarm testing: Groce et al., 2012).
    pub swarm: bool,
    /// The share of faults that strike at steps of the protocol rather than at random times.
    pub at_steps: Probability,
    /// The meaning of its rates.
    pub claims: Claims,
    /// What strikes.
    pub faults: Vec<RandomFault>,
}

/// The meaning of a weather's rates. Changes nothing in a run: a report says how often something happens
/// in a month only where the weather claims to be one of the field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Claims {
    /// A search's: as often as shows something soon.
    #[default]
    Search,
    /// The field's: as often as the monitoring of a fleet counts them.
    Field,
}

/// A line of a weather: faults of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomFault {
    /// The kind. Hosts are those of which one is drawn each time, also by what they are for: see [`HostGroup`]. A
    /// magnitude in here is the largest that is drawn; one that [`RandomFault::by`] gives is zero.
    pub effect: Effect,
    /// The mean time between two on one host or way.
    pub every: Duration,
    /// How long it lasts, for kinds that may last.
    pub lasting: Option<DelayLaw>,
    /// How strong it is, for kinds with a magnitude that is a duration.
    pub by: Option<DelayLaw>,
    /// To which side a clock goes wrong.
    pub sign: Sign,
    /// True if a fault of a way is drawn also the other way round than it is written, and a `cut`, `slow` or `loss`
    /// also both ways: half of these both ways, the rest one way or the other alike.
    pub either_way: bool,
    /// Another fault that each of them brings.
    pub brings: Option<AttachedFault>,
    /// Where the numbers come from, or that they are guessed.
    pub source: String,
}

/// A fault that another brings: it strikes so much later, and never without it. It counts with the one that brings it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedFault {
    /// The kind: a `promote`. Its hosts are those of which one is drawn.
    pub effect: Effect,
    /// How much later, a law that has a longest time.
    pub after: DelayLaw,
}

/// To which side a clock is stepped or drifts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Either, as likely as the other.
    Either,
    /// Ahead of true time.
    Ahead,
    /// Behind it.
    Behind,
}

/// A group of hosts by what they are for, as `host`, `from` and `to` of a weather name it. A host of that name comes
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostGroup {
    /// All clients.
    Clients,
    /// All nodes.
    Nodes,
    /// The node that is master at the beginning; nobody where nothing is replicated.
    Master,
    /// The nodes that are no master at the beginning.
    Replicas,
    /// The Sentinels; nobody where there are none.
    Sentinels,
    /// The resource.
    Resource,
}

impl HostGroup {
    /// All of them, in the order in which messages list them.
    pub const ALL: [HostGroup; 6] = every!(HostGroup: Clients, Nodes, Master, Replicas, Sentinels, Resource);

    /// The word of scenario files.
    pub fn as_str(self) -> &'static str {
        match self {
            HostGroup::Clients => "clients",
            HostGroup::Nodes => "nodes",
            HostGroup::Master => "master",
            HostGroup::Replicas => "replicas",
            HostGroup::Sentinels => "sentinels",
            HostGroup::Resource => "resource",
        }
    }

    /// True if its hosts are nodes.
    pub fn is_of_nodes(self) -> bool {
        match self {
            HostGroup::Nodes | HostGroup::Master | HostGroup::Replicas => true,
            HostGroup::Clients | HostGroup::Sentinels | HostGroup::Resource => false,
        }
    }

    /// The group of a word.
    pub fn from_word(word: &str) -> Option<HostGroup> {
        HostGroup::ALL.into_iter().find(|group| group.as_str() == word)
    }
}

impl RandomFault {
    /// Whether such faults can bring another: what stops, kills or cuts off a master is what a failover answers.
    pub(crate) fn may_bring(effect: &Effect) -> bool {
        matches!(effect.kind().nature, Nature::Stop | Nature::Death | Nature::Link)
    }

    /// Whether such faults can be random: what strikes a disk without a death, or names a master, means something only
    /// in company.
    pub(crate) fn may_be_random(effect: &Effect) -> bool {
        !matches!(effect, Effect::DiskSnapshot { .. } | Effect::DiskRollback { .. } | Effect::Follow { .. })
    }
}
