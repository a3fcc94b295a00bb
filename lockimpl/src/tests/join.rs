//! The order in which several nodes are asked at once.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use crate::parts::join::join_in_order;

/// Counts how often it is woken.
#[derive(Default)]
struct Counter(AtomicUsize);

impl Wake for Counter {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn what_was_woken_is_polled_first_to_last_whatever_the_order_of_waking_and_keeps_its_place() {
    let (polls, wakers) = (Mutex::new(Vec::new()), Mutex::new(vec![None::<Waker>; 4]));
    let future = |name: usize, ready_on_poll: usize| {
        let (mut polled, polls, wakers) = (0, &polls, &wakers);
        poll_fn(move |cx| {
            polls.lock().expect("not poisoned").push(name);
            wakers.lock().expect("not poisoned")[name] = Some(cx.waker().clone());
            polled += 1;
            if polled == ready_on_poll { Poll::Ready(name) } else { Poll::Pending }
        })
    };
    let wake = |names: &[usize]| {
        let wakers = wakers.lock().expect("not poisoned").clone();
        names.iter().for_each(|name| wakers[*name].as_ref().expect("it was polled").wake_by_ref());
    };
    let told = std::sync::Arc::new(Counter::default());
    let waker = Waker::from(told.clone());
    let mut cx = Context::from_waker(&waker);
    let mut all = pin!(join_in_order([future(0, 3), future(1, 1), future(2, 2), future(3, 2)].into_iter()));
    assert!(all.as_mut().poll(&mut cx).is_pending());
    wake(&[3, 0, 3]);
    assert!(all.as_mut().poll(&mut cx).is_pending());
    assert!(all.as_mut().poll(&mut cx).is_pending(), "nobody was woken");
    wake(&[2, 0, 1]);
    assert_eq!(all.as_mut().poll(&mut cx), Poll::Ready(vec![0, 1, 2, 3]));
    assert_eq!(*polls.lock().expect("not poisoned"), [0, 1, 2, 3, 0, 3, 0, 2]);
    assert_eq!(told.0.load(Ordering::Relaxed), 6, "the task is told whenever any of its futures is");
}

#[test]
fn a_future_that_wakes_itself_is_polled_again_in_the_next_round_only() {
    let polls = Mutex::new(Vec::new());
    let future = |name: usize| {
        let (mut polled, polls) = (0, &polls);
        poll_fn(move |cx| {
            polls.lock().expect("not poisoned").push(name);
            polled += 1;
            cx.waker().wake_by_ref();
            if polled == 2 { Poll::Ready(()) } else { Poll::Pending }
        })
    };
    let mut all = pin!(join_in_order([future(0), future(1)].into_iter()));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(all.as_mut().poll(&mut cx).is_pending());
    assert!(all.as_mut().poll(&mut cx).is_ready());
    assert_eq!(*polls.lock().expect("not poisoned"), [0, 1, 0, 1]);
}

#[test]
fn nothing_to_wait_for_is_over_at_once() {
    let none: [std::future::Ready<()>; 0] = [];
    let mut all = pin!(join_in_order(none.into_iter()));
    assert!(all.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
}
