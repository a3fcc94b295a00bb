//! What some of Redlock's switches choose among. The first of each is what is published.

use crate::config::{Choice, Form};
use crate::parts::ballot::Answer;

/// How many of N nodes must say yes. Division drops the remainder, as in the programs this is about.
///
/// | N | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
/// |---|---|---|---|---|---|---|---|
/// | `Majority` | 1 | 2 | 2 | 3 | 3 | 4 | 4 |
/// | `HalfOfOthers` | 1 | **1** | 2 | **2** | 3 | **3** | 4 |
/// | `MoreThanMajority` | *2* | *3* | 3 | 4 | 4 | 5 | 5 |
///
/// Bold: two clients can both have it. Italic: nobody ever can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quorum {
    /// `N / 2 + 1`, as published.
    #[default]
    Majority,
    /// `(N - 1) / 2 + 1`, as some articles print it: no majority when N is even.
    HalfOfOthers,
    /// More than `N / 2 + 1`, as others print it: one node more than needed.
    MoreThanMajority,
    /// That many, whatever N is.
    Fixed(usize),
}

impl Choice for Quorum {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("majority", Self::Majority),
        ("half-of-others", Self::HalfOfOthers),
        ("more-than-majority", Self::MoreThanMajority),
    ];
}

impl Quorum {
    /// The votes needed among `nodes`.
    pub fn votes(self, nodes: usize) -> usize {
        match self {
            Self::Majority => nodes / 2 + 1,
            Self::HalfOfOthers => nodes.saturating_sub(1) / 2 + 1,
            Self::MoreThanMajority => nodes / 2 + 2,
            Self::Fixed(votes) => votes,
        }
    }
}

/// How many of N nodes are asked at all: the first of them, in node order.
///
/// Always the same ones. Others each time would not be safer, and would only make luck of who is missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subset {
    /// All, as published.
    #[default]
    All,
    /// `N / 2 + 1`, as some articles have it: each of them has to say yes.
    Majority,
    /// That many, whatever N is.
    Fixed(usize),
}

impl Choice for Subset {
    const WORDS: &'static [(&'static str, Self)] = &[("all", Self::All), ("majority", Self::Majority)];
}

impl Subset {
    /// Asks for the switch.
    pub(super) fn choose(form: &mut Form<'_>) -> Self {
        form.choice_or_votes(
            "subset",
            Self::default(),
            Self::Fixed,
            "how many nodes are asked: all, or only the first of them",
        )
    }
}

impl Subset {
    /// Selects those of `nodes` that are asked.
    pub fn select_nodes(self, nodes: usize) -> Vec<bool> {
        let asked = match self {
            Self::All => nodes,
            Self::Majority => Quorum::Majority.votes(nodes),
            Self::Fixed(asked) => asked,
        };
        (0..nodes).map(|index| index < asked).collect()
    }
}

/// Whether nodes are asked one after another or all at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// One after another, in node order, as published. Every slow node eats into the lease, and the
    /// window in which clients split the vote is as long as the walk.
    #[default]
    Sequential,
    /// All at once, sent in node order; waits for every reply or timeout. The page recommends it.
    Parallel,
}

impl Choice for Order {
    const WORDS: &'static [(&'static str, Self)] =
        &[("sequential", Self::Sequential), ("parallel", Self::Parallel)];
}

impl Order {
    /// Asks for the switch.
    pub(super) fn choose(form: &mut Form<'_>) -> Self {
        form.choice("order", Self::default(), "whether nodes are asked one after another or all at once")
    }
}

/// Which nodes are told that a lock was given back or not obtained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReleaseOn {
    /// All, also those that said no or nothing: as published, and antirez insists on it. A node
    /// whose yes was lost would otherwise keep the key for a lease.
    #[default]
    All,
    /// Only those whose yes arrived.
    Answered,
}

impl Choice for ReleaseOn {
    const WORDS: &'static [(&'static str, Self)] = &[("all", Self::All), ("answered", Self::Answered)];
}

/// What a failed extension does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailedExtension {
    /// Nothing: the grant stays valid until its old deadline. redsync and most others do this.
    #[default]
    Keep,
    /// Release the lock, as rslock and redis-plus-plus do: a lease that was still good is given up,
    /// whether or not the holder has noticed.
    Release,
}

impl Choice for OnFailedExtension {
    const WORDS: &'static [(&'static str, Self)] = &[("keep", Self::Keep), ("release", Self::Release)];
}

/// Who is waited for once it is clear what an attempt comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitFor {
    /// All that were asked, as published: a release finds nothing under way.
    #[default]
    All,
    /// Nobody: it returns at a quorum of yes, or of anything else, and the other requests go on beside it. A yes that
    /// comes later is a key that nobody counted. One after another, the nodes left are not asked.
    Quorum,
    /// The same at a quorum of yes only, as pottery: an attempt that fails has waited for all.
    Yes,
}

impl Choice for WaitFor {
    const WORDS: &'static [(&'static str, Self)] =
        &[("all", Self::All), ("quorum", Self::Quorum), ("yes", Self::Yes)];
}

impl WaitFor {
    /// True if nobody is waited for any more, where that many votes are needed.
    pub(super) fn is_over(self, answers: &[Answer], needed: usize) -> bool {
        let count = |wanted: &[Answer]| answers.iter().filter(|answer| wanted.contains(answer)).count();
        match self {
            Self::All => false,
            Self::Yes => count(&[Answer::Yes]) >= needed,
            Self::Quorum => is_decided(answers, needed),
        }
    }
}

/// True if a quorum said yes, or a quorum said anything else.
pub(super) fn is_decided(answers: &[Answer], needed: usize) -> bool {
    let count = |wanted: &[Answer]| answers.iter().filter(|answer| wanted.contains(answer)).count();
    count(&[Answer::Yes]) >= needed || count(&[Answer::No, Answer::Silent]) >= needed
}

impl WaitFor {
    /// Asks for the switch.
    pub(super) fn choose(form: &mut Form<'_>) -> Self {
        form.choice(
            "wait_for",
            Self::default(),
            "who is waited for: all, or only until a quorum said yes, or anything else, or only yes",
        )
    }
}

/// What becomes of an attempt in which all have answered, and neither a quorum of yes nor one of anything else is
/// there: half and half of an even number of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tie {
    /// It is refused.
    #[default]
    Refused,
    /// Nothing, ever: node-redlock waits for one or the other.
    Never,
}

impl Choice for Tie {
    const WORDS: &'static [(&'static str, Self)] = &[("refused", Self::Refused), ("never", Self::Never)];
}

impl Tie {
    /// Asks for the switch.
    pub(super) fn choose(form: &mut Form<'_>) -> Self {
        form.choice(
            "tie",
            Self::default(),
            "what becomes of an attempt that neither a quorum of yes nor one of anything else decided",
        )
    }
}

/// What a node that did not answer means for a quorum that did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnNodeError {
    /// No vote: as published.
    #[default]
    NoVote,
    /// The call ends with an error and leaves its keys, as in redlock-py: nobody holds the lock, for a lease.
    Raise,
    /// The same at the first such node: one after another, nobody after it is asked, and fewer votes than needed are
    /// left where they are as well. So it is with an extension and a release. redis-plus-plus, which throws.
    Stop,
}

impl Choice for OnNodeError {
    const WORDS: &'static [(&'static str, Self)] =
        &[("no-vote", Self::NoVote), ("raise", Self::Raise), ("stop", Self::Stop)];
}

impl OnNodeError {
    /// Asks for the switch.
    pub(super) fn choose(form: &mut Form<'_>) -> Self {
        form.choice(
            "on_node_error",
            Self::default(),
            "what a node without an answer means: no vote, or an error of the whole call, at its end or there",
        )
    }
}

/// Which times an extension looks at, besides the votes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExtendCheck {
    /// The new lease and the old deadline, when the last reply is in.
    #[default]
    Both,
    /// The new lease alone, as redsync and rslock: the old one may have ended in between.
    NewLease,
    /// The old deadline, before the first request, and nothing later, as node-redlock.
    AtStart,
    /// None, as redis-semaphore.
    None,
}

impl Choice for ExtendCheck {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("both", Self::Both),
        ("new-lease", Self::NewLease),
        ("at-start", Self::AtStart),
        ("none", Self::None),
    ];
}

impl ExtendCheck {
    /// Asks for the switch.
    pub(super) fn choose(form: &mut Form<'_>) -> Self {
        form.choice(
            "extend_check",
            Self::default(),
            "which times an extension looks at: the new lease and the old deadline at its end, or less",
        )
    }
}

/// How a key ends whose owner does not delete it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expiry {
    /// By itself, when the lease is over: as published.
    #[default]
    Px,
    /// Not at all, as with malkusch/lock's default.
    None,
}

impl Choice for Expiry {
    const WORDS: &'static [(&'static str, Self)] = &[("px", Self::Px), ("none", Self::None)];
}

/// Which nodes count for an extension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExtensionVotes {
    /// Those that renewed the key.
    #[default]
    Renewed,
    /// All that answered, also those that have no key of this owner: redis-plus-plus, where it uses transactions. A
    /// lock that is another's is extended again and again, and nobody is told.
    Answered,
}

impl Choice for ExtensionVotes {
    const WORDS: &'static [(&'static str, Self)] =
        &[("renewed", Self::Renewed), ("answered", Self::Answered)];
}

impl ExtensionVotes {
    /// Asks for the switch.
    pub(super) fn choose(form: &mut Form<'_>) -> Self {
        form.choice(
            "extension_votes",
            Self::default(),
            "which nodes count for an extension: that renewed the key, or that answered",
        )
    }
}
