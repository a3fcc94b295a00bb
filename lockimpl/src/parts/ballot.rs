//! What several nodes said to one question, and what follows if some said nothing.
//!
//! Assumes nothing about how many are enough: that is the lock's to say.

use redis::{Cmd, Value};

use crate::connection::link::{Failure, Link};
use crate::connection::request::{Request, says_yes};
use crate::env::Env;
use crate::lock::Doubt;

/// What one node said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answer {
    Yes,
    No,
    /// No reply, an error reply, or it could not be reached: no vote.
    Silent,
    /// It was not asked.
    NotAsked,
}

pub(crate) async fn answer<E: Env>(
    env: &E,
    link: &mut Link<E>,
    request: &Request<'_>,
    first: &Cmd,
    asked: bool,
) -> Answer {
    if !asked {
        return Answer::NotAsked;
    }
    let mut reply = Value::Nil;
    let sent = link.ask_with(env, request, first, &mut reply).await;
    match (sent, &reply) {
        (Ok(()), reply) if says_yes(reply) => Answer::Yes,
        (Ok(()), Value::Nil | Value::Int(_)) => Answer::No,
        (Ok(()), _) | (Err(Failure::Unsent(_) | Failure::Lost(_) | Failure::ErrorReply(_)), _) => {
            Answer::Silent
        }
    }
}

/// The answers of all nodes, in node order.
pub(crate) struct Ballot(pub(crate) Vec<Answer>);

impl Ballot {
    pub(crate) fn yes(&self) -> usize {
        self.count(Answer::Yes)
    }

    /// Counts those that said yes or no.
    pub(crate) fn answer_count(&self) -> usize {
        self.yes() + self.count(Answer::No)
    }

    pub(crate) fn votes(&self) -> Vec<bool> {
        self.0.iter().map(|answer| *answer == Answer::Yes).collect()
    }

    /// That some nodes did not answer, if some did not.
    pub(crate) fn silence(&self) -> Option<Doubt> {
        let silent = self.count(Answer::Silent);
        let nodes = self.0.len() - self.count(Answer::NotAsked);
        (silent > 0).then_some(Doubt::TooFewAnswers { answers: nodes - silent, nodes })
    }

    /// The reason that nobody can say whether `needed` nodes would have agreed; nothing if they would not.
    pub(crate) fn doubt_about_quorum(&self, needed: usize) -> Option<Doubt> {
        let silent = self.count(Answer::Silent);
        let nodes = self.0.len() - self.count(Answer::NotAsked);
        (self.yes() + silent >= needed).then_some(Doubt::TooFewAnswers { answers: nodes - silent, nodes })
    }

    fn count(&self, what: Answer) -> usize {
        self.0.iter().filter(|answer| **answer == what).count()
    }
}
