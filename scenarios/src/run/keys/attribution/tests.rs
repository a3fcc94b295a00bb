//! The likeliest owner of what several calls mark alike.

use super::*;

/// Each of three calls says so at one of four moments or never, in whatever order.
#[test]
fn the_likeliest_marker_is_the_last_call_that_had_said_so_or_else_the_first() {
    let (client, lock) = (ClientId(0), LockId(0));
    let mark = Mark::Value(b"1".to_vec());
    for told in (0..5_usize.pow(3)).map(|it| [it % 5, it / 5 % 5, it / 25]) {
        let mut known = Attribution::default();
        let saying: Vec<(usize, CallId)> =
            told.into_iter().zip((1..).map(CallId)).filter(|(when, _)| *when < 4).collect();
        (1..=3).for_each(|call| known.begin(client, CallId(call), lock));
        let mut in_time = saying.clone();
        in_time.sort_by_key(|(when, _)| *when);
        for (when, call) in in_time {
            known.enter(client, call);
            known.mark(Moment(when), client, mark.clone());
        }
        for by in 0..4 {
            let last = saying.iter().filter(|(when, _)| *when <= by).map(|(_, call)| *call).max();
            let expected = last.or_else(|| saying.iter().map(|(_, call)| *call).min());
            let likely = known.likely_marker(&(lock, mark.clone()), Moment(by));
            assert_eq!(likely, expected.map(|call| (client, call)), "{told:?} at {by}");
        }
    }
}
