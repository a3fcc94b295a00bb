//! The resource: a host that reads and writes objects for its clients, over the network like everything else.
//!
//! The rules of what it accepts are the history crate's pure state machine; this file carries them over a connection.
//! One request is one frame of fixed size, answered in order.
//!
//! What the resource applied, and the highest fencing number it saw, outlive its process and its power, as in a
//! database that commits before it answers: a restart forgets nothing, unless it is to forget numbers. Clients find the
//! way back to it by themselves, as a pool of connections does: one that is over is replaced before anything is sent on
//! it, and a read is asked again. A write whose answer was lost is not: it may have been applied. A client that finds
//! the resource down in the middle of a round gives up; one whose process begins meanwhile waits for it.
//!
//! Not modelled: commits that take time or are lost, and a disk of the resource's own for faults to strike.
//!
//! Decision: "The resource forgets nothing when it restarts" (docs/decisions/locks.md).
//! Decision: "A client retries the resource when it starts, and gives up if it loses it during a round"
//! (docs/decisions/locks.md).

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use doublehold_history::{
    CallId, ClientId, Content, EventKind, FencingCheck, LockAnswer, LockId, ObjectId, ReadRequest, Refusal,
    Resource, ResourceRules, WriteRequest,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};

use super::frames::{Action, Answer, Request, number};
use super::stage::Stage;
use crate::model::scenario::{ReplicasSetup, ResourceSetup};
use crate::run::recorder::Recorder;

/// The port the resource listens on.
pub(crate) const PORT: u16 = 80;

/// What is committed, whatever becomes of the process. Clones are the same store.
#[derive(Clone)]
pub(crate) struct Store {
    resource: Arc<Mutex<Resource>>,
    /// The lock that protects each object.
    locks: Arc<[LockId]>,
    rules: ResourceRules,
    /// The replicas of which it is one.
    replicas: Option<ReplicasSetup>,
}

/// Whoever can be asked whose a lock is.
pub(crate) trait LockService {
    /// Asks. That takes a while, and what is said may be old when it arrives.
    fn ask(&self, lock: LockId) -> impl Future<Output = LockAnswer> + Send;
}

impl Store {
    pub(crate) fn new(setup: &ResourceSetup) -> Store {
        let locks: Arc<[LockId]> = setup.objects.iter().map(|object| object.lock).collect();
        let resource = Arc::new(Mutex::new(Resource::new(locks.len(), setup.rules)));
        Store { resource, locks, rules: setup.rules, replicas: setup.replicas }
    }

    /// Goes on in another process.
    pub(crate) fn restart(&self) {
        self.resource.lock().unwrap_or_else(PoisonError::into_inner).restart();
    }

    /// Asks the lock whose it is, if the resource does that before such a request.
    async fn ask_lock(&self, request: &Request, service: &impl LockService) -> Result<(), Refusal> {
        let is_asked = match request.action {
            Action::Read => self.rules.fence_reads,
            Action::Write { .. } | Action::Put { .. } => true,
            Action::Prepare | Action::Marker => false,
        };
        match self.locks.get(request.object.0 as usize) {
            Some(lock) if is_asked && self.rules.fencing == FencingCheck::AskLock => {
                self.rules.judge_answer(request.fencing, service.ask(*lock).await)
            }
            _ => Ok(()),
        }
    }

    /// Does what a request asks for, unless the lock has said that it is not its client's.
    pub(super) fn execute(
        &self,
        request: &Request,
        asked: Result<(), Refusal>,
        client: Option<ClientId>,
        recorder: &Recorder,
    ) -> Answer {
        let Some(client) = client.or_else(|| recorder.client_of(request.grant)) else {
            return Answer::Refused; // nobody asked for that grant
        };
        let lock = match request.action {
            Action::Prepare | Action::Marker => Some(LockId(request.object.0)),
            Action::Read | Action::Write { .. } | Action::Put { .. } => {
                self.locks.get(request.object.0 as usize).copied()
            }
        };
        let Some(lock) = lock else { return Answer::Refused };
        let mut resource = self.resource.lock().unwrap_or_else(PoisonError::into_inner);
        match (&request.action, self.replicas) {
            (&Action::Put { version, value }, Some(of)) => {
                put(request, (version, value, of), lock, &mut resource, recorder)
            }
            _ => execute(request, (lock, asked), &mut resource, client, recorder),
        }
    }
}

/// How long a client's request is.
pub(in crate::run) const ASK_BYTES: usize = Request::SIZE;
/// How long the resource's answer is.
pub(in crate::run) const ANSWER_BYTES: usize = Answer::SIZE;

/// A request in words.
pub(in crate::run) fn request_text(frame: &[u8], objects: &[&str]) -> String {
    let Ok(frame) = frame.try_into() else { return String::new() };
    let request = Request::decode(frame);
    let object = objects.get(request.object.0 as usize).copied().unwrap_or_default();
    let fencing = request.fencing.map(|shown| match number(shown) {
        Some(number) => format!(", fencing {number}"),
        None => format!(", token {:x}", shown as u32),
    });
    let fencing = fencing.unwrap_or_default();
    match request.action {
        Action::Prepare => format!("prepare{fencing}"),
        Action::Marker => "whose marker".to_owned(),
        Action::Put { version, .. } => format!("put {object}, version {version}{fencing}"),
        Action::Read => format!("read {object}{fencing}"),
        Action::Write { based_on, .. } => {
            let based_on = based_on.map(|version| format!(", computed from version {version}"));
            format!("write {object}{}{fencing}", based_on.unwrap_or_default())
        }
    }
}

/// The grant that a request is made under; `None` of bytes that are no request.
pub(in crate::run) fn grant_of(frame: &[u8]) -> Option<CallId> {
    frame.try_into().ok().map(|frame| Request::decode(frame).grant)
}

/// An answer in words.
pub(in crate::run) fn answer_text(frame: &[u8]) -> String {
    match frame.try_into().map(Answer::decode) {
        Ok(Answer::Content(content)) => format!("version {}", content.version),
        Ok(Answer::Refused) => "refused".to_owned(),
        Err(_) => String::new(),
    }
}

/// Serves a connection of one client until it ends, or of `None`, whose calls say whose they are. What was asked for
/// until then was done.
pub(crate) async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    client: Option<ClientId>,
    store: &Store,
    service: &impl LockService,
    recorder: &Recorder,
) -> io::Result<()> {
    loop {
        let mut frame = [0; Request::SIZE];
        stream.read_exact(&mut frame).await?;
        let request = Request::decode(&frame);
        let asked = store.ask_lock(&request, service).await;
        let answer = store.execute(&request, asked, client, recorder);
        stream.write_all(&answer.encode()).await?;
    }
}

fn execute(
    request: &Request,
    (lock, asked): (LockId, Result<(), Refusal>),
    resource: &mut Resource,
    client: ClientId,
    recorder: &Recorder,
) -> Answer {
    let Request { grant, fencing, object, ref action } = *request;
    match *action {
        Action::Prepare => resource.prepare(lock, fencing).map_or(Answer::Refused, Answer::of_shown),
        Action::Marker => Answer::of_shown(resource.marker(lock)),
        Action::Put { .. } => Answer::Refused, // this is no replica
        Action::Read => match asked.and_then(|()| resource.read(ReadRequest { lock, object, fencing })) {
            Ok(content) => Answer::Content(content),
            Err(_) => Answer::Refused,
        },
        Action::Write { based_on, value } => {
            let write = WriteRequest { lock, object, fencing, based_on, value };
            let highest_seen = resource.highest_seen(lock);
            let outcome = asked.and_then(|()| resource.write(write));
            let fencing = fencing.and_then(number);
            recorder.note(client, |client| match &outcome {
                Ok(version) => {
                    let version = *version;
                    EventKind::WriteApplied { client, grant, object, version, based_on, value, fencing }
                }
                Err(refusal) => {
                    let why = refusal.to_string();
                    EventKind::WriteRefused { client, grant, object, why, fencing, highest_seen }
                }
            });
            answer_write(outcome, value)
        }
    }
}

/// Stores a value in one replica, unless that has a newer one.
fn put(
    request: &Request,
    (version, value, of): (u64, u64, ReplicasSetup),
    lock: LockId,
    resource: &mut Resource,
    recorder: &Recorder,
) -> Answer {
    let Request { grant, fencing, object, .. } = *request;
    let highest_seen = resource.highest_seen(lock);
    match resource.put(WriteRequest { lock, object, fencing, based_on: None, value }, version) {
        Ok(is_new) => {
            if is_new {
                recorder.ledger.record_stored(recorder, (object, version), of);
            }
            Answer::Content(Content { version, value })
        }
        Err(refusal) => {
            let why = (refusal.to_string(), highest_seen);
            recorder.ledger.record_refused(recorder, grant, (object, version), of, why);
            Answer::Refused
        }
    }
}

fn answer_write(outcome: Result<u64, Refusal>, value: u64) -> Answer {
    outcome.map_or(Answer::Refused, |version| Answer::Content(Content { version, value }))
}

/// A client's way to the resource.
pub(crate) struct ResourceLink<S: Stage> {
    stage: S,
    /// The name of its host.
    resource: String,
    stream: S::Stream,
}

impl<S: Stage> ResourceLink<S> {
    /// Connects. Fails when the resource cannot be reached: whoever asks may ask again.
    pub(crate) async fn open(stage: &S, resource: &str) -> io::Result<ResourceLink<S>> {
        let stream = stage.stream(resource, PORT).await?;
        Ok(ResourceLink { stage: stage.clone(), resource: resource.to_owned(), stream })
    }

    /// Reads an object; `None` if the resource refuses.
    pub(crate) async fn read_object(
        &mut self,
        grant: CallId,
        fencing: Option<u64>,
        object: ObjectId,
    ) -> io::Result<Option<Content>> {
        let request = Request { grant, fencing, object, action: Action::Read };
        match self.ask(&request).await {
            Ok(answer) => Ok(answer),
            // The connection went with the resource's process or power. Reading twice does no harm.
            Err(_) => self.ask(&request).await,
        }
    }

    /// Shows a grant, and gives what it is to show from then on; `None` if the resource refuses.
    pub(crate) async fn prepare(
        &mut self,
        grant: CallId,
        shown: Option<u64>,
        lock: LockId,
    ) -> io::Result<Option<Option<u64>>> {
        let request = Request { grant, fencing: shown, object: ObjectId(lock.0), action: Action::Prepare };
        let answer = match self.ask(&request).await {
            Ok(answer) => answer,
            // To be given another number does no harm.
            Err(_) => self.ask(&request).await?,
        };
        Ok(answer.map(Answer::shown))
    }

    /// Asks for the marker of a lock.
    pub(crate) async fn marker(&mut self, grant: CallId, lock: LockId) -> io::Result<Option<u64>> {
        let request = Request { grant, fencing: None, object: ObjectId(lock.0), action: Action::Marker };
        let answer = match self.ask(&request).await {
            Ok(answer) => answer,
            Err(_) => self.ask(&request).await?,
        };
        Ok(answer.and_then(Answer::shown))
    }

    /// Writes an object; `None` if the resource refuses.
    pub(crate) async fn write(
        &mut self,
        grant: CallId,
        fencing: Option<u64>,
        object: ObjectId,
        based_on: Option<u64>,
        value: u64,
    ) -> io::Result<Option<Content>> {
        self.ask(&Request { grant, fencing, object, action: Action::Write { based_on, value } }).await
    }

    async fn ask(&mut self, request: &Request) -> io::Result<Option<Content>> {
        if self.is_over().await {
            self.stream = self.stage.stream(&self.resource, PORT).await?;
        }
        self.stream.write_all(&request.encode()).await?;
        let mut frame = [0; Answer::SIZE];
        self.stream.read_exact(&mut frame).await?;
        Ok(match Answer::decode(&frame) {
            Answer::Content(content) => Some(content),
            Answer::Refused => None,
        })
    }

    /// Whether the connection has ended: no answer is due, so anything there is to read is its end.
    async fn is_over(&mut self) -> bool {
        let mut byte = [0];
        poll_fn(|cx| {
            let mut byte = ReadBuf::new(&mut byte);
            Poll::Ready(Pin::new(&mut self.stream).poll_read(cx, &mut byte).is_ready())
        })
        .await
    }
}
