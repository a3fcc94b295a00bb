//! Faults that have nothing to do with a violation, drawn at random: short pauses, small steps of clocks, short cuts,
//! slow links and losses, at random times and at random steps of the run.

use std::time::Duration;

use doublehold_history::RunOutcome;
use doublehold_scenarios::fault::{Effect, Fault, Way};
use doublehold_scenarios::scenario::Role;
use doublehold_scenarios::when::{Nth, When};
use doublehold_scenarios::{Engine, LeanEngine, Prepared, Scenario, Seed, Stepped};
use doublehold_search::shrink::Target;
use doublehold_sim::{Probability, Stream};

use crate::shrink::brute;

/// How often faults are drawn until the scenario violates among them as it does without.
const DRAWS: usize = 50;

/// The scenario among 5 to 20 such faults, where it still violates.
pub(crate) fn violating(scenario: &Scenario, target: Target, seed: Seed) -> Option<Scenario> {
    let mut stream = Stream::new(seed, &scenario.name);
    let prepared = LeanEngine.prepare(scenario).expect("it can be run");
    let (steps, ended) = (prepared.steps(1), prepared.judge(1).ended.0);
    let noisy = (0..DRAWS).map(|_| {
        let count = 5 + stream.below(16) as usize;
        let mut noisy = scenario.clone();
        for _ in 0..count {
            let place = stream.below(noisy.faults.len() as u64 + 1) as usize;
            noisy.faults.insert(place, fault(scenario, &steps, ended, &mut stream));
        }
        noisy
    });
    noisy.into_iter().find(|noisy| brute::violates(noisy, Seed(1), target, RunOutcome::Completed))
}

fn fault(scenario: &Scenario, steps: &[Nth], ended: u64, stream: &mut Stream) -> Fault {
    let mut pick = |names: &[&str]| names[stream.below(names.len() as u64) as usize].to_owned();
    let of = |role: Role| -> Vec<&str> {
        scenario.hosts.iter().filter(|host| host.role == role).map(|host| host.name.as_str()).collect()
    };
    let (nodes, clients) = (of(Role::Node), of(Role::Client));
    let (node, client) = (pick(&nodes), pick(&clients));
    let host = pick(&[&nodes[..], &clients[..]].concat());
    let ms = |stream: &mut Stream, most| Duration::from_millis(1 + stream.below(most));
    let link = Way { from: client.into(), to: node.into(), both_ways: stream.below(2) == 0 };
    let short = ms(stream, 30);
    let fault = match stream.below(5) {
        0 => Fault::pause(host).lasting(short),
        1 => Fault::clock_step(
            host,
            [1_000_000, -1_000_000][stream.below(2) as usize] * (1 + stream.below(100) as i64),
        ),
        2 => Fault::cut(link).lasting(short),
        3 => Fault::slow(link, short).lasting(ms(stream, 5_000)),
        _ => {
            let probability = Probability::new(1, 2).expect("a chance");
            Fault::new(Effect::Loss { way: link, probability }).lasting(short)
        }
    };
    let at = match stream.below(2) {
        0 => When::At(Duration::from_nanos(stream.below(ended.max(1)))),
        _ => {
            let step = steps[stream.below(steps.len() as u64) as usize].clone();
            When::On { events: vec![step], after: Duration::ZERO }
        }
    };
    fault.at(at).optional()
}
