//! sidekiq-unique-jobs, as its source has it: a job's id without an end, which a reaper looks for now and then.

use crate::config::{Flaw, Profile, Remedy, Switches};

pub(super) static SIDEKIQ_UNIQUE_JOBS: Profile = Profile {
    name: "sidekiq-unique-jobs",
    also: &["SidekiqUniqueJobs", "while_executing", "mhenrixon/sidekiq-unique-jobs"],
    library: "sidekiq-unique-jobs (while_executing)",
    language: "Ruby",
    version: "9.0.0.alpha1",
    files: "github.com/mhenrixon/sidekiq-unique-jobs 76aa8c9: lib/sidekiq_unique_jobs/lua/lock.lua, \
        lua/unlock.lua, config.rb",
    read_on: "2026-11-25",
    newest: None,
    meaning: "a job's id without an end, unless `lock_ttl` is set; a reaper looks every ten minutes",
    ttl: None,
    fixed: || {
        Switches::new()
            .with("expiry", "none")
            .with("token", "call")
            .with("own_token_counts", true)
            .with("release_on_failure", false)
    },
    open: &["expiry", "request_timeout"],
    flaws: &[Flaw {
        what: "A worker that is killed leaves its lock: no equal job runs until the reaper has looked, up to \
               `reaper_interval` later, which is ten minutes; where `reaper` is off, none ever runs.",
        scenario: "sidekiq-unique-jobs",
        repaired: "sidekiq-unique-jobs/repaired",
        remedy: Remedy::Option("lock_ttl"),
    }],
    left_out: &[
        "The reaper, which every 10 minutes deletes locks whose jobs are nowhere any more.",
        "Its hash of job ids and its sorted set of locks: here a string key. Limits above 1.",
        "Locks that a client takes when it puts a job on a queue, and that a worker gives back.",
        "What becomes of a job that is refused (`on_conflict`): here programs ask again.",
        "redis-client was not read: a command may take 1 s here, and is said once.",
    ],
};
