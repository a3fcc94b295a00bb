//! The one place where a fault changes the world.

use std::time::Duration;

use doublehold_sim::parts::LifeNumber;
use doublehold_sim::{Clocks, Event, Fault, HostId, Struck};

use crate::network::Late;
use crate::queue::Due;
use crate::state::{Chore, State};

impl State {
    /// A planned fault strikes now.
    pub(crate) fn strike(&mut self, number: usize) {
        let planned = self.faults.entry(number).clone();
        self.faults.strikes(number, self.now);
        for fault in &planned.faults {
            let stopped = self.life_stopped_by(fault);
            self.faults.remember_stopped(number, stopped);
            self.apply(number, fault);
        }
        if let Some(lasting) = planned.lasting {
            self.stops_to_end += usize::from(planned.faults.iter().any(Fault::stops_code));
            self.queue.push(self.now.after(lasting), Due::Undo(number));
        }
    }

    /// A planned fault's time is over: what it did is undone, last first.
    pub(crate) fn undo(&mut self, number: usize) {
        let stopped = self.faults.is_over(number, self.now);
        self.stops_to_end -= usize::from(self.faults.entry(number).faults.iter().any(Fault::stops_code));
        let done = self.faults.entry(number).faults.clone();
        for (fault, stopped) in done.iter().zip(stopped).rev() {
            // A death in between ended the stop.
            if stopped.is_some() && self.life_stopped_by(fault) != stopped {
                continue;
            }
            match fault.undo() {
                Some(Fault::Start { host }) if !self.host_mut(host).life.take_back_death() => {}
                Some(undo) => self.apply(number, &undo),
                None => {}
            }
        }
    }

    /// Every time that each planned fault struck. A delay that waits for a message to this day has struck nothing.
    pub(crate) fn struck(&self) -> Vec<Vec<Struck>> {
        let mut outcomes = self.faults.outcomes();
        for (number, strikes) in outcomes.iter_mut().enumerate() {
            let all = strikes.len();
            let from = |fault: &Fault| match *fault {
                Fault::DelayNext { from, to, .. } => self.net.waits_from(number, from, to).unwrap_or(all),
                _ => all,
            };
            let struck = self.faults.entry(number).faults.iter().map(from).max();
            strikes.truncate(struck.unwrap_or(all));
        }
        outcomes
    }

    fn life_stopped_by(&self, fault: &Fault) -> Option<LifeNumber> {
        match *fault {
            Fault::Pause { host } => Some(self.host(host).life.process_life()),
            Fault::Suspend { host } | Fault::StandClocks { host, .. } => {
                Some(self.host(host).life.machine_life())
            }
            _ => None,
        }
    }

    /// Does one thing to the world, because of this planned fault.
    fn apply(&mut self, number: usize, fault: &Fault) {
        self.emit(Event::Fault { fault: fault.clone() });
        let now = self.now;
        match *fault {
            Fault::StepClock { host, by_ns } => self.change_clocks(host, |c| c.step(now, by_ns)),
            Fault::ChangeRate { host, by } => self.change_clocks(host, |c| c.change_rate(now, by)),
            Fault::Freeze { host, clock } => self.change_clocks(host, |c| c.freeze(now, clock)),
            Fault::Thaw { host, clock } => self.change_clocks(host, |c| c.thaw(now, clock)),
            Fault::Pause { host } => self.host_mut(host).life.pause(),
            Fault::Resume { host } => {
                self.host_mut(host).life.resume();
                self.resume_tasks(host);
            }
            Fault::Suspend { host } => {
                self.host_mut(host).life.suspend();
                self.change_clocks(host, |c| c.set_suspended(now, true));
            }
            Fault::Wake { host } => self.wake(host),
            Fault::Crash { host } => self.crash(host),
            Fault::LosePower { host, torn_tail } => self.lose_power(host, torn_tail),
            Fault::Start { host } => self.start(host),
            Fault::Cut { from, to } => self.net.cut(from, to),
            Fault::Heal { from, to } => {
                if self.net.heal(from, to) {
                    self.release(from, to);
                }
            }
            Fault::Slow { from, to, by_ns } => {
                self.net.slow(from, to, |extra| extra.saturating_add(Duration::from_nanos(by_ns)));
            }
            Fault::Unslow { from, to, by_ns } => {
                self.net.slow(from, to, |extra| extra.saturating_sub(Duration::from_nanos(by_ns)));
            }
            Fault::DelayNext { from, to, by_ns } => {
                let (by, strike) = (Duration::from_nanos(by_ns), self.faults.latest_strike(number));
                self.net.delay_next(from, to, Late { by, fault: number, strike });
            }
            Fault::Lose { .. } | Fault::Unlose { .. } | Fault::CopyNext { .. } => {
                unreachable!("a world that loses or copies packets is refused")
            }
            Fault::StandClocks { host, .. } => self.change_clocks(host, |c| c.stand(now)),
            Fault::RunClocks { host, resync_ns } => {
                self.change_clocks(host, |c| c.go_on(now));
                self.queue.push(now.after(Duration::from_nanos(resync_ns)), Due::Resync(host));
            }
            Fault::SlowService { host, ref by } => self.host_mut(host).slow_by.push(by.clone()),
            Fault::UnslowService { host, ref by } => {
                let laws = &mut self.host_mut(host).slow_by;
                if let Some(last) = laws.iter().rposition(|law| law == by) {
                    laws.remove(last);
                }
            }
            Fault::LieOnFsync { host } => self.host_mut(host).disk.lying = true,
            Fault::SnapshotDisk { host } => self.host_mut(host).disk.snapshot(),
            Fault::RollBackDisk { host } => {
                self.host_mut(host).disk.roll_back();
                self.abandon_fsyncs(host);
            }
            Fault::Signal { host, ref signal } => {
                let state = self.host_mut(host);
                state.signals.push(signal.clone());
                state.signal_waker.take().into_iter().for_each(std::task::Waker::wake);
                self.make_ready(host);
            }
            Fault::ResetConnections { from, to } => self.chores.push(Chore::Reset(from, to)),
        }
    }

    /// A host's wall clock is set right after a suspension that its machine did not know of, however it came to be
    /// suspended again meanwhile: nobody on it can tell.
    pub(crate) fn resync(&mut self, host: HostId) {
        let (now, mut by_ns) = (self.now, 0);
        if self.host(host).life.has_power() {
            self.change_clocks(host, |clocks| by_ns = clocks.resync(now));
        }
        if by_ns != 0 {
            self.emit(Event::Fault { fault: Fault::StepClock { host, by_ns } });
        }
    }

    fn change_clocks(&mut self, host: HostId, change: impl FnOnce(&mut Clocks)) {
        change(&mut self.host_mut(host).clocks);
        self.capture_clocks(host);
        self.rearm(host);
    }

    /// Keeps how a host's clocks run from now on, if somebody asked for it.
    pub(crate) fn capture_clocks(&mut self, host: HostId) {
        let (now, clocks) = (self.now, self.host(host).clocks.clone());
        if let Some(captured) = self.trace.capture_mut() {
            captured.clocks.push((now, host, clocks));
        }
    }

    fn wake(&mut self, host: HostId) {
        if !self.host_mut(host).life.wake() {
            return;
        }
        let now = self.now;
        self.change_clocks(host, |clocks| clocks.set_suspended(now, false));
        self.resume_tasks(host);
        self.release_all_of(host);
    }

    fn crash(&mut self, host: HostId) {
        self.host_mut(host).life.add_death();
        if self.host(host).life.is_up() {
            self.go_down(host, Chore::End(host));
        } else if self.is_down_for_good(host) && self.host_mut(host).life.main_finished() {
            self.essential_left -= 1;
        }
    }

    fn is_down_for_good(&self, host: HostId) -> bool {
        let deaths = self.host(host).life.deaths_in_force() as usize;
        !self.faults.will_start(host) && self.faults.deaths_to_undo(host) < deaths
    }

    fn go_down(&mut self, host: HostId, how: Chore) {
        let for_good = self.is_down_for_good(host);
        if self.host_mut(host).life.die(for_good) {
            self.essential_left -= 1;
        }
        let state = self.host_mut(host);
        state.life.end_process();
        state.late_timers.clear();
        self.chores.push(how);
    }

    fn lose_power(&mut self, host: HostId, torn_tail: bool) {
        self.host_mut(host).life.add_death();
        self.host_mut(host).life.switch_off();
        self.go_down(host, Chore::Silence(host));
        self.abandon_fsyncs(host);
        self.lose_all_of(host);
        let state = self.host_mut(host);
        state.disk.lose_power(torn_tail.then_some(&mut state.random));
    }

    fn start(&mut self, host: HostId) {
        if self.host(host).life.is_up() {
            return;
        }
        if !self.host(host).life.has_power() {
            let now = self.now;
            self.change_clocks(host, |clocks| clocks.power_on(now));
        }
        if self.host_mut(host).life.start() {
            self.essential_left += 1;
        }
        self.chores.push(Chore::Boot(host));
        self.release_all_of(host);
    }
}
