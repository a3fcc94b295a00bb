//! Any lock behind one type: boxed, so that nothing needs to know all of them, at one allocation a call.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::lock::{Acquired, Extended, Grant, Lock, Released};

/// Any lock, by its calls.
///
/// The mutex is never locked: every call has the lock for itself. It lets a client that owns a lock be shared, without
/// asking as much of the lock.
pub struct BoxLock(Mutex<Box<dyn Calls>>);

impl BoxLock {
    /// Boxes a lock.
    pub fn new(lock: impl Lock + 'static) -> Self {
        Self(Mutex::new(Box::new(lock)))
    }

    fn calls(&mut self) -> &mut dyn Calls {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut()
    }
}

impl Lock for BoxLock {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        self.calls().acquire(resource, ttl).await
    }

    async fn acquire_within(&mut self, resource: &str, ttl: Duration, limit: Duration) -> Acquired {
        self.calls().acquire_within(resource, ttl, limit).await
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        self.calls().extend(grant, ttl).await
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        self.calls().release(grant).await
    }
}

type Call<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// [`Lock`] with boxed futures, which a trait object needs.
trait Calls: Send {
    fn acquire<'a>(&'a mut self, resource: &'a str, ttl: Duration) -> Call<'a, Acquired>;
    fn acquire_within<'a>(
        &'a mut self,
        resource: &'a str,
        ttl: Duration,
        limit: Duration,
    ) -> Call<'a, Acquired>;
    fn extend<'a>(&'a mut self, grant: &'a mut Grant, ttl: Duration) -> Call<'a, Extended>;
    fn release<'a>(&'a mut self, grant: &'a Grant) -> Call<'a, Released>;
}

impl<L: Lock> Calls for L {
    fn acquire<'a>(&'a mut self, resource: &'a str, ttl: Duration) -> Call<'a, Acquired> {
        Box::pin(Lock::acquire(self, resource, ttl))
    }

    fn acquire_within<'a>(
        &'a mut self,
        resource: &'a str,
        ttl: Duration,
        limit: Duration,
    ) -> Call<'a, Acquired> {
        Box::pin(Lock::acquire_within(self, resource, ttl, limit))
    }

    fn extend<'a>(&'a mut self, grant: &'a mut Grant, ttl: Duration) -> Call<'a, Extended> {
        Box::pin(Lock::extend(self, grant, ttl))
    }

    fn release<'a>(&'a mut self, grant: &'a Grant) -> Call<'a, Released> {
        Box::pin(Lock::release(self, grant))
    }
}
