//! All of a simulation: what is mounted in it, what strikes, and how it is run.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use turmoil::Sim;

use crate::NodeConfig;
use crate::hosts::{Hosts, Stands, micros};
use crate::node;
use crate::process::{self, Guest, Process};

/// The nodes and processes of one [`turmoil::Sim`], and what strikes them.
///
/// Hosts go by the names they have there. Times are true, from the beginning of the simulation.
pub struct Guests {
    hosts: Hosts,
    /// In the order in which they were made: they run one after the other.
    processes: RefCell<Vec<Process>>,
}

impl Guests {
    /// Guests of a simulation; everything random in them is drawn from `seed`. Give turmoil a seed too
    /// ([`rng_seed`](turmoil::Builder::rng_seed)): it draws one from the operating system otherwise.
    pub fn new(seed: u64) -> Guests {
        Guests { hosts: Hosts::new(seed), processes: RefCell::default() }
    }

    /// A Redis node, as software for [`Sim::host`]: it serves `port` of the host `name`. After a
    /// [`crash`](Sim::crash) its files are as they were written, and [`bounce`](Sim::bounce) starts it from them.
    pub fn redis(
        &self,
        name: &str,
        port: u16,
        config: NodeConfig,
    ) -> impl Fn() -> Pin<Box<dyn Future<Output = turmoil::Result>>> + 'static {
        self.hosts.with_host(name, |host| host.stands = Some(Stands::Node));
        node::software(self.hosts.clone(), name, port, config)
    }

    /// A process, as a client for [`Sim::client`]. The client ends when `main` does, with its result, and everything
    /// that `main` has spawned ends with it.
    ///
    /// `main` runs on a runtime of its own: `tokio::spawn`, `tokio::time` and whatever builds on them work there as
    /// ever. turmoil's `net` does not; [`Guest::connect`] gives a stream over turmoil's network.
    pub fn process<F>(
        &self,
        name: &str,
        main: impl FnOnce(Guest) -> F + 'static,
    ) -> impl Future<Output = turmoil::Result> + 'static
    where
        F: Future<Output = turmoil::Result> + 'static,
    {
        self.hosts.with_host(name, |host| host.stands = Some(Stands::Process));
        let (process, agent) = process::start(self.hosts.clone(), name, main);
        self.processes.borrow_mut().push(process);
        agent
    }

    /// Plans a pause of a process: for so long none of its code runs, as under SIGSTOP or a garbage collection. Clocks
    /// go on, so that its timers are overdue when it goes on, and what arrives meanwhile waits to be read.
    pub fn pause(&self, name: &str, from: Duration, lasting: Duration) {
        self.hosts.with_host(name, |host| host.pause(from, lasting));
    }

    /// Plans that a host's wall clock is set ahead.
    pub fn set_ahead(&self, name: &str, at: Duration, by: Duration) {
        self.hosts.with_host(name, |host| host.step_wall(at, micros(by)));
    }

    /// Plans that a host's wall clock is set back.
    pub fn set_back(&self, name: &str, at: Duration, by: Duration) {
        self.hosts.with_host(name, |host| host.step_wall(at, -micros(by)));
    }

    /// Takes from a node's disk what was not fsynced. For a node that [`Sim::crash`] has stopped: together they are a
    /// power loss.
    pub fn lose_power(&self, name: &str) {
        self.hosts.with_host(name, |host| host.disk.lose_power(None));
    }

    /// Runs the simulation until its clients have ended, in place of [`Sim::run`].
    ///
    /// # Errors
    /// As [`Sim::run`]: when a client or a host fails, or the simulation's time is up.
    ///
    /// # Panics
    /// If the main task of a process panics, or something is to strike a name that it cannot: a fault that strikes
    /// nothing would be a test that passes for ever.
    pub fn run(&self, sim: &mut Sim<'_>) -> turmoil::Result {
        while !self.step(sim)? {}
        Ok(())
    }

    /// One tick, in place of [`Sim::step`]: first turmoil's hosts, then the processes. Returns whether all clients have
    /// ended.
    ///
    /// # Errors
    /// As [`run`](Guests::run).
    ///
    /// # Panics
    /// If the main task of a process panics, or something is to strike a name that it cannot: a fault that strikes
    /// nothing would be a test that passes for ever.
    pub fn step(&self, sim: &mut Sim<'_>) -> turmoil::Result<bool> {
        if let Some(why) = self.hosts.struck_in_vain() {
            panic!("{why}");
        }
        let from = sim.elapsed();
        let have_ended = sim.step()?;
        for process in self.processes.borrow_mut().iter_mut() {
            process.run(from, sim.elapsed());
        }
        Ok(have_ended)
    }
}
