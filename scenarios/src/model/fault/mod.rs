//! Faults as data, in the language of scenario files: hosts have names, and nothing is known of the kernel's numbers.
//!
//! [`Fault`] is what is done and when. A new kind of fault is a variant of [`Effect`], in `effect.rs`, and then
//! whatever the compiler asks for in the one table there and in `words.rs`. `kind.rs` has the types of that table,
//! `way.rs` ways between hosts.
//!
//! What a fault can be wrong about (a host that is not there, a moment that cannot come) is checked where scenarios are
//! read, [`crate::format`]. A fault that was made in Rust goes the same way:
//! [`Scenario::validate`](crate::Scenario::validate).

mod effect;
mod kind;
mod way;
mod words;

use std::fmt;
use std::time::Duration;

use doublehold_sim::{ClockKind, DelayLaw, Probability, RatePpb};
use doublehold_text::exact_duration;
pub use effect::Effect;
pub use kind::{Kind, Nature, Reach, Slot};
pub use way::Way;

pub use super::host::Names;
use super::when::When;

/// Something done to the world, and when. **Without [`Fault::at`] it strikes at the beginning of the run**, where no
/// client holds anything yet, and without [`Fault::lasting`] it is for good.
///
/// ```
/// use std::time::Duration;
/// use doublehold_scenarios::fault::{Fault, Way};
/// use doublehold_scenarios::when::{Mark, When};
///
/// let pause = Fault::pause("c1").at(When::event("c1", Mark::Check)).lasting(Duration::from_secs(12));
/// assert_eq!((pause.words(), pause.at.words()), ("c1 pauses for 12 s".into(), "at c1's check".into()));
///
/// let cut = Fault::cut(Way::between("c1", ["A", "B"])).at(Duration::from_secs(2));
/// assert_eq!(cut.to_string(), "the link between c1 and A and B is cut, at 2 s");
///
/// assert_eq!(Fault::crash("A").to_string(), "A crashes and stays down, at the beginning");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is done.
    pub effect: Effect,
    /// When.
    pub at: When,
    /// How long until it is taken back, if it is.
    pub lasting: Option<Duration>,
    /// Whether it strikes every time that its event comes, and not the first time only. A time comes once.
    pub each: bool,
    /// Whether the scenario still says something if it never strikes, or is not over when the run ends.
    pub optional: bool,
}

impl Fault {
    /// The fault at the beginning of the run, for good. [`Fault::at`] and [`Fault::lasting`] say otherwise.
    pub fn new(effect: Effect) -> Fault {
        Fault { effect, at: When::default(), lasting: None, each: false, optional: false }
    }

    /// Processes stop and go on: [`Effect::Pause`].
    pub fn pause(hosts: impl Into<Names>) -> Fault {
        Fault::new(Effect::Pause { hosts: hosts.into() })
    }

    /// Machines stand still: [`Effect::Suspend`].
    pub fn suspend(hosts: impl Into<Names>) -> Fault {
        Fault::new(Effect::Suspend { hosts: hosts.into(), resync: None })
    }

    /// Processes die: [`Effect::Crash`].
    pub fn crash(hosts: impl Into<Names>) -> Fault {
        Fault::new(Effect::Crash { hosts: hosts.into() })
    }

    /// Machines lose power: [`Effect::PowerLoss`].
    pub fn power_loss(hosts: impl Into<Names>) -> Fault {
        Fault::new(Effect::PowerLoss { hosts: hosts.into(), torn_tail: false })
    }

    /// Wall clocks are stepped by nanoseconds, back if negative: [`Effect::ClockStep`].
    pub fn clock_step(hosts: impl Into<Names>, by_ns: i64) -> Fault {
        Fault::new(Effect::ClockStep { hosts: hosts.into(), by_ns })
    }

    /// Clocks run at another rate: [`Effect::ClockDrift`].
    pub fn clock_drift(hosts: impl Into<Names>, by: RatePpb) -> Fault {
        Fault::new(Effect::ClockDrift { hosts: hosts.into(), by })
    }

    /// A clock stands still: [`Effect::ClockFreeze`].
    pub fn clock_freeze(hosts: impl Into<Names>, clock: ClockKind) -> Fault {
        Fault::new(Effect::ClockFreeze { hosts: hosts.into(), clock })
    }

    /// Links are cut: [`Effect::Cut`].
    pub fn cut(way: Way) -> Fault {
        Fault::new(Effect::Cut { way })
    }

    /// Links are slow: [`Effect::Slow`].
    pub fn slow(way: Way, by: Duration) -> Fault {
        Fault::new(Effect::Slow { way, by })
    }

    /// The next message is late: [`Effect::PacketDelay`].
    pub fn packet_delay(from: impl Into<Names>, to: impl Into<Names>, by: Duration) -> Fault {
        Fault::new(Effect::PacketDelay { from: from.into(), to: to.into(), by })
    }

    /// The next request is sent twice: [`Effect::Duplicate`].
    pub fn duplicate(from: impl Into<Names>, to: impl Into<Names>, after: Duration) -> Fault {
        Fault::new(Effect::Duplicate { from: from.into(), to: to.into(), after })
    }

    /// Transmissions are lost: [`Effect::Loss`].
    pub fn loss(way: Way, probability: Probability) -> Fault {
        Fault::new(Effect::Loss { way, probability })
    }

    /// Every command of nodes takes longer: [`Effect::SlowNode`].
    pub fn slow_node(hosts: impl Into<Names>, by: DelayLaw) -> Fault {
        Fault::new(Effect::SlowNode { hosts: hosts.into(), by })
    }

    /// A node becomes master, and all others are told: [`Effect::Promote`].
    pub fn promote(host: impl Into<Names>) -> Fault {
        Fault::new(Effect::Promote { host: host.into(), tell: None, rewrite_config: true })
    }

    /// Nodes follow another: [`Effect::Follow`].
    pub fn follow(hosts: impl Into<Names>, master: impl Into<String>) -> Fault {
        Fault::new(Effect::Follow { hosts: hosts.into(), master: master.into(), rewrite_config: true })
    }

    /// The same at another moment.
    #[must_use]
    pub fn at(self, when: impl Into<When>) -> Fault {
        Fault { at: when.into(), ..self }
    }

    /// The same, taken back after so long.
    #[must_use]
    pub fn lasting(self, lasting: Duration) -> Fault {
        Fault { lasting: Some(lasting), ..self }
    }

    /// The same every time that its event comes; of a chain, every time that the whole chain came anew.
    #[must_use]
    pub fn each(self) -> Fault {
        Fault { each: true, ..self }
    }

    /// The same, and a run counts in which it never strikes or is not over at the end.
    #[must_use]
    pub fn optional(self) -> Fault {
        Fault { optional: true, ..self }
    }

    /// What happens, as a sentence: `c1 pauses for 12 s`.
    pub fn words(&self) -> String {
        let does = self.effect.does();
        let several = match &self.effect {
            Effect::Crash { hosts } | Effect::PowerLoss { hosts, .. } => hosts.several(),
            _ => false,
        };
        let (stay, restart) = if several { ("stay", "restart") } else { ("stays", "restarts") };
        match (self.lasting, self.effect.kind().nature) {
            (None, Nature::Death) => format!("{does} and {stay} down"),
            (Some(Duration::ZERO), Nature::Death) => format!("{does} and {restart} at once"),
            (Some(after), Nature::Death) => format!("{does} and {restart} after {}", exact_duration(after)),
            (None, _) => does,
            (Some(lasting), _) => {
                format!("{does} for {}{}", exact_duration(lasting), self.effect.afterwards())
            }
        }
    }

    /// The fault as a clause in the past tense: `c1 was paused for 12 s`.
    pub fn did(&self) -> String {
        let did = self.effect.did();
        match (self.lasting, self.effect.kind().nature) {
            (Some(lasting), nature) if nature != Nature::Death => {
                format!("{did} for {}", exact_duration(lasting))
            }
            _ => did,
        }
    }

    /// When it strikes, as reports say it: `at c1's check`, `at c1's check, every time`, `at every SET executed
    /// for c1`.
    pub fn moment(&self) -> String {
        if self.each { self.at.words_of_each() } else { self.at.words() }
    }
}

/// `c1 pauses for 12 s, at c1's check`.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.words(), self.moment())
    }
}
