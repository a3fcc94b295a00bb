//! What a process can be told from outside: one type for all signals of the engine, with one way to write and to read
//! it.
//!
//! The kernel carries texts. A text that is no signal, and a signal to a process that does not take it, is said
//! loudly by whoever gets it: a scenario whose signal nobody understands would wait for ever and pass.

use std::fmt;
use std::str::FromStr;

use doublehold_sim::{Fault, HostId};
use doublehold_sim_redis::{Order, UnknownOrder};

/// Something a process is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// To a client: begin with the program.
    Start,
    /// To a node's machine: change a role, or what the node holds.
    Order(Order),
}

const START: &str = "start";

impl Signal {
    /// The kernel's fault that gives it to a host.
    pub(crate) fn to(&self, host: HostId) -> Fault {
        Fault::Signal { host, signal: self.to_string() }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Signal::Start => f.write_str(START),
            Signal::Order(order) => order.fmt(f),
        }
    }
}

impl FromStr for Signal {
    type Err = UnknownOrder;

    fn from_str(text: &str) -> Result<Signal, UnknownOrder> {
        if text == START { Ok(Signal::Start) } else { text.parse().map(Signal::Order) }
    }
}
