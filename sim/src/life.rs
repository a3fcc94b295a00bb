//! One host's life: whether its machine has power, whether its process runs, and what stops it.
//!
//! A host runs one process at a time. It is *up*, or down after a crash or a power loss; while up it can be stopped by
//! any number of overlapping pauses and suspensions. A death ends the pauses before it, a power loss the suspensions.
//!
//! Counting only: what follows from a change (tasks that go on, connections that end) is the kernel's business.

/// Whether a ready task may run now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// It may; a cancelled task of a dead process may too, which only drops it.
    Run,
    /// Its host is stopped.
    Park,
}

/// One of the lives of a process (or of the place where one would run), or of a machine. A stop ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LifeNumber(u32);

/// One host's life so far.
#[derive(Debug)]
pub struct Life {
    /// The machine has power. Without, the network gets silence.
    has_power: bool,
    up: bool,
    /// Counts processes: handles and tasks of an earlier one are dead.
    incarnation: u32,
    /// The boot function was called for this incarnation.
    booted: bool,
    deaths: u32,
    /// Deaths that were not taken back since the host was started last.
    deaths_in_force: u32,
    power_losses: u32,
    pauses: u32,
    suspensions: u32,
    /// The run waits for the main task, as long as it has neither finished nor died for good.
    essential: bool,
    main_done: bool,
}

impl Life {
    /// The life of a host that has power and no process yet.
    pub fn new(essential: bool) -> Life {
        Life {
            has_power: true,
            up: true,
            incarnation: 0,
            booted: false,
            deaths: 0,
            deaths_in_force: 0,
            power_losses: 0,
            pauses: 0,
            suspensions: 0,
            essential,
            main_done: false,
        }
    }

    /// True if a process runs, or is about to.
    pub fn is_up(&self) -> bool {
        self.up
    }

    /// True if the machine has power.
    pub fn has_power(&self) -> bool {
        self.has_power
    }

    /// True if the run waits for the main task.
    pub fn is_essential(&self) -> bool {
        self.essential
    }

    /// The current process's number.
    pub fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// The suspensions that stop the machine.
    pub fn suspensions(&self) -> u32 {
        self.suspensions
    }

    /// True if the machine is suspended.
    pub fn is_suspended(&self) -> bool {
        self.suspensions > 0
    }

    /// True if no code runs, for a pause or a suspension.
    pub fn is_stopped(&self) -> bool {
        self.pauses > 0 || self.suspensions > 0
    }

    /// Whether the machine takes what the network brings.
    pub fn is_reachable(&self) -> bool {
        self.has_power && self.suspensions == 0
    }

    /// The gate for a task of the process of this number.
    pub fn gate(&self, incarnation: u32) -> Gate {
        if incarnation == self.incarnation && self.is_stopped() { Gate::Park } else { Gate::Run }
    }

    /// The life that a pause stops.
    pub fn process_life(&self) -> LifeNumber {
        LifeNumber(self.deaths)
    }

    /// The life that a suspension stops.
    pub fn machine_life(&self) -> LifeNumber {
        LifeNumber(self.power_losses)
    }

    /// Whether the boot function is to be called: not if the process died, or was booted, since that was asked for.
    pub fn boot(&mut self) -> bool {
        self.up && !std::mem::replace(&mut self.booted, true)
    }

    /// One more pause stops the process.
    pub fn pause(&mut self) {
        self.pauses += 1;
    }

    /// Undoes one pause. A death in between has ended it already.
    pub fn resume(&mut self) {
        self.pauses = self.pauses.saturating_sub(1);
    }

    /// One more suspension stops the machine.
    pub fn suspend(&mut self) {
        self.suspensions += 1;
    }

    /// Undoes one suspension. Returns whether the machine wakes by that.
    pub fn wake(&mut self) -> bool {
        let was_suspended = self.is_suspended();
        self.suspensions = self.suspensions.saturating_sub(1);
        was_suspended && !self.is_suspended()
    }

    /// A death strikes, also where nothing lives any more.
    pub fn add_death(&mut self) {
        self.deaths_in_force += 1;
    }

    /// One death is taken back. Returns whether it was the last.
    pub fn take_back_death(&mut self) -> bool {
        self.deaths_in_force = self.deaths_in_force.saturating_sub(1);
        self.deaths_in_force == 0
    }

    /// Deaths that were not taken back since the host was started last.
    pub fn deaths_in_force(&self) -> u32 {
        self.deaths_in_force
    }

    /// The process dies. Returns whether the run waits no longer for its main task.
    pub fn die(&mut self, for_good: bool) -> bool {
        self.pauses = 0;
        self.deaths += 1;
        for_good && self.main_finished()
    }

    /// Nothing of the process is left: the next one has another incarnation.
    pub fn end_process(&mut self) {
        self.up = false;
        self.booted = false;
        self.incarnation += 1;
    }

    /// The machine loses its power, and with it what suspended it. The process dies of that.
    pub fn switch_off(&mut self) {
        self.has_power = false;
        self.suspensions = 0;
        self.power_losses += 1;
    }

    /// The next process starts, on a machine that has power. Returns whether the run waits again for its main task.
    pub fn start(&mut self) -> bool {
        self.deaths_in_force = 0;
        self.has_power = true;
        self.up = true;
        self.essential && std::mem::replace(&mut self.main_done, false)
    }

    /// The main task is over. Returns whether the run waits no longer for it.
    pub fn main_finished(&mut self) -> bool {
        self.essential && !std::mem::replace(&mut self.main_done, true)
    }
}
