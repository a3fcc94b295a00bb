//! What was measured of each run, and the steps of a failover that are compared.

use serde::Deserialize;

/// One measured run.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Measured {
    pub(super) run: u32,
    pub(super) fault: String,
    pub(super) lasts_s: Option<f64>,
    pub(super) down_after_ms: u64,
    pub(super) min_replicas: u32,
    pub(super) max_lag_s: u64,
    pub(super) driver: String,
    pub(super) ttl_s: f64,
    pub(super) hold_s: f64,
    pub(super) socket_timeout_s: Option<f64>,
    pub(super) late_client: bool,
    pub(super) first_sentinel_is_cut_off: bool,
    pub(super) at: Moments,
    pub(super) double_holds: usize,
    pub(super) together_s: f64,
    pub(super) window_s: Option<[f64; 2]>,
    pub(super) first_grant_of_majority_s: Option<f64>,
    pub(super) last_grant_of_old_master_s: Option<f64>,
}

/// The moments of a failover, in seconds after its fault.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Moments {
    pub(super) sdown: Vec<f64>,
    pub(super) odown: Vec<f64>,
    pub(super) elected: Option<f64>,
    pub(super) promoted: Option<f64>,
    pub(super) switched: Vec<f64>,
    pub(super) converted: Vec<f64>,
    pub(super) back: Option<f64>,
}

pub(super) fn read() -> Vec<Measured> {
    serde_json::from_str(include_str!("../../failovers.json")).expect("the file is ours")
}

impl Measured {
    pub(super) fn is_kill(&self) -> bool {
        self.fault == "kill"
    }
}

/// A step of a failover, as a length of time.
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) time: fn(&Moments, &Measured) -> Option<f64>,
    /// The range over all 47 measured failovers, of which 30 are in the file, by whether the master was killed.
    range: fn(&Measured) -> [f64; 2],
}

impl Step {
    /// The range of the step in runs such as this one; `None` if the step does not come in them.
    pub(super) fn range(&self, run: &Measured) -> Option<(f64, f64)> {
        (self.time)(&run.at, run)?;
        let [least, most] = (self.range)(run);
        Some((least, most))
    }
}

fn down_after(run: &Measured) -> f64 {
    run.down_after_ms as f64 / 1000.0
}

fn between(from: Option<&f64>, to: Option<&f64>) -> Option<f64> {
    Some(to? - from?)
}

/// The steps, in order.
pub(super) const STEPS: [Step; 8] = [
    Step {
        name: "first +sdown, once down-after has passed",
        time: |at, run| Some(at.sdown.first()? - down_after(run)),
        range: |run| if run.is_kill() { [0.02, 0.06] } else { [0.05, 0.98] },
    },
    Step {
        name: "first +odown after the second +sdown",
        time: |at, _| between(at.sdown.get(1), at.odown.first()),
        range: |_| [0.05, 0.14],
    },
    Step {
        name: "+elected-leader after the first +odown",
        time: |at, _| between(at.odown.first(), at.elected.as_ref()),
        range: |_| [0.06, 0.42],
    },
    Step {
        name: "+promoted-slave after +elected-leader",
        time: |at, _| between(at.elected.as_ref(), at.promoted.as_ref()),
        range: |_| [0.38, 1.09],
    },
    Step {
        name: "first +switch-master after +promoted-slave",
        time: |at, _| between(at.promoted.as_ref(), at.switched.first()),
        range: |_| [0.0, 0.10],
    },
    Step {
        name: "the leader's +switch-master after the first",
        time: |at, run| {
            let is_cut = run.fault.starts_with("cut");
            between(at.switched.first(), at.switched.get(if is_cut { 1 } else { 2 }))
        },
        range: |_| [0.0, 1.27],
    },
    Step {
        name: "first +switch-master after the fault, less down-after",
        time: |at, run| Some(at.switched.first()? - down_after(run)),
        range: |_| [0.7, 2.3],
    },
    Step {
        name: "+convert-to-slave after the old master is back",
        time: |at, _| between(at.back.as_ref(), at.converted.first()),
        range: |_| [9.9, 11.63],
    },
];
