//! The locks that a client lost to another while it believed in them, and when its own code heard of that.
//!
//! Nothing here judges. A loss that its client hears of in time ends a claim, and is no violation; one that it hears of
//! late, or never, is one that only the resource can do something about.

use crate::claims::{Claim, claims};
use crate::event::{CallId, ClientId, Event, EventKind, LockId, ReleaseOutcome, TrueNs, instant};
use crate::history::{Header, History};

/// A grant whose lock another client was granted while it was not given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostLock {
    /// The client that lost the lock.
    pub client: ClientId,
    /// By which grant it had it.
    pub grant: CallId,
    /// The lock.
    pub lock: LockId,
    /// The client that was granted it next.
    pub next_client: ClientId,
    /// The time of that grant.
    pub next_at: TrueNs,
    /// The news of the loss, each word once, in order. The first may come before the next grant. Empty: the client
    /// never heard of it.
    pub heard: Vec<Heard>,
}

/// News of a loss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The time at which the client's code had it.
    pub at: TrueNs,
    /// The word for it: the library's own, or what the client's code did.
    pub word: String,
}

impl LostLock {
    /// Returns the time from the next grant until this news, in nanoseconds: negative if it came in time.
    pub fn after_next_ns(&self, heard: &Heard) -> i64 {
        let signed = |at: TrueNs| i64::try_from(at.0).unwrap_or(i64::MAX);
        signed(heard.at) - signed(self.next_at)
    }

    /// Says the loss as a sentence.
    pub fn sentence(&self, header: &Header) -> String {
        let (client, next) = (header.client(self.client), header.client(self.next_client));
        let lock = header.lock(self.lock);
        let news: Vec<String> = self.heard.iter().map(|heard| self.news(heard)).collect();
        let heard = if news.is_empty() {
            "it never heard of that".to_owned()
        } else {
            format!("it heard of that by {}", doublehold_text::list(&news))
        };
        format!("{client} lost \"{lock}\" to {next} at {}; {heard}", instant(self.next_at))
    }

    fn news(&self, heard: &Heard) -> String {
        let after = self.after_next_ns(heard);
        let side = if after < 0 { "before" } else { "after" };
        format!("{} {} {side}", heard.word, doublehold_text::duration(after.unsigned_abs()))
    }
}

/// Finds every loss of a history, in the order in which the next grants came.
///
/// A client hears of a loss when its library says so (unless it takes that back before the next grant), when its own
/// code finds its lease over, and when a release is answered that there was nothing to release.
pub fn losses(history: &History) -> Vec<LostLock> {
    losses_among(history, &claims(history))
}

/// The same, of claims that are known.
pub(crate) fn losses_among(history: &History, claims: &[Claim]) -> Vec<LostLock> {
    let later = claims.iter().enumerate().map(|(place, claim)| (claim, &claims[place + 1..]));
    let mut losses: Vec<LostLock> =
        later.filter_map(|(claim, later)| find_loss(history, claim, later)).collect();
    losses.sort_by_key(|loss| (loss.next_at, loss.grant));
    losses
}

/// Finds the loss of a claim, if one of those that began later took its lock.
fn find_loss(history: &History, claim: &Claim, later: &[Claim]) -> Option<LostLock> {
    let begun = history.events().partition_point(|event| event.at < claim.span.from);
    let since = &history.events()[begun..];
    // A claim that was given up in time was lost all the same: until it is given back, whoever comes next has taken it.
    let ends_belief = |event: &&Event| match event.what {
        EventKind::ReleaseCalled { grant, .. } | EventKind::Abandoned { grant, .. } => grant == claim.grant,
        EventKind::Died { client } => client == claim.client,
        _ => false,
    };
    let until = since.iter().find(ends_belief).map_or(TrueNs(u64::MAX), |event| event.at);
    let next = later
        .iter()
        .take_while(|next| next.span.from < until)
        .find(|next| next.lock == claim.lock && next.client != claim.client)?;
    let own = since.iter().filter(|event| event.what.call() == Some(claim.grant));
    let heard = news(own, next.span.from);
    let (client, grant, lock) = (claim.client, claim.grant, claim.lock);
    Some(LostLock { client, grant, lock, next_client: next.client, next_at: next.span.from, heard })
}

/// Returns the news of a loss that its client had, by the events of its grant.
fn news<'a>(events: impl Iterator<Item = &'a Event>, next_at: TrueNs) -> Vec<Heard> {
    let mut heard: Vec<Heard> = Vec::new();
    for event in events {
        let word = match &event.what {
            EventKind::LossNotice { recovered: true, .. } => {
                if event.at < next_at {
                    heard.clear();
                }
                continue;
            }
            EventKind::LossNotice { notice, .. } => notice.as_str(),
            EventKind::ExpiryNoticed { .. } => "its own check",
            EventKind::ReleaseReturned { outcome: ReleaseOutcome::NotOwner, .. } => "its release",
            _ => continue,
        };
        if heard.iter().all(|known| known.word != word) {
            heard.push(Heard { at: event.at, word: word.to_owned() });
        }
    }
    heard
}

#[cfg(test)]
mod tests {
    use super::*;

    const C1: ClientId = ClientId(0);
    const C2: ClientId = ClientId(1);

    fn granted(client: ClientId, grant: u64) -> EventKind {
        EventKind::Granted {
            client,
            grant: CallId(grant),
            lock: LockId(0),
            token: grant.to_string(),
            fencing: None,
            deadline: None,
            reading: None,
            within: None,
        }
    }

    fn notice(word: &str, recovered: bool) -> EventKind {
        EventKind::LossNotice { client: C1, grant: CallId(1), notice: word.to_owned(), recovered }
    }

    fn history(events: Vec<(u64, EventKind)>) -> History {
        let mut history = History::new(Header::new("losses", 1, &["c1", "c2"], &["stock"]));
        events.into_iter().for_each(|(at, what)| history.push(TrueNs(at), what));
        history
    }

    /// Of each loss, when its client heard of it first.
    fn heard(events: Vec<(u64, EventKind)>) -> Vec<Option<i64>> {
        let losses = losses(&history(events));
        losses.iter().map(|loss| loss.heard.first().map(|heard| loss.after_next_ns(heard))).collect()
    }

    #[test]
    fn a_loss_is_heard_of_when_the_library_says_so_not_when_the_release_returns() {
        let released =
            EventKind::ReleaseReturned { client: C1, grant: CallId(1), outcome: ReleaseOutcome::NotOwner };
        let called = EventKind::ReleaseCalled { client: C1, grant: CallId(1) };
        let all = vec![
            (1, granted(C1, 1)),
            (10, granted(C2, 2)),
            (15, notice("LOST", false)),
            (20, called),
            (21, released),
        ];
        assert_eq!(heard(all.clone()), [Some(5)]);
        let without: Vec<_> = all.into_iter().filter(|(at, _)| *at != 15).collect();
        assert_eq!(heard(without), [Some(11)], "its release says it");
    }

    #[test]
    fn news_that_was_taken_back_before_the_next_grant_is_none() {
        let suspended = |taken_back: bool| {
            let mut all = vec![(1, granted(C1, 1)), (4, notice("SUSPENDED", false))];
            all.extend(taken_back.then(|| (5, notice("CONNECTED", true))));
            all.push((10, granted(C2, 2)));
            heard(all)
        };
        assert_eq!(suspended(false), [Some(-6)]);
        assert_eq!(suspended(true), [None]);
    }

    #[test]
    fn a_lock_that_was_given_back_before_is_not_lost() {
        let called = EventKind::ReleaseCalled { client: C1, grant: CallId(1) };
        assert_eq!(heard(vec![(1, granted(C1, 1)), (9, called), (10, granted(C2, 2))]), []);
        assert_eq!(
            heard(vec![(1, granted(C1, 1)), (9, EventKind::Died { client: C1 }), (10, granted(C2, 2))]),
            []
        );
    }

    #[test]
    fn a_loss_reads_as_a_sentence() {
        let history = history(vec![
            (1, granted(C1, 1)),
            (2_000_000_000, granted(C2, 2)),
            (3_500_000_000, notice("LOST", false)),
        ]);
        let sentence = losses(&history)[0].sentence(history.header());
        assert_eq!(sentence, "c1 lost \"stock\" to c2 at 2.000 s; it heard of that by LOST 1.5 s after");
    }
}
