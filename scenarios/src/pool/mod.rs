//! Pieces of work on several threads, told of in order.
//!
//! Whoever has work to do ([`Foreman`]) hands out pieces and hears of their results in the order of the pieces, so that
//! a result does not depend on the number of threads nor on which of them was fast. Few pieces are handed out ahead of
//! the one that is told of next: memory does not grow with their number.
//!
//! Threads of [`run_in_order`] belong to nobody: one that never comes back is left behind, and its runs are named.
//! Threads of [`run_scoped`] may borrow, and so have to come back. If the system gives no thread, the asking one works.
//!
//! Rejected: rayon, which waits for all of its threads, and cannot leave one behind.
//!
//! Decision: "All threads of a search come from one pool (`scenarios/src/pool`)" (docs/decisions/crates.md).

mod progress;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use doublehold_sim::Seed;
pub use progress::Stuck;
use progress::{Progress, Watch};

/// The time after which the foreman is asked again while no piece ends.
const TICK: Duration = Duration::from_millis(50);

/// The threads that work.
#[derive(Clone, Copy, Debug)]
pub struct Crew {
    /// The number of threads.
    pub jobs: NonZeroUsize,
    /// The pieces that each thread may be ahead of the one that is told of next: enough that none waits for a slow
    /// one, and few enough to be kept, and to be finished when there is to be an end.
    pub ahead: usize,
}

/// Whoever has work to do. All of it is asked on the thread that called.
pub trait Foreman {
    /// A piece of work.
    type Piece: Send;
    /// The result of one.
    type Done: Send;

    /// The next piece, if one can be handed out now. Asked again after each result.
    fn next(&mut self) -> Option<Self::Piece>;

    /// Hears of the next result, and says whether to go on.
    fn receive(&mut self, done: Self::Done) -> ControlFlow<()>;

    /// Says whether to go on; asked again and again while nothing new is known. `begun` is the number of runs that
    /// were begun.
    fn goes_on(&mut self, begun: u64) -> ControlFlow<()> {
        let _ = begun;
        ControlFlow::Continue(())
    }
}

/// A thread at its piece.
pub struct Hand<'a> {
    number: usize,
    progress: &'a Progress,
    over: &'a AtomicBool,
}

impl Hand<'_> {
    /// The number of this thread, from 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Notes that a run begins: this thread is not stuck.
    pub fn begins(&self, seed: Seed) {
        self.progress.begins(self.number, seed);
    }

    /// True if nobody wants the rest of the piece any more.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

/// The number of threads that run at once on this machine.
pub fn cores() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Does all pieces on threads of their own, until there are no more or the foreman says so. What is under way then is
/// not waited for.
///
/// # Errors
///
/// If no run begins for as long as `patience` while one is under way: its thread is left behind.
///
/// # Panics
///
/// If a piece does: at once, whatever the others are at.
#[expect(clippy::disallowed_methods, reason = "threads run worlds, and none runs in one")]
pub fn run_in_order<F: Foreman>(
    crew: Crew,
    patience: Duration,
    foreman: &mut F,
    work: impl Fn(&Hand<'_>, F::Piece) -> F::Done + Send + Sync + 'static,
) -> Result<(), Stuck>
where
    F::Piece: 'static,
    F::Done: 'static,
{
    let (shop, lead) = shop(crew, Some(patience));
    let (shop, work) = (Arc::new(shop), Arc::new(work));
    let begins = |number: &usize| {
        let (number, shop, work) = (*number, shop.clone(), work.clone());
        thread::Builder::new().spawn(move || shop.work(number, &*work)).is_ok()
    };
    let begun = (0..crew.jobs.get()).filter(begins).count();
    let shop: &Shop<F::Piece, F::Done> = &shop;
    lead.lead(shop, foreman, (begun == 0).then_some(&*work))
}

/// Does all pieces on threads that may borrow, and ends when all of these have. See [`run_in_order`].
///
/// # Panics
///
/// If a piece does.
pub fn run_scoped<F: Foreman>(
    crew: Crew,
    foreman: &mut F,
    work: impl Fn(&Hand<'_>, F::Piece) -> F::Done + Sync,
) {
    let (shop, lead) = shop(crew, None);
    let (shop, work) = (&shop, &work);
    thread::scope(|scope| {
        let begins = |number: &usize| {
            let number = *number;
            thread::Builder::new().spawn_scoped(scope, move || shop.work(number, work)).is_ok()
        };
        let begun = (0..crew.jobs.get()).filter(begins).count();
        // Without patience nobody is ever said to be stuck.
        let _ = lead.lead(shop, foreman, (begun == 0).then_some(work));
    });
}

/// The result for each item, in their order.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use doublehold_scenarios::pool::each;
///
/// assert_eq!(each(&[1, 2, 3], NonZeroUsize::new(2).unwrap(), |item| item * item), [1, 4, 9]);
/// ```
///
/// # Panics
///
/// If the work on an item does.
pub fn each<T: Sync, R: Send>(items: &[T], jobs: NonZeroUsize, make: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let mut all = Each { items: items.iter(), results: Vec::with_capacity(items.len()) };
    run_scoped(Crew { jobs, ahead: 4 }, &mut all, |_, item| make(item));
    all.results
}

/// A list of items, and the results so far.
struct Each<'a, T, R> {
    items: std::slice::Iter<'a, T>,
    results: Vec<R>,
}

impl<'a, T: Sync, R: Send> Foreman for Each<'a, T, R> {
    type Piece = &'a T;
    type Done = R;

    fn next(&mut self) -> Option<&'a T> {
        self.items.next()
    }

    fn receive(&mut self, result: R) -> ControlFlow<()> {
        self.results.push(result);
        ControlFlow::Continue(())
    }
}

/// The place where all threads take pieces and give back what they made of them.
struct Shop<P, R> {
    pieces: Mutex<mpsc::Receiver<(u64, P)>>,
    give_back: mpsc::Sender<(u64, thread::Result<R>)>,
    progress: Progress,
    over: AtomicBool,
}

/// The other ends, and how far all is.
struct Lead<P, R> {
    give: mpsc::Sender<(u64, P)>,
    given_back: mpsc::Receiver<(u64, thread::Result<R>)>,
    most: u64,
    handed_out: u64,
    told: u64,
    early: BTreeMap<u64, R>,
    watch: Option<(Watch, Duration)>,
}

fn shop<P, R>(crew: Crew, patience: Option<Duration>) -> (Shop<P, R>, Lead<P, R>) {
    let (give, pieces) = mpsc::channel();
    let (give_back, given_back) = mpsc::channel();
    let progress = Progress::new(crew.jobs);
    let watch = patience.map(|patience| (progress.watch(patience), patience));
    let most = (crew.jobs.get() * crew.ahead.max(1)) as u64;
    let lead = Lead { give, given_back, most, handed_out: 0, told: 0, early: BTreeMap::new(), watch };
    (Shop { pieces: Mutex::new(pieces), give_back, progress, over: AtomicBool::new(false) }, lead)
}

impl<P: Send, R: Send> Shop<P, R> {
    /// Works until there are no more pieces, or nobody wants them.
    fn work(&self, number: usize, work: &impl Fn(&Hand<'_>, P) -> R) {
        while !self.over.load(Ordering::Relaxed) {
            let next = self.pieces.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(piece) = next else { return };
            if !self.work_on(number, piece, work) {
                return;
            }
        }
    }

    /// Works on one piece. Returns false if it is the last of this thread.
    fn work_on(&self, number: usize, (place, piece): (u64, P), work: &impl Fn(&Hand<'_>, P) -> R) -> bool {
        let hand = Hand { number, progress: &self.progress, over: &self.over };
        // A panic is handed on at once: from a handle it is known only when all others have ended, which may take as
        // long as all runs do. Panics of a lock are caught where it runs.
        let done = catch_unwind(AssertUnwindSafe(|| work(&hand, piece)));
        self.progress.rests(number);
        let has_panicked = done.is_err();
        self.give_back.send((place, done)).is_ok() && !has_panicked
    }
}

impl<P: Send, R: Send> Lead<P, R> {
    /// Hands out pieces and tells of them, in order. Without threads (`here`) does them between two questions.
    fn lead<F: Foreman<Piece = P, Done = R>>(
        mut self,
        shop: &Shop<P, R>,
        foreman: &mut F,
        here: Option<&impl Fn(&Hand<'_>, P) -> R>,
    ) -> Result<(), Stuck> {
        // Whatever ends this ends the others, a panic of the foreman's included.
        let _over = Over(&shop.over);
        while foreman.goes_on(shop.progress.begun_runs()).is_continue() {
            if let Some(done) = self.early.remove(&self.told) {
                self.told += 1;
                if foreman.receive(done).is_break() {
                    return Ok(());
                }
                continue;
            }
            while self.handed_out - self.told < self.most
                && let Some(piece) = foreman.next()
            {
                let _ = self.give.send((self.handed_out, piece));
                self.handed_out += 1;
            }
            if self.handed_out == self.told {
                return Ok(());
            }
            if let Some(work) = here {
                let piece = shop.pieces.lock().unwrap_or_else(PoisonError::into_inner).try_recv();
                piece.into_iter().for_each(|piece| _ = shop.work_on(0, piece, work));
            }
            self.wait(shop)?;
        }
        Ok(())
    }

    /// Waits for the next result, whichever it is.
    fn wait(&mut self, shop: &Shop<P, R>) -> Result<(), Stuck> {
        match self.given_back.recv_timeout(TICK) {
            Ok((place, Ok(done))) => {
                self.early.insert(place, done);
            }
            Ok((_, Err(panic))) => {
                shop.over.store(true, Ordering::Relaxed);
                resume_unwind(panic);
            }
            Err(_) => {
                if let Some((watch, patience)) = &mut self.watch
                    && let Some(seeds) = watch.is_over(&shop.progress, TICK)
                {
                    return Err(Stuck { seeds, patience: *patience });
                }
            }
        }
        Ok(())
    }
}

/// Says that nobody wants more, when it goes.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
