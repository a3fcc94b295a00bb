//! Sentences about announcements of Sentinels, held against those announcements.

use doublehold_history::TrueNs;
use regex_lite::Captures;

use crate::sentences::seen::Seen;

/// True if a Sentinel announced such a thing at that instant, with these words at these places.
fn announced(seen: &Seen<'_>, at: TrueNs, by: &str, kind: &str, words: &[(usize, &str)]) -> Option<bool> {
    let by = seen.host(by)?;
    let says = |text: &str| {
        let said: Vec<&str> = text.split(' ').collect();
        words.iter().all(|(place, word)| said.get(*place) == Some(word))
    };
    let mut all = seen.report.announcements.iter();
    Some(all.any(|it| it.by == by && it.at == at && it.kind == kind && says(&it.text)))
}

pub(crate) fn found_down(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    announced(seen, at, &it["by"], "+odown", &[(2, &it["node"])])
}

pub(crate) fn promoted(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    announced(seen, at, &it["by"], "+promoted-slave", &[(2, &it["node"])])
}

pub(crate) fn switched(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    announced(seen, at, &it["by"], "+switch-master", &[(1, &it["from"]), (3, &it["to"])])
}

pub(crate) fn converted(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    announced(seen, at, &it["by"], "+convert-to-slave", &[(2, &it["node"]), (6, &it["master"])])
}

pub(crate) fn found_no_replica(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    announced(seen, at, &it["by"], "-failover-abort-no-good-slave", &[(2, &it["node"])])
}

pub(crate) fn distrusted_clock(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    announced(seen, at, &it["by"], "+tilt", &[])
}
