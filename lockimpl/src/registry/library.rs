//! A library as a kind of lock: its engine is built with what the library fixes, and what was chosen of the rest.
//!
//! Apart from the profile's data, which descriptors hold and which so may know no kind.

use super::box_lock::BoxLock;
use crate::config::{Descriptor, Profile, SwitchError, Switches};
use crate::env::{Env, NodeName};
use crate::registry::{ConfigError, LockKind};

/// A profile as a kind of lock, over the engine that it is a setting of.
pub struct ProfileKind<K>(pub &'static Profile, pub K);

impl<E: Env, K: LockKind<E>> LockKind<E> for ProfileKind<K> {
    fn descriptor(&self) -> Descriptor {
        self.1.descriptor().with_profile(self.0)
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        let Self(profile, engine) = self;
        match chosen.iter().find(|(switch, _)| !profile.open.contains(switch)) {
            Some((switch, _)) => {
                let (switch, profile) = (switch.to_owned(), profile.name);
                Err(SwitchError::Fixed { switch, profile, engine: engine.descriptor().name }.into())
            }
            None => engine.build(env, nodes, &(profile.fixed)().overlaid(chosen)),
        }
    }
}
