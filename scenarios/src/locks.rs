//! Locks by the names that people type: their own, those of a library's package or class, and nearly these.
//!
//! There are more of them than a message has room for, so that an unknown name is answered with near ones, or with the
//! command that lists all.

use doublehold_lockimpl::Descriptor;
use doublehold_text::suggest;

/// As many names as a sentence has room for.
const NAMES_MAX: usize = 6;

/// The lock of that name.
pub fn find_lock<'a>(locks: &'a [Descriptor], typed: &str) -> Option<&'a Descriptor> {
    locks.iter().find(|lock| lock.name == typed)
}

/// The locks that people call so: `Redisson`, `RedlockMutex`. Capitals and hyphens do not matter.
pub fn find_aliases<'a>(locks: &'a [Descriptor], typed: &str) -> Vec<&'a Descriptor> {
    let typed = letters(typed);
    let is_called = |lock: &&Descriptor| words_of(lock).any(|word| letters(word) == typed);
    locks.iter().filter(is_called).collect()
}

/// What a lock takes, as the end of a hint: its switches, or where they are listed if they are many.
pub fn takes(lock: &Descriptor) -> String {
    let switches: Vec<&str> = lock.switches.iter().map(|switch| switch.name).collect();
    match switches.len() {
        0 => format!("`{}` takes no switches", lock.name),
        1..=NAMES_MAX => format!("`{}` takes {}", lock.name, suggest::list(&switches)),
        _ => format!("`doublehold locks {}` shows what that takes", lock.name),
    }
}

/// Names that libraries have for how long a lease lasts.
const LEASES: [&str; 7] =
    ["lease", "lease_time", "lock_timeout", "expire", "expires_in", "duration", "auto_release_time"];

/// The way out after a key that no lock takes: the one that is meant, those that are called alike, or where all are
/// listed, which are many.
pub(crate) fn hint_at_key(typed: &str, known: &[&str]) -> String {
    if LEASES.contains(&typed.to_lowercase().as_str()) && known.contains(&"ttl") {
        return "how long a lease lasts is `ttl`".to_owned();
    }
    match suggest::similar_words(typed, known)[..] {
        [] => "`doublehold locks NAME` shows what a lock takes".to_owned(),
        _ => suggest::hint(typed, known),
    }
}

/// Libraries that wrap one of the locks, or that nobody has read, and kinds of lock that there are not: by the letters
/// that people type, with what to say.
const OTHERS: [(&str, &str); 16] = [
    ("redbeat", "redbeat takes the lock of redis-py: `doublehold locks redis-py`"),
    ("djangoredis", "the lock of django-redis is redis-py's: `doublehold locks redis-py`"),
    ("huey", NOT_READ),
    ("rq", NOT_READ),
    ("celeryonce", NOT_READ),
    ("celerysingleton", NOT_READ),
    ("hangfireredis", NOT_READ),
    ("hangfire", NOT_READ),
    ("nextcloud", NOT_READ),
    ("phpredis", NOT_READ),
    ("resquescheduler", NOT_READ),
    (
        "rwlock",
        "there is no lock for readers and writers here; `doublehold locks` lists those that there are",
    ),
    ("fairlock", NO_FAIR_LOCK),
    ("redissonfairlock", NO_FAIR_LOCK),
    ("rfairlock", NO_FAIR_LOCK),
    (
        "semaphore",
        "there is no lock with more than one holder here; `doublehold locks` lists those that there are",
    ),
];
const NOT_READ: &str =
    "nobody has read the lock of that library yet; `doublehold locks` lists those that were read";
const NO_FAIR_LOCK: &str = "there is no fair lock here; `doublehold locks` lists those that there are";
/// Fewer letters begin too many names.
const BEGINNING_MIN: usize = 5;

/// The way out after a name that no lock has.
///
/// ```
/// use doublehold_scenarios::locks::hint;
///
/// let locks = doublehold_lockimpl::descriptors();
/// assert_eq!(hint(&locks, "redlok"), "did you mean `redlock` or `redlock-py`?");
/// assert_eq!(hint(&locks, "zookeeper-recipe"), "`doublehold locks` lists those that there are");
/// ```
pub fn hint(locks: &[Descriptor], typed: &str) -> String {
    let mut near: Vec<&str> = find_aliases(locks, typed).iter().map(|lock| lock.name).collect();
    let typed_letters = letters(typed);
    if near.is_empty()
        && let Some((_, told)) = OTHERS.iter().find(|(name, _)| *name == typed_letters)
    {
        return (*told).to_owned();
    }
    if near.is_empty() && typed_letters.len() >= BEGINNING_MIN {
        let begins =
            |lock: &&Descriptor| words_of(lock).any(|word| letters(word).starts_with(&typed_letters));
        near = locks.iter().filter(begins).map(|lock| lock.name).collect();
    }
    if near.is_empty() {
        let words: Vec<&str> = locks.iter().flat_map(words_of).collect();
        let alike = suggest::similar_words(typed, &words);
        let is_near = |lock: &&Descriptor| words_of(lock).any(|word| alike.contains(&word));
        near = locks.iter().filter(is_near).map(|lock| lock.name).collect();
    }
    match near.len() {
        1..=NAMES_MAX => format!("did you mean {}?", suggest::either(&near)),
        _ => "`doublehold locks` lists those that there are".to_owned(),
    }
}

/// The names of those that `wanted` looks for, with an "or", for a sentence that says what else to use. A library is
/// named only where no other lock has it: what it is a setting of can do the same.
pub(crate) fn either<'a>(locks: &'a [Descriptor], wanted: impl Fn(&Descriptor) -> bool) -> Option<String> {
    let having = |libraries: bool| -> Vec<&'a str> {
        let fits = |lock: &&Descriptor| lock.profile.is_some() == libraries && wanted(lock);
        locks.iter().filter(fits).map(|lock| lock.name).collect()
    };
    let mut names = having(false);
    if names.is_empty() {
        names = having(true);
    }
    match names.len() {
        0 => None,
        1..=NAMES_MAX => Some(suggest::either(&names)),
        _ => Some(format!(
            "{} or another of `doublehold locks`",
            suggest::list(&names[..NAMES_MAX]).replace(" and ", ", ")
        )),
    }
}

/// Every word by which a lock is known.
fn words_of(lock: &Descriptor) -> impl Iterator<Item = &'static str> {
    let others = lock.profile.into_iter();
    let others = others.flat_map(|(profile, _)| profile.also.iter().copied().chain([profile.library]));
    std::iter::once(lock.name).chain(others)
}

/// A name without what people write now one way and now another.
fn letters(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_found_by_its_class_and_however_its_name_is_written() {
        let locks = doublehold_lockimpl::descriptors();
        for typed in ["BullMQ", "bull-mq", "LockManager"] {
            let names: Vec<&str> = find_aliases(&locks, typed).iter().map(|lock| lock.name).collect();
            assert_eq!(names, ["bullmq"], "{typed}");
            assert_eq!(hint(&locks, typed), "did you mean `bullmq`?", "{typed}");
        }
        assert_eq!(hint(&locks, "LokcManager"), "did you mean `bullmq`?");
        assert!(find_aliases(&locks, "").is_empty());
    }

    #[test]
    fn a_name_that_people_type_leads_to_what_was_read_or_says_that_nothing_was() {
        let locks = doublehold_lockimpl::descriptors();
        for (typed, found) in [
            ("symfony", "`symfony-"),
            ("spring", "`spring-registry`"),
            ("RedBeat", "`doublehold locks redis-py`"),
            ("django-redis", "`doublehold locks redis-py`"),
            ("huey", "nobody has read"),
            ("Hangfire.Redis", "nobody has read"),
            ("rwlock", "no lock for readers and writers"),
        ] {
            let told = hint(&locks, typed);
            assert!(told.contains(found), "{typed}: {told}");
        }
    }

    #[test]
    fn a_librarys_word_for_its_lease_is_told_ours() {
        let known = ["algorithm", "ttl", "lease_from"];
        assert_eq!(hint_at_key("lease", &known), "how long a lease lasts is `ttl`");
        assert_eq!(hint_at_key("lease_form", &known), "did you mean `lease_from`?");
        assert_eq!(hint_at_key("lease", &["lease_from"]), "did you mean `lease_from`?");
    }

    #[test]
    fn every_name_of_a_lock_finds_it() {
        let locks = doublehold_lockimpl::descriptors();
        for lock in &locks {
            for word in words_of(lock) {
                assert!(find_aliases(&locks, word).iter().any(|found| found.name == lock.name), "{word}");
            }
        }
    }

    #[test]
    fn what_else_to_use_is_an_engine_where_there_is_one() {
        let locks = doublehold_lockimpl::descriptors();
        let of = |wanted: fn(&Descriptor) -> bool| either(&locks, wanted);
        assert_eq!(of(|lock| lock.name.ends_with("job") || lock.name == "bullmq").as_deref(), Some("`job`"));
        assert_eq!(of(|lock| lock.name == "bullmq").as_deref(), Some("`bullmq`"));
        assert_eq!(of(|_| false), None);
        let many = of(|_| true).expect("there are locks");
        assert!(many.ends_with(" or another of `doublehold locks`"), "{many}");
    }
}
