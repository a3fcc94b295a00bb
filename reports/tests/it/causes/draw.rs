//! Random scenarios of all locks: switches, clocks, programs, and faults at random times on random hosts. Nothing of it
//! is shared with the weather or the property tests.

use std::fmt::Write as _;

use doublehold_scenarios::Scenario;
use doublehold_scenarios::format::Source;

/// Numbers that follow from a seed (splitmix64).
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }
}

const LOCKS: [(&str, &[&str], &[&str]); 9] = [
    (
        "single",
        &["A"],
        &["", "elapsed_check = true", "clock = \"wall\"\nelapsed_check = true", "request_timeout = \"none\""],
    ),
    ("single", &["A"], &["", "release = \"plain-delete\""]),
    (
        "redlock",
        &["A", "B", "C", "D", "E"],
        &["", "elapsed_check = false", "on_failed_extension = \"release\""],
    ),
    ("redlock", &["A", "B", "C"], &["", "elapsed_check = false"]),
    ("replicated", &["M", "R1", "R2"], &["", "elapsed_check = true"]),
    ("setnx-getset", &["A"], &[""]),
    ("get-then-delete", &["A"], &[""]),
    ("set-ex", &["A"], &[""]),
    ("setnx-expire", &["A"], &[""]),
];

/// The scenario of a number.
pub(crate) fn scenario(number: u64) -> Scenario {
    let mut draw = Draw(number);
    let (lock, nodes, switches) = LOCKS[draw.below(LOCKS.len() as u64) as usize];
    let switches = draw.of(switches);
    let ttl = 3 + draw.below(8);
    let clients = 2 + draw.below(2);
    let mut text = format!(
        "claim = \"drawn\"\nlock = {{ algorithm = \"{lock}\", ttl = \"{ttl}s\"{}{} }}\n",
        if switches.is_empty() { "" } else { ", " },
        switches.replace('\n', ", "),
    );
    let master = if lock == "replicated" { ", master = \"M\"" } else { "" };
    let persistence = draw.of(&["none", "everysec", "always"]);
    writeln!(text, "nodes = {{ names = {nodes:?}, persistence = \"{persistence}\"{master} }}").unwrap();
    let names: Vec<String> = (1..=clients).map(|number| format!("c{number}")).collect();
    let mut hosts: Vec<&str> = nodes.to_vec();
    hosts.extend(names.iter().map(String::as_str));
    for host in &hosts {
        if draw.one_in(15) {
            let wrong = draw.of(&[
                "drift = \"1/3\"",
                "drift = \"-1/4\"",
                "drift = \"1/50\"",
                "offset = \"+4s\"",
                "offset = \"-3s\"",
            ]);
            writeln!(text, "[clocks.{host}]\n{wrong}").unwrap();
        }
    }
    for name in &names {
        let work = ["1s..3s", "500ms..6s", "2s..9s", "200ms"][draw.below(4) as usize];
        let (check, extend) = (draw.of(&["", "\"check\", "]), draw.of(&["", "", "\"extend\", "]));
        let extend = if ["single", "redlock", "replicated"].contains(&lock) { extend } else { "" };
        writeln!(
            text,
            "[[clients]]\nname = \"{name}\"\nprogram = [\"acquire\", \"read\", \"work {work}\", {extend}{check}\"write\", \"release\"]\nrounds = {}",
            1 + draw.below(2)
        )
        .unwrap();
    }
    for _ in 0..draw.below(6) {
        fault(&mut text, &mut draw, nodes, &names, lock == "replicated");
    }
    text.push_str("[limits]\ntime = \"5m\"\n");
    let name = format!("drawn-{number}");
    Source { file: name.clone(), name, text, ..Source::default() }
        .read()
        .unwrap_or_else(|error| panic!("{error}"))
}

fn fault(text: &mut String, draw: &mut Draw, nodes: &[&str], clients: &[String], replicated: bool) {
    let clients: Vec<&str> = clients.iter().map(String::as_str).collect();
    let all: Vec<&str> = [nodes, &clients].concat();
    let long = format!("{}ms", 200 + draw.below(12_000));
    let kinds = [
        "pause",
        "suspend",
        "crash",
        "power-loss",
        "clock-step",
        "clock-drift",
        "cut",
        "slow",
        "packet-delay",
        "duplicate",
        "slow-node",
        "promote",
    ];
    let kind = kinds[draw.below(if replicated { 12 } else { 11 }) as usize];
    let (host, node, client) = (draw.of(&all), draw.of(nodes), draw.of(&clients));
    let rest = match kind {
        "pause" | "suspend" | "crash" | "power-loss" => format!("host = \"{host}\"\nfor = \"{long}\""),
        "clock-step" => {
            let sign = if draw.one_in(3) { "-" } else { "+" };
            format!("host = \"{host}\"\nby = \"{sign}{long}\"")
        }
        "clock-drift" => format!("host = \"{host}\"\nby = \"1/{}\"\nfor = \"{long}\"", 2 + draw.below(4)),
        "cut" => format!("from = \"{client}\"\nto = \"{node}\"\nboth_ways = true\nfor = \"{long}\""),
        "slow" => format!(
            "from = \"{node}\"\nto = \"{client}\"\nby = \"{}ms\"\nfor = \"{long}\"",
            10 + draw.below(3_000)
        ),
        "packet-delay" => {
            let to = draw.of(&["resource", node]);
            if draw.one_in(2) || to == "resource" {
                format!("from = \"{client}\"\nto = \"{to}\"\nby = \"{long}\"")
            } else {
                format!("from = \"{to}\"\nto = \"{client}\"\nby = \"{long}\"")
            }
        }
        "slow-node" => format!("host = \"{node}\"\nby = \"10ms..{long}\"\nfor = \"{long}\""),
        "duplicate" => {
            let to = draw.of(&["resource", node]);
            format!("from = \"{client}\"\nto = \"{to}\"\nafter = \"{long}\"")
        }
        _ => format!("host = \"{}\"", draw.of(&["R1", "R2"])),
    };
    writeln!(
        text,
        "[[faults]]\nkind = \"{kind}\"\n{rest}\nat = \"{}ms\"\noptional = true",
        draw.below(14_000)
    )
    .unwrap();
}
