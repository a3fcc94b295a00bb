//! Bull: a worker holds the lock of the job that it processes, and renews it until a renewal fails.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::config::{Flaw, Newest, Profile, Ratio, Remedy, Switches};

const HALVES: NonZeroU32 = NonZeroU32::new(2).unwrap();

pub(crate) static BULL: Profile = Profile {
    name: "bull",
    also: &["bull queue", "OptimalBits/bull"],
    library: "Bull over ioredis 5",
    language: "Node.js",
    version: "4.15.0",
    files: "OptimalBits/bull 18004a0: lib/queue.js, lib/scripts.js, lib/commands/moveToActive-8.lua, \
            extendLock-2.lua, moveStalledJobsToWait-7.lua and includes/removeLock.lua; redis/ioredis v5.9.3: \
            lib/redis/event_handler.ts",
    read_on: "2026-11-27",
    newest: Some(Newest { version: "4.16.5", looked_up_on: "2026-11-28" }),
    meaning: "a worker's lock on the job that it processes, renewed until a renewal fails; a check for stalled \
              jobs hands it on",
    ttl: Some(Duration::from_secs(30)),
    fixed: || {
        Switches::new()
            .with("stalled_check", Duration::from_secs(30))
            .with("driver", "ioredis-5")
            .with("reconnect", "bull-4")
            .with("renew_every", Ratio { numerator: 1, denominator: HALVES })
            .with("renew_from", "reply")
            .with("renew_stops_on_error", true)
    },
    open: &["stalled_check", "transport_retries", "renew_every", "renew_stops_on_error", "told_on_loss"],
    flaws: &[
        Flaw {
            what: "A worker that cannot reach Redis for longer than the lock lasts goes on with its job, and \
                   another worker is given the job as well: nothing stops the processor when a renewal fails or \
                   is refused.",
            scenario: "bull-renewal-fails",
            repaired: "bull-renewal-fails/repaired",
            remedy: Remedy::Code(
                "Call the job's `extendLock` in the processor, and stop when the lock's \
                                  duration has passed since the last one was sent that succeeded. Or set \
                                  `maxStalledCount: 0`: a stalled job fails then, and is given to nobody.",
            ),
        },
        Flaw {
            what: "A renewal that fails is the last one: `lock-extension-failed` is emitted, and no timer is set \
                   again. With the defaults this does not show, as the driver keeps sending a renewal for longer \
                   than the lock lasts. With `maxRetriesPerRequest` at 3, a restart of Redis that takes 3 s \
                   costs a lock that had 15 s left, and the job is worked on twice.",
            scenario: "bull-one-failure",
            repaired: "bull-one-failure/repaired",
            remedy: Remedy::Option("maxRetriesPerRequest"),
        },
    ],
    left_out: &[
        "`maxStalledCount`: a job that stalls a second time is failed; here it is handed on again",
        "One token for all jobs of a queue object: a worker that is given its own lost job again extends and ends it \
         twice; here each job that is taken has a token of its own",
        "Workers that are busy look for stalled jobs as well; here those that wait do",
        "The queue: the resource is one job, which is there again as soon as it is done",
    ],
};
