//! Snapshots: the data set as one file that is written anew every so often, in place of the append-only file (`save
//! SECONDS 1`). A restart finds the last one, and nothing of what was written since.
//!
//! As in Redis, a snapshot is due once something was written since the last, and the wall clock shows more whole
//! seconds than the interval since that was done (or since the process started); it is looked for every 100 ms. What it
//! has is the data set of that instant, between two commands. It is written to a file of its own, fsynced and renamed
//! over the last, while the node goes on: a crash or a power loss in between leaves the last. A key that is gone as
//! its time was up, or for want of memory, is no write. SHUTDOWN takes one more, unless it says NOSAVE.
//!
//! Not modelled: several `save` lines, the time that a fork and the writing take beside two fsyncs (of the file, and of
//! the rename), a child that finishes after its parent was killed, MISCONF (a failed fsync ends the node), and that
//! a replica keeps the file it was sent: it takes a snapshot when the next is due. The file holds commands where Redis
//! writes its own format; nobody but our own nodes reads it.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::core::WallMicros;
use crate::machine::Machine;
use crate::shared::Shared;

/// The file's name on the node's disk.
pub(crate) const FILE: &str = "dump.rdb";
/// A snapshot that is not whole yet.
const UNFINISHED: &str = "temp.rdb";

/// Takes a snapshot whenever one is due, for as long as the process lives. Waits for nothing while nothing is written.
pub(crate) async fn keep_taking<M: Machine>(shared: Arc<Shared<M>>, interval: Duration) {
    let seconds = i64::try_from(interval.as_secs()).unwrap_or(i64::MAX);
    let mut last = second(shared.machine.wall());
    let mut saved = shared.lock().core.changes();
    loop {
        poll_fn(|cx| poll_changed(&shared, saved, cx)).await;
        wait_until_due(&shared, last, seconds).await;
        let (changes, data) = fork(&shared).await;
        if write(&shared.machine, &data).await.is_err() {
            return shared.close();
        }
        (saved, last) = (changes, second(shared.machine.wall()));
    }
}

/// Takes one at once, however long the last is ago, before the process ends.
pub(crate) async fn take<M: Machine>(shared: &Shared<M>) -> io::Result<()> {
    let mut data = Vec::new();
    shared.lock().core.dump(&mut data);
    write(&shared.machine, &data).await
}

fn poll_changed<M: Machine>(shared: &Shared<M>, saved: u64, cx: &Context<'_>) -> Poll<()> {
    let mut state = shared.lock();
    if state.core.changes() != saved {
        return Poll::Ready(());
    }
    state.written.register(cx);
    Poll::Pending
}

/// A clock that was set back puts it off until it has caught up, as in Redis.
async fn wait_until_due<M: Machine>(shared: &Shared<M>, last: i64, seconds: i64) {
    let due = last.saturating_add(seconds).saturating_add(1);
    loop {
        shared.machine.wall_reaches(WallMicros(due.saturating_mul(1_000_000))).await;
        shared.machine.sleep(shared.next_tick_delay()).await;
        if second(shared.machine.wall()) >= due {
            return;
        }
    }
}

/// The data set of an instant between two commands, and how much had been written by then.
async fn fork<M: Machine>(shared: &Shared<M>) -> (u64, Vec<u8>) {
    loop {
        poll_fn(|cx| shared.lock().poll_script_ended(cx)).await;
        let _turn = shared.take_turn().await;
        let state = shared.lock();
        // Another one may have begun while the node had its turn elsewhere.
        if !state.core.script_is_overrunning() {
            let mut data = Vec::new();
            state.core.dump(&mut data);
            return (state.core.changes(), data);
        }
    }
}

async fn write<M: Machine>(machine: &M, data: &[u8]) -> io::Result<()> {
    machine.replace(UNFINISHED, data);
    machine.fsync(UNFINISHED).await?;
    machine.replace(FILE, data);
    machine.truncate(UNFINISHED, 0);
    machine.fsync(FILE).await
}

fn second(wall: WallMicros) -> i64 {
    wall.0.div_euclid(1_000_000)
}
