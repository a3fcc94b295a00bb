//! Announcements of Sentinels in a run.

use doublehold_history::TrueNs;

use crate::model::scenario::HostIndex;

/// One thing that a Sentinel told whoever had subscribed to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// When, on true time.
    pub at: TrueNs,
    /// The Sentinel that announced it.
    pub by: HostIndex,
    /// The channel: `+sdown`, `+odown`, `+switch-master`.
    pub kind: &'static str,
    /// The message, as Redis words it.
    pub text: String,
}

/// The moments of one failover, as its Sentinels told them. A moment that did not come is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailoverSteps {
    /// The times at which each Sentinel found the master down.
    pub sdown: Vec<TrueNs>,
    /// The times at which each found it down together with a quorum.
    pub odown: Vec<TrueNs>,
    /// The time at which one of them was elected.
    pub elected: Option<TrueNs>,
    /// The time at which the chosen replica said that it was a master.
    pub promoted: Option<TrueNs>,
    /// The times at which each took the new master for the master.
    pub switched: Vec<TrueNs>,
    /// The time at which the old master was told to follow the new one.
    pub converted: Option<TrueNs>,
}

impl FailoverSteps {
    /// The first of each, of what was announced from a moment on.
    pub fn after(announcements: &[Announcement], from: TrueNs) -> FailoverSteps {
        let mut steps = FailoverSteps::default();
        let mut heard = std::collections::BTreeSet::new();
        for it in announcements.iter().filter(|it| it.at >= from) {
            let is_of_master = it.text.starts_with("master ");
            let first_of_its_kind = match it.kind {
                "+sdown" | "+odown" if !is_of_master => false,
                "+sdown" | "+odown" | "+switch-master" => heard.insert((it.kind, it.by)),
                _ => true,
            };
            match it.kind {
                "+sdown" if first_of_its_kind => steps.sdown.push(it.at),
                "+odown" if first_of_its_kind => steps.odown.push(it.at),
                "+switch-master" if first_of_its_kind => steps.switched.push(it.at),
                "+elected-leader" => drop(steps.elected.get_or_insert(it.at)),
                "+promoted-slave" => drop(steps.promoted.get_or_insert(it.at)),
                "+convert-to-slave" => drop(steps.converted.get_or_insert(it.at)),
                _ => {}
            }
        }
        steps
    }
}
