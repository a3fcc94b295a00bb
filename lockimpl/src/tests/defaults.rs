//! The numbers of each library as they were read, by hand: a profile that drifts from its source is noticed here.

mod jobs;
mod table;

use table::Read;

use crate::{Descriptor, Profile, descriptors};

/// What is to be read of every library whose engine has it.
const NUMBERS: &[&str] = &[
    "order",
    "node_timeout",
    "request_timeout",
    "tries",
    "retry_delay",
    "jitter",
    "clock",
    "drift_ratio",
    "drift_constant",
];

/// All libraries as they were read.
fn read() -> impl Iterator<Item = &'static Read> {
    table::READ.iter().chain(jobs::READ)
}

/// A library and the engine that it is a setting of.
fn library<'a>(locks: &'a [Descriptor], name: &str) -> Option<(&'static Profile, &'a Descriptor)> {
    let (profile, engine) = locks.iter().find(|lock| lock.name == name)?.profile?;
    Some((profile, locks.iter().find(|lock| lock.name == engine)?))
}

/// How a library has a switch: as it sets it, or its driver, or its engine if nobody does.
fn set(profile: &Profile, engine: &Descriptor, switch: &str) -> Option<String> {
    let fixed = (profile.fixed)();
    let published = |switch| engine.default_of(switch, &fixed);
    match fixed.get(switch) {
        Some(value) => Some(value.to_string()),
        None => engine
            .switch(switch)
            .map(published)
            .map(|value| value.map_or("none".to_owned(), |it| it.to_string())),
    }
}

#[test]
fn each_library_is_set_as_it_was_read() {
    let locks = descriptors();
    for (name, ttl, switches) in read() {
        let (profile, engine) = library(&locks, name).unwrap_or_else(|| panic!("{name} is a library"));
        assert_eq!(profile.ttl, *ttl, "{name}");
        for (switch, value) in *switches {
            assert_eq!(set(profile, engine, switch).as_deref(), Some(*value), "{name}: {switch}");
        }
        // What a profile sets, and what it leaves open, is there to be set.
        for switch in (profile.fixed)().iter().map(|(switch, _)| switch).chain(profile.open.iter().copied()) {
            assert!(engine.switch(switch).is_some(), "{name}: `{}` has no `{switch}`", engine.name);
        }
    }
}

/// A number counts only where the library uses it: no wait between attempts if there is one, and no clock and no drift
/// if it computes no deadline.
#[test]
fn the_numbers_of_each_library_were_read() {
    let locks = descriptors();
    for lock in locks.iter().filter(|lock| lock.profile.is_some()) {
        let (profile, engine) = library(&locks, lock.name).expect("its engine");
        let read = read().find(|(name, ..)| *name == lock.name);
        let (_, _, switches) = read.unwrap_or_else(|| panic!("nothing says how {} was read", lock.name));
        let is = |switch: &str, value: &str| set(profile, engine, switch).as_deref() == Some(value);
        let unused = |switch: &str| match switch {
            "retry_delay" | "jitter" => is("tries", "1"),
            "clock" | "drift_ratio" | "drift_constant" => {
                is("elapsed_check", "false") && !is("unchecked_deadline", "true")
            }
            _ => false,
        };
        for number in NUMBERS.iter().filter(|number| engine.switch(number).is_some() && !unused(number)) {
            let is_read = switches.iter().any(|(switch, _)| switch == number);
            assert!(is_read, "nothing says how {} has `{number}`", lock.name);
        }
    }
}
