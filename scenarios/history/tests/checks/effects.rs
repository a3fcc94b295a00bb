//! P3 and WR against filters over the whole history.

use doublehold_history::{CallId, EventKind, Evidence, History, stale_effect, wrong_release};
use proptest::prelude::*;

use crate::random::{GRANTS, cases, client_of, granted, histories, lock_of};

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn stale_writes_are_exactly_those_with_a_later_grant_before_them(history in histories(60)) {
        let found: Vec<_> = stale_effect(&history).evidence().iter().map(|evidence| match evidence {
            Evidence::StaleWrite(it) => {
                assert_eq!((it.client, it.lock), (client_of(it.grant), lock_of(it.grant)));
                assert_eq!(it.later_client, client_of(it.later_grant));
                assert_eq!(granted(history.events(), it.grant).map(|it| it.1), Some(it.granted_at));
                assert_eq!(granted(history.events(), it.later_grant).map(|it| it.1), Some(it.later_granted_at));
                (it.at.0, it.object.0, it.version, it.grant, it.later_grant)
            }
            other => panic!("not a stale write: {other:?}"),
        }).collect();
        prop_assert_eq!(found, naive_stale(&history));
    }

    #[test]
    fn wrong_releases_are_exactly_the_touches_of_another_grants_key(history in histories(60)) {
        let found: Vec<_> = wrong_release(&history).evidence().iter().map(|evidence| match evidence {
            Evidence::WrongKey(it) => {
                assert_eq!(it.held_client, Some(client_of(it.held)));
                assert_eq!(it.by_granted, granted(history.events(), it.by).is_some());
                (it.at.0, it.by, it.held, it.op)
            }
            other => panic!("not a wrong key: {other:?}"),
        }).collect();
        let naive: Vec<_> = history.events().iter().filter_map(|event| match event.what {
            EventKind::KeyTouched { by, held, op, .. } if by != held => Some((event.at.0, by, held, op)),
            _ => None,
        }).collect();
        let unclear = history.events().iter().any(|event| matches!(event.what, EventKind::Unattributed { .. }));
        let touched = history.events().iter().any(|event| matches!(event.what, EventKind::KeyTouched { .. }));
        let watched = touched || history.header().keys_watched;
        let verdict = match (naive.is_empty(), watched && !unclear) {
            (false, _) => "violated",
            (true, false) => "inconclusive",
            (true, true) => "holds",
        };
        prop_assert_eq!(wrong_release(&history).as_str(), verdict);
        prop_assert_eq!(found, naive);
    }
}

/// For each write, every other grant is asked whether it came between the write's grant and the write.
fn naive_stale(history: &History) -> Vec<(u64, u32, u64, CallId, CallId)> {
    let events = history.events();
    let mut stale = Vec::new();
    for (place, event) in events.iter().enumerate() {
        let EventKind::WriteApplied { grant, object, version, .. } = event.what else { continue };
        let Some((start, _)) = granted(events, grant) else { continue };
        let others = (0..GRANTS).map(CallId).filter(|&other| lock_of(other) == lock_of(grant));
        let between = others.filter_map(|other| {
            let (given, _) = granted(events, other)?;
            (start < given && given < place).then_some((given, other))
        });
        if let Some((_, later)) = between.min() {
            stale.push((event.at.0, object.0, version, grant, later));
        }
    }
    stale
}
