//! The ways in which Redlock puts one question to its nodes: one after another, all at once, or all at once without
//! waiting for those that nobody needs any more.
//!
//! What is still under way when a quorum has answered goes on in a task of its own, and its answer counts for nothing.

use std::future::{pending, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use super::RedlockLock;
use super::options::{OnNodeError, Order, Tie, WaitFor, is_decided};
use crate::connection::link::Link;
use crate::connection::request::{ReleaseMethod, Request};
use crate::env::Env;
use crate::lock::Token;
use crate::parts::ballot::{Answer, Ballot, answer};
use crate::parts::join::join_in_order;

/// The request to the nodes: owned, because a task may ask when the call is over.
#[derive(Clone)]
pub(super) struct Question {
    key: String,
    token: Token,
    what: What,
}

#[derive(Clone, Copy)]
pub(super) enum What {
    Claim(Duration),
    ClaimForEver,
    Extend { ttl: Duration, or_set: bool },
    Release(ReleaseMethod),
}

impl Question {
    pub(super) fn new(key: &str, token: &Token, what: What) -> Self {
        Self { key: key.to_owned(), token: token.clone(), what }
    }

    fn request(&self) -> Request<'_> {
        let (key, token) = (self.key.as_str(), &self.token);
        match self.what {
            What::Claim(ttl) => Request::Claim { key, token, ttl },
            What::ClaimForEver => Request::ClaimForEver { key, token },
            What::Extend { ttl, or_set } => Request::Extend { key, token, ttl, or_set },
            What::Release(method) => Request::Release { key, token, method },
        }
    }
}

/// Links that tasks are done with, and whose they are.
pub(super) struct ReturnedLinks<E: Env>(Arc<Mutex<Vec<PlacedLink<E>>>>);

/// A link and its place among the nodes.
type PlacedLink<E> = (usize, Link<E>);

impl<E: Env> Default for ReturnedLinks<E> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<E: Env> ReturnedLinks<E> {
    /// Twins of these links, and of those that came back since instead.
    pub(super) fn twin_links(&self, links: &[Link<E>]) -> Vec<Link<E>> {
        let mut twins: Vec<Link<E>> = links.iter().map(Link::twin).collect();
        for (index, link) in lock(&self.0).iter() {
            twins[*index] = link.twin();
        }
        twins
    }
}

impl<E: Env> RedlockLock<E> {
    /// Puts a question to the nodes `chosen`, in the configured order.
    pub(super) async fn ask(&mut self, question: Question, chosen: &[bool]) -> Ballot {
        let answers = match (self.config.order, self.config.wait_for) {
            (Order::Sequential, _) => Box::pin(self.ask_in_turn(&question.request(), chosen)).await,
            (Order::Parallel, WaitFor::All) => self.ask_at_once(&question.request(), chosen).await,
            (Order::Parallel, WaitFor::Quorum | WaitFor::Yes) => {
                Box::pin(self.ask_beside(&question, chosen)).await
            }
        };
        Ballot(answers)
    }

    async fn ask_in_turn(&mut self, request: &Request<'_>, chosen: &[bool]) -> Vec<Answer> {
        let (needed, first) = (self.needed_votes(), request.first_command());
        let mut answers = Vec::with_capacity(chosen.len());
        for (link, chosen) in self.links.iter_mut().zip(chosen) {
            let decided = self.config.wait_for.is_over(&answers, needed)
                || self.config.on_node_error == OnNodeError::Stop && answers.contains(&Answer::Silent);
            answers.push(answer(&self.env, link, request, &first, *chosen && !decided).await);
        }
        answers
    }

    async fn ask_at_once(&mut self, request: &Request<'_>, chosen: &[bool]) -> Vec<Answer> {
        let (env, first) = (&self.env, request.first_command());
        let asked = self.links.iter_mut().zip(chosen);
        join_in_order(asked.map(|(link, chosen)| answer(env, link, request, &first, *chosen))).await
    }

    /// Asks each node in a task of its own, and waits for a quorum of yes, or of anything else, or for all.
    async fn ask_beside(&mut self, question: &Question, chosen: &[bool]) -> Vec<Answer> {
        for (index, link) in lock(&self.returned.0).drain(..) {
            self.links[index] = link;
        }
        let board = Board::new(chosen);
        for (index, link) in self.links.iter().enumerate().filter(|(index, _)| chosen[*index]) {
            let (env, mut link, question) = (self.env.clone(), link.twin(), question.clone());
            let (board, returned) = (board.clone(), self.returned.0.clone());
            self.env.spawn(async move {
                let request = question.request();
                let said = answer(&env, &mut link, &request, &request.first_command(), true).await;
                lock(&returned).push((index, link));
                board.record(index, said);
            });
        }
        let answers = board.wait_for_decision(self.config.wait_for, self.needed_votes()).await;
        if self.config.tie == Tie::Never && !is_decided(&answers, self.needed_votes()) {
            pending::<()>().await;
        }
        answers
    }
}

/// The place where tasks put their answers.
#[derive(Clone)]
struct Board(Arc<Mutex<Answers>>);

struct Answers {
    /// None: not yet.
    said: Vec<Option<Answer>>,
    reader: Option<Waker>,
}

impl Board {
    fn new(chosen: &[bool]) -> Self {
        let said = chosen.iter().map(|chosen| (!chosen).then_some(Answer::NotAsked)).collect();
        Self(Arc::new(Mutex::new(Answers { said, reader: None })))
    }

    fn record(&self, index: usize, answer: Answer) {
        let mut answers = lock(&self.0);
        answers.said[index] = Some(answer);
        let reader = answers.reader.take();
        drop(answers);
        // Not under the lock: it may read at once.
        reader.into_iter().for_each(Waker::wake);
    }

    /// Waits until it is decided or all have answered. Whoever has not is silent.
    async fn wait_for_decision(&self, wait_for: WaitFor, needed: usize) -> Vec<Answer> {
        poll_fn(|cx| {
            let mut answers = lock(&self.0);
            let so_far: Vec<Answer> = answers.said.iter().flatten().copied().collect();
            if so_far.len() == answers.said.len() || wait_for.is_over(&so_far, needed) {
                let said = answers.said.iter().map(|said| said.unwrap_or(Answer::Silent));
                return Poll::Ready(said.collect());
            }
            answers.reader = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
