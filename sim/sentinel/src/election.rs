//! Agreement among Sentinels: is the master down for a quorum, and who may fail it over.
//!
//! Finding the master down takes a quorum, to lead takes the votes of a majority of all known Sentinels, and of the
//! quorum if that is more. Each Sentinel votes once in an epoch, for whoever asks first.

use std::collections::BTreeMap;

use crate::instance::FailoverState;
use crate::sentinel::{Place, Sentinel};
use crate::time::{ASK_PERIOD_MS, DESYNC_MS, WallMillis};
use crate::wires::Awaited;

/// The answer to a Sentinel that asks.
pub(crate) struct Verdict {
    /// This Sentinel finds the master down.
    pub(crate) is_down: bool,
    /// Whom it voted for last, and in which epoch.
    pub(crate) vote: Option<(String, u64)>,
}

impl Sentinel {
    /// Notes if enough Sentinels find the master down, this one among them.
    pub(crate) fn check_objectively_down(&mut self, now: WallMillis) {
        let votes = 1 + self.peers.iter().filter(|peer| peer.says_down).count();
        let is_odown = self.master.instance.is_down() && votes >= self.config.quorum as usize;
        match (is_odown, self.master.odown_since) {
            (true, None) => {
                self.master.odown_since = Some(now);
                let text = format!("{} #quorum {votes}/{}", self.describe(Place::Master), self.config.quorum);
                self.tell("+odown", text);
            }
            (false, Some(_)) => {
                self.master.odown_since = None;
                self.tell_of("-odown", Place::Master);
            }
            _ => {}
        }
    }

    /// Asks the others if they find the master down as well, and for their vote once a failover was begun.
    pub(crate) fn ask_others(&mut self, is_forced: bool, now: WallMillis) {
        let asks_vote = self.master.failover.is_in_progress();
        let candidate = if asks_vote { self.run_id.clone() } else { "*".to_owned() };
        let (address, epoch) = (self.master.instance.address.clone(), self.current_epoch.to_string());
        for index in 0..self.peers.len() {
            let peer = &mut self.peers[index];
            if now.since(peer.answered_at) > ASK_PERIOD_MS * 5 {
                (peer.says_down, peer.vote) = (false, None);
            }
            let link = &mut peer.instance.link;
            let is_due = is_forced || !link.awaits_verdict && now.since(peer.answered_at) >= ASK_PERIOD_MS;
            if !self.master.instance.is_down() || !link.is_connected || !is_due {
                continue;
            }
            link.awaits_verdict = true;
            let port = address.port.to_string();
            let words = ["SENTINEL", "is-master-down-by-addr", &address.host, &port, &epoch, &candidate];
            self.send(Place::Peer(index), &words, Awaited::Verdict);
        }
    }

    /// The time at which the others are to be asked next, or their last answers are too old to count.
    pub(crate) fn ask_due(&self) -> WallMillis {
        let due = self.peers.iter().map(|peer| {
            let is_stale = peer.says_down || peer.vote.is_some();
            let stale = if is_stale { peer.answered_at.past(ASK_PERIOD_MS * 5) } else { WallMillis::NEVER };
            let link = &peer.instance.link;
            let may_ask = self.master.instance.is_down() && link.is_connected && !link.awaits_verdict;
            stale.min(if may_ask { peer.answered_at.plus(ASK_PERIOD_MS) } else { WallMillis::NEVER })
        });
        due.min().unwrap_or(WallMillis::NEVER)
    }

    /// Another Sentinel has answered.
    pub(crate) fn note_verdict(&mut self, index: usize, verdict: Verdict, now: WallMillis) {
        let peer = &mut self.peers[index];
        peer.answered_at = now;
        peer.instance.link.awaits_verdict = false;
        self.is_urgent |= peer.says_down != verdict.is_down;
        peer.says_down = verdict.is_down;
        if let Some((leader, epoch)) = verdict.vote {
            self.is_urgent |= peer.vote.as_ref() != Some(&leader) || peer.vote_epoch != epoch;
            (peer.vote, peer.vote_epoch) = (Some(leader), epoch);
        }
    }

    /// Answers another Sentinel that asks about the node at this address, and for a vote if there is a `candidate`.
    pub(crate) fn judge(
        &mut self,
        (host, port): (&str, u16),
        epoch: u64,
        candidate: Option<&str>,
        now: WallMillis,
    ) -> Verdict {
        let is_master = self.master.instance.address.is(host, port);
        let is_down = is_master && self.tilt_since.is_none() && self.master.instance.is_down();
        let candidate = candidate.filter(|_| is_master);
        let vote = candidate.and_then(|candidate| self.vote_for(candidate, epoch, now));
        Verdict { is_down, vote }
    }

    /// Votes, if it has not voted in this epoch or a later one; tells its last vote.
    fn vote_for(&mut self, candidate: &str, epoch: u64, now: WallMillis) -> Option<(String, u64)> {
        self.adopt_epoch(epoch);
        if self.master.leader_epoch < epoch && self.current_epoch <= epoch {
            (self.master.leader, self.master.leader_epoch) = (Some(candidate.to_owned()), self.current_epoch);
            (self.is_unsaved, self.is_urgent) = (true, true);
            self.tell("+vote-for-leader", format!("{candidate} {}", self.current_epoch));
            if candidate != self.run_id {
                // Whoever was voted for has the time of two failovers before this one tries itself.
                let delay = self.draw_below(DESYNC_MS);
                self.master.failover.started_at = Some(now.plus(delay));
            }
        }
        let leader = self.master.leader.clone()?;
        Some((leader, self.master.leader_epoch))
    }

    /// Goes to a later epoch.
    pub(crate) fn adopt_epoch(&mut self, epoch: u64) {
        if epoch > self.current_epoch {
            self.current_epoch = epoch;
            self.is_unsaved = true;
            self.tell("+new-epoch", epoch.to_string());
        }
    }

    /// True if this Sentinel has the votes to lead the failover of `epoch`, its own among them.
    pub(crate) fn is_elected(&mut self, epoch: u64, now: WallMillis) -> bool {
        let mut votes: BTreeMap<String, usize> = BTreeMap::new();
        for peer in self.peers.iter().filter(|peer| peer.vote_epoch == self.current_epoch) {
            let Some(leader) = &peer.vote else { continue };
            *votes.entry(leader.clone()).or_default() += 1;
        }
        let most = |votes: &BTreeMap<String, usize>| {
            votes.iter().max_by_key(|(_, count)| **count).map(|(leader, count)| (leader.clone(), *count))
        };
        let favourite = most(&votes).map_or_else(|| self.run_id.clone(), |(leader, _)| leader);
        if let Some((leader, _)) = self.vote_for(&favourite, epoch, now).filter(|(_, voted)| *voted == epoch)
        {
            *votes.entry(leader).or_default() += 1;
        }
        let voters = self.peers.len() + 1;
        let majority = voters / 2 + 1;
        let needed = majority.max(self.config.quorum as usize);
        most(&votes).is_some_and(|(leader, count)| leader == self.run_id && count >= needed)
    }

    /// The next time at which the acting half of a tick has something to do.
    pub(crate) fn acting_due(&self) -> WallMillis {
        let failover = match self.master.failover.state {
            FailoverState::None if self.master.odown_since.is_some() => self.next_try(),
            FailoverState::None => WallMillis::NEVER,
            _ => self.failover_due(),
        };
        failover.min(self.ask_due())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Address, SentinelConfig};
    use crate::file::Saved;

    /// A Sentinel that has found its master down, and knows one other.
    fn sentinel(now: WallMillis) -> Sentinel {
        let config = SentinelConfig::new(Address::new("S1", 26379), Address::new("A", 6379));
        let mut sentinel = Sentinel::new(config, Saved::default(), now, Box::new(|| 0));
        sentinel.add_peer(Address::new("S2", 26379), "b".repeat(40), now);
        sentinel.add_replica(Address::new("B", 6379), now);
        sentinel.reconnect(Place::Peer(0), now);
        sentinel.master.instance.down_since = Some(now);
        sentinel
    }

    #[test]
    fn only_the_master_is_said_to_be_down() {
        let now = WallMillis(10_000);
        let mut sentinel = sentinel(now);
        let candidate = "b".repeat(40);
        let other = sentinel.judge(("B", 6379), 1, Some(&candidate), now);
        assert_eq!((other.is_down, other.vote), (false, None));
        let master = sentinel.judge(("A", 6379), 1, Some(&candidate), now);
        assert_eq!((master.is_down, master.vote), (true, Some((candidate, 1))));
    }

    #[test]
    fn another_sentinel_is_asked_once_a_second_and_at_once_for_a_vote() {
        let at = |milliseconds: i64| WallMillis(10_000 + milliseconds);
        let mut sentinel = sentinel(at(0));
        let mut asks = |is_forced, now| {
            sentinel.ask_others(is_forced, now);
            let asked = sentinel.peers[0].instance.link.awaits_verdict;
            if asked {
                sentinel.note_verdict(0, Verdict { is_down: false, vote: None }, now);
            }
            asked
        };
        assert_eq!(
            [asks(false, at(1_000)), asks(false, at(1_500)), asks(false, at(2_000))],
            [true, false, true]
        );
        assert!(asks(true, at(2_001)));
    }
}
