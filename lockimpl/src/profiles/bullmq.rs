//! BullMQ: a worker holds the lock of the job that it processes.

use std::time::Duration;

use crate::profile::{Flaw, Profile};
use crate::switch::Switches;

pub(crate) static BULLMQ: Profile = Profile {
    name: "bullmq",
    also: &["bullmq worker", "LockManager", "taskforce"],
    library: "BullMQ",
    language: "Node.js",
    version: "6.2.0",
    files: "taskforcesh/bullmq: src/classes/worker.ts, src/classes/lock-manager.ts, src/commands/extendLocks-1.lua, \
            moveStalledJobsToWait-9.lua, includes/prepareJobForProcessing.lua and includes/removeLock.lua",
    read_on: "2026-11-25",
    meaning: "a worker's lock on the job that it processes; a check for stalled jobs hands it on",
    ttl: Some(Duration::from_secs(30)),
    fixed: || {
        Switches::new()
            .with("stalled_check", Duration::from_secs(30))
            .with("request_timeout", "none")
            .with("on_timeout", "keep")
    },
    open: &["stalled_check"],
    flaws: &[Flaw {
        what: "the processor of a job whose lock has ended is not stopped: the second check hands the job to another \
               worker, and both finish it. Shown with renewal off, as with `skipLockRenewal` or an event loop that is \
               always busy; the documentation calls such a job stalled, and says that it is processed again",
        scenario: "stalled-job",
        repaired: "stalled-job/repaired",
    }],
    left_out: &[
        "`maxStalledCount`: a job that stalls a second time is failed; here it is handed on again",
        "renewal: the lock manager looks every 7.5 s and renews what was not renewed for as long. Here nothing is renewed, \
         as with `skipLockRenewal`, so that a job shows what a worker comes to that cannot renew",
        "workers that are busy look for stalled jobs as well; here those that wait do",
        "the queue: the resource is one job, which is there again as soon as it is done",
    ],
};
