//! How a command is found by its name.

use super::table::COMMANDS;
use crate::core::Version;
use crate::core::command::{CommandSpec, LookupError};
use crate::resp::Args;

/// Finds the command, or the subcommand where the command has some.
pub(crate) fn lookup(args: &Args<'_>, version: Version) -> Result<&'static CommandSpec, LookupError> {
    lookup_words(args.at(0), args.get(1), version)
}

/// What a node of this version has.
pub(crate) fn all(version: Version) -> impl Iterator<Item = &'static CommandSpec> {
    COMMANDS.iter().filter(move |spec| spec.known_to.contains(&version))
}

/// The same, by the first word and the second if there is one.
pub(crate) fn lookup_words(
    name: &[u8],
    second: Option<&[u8]>,
    version: Version,
) -> Result<&'static CommandSpec, LookupError> {
    let spec =
        find(name).filter(|spec| spec.known_to.contains(&version)).ok_or(LookupError::UnknownCommand)?;
    match second {
        Some(name) if !spec.subcommands.is_empty() => {
            spec.subcommand(name).ok_or(LookupError::UnknownSubcommand)
        }
        _ => Ok(spec),
    }
}

/// The command of that full name: `get`, `client|list`.
pub(crate) fn lookup_full_name(name: &[u8], version: Version) -> Option<&'static CommandSpec> {
    let mut parts = name.splitn(2, |&byte| byte == b'|');
    let spec = find(parts.next()?).filter(|spec| spec.known_to.contains(&version))?;
    match parts.next() {
        None => Some(spec),
        Some(sub) => spec.subcommand(sub),
    }
}

/// Longest name there can be: a name is looked up as one integer.
const NAME_LIMIT: usize = 16;

/// A name in capitals as an integer. Names longer than the limit are the caller's to refuse.
const fn key(name: &[u8]) -> u128 {
    let (mut key, mut index) = (0, 0);
    while index < name.len() && index < NAME_LIMIT {
        key = key << 8 | name[index].to_ascii_uppercase() as u128;
        index += 1;
    }
    key
}

/// Places for commands: a power of two, and so many that most commands lie where they are looked for first.
const SLOTS: usize = 512;

/// Where a key is looked for first.
const fn slot(key: u128) -> usize {
    // Fibonacci hashing: the upper bits of this product depend on all bits of the key.
    let mixed = (key as u64 ^ (key >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (u64::BITS - SLOTS.trailing_zeros())) as usize
}

/// The commands' keys and indexes, each at its slot or at the first free one after it.
static TABLE: [Option<(u128, u16)>; SLOTS] = {
    let mut table = [None; SLOTS];
    let mut index = 0;
    while index < COMMANDS.len() {
        let key = key(COMMANDS[index].name.as_bytes());
        let mut at = slot(key);
        while table[at].is_some() {
            at = (at + 1) % SLOTS;
        }
        table[at] = Some((key, index as u16));
        index += 1;
    }
    table
};

fn find(name: &[u8]) -> Option<&'static CommandSpec> {
    // A NUL at the front would not show.
    if name.len() > NAME_LIMIT || name.first() == Some(&0) {
        return None;
    }
    let key = key(name);
    let mut at = slot(key);
    // Ends: most slots are free.
    while let Some((found, index)) = TABLE[at] {
        if found == key {
            return Some(&COMMANDS[usize::from(index)]);
        }
        at = (at + 1) % SLOTS;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_the_table_is_found_by_its_name_in_any_case() {
        for spec in COMMANDS {
            let found = find(spec.full_name.as_bytes()).map(|spec| spec.name);
            assert_eq!(found, Some(spec.name));
            assert!(spec.name.len() <= NAME_LIMIT, "{} does not fit the lookup's integer", spec.name);
        }
        assert!(COMMANDS.is_sorted_by_key(|spec| spec.name), "COMMAND LIST is sorted");
        for name in ["", "GE", "GETX", "GET\0", "\0GET", "\0", "AVERYLONGCOMMANDNAME"] {
            assert!(find(name.as_bytes()).is_none(), "{name:?}");
        }
    }
}
