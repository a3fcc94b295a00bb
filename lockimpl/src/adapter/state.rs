//! What a process keeps once for its lock, such as a client id or a pool: made by a function of the user's, anew for
//! each process.
//!
//! Assumes that the environment makes a store with each process and drops it with it ([`Env::process_state`]). Does not
//! model two locks of one process that keep values of one type apart: they share the first.
//!
//! [`Env::process_state`]: crate::Env::process_state

use std::any::Any;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use super::Client;
use crate::env::RedisRs;

/// A state of any type.
pub(super) type AnyState = Arc<dyn Any + Send + Sync>;

/// What gives a client the state of its process, and makes it where that has none yet.
pub(super) type StateOf<E> = Arc<dyn Fn(&Client<E>) -> AnyState + Send + Sync>;

/// Makes the state of a process.
pub trait MakesState<E>: Send + Sync + 'static {
    #[doc(hidden)]
    fn state_of(&self) -> Option<StateOf<E>>;
}

/// A lock whose processes keep nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoState;

impl<E: RedisRs> MakesState<E> for NoState {
    fn state_of(&self) -> Option<StateOf<E>> {
        None
    }
}

/// A function that makes a state, see [`Existing::with_state`](crate::Existing::with_state).
pub struct StateMaker<M, S> {
    make: Arc<M>,
    state: PhantomData<fn() -> S>,
}

impl<M, S> StateMaker<M, S> {
    pub(super) fn new(make: M) -> Self {
        Self { make: Arc::new(make), state: PhantomData }
    }
}

impl<E, M, S> MakesState<E> for StateMaker<M, S>
where
    E: RedisRs,
    M: Fn(&Client<E>) -> S + Send + Sync + 'static,
    S: Send + Sync + 'static,
{
    fn state_of(&self) -> Option<StateOf<E>> {
        let make = self.make.clone();
        Some(Arc::new(move |client| {
            let kept = client.env.process_state::<Kept<S>>();
            // A maker that asked for what it makes would wait for itself.
            kept.0.get_or_init(|| Arc::new(make(&client.clone().with_state(None)))).clone()
        }))
    }
}

/// A place for the state of a process.
struct Kept<S>(OnceLock<Arc<S>>);

impl<S> Default for Kept<S> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}
