//! Waiting for the disk: an fsync takes its law's time and covers what the file held when it began.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::host::Host;
use crate::kernel::{Coming, Process, State};
use crate::trace::Event;

/// An fsync under way.
pub(crate) struct PendingSync {
    process: Process,
    file: String,
    covered: usize,
    done: bool,
    waker: Option<Waker>,
}

pub(crate) struct Fsync {
    host: Host,
    file: Option<String>,
    key: Option<usize>,
}

impl Fsync {
    pub(crate) fn new(host: Host, file: String) -> Fsync {
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
            (None, Some(key)) if !state.syncs[key].done => {
                state.syncs[key].waker = Some(cx.waker().clone());
                Some(key)
            }
            (None, key) => {
                if let Some(key) = key {
                    state.syncs.remove(key);
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
            if state.syncs[key].done {
                state.syncs.remove(key);
            } else {
                state.syncs[key].waker = None;
            }
        });
    }
}

impl State {
    fn begin_fsync(&mut self, process: Process, file: String, waker: Waker) -> usize {
        let host = self.host_mut(process.host);
        let covered = host.disk.len(&file);
        let law = host.fsync_time.clone();
        let takes = law.draw(&mut host.random);
        let key = self.syncs.insert(PendingSync { process, file, covered, done: false, waker: Some(waker) });
        self.schedule(self.now.after(takes), Coming::Synced { key: key as u32 });
        key
    }

    /// The disk finished, whatever became of the process: only a power loss in between stops it.
    pub(crate) fn fsync_done(&mut self, key: u32) {
        let sync = &mut self.syncs[key as usize];
        sync.done = true;
        let (host, file, covered) = (sync.process.host, std::mem::take(&mut sync.file), sync.covered);
        match sync.waker.take() {
            Some(waker) => waker.wake(),
            None => drop(self.syncs.remove(key as usize)),
        }
        let durable = self.host_mut(host).disk.sync(&file, covered) as u64;
        self.emit(Event::Synced { host, durable });
    }

    /// The machine lost power: what was being synced will not be.
    pub(crate) fn abandon_fsyncs(&mut self, host: crate::trace::HostId) {
        for (_, sync) in self.syncs.iter_mut() {
            if sync.process.host == host {
                sync.covered = 0;
            }
        }
    }
}
