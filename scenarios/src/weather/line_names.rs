//! The names of a weather's lines: their kinds and whom they strike, whatever their numbers are.
//!
//! Random streams, strata and parameters of studies call lines by these names, so that a line whose rate is changed is
//! still the same line.
//!
//! Decision: "The random draws of a weather line depend only on what the line is" (docs/decisions/scenarios.md).

use std::fmt;

use super::RandomFault;
use crate::model::fault::{Names, Reach};

/// The name of a line among all lines of its weather: `crash[nodes]`, or `crash[nodes]#2` where it is the second of
/// this kind and these hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineName {
    kind: String,
    /// Whom it strikes: `clients,nodes`, or of links `clients>nodes`.
    whom: String,
    /// Its number among its equals, from 1.
    place: u32,
}

impl LineName {
    /// The names of lines, from the kind and the struck hosts of each.
    pub fn of_lines(lines: impl IntoIterator<Item = (String, String)>) -> Vec<LineName> {
        let mut names: Vec<LineName> = Vec::new();
        for (kind, whom) in lines {
            let equals = names.iter().filter(|known| known.kind == kind && known.whom == whom).count();
            names.push(LineName { kind, whom, place: equals as u32 + 1 });
        }
        names
    }

    /// The names of the lines of a weather.
    pub fn of_faults(faults: &[RandomFault]) -> Vec<LineName> {
        LineName::of_lines(faults.iter().map(identity))
    }

    /// The shortest names: the kind of a line that is the only one of its kind, and the whole name of any other.
    pub fn shortest(names: &[LineName]) -> Vec<String> {
        let is_only = |name: &LineName| names.iter().filter(|other| other.kind == name.kind).count() == 1;
        names.iter().map(|name| if is_only(name) { name.kind.clone() } else { name.to_string() }).collect()
    }

    /// True if a word means this line: its name, or its kind, which means all lines of that kind.
    pub fn is_meant_by(&self, word: &str) -> bool {
        let after_kind = word.strip_prefix(self.kind.as_str());
        after_kind.is_some_and(|rest| rest.is_empty() || rest.starts_with('[') && word == self.to_string())
    }

    /// The kind of fault.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The label of the line's random stream.
    pub(super) fn label(&self) -> String {
        format!("weather/{}/{}/{}", self.kind, self.whom, self.place)
    }
}

impl fmt::Display for LineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.kind, self.whom)?;
        if self.place > 1 { write!(f, "#{}", self.place) } else { Ok(()) }
    }
}

/// The kind of a line and whom it strikes.
fn identity(fault: &RandomFault) -> (String, String) {
    let hosts = |names: &Names| names.0.join(",");
    let whom = match fault.effect.clone().reach() {
        Reach::Hosts(names) => hosts(names),
        Reach::Links { from, to, .. } => format!("{}>{}", hosts(from), hosts(to)),
    };
    (fault.effect.kind().word.to_owned(), whom)
}

#[cfg(test)]
mod tests {
    use super::LineName;

    fn names(lines: &[(&str, &str)]) -> Vec<LineName> {
        LineName::of_lines(lines.iter().map(|(kind, whom)| ((*kind).to_owned(), (*whom).to_owned())))
    }

    #[test]
    fn lines_are_named_by_kind_then_by_hosts_then_by_count() {
        let names = names(&[
            ("pause", "clients"),
            ("suspend", "clients,nodes"),
            ("suspend", "clients,nodes"),
            ("suspend", "nodes"),
            ("suspend", "clients,nodes"),
            ("cut", "clients>nodes,resource"),
            ("cut", "nodes>replicas"),
        ]);
        let shortest = [
            "pause",
            "suspend[clients,nodes]",
            "suspend[clients,nodes]#2",
            "suspend[nodes]",
            "suspend[clients,nodes]#3",
            "cut[clients>nodes,resource]",
            "cut[nodes>replicas]",
        ];
        assert_eq!(LineName::shortest(&names), shortest);
        assert_eq!(names[0].to_string(), "pause[clients]");
        assert_eq!(names[2].label(), "weather/suspend/clients,nodes/2");
    }

    #[test]
    fn a_word_means_a_line_or_all_lines_of_a_kind() {
        let names = names(&[("crash", "c"), ("crash", "c"), ("crash", "c,d"), ("clock-step", "c")]);
        let meant = |word: &str| names.iter().map(|name| name.is_meant_by(word)).collect::<Vec<_>>();
        assert_eq!(meant("crash"), [true, true, true, false]);
        assert_eq!(meant("crash[c]"), [true, false, false, false]);
        assert_eq!(meant("crash[c]#2"), [false, true, false, false]);
        assert_eq!(meant("crash[c,d]"), [false, false, true, false]);
        assert_eq!(meant("clock-step[c]"), [false, false, false, true], "its whole name means an only line");
        for nobody in ["", "cra", "crashes", "crash[", "crash[c", "crash[c]#1", "crash[c]#3", "clock"] {
            assert_eq!(meant(nobody), [false; 4], "{nobody}");
        }
    }
}
