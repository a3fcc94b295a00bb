//! Properties under all faults: one leader in an epoch, one master in a configuration, and no way back.

use std::collections::BTreeMap;

use doublehold_sim::{Fault, HostId, PlannedFault};

use crate::world::{Announced, Answered, Setup, fault};

/// Worlds with three nodes and as many or five Sentinels.
const WORLDS: u64 = 40;

/// A small generator of its own: the faults are to be the same whatever the kernel draws.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Eight faults within a hundred seconds.
fn faults(seed: u64, setup: &Setup) -> Vec<PlannedFault> {
    let mut draw = Draw(seed);
    let hosts = (setup.nodes + setup.sentinels) as u64;
    (0..8)
        .map(|number| {
            // Nodes as often as Sentinels, since failovers come of them.
            let of = if draw.below(2) == 0 { setup.nodes as u64 } else { hosts };
            let host = HostId(1 + draw.below(of) as u32);
            let other = HostId(1 + draw.below(hosts) as u32);
            let lasting = Some(1.0 + draw.below(20_000) as f64 / 1000.0);
            let what = match draw.below(5) {
                0 => Fault::Pause { host },
                1 => Fault::Crash { host },
                2 => Fault::LosePower { host, torn_tail: false },
                3 if host != other => Fault::Cut { from: host, to: other },
                _ => Fault::Suspend { host },
            };
            fault(5.0 + number as f64 * 11.0 + draw.below(11_000) as f64 / 1000.0, vec![what], lasting)
        })
        .collect()
}

/// The Sentinels elected, by epoch: a Sentinel's own is the one that it announced right before it tried.
fn elected(announced: &[Announced]) -> BTreeMap<u64, Vec<String>> {
    let (mut last, mut tried) = (BTreeMap::new(), BTreeMap::new());
    let mut elected: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for it in announced {
        match it.kind {
            "+new-epoch" => drop(last.insert(&it.by, it.text.parse::<u64>().expect("an epoch is a number"))),
            "+try-failover" => drop(tried.insert(&it.by, last[&it.by])),
            "+elected-leader" => elected.entry(tried[&it.by]).or_default().push(it.by.clone()),
            _ => {}
        }
    }
    elected
}

/// The masters that somebody answered with, by epoch.
fn masters(answered: &[Answered]) -> BTreeMap<u64, Vec<String>> {
    let mut masters: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for it in answered {
        let of_epoch = masters.entry(it.config_epoch).or_default();
        if !of_epoch.contains(&it.master) {
            of_epoch.push(it.master.clone());
        }
    }
    masters
}

#[test]
fn an_epoch_has_one_leader_and_one_master_and_no_sentinel_goes_back() {
    let mut failovers = 0;
    for seed in 1..=WORLDS {
        let sentinels = if seed % 2 == 0 { 3 } else { 5 };
        let setup = Setup { sentinels, quorum: 2, seed, seconds: 100, ..Setup::default() };
        let seen = Setup { faults: faults(seed, &setup), ..setup }.run();
        for (epoch, leaders) in elected(&seen.announced) {
            assert_eq!(leaders.len(), 1, "seed {seed}: {leaders:?} lead in epoch {epoch}");
            failovers += 1;
        }
        for (epoch, masters) in masters(&seen.answered) {
            assert_eq!(masters.len(), 1, "seed {seed}: {masters:?} in epoch {epoch}");
        }
        let mut last = BTreeMap::new();
        for it in &seen.answered {
            let before = last.insert(&it.by, it.config_epoch).unwrap_or(0);
            assert!(
                before <= it.config_epoch,
                "seed {seed}: {} went from {before} to {}",
                it.by,
                it.config_epoch
            );
        }
    }
    assert!(failovers > WORLDS / 2, "something happened: {failovers} failovers");
}
