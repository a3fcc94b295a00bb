//! A set: members in no order that Redis promises. Here they are in order of their bytes, or of the number they are.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::ELEMENT_BYTES;
use crate::resp::integer;

/// Redis keeps a set of numbers as an `intset` up to this many.
const MAX_INTEGERS: usize = 512;

/// A key's set. One of numbers only is kept as such; it never turns back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    Integers(BTreeSet<i64>),
    Table(Table),
}

/// A set that is no set of numbers any more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    members: BTreeSet<Vec<u8>>,
    size: u64,
}

fn member_size(member: &[u8]) -> u64 {
    (member.len() + ELEMENT_BYTES) as u64
}

impl Table {
    fn insert(&mut self, member: &[u8]) -> bool {
        let is_new = !self.members.contains(member);
        if is_new {
            self.size += member_size(member);
            self.members.insert(member.to_vec());
        }
        is_new
    }

    fn remove(&mut self, member: &[u8]) -> bool {
        let was_there = self.members.remove(member);
        if was_there {
            self.size -= member_size(member);
        }
        was_there
    }
}

impl Default for Set {
    fn default() -> Set {
        Set::Integers(BTreeSet::new())
    }
}

impl Set {
    pub(crate) fn len(&self) -> usize {
        match self {
            Set::Integers(numbers) => numbers.len(),
            Set::Table(table) => table.members.len(),
        }
    }

    /// Bytes it takes, about.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Set::Integers(numbers) => (numbers.len() * size_of::<i64>()) as u64,
            Set::Table(table) => table.size,
        }
    }

    /// The name OBJECT ENCODING has for it.
    pub(crate) fn encoding(&self) -> &'static str {
        match self {
            Set::Integers(_) => "intset",
            Set::Table(_) => "hashtable",
        }
    }

    pub(crate) fn contains(&self, member: &[u8]) -> bool {
        match self {
            Set::Integers(numbers) => integer::parse(member).is_some_and(|number| numbers.contains(&number)),
            Set::Table(table) => table.members.contains(member),
        }
    }

    /// Adds a member; false if it was there.
    pub(crate) fn insert(&mut self, member: &[u8]) -> bool {
        if let Set::Integers(numbers) = self
            && let Some(number) = integer::parse(member)
        {
            let is_new = numbers.insert(number);
            if numbers.len() > MAX_INTEGERS {
                self.table();
            }
            return is_new;
        }
        self.table().insert(member)
    }

    /// Removes a member; false if there was none.
    pub(crate) fn remove(&mut self, member: &[u8]) -> bool {
        match self {
            Set::Integers(numbers) => integer::parse(member).is_some_and(|number| numbers.remove(&number)),
            Set::Table(table) => table.remove(member),
        }
    }

    pub(crate) fn iter(&self) -> Box<dyn Iterator<Item = Cow<'_, [u8]>> + '_> {
        match self {
            Set::Integers(numbers) => Box::new(numbers.iter().map(|number| Cow::Owned(digits(*number)))),
            Set::Table(table) => Box::new(table.members.iter().map(|member| Cow::Borrowed(&member[..]))),
        }
    }

    /// The members as a table, for good.
    fn table(&mut self) -> &mut Table {
        if let Set::Integers(numbers) = self {
            let mut table = Table::default();
            for number in numbers.iter() {
                table.insert(&digits(*number));
            }
            *self = Set::Table(table);
        }
        match self {
            Set::Table(table) => table,
            Set::Integers(_) => unreachable!("it has just been made a table"),
        }
    }
}

fn digits(number: i64) -> Vec<u8> {
    let mut digits = Vec::with_capacity(20);
    integer::write(&mut digits, number);
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_numbers_is_a_table_from_the_first_other_member_or_one_number_too_many_on() {
        let mut set = Set::default();
        (0..512).for_each(|number: i64| assert!(set.insert(number.to_string().as_bytes())));
        assert!(!set.insert(b"5"));
        assert_eq!((set.encoding(), set.len()), ("intset", 512));
        assert!(set.insert(b"-7"));
        assert!(set.remove(b"-7") && set.contains(b"511"));
        assert_eq!((set.encoding(), set.len()), ("hashtable", 512));
        let mut words = Set::default();
        words.insert(b"12");
        words.insert(b"012");
        assert_eq!((words.encoding(), words.len()), ("hashtable", 2));
    }

    #[test]
    fn the_size_is_that_of_the_members_whatever_was_done() {
        let mut set = Set::default();
        for member in ["a", "bb", "a", "3"] {
            set.insert(member.as_bytes());
        }
        set.remove(b"bb");
        set.remove(b"bb");
        assert_eq!(set.size(), member_size(b"a") + member_size(b"3"));
    }
}
