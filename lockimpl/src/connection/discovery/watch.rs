//! News of the master beside a driver's connections: by subscribing to Sentinels, or by asking again and again.
//!
//! Whoever is heard last is believed, also a Sentinel that does not know of a failover yet: no driver looks at epochs
//! or asks for a majority. What was heard counts for the connections made after it; those that stand are ended as the
//! driver does.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use super::laws::{Law, Question};
use super::link_to;
use crate::connection::link::Link;
use crate::connection::subscription::Subscription;
use crate::connection::tries::sleep;
use crate::connection::wire::deadline_after;
use crate::env::{Env, NodeName, Push, Task};

/// The channel on which a Sentinel tells of a new master.
const SWITCH: &str = "+switch-master";
/// The pause of Jedis' listeners after an error.
const JEDIS_PAUSE: Duration = Duration::from_secs(5);
/// The pause between two tries of go-redis to subscribe again.
const GO_REDIS_PAUSE: Duration = Duration::from_millis(100);
/// `scanInterval` of Redisson.
const SCAN_INTERVAL: Duration = Duration::from_secs(1);
/// Redisson makes the new master's connections one after the other before it uses any: 24, and one to listen.
const REDISSON_CONNECTIONS: u32 = 25;

/// The master as it was heard of last. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct Heard(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    master: Option<NodeName>,
    /// The number of times it became another.
    changes: u64,
    waiting: Vec<Waker>,
}

impl Heard {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn master(&self) -> Option<NodeName> {
        self.lock().master.clone()
    }

    /// A number that grows when the master becomes another.
    pub(super) fn changes(&self) -> u64 {
        self.lock().changes
    }

    /// Somebody names the master.
    pub(super) fn tell(&self, master: NodeName) {
        let mut state = self.lock();
        if state.master.as_ref() == Some(&master) {
            return;
        }
        state.changes += u64::from(state.master.is_some());
        state.master = Some(master);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Waits until the master has become another since `changes` was read.
    pub(super) async fn changed(&self, changes: u64) {
        poll_fn(|cx| {
            let mut state = self.lock();
            if state.changes != changes {
                return Poll::Ready(());
            }
            state.waiting.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// The tasks that listen or ask. They end with the last who holds them.
pub(super) struct Watch(Vec<Task>);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.iter().for_each(Task::abort);
    }
}

impl Watch {
    /// Listens to each Sentinel, as Jedis does.
    pub(super) fn listen_to_all<E: Env>(
        env: &E,
        law: Law,
        asked: &[NodeName],
        at: (&NodeName, &Heard),
    ) -> Watch {
        let (name, heard) = at;
        let listen = |sentinel: &NodeName| {
            let (env, sentinel) = (env.clone(), sentinel.clone());
            let (name, heard) = (name.clone(), heard.clone());
            let spawned = env.clone();
            spawned.spawn(async move {
                loop {
                    let mut link = link_to(&env, &law, &sentinel);
                    let answer = link.call(&env, &law.question.command(&name)).await;
                    let named = answer.ok().and_then(|reply| law.question.answer(&reply, &name));
                    if let Some(master) = named {
                        heard.tell(master);
                        listen(&env, &sentinel, &name, &heard).await;
                    }
                    sleep(&env, JEDIS_PAUSE).await;
                }
            })
        };
        Watch(asked.iter().map(listen).collect())
    }

    /// Listens to the one Sentinel that a driver keeps, as go-redis does: what is missed meanwhile stays missed.
    pub(super) fn listen_to_one<E: Env>(
        env: &E,
        sentinel: &NodeName,
        name: &NodeName,
        heard: &Heard,
    ) -> Watch {
        let (own, sentinel, name, heard) = (env.clone(), sentinel.clone(), name.clone(), heard.clone());
        Watch(vec![env.spawn(async move {
            loop {
                listen(&own, &sentinel, &name, &heard).await;
                sleep(&own, GO_REDIS_PAUSE).await;
            }
        })])
    }

    /// Listens to each Sentinel as long as that takes it, as ioredis' detector does for each connection to a master.
    pub(super) fn listen_once<'a, E: Env>(
        env: &E,
        sentinels: impl Iterator<Item = &'a NodeName>,
        (name, heard): (&NodeName, &Heard),
    ) -> Watch {
        let listen = |sentinel: &NodeName| {
            let (own, sentinel, name, heard) = (env.clone(), sentinel.clone(), name.clone(), heard.clone());
            env.spawn(async move { listen(&own, &sentinel, &name, &heard).await })
        };
        Watch(sentinels.map(listen).collect())
    }

    /// Asks one Sentinel after the other, as Redisson does: in another order each time, a second after the last answer.
    pub(super) fn ask_for_ever<E: Env>(
        env: &E,
        law: Law,
        asked: &[NodeName],
        at: (&NodeName, &Heard),
    ) -> Watch {
        let (own, asked) = (env.clone(), asked.to_vec());
        let (name, heard) = (at.0.clone(), at.1.clone());
        Watch(vec![env.spawn(async move {
            let mut links: Vec<Link<E>> = asked.iter().map(|node| link_to(&own, &law, node)).collect();
            loop {
                sleep(&own, SCAN_INTERVAL).await;
                scan(&own, &mut links, (&name, &heard)).await;
            }
        })])
    }
}

/// Asks the Sentinels in a random order, until one answers. A new master is used once all connections to it stand.
async fn scan<E: Env>(env: &E, links: &mut [Link<E>], (name, heard): (&NodeName, &Heard)) {
    for index in shuffled(env, links.len()) {
        let answer = links[index].call(env, &Question::Address.command(name)).await;
        let Some(master) = answer.ok().and_then(|reply| Question::Address.answer(&reply, name)) else {
            continue;
        };
        if heard.master().as_ref() == Some(&master) {
            return;
        }
        for _ in 0..REDISSON_CONNECTIONS {
            let limit = env.monotonic().await.saturating_add(Duration::from_secs(10));
            let connected = env.race(env.connect(&master), limit).await;
            if !connected.is_ok_and(|connected| connected.is_ok()) {
                return;
            }
        }
        return heard.tell(master);
    }
}

/// The numbers below `count` in a random order.
fn shuffled<E: Env>(env: &E, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for place in (1..count).rev() {
        let mut bytes = [0; 8];
        env.random(&mut bytes);
        order.swap(place, u64::from_le_bytes(bytes) as usize % (place + 1));
    }
    order
}

/// Subscribes to a Sentinel, and notes each new master until the connection ends.
async fn listen<E: Env>(env: &E, sentinel: &NodeName, name: &NodeName, heard: &Heard) {
    let deadline = deadline_after(env, Some(Duration::from_secs(2))).await;
    let Ok(mut subscription) = Subscription::open(env, sentinel, deadline).await else { return };
    if subscription.subscribe(env, SWITCH, deadline).await.is_err() {
        return;
    }
    loop {
        match subscription.next(env, None).await {
            Ok(Push::Message { payload, .. }) => {
                let message = String::from_utf8_lossy(&payload);
                let words: Vec<&str> = message.split(' ').collect();
                if let [of, _, _, host, _] = words[..]
                    && of == name.as_str()
                {
                    heard.tell(NodeName::new(host));
                }
            }
            Ok(Push::Ended) | Err(_) => return,
            Ok(_) => {}
        }
    }
}
