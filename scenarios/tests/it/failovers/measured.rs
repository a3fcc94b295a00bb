//! Measurements of each run, and the steps of a failover that are compared.

use std::sync::LazyLock;

use serde::Deserialize;

/// One measured run: its configuration, its fault, and what came of it.
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
    /// c3 is a process that begins five seconds after the fault.
    pub(super) late_client: bool,
    /// All clients were told of the Sentinel on the cut-off side first.
    pub(super) first_sentinel_is_cut_off: bool,
    pub(super) at: Moments,
    pub(super) double_holds: usize,
    pub(super) together_s: f64,
    pub(super) first_grant_of_majority_s: Option<f64>,
    pub(super) last_grant_of_old_master_s: Option<f64>,
}

/// A failover of which the steps alone were measured: Sentinels on loopback, without clients.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct MeasuredSteps {
    pub(super) fault: String,
    pub(super) down_after_ms: u64,
    pub(super) at: Moments,
    /// The new master was failed over as well; `None` where that was not looked at.
    pub(super) failed_over_twice: Option<bool>,
}

/// The moments of a failover, in seconds after its fault.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Moments {
    pub(super) sdown: Vec<f64>,
    pub(super) odown: Vec<f64>,
    pub(super) elected: Option<f64>,
    pub(super) promoted: Option<f64>,
    pub(super) switched: Vec<f64>,
    #[serde(default)]
    pub(super) converted: Vec<f64>,
    pub(super) back: Option<f64>,
}

pub(super) static RUNS: LazyLock<Vec<Measured>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../failovers.json")).expect("the file is ours"));
pub(super) static STEPS_ALONE: LazyLock<Vec<MeasuredSteps>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../failover-steps.json")).expect("the file is ours")
});

/// Circumstances on which a step's length depends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances {
    pub(super) is_kill: bool,
    is_cut: bool,
    down_after_s: f64,
}

impl Circumstances {
    fn new(fault: &str, down_after_ms: u64) -> Circumstances {
        Circumstances {
            is_kill: fault == "kill",
            is_cut: fault.starts_with("cut"),
            down_after_s: down_after_ms as f64 / 1000.0,
        }
    }

    pub(super) fn of(run: &Measured) -> Circumstances {
        Circumstances::new(&run.fault, run.down_after_ms)
    }
}

/// A step of a failover, as a length of time.
pub(super) struct Step {
    pub(super) name: &'static str,
    /// Whether it differs between a master that was killed and one that is silent: which of the two it is here.
    only_kills: Option<bool>,
    time: fn(&Moments, Circumstances) -> Option<f64>,
}

impl Step {
    /// Its length; `None` if it did not come, or is another step's.
    pub(super) fn time(&self, at: &Moments, here: Circumstances) -> Option<f64> {
        let is_meant = self.only_kills.is_none_or(|only_kills| only_kills == here.is_kill);
        (self.time)(at, here).filter(|_| is_meant)
    }

    /// All measured lengths, in order.
    pub(super) fn measured(&self) -> Vec<f64> {
        let of_runs = RUNS.iter().filter_map(|run| self.time(&run.at, Circumstances::of(run)));
        let alone = STEPS_ALONE
            .iter()
            .filter_map(|it| self.time(&it.at, Circumstances::new(&it.fault, it.down_after_ms)));
        sorted(of_runs.chain(alone))
    }
}

pub(super) fn sorted(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn between(from: Option<&f64>, to: Option<&f64>) -> Option<f64> {
    Some(to? - from?)
}

fn first_sdown(at: &Moments, here: Circumstances) -> Option<f64> {
    Some(at.sdown.first()? - here.down_after_s)
}

fn first_switch(at: &Moments, here: Circumstances) -> Option<f64> {
    Some(at.switched.first()? - here.down_after_s)
}

/// The steps, in order.
pub(super) const STEPS: [Step; 10] = [
    Step {
        name: "first `+sdown` once down-after has passed, master killed",
        only_kills: Some(true),
        time: first_sdown,
    },
    Step { name: "the same, master stopped or cut off", only_kills: Some(false), time: first_sdown },
    Step {
        name: "first `+odown` after the second `+sdown`",
        only_kills: None,
        time: |at, _| between(at.sdown.get(1), at.odown.first()),
    },
    Step {
        name: "`+elected-leader` after the first `+odown`",
        only_kills: None,
        time: |at, _| between(at.odown.first(), at.elected.as_ref()),
    },
    Step {
        name: "`+promoted-slave` after `+elected-leader`",
        only_kills: None,
        time: |at, _| between(at.elected.as_ref(), at.promoted.as_ref()),
    },
    Step {
        name: "first `+switch-master` after `+promoted-slave`",
        only_kills: None,
        time: |at, _| between(at.promoted.as_ref(), at.switched.first()),
    },
    Step {
        name: "the leader's `+switch-master` after the first",
        only_kills: None,
        // A Sentinel that is cut off with the old master is the last, and no leader.
        time: |at, here| between(at.switched.first(), at.switched.get(if here.is_cut { 1 } else { 2 })),
    },
    Step {
        name: "first `+switch-master` after the kill, less down-after",
        only_kills: Some(true),
        time: first_switch,
    },
    Step { name: "the same, master stopped or cut off", only_kills: Some(false), time: first_switch },
    Step {
        name: "`+convert-to-slave` after the old master is back",
        only_kills: Some(false),
        time: |at, _| between(at.back.as_ref(), at.converted.first()),
    },
];
