//! What a script may use: instructions or time, memory, and depth.
//!
//! Nothing that decides here depends on what ran before, because a run must not. Instructions are counted by Lua
//! itself; work that host and library functions do in their place is charged by what they are given, and a command's by
//! what it looks at and copies besides ([`Context::charge_work`](crate::core::context::Context::charge_work)); what a
//! state's allocator says decides only in a state that was made for this one script ([`OwnMemory`]).
//!
//! Not counted: what one instruction costs on a long string that Lua's own `..` made (a comparison, making it once
//! more).

use std::time::Duration;

use crate::core::{CoreConfig, ScriptClock, ScriptLimit};

/// Instructions between two looks at the budget.
pub(super) const HOOK_INTERVAL: u32 = 200;
/// What a script may allocate in its thread's shared state. Who needs more gets a state of its own.
pub(super) const LIGHT_MEMORY: usize = 2 << 20;
/// What a script allocates in a state of its own before its garbage is collected and its allocations are charged.
/// Further above [`LIGHT_MEMORY`] than anything that a shared state may already hold, so that it makes no difference in
/// which of the two a script near that limit runs.
const COLLECT_FROM: usize = 8 << 20;
/// Bytes that are copied, hashed or cleared in the time of one instruction.
pub(super) const BYTES_PER_INSTRUCTION: u64 = 64;
/// For every so many bytes of the longest string, an instruction counts once more: it may copy or compare that string.
const LONG_STRING: usize = 16 << 10;
/// Steps of one library function that take about a second.
const UNINTERRUPTED: u64 = 100_000_000;

/// Why a script was stopped for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Its instructions or its time are used up; where it was then.
    Limit { source: String, line: usize },
    /// It needs more memory than the shared state gives: it is started again in a state of its own.
    Outgrown,
}

/// The limits of the script under way, and what it has used of them.
pub(super) struct Limits {
    budget: Budget,
    /// Bytes its state may hold for it.
    pub(super) memory: usize,
    /// The longest string that came from anywhere but Lua's own `..`.
    longest: usize,
    /// Set in a state of its own.
    own: Option<OwnMemory>,
    /// An allocation was refused in a state of its own, or a string that could never fit.
    pub(super) met_memory: bool,
    pub(super) stopped: Option<Stop>,
    /// How deep the host's functions have called back into Lua.
    pub(super) nested: u32,
}

enum Budget {
    Instructions { all: u64, left: u64 },
    Time { clock: ScriptClock, until: Duration },
}

/// The memory of a state that nothing ran in before: the same for the same script, wherever it runs.
struct OwnMemory {
    /// What the state held when we last looked.
    held: usize,
    /// What the script has allocated in all.
    allocated: usize,
    /// Garbage is collected when the state holds more.
    collect_at: usize,
}

impl Limits {
    pub(super) fn new(config: &CoreConfig) -> Limits {
        let budget = match &config.script_limit {
            ScriptLimit::Instructions(all) => Budget::Instructions { all: *all, left: (*all).max(1) },
            ScriptLimit::Time(clock) => {
                Budget::Time { clock: clock.clone(), until: clock.now() + config.busy_reply_threshold }
            }
        };
        Limits {
            budget,
            memory: config.script_memory_limit,
            longest: 0,
            own: None,
            met_memory: false,
            stopped: None,
            nested: 0,
        }
    }

    /// Starts to count again, for a script that starts again in a state of its own. Time goes on.
    pub(super) fn begin_again(&mut self) {
        if let Budget::Instructions { all, left } = &mut self.budget {
            *left = (*all).max(1);
        }
        self.own = Some(OwnMemory { held: 0, allocated: 0, collect_at: 0 });
        (self.longest, self.nested, self.stopped) = (0, 0, None);
    }

    /// What the allocator may give beyond what the state holds before the script starts.
    pub(super) fn allowance(&self) -> usize {
        if self.own.is_some() { self.memory } else { LIGHT_MEMORY }
    }

    /// The script starts; its state holds this much.
    pub(super) fn start(&mut self, held: usize) {
        if let Some(own) = &mut self.own {
            *own = OwnMemory { held, allocated: 0, collect_at: held.saturating_add(COLLECT_FROM) };
        }
    }

    /// The script has got a string of this length.
    pub(super) fn note_string(&mut self, length: usize) {
        self.longest = self.longest.max(length);
    }

    pub(super) fn is_in_own_state(&self) -> bool {
        self.own.is_some()
    }

    /// Takes from the budget; true if it is used up. Nothing can stop a library function half-way, so one that would
    /// take about a second by itself has used up any time.
    pub(super) fn spend(&mut self, instructions: u64) -> bool {
        match &mut self.budget {
            Budget::Instructions { left, .. } => {
                *left = left.saturating_sub(instructions);
                *left == 0
            }
            Budget::Time { clock, until } => instructions > UNINTERRUPTED || clock.now() >= *until,
        }
    }

    /// What the instructions since the last look cost, and whether it is time to collect garbage.
    pub(super) fn look(&mut self, held: usize) -> (u64, bool) {
        let weight = 1 + (self.longest / LONG_STRING) as u64;
        let instructions = u64::from(HOOK_INTERVAL) * weight;
        match &mut self.own {
            None => (instructions, false),
            Some(own) => {
                let grown = held.saturating_sub(own.held);
                own.held = held;
                own.allocated = own.allocated.saturating_add(grown);
                let charged = if own.allocated > COLLECT_FROM { grown as u64 } else { 0 };
                (instructions + charged / BYTES_PER_INSTRUCTION, held > own.collect_at)
            }
        }
    }

    /// Garbage was collected, and this much is left.
    pub(super) fn note_collection(&mut self, live: usize) {
        let memory = self.memory;
        if let Some(own) = &mut self.own {
            let latest = (memory / 2).max(live.saturating_add(memory / 8));
            own.held = live;
            own.collect_at = live.saturating_mul(2).max(COLLECT_FROM).min(latest);
        }
    }
}
