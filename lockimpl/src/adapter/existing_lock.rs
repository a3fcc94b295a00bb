//! The calls of one client to code that exists already.
//!
//! Assumes that guards of different resources have nothing to do with each other. Does not model a grant within a grant
//! of the same resource: whatever is taken again drops what was held of it.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::watched::{self, Shared, Watched};
use super::{CallError, Client, Guard, Wanted};
use crate::env::{Deadline, RedisRs};
use crate::lock::{Acquired, Doubt, Extended, Grant, Lock, Refusal, Released, Token};

/// One client's locks.
pub(super) struct ExistingLock<E, F, G> {
    name: &'static str,
    client: Client<E>,
    key: fn(&str) -> String,
    acquire: F,
    /// What it has of each resource.
    held: BTreeMap<String, Held<G>>,
}

/// A guard, and what is watched of it.
struct Held<G> {
    guard: Shared<G>,
    watched: Option<Arc<Watched<G>>>,
}

impl<E, F, G> ExistingLock<E, F, G> {
    pub(super) fn new(name: &'static str, client: Client<E>, key: fn(&str) -> String, acquire: F) -> Self {
        Self { name, client, key, acquire, held: BTreeMap::new() }
    }
}

impl<E, F, Taken, G, Error> Lock for ExistingLock<E, F, G>
where
    E: RedisRs,
    F: Fn(Client<E>, Wanted) -> Taken + Send + Sync,
    Taken: Future<Output = Result<Option<G>, Error>> + Send,
    G: Guard<Error>,
    Error: CallError,
{
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let wanted = Wanted { resource: resource.to_owned(), ttl };
        // Whatever of an earlier grant was not released is dropped, as the code's caller would drop it.
        if let Some(dropped) = self.held.remove(resource) {
            dropped.end();
        }
        self.client.env.names_key(resource, (self.key)(resource).as_bytes());
        match (self.acquire)(self.client.clone(), wanted).await {
            Ok(Some(guard)) => {
                let token = guard.token();
                self.client.env.marks(&token);
                let (fencing, session, deadline) = (guard.fencing(), guard.session(), self.deadline(&guard));
                let tells = guard.lost().is_some();
                let guard = Shared::new(guard);
                let watched = tells.then(|| watched::watch(&self.client, guard.clone(), deadline));
                let watch = watched.as_ref().map(|watched| watched.watch.clone());
                self.held.insert(resource.to_owned(), Held { guard, watched });
                Acquired::Granted(Grant {
                    fencing,
                    deadline,
                    session,
                    watch,
                    ..Grant::new(resource, Token::new(token))
                })
            }
            Ok(None) => Acquired::Refused(Refusal::Taken),
            Err(error) => match error.reply() {
                Some(reply) => Acquired::Refused(Refusal::ErrorReply(reply)),
                None => Acquired::Unknown(self.doubt_after_error(&error)),
            },
        }
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        let Some(held) = self.held.get(&grant.resource) else { return Extended::NotOwner };
        // Nobody looks at it meanwhile.
        let Some(mut guard) = held.guard.take() else { return Extended::NotOwner };
        let extended = guard.extend(ttl).await;
        // It may hold another token by now.
        self.client.env.marks(&guard.token());
        let deadline = self.deadline(&guard);
        held.guard.put_back(guard);
        if let Some(watched) = &held.watched {
            watched.look_after(matches!(extended, Some(Ok(true))), deadline);
        }
        match extended {
            None => Extended::Unsupported,
            Some(Ok(true)) => {
                grant.deadline = deadline;
                Extended::Extended { deadline }
            }
            Some(Ok(false)) => Extended::NotOwner,
            Some(Err(error)) => Extended::Unknown(self.doubt_after_error(&error)),
        }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        let guard = self.held.remove(&grant.resource).and_then(Held::end);
        let Some(guard) = guard else { return Released::NotOwner };
        match guard.release().await {
            Ok(true) => Released::Released,
            Ok(false) => Released::NotOwner,
            Err(error) => Released::Unknown(self.doubt_after_error(&error)),
        }
    }
}

impl<G> Held<G> {
    /// The guard, which nobody watches any more.
    fn end(self) -> Option<G> {
        if let Some(watched) = self.watched {
            watched.watch.stop();
        }
        self.guard.take()
    }
}

impl<E: RedisRs, F, G> ExistingLock<E, F, G> {
    /// When the holder is to stop believing.
    ///
    /// # Panics
    ///
    /// If the guard says two such times in one breath: no verdict could follow it.
    fn deadline<Error>(&self, guard: &G) -> Option<Deadline>
    where
        G: Guard<Error>,
    {
        let (deadline, again) = (guard.deadline(), guard.deadline());
        assert!(
            deadline == again,
            "the guard of the lock `{}` tells two deadlines at once, {deadline:?} and {again:?}: compute the deadline \
             when the lock is taken or renewed, keep it, and let `Guard::deadline` return what is kept",
            self.name
        );
        deadline
    }

    /// Says what an error leaves unknown, and drops the connection that is kept: it may be broken.
    fn doubt_after_error(&self, error: &impl CallError) -> Doubt {
        match error.reply() {
            Some(reply) => Doubt::ErrorReply(reply),
            None => {
                self.client.forget_connection();
                Doubt::ConnectionLost(error.to_string())
            }
        }
    }
}
