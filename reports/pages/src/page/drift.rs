//! Where an allowance for drift ends: what the formula says, to be seen beside what was counted.
//!
//! A client whose clock runs at the rate c counts a lease of nodes that run at n too long by the share 1 - c/n of it.
//! Algorithms give up a part of each lease for that, the allowance, and are safe as long as it is no less.

use doublehold_sweeps::sweep::{AxisHeader, DesignHeader};

use super::parameter;
use super::world;
use crate::plots::{Quantity, Reference, Values};

/// The line for one design, where one axis is the clients' drift and the other the nodes'.
pub(crate) fn line(design: &DesignHeader, across: &AxisHeader, up: &AxisHeader) -> Option<Reference> {
    let allowed = world::drift_allowance(&design.world).filter(|it| (0.0..1.0).contains(it))?;
    // The rate of the other side with which all is used up: of the nodes, or of the clients.
    let factor = match (across.key.as_str(), up.key.as_str()) {
        ("clocks.clients.drift", "clocks.nodes.drift") => 1.0 / (1.0 - allowed),
        ("clocks.nodes.drift", "clocks.clients.drift") => 1.0 - allowed,
        _ => return None,
    };
    let (columns, rows) = (rates(&across.values)?, rates(&up.values)?);
    let place =
        |(column, rate): (usize, &f64)| Some((column as f64, position_between(&rows, rate * factor)?));
    let places: Vec<(f64, f64)> = columns.iter().enumerate().filter_map(place).collect();
    (places.len() > 1).then_some(Reference { places })
}

/// How fast clocks run that drift so much.
fn rates(typed: &[String]) -> Option<Vec<f64>> {
    match parameter::values(typed) {
        Values::Numbers(numbers, Quantity::Share) => Some(numbers.iter().map(|drift| 1.0 + drift).collect()),
        _ => None,
    }
}

/// The place of a number among values in a row, between two of them if need be; none beyond the last.
fn position_between(values: &[f64], wanted: f64) -> Option<f64> {
    let within = |pair: &[f64]| (wanted - pair[0]) * (wanted - pair[1]) <= 0.0 && pair[0] != pair[1];
    let first = values.windows(2).position(within)?;
    Some(first as f64 + (wanted - values[first]) / (values[first + 1] - values[first]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(whose: &str, values: &[&str]) -> AxisHeader {
        AxisHeader {
            key: format!("clocks.{whose}.drift"),
            values: values.iter().map(|it| (*it).to_owned()).collect(),
        }
    }

    fn line_of(world: &str, across: &AxisHeader, up: &AxisHeader) -> Option<Reference> {
        let design = DesignHeader {
            name: String::new(),
            about: String::new(),
            weather: Vec::new(),
            strikes_for: String::new(),
            world: world.to_owned(),
            has_no_deadline: false,
        };
        line(&design, across, up)
    }

    #[test]
    fn the_line_is_where_the_allowance_is_used_up() {
        // A tenth of the lease: with right clients, nodes may run at 1 / 0.9, which is a ninth too fast.
        let world = "[lock]\nttl = \"10s\"\ndrift_ratio = \"9/100\"\ndrift_constant = \"100ms\"\n";
        let (clients, nodes) = (axis("clients", &["0/1", "-1/10"]), axis("nodes", &["0/1", "1/9"]));
        for (across, up) in [(&clients, &nodes), (&nodes, &clients)] {
            let line = line_of(world, across, up).expect("a line");
            let expected = [(0.0, 1.0), (1.0, 0.0)];
            assert_eq!(line.places.len(), expected.len());
            for ((x, y), (column, row)) in line.places.iter().zip(expected) {
                assert!((x - column).abs() < 1e-9 && (y - row).abs() < 1e-9, "{:?}", line.places);
            }
        }
    }

    #[test]
    fn what_has_no_allowance_or_lies_beyond_the_grid_has_no_line() {
        let (clients, nodes) = (axis("clients", &["0/1", "-1/10"]), axis("nodes", &["0/1", "1/9"]));
        assert!(line_of("[lock]\n", &clients, &nodes).is_none());
        let world = "[lock]\nttl = \"10s\"\ndrift_ratio = \"1/2\"\n";
        assert!(line_of(world, &clients, &nodes).is_none());
        assert!(line_of(world, &axis("clients", &["fast", "slow"]), &nodes).is_none());
    }
}
