//! rueidislock, as its source has it: a key ends at a moment of the client's wall clock.

use std::time::Duration;

use crate::config::{Flaw, Profile, Remedy, Switches};

pub(super) static RUEIDISLOCK: Profile = Profile {
    name: "rueidislock",
    also: &["rueidis", "redis/rueidis"],
    library: "rueidislock",
    language: "Go",
    version: "1.0.76",
    files: "github.com/redis/rueidis 256d25a: rueidislock/lock.go, README.md",
    read_on: "2026-11-25",
    newest: None,
    meaning: "keys that end at a moment of the client's wall clock (PXAT), and a holder who is told by its \
        extensions",
    ttl: Some(Duration::from_secs(5)),
    fixed: || {
        Switches::new()
            .with("expiry_clock", "client")
            .with("elapsed_check", true)
            .with("drift_ratio", crate::Ratio { numerator: 0, denominator: std::num::NonZeroU32::MIN })
            .with("drift_constant", Duration::ZERO)
            .with("tells_deadline", false)
            .with("wake", "tracking")
            .with("poll", "none")
            .with("until_expiry", false)
            .with("request_timeout", Duration::from_millis(20))
            .with("on_timeout", "keep")
    },
    open: &["expiry_clock", "poll", "request_timeout", "wake"],
    flaws: &[
        Flaw {
            what: "A node whose clock is ahead ends the lock earlier by as much. If it is 3 s ahead, two clients \
                   hold a lock of 5 s until the first one extends it.",
            scenario: "rueidislock",
            repaired: "rueidislock/repaired",
            remedy: Remedy::Option("KeyValidity"),
        },
        Flaw {
            what: "A node whose clock is ahead by more than the lease sets no key at all: every client is granted \
                   the lock at once.",
            scenario: "rueidislock-no-exclusion",
            repaired: "rueidislock-no-exclusion/repaired",
            remedy: Remedy::Option("KeyValidity"),
        },
    ],
    left_out: &[
        "Its extension every 2.5 s beside the holder. Here programs extend, and find out as late as with \
         `DisableCache`.",
        "Client-side caching tells a holder within milliseconds that its key is gone: measured 24 ms, where \
         `DisableCache` took 507 ms. Here it wakes those who wait, and tells no holder.",
        "A majority of three keys on one server: here one, as for `KeyMajority` 1.",
        "`ForceWithContext`, which takes the lock from its holder and tells it.",
        "`FallbackSETPX`, with which a lock is taken by PX, and extensions go by the client's clock all the same.",
    ],
};
