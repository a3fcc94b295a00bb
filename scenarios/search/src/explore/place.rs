//! A placement: which fault at which step, so that it can be compared, kept in a file, and made into faults again.

use doublehold_scenarios::model::fault::Fault;
use doublehold_scenarios::model::when::{Nth, When};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::kinds::Kinds;

/// A fault of a search: the `choice`-th of those that can strike at a step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The step.
    pub at: Nth,
    /// Which of [`Kinds::at`].
    pub choice: usize,
}

impl Place {
    /// The fault; `None` if there are not so many at this step.
    pub(super) fn fault(&self, kinds: &Kinds) -> Option<Fault> {
        kinds.at(&self.at).into_iter().nth(self.choice)
    }
}

/// As `["c1's 3rd check", 1]`.
impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.at.to_string(), self.choice).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Place, D::Error> {
        let (text, choice) = <(String, usize)>::deserialize(deserializer)?;
        match text.parse() {
            Ok(When::On { events, after }) if after.is_zero() && events.len() == 1 => {
                let at = events.into_iter().next().expect("there is one");
                Ok(Place { at, choice })
            }
            _ => Err(de::Error::custom(format!("`{text}` is no step"))),
        }
    }
}

/// Every choice of some of these but of all of them, each in order, the empty one first.
pub(super) fn proper_subsets(places: &[Place]) -> impl Iterator<Item = Vec<Place>> {
    let all = (1_usize << places.len()) - 1;
    (0..all).map(|mask| {
        let chosen = places.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1);
        sorted_places(chosen.map(|(_, place)| place.clone()).collect())
    })
}

/// The same set, whatever the order in which its faults strike.
pub(super) fn sorted_places(mut places: Vec<Place>) -> Vec<Place> {
    places.sort_unstable();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, choice: usize) -> Place {
        let Ok(When::On { mut events, .. }) = text.parse() else { panic!("`{text}` is an event") };
        Place { at: events.remove(0), choice }
    }

    #[test]
    fn a_place_is_written_and_read_as_itself() {
        for place in [place("c1's 3rd check", 1), place("the 2nd SET executed for c1 on A", 0)] {
            let text = serde_json::to_string(&place).unwrap();
            assert_eq!(serde_json::from_str::<Place>(&text).unwrap(), place, "{text}");
        }
        assert!(serde_json::from_str::<Place>(r#"["2s", 0]"#).is_err());
        assert!(serde_json::from_str::<Place>(r#"["1s after c1's check", 0]"#).is_err());
        assert!(serde_json::from_str::<Place>(r#"["c1's check after c1's grant", 0]"#).is_err());
    }

    #[test]
    fn the_proper_subsets_of_two_are_none_and_each_alone() {
        let (one, other) = (place("c1's write", 0), place("c1's check", 0));
        let subsets: Vec<Vec<Place>> = proper_subsets(&[one.clone(), other.clone()]).collect();
        assert_eq!(subsets, [vec![], vec![one.clone()], vec![other.clone()]]);
        assert_eq!(proper_subsets(std::slice::from_ref(&one)).count(), 1);
        let three = [one.clone(), other.clone(), place("c1's read", 0)];
        assert_eq!(proper_subsets(&three).count(), 7);
        assert!(proper_subsets(&three).all(|subset| subset.is_sorted()));
    }
}
