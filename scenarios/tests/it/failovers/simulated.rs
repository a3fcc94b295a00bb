//! A measured run, simulated from one seed.

use std::time::Duration;

use doublehold_history::{EventKind, Evidence, Predicate, TrueNs};
use doublehold_scenarios::format::Source;
use doublehold_scenarios::report::FailoverSteps;
use doublehold_scenarios::{Engine, SimEngine};

use super::measured::{Measured, Moments, RUNS};

/// The outcome, in seconds after the fault.
#[derive(Clone, Debug)]
pub(super) struct Simulated {
    pub(super) moments: Moments,
    pub(super) double_holds: usize,
    pub(super) together_s: f64,
    pub(super) first_grant_of_majority_s: Option<f64>,
    pub(super) last_grant_of_old_master_s: Option<f64>,
    /// The longest time without a grant of a client of the majority, from the fault on.
    pub(super) longest_wait_s: f64,
    /// The number of failovers with a promotion.
    pub(super) failovers: usize,
}

impl Simulated {
    /// True if a client of the majority found no master for as long as the fault lasted: all Sentinels that it could
    /// reach found the old one down when it asked, and it went on to the one that it could not reach.
    pub(super) fn is_stuck(&self, run: &Measured) -> bool {
        run.fault == "cut" && self.longest_wait_s > 15.0
    }

    /// True if the new master was failed over as well.
    pub(super) fn is_twice(&self) -> bool {
        self.failovers > 1
    }
}

/// The fault comes when clients and Sentinels have been at it for a while, at another place in their turns each time.
fn fault_at(seed: u64) -> Duration {
    Duration::from_millis(20_000 + seed % 10 * 97)
}

pub(super) fn simulate(run: &Measured, seed: u64) -> Simulated {
    // Another seed for each run: otherwise the timers of all would stand at the same places.
    run_file(run, file(run, fault_at(seed)), u64::from(run.run) * 1_000 + seed)
}

/// A lock that one can choose.
pub(super) struct Choice {
    pub(super) name: &'static str,
    driver: &'static str,
    /// Another lock than that on one node.
    lock: &'static str,
    /// Further lines of `[nodes]`, and of `[sentinels]`.
    nodes: &'static str,
    sentinels: &'static str,
}

impl Choice {
    pub(super) fn all() -> [Choice; 11] {
        let behind_sentinel = |name, driver| Choice { name, driver, lock: "", nodes: "", sentinels: "" };
        [
            behind_sentinel("Sentinel, redis-py 5", "redis-py-5"),
            behind_sentinel("Sentinel, ioredis 5", "ioredis-5"),
            Choice {
                sentinels: "discovery = \"ioredis-failover-detector\"\n",
                ..behind_sentinel("the same, `failoverDetector: true`", "ioredis-5")
            },
            behind_sentinel("Sentinel, Lettuce (`RedisClient.connect`)", "lettuce-7"),
            behind_sentinel("Sentinel, Redisson", "redisson-4"),
            behind_sentinel("Sentinel, Jedis", "jedis-7"),
            behind_sentinel("Sentinel, go-redis", "go-redis-9.22"),
            behind_sentinel("Sentinel, redis-py 8", "redis-py-8"),
            Choice {
                nodes: "min_replicas_to_write = 1\n",
                ..behind_sentinel("the same, `min-replicas-to-write 1`, max-lag 10 s", "redis-py-8")
            },
            Choice {
                nodes: "min_replicas_to_write = 1\nmin_replicas_max_lag = \"2s\"\n",
                ..behind_sentinel("the same, max-lag 2 s", "redis-py-8")
            },
            Choice { lock: "redlock", ..behind_sentinel("Redlock on five nodes", "redis-py-8") },
        ]
    }
}

/// Simulates a choice under a fault.
pub(super) fn choose(choice: &Choice, fault: &str, seed: u64) -> Simulated {
    let lasts_s = match fault {
        "kill" => None,
        "stop" => Some(15.0),
        _ => Some(20.0),
    };
    let run = Measured {
        fault: fault.to_owned(),
        lasts_s,
        driver: choice.driver.to_owned(),
        late_client: true,
        first_sentinel_is_cut_off: false,
        min_replicas: 0,
        max_lag_s: 10,
        socket_timeout_s: None,
        ..RUNS[0].clone()
    };
    let mut text = file(&run, fault_at(seed));
    text = text.replace("min_replicas_to_write = 0\nmin_replicas_max_lag = \"10s\"\n", choice.nodes);
    text = text.replace("[sentinels]\n", &format!("[sentinels]\n{}", choice.sentinels));
    if choice.lock == "redlock" {
        let sentinels = text.find("[sentinels]").expect("it has some");
        let network = text.find("[network]").expect("it has one");
        text.replace_range(sentinels..network, "");
        text = text.replace("\"single\"", "\"redlock\"").replace("wake = \"poll\"\npoll = \"20ms\"\n", "");
        text =
            text.replace("[\"A\", \"B\", \"C\"]\nmaster = \"A\"\n", "[\"A\", \"B\", \"C\", \"D\", \"E\"]\n");
        text = text.replace("\"A\", \"S1\", \"c1\"", "\"A\", \"c1\"");
        text = text.replace("\"B\", \"C\", \"S2\", \"S3\"", "\"B\", \"C\", \"D\", \"E\"");
    }
    run_file(&run, text, seed)
}

fn run_file(run: &Measured, text: String, seed: u64) -> Simulated {
    let source = Source { name: format!("run-{}", run.run), file: "made".into(), text, ..Source::default() };
    let scenario = source.read().unwrap_or_else(|error| panic!("run {}: {error}\n{}", run.run, source.text));
    let report = SimEngine.run(&scenario, seed);
    let from = TrueNs(fault_at(seed).as_nanos() as u64);
    let after = |at: TrueNs| (at.0 as f64 - from.0 as f64) / 1e9;
    let steps = FailoverSteps::after(&report.announcements, from);
    let back = run.lasts_s.filter(|_| run.fault != "none");
    let all = |moments: &[TrueNs]| moments.iter().map(|at| after(*at)).collect::<Vec<_>>();
    let moments = Moments {
        sdown: all(&steps.sdown),
        odown: all(&steps.odown),
        elected: steps.elected.map(after),
        promoted: steps.promoted.map(after),
        switched: all(&steps.switched),
        converted: steps.converted.map(after).into_iter().collect(),
        back,
    };
    let overlaps =
        report.verdicts.get(Predicate::P1).evidence().iter().filter_map(|evidence| match evidence {
            Evidence::Overlap(overlap) => Some(after(overlap.to) - after(overlap.from)),
            _ => None,
        });
    let lengths: Vec<f64> = overlaps.collect();
    let grants: Vec<(u32, f64)> = (report.history.events().iter())
        .filter_map(|event| match event.what {
            EventKind::Granted { client, .. } => Some((client.0, after(event.at))),
            _ => None,
        })
        .collect();
    let switched = moments.switched.first().copied();
    let is_of_majority = |client: u32| run.fault != "cut" || client != 0;
    let first = switched.and_then(|switched| {
        let mut later = grants.iter().filter(|(client, at)| is_of_majority(*client) && *at > switched);
        later.next().map(|(_, at)| *at)
    });
    let longest_wait_s = (1..3).map(|client| longest_wait(&grants, client)).fold(0.0, f64::max);
    let elected = report.announcements.iter().filter(|it| it.kind == "+promoted-slave" && it.at >= from);
    let failovers = elected.count();
    let converted = moments.converted.first().copied();
    let old = grants.iter().filter(|(client, at)| *client == 0 && converted.is_none_or(|end| *at < end));
    let last = old.map(|(_, at)| *at).next_back().filter(|_| run.fault == "cut");
    Simulated {
        double_holds: lengths.len(),
        together_s: lengths.iter().sum(),
        first_grant_of_majority_s: first,
        last_grant_of_old_master_s: last,
        longest_wait_s,
        failovers,
        moments,
    }
}

/// The longest time from the fault or a grant to a client's next grant.
fn longest_wait(grants: &[(u32, f64)], client: u32) -> f64 {
    let own = grants.iter().filter(|(by, at)| *by == client && *at > 0.0).map(|(_, at)| *at);
    own.fold((0.0, 0.0), |(last, longest), at| (at, f64::max(longest, at - last))).1
}

/// The configuration and the fault of a run as a scenario.
fn file(run: &Measured, fault_at: Duration) -> String {
    let Measured { down_after_ms, min_replicas, max_lag_s, driver, ttl_s, hold_s, .. } = run;
    // At the load under which these runs were measured, half of all sleeps of 500 ms end 0.4 to 8 ms late.
    let (hold, late_hold) = (hold_s * 1000.0, hold_s * 1000.0 + 10.0);
    let timeout = run
        .socket_timeout_s
        .map_or(String::new(), |limit| format!("request_timeout = \"{}ms\"\n", limit * 1000.0));
    // A Sentinel stands beside each node; c1 is asked to know that of its own side first in one run.
    let order =
        if run.first_sentinel_is_cut_off { "\"S1\", \"S2\", \"S3\"" } else { "\"S2\", \"S3\", \"S1\"" };
    let client = |name: &str| {
        format!(
            "[[clients]]\nname = \"{name}\"\nprogram = [\"try 1s\", \"work {hold}ms..{late_hold}ms\", \"release\", \
             \"work 10ms..12ms\"]\nrounds = 10000\nretry = \"50ms\"\ngive_up_after = \"1h\"\n"
        )
    };
    let at = fault_at.as_millis();
    // A process that begins later is one that is not there before: with `start` it would be connected already.
    let late = match run.late_client {
        true => {
            let begins = at + 5_000;
            format!("[[faults]]\nkind = \"crash\"\nhost = \"c3\"\nat = \"0s\"\nfor = \"{begins}ms\"\n")
        }
        false => String::new(),
    };
    let clients = ["c1", "c2", "c3"].map(client).concat();
    let lasts = run.lasts_s.map_or(String::new(), |lasts| format!("for = \"{}ms\"\n", lasts * 1000.0));
    let fault = match run.fault.as_str() {
        "kill" => "kind = \"crash\"\nhost = \"A\"\n".to_owned(),
        "stop" => format!("kind = \"pause\"\nhost = \"A\"\n{lasts}"),
        "cut" => format!(
            "kind = \"cut\"\nfrom = [\"A\", \"S1\", \"c1\"]\nto = [\"B\", \"C\", \"S2\", \"S3\", \"c2\", \"c3\"]\n\
             both_ways = true\n{lasts}"
        ),
        "cut-alone" => format!(
            "kind = \"cut\"\nfrom = [\"A\", \"S1\"]\nto = [\"B\", \"C\", \"S2\", \"S3\", \"c1\", \"c2\", \"c3\"]\n\
             both_ways = true\n{lasts}"
        ),
        _ => String::new(),
    };
    let fault = match fault.as_str() {
        "" => String::new(),
        fault => format!("[[faults]]\n{fault}at = \"{at}ms\"\n"),
    };
    let end = at + 5_000 + run.lasts_s.map_or(15_000, |lasts| (lasts * 1000.0) as u128 + 14_000);
    format!(
        "claim = \"run {} again\"\n[lock]\nalgorithm = \"single\"\nttl = \"{ttl_s}s\"\ndriver = \"{driver}\"\n\
         {timeout}wake = \"poll\"\npoll = \"20ms\"\n[nodes]\nfsync_time = \"2ms..20ms\"\nnames = [\"A\", \"B\", \"C\"]\nmaster = \"A\"\n\
         min_replicas_to_write = {min_replicas}\nmin_replicas_max_lag = \"{max_lag_s}s\"\n[sentinels]\n\
         names = [{order}]\ndown_after = \"{down_after_ms}ms\"\n[network]\ndelay = \"100us..300us\"\n\
         {clients}{late}{fault}[limits]\ntime = \"{end}ms\"\n",
        run.run
    )
}
