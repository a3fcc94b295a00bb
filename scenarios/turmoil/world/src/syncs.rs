//! Waiting for the disk: an fsync takes its law's time and covers what the file held when it began.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use doublehold_sim::{Event, HostId};

use crate::host::TurmoilHost;
use crate::queue::Due;
use crate::state::State;

/// An fsync under way, or one that nobody has been told of.
pub(crate) struct PendingSync {
    host: HostId,
    file: String,
    /// The leading bytes that it makes durable; `None` if nothing that it began with is left.
    covered: Option<usize>,
    done: bool,
    waker: Option<Waker>,
}

/// Waits for an fsync.
pub(crate) struct Fsync {
    host: TurmoilHost,
    file: String,
    number: Option<u64>,
}

impl Fsync {
    pub(crate) fn new(host: TurmoilHost, file: &str) -> Fsync {
        Fsync { host, file: file.to_owned(), number: None }
    }
}

impl Future for Fsync {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let (host, incarnation) = (this.host.host, this.host.incarnation);
        this.host.shared.enter(|state| {
            if state.holds_back(host, incarnation, cx) {
                return Poll::Pending;
            }
            let waker = Some(cx.waker().clone());
            match this.number {
                None => this.number = Some(state.begin_fsync(host, this.file.clone(), waker)),
                Some(number) => {
                    let sync = state.syncs.get_mut(&number).expect("kept until dropped");
                    if sync.done {
                        return Poll::Ready(());
                    }
                    sync.waker = waker;
                }
            }
            Poll::Pending
        })
    }
}

impl Drop for Fsync {
    /// Giving up on an fsync does not recall it; only its waiter is gone.
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut state = self.host.shared.borrow_mut();
        if state.syncs.get(&number).is_some_and(|sync| sync.done) {
            state.syncs.remove(&number);
        } else if let Some(sync) = state.syncs.get_mut(&number) {
            sync.waker = None;
        }
    }
}

impl State {
    fn begin_fsync(&mut self, host: HostId, file: String, waker: Option<Waker>) -> u64 {
        let state = self.host_mut(host);
        let covered = Some(state.disk.len(&file));
        let takes = state.fsync_time.clone().draw(&mut state.random);
        self.syncs_so_far += 1;
        let number = self.syncs_so_far;
        self.syncs.insert(number, PendingSync { host, file, covered, done: false, waker });
        self.queue.push(self.now.after(takes), Due::Synced(number));
        number
    }

    /// The disk finished, whatever became of the process: only a power loss in between stops it.
    pub(crate) fn fsync_done(&mut self, number: u64) {
        let Some(sync) = self.syncs.get_mut(&number) else { return };
        let (host, covered, file) = (sync.host, sync.covered, sync.file.clone());
        sync.done = true;
        match sync.waker.take() {
            Some(waker) => {
                waker.wake();
                self.make_ready(host);
            }
            None => drop(self.syncs.remove(&number)),
        }
        let Some(covered) = covered else { return };
        let durable = self.host_mut(host).disk.sync(&file, covered) as u64;
        self.emit(Event::Synced { host, durable });
    }

    /// A file was cut short: what is written there from now on is not covered by fsyncs that began before.
    pub(crate) fn fsyncs_cover_at_most(&mut self, host: HostId, file: &str, len: usize) {
        for sync in self.fsyncs_of(host).filter(|sync| sync.file == file) {
            sync.covered = sync.covered.map(|covered| covered.min(len));
        }
    }

    /// A file was replaced: what fsyncs under way began with is no longer there.
    pub(crate) fn fsyncs_miss(&mut self, host: HostId, file: &str) {
        self.fsyncs_of(host).filter(|sync| sync.file == file).for_each(|sync| sync.covered = None);
    }

    /// Gives up the fsyncs under way on this host.
    pub(crate) fn abandon_fsyncs(&mut self, host: HostId) {
        self.fsyncs_of(host).for_each(|sync| sync.covered = None);
    }

    fn fsyncs_of(&mut self, host: HostId) -> impl Iterator<Item = &mut PendingSync> {
        self.syncs.values_mut().filter(move |sync| sync.host == host)
    }
}
