//! Waiting for the disk: an fsync takes its law's time and covers what the file held when it began.
//!
//! Bytes written meanwhile are not covered, also where they take the place of bytes that were: what a file is cut to
//! stays covered, and a replaced file's new content is not.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::kernel::{Process, State};
use crate::kernel_host::KernelHost;
use crate::queue::Pending;
use crate::slots::Key;
use crate::trace::{Event, HostId};

/// Names an fsync, by the host whose disk is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SyncKey {
    host: HostId,
    slot: Key<PendingSync>,
}

/// An fsync under way.
pub(crate) struct PendingSync {
    file: String,
    /// How many leading bytes it will make durable; `None` if nothing that it began with is left.
    covered: Option<usize>,
    done: bool,
    waker: Option<Waker>,
}

pub(crate) struct Fsync {
    host: KernelHost,
    file: Option<String>,
    key: Option<SyncKey>,
}

impl Fsync {
    pub(crate) fn new(host: KernelHost, file: String) -> Fsync {
        Fsync { host, file: Some(file), key: None }
    }
}

impl Future for Fsync {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.host.holds_back(cx) {
            return Poll::Pending;
        }
        let process = self.host.process();
        let (file, key) = (self.file.take(), self.key);
        let key = self.host.kernel().enter(|state| match (file, key) {
            (Some(file), _) => Some(state.begin_fsync(process, file, cx.waker().clone())),
            (None, Some(key)) if !state.sync_mut(key).done => {
                state.sync_mut(key).waker = Some(cx.waker().clone());
                Some(key)
            }
            (None, key) => {
                if let Some(key) = key {
                    state.host_mut(key.host).syncs.remove(key.slot);
                }
                None
            }
        });
        self.key = key;
        if key.is_some() { Poll::Pending } else { Poll::Ready(()) }
    }
}

impl Drop for Fsync {
    /// Giving up on an fsync does not recall it; only its waiter is gone.
    fn drop(&mut self) {
        let Some(key) = self.key else { return };
        self.host.kernel().enter(|state| {
            if state.sync_mut(key).done {
                state.host_mut(key.host).syncs.remove(key.slot);
            } else {
                state.sync_mut(key).waker = None;
            }
        });
    }
}

impl State {
    fn begin_fsync(&mut self, process: Process, file: String, waker: Waker) -> SyncKey {
        let host = self.host_mut(process.host);
        let covered = host.disk.len(&file);
        let law = host.fsync_time.clone();
        let takes = law.draw(&mut host.random);
        let covered = Some(covered);
        let sync = PendingSync { file, covered, done: false, waker: Some(waker) };
        let key = SyncKey { host: process.host, slot: host.syncs.insert(sync) };
        self.schedule(self.now.after(takes), Pending::Synced { key });
        key
    }

    /// The disk finished, whatever became of the process: only a power loss in between stops it.
    pub(crate) fn fsync_done(&mut self, key: SyncKey) {
        let host = key.host;
        let sync = self.sync_mut(key);
        sync.done = true;
        let (file, covered) = (std::mem::take(&mut sync.file), sync.covered);
        match sync.waker.take() {
            Some(waker) => waker.wake(),
            None => drop(self.host_mut(host).syncs.remove(key.slot)),
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

    /// The machine lost power: what was being synced will not be.
    pub(crate) fn abandon_fsyncs(&mut self, host: HostId) {
        self.fsyncs_of(host).for_each(|sync| sync.covered = None);
    }

    fn fsyncs_of(&mut self, host: HostId) -> impl Iterator<Item = &mut PendingSync> {
        self.host_mut(host).syncs.values_mut()
    }

    fn sync_mut(&mut self, key: SyncKey) -> &mut PendingSync {
        &mut self.host_mut(key.host).syncs[key.slot]
    }
}
