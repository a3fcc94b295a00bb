//! Timers that are not the kernel's own, such as those of a runtime that code under test sleeps on.
//!
//! The kernel asks before it goes on to its next event, and goes on to the first such timer instead if one is due
//! earlier. Such timers wait on true time: no clock of a host moves them, and they go on while a machine is stopped,
//! whose code finds them due when it goes on.
//!
//! Assumes that such a timer does nothing but wake tasks of the world.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::time::SimTime;

/// Timers that are not the kernel's own.
pub trait ExternalTimers {
    /// Lets time pass until `until`, but no further than to the first timer that makes a task of the world ready: the
    /// time of that. What shows time to code under test shows `until` where there is none.
    ///
    /// `ready` is done as soon as a task is.
    fn advance(&self, until: SimTime, ready: TaskIsReady) -> Option<SimTime>;
}

/// Waits until a task of the world is ready.
pub struct TaskIsReady(pub(crate) PollAny);

/// Whether any task is ready, for whoever is to be woken when one is.
pub(crate) type PollAny = Box<dyn Fn(&Context<'_>) -> Poll<()>>;

impl Future for TaskIsReady {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        (self.0)(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::future::poll_fn;
    use std::rc::Rc;
    use std::sync::{Arc, Mutex};
    use std::task::Waker;
    use std::time::Duration;

    use super::*;
    use crate::{
        Budget, DelayLaw, Fault, HostSpec, LinkSpec, Outcome, PlannedFault, Seed, SimTime, Trigger, World,
    };

    /// One timer, and whoever waits for it.
    #[derive(Clone, Default)]
    struct Alarm(Arc<Mutex<(bool, Option<Waker>)>>);

    impl Alarm {
        async fn rings(self) {
            poll_fn(|cx| {
                let mut alarm = self.0.lock().expect("nobody panics");
                alarm.1 = Some(cx.waker().clone());
                if alarm.0 { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }
    }

    /// Rings at a time, once, and notes to what time it was to let time pass.
    struct Clock {
        due: SimTime,
        alarm: Alarm,
        asked: RefCell<Vec<u64>>,
    }

    impl ExternalTimers for Clock {
        fn advance(&self, until: SimTime, ready: TaskIsReady) -> Option<SimTime> {
            self.asked.borrow_mut().push(until.0 / 1_000_000);
            let mut alarm = self.alarm.0.lock().expect("nobody panics");
            if alarm.0 || self.due > until {
                return None;
            }
            let mut ready = Box::pin(ready);
            let cx = &mut Context::from_waker(Waker::noop());
            assert!(ready.as_mut().poll(cx).is_pending(), "it is asked where nothing is ready");
            alarm.0 = true;
            let waiting = alarm.1.take();
            drop(alarm);
            waiting.into_iter().for_each(Waker::wake);
            assert!(ready.as_mut().poll(cx).is_ready(), "whoever waited is ready");
            Some(self.due)
        }
    }

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// The true time at which code saw an alarm of 5 ms, beside a host that sleeps 3 ms again and again.
    fn seen(pause: Option<Duration>) -> (u64, Vec<u64>) {
        let mut world = World::new(Seed(1), LinkSpec::lossless(DelayLaw::Fixed(millis(1))));
        let (alarm, seen) = (Alarm::default(), Arc::new(Mutex::new(0)));
        let (rings, sees) = (alarm.clone(), seen.clone());
        let waits = world.add_host(HostSpec::new("waits").essential(), move |host| {
            let (rings, sees) = (rings.clone(), sees.clone());
            async move {
                rings.rings().await;
                *sees.lock().expect("nobody panics") = host.clocks().monotonic.0 / 1_000_000;
            }
        });
        world.add_host(HostSpec::new("sleeps"), |host| async move {
            loop {
                host.sleep(millis(3)).await;
            }
        });
        if let Some(lasting) = pause {
            let trigger = Trigger::At(SimTime(4_000_000));
            world.plan(PlannedFault {
                trigger,
                faults: vec![Fault::Pause { host: waits }],
                lasting: Some(lasting),
            });
        }
        let due = SimTime(5_000_000);
        let clock = Rc::new(Clock { due, alarm, asked: RefCell::default() });
        world.set_external_timers(clock.clone());
        assert_eq!(world.run(Budget::default()).outcome, Outcome::Completed);
        let seen = *seen.lock().expect("nobody panics");
        (seen, clock.asked.take())
    }

    #[test]
    fn a_timer_before_the_next_event_comes_first() {
        assert_eq!(seen(None), (5, vec![3, 6]));
    }

    #[test]
    fn a_stopped_machine_finds_it_due_when_it_goes_on() {
        assert_eq!(seen(Some(millis(10))).0, 14);
    }
}
