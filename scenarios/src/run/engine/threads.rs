//! The threads of one process: what they share, and which of them runs.
//!
//! A process is a host, and each of its threads a task of it: a pause stops all, a death ends all. The kernel gives a
//! signal to whoever waits for one, and all threads wait, so the process's own task takes signals and hands them on.
//!
//! Not modelled: threads that run at the same instant. One runs until it waits, as all code in a simulated world does.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use doublehold_history::ClientId;
use doublehold_sim::Host;

use super::env::SimEnv;
use super::signal::Signal;
use crate::run::client::program::Job;
use crate::run::recorder::Recorder;

/// A thread's program in one run.
pub(in crate::run) type ThreadJob = (ClientId, Arc<Job<SimEnv>>);

/// Runs the threads of one life of a process, until the last is done. The locks of those that are done stay until then:
/// a mutex that a thread left with is its process's, and so is a watchdog.
pub(in crate::run) async fn run_threads(process: SimEnv, threads: Vec<ThreadJob>, recorder: Recorder) {
    let (host, starts) = (process.host.clone(), process.starts.clone());
    let left = Left::new(threads.len());
    let locks = Arc::new(Mutex::new(Vec::new()));
    for (client, job) in threads {
        let (env, left, locks) = (process.thread_env(client), left.clone(), locks.clone());
        let work = Box::pin(async move {
            let built = job.run(env).await;
            lock(&locks).extend(built);
            left.one_less();
        });
        host.spawn(AsThread::new(client, recorder.clone(), work));
    }
    while let Some(told) = signal_or_end(&host, &left).await {
        match told.parse() {
            Ok(Signal::StartOf(thread)) => starts.let_begin(thread),
            _ => {
                recorder.inconclusive(format!("{} waits for starts and was told `{told}`", host.name()));
            }
        }
    }
}

/// The next signal; `None` when no thread is left.
async fn signal_or_end(host: &Host, left: &Left) -> Option<String> {
    let mut signal = pin!(host.signal());
    poll_fn(|cx| match left.poll_none(cx) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => signal.as_mut().poll(cx).map(Some),
    })
    .await
}

/// A task of a thread: what it does while it runs is that thread's.
pub(in crate::run) struct AsThread<F> {
    thread: ClientId,
    recorder: Recorder,
    task: F,
}

impl<F: Future<Output = ()> + Unpin> AsThread<F> {
    pub(in crate::run) fn new(thread: ClientId, recorder: Recorder, task: F) -> AsThread<F> {
        AsThread { thread, recorder, task }
    }
}

impl<F: Future<Output = ()> + Unpin> Future for AsThread<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let before = this.recorder.set_acting(Some(this.thread));
        let polled = Pin::new(&mut this.task).poll(cx);
        this.recorder.set_acting(before);
        polled
    }
}

/// The threads of a host that may begin, through all its lives: who was told to begin is not told again.
#[derive(Clone, Default)]
pub(in crate::run) struct Starts(Arc<Mutex<Called>>);

#[derive(Default)]
struct Called {
    threads: BTreeSet<String>,
    wakers: Vec<Waker>,
}

impl Starts {
    fn let_begin(&self, thread: String) {
        let mut told = lock(&self.0);
        told.threads.insert(thread);
        told.wakers.drain(..).for_each(Waker::wake);
    }

    /// Waits until the thread of this name may begin.
    pub(in crate::run) async fn wait_for(&self, thread: &str) {
        poll_fn(|cx| {
            let mut told = lock(&self.0);
            if told.threads.contains(thread) {
                return Poll::Ready(());
            }
            told.wakers.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// How many threads have more to do, and who waits for none.
#[derive(Clone)]
struct Left(Arc<Mutex<(usize, Option<Waker>)>>);

impl Left {
    fn new(threads: usize) -> Left {
        Left(Arc::new(Mutex::new((threads, None))))
    }

    fn one_less(&self) {
        let mut left = lock(&self.0);
        left.0 -= 1;
        left.1.take().into_iter().for_each(Waker::wake);
    }

    fn poll_none(&self, cx: &Context<'_>) -> Poll<()> {
        let mut left = lock(&self.0);
        if left.0 == 0 {
            return Poll::Ready(());
        }
        left.1 = Some(cx.waker().clone());
        Poll::Pending
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
