//! The replicas that a node serves now: how far each is, which of them are good, and whose replies wait for them.
//!
//! Assumes that whoever streams to a replica tells after each try what the machine took.
//!
//! Decision: "A reply leaves after the stream to the replicas" (docs/decisions/redis.md).

use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::{Links, Patience};
use crate::core::{ReplicaState, Replication, Session};

/// A replica that is served now.
#[derive(Debug)]
pub(crate) struct Attached {
    pub(super) session: u64,
    ip: String,
    port: u16,
    /// How much of the history was taken for the connection.
    pub(crate) position: u64,
    /// How much of it the machine took.
    handed_on: u64,
    /// The machine takes no more for now.
    is_held_up: bool,
    /// Past the transfer of the data set.
    online: bool,
    /// Online, and not lagging when that was looked at last.
    good: bool,
    acknowledged: u64,
    /// How much of it was in the replica's file.
    in_file: u64,
    acknowledged_at: Duration,
    /// Since when more waits for it than the soft limit.
    behind_since: Option<Duration>,
    waker: Option<Waker>,
}

impl Attached {
    /// One whose connection begins at `position`, with the transfer of the data set.
    pub(super) fn new(session: &Session, now: Duration, position: u64) -> Attached {
        Attached {
            session: session.id(),
            ip: ip_of_replica(session).to_owned(),
            port: session.listening_port().unwrap_or(0),
            position,
            handed_on: position,
            is_held_up: false,
            online: false,
            good: false,
            acknowledged: 0,
            in_file: 0,
            acknowledged_at: now,
            behind_since: None,
            waker: None,
        }
    }

    /// The transfer is over; false if it was before.
    pub(super) fn put_online(&mut self) -> bool {
        let is_news = !std::mem::replace(&mut self.online, true);
        self.good |= is_news;
        is_news
    }

    pub(super) fn is_online(&self) -> bool {
        self.online
    }

    pub(super) fn note_acknowledged(&mut self, offset: u64, in_file: u64, now: Duration) {
        self.acknowledged = self.acknowledged.max(offset);
        self.in_file = self.in_file.max(in_file);
        self.acknowledged_at = now;
    }

    /// When it acknowledged last.
    pub(super) fn heard_at(&self) -> Duration {
        self.acknowledged_at
    }

    /// Wakes the current task when there is more for this replica.
    pub(super) fn register(&mut self, cx: &Context<'_>) {
        self.waker = Some(cx.waker().clone());
    }

    pub(crate) fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Whether so many bytes may go on waiting for it.
    fn may_lag(&mut self, bytes: u64, Patience { limit, now }: Patience) -> bool {
        let Some(soft_time) = limit.patience(bytes) else {
            self.behind_since = None;
            return !limit.is_exceeded_by(bytes);
        };
        let since = *self.behind_since.get_or_insert(now);
        !limit.is_exceeded_by(bytes) && now.saturating_sub(since) <= soft_time
    }
}

impl Links {
    /// How many replicas acknowledged `offset`.
    pub(crate) fn count_acknowledged(&self, offset: u64) -> usize {
        self.attached.iter().filter(|replica| replica.online && replica.acknowledged >= offset).count()
    }

    /// How many replicas told that their files cover `offset`.
    pub(crate) fn count_in_files(&self, offset: u64) -> usize {
        self.attached.iter().filter(|replica| replica.online && replica.in_file >= offset).count()
    }

    /// Ready with the number of acknowledgements once it reaches `replicas`; with `None` if the node was demoted since
    /// `demotions` was read.
    pub(crate) fn poll_acknowledged(
        &mut self,
        replicas: usize,
        offset: u64,
        demotions: u64,
        cx: &Context<'_>,
    ) -> Poll<Option<usize>> {
        if self.demotions != demotions {
            return Poll::Ready(None);
        }
        let acknowledged = self.count_acknowledged(offset);
        if acknowledged >= replicas {
            return Poll::Ready(Some(acknowledged));
        }
        self.waiting.register(cx);
        Poll::Pending
    }

    /// Ready once the stream up to `offset` is on its way to every replica that is online, as far as its connection
    /// takes any. Whoever is told of a write after that has it on these replicas even if this process dies at once.
    pub(crate) fn poll_handed_on(&mut self, offset: u64, cx: &Context<'_>) -> Poll<()> {
        let waits = |replica: &Attached| replica.online && !replica.is_held_up && replica.handed_on < offset;
        if !self.attached.iter().any(waits) {
            return Poll::Ready(());
        }
        self.handing_on.register(cx);
        Poll::Pending
    }

    /// The machine took all that was taken for a replica's connection, or takes no more of it for now.
    pub(super) fn note_sent(&mut self, session: u64, is_whole: bool) {
        let Some(replica) = self.find(session) else { return };
        replica.is_held_up = !is_whole;
        if is_whole {
            replica.handed_on = replica.position;
        }
        self.handing_on.wake();
    }

    /// Brings the core's view of the replicas up to date. Must be called before anything about a replica changes.
    ///
    /// Which of them are good is looked at once a second from the start of the process on, and in whole seconds, as
    /// `replicationCron` does: an acknowledgement that came since the last look counts from the next on.
    pub(crate) fn refresh(
        &mut self,
        replication: &mut Replication,
        (booted, now): (Duration, Duration),
        max_lag_seconds: u64,
    ) {
        if self.attached.is_empty() {
            return;
        }
        let looks = now.saturating_sub(booted).as_secs();
        let is_due = looks > std::mem::replace(&mut self.looks, looks);
        let look = (booted + Duration::from_secs(looks)).as_secs();
        for (reported, replica) in replication.replicas.iter_mut().zip(&mut self.attached) {
            if is_due {
                let lag = look.saturating_sub(replica.acknowledged_at.as_secs());
                replica.good = replica.online && lag <= max_lag_seconds;
            }
            reported.online = replica.online;
            reported.acked = replica.acknowledged;
            reported.fsynced = replica.in_file;
            reported.lag = now.saturating_sub(replica.acknowledged_at);
        }
        replication.good_replicas = self.good();
    }

    pub(super) fn good(&self) -> u32 {
        self.attached.iter().filter(|replica| replica.good).count() as u32
    }

    /// Lists the replicas anew for the core.
    pub(super) fn report_replicas(&mut self, replication: &mut Replication) {
        // One that went holds nobody up.
        self.handing_on.wake();
        replication.good_replicas = self.good();
        let reported = self.attached.iter().map(|replica| ReplicaState {
            session: replica.session,
            ip: replica.ip.clone(),
            port: replica.port,
            online: replica.online,
            acked: replica.acknowledged,
            fsynced: replica.in_file,
            lag: Duration::ZERO,
        });
        replication.replicas = reported.collect();
    }

    pub(super) fn drop_laggards(&mut self, replication: &mut Replication, patience: Patience) {
        let end = replication.offset;
        let known = self.attached.len();
        self.attached.retain_mut(|replica| {
            let keep = replica.may_lag(end.saturating_sub(replica.position), patience);
            if !keep {
                replica.wake();
            }
            keep
        });
        if self.attached.len() != known {
            self.report_replicas(replication);
        }
    }

    /// Ends the link to a replica whose connection was killed.
    pub(crate) fn drop_replica(&mut self, replication: &mut Replication, session: u64) {
        let Some(index) = self.attached.iter().position(|replica| replica.session == session) else { return };
        self.attached.remove(index).wake();
        self.report_replicas(replication);
    }

    pub(super) fn find(&mut self, session: u64) -> Option<&mut Attached> {
        self.attached.iter_mut().find(|replica| replica.session == session)
    }
}

/// The address that a replica announced, or came from.
pub(super) fn ip_of_replica(session: &Session) -> &str {
    let addr = session.addr();
    session.announced_ip().unwrap_or_else(|| addr.rsplit_once(':').map_or(addr, |(ip, _)| ip))
}
