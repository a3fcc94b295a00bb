//! Symfony Lock, as its source has it: `CombinedStore` with `ConsensusStrategy` over several `RedisStore`s.

use std::time::Duration;

use crate::config::{Flaw, Profile, Remedy, Switches};

pub(super) static SYMFONY_COMBINED: Profile = Profile {
    name: "symfony-combined",
    also: &["CombinedStore", "ConsensusStrategy", "symfony/lock"],
    library: "Symfony Lock (CombinedStore)",
    language: "PHP",
    version: "7.1.1",
    files: "github.com/symfony/lock 091a6ff: Store/CombinedStore.php, Strategy/ConsensusStrategy.php, \
        Store/RedisStore.php, Lock.php, Key.php",
    read_on: "2026-11-25",
    newest: None,
    meaning: "CombinedStore over RedisStores: a majority by the wall clock, without drift",
    ttl: Some(Duration::from_secs(300)),
    fixed: || {
        Switches::new()
            .with("order", "sequential")
            .with("node_timeout", "none")
            .with("tries", 1_u32)
            .with("clock", "wall")
            .with("drift_ratio", crate::Ratio { numerator: 0, denominator: std::num::NonZeroU32::MIN })
            .with("drift_constant", Duration::ZERO)
            .with("extend_check", "new-lease")
            .with("on_failed_extension", "release")
    },
    open: &["clock", "node_timeout", "on_failed_extension"],
    flaws: &[
        Flaw {
            what: "If the wall clock is set back while a lock is held, its holder goes on believing in it after \
                   its keys have ended.",
            scenario: "symfony-combined-clock",
            repaired: "symfony-combined-clock/repaired",
            remedy: Remedy::MEASURE,
        },
        Flaw {
            what: "An extension that misses its quorum deletes the lock everywhere, though most of the lease is \
                   left, and throws. A program that catches that, and relies on its first lease, is no longer \
                   alone.",
            scenario: "symfony-combined-gives-up",
            repaired: "symfony-combined-gives-up/repaired",
            remedy: Remedy::Code("Let the exception of a failed `refresh()` end the work."),
        },
    ],
    left_out: &[
        "Its sorted sets, whose scores are times of the node: here a string key with a lease.",
        "The store's initial lease of 300 s, which an acquisition shortens in a second round of commands.",
        "A token lasts as long as the Lock object: here as long as a call.",
        "It stops asking where a majority cannot be met any more: here all nodes are asked.",
        "A program that lets the exception of a failed extension end its work loses nothing: here it goes on \
         until its old deadline.",
    ],
};
