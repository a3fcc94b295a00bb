//! The sign of each client: what stands for it in the lanes of the nodes, one column wide.
//!
//! Where every client's name ends in a digit of its own (`c1`, `c2`), that digit is the sign and needs no explanation.
//! Otherwise clients are counted, and the legend says who is who: `alice` and `anna` share their first letter, and
//! names that end alike share their last.

/// The signs of a run's clients, in the scenario's order.
#[derive(Debug)]
pub(super) struct ClientSigns {
    signs: Vec<char>,
    in_names: bool,
}

/// The sign of every client beyond those that can be told apart by one character.
const OTHERS: char = '*';

impl ClientSigns {
    pub(super) fn new<'n>(names: impl Iterator<Item = &'n str> + Clone) -> ClientSigns {
        let digits: Option<Vec<char>> = names.clone().map(own_digit).collect();
        match digits.filter(|digits| all_differ(digits)) {
            Some(signs) => ClientSigns { signs, in_names: true },
            None => ClientSigns {
                signs: names.enumerate().map(|(place, _)| nth_sign(place)).collect(),
                in_names: false,
            },
        }
    }

    /// The sign of the client at this place.
    pub(super) fn sign_at(&self, place: usize) -> char {
        self.signs.get(place).copied().unwrap_or(OTHERS)
    }

    /// Whether a reader sees from the names who is who.
    pub(super) fn are_in_names(&self) -> bool {
        self.in_names
    }
}

/// The digit that a name ends in, if it is the only one there: `c12` could be read as 2.
fn own_digit(name: &str) -> Option<char> {
    let mut backwards = name.chars().rev();
    let digit = backwards.next().filter(char::is_ascii_digit)?;
    (!backwards.next().is_some_and(|c| c.is_ascii_digit())).then_some(digit)
}

fn all_differ(signs: &[char]) -> bool {
    let mut sorted = signs.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len() == signs.len()
}

/// 1 to 9, then the letters.
fn nth_sign(place: usize) -> char {
    ('1'..='9').chain('a'..='z').chain('A'..='Z').nth(place).unwrap_or(OTHERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signs(names: &[&str]) -> (String, bool) {
        let signs = ClientSigns::new(names.iter().copied());
        ((0..names.len()).map(|place| signs.sign_at(place)).collect(), signs.are_in_names())
    }

    #[test]
    fn digits_that_tell_the_names_apart_are_the_signs() {
        assert_eq!(signs(&["c1", "c2", "worker3"]), ("123".to_owned(), true));
        assert_eq!(signs(&["c2", "c1"]), ("21".to_owned(), true));
    }

    #[test]
    fn names_that_begin_or_end_alike_are_counted() {
        assert_eq!(signs(&["alice", "anna"]), ("12".to_owned(), false));
        assert_eq!(signs(&["a1", "b1"]), ("12".to_owned(), false));
        assert_eq!(signs(&["c1", "c12"]), ("12".to_owned(), false));
    }

    #[test]
    fn there_is_a_sign_for_everybody() {
        let names: Vec<String> = (0..70).map(|number| format!("client {number}")).collect();
        let (signs, in_names) = signs(&names.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(signs.starts_with("123456789abc") && signs.ends_with("XYZ*********") && !in_names, "{signs}");
    }
}
