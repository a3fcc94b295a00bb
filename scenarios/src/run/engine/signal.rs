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
    /// To a process: let the thread of this name begin with its program.
    StartOf(String),
    /// To a node's machine: change a role, or what the node holds.
    Order(Order),
}

const START: &str = "start";
const START_OF: &str = "start ";

impl Signal {
    /// The kernel's fault that gives it to a host.
    pub(crate) fn fault_for(&self, host: HostId) -> Fault {
        Fault::Signal { host, signal: self.to_string() }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Signal::Start => f.write_str(START),
            Signal::StartOf(thread) => write!(f, "{START_OF}{thread}"),
            Signal::Order(order) => order.fmt(f),
        }
    }
}

impl FromStr for Signal {
    type Err = UnknownOrder;

    fn from_str(text: &str) -> Result<Signal, UnknownOrder> {
        match text.strip_prefix(START_OF) {
            _ if text == START => Ok(Signal::Start),
            Some(thread) => Ok(Signal::StartOf(thread.to_owned())),
            None => text.parse().map(Signal::Order),
        }
    }
}
