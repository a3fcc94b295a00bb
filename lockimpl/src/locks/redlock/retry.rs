//! How often one call of Redlock tries, and how long it waits in between.
//!
//! The page asks for "a random delay" and names none. Models no wait that grows.

use std::time::Duration;

use crate::config::{Form, Unfit};
use crate::env::Env;
use crate::env::jitter::up_to;

/// The attempts of one call. The default is what the reference implementation does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The number of attempts of one call, at least 1. Default 3.
    pub tries: u32,
    /// The longest wait between two attempts. Default 200 ms.
    pub delay: Duration,
    /// The shortest wait between two attempts, where it is drawn. Default zero.
    pub least: Duration,
    /// Draw each wait uniformly from `least` to `delay`, as published; without it every wait is `delay`, and clients
    /// that split the vote once may go on splitting it for ever.
    pub jitter: bool,
    /// The time for which one call goes on making attempts, on the clock that measures the lease; none: as long as
    /// there are `tries`. No attempt begins later, and the last may end much later. Off.
    pub limit: Option<Duration>,
}

impl Default for Retry {
    fn default() -> Self {
        Self { tries: 3, delay: Duration::from_millis(200), least: Duration::ZERO, jitter: true, limit: None }
    }
}

impl Retry {
    /// Asks for the switches.
    pub(super) fn choose(form: &mut Form<'_>) -> Self {
        let published = Self::default();
        let tries =
            form.number("tries", (1, 1000), published.tries.into(), "how many attempts one call makes");
        let delay = form.duration("retry_delay", published.delay, "the longest wait between two attempts");
        let least = form.duration(
            "retry_least",
            published.least,
            "the shortest wait between two attempts, where it is drawn",
        );
        let jitter =
            form.flag("jitter", published.jitter, "draw each wait between `retry_least` and `retry_delay`");
        let limit = form.timeout(
            "acquire_limit",
            published.limit,
            "how long one call goes on making attempts, on `clock`",
        );
        Self { tries: u32::try_from(tries).unwrap_or(u32::MAX), delay, least, jitter, limit }
    }

    /// Why nobody can wait like this.
    pub(super) fn unfit(&self) -> Option<Unfit> {
        (self.least > self.delay).then(|| Unfit {
            cause: "`lock.retry_least` is longer than `lock.retry_delay`, so that there is no wait to draw"
                .into(),
            hint: "use a `retry_least` that is at most as long".into(),
        })
    }

    /// Sleeps between two attempts.
    pub(super) async fn wait<E: Env>(&self, env: &E) {
        let delay = if self.jitter {
            self.least.saturating_add(up_to(env, self.delay.saturating_sub(self.least)))
        } else {
            self.delay
        };
        let now = env.monotonic().await;
        env.sleep_until(now.saturating_add(delay)).await;
    }
}
