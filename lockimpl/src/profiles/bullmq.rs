//! BullMQ: a worker holds the lock of the job that it processes.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::config::{Flaw, Newest, Profile, Ratio, Remedy, Switches};

const QUARTERS: NonZeroU32 = NonZeroU32::new(4).unwrap();

pub(crate) static BULLMQ: Profile = Profile {
    name: "bullmq",
    also: &["bullmq worker", "LockManager", "taskforce"],
    library: "BullMQ",
    language: "Node.js",
    version: "6.2.0",
    files: "taskforcesh/bullmq 352d3c7: src/classes/worker.ts, src/classes/lock-manager.ts, \
            src/classes/redis-connection.ts, src/commands/extendLocks-1.lua, moveStalledJobsToWait-9.lua, \
            includes/prepareJobForProcessing.lua and includes/removeLock.lua",
    read_on: "2026-11-25",
    newest: Some(Newest { version: "6.7.0", looked_up_on: "2026-11-28" }),
    meaning: "a worker's lock on the job that it processes; a check for stalled jobs hands it on",
    ttl: Some(Duration::from_secs(30)),
    fixed: || {
        Switches::new()
            .with("stalled_check", Duration::from_secs(30))
            .with("driver", "ioredis-5")
            .with("transport_retries", 1000_u64)
            .with("reconnect", "bullmq-6")
            .with("renew_every", Ratio { numerator: 1, denominator: QUARTERS })
    },
    open: &["stalled_check", "renew_every", "told_on_loss"],
    flaws: &[
        Flaw {
            what: "A worker that cannot reach Redis for longer than the lock lasts goes on with its job, and \
                   another worker is given the job as well. The renewal waits until Redis can be reached again, \
                   and `lockRenewalFailed` comes only then, which is too late.",
            scenario: "bullmq-renewal-fails",
            repaired: "bullmq-renewal-fails/repaired",
            remedy: Remedy::Code(
                "Have a timer of your own, shorter than `lockDuration`, which begins with the job and again at each \
                 `locksRenewed`. When it ends, call `cancelJob`, and let the processor obey its signal.",
            ),
        },
        Flaw {
            what: "The processor of a job whose lock has ended is not stopped: the first check for stalled jobs \
                   marks it, the second one gives the job to another worker, and both finish it. Shown with \
                   renewal off, as with `skipLockRenewal` or an event loop that is always busy. The documentation \
                   calls such a job stalled, and says that it is processed again.",
            scenario: "stalled-job",
            repaired: "stalled-job/repaired",
            remedy: Remedy::Option("lockDuration"),
        },
    ],
    left_out: &[
        "`maxStalledCount`: a job that stalls a second time is failed; here it is handed on again",
        "The lock manager looks at all jobs every quarter of the lock's duration, and renews what was not renewed \
         for as long, in one request: the first renewal of a job comes up to a quarter later than here",
        "It goes on to renew a job that it has lost, in vain; here it ends",
        "Its driver sends a request again for as long as it takes; here 1,000 times, which is hours",
        "Workers that are busy look for stalled jobs as well; here those that wait do",
        "The queue: the resource is one job, which is there again as soon as it is done",
    ],
};
