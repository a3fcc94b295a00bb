//! Random scenarios of every lock that comes with the project, the profiles of libraries among them: three clients with
//! three rounds each, in a weather.

use std::fmt::Write as _;

use doublehold_lockimpl::{Nodes, descriptors};
use doublehold_scenarios::Scenario;
use doublehold_scenarios::format::Source;

const WEATHERS: [&str; 4] = ["cloud", "hostile", "pauses-only", "no-clock-faults"];
const WORK: [&str; 3] = ["1s..6s", "1s..3s", "500ms..4s"];

/// The scenario of a number: each lock in turn, and then the next weather.
pub(crate) fn scenario(number: u64) -> Scenario {
    let locks = descriptors();
    let (round, place) = (number as usize / locks.len(), number as usize % locks.len());
    let lock = &locks[place];
    let (nodes, master): (&[&str], &str) = match lock.nodes {
        Nodes::One => (&["A"], ""),
        Nodes::Replicated => (&["M", "R1", "R2"], ", master = \"M\""),
        Nodes::Independent => (&["A", "B", "C", "D", "E"], ""),
    };
    let weather = WEATHERS[(round + place) % WEATHERS.len()];
    let mut text = format!(
        "claim = \"drawn\"\nlock = {{ algorithm = \"{}\", ttl = \"10s\" }}\nnodes = {{ names = {nodes:?}{master} }}\n\
         limits = {{ time = \"10m\", obtain_within = \"60s\" }}\nweather = {{ preset = \"{weather}\" }}\n",
        lock.name
    );
    for (client, work) in WORK.iter().enumerate() {
        let asks = if number.is_multiple_of(5) { "try" } else { "acquire" };
        writeln!(
            text,
            "[[clients]]\nname = \"c{}\"\nprogram = [\"{asks}\", \"read\", \"work {work}\", \"write\", \"release\"]\nrounds = 3",
            client + 1
        )
        .expect("a text takes all");
    }
    let name = format!("{}-{weather}", lock.name);
    Source { file: name.clone(), name, text, ..Source::default() }
        .read()
        .unwrap_or_else(|error| panic!("{error}"))
}
