//! What the caller of existing code has while it holds the lock.
//!
//! Assumes that a guard is asked by its holder's machine alone. Does not model a guard that is dropped.

use std::future::Future;
use std::time::Duration;

use redis::RedisError;

use crate::env::Deadline;
use crate::services::database::DataSession;

/// A lock that somebody holds, in code that exists already. Its calls fail as redis-rs' do, or, on a service other than
/// Redis, with a [`ServiceError`](crate::ServiceError): that is a `Guard<ServiceError>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no guard of a lock",
    label = "returned by the function that takes the lock",
    note = "implement `Guard` for what that function returns in `Ok(Some(…))`: what the key holds, and how it is given back"
)]
pub trait Guard<Error = RedisError>: Send + 'static {
    /// What the key holds, by which a wrong release is told from a right one. Asked for when the lock was taken, and
    /// again after each extension.
    fn token(&self) -> Vec<u8>;

    /// When to stop believing, on the client's own clock; `None` if the code computes no such time. Asked for when the
    /// lock was taken and after each extension, and whenever it may have moved of a guard that tells whether it is
    /// [lost](Guard::lost). It is to say the same as long as nothing has happened: what is computed from the time of
    /// the question is two deadlines at once, and a panic.
    fn deadline(&self) -> Option<Deadline> {
        None
    }

    /// Whether whoever renews this lock beside its holder, such as a watchdog, has found that it is lost; `None` if
    /// nobody does.
    ///
    /// A guard that ever tells is to tell from the beginning. It is asked, and so is its [deadline](Guard::deadline),
    /// each time a task has run that its process [spawned](crate::Client::spawn), so that nothing it learns is late.
    /// Its holder looks before each step of its work, so before each write, and stops working where it is lost.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use std::time::Duration;
    ///
    /// use doublehold_lockimpl::{Client, Deadline, Guard, MonotonicTime, RedisRs};
    /// use redis::RedisResult;
    ///
    /// /// What the holder and its watchdog have in common.
    /// struct Lease {
    ///     ends: MonotonicTime,
    ///     lost: bool,
    /// }
    ///
    /// struct Renewed {
    ///     token: String,
    ///     lease: Arc<Mutex<Lease>>,
    /// }
    ///
    /// impl Guard for Renewed {
    ///     fn token(&self) -> Vec<u8> {
    ///         self.token.clone().into()
    ///     }
    ///     fn deadline(&self) -> Option<Deadline> {
    ///         Some(Deadline::Monotonic(self.lease.lock().unwrap().ends))
    ///     }
    ///     fn lost(&self) -> Option<bool> {
    ///         Some(self.lease.lock().unwrap().lost)
    ///     }
    ///     async fn release(self) -> RedisResult<bool> {
    ///         // …
    ///         # Ok(true)
    ///     }
    /// }
    ///
    /// /// Runs in a task of its own, from `client.spawn(watchdog(…))` in the function that takes the lock.
    /// async fn watchdog<E: RedisRs>(client: Client<E>, ttl: Duration, lease: Arc<Mutex<Lease>>) {
    ///     while !lease.lock().unwrap().lost {
    ///         client.sleep(ttl / 3).await;
    ///         let asked = client.monotonic().await;
    ///         match extend_at_the_node().await {
    ///             Ok(true) => lease.lock().unwrap().ends = asked.saturating_add(ttl),
    ///             Ok(false) => lease.lock().unwrap().lost = true,
    ///             Err(_) => {}
    ///         }
    ///     }
    /// }
    /// # async fn extend_at_the_node() -> RedisResult<bool> { Ok(true) }
    /// ```
    fn lost(&self) -> Option<bool> {
        None
    }

    /// The number that the resource is to check, if the lock hands out any.
    fn fencing(&self) -> Option<u64> {
        None
    }

    /// The session of a database that holds the lock. Where the database is the resource, its holder reads and writes
    /// through it, so that nothing is written once it has ended.
    fn session(&self) -> Option<DataSession> {
        None
    }

    /// Gives the lock back: whether it was still held, or nobody can say.
    fn release(self) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Keeps the lock for `ttl` from now: whether it was still held. `None` if this lock cannot be extended.
    fn extend(&mut self, ttl: Duration) -> impl Future<Output = Option<Result<bool, Error>>> + Send {
        let _ = ttl;
        async { None }
    }
}
