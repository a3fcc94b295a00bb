//! The receiving end: follows a master, starts over or goes on, applies its stream and acknowledges it.
//!
//! A replica's data moves only by its master's bytes, and its offset only by whole commands and transactions: a link
//! that breaks in the middle of one leaves nothing of it behind.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::handshake::{Handshake, Opening};
use super::{poll_stopped, shift_id};
use crate::core::{
    Core, LinkState, Next, Origin, Replication, ReplicationId, Role, Session, StreamError, Version, hex,
};
use crate::machine::Machine;
use crate::pipe::Pipe;
use crate::resp::RequestBuffer;
use crate::shared::{Shared, State};
use crate::wait::first;

/// How often a replica acknowledges, and tries to connect again: once per run of Redis' replication timer.
const PERIOD: Duration = Duration::from_secs(1);

/// Acknowledgements are skipped while this much waits to be sent: the master does not read.
const OUT_LIMIT_BYTES: usize = 4 << 10;

/// A payload is parsed in pieces, so that any size fits the parser's bound.
const PIECE_BYTES: usize = 64 << 10;

/// Follows the master until the role changes.
pub(super) async fn keep_following<M: Machine>(shared: Arc<Shared<M>>, generation: u64) {
    let stopped = poll_fn(|cx| poll_stopped(&shared, generation, cx));
    first(stopped, reconnect_for_ever(&shared, generation)).await;
}

async fn reconnect_for_ever<M: Machine>(shared: &Shared<M>, generation: u64) -> Infallible {
    loop {
        let began = shared.machine.monotonic();
        // Whatever ended the link: the next one is tried, and ROLE shows that there is none.
        let _ = follow_once(shared, generation).await;
        set_link(shared, generation, LinkState::Connect);
        // A link that worked is replaced at once, as Redis does since waiting risks the backlog.
        if shared.machine.monotonic().saturating_sub(began) < PERIOD {
            shared.machine.sleep(PERIOD).await;
        }
    }
}

/// One connection, from its opening to its end.
async fn follow_once<M: Machine>(shared: &Shared<M>, generation: u64) -> io::Result<()> {
    let (target, have) = {
        let state = shared.lock();
        let replication = state.core.replication();
        let have = (replication.id.to_string(), replication.offset);
        (state.links.upstream.target.clone(), state.links.upstream.may_continue.then_some(have))
    };
    let Some((host, port)) = target else { return Ok(()) };
    set_link(shared, generation, LinkState::Connecting);
    let mut handshake = Handshake::connect(shared, &host, port).await?;
    match handshake.open(have).await? {
        Opening::StartOver { id, offset } => {
            set_link(shared, generation, LinkState::Sync);
            let payload = handshake.payload().await?;
            start_over_between_scripts(shared, generation, &id, offset, &payload).await?;
        }
        Opening::GoOn { id } => go_on(shared, generation, id)?,
    }
    let mut link = Link { shared, generation, pipe: handshake.pipe, begun: Vec::new(), for_file: Vec::new() };
    link.acknowledge();
    link.run().await
}

/// A script that is overrunning holds the master's commands back, those of a payload like all others.
async fn start_over_between_scripts<M: Machine>(
    shared: &Shared<M>,
    generation: u64,
    id: &str,
    offset: u64,
    payload: &[u8],
) -> io::Result<()> {
    loop {
        poll_fn(|cx| shared.lock().poll_script_ended(cx)).await;
        let _turn = shared.take_turn().await;
        // Another one may have begun while the node had its turn elsewhere.
        if !shared.lock().core.script_is_overrunning() {
            return start_over(shared, generation, id, offset, payload);
        }
    }
}

/// Replaces the data set by the payload.
fn start_over<M: Machine>(
    shared: &Shared<M>,
    generation: u64,
    id: &str,
    offset: u64,
    payload: &[u8],
) -> io::Result<()> {
    let mut state = shared.lock();
    check(&state, generation)?;
    let id = parse_id(id)?;
    let State { core, links, aof, written, .. } = &mut *state;
    written.wake();
    links.upstream.may_continue = false;
    core.clear_all(Origin::Master);
    // Half a data set is nobody's.
    let session = load(core, payload, shared).inspect_err(|_| core.clear_all(Origin::Master))?;
    let replication = core.replication_mut();
    replication.id = id;
    replication.offset = offset;
    replication.second_id = None;
    replication.second_offset = -1;
    links.begin_history(replication);
    links.upstream.may_continue = true;
    links.upstream.session = session;
    // They followed another history.
    links.drop_replicas(replication);
    links.set_link(replication, LinkState::Connected);
    if let Some(aof) = aof {
        aof.replace(&shared.machine, payload);
        aof.note_offset(offset);
    }
    Ok(())
}

/// What [`Core::dump`] writes.
const PAYLOAD_COMMANDS: [&[u8]; 4] = [b"SELECT", b"SET", b"HSET", b"PEXPIREAT"];

/// Applies the payload; the session returned has the stream's database selected. A payload is data: what it takes is in
/// proportion to its length, and no script or transaction in it makes the node wait.
fn load<M: Machine>(core: &mut Core, payload: &[u8], shared: &Shared<M>) -> io::Result<Session> {
    let mut session = Session { is_loading: true, ..Session::master_link(0) };
    let mut input = RequestBuffer::new();
    for piece in payload.chunks(PIECE_BYTES) {
        input.tail().extend_from_slice(piece);
        while let Some(args) = input.next_request().map_err(bad_stream)? {
            if !PAYLOAD_COMMANDS.iter().any(|name| args.at(0).eq_ignore_ascii_case(name)) {
                return Err(bad_stream("the payload holds something else than data"));
            }
            core.apply(&mut session, shared.machine.wall(), &args).map_err(bad_stream)?;
        }
    }
    session.is_loading = false;
    Ok(session)
}

/// Goes on with the same history, perhaps under the id that a promoted master gave it.
fn go_on<M: Machine>(shared: &Shared<M>, generation: u64, id: Option<String>) -> io::Result<()> {
    let mut state = shared.lock();
    check(&state, generation)?;
    let State { core, links, .. } = &mut *state;
    let replication = core.replication_mut();
    if let Some(id) = id {
        let id = parse_id(&id)?;
        if id != replication.id {
            shift_id(replication, id);
            links.drop_replicas(replication);
        }
    }
    // What was queued of a transaction comes again.
    let db = links.upstream.session.db;
    links.upstream.session = Session::master_link(0);
    links.upstream.session.db = db;
    links.set_link(replication, LinkState::Connected);
    Ok(())
}

/// A streaming link.
struct Link<'a, M: Machine> {
    shared: &'a Shared<M>,
    generation: u64,
    pipe: Pipe<M::Stream>,
    /// Bytes of the command or transaction under way; the offset has not moved by them yet.
    begun: Vec<u8>,
    /// Those of them that belong into the append-only file.
    for_file: Vec<u8>,
}

enum Event {
    Input,
    Tick,
}

impl<M: Machine> Link<'_, M> {
    async fn run(&mut self) -> io::Result<()> {
        let shared = self.shared;
        let mut heard_at = shared.machine.monotonic();
        let mut timer = pin!(shared.machine.sleep(PERIOD));
        // The payload may have come with the beginning of the stream.
        self.apply_received().await?;
        loop {
            match poll_fn(|cx| poll_link(&mut self.pipe, timer.as_mut(), cx)).await? {
                Event::Input => {
                    heard_at = shared.machine.monotonic();
                    self.apply_received().await?;
                }
                Event::Tick => {
                    if shared.machine.monotonic().saturating_sub(heard_at) > shared.config.repl_timeout {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                    self.acknowledge();
                    timer.set(shared.machine.sleep(PERIOD));
                }
            }
        }
    }

    /// Applies every whole command received, waiting where a script keeps the node busy.
    async fn apply_received(&mut self) -> io::Result<()> {
        let mut held = false;
        loop {
            {
                let _turn = self.shared.take_turn().await;
                let (was_held, busy) = self.apply_at_once(held)?;
                held = was_held;
                if !busy.is_zero() {
                    self.shared.machine.sleep(busy).await;
                }
            }
            if !held {
                return Ok(());
            }
            poll_fn(|cx| self.shared.lock().poll_script_ended(cx)).await;
            self.shared.pause_is_over().await;
        }
    }

    /// Returns whether the last request was held back by a script or a pause, and how long the commands keep the node busy.
    fn apply_at_once(&mut self, mut retry: bool) -> io::Result<(bool, Duration)> {
        let machine = &self.shared.machine;
        let mut state = self.shared.lock();
        check(&state, self.generation)?;
        let mut busy = Duration::ZERO;
        loop {
            if !std::mem::take(&mut retry) && self.pipe.input.next_request().map_err(bad_stream)?.is_none() {
                return Ok((false, busy));
            }
            let args = self.pipe.input.last_args();
            let name = args.at(0);
            let is_control = name.eq_ignore_ascii_case(b"PING") || name.eq_ignore_ascii_case(b"REPLCONF");
            if is_control {
                if args.at(1).eq_ignore_ascii_case(b"GETACK") {
                    acknowledge(&mut self.pipe.out, &state);
                }
            } else {
                let State { core, links, .. } = &mut *state;
                match core.apply(&mut links.upstream.session, machine.wall(), &args).map_err(bad_stream)? {
                    Next::Held | Next::Paused => return Ok((true, busy)),
                    Next::Close => return Err(bad_stream("the master says that this is its end")),
                    _ => {}
                }
                busy += machine.command_time(name).unwrap_or_default();
                if !is_message(name) {
                    self.for_file.extend_from_slice(self.pipe.input.last_raw());
                }
            }
            self.begun.extend_from_slice(self.pipe.input.last_raw());
            if state.links.upstream.session.multi.is_none() {
                self.finish_unit(&mut state);
            } else if self.begun.len() as u64 > state.core.config().limits.query_buffer {
                // What is refused or passed over in a transaction is not queued, and still kept for own replicas.
                return Err(bad_stream(StreamError::LongTransaction));
            }
        }
    }

    /// The command or transaction under way is whole: the offset moves, and it goes on to the file and to own replicas.
    fn finish_unit(&mut self, state: &mut State) {
        let State { core, links, aof, .. } = state;
        let patience = self.shared.patience(core);
        links.feed_own(core.replication_mut(), &self.begun, patience);
        self.begun.clear();
        if let Some(aof) = aof
            && !self.for_file.is_empty()
        {
            aof.append(&self.shared.machine, &self.for_file);
        }
        if let Some(aof) = aof {
            aof.note_offset(core.replication().offset);
        }
        self.for_file.clear();
        state.written.wake();
        self.shared.announce(state);
    }

    fn acknowledge(&mut self) {
        if self.pipe.out.len() < OUT_LIMIT_BYTES {
            acknowledge(&mut self.pipe.out, &self.shared.lock());
        }
    }
}

/// A message is for who listens now, and not for the file.
fn is_message(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"PUBLISH") || name.eq_ignore_ascii_case(b"SPUBLISH")
}

fn poll_link<S: AsyncRead + AsyncWrite + Unpin>(
    pipe: &mut Pipe<S>,
    timer: Pin<&mut impl Future<Output = ()>>,
    cx: &mut Context<'_>,
) -> Poll<io::Result<Event>> {
    if let Poll::Ready(Err(error)) = pipe.poll_send(cx) {
        return Poll::Ready(Err(error));
    }
    match pipe.poll_fill(cx)? {
        Poll::Ready(0) => Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
        Poll::Ready(_) => Poll::Ready(Ok(Event::Input)),
        Poll::Pending => timer.poll(cx).map(|()| Ok(Event::Tick)),
    }
}

/// Tells how far this node is, and as of 7.2 how far its file, if it has one.
fn acknowledge(out: &mut Vec<u8>, state: &State) {
    let offset = state.core.replication().offset.to_string();
    match &state.aof {
        Some(aof) if Version::WITH_WAITAOF.contains(&state.core.config().version) => {
            super::command(out, &["REPLCONF", "ACK", &offset, "FACK", &aof.durable_offset().to_string()]);
        }
        _ => super::command(out, &["REPLCONF", "ACK", &offset]),
    }
}

fn set_link<M: Machine>(shared: &Shared<M>, generation: u64, link: LinkState) {
    let mut state = shared.lock();
    if check(&state, generation).is_ok() {
        let State { core, links, .. } = &mut *state;
        let replication: &mut Replication = core.replication_mut();
        if matches!(replication.role, Role::Replica { link: LinkState::Connected, .. }) {
            replication.link_down_since = Some(shared.machine.wall());
        }
        links.set_link(replication, link);
    }
}

/// On a machine with several threads the role may change while a link is at work: it must not touch anything then.
fn check(state: &State, generation: u64) -> io::Result<()> {
    match state.links.upstream.generation == generation {
        true => Ok(()),
        false => Err(io::ErrorKind::ConnectionAborted.into()),
    }
}

fn parse_id(text: &str) -> io::Result<ReplicationId> {
    let id = hex::decode(text.as_bytes()).ok_or_else(|| bad_stream("a replication id has 40 digits"))?;
    Ok(ReplicationId(id))
}

fn bad_stream(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, cause)
}
