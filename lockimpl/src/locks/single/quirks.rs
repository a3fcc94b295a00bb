//! What libraries do otherwise than the page with their one key. By default nothing.

use std::time::Duration;

use crate::config::{Choice, Form, LockConfig, Unfit};
use crate::connection::request::RUNS_A_SCRIPT;
use crate::locks::redlock::Expiry;
use crate::parts::tokens::{TokenScope, TokenSource};

/// The switches that the lock on one node has besides those of a lock on a master.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// How a key ends that its owner does not delete.
    pub expiry: Expiry,
    /// Whose clock says when a lease is over.
    pub expiry_clock: ExpiryClock,
    /// Take the key for that long first, and give it its lease in a second step, as Symfony does. A client that dies
    /// between the two leaves it for that long. None: one step.
    pub initial_ttl: Option<Duration>,
    /// What has a token of its own.
    pub token: TokenScope,
    /// What a token is made of. What is not random is of no call.
    pub token_value: TokenSource,
    /// A claim that is refused looks whose the key is: its own token is a grant, and a new lease. Off: who claimed
    /// twice, as a driver does after a lost reply, is refused by itself.
    pub own_token_counts: bool,
    /// How a lease is extended.
    pub extend_by: ExtendBy,
    /// An extension adds to what is left of the lease, as redis-py does, and does not begin a new one. Repeated, it
    /// adds twice.
    pub extend_adds: bool,
    /// Whether the lease counts from before the request or from its reply.
    pub deadline_from: DeadlineFrom,
    /// Hand out the deadline that the check computes.
    pub tells_deadline: bool,
    /// Whether a call looks for the lock before it asks for it.
    pub probe: Probe,
}

impl LockConfig for Quirks {
    fn read(form: &mut Form<'_>) -> Self {
        Self {
            expiry: form.choice("expiry", Expiry::default(), "how a key ends that its owner does not delete"),
            expiry_clock: form.choice(
                "expiry_clock",
                ExpiryClock::default(),
                "whose wall clock says when a lease is over: the node's (PX), or the client's (PXAT)",
            ),
            initial_ttl: form.timeout(
                "initial_ttl",
                None,
                "take the key for that long first, and give it its lease in a second step",
            ),
            token: form.choice(
                "token",
                TokenScope::Attempt,
                "what has a token of its own: a call, each attempt of it, or the lock object",
            ),
            token_value: form.choice("token_value", TokenSource::default(), "what a token is made of"),
            own_token_counts: form.flag(
                "own_token_counts",
                false,
                "take a key that already holds the call's own token for a grant",
            ),
            extend_by: form.choice("extend_by", ExtendBy::default(), "how a lease is extended"),
            extend_adds: form.flag(
                "extend_adds",
                false,
                "let an extension add to what is left of the lease, and not begin a new one",
            ),
            deadline_from: form.choice(
                "deadline_from",
                DeadlineFrom::default(),
                "what a lease counts from: the moment before its request, or the reply",
            ),
            tells_deadline: form.flag(
                "tells_deadline",
                true,
                "hand out the deadline that the check computes",
            ),
            probe: form.choice(
                "probe",
                Probe::default(),
                "how a call looks for a lock before it asks for it",
            ),
        }
    }
}

impl Default for Quirks {
    fn default() -> Self {
        Self::defaults()
    }
}

impl Quirks {
    /// None: the lock as published.
    pub(crate) const NONE: Self = Self {
        expiry: Expiry::Px,
        expiry_clock: ExpiryClock::Node,
        initial_ttl: None,
        token: TokenScope::Attempt,
        token_value: TokenSource::Random,
        own_token_counts: false,
        extend_by: ExtendBy::Compare,
        extend_adds: false,
        deadline_from: DeadlineFrom::Send,
        tells_deadline: true,
        probe: Probe::None,
    };

    /// How a key ends.
    pub(super) fn key_expiry(&self) -> KeyExpiry {
        match (self.expiry, self.expiry_clock) {
            (Expiry::None, _) => KeyExpiry::None,
            (Expiry::Px, ExpiryClock::Node) => KeyExpiry::Px,
            (Expiry::Px, ExpiryClock::Client) => KeyExpiry::PxatByClient,
        }
    }

    /// Whether a lease can be extended.
    pub(crate) fn extends(&self) -> bool {
        self.key_expiry() != KeyExpiry::None
    }

    /// The commands that taking a lock takes besides the claim.
    pub(super) fn sends_to_hold(&self) -> Vec<&'static str> {
        let looks: &[&'static str] = match self.probe {
            Probe::None => &[],
            Probe::Reads => &["EXISTS"],
            Probe::Takes => &RUNS_A_SCRIPT,
        };
        let second = if self.initial_ttl.is_some() { self.sends_to_extend() } else { Vec::new() };
        let own: &[&'static str] = match self.key_expiry() {
            _ if !self.own_token_counts => &[],
            KeyExpiry::None => &["GET"],
            KeyExpiry::Px | KeyExpiry::PxatByClient => &RUNS_A_SCRIPT,
        };
        looks.iter().copied().chain(second).chain(own.iter().copied()).collect()
    }

    /// The commands that an extension takes.
    pub(super) fn sends_to_extend(&self) -> Vec<&'static str> {
        match self.extend_by {
            _ if !self.extends() => Vec::new(),
            ExtendBy::Compare => RUNS_A_SCRIPT.to_vec(),
            ExtendBy::SetXx | ExtendBy::SetIfeq => vec!["SET"],
            ExtendBy::Plain => vec!["PEXPIRE"],
        }
    }

    /// Why nobody can have these together.
    pub(super) fn unfit(&self, fencing: bool, extend_if_missing: bool) -> Option<Unfit> {
        let other = self.extend_by != ExtendBy::Compare;
        let unlike = (self.extend_adds || self.key_expiry() == KeyExpiry::PxatByClient)
            && (other || extend_if_missing);
        if unlike {
            return Some(Unfit {
                cause: "only an extension that compares can add to a lease, or end it by the client's clock"
                    .to_owned(),
                hint: "use `extend_by = \"compare\"` without `extend_if_missing`, or leave out `extend_adds` and \
                       `expiry_clock = \"client\"`"
                    .to_owned(),
            });
        }
        if self.extend_adds && self.key_expiry() == KeyExpiry::PxatByClient {
            return Some(Unfit {
                cause: "an extension that adds to what is left knows no moment by the client's clock"
                    .to_owned(),
                hint: "leave out `extend_adds` or `expiry_clock = \"client\"`".to_owned(),
            });
        }
        (fencing && self.key_expiry() != KeyExpiry::Px).then(|| Unfit {
            cause: "the script that counts grants gives keys a lease".to_owned(),
            hint: "use `expiry = \"px\"` and `expiry_clock = \"node\"`, or leave out `fencing`".to_owned(),
        })
    }
}

/// Whose wall clock says when a lease is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExpiryClock {
    /// The node's: as published.
    #[default]
    Node,
    /// The client's (`PXAT`), as rueidislock does. A node whose clock is ahead ends the key sooner by that much, or
    /// never sets it.
    Client,
}

impl Choice for ExpiryClock {
    const WORDS: &'static [(&'static str, Self)] = &[("node", Self::Node), ("client", Self::Client)];
}

/// How a key ends, all in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyExpiry {
    Px,
    None,
    PxatByClient,
}

/// How a lease is extended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExtendBy {
    /// By a script that compares the token.
    #[default]
    Compare,
    /// `SET … XX PX`, whoever the key belongs to: it is the caller's from then on.
    SetXx,
    /// `SET … IFEQ … PX`, which compares the token by itself: since Redis 8.4.
    SetIfeq,
    /// `PEXPIRE`, whoever the key belongs to.
    Plain,
}

impl Choice for ExtendBy {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("compare", Self::Compare),
        ("set-xx", Self::SetXx),
        ("set-ifeq", Self::SetIfeq),
        ("plain", Self::Plain),
    ];
}

/// What a lease counts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeadlineFrom {
    /// The moment before the request: the key cannot end sooner.
    #[default]
    Send,
    /// The reply. The node counts from the request, so that the client believes for the reply's way longer.
    Reply,
}

impl Choice for DeadlineFrom {
    const WORDS: &'static [(&'static str, Self)] = &[("send", Self::Send), ("reply", Self::Reply)];
}

/// How a call looks for a lock before it asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Probe {
    /// Not at all.
    #[default]
    None,
    /// It asks whether there is a key.
    Reads,
    /// It takes the lock and gives it back, as Laravel's scheduler does: what it leaves when it dies in between is a
    /// lock that nobody holds.
    Takes,
}

impl Choice for Probe {
    const WORDS: &'static [(&'static str, Self)] =
        &[("none", Self::None), ("reads", Self::Reads), ("takes", Self::Takes)];
}
