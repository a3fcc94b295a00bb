//! The tries of one request, and of one connection: how often a driver makes them, after what, and when.
//!
//! Decides only; who tries sends and sleeps.

use std::time::Duration;

use super::link::Failure;
use super::transport::{Dialing, Transport};
use crate::env::Env;

/// What came of the tries so far.
pub(crate) struct Tries {
    transport: Transport,
    /// The same pause each time, for a driver that connects so.
    fixed_pause: Option<Duration>,
    failures: u32,
    lost: Option<Failure>,
}

impl Tries {
    /// Of a request.
    pub(crate) fn new(transport: Transport) -> Self {
        Self { transport, fixed_pause: None, failures: 0, lost: None }
    }

    /// Of a connection for one try of a request.
    pub(crate) fn to_connect(transport: Transport, dialing: Dialing) -> Self {
        match dialing {
            Dialing::AsOften { .. } => Self::new(transport),
            Dialing::Times { more, pause } => {
                Self { fixed_pause: Some(pause), ..Self::new(Transport { retries: more, ..transport }) }
            }
        }
    }

    /// True if something was tried before.
    pub(crate) fn is_again(&self) -> bool {
        self.failures > 0
    }

    /// The pause before the next try, after this failure; or what has become of the request, if there is none.
    pub(crate) fn pause_after<E: Env>(&mut self, env: &E, failure: Failure) -> Result<Duration, Failure> {
        let Transport { retries, reconnect, .. } = self.transport;
        if !failure.is_retried(reconnect.minds_silence()) {
            return Err(failure);
        }
        // A request that was sent once may have been executed, whatever became of it later.
        if !matches!(failure, Failure::Unsent(_)) {
            self.lost = Some(failure.clone());
        }
        self.failures += 1;
        if self.failures > retries {
            return Err(self.lost.take().unwrap_or(failure));
        }
        Ok(self.fixed_pause.unwrap_or_else(|| reconnect.pause(env, self.failures)))
    }
}

/// Sleeps, if there is anything to sleep.
pub(crate) async fn sleep<E: Env>(env: &E, pause: Duration) {
    if !pause.is_zero() {
        let now = env.monotonic().await;
        env.sleep_until(now.saturating_add(pause)).await;
    }
}
