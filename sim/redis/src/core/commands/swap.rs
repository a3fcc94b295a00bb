//! SWAPDB: two databases that change their places, with all keys and lifetimes. Who watches keys stays where it is.

use crate::core::context::{Context, LOOK_BYTES};
use crate::core::observer::Stored;
use crate::core::{Core, DATABASES, KeyChange, Next, Origin};
use crate::resp::{Args, integer, reply};

/// SWAPDB index index.
pub(crate) fn swapdb(ctx: &mut Context<'_>, args: &Args<'_>, out: &mut Vec<u8>) -> Next {
    let places = [(args.at(1), "first"), (args.at(2), "second")];
    let places = places.map(|(number, word)| place(number).ok_or(word));
    let (first, second) = match places {
        [Ok(first), Ok(second)] => (first, second),
        [Err(word), _] | [_, Err(word)] => {
            reply::error(out, format!("ERR invalid {word} DB index").as_bytes());
            return Next::Reply;
        }
    };
    let (Some(first), Some(second)) = (first, second) else {
        reply::error(out, b"ERR DB index is out of range");
        return Next::Reply;
    };
    if first != second {
        let now_ms = ctx.now_ms();
        ctx.core.swap_databases([first, second], ctx.session.origin, now_ms);
    }
    ctx.propagate(args);
    reply::ok(out);
    Next::Reply
}

/// `None`: no number that C's `int` holds. `Some(None)`: there is no such database.
fn place(number: &[u8]) -> Option<Option<usize>> {
    let number = i32::try_from(integer::parse(number)?).ok()?;
    Some(usize::try_from(number).ok().filter(|&index| index < DATABASES))
}

impl Core {
    fn swap_databases(&mut self, places: [usize; 2], origin: Origin, now_ms: i64) {
        places.iter().for_each(|&place| self.open_database(place));
        let [first, second] = places;
        self.spoil_all([first, second], now_ms);
        self.spoil_all([second, first], now_ms);
        let (low, high) = (first.min(second), first.max(second));
        let (before, from_high) = self.databases.split_at_mut(high);
        before[low].swap(&mut from_high[0]);
        self.tell_swapped(first, second, origin);
        self.tell_swapped(second, first, origin);
    }

    /// Makes the transactions fail of who watches a key that is in the database or comes into it.
    fn spoil_all(&mut self, [place, other]: [usize; 2], now_ms: i64) {
        let coming = &self.databases[other];
        let is_expired = |key: &[u8]| coming.get(key).map(|entry| entry.is_expired(now_ms));
        let leaving = &self.databases[place];
        let concerned = leaving.watches.keys().map(|key| {
            let was_there = leaving.get(key).is_some();
            (key.clone(), was_there, is_expired(key))
        });
        let concerned: Vec<(Vec<u8>, bool, Option<bool>)> = concerned.collect();
        self.work = self.work.saturating_add(concerned.len() as u64 * LOOK_BYTES);
        for (key, was_there, comes_expired) in concerned {
            if !was_there && comes_expired.is_none() {
                continue;
            }
            let Some(watches) = self.databases[place].watches.get_mut(&key) else { continue };
            for watch in watches {
                match comes_expired {
                    // It was as good as gone, and now it is.
                    None if watch.was_expired => watch.was_expired = false,
                    Some(true) if watch.was_expired => {}
                    Some(true) if !was_there => watch.was_expired = true,
                    _ => {
                        self.dirty_sessions.insert(watch.session);
                    }
                }
            }
        }
    }

    /// Tells the observer what is in a database now, and what was there before and is in the other one.
    fn tell_swapped(&self, place: usize, other: usize, origin: Origin) {
        let Some(observer) = &self.config.observer else { return };
        let (now, before) = (&self.databases[place], &self.databases[other]);
        let gone = before.iter().filter(|(key, _)| now.get(key).is_none()).map(|(key, _)| key);
        for key in now.iter().map(|(key, _)| key).chain(gone) {
            let stored = |entry| Stored::from(entry);
            let (before, after) = (before.get(key).map(stored), now.get(key).map(stored));
            observer.changed(origin, &KeyChange { database: place, key, before, after, command: "SWAPDB" });
        }
    }
}
