//! What commands are for, which arguments they take and where their keys are: the tables behind COMMAND DOCS, COMMAND
//! INFO and COMMAND GETKEYS.
//!
//! Names, groups, versions and the shape of arguments are Redis 7.0.15's, as clients build hints and routing on them;
//! the sentences are our own. Not kept: histories, and notes about keys.

mod bits;
mod cluster;
mod connection;
mod generic;
mod hashes;
pub(crate) mod keys;
mod lists;
mod pubsub;
mod scripting;
mod server;
mod sets;
mod sorted_sets;
mod streams;
mod strings;
mod transactions;

/// The commands of one group.
pub(crate) struct Section {
    pub(crate) group: &'static str,
    /// The ACL categories of its commands, besides those that follow from flags.
    pub(crate) categories: &'static [&'static str],
    pub(crate) docs: &'static [Doc],
}

/// One command.
pub(crate) struct Doc {
    pub(crate) full_name: &'static str,
    pub(crate) since: &'static str,
    pub(crate) summary: &'static str,
    /// Empty: nothing is said.
    pub(crate) complexity: &'static str,
    pub(crate) is_internal: bool,
    /// Since when, and what to use now.
    pub(crate) deprecated: Option<(&'static str, &'static str)>,
    /// Instead of its section's.
    pub(crate) categories: Option<&'static [&'static str]>,
    /// What cluster proxies are told.
    pub(crate) tips: &'static [&'static str],
    pub(crate) keys: &'static [Keys],
    pub(crate) arguments: &'static [Argument],
}

/// Some of a command's keys.
pub(crate) struct Keys {
    /// What is done to them, in Redis' words, separated by spaces.
    pub(crate) flags: &'static str,
    /// Which argument they begin at; the command's name is 0.
    pub(crate) begin: usize,
    pub(crate) find: Find,
}

/// How far keys reach.
#[derive(Clone, Copy)]
pub(crate) enum Find {
    /// One key.
    One,
    /// To the last argument, every `step`th.
    ToTheEnd { step: usize },
    /// To the last argument but one.
    AllButLast,
    /// The argument they begin at says how many follow it.
    Counted,
    /// The first half of what follows this word, wherever it is from where they begin.
    HalfBehind(&'static str),
    /// Nobody is told where: only the values say, or the last argument behind this word is it.
    Unknown { behind: Option<&'static str> },
}

/// One argument, or a choice or group of some.
pub(crate) struct Argument {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// The word before it.
    pub(crate) token: Option<&'static str>,
    pub(crate) since: Option<&'static str>,
    pub(crate) deprecated_since: Option<&'static str>,
    pub(crate) is_optional: bool,
    pub(crate) is_multiple: bool,
    /// The word before it comes again with each.
    pub(crate) is_token_multiple: bool,
}

/// What an argument is.
pub(crate) enum Kind {
    String,
    Integer,
    Double,
    UnixTime,
    Pattern,
    /// A word that stands for itself.
    Token,
    /// One of the command's [`Doc::keys`], by its number.
    Key(usize),
    /// A pattern of such keys.
    KeyPattern(usize),
    OneOf(&'static [Argument]),
    Block(&'static [Argument]),
}

static SECTIONS: &[&Section] = &[
    &strings::STRINGS,
    &bits::BITS,
    &hashes::HASHES,
    &lists::LISTS,
    &sets::SETS,
    &sorted_sets::SORTED_SETS,
    &streams::STREAMS,
    &generic::GENERIC,
    &connection::CONNECTION,
    &pubsub::PUBSUB,
    &server::SERVER,
    &cluster::CLUSTER,
    &scripting::SCRIPTING,
    &transactions::TRANSACTIONS,
];

/// What is known of a command, and the section it is in.
pub(crate) fn find_doc(full_name: &str) -> Option<(&'static Section, &'static Doc)> {
    SECTIONS.iter().find_map(|section| {
        let doc = section.docs.iter().find(|doc| doc.full_name == full_name)?;
        Some((*section, doc))
    })
}

const fn doc(
    full_name: &'static str,
    since: &'static str,
    summary: &'static str,
    complexity: &'static str,
) -> Doc {
    Doc {
        full_name,
        since,
        summary,
        complexity,
        is_internal: false,
        deprecated: None,
        categories: None,
        tips: &[],
        keys: &[],
        arguments: &[],
    }
}

impl Doc {
    const fn internal(self) -> Doc {
        Doc { is_internal: true, ..self }
    }

    const fn with_deprecation(self, since: &'static str, instead: &'static str) -> Doc {
        Doc { deprecated: Some((since, instead)), ..self }
    }

    const fn categories(self, categories: &'static [&'static str]) -> Doc {
        Doc { categories: Some(categories), ..self }
    }

    const fn tips(self, tips: &'static [&'static str]) -> Doc {
        Doc { tips, ..self }
    }

    const fn keys(self, keys: &'static [Keys]) -> Doc {
        Doc { keys, ..self }
    }

    const fn takes(self, arguments: &'static [Argument]) -> Doc {
        Doc { arguments, ..self }
    }
}

const fn one(begin: usize, flags: &'static str) -> Keys {
    Keys { flags, begin, find: Find::One }
}

const fn all(begin: usize, step: usize, flags: &'static str) -> Keys {
    Keys { flags, begin, find: Find::ToTheEnd { step } }
}

const fn all_but_last(begin: usize, flags: &'static str) -> Keys {
    Keys { flags, begin, find: Find::AllButLast }
}

const fn counted_keys(begin: usize, flags: &'static str) -> Keys {
    Keys { flags, begin, find: Find::Counted }
}

const fn half_behind(word: &'static str, flags: &'static str) -> Keys {
    Keys { flags, begin: 1, find: Find::HalfBehind(word) }
}

const fn unknown(behind: Option<&'static str>, flags: &'static str) -> Keys {
    Keys { flags, begin: 0, find: Find::Unknown { behind } }
}

const fn argument(name: &'static str, kind: Kind) -> Argument {
    Argument {
        name,
        kind,
        token: None,
        since: None,
        deprecated_since: None,
        is_optional: false,
        is_multiple: false,
        is_token_multiple: false,
    }
}

const fn string(name: &'static str) -> Argument {
    argument(name, Kind::String)
}

const fn integer(name: &'static str) -> Argument {
    argument(name, Kind::Integer)
}

const fn double(name: &'static str) -> Argument {
    argument(name, Kind::Double)
}

const fn unix_time(name: &'static str) -> Argument {
    argument(name, Kind::UnixTime)
}

const fn pattern(name: &'static str) -> Argument {
    argument(name, Kind::Pattern)
}

const fn token(name: &'static str, word: &'static str) -> Argument {
    argument(name, Kind::Token).with_token(word)
}

const fn key(name: &'static str, number: usize) -> Argument {
    argument(name, Kind::Key(number))
}

const fn key_pattern(name: &'static str, number: usize) -> Argument {
    argument(name, Kind::KeyPattern(number))
}

const fn one_of(name: &'static str, choices: &'static [Argument]) -> Argument {
    argument(name, Kind::OneOf(choices))
}

const fn block(name: &'static str, parts: &'static [Argument]) -> Argument {
    argument(name, Kind::Block(parts))
}

impl Argument {
    const fn with_token(self, token: &'static str) -> Argument {
        Argument { token: Some(token), ..self }
    }

    const fn with_version(self, version: &'static str) -> Argument {
        Argument { since: Some(version), ..self }
    }

    const fn with_deprecation(self, version: &'static str) -> Argument {
        Argument { deprecated_since: Some(version), ..self }
    }

    const fn optional(self) -> Argument {
        Argument { is_optional: true, ..self }
    }

    const fn multiple_with_token(self) -> Argument {
        Argument { is_multiple: true, is_token_multiple: true, ..self }
    }

    const fn multiple(self) -> Argument {
        Argument { is_multiple: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::command::CommandSpec;
    use crate::core::commands::COMMANDS;

    fn every_command() -> impl Iterator<Item = &'static CommandSpec> {
        COMMANDS.iter().flat_map(|spec| std::iter::once(spec).chain(spec.subcommands))
    }

    #[test]
    fn every_command_and_subcommand_is_documented_once_and_nothing_else_is() {
        let mut have: Vec<&str> = every_command().map(|spec| spec.full_name).collect();
        let mut documented: Vec<&str> =
            SECTIONS.iter().flat_map(|section| section.docs).map(|doc| doc.full_name).collect();
        have.sort_unstable();
        documented.sort_unstable();
        assert_eq!(documented, have);
    }

    #[test]
    fn an_argument_that_is_a_key_is_one_the_command_tells_where_to_find() {
        fn check(doc: &Doc, arguments: &[Argument]) {
            for argument in arguments {
                match argument.kind {
                    Kind::Key(number) | Kind::KeyPattern(number) => {
                        assert!(number < doc.keys.len(), "{}", doc.full_name);
                    }
                    Kind::OneOf(parts) | Kind::Block(parts) => check(doc, parts),
                    _ => {}
                }
            }
        }
        SECTIONS.iter().flat_map(|section| section.docs).for_each(|doc| check(doc, doc.arguments));
    }
}
