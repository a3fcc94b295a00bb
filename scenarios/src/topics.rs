//! Topics: what the debate is about, part by part. A folder of the catalogue and a file of claims each.

/// One part of the debate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its name, as typed.
    pub name: &'static str,
    /// What is argued about, in a sentence.
    pub line: &'static str,
    /// The scenario to begin with.
    pub start: &'static str,
    /// What the numbers of its claims begin with: `S6`, `L4b`.
    pub letters: &'static [&'static str],
}

/// All topics, in the order in which they build upon each other.
pub const TOPICS: [Topic; 9] = [
    Topic {
        name: "one-node",
        line: "One key on one Redis: what textbooks' locks get wrong, and what a token and a lease mend.",
        start: "token-release",
        letters: &["S"],
    },
    Topic {
        name: "failover",
        line: "A master with replicas: what a failover loses, and what WAIT and its kin buy.",
        start: "failover-before-replication",
        letters: &["R"],
    },
    Topic {
        name: "redlock",
        line: "A majority of independent nodes: pauses, crashes, clean-up, extensions, quorums.",
        start: "gc-in-flight",
        letters: &["L"],
    },
    Topic {
        name: "time",
        line: "Clocks that jump, drift or stand still, and packets that are late.",
        start: "suspend-in-flight",
        letters: &["T"],
    },
    Topic {
        name: "fencing",
        line: "Numbers, tokens and versions that the resource checks: what they save, and what not.",
        start: "fencing-33-34",
        letters: &["F", "Q"],
    },
    Topic {
        name: "renewal",
        line: "Holders that renew their lease, and re-entrancy.",
        start: "paused-watchdog",
        letters: &["W"],
    },
    Topic {
        name: "services",
        line: "ZooKeeper, etcd and a database in place of Redis: what a session ends, and who hears of it.",
        start: "zookeeper-pause",
        letters: &["W9", "W10", "W11", "W12", "W13"],
    },
    Topic {
        name: "liveness",
        line: "Waiting: how long until somebody has the lock, and when nobody ever has.",
        start: "majority-up",
        letters: &["C"],
    },
    Topic {
        name: "libraries",
        line: "The locks of libraries that people run, each with its real defaults, and what is wrong with it.",
        start: "stalled-job",
        letters: &["A"],
    },
];

/// The topic of such a name.
pub fn find_topic(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}

#[cfg(test)]
mod tests {
    use super::TOPICS;
    use crate::catalog;

    #[test]
    fn each_folder_is_a_topic_and_each_topic_begins_with_a_scenario_of_its_own() {
        let entries = catalog::entries().unwrap();
        for entry in &entries {
            assert!(
                TOPICS.iter().any(|topic| topic.name == entry.topic),
                "{} of {:?}",
                entry.name,
                entry.topic
            );
        }
        for topic in TOPICS {
            let start = entries.iter().find(|entry| entry.name == topic.start);
            assert_eq!(start.map(|entry| entry.topic), Some(topic.name), "{}", topic.start);
        }
    }
}
