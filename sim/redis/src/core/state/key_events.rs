//! The setting `notify-keyspace-events`: classes of events of keys, and their letters.

/// A class of events, or a way to tell them: the letters of `notify-keyspace-events`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class(u16);

impl Class {
    pub(crate) const KEYSPACE: Class = Class(1);
    pub(crate) const KEYEVENT: Class = Class(1 << 1);
    pub(crate) const GENERIC: Class = Class(1 << 2);
    pub(crate) const STRING: Class = Class(1 << 3);
    pub(crate) const LIST: Class = Class(1 << 4);
    pub(crate) const SET: Class = Class(1 << 5);
    pub(crate) const HASH: Class = Class(1 << 6);
    pub(crate) const SORTED_SET: Class = Class(1 << 7);
    pub(crate) const EXPIRED: Class = Class(1 << 8);
    pub(crate) const EVICTED: Class = Class(1 << 9);
    pub(crate) const STREAM: Class = Class(1 << 10);
    pub(crate) const MISS: Class = Class(1 << 11);
    const MODULE: Class = Class(1 << 13);
    pub(crate) const NEW: Class = Class(1 << 14);
}

/// The letters of the classes that `A` stands for, in the order in which CONFIG GET shows them.
const ALL: [(u8, Class); 10] = [
    (b'g', Class::GENERIC),
    (b'$', Class::STRING),
    (b'l', Class::LIST),
    (b's', Class::SET),
    (b'h', Class::HASH),
    (b'z', Class::SORTED_SET),
    (b'x', Class::EXPIRED),
    (b'e', Class::EVICTED),
    (b't', Class::STREAM),
    (b'd', Class::MODULE),
];

/// The others, likewise. `n` disappears behind an `A`: Redis forgets to show it.
const OTHERS: [(u8, Class); 4] =
    [(b'n', Class::NEW), (b'K', Class::KEYSPACE), (b'E', Class::KEYEVENT), (b'm', Class::MISS)];

/// What `notify-keyspace-events` is set to. `Default`: nobody is told anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyEvents(u16);

impl KeyEvents {
    /// What these letters ask for; `None` if one of them stands for nothing.
    pub fn parse(letters: &[u8]) -> Option<KeyEvents> {
        let mut bits = letters.iter().map(|letter| match letter {
            b'A' => Some(KeyEvents::all()),
            letter => {
                let mut known = ALL.iter().chain(&OTHERS);
                known.find(|(known, _)| known == letter).map(|(_, class)| class.0)
            }
        });
        bits.try_fold(0, |all, bits| Some(all | bits?)).map(KeyEvents)
    }

    fn all() -> u16 {
        ALL.iter().fold(0, |all, (_, class)| all | class.0)
    }

    /// The letters, as CONFIG GET shows them.
    pub(crate) fn text(self) -> String {
        let has_all = self.0 & KeyEvents::all() == KeyEvents::all();
        let mut text = String::from(if has_all { "A" } else { "" });
        let classes = ALL.iter().filter(|_| !has_all).chain(&OTHERS);
        let shown = classes.filter(|(letter, class)| self.has(*class) && !(has_all && *letter == b'n'));
        text.extend(shown.map(|(letter, _)| char::from(*letter)));
        text
    }

    pub(crate) fn has(self, class: Class) -> bool {
        self.0 & class.0 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_shown_in_the_order_in_which_redis_shows_them() {
        let cases = [
            ("", ""),
            ("KEA", "AKE"),
            ("EKg$lshzxetd", "AKE"),
            ("Ex", "xE"),
            ("xEmn", "xnEm"),
            ("AKEmn", "AKEm"),
            ("KKzz", "zK"),
        ];
        for (letters, shown) in cases {
            assert_eq!(KeyEvents::parse(letters.as_bytes()).map(KeyEvents::text).as_deref(), Some(shown));
        }
        for bad in ["q", "KEA ", "ke", "K\0"] {
            assert_eq!(KeyEvents::parse(bad.as_bytes()), None, "{bad}");
        }
    }
}
