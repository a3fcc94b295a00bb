//! What is known of a kind of lock without building one: for scenario files, which refuse what could not mean anything,
//! and for people, who ask what there is.
//!
//! Plain data, and two questions whose answers depend on the switches chosen.

use std::sync::Arc;
use std::time::Duration;

use doublehold_services::ServiceKind;
use doublehold_services::etcd::SHORTEST_LEASE;

use super::drivers::{DRIVER, DriverDefaults};
use super::facts::Facts;
use super::profile::Profile;
use super::schema::LockConfig;
use super::switch::{Kind, Switch, Switches, Unfit, Value};

/// A kind of lock. A clone costs next to nothing: each file that is read is given those of all locks.
#[derive(Clone, Debug)]
pub struct Descriptor {
    /// What scenario files call it.
    pub name: &'static str,
    /// What it is, in a line.
    pub meaning: &'static str,
    /// Who published it, and where.
    pub source: &'static str,
    /// What it runs on.
    pub nodes: Nodes,
    /// The service that these nodes are; `None`: Redis.
    pub service: Option<ServiceKind>,
    /// As few nodes as it makes sense on.
    pub least_nodes: usize,
    /// Its switches, in the order in which they are shown.
    pub switches: Arc<[Switch]>,
    /// The scripts it may send, as their sources: what a node is to know that has them loaded before a run.
    pub scripts: Arc<[String]>,
    /// The library that it is, and the name of the kind of which it is a setting.
    pub profile: Option<(&'static Profile, &'static str)>,
    /// How the switches stand that are not shown.
    fixed: Arc<Switches>,
    facts: fn(&Switches) -> Facts,
    unfit: fn(&Switches, Duration) -> Option<Unfit>,
}

impl Descriptor {
    /// A lock whose switches are those of `C`. Takes `()` for a lock without any.
    ///
    /// ```
    /// use doublehold_lockimpl::{Descriptor, Nodes};
    ///
    /// let mine = Descriptor::from_config::<()>("mine", "SET NX with my own release", "our code", Nodes::One);
    /// assert!(mine.switches.is_empty());
    /// ```
    pub fn from_config<C: LockConfig>(
        name: &'static str,
        meaning: &'static str,
        source: &'static str,
        nodes: Nodes,
    ) -> Self {
        Self {
            name,
            meaning,
            source,
            nodes,
            service: None,
            least_nodes: 1,
            switches: C::switches().into(),
            scripts: Arc::default(),
            profile: None,
            fixed: Arc::default(),
            facts: |chosen| config::<C>(chosen).facts(),
            unfit: |chosen, ttl| config::<C>(chosen).unfit(ttl),
        }
    }

    /// The same, of a lock that may send these scripts.
    #[must_use]
    pub fn with_scripts(self, scripts: Vec<String>) -> Self {
        Self { scripts: scripts.into(), ..self }
    }

    /// The same, of a lock whose nodes are a service other than Redis.
    #[must_use]
    pub fn on_service(self, service: ServiceKind) -> Self {
        Self { service: Some(service), ..self }
    }

    /// The same, of a lock that makes no sense on fewer nodes.
    #[must_use]
    pub fn min_nodes(self, least_nodes: usize) -> Self {
        Self { least_nodes, ..self }
    }

    /// The same as a library has it: with the switches that remain open, at the library's defaults.
    pub(crate) fn with_profile(self, profile: &'static Profile) -> Self {
        let (engine, fixed) = (self.name, (profile.fixed)());
        let driver = DriverDefaults::named(fixed.get(DRIVER));
        let open = |mut switch: Switch| {
            let by_driver = driver.and_then(|driver| driver.default(switch.name));
            switch.default = fixed.get(switch.name).cloned().or(by_driver.unwrap_or(switch.default));
            // What is fixed is set, whether or not a file could say so.
            switch.needs = switch.needs.filter(|needs| profile.open.contains(needs));
            switch
        };
        let switches = self.switches.iter().filter(|switch| profile.open.contains(&switch.name)).cloned();
        Self {
            name: profile.name,
            meaning: profile.meaning,
            source: profile.files,
            switches: switches.map(open).collect(),
            profile: Some((profile, engine)),
            fixed: fixed.into(),
            ..self
        }
    }

    /// What is known of it with these switches.
    pub fn facts(&self, chosen: &Switches) -> Facts {
        (self.facts)(&Switches::clone(&self.fixed).overlaid(chosen))
    }

    /// Why it makes no sense with these switches and a lease of `ttl`, if it does not.
    pub fn unfit(&self, chosen: &Switches, ttl: Duration) -> Option<Unfit> {
        if let (Some(ServiceKind::Etcd), Some(unfit)) = (self.service, no_lease_of_etcd(ttl)) {
            return Some(unfit);
        }
        (self.unfit)(&Switches::clone(&self.fixed).overlaid(chosen), ttl)
    }

    /// Its switch of that name.
    pub fn switch(&self, name: &str) -> Option<&Switch> {
        self.switches.iter().find(|switch| switch.name == name)
    }

    /// The value of a switch that nobody sets, beside what is chosen: as the lock has it, or as the chosen driver does.
    pub fn default_of(&self, switch: &Switch, chosen: &Switches) -> Option<Value> {
        let driver =
            DriverDefaults::named(chosen.get(DRIVER)).filter(|_| self.fixed.get(switch.name).is_none());
        match driver.and_then(|driver| driver.default(switch.name)) {
            Some(default) => default,
            None => switch.default.clone(),
        }
    }

    /// The driver of its connections, if it names one.
    pub fn driver(&self, chosen: &Switches) -> Option<&'static DriverDefaults> {
        DriverDefaults::named(chosen.get(DRIVER).or_else(|| self.fixed.get(DRIVER)))
    }

    /// Every switch that does something: as chosen, or at its default.
    pub fn effective_switches(&self, chosen: &Switches) -> Switches {
        self.switches.iter().fold(Switches::new(), |mut settled, switch| {
            let value = chosen.get(switch.name).cloned().or_else(|| self.default_of(switch, &settled));
            if let Some(value) = value.filter(|_| !switch.is_idle(&settled)) {
                settled.set(switch.name, value);
            }
            settled
        })
    }

    /// The switch that, turned on beside what is chosen, gives what `wanted` looks for; `None` if none does alone.
    pub fn flag_for(&self, chosen: &Switches, wanted: impl Fn(&Facts) -> bool) -> Option<&'static str> {
        let gives = |switch: &&Switch| wanted(&self.facts(&chosen.clone().with(switch.name, true)));
        let flags = self.switches.iter().filter(|switch| switch.kind == Some(Kind::Flag));
        flags.filter(|switch| !wanted(&self.facts(chosen)) && gives(switch)).map(|switch| switch.name).next()
    }
}

/// Choices that were checked before; if they were not, the lock as published.
fn config<C: LockConfig>(chosen: &Switches) -> C {
    C::from_switches(chosen).unwrap_or_else(|_| C::defaults())
}

/// Refuses a time that no lease of etcd has.
fn no_lease_of_etcd(ttl: Duration) -> Option<Unfit> {
    (ttl < SHORTEST_LEASE || ttl.subsec_nanos() > 0).then(|| Unfit {
        cause: format!(
            "etcd gives leases of whole seconds, {SHORTEST_LEASE:?} at least, and the ttl is {ttl:?}"
        ),
        hint: "use whole seconds from \"2s\"".to_owned(),
    })
}

/// The nodes that a lock runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nodes {
    /// Exactly one.
    One,
    /// A master and those that replicate it.
    Replicated,
    /// One or more that know nothing of each other.
    Independent,
}
