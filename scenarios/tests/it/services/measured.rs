//! Twenty-one runs of real services, each simulated: if, when and in which order the next holder comes, and the news.
//!
//! Times are seconds after the fault. A simulated time may differ by a fifth of the measured one, or by one heartbeat
//! of the session, which is where chance is: when the last one came before the fault.

use doublehold_history::{Event, EventKind, Predicate, losses};
use doublehold_scenarios::report::Report;

use super::run;

/// A measured run.
struct Measured {
    name: &'static str,
    lock: &'static str,
    service: &'static str,
    fault: Strikes,
    /// The time of c2's grant.
    next: Option<f64>,
    /// The news that c1 had, each word with its time.
    news: &'static [(&'static str, f64)],
    /// True if two held the lock at once.
    together: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Strikes {
    Nothing,
    Stop,
    Cut,
    Kill,
    Restart,
}
use Strikes::{Cut, Kill, Nothing, Restart, Stop};

const fn measured(name: &'static str, lock: &'static str, fault: Strikes) -> Measured {
    Measured { name, lock, service: "", fault, next: None, news: &[], together: false }
}

const IDLE: &str = "idle_in_transaction_timeout = \"5s\"";
const PROBES: &str = "keepalive_idle = \"2s\", keepalive_interval = \"2s\", keepalive_count = 2";

const MEASURED: &[Measured] = &[
    Measured {
        next: Some(8.432),
        news: &[("SUSPENDED", 25.064), ("LOST", 25.293)],
        together: true,
        ..measured("kazoo, stopped", "kazoo", Stop)
    },
    Measured {
        next: Some(10.188),
        news: &[("SUSPENDED", 6.294), ("LOST", 26.848)],
        together: true,
        ..measured("kazoo, cut off", "kazoo", Cut)
    },
    Measured { next: Some(7.583), ..measured("kazoo, killed", "kazoo", Kill) },
    Measured { next: Some(37.031), ..measured("kazoo, service restarted", "kazoo", Restart) },
    Measured {
        next: Some(7.433),
        news: &[("SUSPENDED", 25.102), ("LOST", 26.655)],
        together: true,
        ..measured("Curator, stopped", "curator", Stop)
    },
    Measured {
        next: Some(8.523),
        news: &[("SUSPENDED", 3.768), ("LOST", 13.883)],
        together: true,
        ..measured("Curator, cut off", "curator", Cut)
    },
    Measured {
        next: Some(7.387),
        news: &[("TTL 0", 25.003)],
        together: true,
        ..measured("etcd3, stopped", "etcd3", Stop)
    },
    Measured {
        next: Some(7.17),
        news: &[("TTL 0", 26.939)],
        together: true,
        ..measured("etcd3, cut off", "etcd3", Cut)
    },
    Measured { next: Some(7.1), ..measured("etcd3, killed", "etcd3", Kill) },
    Measured { next: Some(3.042), ..measured("etcd3, no fault", "etcd3", Nothing) },
    Measured { next: None, ..measured("etcd3, service restarted", "etcd3", Restart) },
    Measured { next: Some(7.763), together: true, ..measured("etcdctl lock, stopped", "etcdctl-lock", Stop) },
    Measured { next: Some(7.073), together: true, ..measured("etcdctl lock, cut off", "etcdctl-lock", Cut) },
    Measured { next: Some(37.058), ..measured("advisory lock, stopped", "advisory-lock", Stop) },
    Measured { next: Some(37.024), ..measured("advisory lock, cut off", "advisory-lock", Cut) },
    Measured { next: Some(0.008), ..measured("advisory lock, killed", "advisory-lock", Kill) },
    Measured { next: Some(3.029), ..measured("advisory lock, no fault", "advisory-lock", Nothing) },
    Measured {
        next: None,
        news: &[("session over", 37.002)],
        ..measured("advisory lock, service restarted", "advisory-lock", Restart)
    },
    Measured { next: Some(37.026), ..measured("row, stopped", "row-lock", Stop) },
    Measured {
        service: IDLE,
        next: Some(2.019),
        news: &[("session over", 37.0)],
        together: true,
        ..measured("row with a timeout of idle transactions, stopped", "row-lock", Stop)
    },
    Measured {
        service: PROBES,
        next: Some(5.071),
        news: &[("session over", 37.003)],
        together: true,
        ..measured("row with TCP keepalives, cut off", "row-lock", Cut)
    },
];

/// The rest of a session of 10 s between two heartbeats.
const HEARTBEAT_S: f64 = 10.0 / 3.0;

impl Measured {
    /// c2 asks once, as the measuring programs did: one that loses its connection does not ask again.
    fn scenario(&self, work_s: u32) -> String {
        let faults = match self.fault {
            Nothing => "",
            Stop => "kind = \"pause\", host = \"c1\", for = \"25s\"",
            Cut => {
                "kind = \"cut\", from = \"c1\", to = [\"s\", \"resource\"], both_ways = true, for = \"25s\""
            }
            Kill => "kind = \"crash\", host = \"c1\"",
            Restart => "kind = \"crash\", host = \"s\", for = \"3s\"",
        };
        let at = "at = \"3s after c1's grant\"";
        let faults = if faults.is_empty() { String::new() } else { format!("{{ {faults}, {at} }}") };
        let hold_s = if self.fault == Nothing { 6 } else { 40 };
        format!(
            r#"
            claim = "{name}"
            lock = {{ algorithm = "{lock}", ttl = "10s" }}
            nodes = {{ names = ["s"] }}
            service = {{ {service} }}
            network = {{ delay = "1ms" }}
            faults = [{faults}]
            [[clients]]
            name = "c1"
            start = "700ms" # between two ticks of the service, as nobody began at one
            program = ["acquire", "read", "work {hold_s}s", "write", "release"]
            [[clients]]
            name = "c2"
            start = "100ms after c1's grant"
            program = ["try 70s", "read", "work {work_s}s", "write", "release"]
            "#,
            name = self.name,
            lock = self.lock,
            service = self.service,
        )
    }

    /// True if a simulated time is as the measured one, as far as chance goes.
    fn is_near(&self, simulated: f64, measured: f64) -> bool {
        let beats = !self.lock.ends_with("-lock") || self.lock == "etcdctl-lock";
        let chance = if beats { HEARTBEAT_S } else { 0.1 };
        (simulated - measured).abs() <= (measured.abs() / 5.0).max(chance)
    }
}

/// The outcome of a simulated run, in seconds after the fault.
struct Simulated {
    next: Option<f64>,
    news: Vec<(String, f64)>,
    together_s: f64,
}

impl Simulated {
    fn of(report: &Report) -> Simulated {
        let events = report.history.events();
        let grantee = |event: &Event| match event.what {
            EventKind::Granted { client, .. } => Some(client.0),
            _ => None,
        };
        let granted =
            |client| events.iter().find(|event| grantee(event) == Some(client)).map(|event| event.at.0);
        let fault = granted(0).expect("c1 is first") + 3_000_000_000;
        let after = |at: u64| (at as f64 - fault as f64) / 1e9;
        let lost = losses(&report.history).into_iter().find(|lost| lost.client.0 == 0);
        let heard = lost.iter().flat_map(|lost| &lost.heard);
        let told = heard.filter(|heard| !heard.word.starts_with("its "));
        let overlaps = report.verdicts.get(Predicate::P1).evidence().iter();
        let together = overlaps.filter_map(|evidence| match evidence {
            doublehold_history::Evidence::Overlap(overlap) => Some(overlap.to.since(overlap.from)),
            _ => None,
        });
        Simulated {
            next: granted(1).map(after),
            news: told.map(|heard| (heard.word.clone(), after(heard.at.0))).collect(),
            together_s: together.sum::<u64>() as f64 / 1e9,
        }
    }

    /// The words of the news and of the next grant, in the order in which they came.
    fn order(&self) -> Vec<String> {
        order(self.next, self.news.iter().map(|(word, at)| (word.as_str(), *at)))
    }
}

fn order<'a>(next: Option<f64>, news: impl Iterator<Item = (&'a str, f64)>) -> Vec<String> {
    let mut all: Vec<(f64, String)> = news.map(|(word, at)| (at, word.to_owned())).collect();
    all.extend(next.map(|at| (at, "next".to_owned())));
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    all.into_iter().map(|(_, word)| word).collect()
}

#[test]
fn every_measured_run_is_simulated_with_the_same_order_and_times() {
    for of in MEASURED {
        for work_s in [3, 4] {
            let runs: Vec<Simulated> =
                (1..=20).map(|seed| Simulated::of(&run(&of.scenario(work_s), seed))).collect();
            for run in &runs {
                // A service that restarts is away, and that is no loss.
                if !of.news.is_empty() && of.next.is_some() {
                    let measured = order(of.next, of.news.iter().copied());
                    assert_eq!(run.order(), measured, "{}", of.name);
                }
                assert_eq!(run.next.is_some(), of.next.is_some(), "{}: {:?}", of.name, run.next);
                if let (Some(simulated), Some(measured)) = (run.next, of.next) {
                    assert!(of.is_near(simulated, measured), "{}: {simulated} {measured}", of.name);
                }
                assert_eq!(run.together_s > 0.0, of.together, "{}", of.name);
                if of.together {
                    // Nobody is told in time and stops: two hold for as long as c2 works.
                    assert!(
                        (run.together_s - f64::from(work_s)).abs() < 0.1,
                        "{}: {}",
                        of.name,
                        run.together_s
                    );
                }
            }
            for (word, at) in of.news.iter().filter(|_| of.next.is_some()) {
                let measured = at - of.next.unwrap_or_default();
                let told = |run: &Simulated| {
                    let (_, at) = run.news.iter().find(|(known, _)| known == word)?;
                    Some(at - run.next?)
                };
                let told: Vec<f64> = runs.iter().filter_map(told).collect();
                let near = told.iter().filter(|it| of.is_near(**it, measured)).count();
                assert!(2 * near > told.len(), "{}: {word} {measured}: {told:?}", of.name);
            }
        }
    }
}
