//! The choices in which the designs of a study differ: which lock it is, whether its holder looks at its deadline or
//! heeds the news of a loss, and what the resource checks. So that a page can say which of these matters, and lay
//! designs out as a table of locks by checks.
//!
//! Reads the worlds of records as TOML. Two designs that differ in one of these alone are a pair that speaks for it.

use std::collections::BTreeMap;

use doublehold_sweeps::sweep::DesignHeader;
use toml::{Table, Value};

/// Something that a design chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Factor {
    /// The checks of the resource, and the numbers that it needs for that.
    Check,
    /// A look of the holder at its deadline, or none.
    Deadline,
    /// The news of a loss that the holder heeds, or none.
    News,
    /// Everything else: the lock, its nodes.
    Lock,
}

impl Factor {
    pub(crate) const ALL: [Factor; 4] = [Factor::Check, Factor::Deadline, Factor::News, Factor::Lock];

    fn of_key(key: &str) -> Factor {
        match key {
            "lock.elapsed_check" => Factor::Deadline,
            "lock.heeds" | "lock.heeds_loss" => Factor::News,
            "lock.fencing" => Factor::Check,
            key if key.starts_with("resource.") => Factor::Check,
            _ => Factor::Lock,
        }
    }
}

/// The choice of each design for each factor: the same text for the same choice.
pub(crate) struct Choices(Vec<BTreeMap<Factor, String>>);

impl Choices {
    pub(crate) fn from_designs(designs: &[DesignHeader]) -> Choices {
        let of = |design: &DesignHeader| {
            let mut keys = BTreeMap::new();
            if let Ok(file) = design.world.parse::<Table>() {
                flatten("", &Value::Table(file), &mut keys);
            }
            let mut choice: BTreeMap<Factor, String> =
                Factor::ALL.map(|factor| (factor, String::new())).into();
            for (key, value) in keys {
                // What a lock lacks and what it has turned off is one choice.
                if TURNED_OFF.contains(&(key.as_str(), value.as_str())) {
                    continue;
                }
                choice.entry(Factor::of_key(&key)).or_default().push_str(&format!("{key} = {value}\n"));
            }
            choice
        };
        Choices(designs.iter().map(of).collect())
    }

    /// True if two designs differ in this factor and in no other.
    pub(crate) fn differ_in(&self, factor: Factor, (one, other): (usize, usize)) -> bool {
        Factor::ALL.iter().all(|it| (self.0[one][it] != self.0[other][it]) == (*it == factor))
    }

    /// True if a resource checks nothing.
    pub(crate) fn has_no_check(&self, design: usize) -> bool {
        let text = &self.0[design][&Factor::Check];
        text.lines().all(|line| {
            let (key, value) = line.split_once(" = ").unwrap_or((line, ""));
            !CHECKS.contains(&key) || ["false", "\"off\""].contains(&value)
        })
    }

    /// The checks of a resource, in words.
    pub(crate) fn check_words(&self, design: usize) -> String {
        let text = &self.0[design][&Factor::Check];
        let has = |line: &str| text.lines().any(|known| known == line);
        let words = [
            (has("resource.fencing = \"reject-lower\""), "numbers (fenced)"),
            (has("resource.fencing = \"reject-lower-or-equal\""), "numbers (fenced), no number twice"),
            (has("resource.fence_reads = true"), "at reads too"),
            (has("resource.version_check = true"), "versions"),
            (has("resource.writes = \"in-session\""), "the writer's session (data in the lock's database)"),
        ];
        let words: Vec<&str> = words.into_iter().filter(|(is, _)| *is).map(|(_, words)| words).collect();
        if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
    }

    /// True if a holder looks at its deadline.
    pub(crate) fn looks_at_deadline(&self, design: usize) -> bool {
        self.0[design][&Factor::Deadline].contains("true")
    }

    /// True if a holder heeds the news of a loss.
    pub(crate) fn heeds_news(&self, design: usize) -> bool {
        !self.0[design][&Factor::News].is_empty()
    }

    /// The designs as a table: a row for each lock, with the design of each check, by its place among the checks. None
    /// unless there are several of both, and at most one design in each place.
    pub(crate) fn table(&self) -> Option<Vec<Vec<Option<usize>>>> {
        let lock =
            |design: usize| [Factor::Lock, Factor::Deadline, Factor::News].map(|it| &self.0[design][&it]);
        let (mut locks, mut checks) = (Vec::new(), Vec::new());
        for design in 0..self.0.len() {
            if !locks.contains(&lock(design)) {
                locks.push(lock(design));
            }
            if !checks.contains(&&self.0[design][&Factor::Check]) {
                checks.push(&self.0[design][&Factor::Check]);
            }
        }
        let is_grid = locks.len() > 1 && checks.len() > 1 && self.0.len() > locks.len().max(checks.len());
        let mut table = vec![vec![None; checks.len()]; locks.len()];
        for design in 0..self.0.len() {
            let row = locks.iter().position(|it| *it == lock(design))?;
            let column = checks.iter().position(|it| **it == self.0[design][&Factor::Check])?;
            if table[row][column].replace(design).is_some() {
                return None;
            }
        }
        is_grid.then_some(table)
    }
}

/// The keys that make a resource check.
const CHECKS: [&str; 4] =
    ["resource.fencing", "resource.fence_reads", "resource.version_check", "resource.writes"];

/// The values with which a lock or a resource is as if it had no such key.
const TURNED_OFF: [(&str, &str); 5] = [
    ("lock.elapsed_check", "false"),
    ("lock.fencing", "false"),
    ("lock.heeds", "\"nothing\""),
    ("lock.heeds_loss", "false"),
    ("resource.writes", "\"elsewhere\""),
];

/// All values of a file by their paths, but for words about it and its faults.
fn flatten(path: &str, value: &Value, keys: &mut BTreeMap<String, String>) {
    const NOT_OF_DESIGN: [&str; 8] =
        ["claim", "source", "story", "id", "seed", "expect", "weather", "variants"];
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                let is_told = path.is_empty() && NOT_OF_DESIGN.contains(&key.as_str());
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                if !is_told {
                    flatten(&path, value, keys);
                }
            }
        }
        other => {
            keys.insert(path.to_owned(), other.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn designs(worlds: &[&str]) -> Vec<DesignHeader> {
        let design = |world: &&str| DesignHeader {
            name: String::new(),
            about: String::new(),
            weather: Vec::new(),
            strikes_for: String::new(),
            world: (*world).to_owned(),
            has_no_deadline: false,
        };
        worlds.iter().map(design).collect()
    }

    #[test]
    fn designs_that_differ_in_one_choice_are_a_pair_for_it() {
        let one = "claim = \"a\"\n[lock]\nelapsed_check = true\n[nodes]\nnames = [\"A\"]\n";
        let other = "claim = \"b\"\n[lock]\nelapsed_check = false\n[nodes]\nnames = [\"A\"]\n";
        let checked = format!("{one}[resource]\nversion_check = true\n");
        let choices = Choices::from_designs(&designs(&[one, other, &checked]));
        assert!(choices.differ_in(Factor::Deadline, (0, 1)));
        assert!(choices.differ_in(Factor::Check, (0, 2)));
        assert!(!choices.differ_in(Factor::Check, (1, 2)), "they differ in two");
        assert!(choices.has_no_check(0) && !choices.has_no_check(2));
        assert_eq!(choices.table(), Some(vec![vec![Some(0), Some(2)], vec![Some(1), None]]));
        assert_eq!(Choices::from_designs(&designs(&[one, other])).table(), None, "all have one check");
    }

    #[test]
    fn a_holder_that_heeds_news_differs_from_one_that_heeds_nothing_in_that_alone() {
        let world =
            |lock: &str| format!("[lock]\nalgorithm = \"kazoo\"\n{lock}\n[service]\nkind = \"zookeeper\"\n");
        let worlds = ["", "heeds = \"nothing\"", "heeds = \"suspended\""].map(world);
        let choices = Choices::from_designs(&designs(&worlds.each_ref().map(String::as_str)));
        assert!(choices.differ_in(Factor::News, (0, 2)) && choices.differ_in(Factor::News, (1, 2)));
        assert!(!choices.differ_in(Factor::News, (0, 1)), "nothing is what a lock without the key heeds");
        assert!(choices.heeds_news(2) && !choices.heeds_news(1));
    }

    #[test]
    fn a_session_that_writes_its_data_is_a_check_and_data_elsewhere_are_none() {
        let world =
            |writes: &str| format!("[lock]\nalgorithm = \"row-lock\"\n[resource]\nwrites = \"{writes}\"\n");
        let worlds = ["in-session", "elsewhere"].map(world);
        let choices = Choices::from_designs(&designs(&worlds.each_ref().map(String::as_str)));
        assert!(choices.differ_in(Factor::Check, (0, 1)));
        assert!(!choices.has_no_check(0) && choices.has_no_check(1));
        assert_eq!(
            [0, 1].map(|it| choices.check_words(it)),
            ["the writer's session (data in the lock's database)", "nothing"]
        );
    }
}
