//! The sending end: answers PSYNC and SYNC, streams the history to a replica, takes its acknowledgements.
//!
//! A replica that reads slowly holds the backlog open, up to `client-output-buffer-limit replica`; then its link is
//! dropped.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite};

use super::Links;
use super::attached::Attached;
use crate::core::{ReplicationId, Session};
use crate::machine::Machine;
use crate::pipe::Pipe;
use crate::resp::reply;
use crate::shared::{Shared, State, random_id};

/// How much of the backlog is copied for one write.
const PIECE_BYTES: usize = 64 << 10;

const PING: &[u8] = b"*1\r\n$4\r\nPING\r\n";
const GETACK: &[u8] = b"*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n";

/// Asks every replica how far it is (`REPLCONF GETACK *`, in the stream). It is part of the history also while nobody
/// follows.
pub(crate) fn ask_for_acknowledgements<M: Machine>(shared: &Shared<M>, state: &mut State) {
    shared.settle(state);
    // Replicas' streams are to stand still while clients are paused.
    let is_paused = state.core.is_paused(shared.machine.wall());
    if state.core.replication().counting && !is_paused {
        let patience = shared.patience(&state.core);
        state.links.feed_own(state.core.replication_mut(), GETACK, patience);
    }
}

/// What a connection that turns into a replica's asks for.
#[derive(Clone, Copy)]
pub(crate) enum SyncRequest<'a> {
    /// To go on from a first missing offset of a history, or to start over.
    Psync(&'a [u8], i64),
    /// To start over, without a word about the history.
    Sync,
}

/// The connection carries the stream from here to its end.
pub(crate) async fn serve_replica<M, S>(
    shared: &Arc<Shared<M>>,
    pipe: &mut Pipe<S>,
    session: &Session,
    request: SyncRequest<'_>,
) where
    M: Machine,
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    open(shared, &mut shared.lock(), &mut pipe.out, session, request);
    stream(shared, pipe, session.id(), matches!(request, SyncRequest::Psync(..))).await;
    let mut state = shared.lock();
    let State { core, links, .. } = &mut *state;
    links.attached.retain(|replica| replica.session != session.id());
    links.report_replicas(core.replication_mut());
}

/// Decides between going on and starting over, and attaches the replica.
fn open<M: Machine>(
    shared: &Arc<Shared<M>>,
    state: &mut State,
    out: &mut Vec<u8>,
    session: &Session,
    request: SyncRequest<'_>,
) {
    shared.settle(state);
    let (position, online) = match can_continue(state, request) {
        Some(position) => {
            out.extend_from_slice(format!("+CONTINUE {}\r\n", state.core.replication().id).as_bytes());
            (position, true)
        }
        None if may_copy(state) => (start_over(shared, state, request, out), false),
        None => {
            return reply::error(out, b"ERR too many replicas are starting over at once, try again later");
        }
    };
    let State { core, links, .. } = state;
    let mut replica = Attached::new(session, shared.machine.monotonic(), position);
    if online {
        replica.put_online();
    }
    links.attached.push(replica);
    links.waiting.wake();
    links.report_replicas(core.replication_mut());
    if !std::mem::replace(&mut links.pinging, true) {
        shared.spawn(ping_replicas(Arc::clone(shared)));
    }
}

/// The offset to go on from, if the replica's history is a part of this node's and the backlog reaches back to it.
fn can_continue(state: &State, request: SyncRequest<'_>) -> Option<u64> {
    let SyncRequest::Psync(id, first_missing) = request else { return None };
    let replication = state.core.replication();
    let is = |known: &ReplicationId| known.to_string().as_bytes().eq_ignore_ascii_case(id);
    let shared_past =
        replication.second_id.as_ref().is_some_and(is) && first_missing <= replication.second_offset;
    if !is(&replication.id) && !shared_past {
        return None;
    }
    let position = u64::try_from(first_missing).ok()?.checked_sub(1)?;
    (replication.counting && state.links.backlog.covers(position)).then_some(position)
}

/// Whether one more replica may be sent the data set now. Each is sent a copy, which counts as the memory of a client;
/// one at a time is always possible.
fn may_copy(state: &State) -> bool {
    let limit = state.core.config().limits.client_memory();
    let copies = state.links.attached.iter().filter(|replica| !replica.is_online()).count() as u64;
    limit == 0 || copies == 0 || (copies + 1) * state.core.data_memory() <= limit
}

/// Writes the data set into `out`; returns the offset at which the stream goes on.
fn start_over<M: Machine>(
    shared: &Shared<M>,
    state: &mut State,
    request: SyncRequest<'_>,
    out: &mut Vec<u8>,
) -> u64 {
    let State { core, links, .. } = state;
    if !core.replication().counting {
        // A backlog from scratch has no past: nobody may go on with what was before it.
        let replication = core.replication_mut();
        replication.id = ReplicationId(random_id(&shared.machine));
        replication.second_id = None;
        replication.second_offset = -1;
        links.begin_history(replication);
    }
    let mut payload = Vec::new();
    core.dump(&mut payload);
    if core.replication().is_replica() {
        // The stream goes on in the database that this node's own master selected last.
        super::command(&mut payload, &["SELECT", &links.upstream.session.selected_db().to_string()]);
    }
    core.propagate_select_again();
    let replication = core.replication();
    if matches!(request, SyncRequest::Psync(..)) {
        let history = format!("+FULLRESYNC {} {}\r\n", replication.id, replication.offset);
        out.extend_from_slice(history.as_bytes());
    }
    out.extend_from_slice(format!("${}\r\n", payload.len()).as_bytes());
    out.append(&mut payload);
    replication.offset
}

/// Streams until the link ends.
async fn stream<M, S>(shared: &Shared<M>, pipe: &mut Pipe<S>, session: u64, acknowledges: bool)
where
    M: Machine,
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let mut timer = pin!(shared.machine.sleep(shared.config.repl_timeout));
    loop {
        match poll_fn(|cx| poll_link(shared, pipe, session, timer.as_mut(), cx)).await {
            Event::Gone => return,
            Event::Input => {
                if !take_acknowledgements(shared, pipe, session) {
                    return;
                }
            }
            Event::Quiet if !acknowledges => timer.set(shared.machine.sleep(shared.config.repl_timeout)),
            Event::Quiet => {
                let heard_at = shared.lock().links.find(session).map(|replica| replica.heard_at());
                let silent = heard_at.map(|at| shared.machine.monotonic().saturating_sub(at));
                match silent.and_then(|silent| shared.config.repl_timeout.checked_sub(silent)) {
                    Some(rest) if !rest.is_zero() => timer.set(shared.machine.sleep(rest)),
                    _ => return,
                }
            }
        }
    }
}

enum Event {
    Gone,
    Input,
    Quiet,
}

fn poll_link<M, S>(
    shared: &Shared<M>,
    pipe: &mut Pipe<S>,
    session: u64,
    timer: Pin<&mut impl Future<Output = ()>>,
    cx: &mut Context<'_>,
) -> Poll<Event>
where
    M: Machine,
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    loop {
        let sent = pipe.poll_send(cx);
        if matches!(sent, Poll::Ready(Err(_))) {
            return Poll::Ready(Event::Gone);
        }
        let mut state = shared.lock();
        let State { core, links, .. } = &mut *state;
        links.note_sent(session, sent.is_ready());
        if sent.is_pending() {
            break;
        }
        let Some(replica) = links.find(session) else { return Poll::Ready(Event::Gone) };
        if replica.put_online() {
            core.replication_mut().good_replicas = links.good();
            links.waiting.wake(); // who wrote nothing waits for replicas, and for no acknowledgement
        }
        let Links { attached, backlog, .. } = links;
        let Some(replica) = attached.iter_mut().find(|replica| replica.session == session) else {
            return Poll::Ready(Event::Gone);
        };
        match backlog.read(replica.position, PIECE_BYTES, &mut pipe.out) {
            Some(position) if position > replica.position => replica.position = position,
            Some(_) => break,
            None => return Poll::Ready(Event::Gone),
        }
    }
    match shared.lock().links.find(session) {
        Some(replica) => replica.register(cx),
        None => return Poll::Ready(Event::Gone),
    }
    match pipe.poll_fill(cx) {
        Poll::Ready(Ok(1..)) => Poll::Ready(Event::Input),
        Poll::Ready(_) => Poll::Ready(Event::Gone),
        Poll::Pending => timer.poll(cx).map(|()| Event::Quiet),
    }
}

/// Reads `REPLCONF ACK offset [FACK offset]`; false if the replica speaks nonsense.
fn take_acknowledgements<M, S>(shared: &Shared<M>, pipe: &mut Pipe<S>, session: u64) -> bool
where
    M: Machine,
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut state = shared.lock();
    loop {
        let args = match pipe.input.next_request() {
            Ok(Some(args)) => args,
            Ok(None) => return true,
            Err(_) => return false,
        };
        let is =
            |index: usize, word: &[u8]| args.get(index).is_some_and(|arg| arg.eq_ignore_ascii_case(word));
        if !is(0, b"REPLCONF") || !is(1, b"ACK") {
            continue;
        }
        let number = |index: usize| std::str::from_utf8(args.get(index)?).ok()?.parse().ok();
        let in_file = if is(3, b"FACK") { number(4) } else { None };
        shared.refresh_links(&mut state);
        if let (Some(offset), Some(replica)) = (number(2), state.links.find(session)) {
            replica.note_acknowledged(offset, in_file.unwrap_or(0), shared.machine.monotonic());
            state.links.waiting.wake();
        }
    }
}

/// Writes a PING into the stream now and then, for as long as there are replicas.
async fn ping_replicas<M: Machine>(shared: Arc<Shared<M>>) {
    loop {
        let period = shared.lock().core.config().repl_ping_period;
        shared.machine.sleep(period).await;
        let mut state = shared.lock();
        if state.links.attached.is_empty() {
            state.links.pinging = false;
            return;
        }
        // A replica passes on its own master's PINGs.
        if !state.core.replication().is_replica() {
            shared.settle(&mut state);
            let State { core, links, .. } = &mut *state;
            let patience = shared.patience(core);
            links.feed_own(core.replication_mut(), PING, patience);
        }
    }
}
