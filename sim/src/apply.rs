//! The one place where a fault changes the world.

use std::time::Duration;

use crate::fault::{Fault, Struck};
use crate::kernel::State;
use crate::life::LifeNumber;
use crate::net::link::{Doubled, Late, Link};
use crate::queue::Pending;
use crate::time::SimTime;
use crate::trace::{Event, HostId};

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
            self.schedule(self.now.after(lasting), Pending::Undo { number: number as u32 });
        }
    }

    /// Every time that each planned fault struck. What waits for a message to this day has struck nothing.
    pub(crate) fn struck(&self) -> Vec<Vec<Struck>> {
        let mut outcomes = self.faults.outcomes();
        for (number, strikes) in outcomes.iter_mut().enumerate() {
            let faults = &self.faults.entry(number).faults;
            // One of a strike's that found its message is enough.
            let all = strikes.len();
            let struck = faults.iter().map(|fault| self.waits_from(number, fault).unwrap_or(all)).max();
            strikes.truncate(struck.unwrap_or(all));
        }
        outcomes
    }

    /// The first of a planned fault's strikes of which this delay or copy waits for a message. It waits of all later
    /// ones, too.
    fn waits_from(&self, number: usize, fault: &Fault) -> Option<usize> {
        match *fault {
            Fault::DelayNext { from, to, .. } => {
                let waiting = &self.net.known_link(from, to)?.late_once;
                waiting.iter().find(|late| late.fault == number).map(|late| late.strike)
            }
            Fault::CopyNext { from, to, .. } => {
                let waiting = &self.net.known_link(from, to)?.copy_once;
                waiting.iter().find(|copy| copy.fault == number).map(|copy| copy.strike)
            }
            _ => None,
        }
    }

    /// A planned fault's time is over: what it did is undone, last first.
    pub(crate) fn undo(&mut self, number: usize) {
        let stopped = self.faults.is_over(number, self.now);
        self.stops_to_end -= usize::from(self.faults.entry(number).faults.iter().any(Fault::stops_code));
        let done = self.faults.entry(number).faults.clone();
        for (fault, stopped) in done.iter().zip(stopped).rev() {
            // A death in between ended the stop. What stops the host now is another fault's.
            let has_died = stopped.is_some() && self.life_stopped_by(fault) != stopped;
            if has_died {
                continue;
            }
            match fault.undo() {
                Some(Fault::Start { host }) if !self.host_mut(host).life.take_back_death() => {}
                Some(undo) => self.apply(number, &undo),
                None => {}
            }
        }
    }

    /// Which life a pause or a suspension would stop now; `None` for faults that stop nothing.
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
            Fault::Resume { host } => self.resume(host),
            Fault::Suspend { host } => self.suspend(host),
            Fault::Wake { host } => self.wake(host),
            Fault::Crash { host } => self.crash(host),
            Fault::LosePower { host, torn_tail } => self.lose_power(host, torn_tail),
            Fault::Start { host } => self.start(host),
            Fault::Cut { from, to } => self.net.link(from, to).cut(),
            Fault::Heal { from, to } => self.heal(from, to),
            Fault::Slow { from, to, by_ns } => self.slow(from, to, |extra| extra.saturating_add(by_ns)),
            Fault::Unslow { from, to, by_ns } => self.slow(from, to, |extra| extra.saturating_sub(by_ns)),
            Fault::DelayNext { from, to, by_ns } => {
                let strike = self.faults.latest_strike(number);
                let late = Late { by: Duration::from_nanos(by_ns), fault: number, strike };
                self.net.link(from, to).late_once.push(late);
            }
            Fault::CopyNext { from, to, after_ns } => {
                let strike = self.faults.latest_strike(number);
                let copy = Doubled { after: Duration::from_nanos(after_ns), fault: number, strike };
                self.net.link(from, to).copy_once.push(copy);
            }
            Fault::Lose { from, to, probability } => {
                self.net.link(from, to).losses.push(probability);
            }
            Fault::Unlose { from, to, probability } => {
                let losses = &mut self.net.link(from, to).losses;
                if let Some(last) = losses.iter().rposition(|&loss| loss == probability) {
                    losses.remove(last);
                }
            }
            Fault::StandClocks { host, .. } => self.change_clocks(host, |c| c.stand(now)),
            Fault::RunClocks { host, resync_ns } => {
                self.change_clocks(host, |c| c.go_on(now));
                self.schedule(now.after(Duration::from_nanos(resync_ns)), Pending::Resync { host });
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
                self.abandon_fsyncs(host); // they would cover what is written to the restored files
            }
            Fault::Signal { host, ref signal } => self.deliver_signal(host, signal),
            Fault::ResetConnections { from, to } => self.reset_connections(from, to),
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

    fn change_clocks(&mut self, host: HostId, change: impl FnOnce(&mut crate::clock::Clocks)) {
        change(&mut self.host_mut(host).clocks);
        self.capture_clocks(host);
        self.rearm(host);
    }

    /// Keeps how a host's clocks run from now on, if somebody asked for it.
    pub(crate) fn capture_clocks(&mut self, host: HostId) {
        let now = self.now;
        if let Some(captured) = self.trace.capture_mut() {
            captured.clocks.push((now, host, self.hosts[host.0 as usize].clocks.clone()));
        }
    }

    fn resume(&mut self, host: HostId) {
        self.host_mut(host).life.resume();
        self.resume_tasks(host);
    }

    fn suspend(&mut self, host: HostId) {
        self.host_mut(host).life.suspend();
        let now = self.now;
        self.change_clocks(host, |clocks| clocks.set_suspended(now, true));
    }

    fn wake(&mut self, host: HostId) {
        if !self.host_mut(host).life.wake() {
            return;
        }
        let now = self.now;
        self.change_clocks(host, |clocks| clocks.set_suspended(now, false));
        self.resume_tasks(host);
        self.reconnect(host);
    }

    fn crash(&mut self, host: HostId) {
        self.host_mut(host).life.add_death();
        if self.host(host).life.is_up() {
            self.go_down(host);
        } else if self.is_down_for_good(host) && self.host_mut(host).life.main_finished() {
            self.essential_left -= 1;
        }
    }

    /// Whether nothing in the plan will start it.
    fn is_down_for_good(&self, host: HostId) -> bool {
        let deaths = self.host(host).life.deaths_in_force() as usize;
        !self.faults.will_start(host) && self.faults.deaths_to_undo(host) < deaths
    }

    fn go_down(&mut self, host: HostId) {
        let for_good = self.is_down_for_good(host);
        if self.host_mut(host).life.die(for_good) {
            self.essential_left -= 1;
        }
        self.drop_connections(host);
        self.end_process(host);
    }

    fn lose_power(&mut self, host: HostId, torn_tail: bool) {
        self.host_mut(host).life.add_death();
        self.host_mut(host).life.switch_off();
        self.go_down(host);
        self.abandon_fsyncs(host);
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
        self.boots.push(host); // the kernel calls the boot function as soon as the state is free
        self.reconnect(host);
    }

    fn heal(&mut self, from: HostId, to: HostId) {
        let link = self.net.link(from, to);
        link.cuts = link.cuts.saturating_sub(1);
        if link.cuts == 0 {
            self.retransmit_held(from, to);
            self.acknowledge(from, to);
        }
    }

    /// The machine answers the network again, and retransmits what it held itself.
    fn reconnect(&mut self, host: HostId) {
        for peer in self.net.peers(host) {
            self.retransmit_held(peer, host);
            self.retransmit_held(host, peer);
        }
    }

    fn slow(&mut self, from: HostId, to: HostId, change: impl FnOnce(u64) -> u64) {
        let link: &mut Link = self.net.link(from, to);
        link.extra = Duration::from_nanos(change(crate::time::nanos(link.extra)));
    }

    fn deliver_signal(&mut self, host: HostId, signal: &str) {
        let state = self.host_mut(host);
        state.signals.push(signal.to_owned());
        state.signal_waker.take().into_iter().for_each(std::task::Waker::wake);
    }

    pub(crate) fn plan(&mut self, planned: crate::fault::PlannedFault) {
        let (number, at) = self.faults.plan(planned);
        if let Some(at) = at {
            self.schedule(at.max(SimTime::ZERO), Pending::Strike { number: number as u32 });
        }
    }
}
