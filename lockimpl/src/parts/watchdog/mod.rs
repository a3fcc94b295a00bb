//! Renewal of a lease beside its holder: a task, often called a watchdog, extends the lease again and again while the
//! holder works, and may tell it that the lock is lost.
//!
//! Only the switches are here; [`task`] renews, [`Watch`](crate::Watch) is what a holder has of it. The task uses the
//! connections of the lock it renews for, as drivers that send several requests on one do: a renewal that was sent
//! before a release is executed before it. A library that takes another connection of a pool for each has no such
//! order, and its renewal may come later still. Does not model renewals that are put together for many keys.

mod task;

use std::time::Duration;

use crate::config::{Choice, Facts, Form, LockConfig, Most, RenewEvery, Unfit};
use crate::env::Env;
use crate::registry::BoxLock;

pub(crate) use task::Renewable;
use task::WatchedLock;

/// From when the next renewal is counted, and the lease that one that succeeded has begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RenewFrom {
    /// When the request was sent: the node cannot have counted from earlier.
    #[default]
    Send,
    /// When its reply came, which may be late: the node has counted for longer then.
    Reply,
}

impl Choice for RenewFrom {
    const WORDS: &'static [(&'static str, Self)] = &[("send", Self::Send), ("reply", Self::Reply)];
}

/// How a holder learns that the watchdog knows its lock to be lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToldOnLoss {
    /// It does not: there is an entry in a log.
    #[default]
    None,
    /// Its release says so, and asks no node.
    AtRelease,
    /// It can ask for a flag, which says what the last renewal came to: renewals go on after one that failed, unless
    /// they are to [end](Renewal::stops_on_error) there, and one that succeeds sets it right again.
    Flag,
    /// At once, when a renewal finds that the lock is lost.
    Callback,
    /// The same, and also when a renewal is due and the lease must have ended before.
    WhenDue,
    /// Like a callback, and also when the lease must have ended by its own monotonic clock, whatever became of the
    /// renewals.
    LeaseEnd,
}

impl Choice for ToldOnLoss {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("none", Self::None),
        ("at-release", Self::AtRelease),
        ("flag", Self::Flag),
        ("callback", Self::Callback),
        ("when-due", Self::WhenDue),
        ("lease-end", Self::LeaseEnd),
    ];
}

/// When the watchdog of a lock that is given back ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StopOnRelease {
    /// Before the release is sent.
    #[default]
    Before,
    /// When the release has come to something, also to nothing. Until then a renewal may follow the release.
    After,
    /// When a node has said what became of the release: one that is not answered leaves a key that is renewed for as
    /// long as the process lives.
    Confirmed,
}

impl Choice for StopOnRelease {
    const WORDS: &'static [(&'static str, Self)] =
        &[("before", Self::Before), ("after", Self::After), ("confirmed", Self::Confirmed)];
}

/// The switches of a lock that renews its leases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// How often. Default: never, and nothing else here matters.
    pub every: Option<RenewEvery>,
    /// From when the next one is counted. The first is counted from the call that was granted: from its end, if replies
    /// count, or if the call took longer than the lease, since its last request must be younger; else from its
    /// beginning.
    pub from: RenewFrom,
    /// End at the first renewal that failed in any way, and count the lock as lost. Off: the next is tried an interval
    /// later.
    pub stops_on_error: bool,
    /// How often a lease is renewed at most; none: for as long as the process lives.
    pub cap: Option<u64>,
    /// How the holder learns that the lock is lost.
    pub told: ToldOnLoss,
    /// When it ends for a lock that is given back.
    pub stop: StopOnRelease,
}

impl Renewal {
    /// Asks for the switches.
    pub(crate) fn choose(form: &mut Form<'_>) -> Self {
        const EVERY: &str = "renew_every";
        let every = form.interval(EVERY, "how often a lease is renewed beside its holder");
        let from = form.choice(
            "renew_from",
            RenewFrom::default(),
            "from when the next renewal is counted: when the last was sent, or answered",
        );
        form.needs(EVERY);
        let stops_on_error =
            form.flag("renew_stops_on_error", false, "renew no more after the first renewal that failed");
        form.needs(EVERY);
        let cap = form.optional_number(
            "renew_cap",
            (1, Most::Fixed(1_000_000)),
            "how often a lease is renewed at most; as long as the process lives if left out",
        );
        form.needs(EVERY);
        let told = form.choice(
            "told_on_loss",
            ToldOnLoss::default(),
            "how a holder learns from a renewal that its lock is lost",
        );
        form.needs(EVERY);
        let stop = form.choice(
            "stop_on_release",
            StopOnRelease::default(),
            "when renewals end for a lock that is given back: before the release is sent, after it, or once a node has \
             answered it",
        );
        form.needs(EVERY);
        Self { every, from, stops_on_error, cap, told, stop }
    }

    /// A lock that is renewed so: as it is, if it is not.
    pub(crate) fn wrap_lock<E: Env>(self, env: E, lock: impl Renewable) -> BoxLock {
        match self.every {
            Some(_) => BoxLock::new(WatchedLock::new(env, self, lock)),
            None => BoxLock::new(lock),
        }
    }

    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        let every = self.every?;
        (every.interval(ttl) >= ttl).then(|| Unfit {
            cause: "`lock.renew_every` is as long as the lease, which has ended when it is to be renewed"
                .to_owned(),
            hint: "use a longer `ttl`, or a shorter `renew_every`".to_owned(),
        })
    }
}

/// The switches of a lock, and of its renewal.
pub(crate) struct WatchedConfig<C> {
    pub(crate) lock: C,
    pub(crate) renewal: Renewal,
}

impl<C: LockConfig> LockConfig for WatchedConfig<C> {
    fn read(form: &mut Form<'_>) -> Self {
        Self { lock: C::read(form), renewal: Renewal::choose(form) }
    }

    fn facts(&self) -> Facts {
        let mut facts = self.lock.facts();
        facts.renews = self.renewal.every.is_some() && facts.extends;
        if let Some(sends) = facts.sends.as_mut().filter(|_| facts.renews) {
            sends.to_hold.extend(&sends.to_extend);
        }
        facts
    }

    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        let endless = (self.renewal.every.is_some() && !self.lock.facts().extends).then(|| Unfit {
            cause: "`lock.renew_every` has nothing to renew: the lock's key has no end".to_owned(),
            hint: "leave out `renew_every`, or give the key an end".to_owned(),
        });
        self.lock.unfit(ttl).or(endless).or_else(|| self.renewal.unfit(ttl))
    }
}
