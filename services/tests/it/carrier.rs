//! Whoever runs a service in these tests: it carries messages without delay, and lets the service look
//! exactly when it says that it has to. Not modelled: a service that looks late, unless a test asks for it.

use std::fmt::Debug;
use std::time::Duration;

use doublehold_services::{EVENT, Outbox, Outgoing, OwnerChange, Service, ServiceConnection};

/// Makes a duration of so many milliseconds.
pub(crate) fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A service, the time on its clock, and all that it has said.
pub(crate) struct Carrier<S: Service> {
    pub(crate) service: S,
    pub(crate) now: Duration,
    number: u32,
    /// Messages in the order in which they left, each with its time.
    pub(crate) said: Vec<(Duration, ServiceConnection, Outgoing<S::Answer>)>,
    pub(crate) changes: Vec<(Duration, OwnerChange)>,
}

impl<S: Service> Carrier<S>
where
    S::Answer: Clone + Debug + PartialEq,
{
    pub(crate) fn new(service: S) -> Carrier<S> {
        Carrier { service, now: Duration::ZERO, number: 0, said: Vec::new(), changes: Vec::new() }
    }

    /// Sends a request now, and returns the answer if it comes at once.
    pub(crate) fn ask(&mut self, from: ServiceConnection, request: S::Request) -> Option<S::Answer> {
        let begin = self.said.len();
        self.number += 1;
        let number = self.number;
        self.act(|service, now, out| service.receive(from, number, request, now, out));
        let mut answers = self.said[begin..].iter().filter_map(|(_, to, message)| match message {
            Outgoing::Say(of, answer) if (*to, *of) == (from, number) => Some(answer.clone()),
            _ => None,
        });
        let answer = answers.next();
        assert_eq!(answers.next(), None, "a request has one answer");
        answer
    }

    /// Lets time pass until a reading of the clock, with each look that is due.
    pub(crate) fn wait_until(&mut self, until: Duration) {
        while let Some(due) = self.service.next_due().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.look();
            assert!(
                self.service.next_due() > Some(due) || self.service.next_due().is_none(),
                "it looks for ever"
            );
        }
        self.now = until;
    }

    pub(crate) fn look(&mut self) {
        self.act(S::advance);
    }

    pub(crate) fn disconnect(&mut self, connection: ServiceConnection) {
        self.act(|service, now, out| service.disconnect(connection, now, out));
    }

    /// Starts the service again, with another reading of its clock.
    pub(crate) fn restart(&mut self, now: Duration) {
        self.now = now;
        self.act(S::restart);
    }

    /// Returns what was said on a connection without being asked.
    pub(crate) fn events(&self, of: ServiceConnection) -> Vec<S::Answer> {
        let said = self.said.iter().filter_map(|(_, to, message)| match message {
            Outgoing::Say(EVENT, answer) if *to == of => Some(answer.clone()),
            _ => None,
        });
        said.collect()
    }

    /// Returns when a connection was closed.
    pub(crate) fn closed_at(&self, connection: ServiceConnection) -> Option<Duration> {
        let close = |(_, to, message): &&(Duration, ServiceConnection, Outgoing<S::Answer>)| {
            *to == connection && *message == Outgoing::Close
        };
        self.said.iter().find(close).map(|(at, ..)| *at)
    }

    /// Returns when the lock got another owner for the last time, and whom.
    pub(crate) fn last_owner(&self) -> Option<(Duration, Option<Vec<u8>>)> {
        self.changes.last().map(|(at, change)| (*at, change.after.clone()))
    }

    fn act(&mut self, what: impl FnOnce(&mut S, Duration, &mut Outbox<S::Answer>)) {
        let mut out = Outbox::default();
        what(&mut self.service, self.now, &mut out);
        self.said.extend(out.sent.into_iter().map(|(to, message)| (self.now, to, message)));
        self.changes.extend(out.changes.into_iter().map(|change| (self.now, change)));
    }
}
