//! Words that people use for a fault or a verdict if files have another word.
//!
//! For hints only, and not as further spellings: a file keeps one word for one thing, so that two files that mean the
//! same read the same, and a plan is found by its words.
//!
//! Decision: "Each kind of fault has only one word" (docs/decisions/scenarios.md).

use doublehold_text::suggest;

/// Kinds of faults, and other words for them. A word that may mean two kinds has both.
const KINDS: [(&[&str], &[&str]); 19] = [
    (
        &["pause"],
        &[
            "gc",
            "gc-pause",
            "garbage-collection",
            "stw",
            "stop-the-world",
            "stop",
            "stall",
            "hang",
            "freeze",
            "sleep",
            "block",
            "sigstop",
            "steal",
            "cpu-steal",
            "page-fault",
        ],
    ),
    (&["suspend"], &["hibernate", "standby", "vm-pause", "live-migration", "migration", "migrate"]),
    (&["crash"], &["kill", "sigkill", "die", "death", "dead", "exit", "panic", "abort", "segfault", "oom"]),
    (&["crash", "power-loss"], &["restart", "reboot", "down", "fail", "failure", "outage"]),
    (&["power-loss"], &["power", "power-cut", "power-failure", "blackout", "unplug"]),
    (
        &["clock-step"],
        &[
            "jump",
            "step",
            "leap",
            "leap-second",
            "ntp",
            "ntp-step",
            "clock-jump",
            "time-jump",
            "clock-set",
            "set-clock",
            "clock-change",
            "time-travel",
        ],
    ),
    (&["clock-drift"], &["drift", "slow-clock", "fast-clock", "clock-rate"]),
    (&["clock-step", "clock-drift"], &["skew", "clock-skew", "clock", "time-skew", "clock-error"]),
    (&["clock-freeze"], &["frozen-clock", "stuck-clock", "clock-stop", "clock-pause", "clock-stuck"]),
    (
        &["cut"],
        &[
            "partition",
            "network-partition",
            "net-split",
            "netsplit",
            "split",
            "split-brain",
            "isolate",
            "isolation",
            "blackhole",
            "unreachable",
            "link-down",
            "disconnect",
        ],
    ),
    (&["slow", "packet-delay"], &["latency", "delay", "lag", "jitter", "congestion", "late"]),
    (&["duplicate"], &["dup", "duplication", "double", "copy", "replay", "resend", "retry", "repeat"]),
    (&["loss"], &["drop", "packet-loss", "packet-drop", "lossy", "lose"]),
    (&["reset-connections"], &["rst", "tcp-reset", "connection-reset", "close", "broken-pipe"]),
    (&["flush"], &["flushall", "flushdb", "wipe", "truncate"]),
    (&["evict"], &["eviction", "maxmemory", "memory", "memory-pressure", "lru", "out-of-memory"]),
    (
        &["slow-node"],
        &[
            "overload",
            "overloaded",
            "busy",
            "cpu-load",
            "slow-server",
            "slow-command",
            "slowlog",
            "service-time",
            "saturation",
        ],
    ),
    (&["promote"], &["failover", "fail-over", "elect", "election", "switchover", "takeover", "sentinel"]),
    (&["follow"], &["demote", "replicaof", "slaveof", "replicate"]),
];

/// The verdicts that a file may state, and other words for them.
const VERDICTS: [(&str, &[&str]); 2] = [
    ("holds", &["hold", "ok", "pass", "passes", "safe", "true", "yes", "kept", "satisfied", "valid"]),
    (
        "violated",
        &["fail", "fails", "failed", "broken", "breaks", "unsafe", "false", "no", "violates", "violate"],
    ),
];

/// The way out after a word that is none of the known kinds of faults.
pub fn kind_hint(unknown: &str, known: &[&str]) -> String {
    let typed = unknown.trim().to_lowercase().replace(['_', ' '], "-");
    let meant = KINDS.iter().find(|(_, others)| others.contains(&typed.as_str()));
    let meant: Vec<&str> = meant
        .into_iter()
        .flat_map(|(kinds, _)| *kinds)
        .filter(|kind| known.contains(kind))
        .copied()
        .collect();
    match &meant[..] {
        [] => suggest::hint(unknown, known),
        kinds => format!("here that is called {}", suggest::either(kinds)),
    }
}

/// The way out after a word that is not a verdict.
pub(crate) fn verdict_hint(unknown: &str, known: &[&str]) -> String {
    let typed = unknown.trim().to_lowercase();
    match VERDICTS.iter().find(|(_, others)| others.contains(&typed.as_str())) {
        Some((word, _)) => format!("did you mean \"{word}\"?"),
        None => suggest::hint(unknown, known),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::fault::Effect;

    #[test]
    fn what_is_meant_is_a_kind_and_no_word_means_two_things() {
        let kinds: BTreeSet<&str> = Effect::kinds().iter().map(|kind| kind.word).collect();
        let mut seen = BTreeSet::new();
        for (meant, others) in KINDS {
            assert!(meant.iter().all(|kind| kinds.contains(kind)), "{meant:?}");
            for other in others {
                assert!(!kinds.contains(other) && seen.insert(*other), "{other}");
            }
        }
    }

    #[test]
    fn a_kind_that_is_not_to_be_had_is_not_named() {
        assert_eq!(kind_hint("Stop_the_World", &["pause", "crash"]), "here that is called `pause`");
        assert_eq!(kind_hint("latency", &["pause", "slow"]), "here that is called `slow`");
        assert_eq!(kind_hint("latency", &["pause", "crash"]), "known are `pause` and `crash`");
    }
}
