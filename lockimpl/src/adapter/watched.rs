//! What a guard that is renewed beside its holder tells: its deadline as it moves, and that the lock is lost.
//!
//! Whatever renews it is a task of its process, so a guard is looked at each time such a task has run. A task of our
//! own beside it, which belongs to the call that was granted the lock, says what has moved.
//!
//! Assumes that nothing but tasks and its holder changes a guard. Does not model a lock that is found again.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use super::{Client, Guard};
use crate::env::{Deadline, RedisRs};
use crate::lock::Watch;

/// A guard that its holder and those who look share; none while its holder extends it, and when it was given back.
pub(super) struct Shared<G>(Arc<Mutex<Option<G>>>);

impl<G> Shared<G> {
    pub(super) fn new(guard: G) -> Self {
        Self(Arc::new(Mutex::new(Some(guard))))
    }

    pub(super) fn take(&self) -> Option<G> {
        lock(&self.0).take()
    }

    pub(super) fn put_back(&self, guard: G) {
        *lock(&self.0) = Some(guard);
    }
}

impl<G> Clone for Shared<G> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// A guard that tells, and what was last heard of it.
pub(super) struct Watched<G> {
    guard: Shared<G>,
    /// Tells its deadline, and that it is lost.
    tells: fn(&G) -> (Option<Deadline>, Option<bool>),
    pub(super) watch: Watch,
    moved: Arc<Mutex<Moved>>,
}

/// Deadlines that nobody has been told of, and who is to tell.
#[derive(Default)]
struct Moved {
    to: Vec<Option<Deadline>>,
    teller: Option<Waker>,
}

/// Watches a guard of the call under way.
pub(super) fn watch<E: RedisRs, G: Guard<Error>, Error>(
    client: &Client<E>,
    guard: Shared<G>,
    deadline: Option<Deadline>,
) -> Arc<Watched<G>> {
    let (watch, moved) = (Watch::new(deadline), Arc::<Mutex<Moved>>::default());
    watch.runs(client.env.spawn(tell(client.env.clone(), moved.clone())));
    let tells = |guard: &G| (guard.deadline(), guard.lost());
    let watched = Arc::new(Watched { guard, tells, watch, moved });
    let looked_at: Arc<dyn Look> = watched.clone();
    client.lookers.add(Arc::downgrade(&looked_at));
    watched.look();
    watched
}

/// Tells the environment of each renewal.
async fn tell<E: RedisRs>(env: E, moved: Arc<Mutex<Moved>>) {
    loop {
        let to = poll_fn(|cx| {
            let mut moved = lock(&moved);
            if moved.to.is_empty() {
                moved.teller = Some(cx.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(moved.to.remove(0))
        });
        let to = to.await;
        env.renewal_started().await;
        env.renewal_ended(Ok(to)).await;
    }
}

impl<G: Send + 'static> Watched<G> {
    /// The holder itself may have extended it, which is told as such.
    pub(super) fn look_after(&self, extended: bool, deadline: Option<Deadline>) {
        if extended {
            self.watch.set_deadline(deadline);
        }
        self.look();
    }
}

/// Something that may have changed when a task has run.
pub(super) trait Look: Send + Sync {
    fn look(&self);
}

impl<G: Send + 'static> Look for Watched<G> {
    fn look(&self) {
        let guard = lock(&self.guard.0);
        let Some((deadline, lost)) = guard.as_ref().map(self.tells) else { return };
        drop(guard);
        if deadline != self.watch.deadline() {
            self.watch.set_deadline(deadline);
            let mut moved = lock(&self.moved);
            moved.to.push(deadline);
            let teller = moved.teller.take();
            drop(moved);
            teller.into_iter().for_each(Waker::wake);
        }
        if lost == Some(true) {
            self.watch.lose(true);
        }
    }
}

/// All of a process that are to look when one of its tasks has run.
#[derive(Default)]
pub(crate) struct Lookers(Mutex<Vec<Weak<dyn Look>>>);

impl Lookers {
    fn add(&self, looker: Weak<dyn Look>) {
        lock(&self.0).push(looker);
    }

    fn look(&self) {
        let mut lookers = lock(&self.0);
        lookers.retain(|looker| looker.strong_count() > 0);
        let lookers: Vec<Arc<dyn Look>> = lookers.iter().filter_map(Weak::upgrade).collect();
        lookers.into_iter().for_each(|looker| looker.look());
    }
}

/// A task of a process, after each step of which all that is watched there is looked at.
pub(super) struct Looking<T> {
    pub(super) task: Pin<Box<T>>,
    pub(super) lookers: Arc<Lookers>,
}

impl<T: Future<Output = ()>> Future for Looking<T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let polled = self.task.as_mut().poll(cx);
        self.lookers.look();
        polled
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
