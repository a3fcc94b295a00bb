//! Input from connections: answers to questions, and the messages of the hello channel.

use crate::election::Verdict;
use crate::reply::Reply;
use crate::sentinel::{Place, Sentinel};
use crate::time::WallMillis;
use crate::wires::{Awaited, Purpose, WireId};

impl Sentinel {
    /// Takes one reply. True if it puts off what is due, but for what it makes urgent or has to be saved.
    pub(crate) fn receive(&mut self, id: WireId, reply: &Reply<'_>, now: WallMillis) -> bool {
        let Some((owner, purpose)) = self.wires.owner(id) else { return true };
        let Some(place) = self.place_of(owner) else { return true };
        if purpose == Purpose::Hello {
            self.hear(place, reply, now);
            return true;
        }
        let awaited = self.wires.take_awaited(id);
        let has_put_off = match awaited {
            Awaited::Pong => true,
            Awaited::Published => !matches!(reply, Reply::Error(_)),
            Awaited::Info | Awaited::Verdict | Awaited::Nothing => false,
        };
        match (awaited, reply) {
            (Awaited::Pong, reply) => self.note_pong(place, reply, now),
            (Awaited::Info, Reply::Bulk(text)) => self.note_info(place, &String::from_utf8_lossy(text), now),
            // An instance that is loading has no INFO yet, and is asked again.
            (Awaited::Info, _) => self.instance_mut(place).link.awaits_info = false,
            (Awaited::Published, reply) => {
                let instance = self.instance_mut(place);
                instance.link.awaits_publish = false;
                if !matches!(reply, Reply::Error(_)) {
                    instance.published_at = now;
                }
            }
            (Awaited::Verdict, Reply::Array(words)) => self.note_verdict_words(place, words, now),
            (Awaited::Verdict | Awaited::Nothing, _) => {}
        }
        has_put_off
    }

    fn hear(&mut self, place: Place, reply: &Reply<'_>, now: WallMillis) {
        self.instance_mut(place).link.heard_at = now;
        let Reply::Array(words) = reply else { return };
        let [Reply::Bulk(b"message"), Reply::Bulk(_), Reply::Bulk(text)] = words[..] else { return };
        self.note_hello(&String::from_utf8_lossy(text), now);
    }

    fn note_pong(&mut self, place: Place, reply: &Reply<'_>, now: WallMillis) {
        let (Reply::Status(text) | Reply::Error(text)) = reply else { return };
        let works = [b"PONG".as_slice(), b"LOADING", b"MASTERDOWN"].iter().any(|word| text.starts_with(word));
        let instance = self.instance_mut(place);
        let was_down = instance.is_down();
        let link = &mut instance.link;
        link.answered_at = now;
        if works {
            (link.available_at, link.unanswered_since) = (now, None);
        }
        self.is_urgent |= works && was_down;
    }

    fn note_verdict_words(&mut self, place: Place, words: &[Reply<'_>], now: WallMillis) {
        let ([Reply::Integer(is_down), Reply::Bulk(leader), Reply::Integer(epoch)], Place::Peer(index)) =
            (words, place)
        else {
            return;
        };
        let vote = (*leader != b"*").then(|| {
            (String::from_utf8_lossy(leader).into_owned(), u64::try_from(*epoch).unwrap_or_default())
        });
        self.note_verdict(index, Verdict { is_down: *is_down == 1, vote }, now);
    }
}
