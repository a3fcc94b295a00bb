//! The numbers of each library as they were read, by hand: a profile that drifts from its source is noticed here.

use std::time::Duration;

use crate::{Descriptor, descriptors};

/// A library, its lease (none if its user has to say), and how it has switches of its engine.
type Read = (&'static str, Option<Duration>, &'static [(&'static str, &'static str)]);

const READ: &[Read] = &[(
    "bullmq",
    Some(Duration::from_secs(30)),
    &[("stalled_check", "30s"), ("request_timeout", "none"), ("on_timeout", "keep")],
)];

#[test]
fn each_library_is_set_as_it_was_read() {
    let locks = descriptors();
    for (name, ttl, switches) in READ {
        let found = locks.iter().find(|lock| lock.name == *name);
        let (profile, engine) =
            found.and_then(|lock| lock.profile).unwrap_or_else(|| panic!("{name} is a library"));
        assert_eq!(profile.ttl, *ttl, "{name}");
        let engine: &Descriptor = locks.iter().find(|lock| lock.name == engine).expect("its engine");
        let fixed = (profile.fixed)();
        for (switch, value) in *switches {
            let set = fixed.get(switch).map(ToString::to_string);
            assert_eq!(set.as_deref(), Some(*value), "{name}: {switch}");
        }
        // What a profile sets, and what it leaves open, is there to be set.
        for switch in fixed.iter().map(|(switch, _)| switch).chain(profile.open.iter().copied()) {
            assert!(engine.switch(switch).is_some(), "{name}: `{}` has no `{switch}`", engine.name);
        }
    }
}
