//! The pool beside doing one piece after the other: any number of threads, pieces that take any time, ends anywhere.

use std::hint::spin_loop;
use std::sync::Barrier;
use std::sync::atomic::AtomicU64;
use std::thread::yield_now;

use proptest::prelude::*;

use super::*;

/// Numbers up to one, of which each is told of until one.
struct Numbers {
    next: u64,
    last: u64,
    told: Vec<u64>,
    until: usize,
    asked: u64,
}

impl Foreman for Numbers {
    type Piece = u64;
    type Done = u64;

    fn next(&mut self) -> Option<u64> {
        let piece = Some(self.next).filter(|piece| *piece < self.last)?;
        self.next += 1;
        Some(piece)
    }

    fn receive(&mut self, done: u64) -> ControlFlow<()> {
        self.told.push(done);
        if self.told.len() == self.until { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn goes_on(&mut self, begun: u64) -> ControlFlow<()> {
        assert!(begun >= self.asked, "{} were begun, and then {begun}", self.asked);
        self.asked = begun;
        ControlFlow::Continue(())
    }
}

fn numbers(last: u64, until: usize) -> Numbers {
    Numbers { next: 0, last, told: Vec::new(), until, asked: 0 }
}

/// A piece that takes its own time.
fn slowly(hand: &Hand<'_>, piece: u64) -> u64 {
    hand.begins(Seed(piece));
    (0..piece * 7919 % 50).for_each(|_| yield_now());
    piece * piece
}

proptest! {
    #[test]
    fn pieces_are_told_of_in_order_as_far_as_is_wanted(
        last in 0..60_u64, until in 1..70_usize, jobs in 1..5_usize, ahead in 0..4_usize,
    ) {
        let crew = Crew { jobs: NonZeroUsize::new(jobs).expect("some"), ahead };
        let expected: Vec<u64> = (0..last).map(|piece| piece * piece).take(until).collect();
        let mut own = numbers(last, until);
        prop_assert_eq!(run_in_order(crew, Duration::from_secs(60), &mut own, slowly), Ok(()));
        prop_assert_eq!(&own.told, &expected);
        // What is handed out ahead is bounded.
        let most = own.told.len() + jobs * ahead.max(1);
        prop_assert!(own.next <= most as u64, "{} of {most}", own.next);
        let mut here = numbers(last, until);
        run_scoped(crew, &mut here, slowly);
        prop_assert_eq!(&here.told, &expected);
    }
}

#[test]
fn without_threads_the_asking_one_works() {
    let (shop, lead) = shop(Crew { jobs: NonZeroUsize::MIN, ahead: 3 }, Some(Duration::from_secs(60)));
    let mut all = numbers(20, usize::MAX);
    assert_eq!(lead.lead(&shop, &mut all, Some(&slowly)), Ok(()));
    assert_eq!(all.told, (0..20).map(|piece| piece * piece).collect::<Vec<_>>());
}

#[test]
fn a_panic_is_handed_on_at_once_and_the_others_end() {
    let crew = Crew { jobs: NonZeroUsize::new(3).expect("three"), ahead: 2 };
    let work = |hand: &Hand<'_>, piece: u64| {
        assert_ne!(piece, 4, "planted");
        // Longer than all tests, but for the panic.
        while piece == 2 && !hand.is_over() {
            yield_now();
        }
        piece
    };
    for here in [true, false] {
        let ended = catch_unwind(AssertUnwindSafe(|| match here {
            true => run_scoped(crew, &mut numbers(1_000, usize::MAX), work),
            false => {
                _ = run_in_order(crew, Duration::from_secs(3_600), &mut numbers(1_000, usize::MAX), work)
            }
        }));
        let panic = ended.expect_err("it is handed on");
        assert!(panic.downcast_ref::<String>().is_some_and(|it| it.contains("planted")));
    }
}

#[test]
fn runs_that_do_not_come_back_are_named_and_left_behind() {
    let crew = Crew { jobs: NonZeroUsize::new(2).expect("two"), ahead: 2 };
    let work = |hand: &Hand<'_>, piece: u64| {
        hand.begins(Seed(100 + piece));
        while piece == 3 && !hand.is_over() {
            yield_now();
        }
        piece
    };
    let patience = Duration::from_millis(200);
    let stuck = run_in_order(crew, patience, &mut numbers(50, usize::MAX), work);
    assert_eq!(stuck, Err(Stuck { seeds: vec![Seed(103)], patience }));
}

#[test]
fn a_panic_in_one_thread_ends_the_others_at_their_next_item() {
    let items: Vec<u64> = (0..10_000).collect();
    let (made, both) = (AtomicU64::new(0), Barrier::new(2));
    let panics_at_1 = |item: &u64| {
        if *item <= 1 {
            both.wait();
        }
        assert_ne!(*item, 1, "planted");
        (0..20_000).for_each(|_| spin_loop());
        made.fetch_add(1, Ordering::Relaxed);
    };
    let two = NonZeroUsize::new(2).unwrap();
    let panic =
        catch_unwind(AssertUnwindSafe(|| each(&items, two, panics_at_1))).expect_err("it is handed on");
    assert!(panic.downcast_ref::<String>().is_some_and(|it| it.contains("planted")));
    let made = made.into_inner();
    assert!(made < 2_500, "{made} of the 5,000 of the other thread");
}
