//! A client's way to several replicas of the resource: it asks all at once, and goes on once enough have answered.
//!
//! The requests to the others go on their way, and their late answers are passed over. A connection that has ended is
//! opened anew before the next request; a request for which there is none by the time enough have answered is not sent.
//!
//! Not modelled: replicas that talk with each other, and a client's own timeout.
//!
//! Decision: "A write to replicas is applied once its quorum has it, or a read returns it" (docs/decisions/locks.md).

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use doublehold_history::{CallId, Content, LockId, ObjectId};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::frames::{Action, Answer, Request};
use super::resource::{PORT, ResourceLink};
use super::stage::Stage;
use crate::model::scenario::ReplicasSetup;

/// A client's way to what is guarded: on one host, or on several.
pub(super) enum ResourceWay<S: Stage> {
    One(ResourceLink<S>),
    Many(Replicas<S>),
}

impl<S: Stage> ResourceWay<S> {
    /// Connects. Fails when the resource, or one of its replicas, cannot be reached.
    pub(super) async fn open(stage: &S, hosts: &[String], setup: Option<ReplicasSetup>) -> io::Result<Self> {
        let Some(setup) = setup else {
            let host = hosts.first().map_or("", String::as_str);
            return ResourceLink::open(stage, host).await.map(ResourceWay::One);
        };
        let mut links = Vec::new();
        for host in hosts {
            let stream = stage.stream(host, PORT).await?;
            let (stage, host) = (stage.clone(), host.clone());
            let state = State::Open(stream);
            links.push(ReplicaLink { stage, host, state, unsent: Vec::new(), received: Vec::new(), owed: 0 });
        }
        Ok(ResourceWay::Many(Replicas { links, setup }))
    }

    /// Reads an object; `None` if the resource refuses.
    pub(super) async fn read_object(
        &mut self,
        grant: CallId,
        shown: Option<u64>,
        object: ObjectId,
    ) -> io::Result<Option<Content>> {
        match self {
            ResourceWay::One(link) => link.read_object(grant, shown, object).await,
            ResourceWay::Many(replicas) => replicas.read_object(grant, shown, object).await,
        }
    }

    /// Shows a grant, and gives what it is to show from then on; `None` if the resource refuses.
    pub(super) async fn prepare(
        &mut self,
        grant: CallId,
        shown: Option<u64>,
        lock: LockId,
    ) -> io::Result<Option<Option<u64>>> {
        match self {
            ResourceWay::One(link) => link.prepare(grant, shown, lock).await,
            ResourceWay::Many(replicas) => {
                let quorum = replicas.setup.prepare_quorum;
                let request =
                    Request { grant, fencing: shown, object: ObjectId(lock.0), action: Action::Prepare };
                Ok(replicas.ask(&request, quorum).await?.map(|_| shown))
            }
        }
    }
}

/// The replicas, as one client reaches them.
pub(super) struct Replicas<S: Stage> {
    links: Vec<ReplicaLink<S>>,
    setup: ReplicasSetup,
}

impl<S: Stage> Replicas<S> {
    /// The newest of what a read quorum says. With read repair, a write quorum has it before it is given.
    async fn read_object(
        &mut self,
        grant: CallId,
        fencing: Option<u64>,
        object: ObjectId,
    ) -> io::Result<Option<Content>> {
        let request = Request { grant, fencing, object, action: Action::Read };
        let Some(answers) = self.ask(&request, self.setup.read_quorum).await? else { return Ok(None) };
        let Some(newest) = answers.iter().max_by_key(|content| content.version).copied() else {
            return Ok(None);
        };
        let have_it = answers.iter().filter(|content| content.version == newest.version).count();
        if self.setup.read_repair && newest.version > 0 && have_it < self.setup.write_quorum {
            // Whether it is refused is nothing to the reader, who has read.
            self.put(grant, fencing, object, newest).await?;
        }
        Ok(Some(newest))
    }

    /// Puts a value, and says whether a write quorum has it.
    pub(super) async fn put(
        &mut self,
        grant: CallId,
        fencing: Option<u64>,
        object: ObjectId,
        content: Content,
    ) -> io::Result<bool> {
        let action = Action::Put { version: content.version, value: content.value };
        let request = Request { grant, fencing, object, action };
        Ok(self.ask(&request, self.setup.write_quorum).await?.is_some())
    }

    /// Asks all, until so many have said yes. `None` if so many refuse that this cannot be.
    ///
    /// # Errors
    ///
    /// If too many cannot be reached.
    async fn ask(&mut self, request: &Request, wanted: usize) -> io::Result<Option<Vec<Content>>> {
        poll_fn(|cx| {
            self.links.iter_mut().for_each(|link| link.settle(cx));
            Poll::Ready(())
        })
        .await;
        self.links.iter_mut().for_each(|link| link.begin(request));
        let mut waits = vec![true; self.links.len()];
        let (mut answers, mut refused, mut lost) = (Vec::new(), 0, 0);
        let spare = self.links.len() - wanted;
        let outcome = poll_fn(|cx| {
            for (link, waits) in self.links.iter_mut().zip(&mut waits) {
                let answer = if *waits { link.poll_answer(cx) } else { Poll::Pending };
                match answer {
                    Poll::Pending => continue,
                    Poll::Ready(Ok(Answer::Content(content))) => answers.push(content),
                    Poll::Ready(Ok(Answer::Refused)) => refused += 1,
                    Poll::Ready(Err(_)) => lost += 1,
                }
                *waits = false;
            }
            match (answers.len() >= wanted, refused > spare, refused + lost > spare) {
                (true, ..) => Poll::Ready(Ok(true)),
                (_, true, _) => Poll::Ready(Ok(false)),
                (.., true) => Poll::Ready(Err(io::Error::from(io::ErrorKind::NotConnected))),
                _ => Poll::Pending,
            }
        })
        .await;
        for (link, _) in self.links.iter_mut().zip(waits).filter(|(_, waits)| *waits) {
            link.leave();
        }
        Ok(outcome?.then_some(answers))
    }
}

/// A client's connection to one replica.
struct ReplicaLink<S: Stage> {
    stage: S,
    host: String,
    state: State<S::Stream>,
    unsent: Vec<u8>,
    /// The bytes that have arrived of an answer that is not whole.
    received: Vec<u8>,
    /// The number of answers still to come to requests that nobody waits for any more.
    owed: u64,
}

enum State<T> {
    Open(T),
    /// Nobody locks it: a client is shared by reference while it waits, and the future alone cannot be.
    Opening(Mutex<Pin<Box<dyn Future<Output = io::Result<T>> + Send>>>),
    Over,
}

impl<S: Stage> ReplicaLink<S> {
    /// Passes over answers that nobody waits for, and finds out whether the connection has ended.
    fn settle(&mut self, cx: &mut Context<'_>) {
        if matches!(self.state, State::Open(_)) {
            // No request is made, so that there is no answer but an owed one.
            let _over = self.poll_answer(cx);
        }
    }

    fn begin(&mut self, request: &Request) {
        if matches!(self.state, State::Over) {
            let (stage, host) = (self.stage.clone(), self.host.clone());
            self.state = State::Opening(Mutex::new(Box::pin(async move { stage.stream(&host, PORT).await })));
            self.received.clear();
            self.owed = 0;
        }
        self.unsent.extend(request.encode());
    }

    /// Nobody waits for the answer any more. What is not sent yet will not be.
    fn leave(&mut self) {
        match self.state {
            State::Open(_) if self.unsent.is_empty() => self.owed += 1,
            _ => self.unsent.clear(),
        }
    }

    /// The answer to the latest request. Fails if there will be none.
    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Answer>> {
        let answer = ready!(self.try_poll_answer(cx));
        if answer.is_err() {
            self.state = State::Over;
            self.unsent.clear();
        }
        Poll::Ready(answer)
    }

    fn try_poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Answer>> {
        loop {
            let stream = match &mut self.state {
                State::Over => return Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
                State::Opening(opening) => {
                    let opening = opening.get_mut().unwrap_or_else(PoisonError::into_inner);
                    self.state = State::Open(ready!(opening.as_mut().poll(cx))?);
                    continue;
                }
                State::Open(stream) => stream,
            };
            while !self.unsent.is_empty() {
                match Pin::new(&mut *stream).poll_write(cx, &self.unsent) {
                    Poll::Ready(written) => drop(self.unsent.drain(..written?)),
                    Poll::Pending => break,
                }
            }
            if self.received.len() >= Answer::SIZE {
                let frame: Vec<u8> = self.received.drain(..Answer::SIZE).collect();
                let answer = Answer::decode(frame.as_slice().try_into().expect("as long as an answer"));
                if self.owed == 0 {
                    return Poll::Ready(Ok(answer));
                }
                self.owed -= 1;
                continue;
            }
            let mut bytes = [0; Answer::SIZE];
            let mut buffer = ReadBuf::new(&mut bytes);
            ready!(Pin::new(stream).poll_read(cx, &mut buffer))?;
            if buffer.filled().is_empty() {
                return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
            }
            self.received.extend_from_slice(buffer.filled());
        }
    }
}
