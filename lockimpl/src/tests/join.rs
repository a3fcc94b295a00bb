//! The order in which several nodes are asked at once.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use crate::join::join_in_order;

#[test]
fn futures_are_polled_first_to_last_every_time_and_keep_their_places() {
    let polls = Mutex::new(Vec::new());
    let future = |name: usize, ready_on_poll: usize| {
        let (mut polled, polls) = (0, &polls);
        poll_fn(move |_| {
            polls.lock().expect("not poisoned").push(name);
            polled += 1;
            if polled == ready_on_poll { Poll::Ready(name) } else { Poll::Pending }
        })
    };
    let mut all = pin!(join_in_order([future(1, 3), future(2, 1), future(3, 2)].into_iter()));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(all.as_mut().poll(&mut cx).is_pending());
    assert!(all.as_mut().poll(&mut cx).is_pending());
    assert_eq!(all.as_mut().poll(&mut cx), Poll::Ready(vec![1, 2, 3]));
    assert_eq!(*polls.lock().expect("not poisoned"), [1, 2, 3, 1, 3, 1]);
}

#[test]
fn nothing_to_wait_for_is_over_at_once() {
    let none: [std::future::Ready<()>; 0] = [];
    let mut all = pin!(join_in_order(none.into_iter()));
    assert!(all.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
}
