//! Failovers from the first sign to the last.

use doublehold_sim::Fault;

use crate::world::{Setup, fault};

#[test]
fn a_stopped_master_is_replaced_and_converted_when_it_is_back() {
    let stop = fault(20.0, vec![Fault::Pause { host: Setup::node(0) }], Some(15.0));
    let announced = Setup { faults: vec![stop], ..Setup::default() }.run();
    for event in &announced {
        println!("{:8.3} {} {} {}", event.at, event.by, event.kind, event.text);
    }
    let converted = announced.iter().filter(|event| event.kind == "+convert-to-slave").count();
    assert_eq!(converted, 1);
}
