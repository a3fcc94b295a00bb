//! Refusals of what a client tells and cannot be true, each with the way out.

use doublehold_history::LockId;

use super::{Book, Statement};

impl Book {
    pub(super) fn still_asks(&self, client: &str, lock: LockId) -> String {
        let lock = self.lock_name(lock);
        format!(
            "{client} has asked for `{lock}` and told nothing since: first `GRANTED {client}` or `REFUSED {client}`. Two \
             threads that ask need two names"
        )
    }

    pub(super) fn still_holds(&self, client: &str, lock: LockId) -> String {
        let lock = self.lock_name(lock);
        format!(
            "{client} holds `{lock}`: first `RELEASES {client}` or `LOST {client}`. `RESET` begins another test, and two \
             threads need two names"
        )
    }

    pub(super) fn misses(&self, client: &str, lock: Option<&str>, told: &Statement) -> String {
        let of = lock.map_or_else(String::new, |lock| format!(" for `{lock}`"));
        match told {
            Statement::Granted { .. } | Statement::Refused => {
                format!("{client} has not asked{of}: tell `DOUBLEHOLD ASKS {client}` right before it asks")
            }
            Statement::Released(_) => {
                format!(
                    "{client} has not told that it gives the lock back: tell `DOUBLEHOLD RELEASES {client}` right before"
                )
            }
            _ => format!(
                "{client} holds nothing{of}: tell `DOUBLEHOLD GRANTED {client}` right after it was granted the lock"
            ),
        }
    }
}

/// The doubt about a client that has left: nobody knows what it believes.
pub(super) fn gone_without_a_word(client: &str) -> String {
    format!(
        "{client} closed its connections while it held the lock and told nothing since: tell `DOUBLEHOLD RELEASES {client}` \
         before it gives the lock back, or `DOUBLEHOLD DIED {client}` if you killed it"
    )
}

/// The same of a client that has the lock's key and has not told what came of its asking.
pub(super) fn granted_without_a_word(client: &str) -> String {
    format!(
        "{client} asked for the lock, and has its key on most nodes, and told nothing since: tell `DOUBLEHOLD GRANTED \
         {client}` or `REFUSED {client}`"
    )
}
