//! The standby of a database: it receives what its primary has committed, and serves nobody until it is promoted.
//!
//! Clients know the database by one name, as one in DNS, or a proxy's. The promotion points it at the standby: new
//! connections go there, and those that stand are left to end by themselves. Nobody fences the primary.
//!
//! A commit that has arrived counts, also after a restart. Not modelled: a standby that is read from, one that follows
//! another, timeouts of a silent replication connection (`wal_receiver_timeout`), and a primary that is made a standby.
//!
//! Sources: PostgreSQL 15, `backend/replication/walreceiver.c`; its documentation, 20.6.3 and 27.3.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use doublehold_services::database::{Answer, Database, Request};
use doublehold_services::{EVENT, FrameBuffer, Service, write_frame};
use doublehold_sim::{BoxFuture, Host, HostId, MonotonicTime};
use doublehold_sim_redis::Order;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::service::{READ_BYTES, RunningService};
use super::signal::Signal;
use crate::run::recorder::Recorder;

/// The wait before it connects again (`wal_retrieve_retry_interval`).
const RETRY: Duration = Duration::from_secs(5);
/// The time between two signs of life, by which it finds out that its connection is gone
/// (`wal_receiver_status_interval`).
const STATUS: Duration = Duration::from_secs(10);

/// The name under which clients find a database that has a standby. Clones are the same.
#[derive(Clone)]
pub(in crate::run) struct DatabaseName {
    primary: HostId,
    standby: HostId,
    promoted: Arc<AtomicBool>,
}

impl DatabaseName {
    pub(super) fn new(primary: HostId, standby: HostId) -> DatabaseName {
        DatabaseName { primary, standby, promoted: Arc::default() }
    }

    /// Returns the host that is meant by one: of the primary, the one that the name is pointed at.
    pub(super) fn resolve(&self, host: HostId) -> HostId {
        if host == self.primary && self.is_promoted() { self.standby } else { host }
    }

    pub(super) fn is_standby(&self, host: HostId) -> bool {
        host == self.standby
    }

    fn is_promoted(&self) -> bool {
        self.promoted.load(Ordering::Relaxed)
    }
}

/// Makes the process of a primary. It may never come back, and its locks are gone with it all the same.
pub(super) fn boot_primary(service: RunningService<Database>) -> Box<dyn Fn(Host) -> BoxFuture<'static, ()>> {
    Box::new(move |host| {
        let service = service.clone();
        Box::pin(async move {
            let _locks = service.ends_with(&host);
            service.clone().run(host).await;
        })
    })
}

/// Makes the process of a standby.
pub(super) fn boot_standby(
    service: RunningService<Database>,
    name: DatabaseName,
    recorder: Recorder,
) -> Box<dyn Fn(Host) -> BoxFuture<'static, ()>> {
    Box::new(move |host| {
        let (service, name, recorder) = (service.clone(), name.clone(), recorder.clone());
        Box::pin(async move {
            if !name.is_promoted() {
                follow_until_promoted(&host, &service, name.primary, &recorder).await;
                recorder.ledger.commits.promote(&recorder);
                name.promoted.store(true, Ordering::Relaxed);
            }
            let _locks = service.ends_with(&host);
            service.clone().run(host).await;
        })
    })
}

/// Follows the primary until the promotion, which ends the receiver first: commits that are unread then are lost.
async fn follow_until_promoted(
    host: &Host,
    service: &RunningService<Database>,
    primary: HostId,
    recorder: &Recorder,
) {
    let mut promoted = pin!(promotion(host, recorder));
    let mut following = pin!(follow(host, service, primary));
    poll_fn(|cx| {
        if promoted.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        following.as_mut().poll(cx)
    })
    .await;
}

/// Waits for the order to take over.
async fn promotion(host: &Host, recorder: &Recorder) {
    loop {
        let told = host.signal().await;
        match told.parse() {
            Ok(Signal::Order(Order::Promote { .. })) => return,
            _ => recorder.inconclusive(format!("{} is a standby and was told `{told}`", host.name())),
        }
    }
}

/// Replays what the primary sends, for ever.
async fn follow(host: &Host, service: &RunningService<Database>, primary: HostId) {
    loop {
        if let Ok(stream) = host.connect(primary, Database::KIND.port()).await {
            // Its end is why it connects again.
            let _ended = receive(host, service, stream).await;
        }
        host.sleep_until(MonotonicTime(host.clocks().monotonic.0).after(RETRY)).await;
    }
}

async fn receive(
    host: &Host,
    service: &RunningService<Database>,
    mut stream: doublehold_sim::SimStream,
) -> std::io::Result<()> {
    let mut received = FrameBuffer::default();
    let mut unsent = Vec::new();
    let from = Request::Replicate { received: service.with(|database| database.replayed()) };
    write_frame(EVENT + 1, &from, &mut unsent);
    stream.write_all(&unsent).await?;
    loop {
        let mut status = pin!(host.sleep_until(MonotonicTime(host.clocks().monotonic.0).after(STATUS)));
        let tail = received.tail();
        tail.reserve(READ_BYTES);
        let read = {
            let mut reading = pin!(stream.read_buf(tail));
            poll_fn(|cx| match reading.as_mut().poll(cx) {
                Poll::Ready(read) => Poll::Ready(Some(read)),
                Poll::Pending => status.as_mut().poll(cx).map(|()| None),
            })
            .await
        };
        match read.transpose()? {
            Some(0) => return Ok(()),
            Some(_) => {}
            None => {
                unsent.clear();
                write_frame(EVENT + 1, &Request::Received, &mut unsent);
                stream.write_all(&unsent).await?;
            }
        }
        while let Ok(Some((_, answer))) = received.next_frame::<Answer>() {
            if let Answer::Commit(commit) = answer {
                service.with(|database| database.replay(&commit));
            }
        }
    }
}
