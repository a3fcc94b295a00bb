//! Evidence as sentences. Times are true time unless a clock is named, rounded to three decimals.
//!
//! Assumes nothing about who reads it: no colour, no line breaks, names from the header.

use doublehold_text::{duration, list, seconds};

use crate::clock::ClockKind;
use crate::event::instant;
use crate::event::{CallId, ClientId, KeyOp};
use crate::history::Header;
use crate::verdict::{
    Anomaly, ClockSpan, Cycle, Dependency, Evidence, LongWait, LostWrite, Overlap, Predicate, StaleWrite,
    Step, WaitEnd, Waited, WrongKey,
};

impl Evidence {
    /// The evidence as one sentence, without a full stop.
    ///
    /// ```
    /// # use doublehold_history::*;
    /// let header = Header::new("example", 7, &["c1", "c2"], &["stock"]);
    /// let evidence = Evidence::Overlap(Overlap {
    ///     predicate: Predicate::P1,
    ///     lock: LockId(0),
    ///     clients: [ClientId(0), ClientId(1)],
    ///     grants: [CallId(1), CallId(2)],
    ///     from: TrueNs(12_031_000_000),
    ///     to: TrueNs(18_843_000_000),
    ///     open_ended: false,
    ///     clocks: [ClockSpan { clock: ClockKind::Monotonic, from: None, to: None }; 2],
    /// });
    /// assert_eq!(
    ///     evidence.sentence(&header),
    ///     r#"c1 and c2 both held "stock" for 6.812 s of true time, from 12.031 s to 18.843 s"#,
    /// );
    /// ```
    pub fn sentence(&self, header: &Header) -> String {
        match self {
            Evidence::Overlap(it) => overlap(it, header),
            Evidence::StaleWrite(it) => stale_write(it, header),
            Evidence::Cycle(it) => cycle(it, header),
            Evidence::LostWrite(it) => lost_write(it, header),
            Evidence::WrongKey(it) => wrong_key(it, header),
            Evidence::Waited(it) => wait_sentence(it, header),
            Evidence::LongWait(it) => long_wait(it, header),
            Evidence::Omitted { predicate, listed } => {
                format!("{predicate} was violated more often than the {listed} times listed")
            }
        }
    }
}

impl ClockKind {
    /// What this clock shows, as evidence says it: seconds, or the date and time of a wall clock.
    ///
    /// ```
    /// # use doublehold_history::ClockKind;
    /// assert_eq!(ClockKind::Monotonic.format_reading(14_000_400_000), "14.000 s");
    /// assert_eq!(ClockKind::Wall.format_reading(1_767_225_612_031_000_000), "2026-01-01 00:00:12.031 UTC");
    /// ```
    pub fn format_reading(self, reading_ns: i128) -> String {
        clock_clause(self, reading_ns)
    }
}

fn overlap(it: &Overlap, header: &Header) -> String {
    let [first, second] = it.clients.map(|client| header.client(client));
    let lock = header.lock(it.lock);
    let how = match it.predicate {
        Predicate::P2 => "both validly held",
        _ => "both held",
    };
    let mut words = format!(r#"{first} and {second} {how} "{lock}" {}"#, shared_time(it));
    for (client, clocks) in it.clients.iter().zip(&it.clocks) {
        words.push_str(&own_clock_clause(*client, clocks, it.from == it.to, header));
    }
    words
}

fn shared_time(it: &Overlap) -> String {
    let (from, to) = (instant(it.from), instant(it.to));
    if it.from == it.to {
        return format!("at {from} of true time, and only then");
    }
    let until = if it.open_ended { "until the run ended at" } else { "to" };
    format!("for {} of true time, from {from} {until} {to}", duration(it.to.since(it.from)))
}

fn own_clock_clause(client: ClientId, clocks: &ClockSpan, at_once: bool, header: &Header) -> String {
    let (client, clock) = (header.client(client), clocks.clock.as_str());
    let read = |reading: Option<crate::Reading>| {
        reading.map(|it| clock_clause(clocks.clock, it.clock_ns(clocks.clock)))
    };
    match (read(clocks.from), read(clocks.to)) {
        (Some(from), Some(_)) if at_once => {
            format!("; on {client}'s {clock} clock at {from}")
        }
        (Some(from), Some(to)) => format!("; on {client}'s {clock} clock from {from} to {to}"),
        (Some(from), None) => format!("; {client}'s {clock} clock read {from} when it began"),
        (None, Some(to)) => format!("; {client}'s {clock} clock read {to} when it ended"),
        (None, None) => String::new(),
    }
}

fn stale_write(it: &StaleWrite, header: &Header) -> String {
    let (client, object, lock) = (header.client(it.client), header.object(it.object), header.lock(it.lock));
    let later = other(it.later_client, it.client, header);
    format!(
        r#"{client}'s write of "{object}" (version {}) was applied at {}, {} after {later} had been granted "{lock}" at {}; {client} wrote under its grant of {}"#,
        it.version,
        instant(it.at),
        duration(it.at.since(it.later_granted_at)),
        instant(it.later_granted_at),
        instant(it.granted_at),
    )
}

/// A client's name, or `c1 itself` where the sentence is already about it.
fn other(client: ClientId, subject: ClientId, header: &Header) -> String {
    let name = header.client(client);
    if client == subject { format!("{name} itself") } else { name }
}

fn cycle(it: &Cycle, header: &Header) -> String {
    let name = it.anomaly.name();
    if let (Anomaly::LostUpdate, [read, write]) = (it.anomaly, it.steps.as_slice()) {
        let object = header.object(read.object);
        let (first, second) =
            (who(read.before_client, read.before, header), who(read.after_client, read.after, header));
        return format!(
            r#"{name} on "{object}": {first} read version {}, {second} wrote version {}, and {} overwrote it with version {} without having seen it"#,
            read.version,
            read.then,
            header.client(read.before_client),
            write.then,
        );
    }
    let steps: Vec<String> = it.steps.iter().map(|step| step_clause(step, header)).collect();
    format!("{name}: no serial order explains that {}", steps.join(", and "))
}

fn lost_write(it: &LostWrite, header: &Header) -> String {
    let (writer, object) = (who(it.client, it.grant, header), header.object(it.object));
    format!(
        r#"lost write: {writer} was told that version {} of "{object}" is committed, and since {} the resource does not have it"#,
        it.version,
        instant(it.at),
    )
}

fn step_clause(step: &Step, header: &Header) -> String {
    let object = header.object(step.object);
    let before = who(step.before_client, step.before, header);
    let after = who(step.after_client, step.after, header);
    let (did, then_did) = match step.dependency {
        Dependency::WriteWrite => ("wrote", "wrote"),
        Dependency::WriteRead => ("wrote", "read"),
        Dependency::ReadWrite => ("read", "wrote"),
    };
    let (version, then) = (step.version, step.then);
    format!(r#"{before} {did} version {version} of "{object}" before {after} {then_did} version {then}"#)
}

fn who(client: ClientId, grant: CallId, header: &Header) -> String {
    format!("{} (grant {})", header.client(client), grant.0)
}

fn wrong_key(it: &WrongKey, header: &Header) -> String {
    let (client, lock, node) = (header.client(it.client), header.lock(it.lock), header.node(it.node));
    let by = it.by.0;
    let what = match (it.op, it.by_granted) {
        (KeyOp::Release, true) if !it.was_granted => {
            format!("acquire call {by}, cleaning up after an attempt,")
        }
        (KeyOp::Release, true) => format!("release of grant {by}"),
        (KeyOp::Release, false) => format!("cleaning up after attempt {by}, which was not granted,"),
        (KeyOp::Extend, true) if !it.was_granted => format!("acquire call {by}"),
        (KeyOp::Extend, true) => format!("extension of grant {by}"),
        (KeyOp::Extend, false) => format!("attempt {by}, which was not granted,"),
    };
    let held = match it.held_client {
        Some(held) => who(held, it.held, header),
        None => format!("grant {}", it.held.0),
    };
    let did = match (it.op, it.by_granted) {
        (KeyOp::Release, _) => "deleted",
        // An extension may also have counted down, or put a token of its own there.
        (KeyOp::Extend, true) => "changed",
        (KeyOp::Extend, false) => "moved the expiry of",
    };
    let at = instant(it.at);
    format!(
        r#"{client}'s {what} {did} the key of "{lock}" on {node} at {at}, while it held the token of {held}"#
    )
}

fn wait_sentence(it: &Waited, header: &Header) -> String {
    let clients = clients(&it.clients, header);
    let lock = header.lock(it.lock);
    let (from, to) = (instant(it.from), instant(it.to));
    let (long, bound) = (duration(it.to.since(it.from)), duration(it.bound_ns));
    let idle = format!(r#"{clients} waited {long} for "{lock}" while nobody claimed it, from {from}"#);
    match it.end {
        WaitEnd::Obtained => {
            format!("{idle} until it was obtained at {to}; the bound for a free lock is {bound}")
        }
        WaitEnd::RunEnded => {
            format!("{idle} until the run ended at {to}; the bound for a free lock is {bound}")
        }
        WaitEnd::Abandoned | WaitEnd::GaveUp | WaitEnd::Died => {
            format!("{idle} until nobody waited any more at {to}; the bound for a free lock is {bound}")
        }
        WaitEnd::Never => {
            let have = if it.clients.len() == 1 { "has" } else { "have" };
            format!(
                r#"{clients} {have} waited for "{lock}" since {from} and always will: the world stalled at {to}"#
            )
        }
    }
}

fn long_wait(it: &LongWait, header: &Header) -> String {
    let (client, lock) = (header.client(it.client), header.lock(it.lock));
    let (from, to, whole_ns) = (instant(it.from), instant(it.to), it.to.since(it.from));
    let holders = clients(&it.held_by, header);
    let held = match it.held_ns {
        0 => "while nobody held it".to_owned(),
        held if held == whole_ns => format!("while {holders} held it"),
        held => format!("{} of it while {holders} held it", duration(held)),
    };
    let until = match it.end {
        WaitEnd::Obtained => "was granted",
        WaitEnd::GaveUp => "gave up",
        WaitEnd::Died => "died",
        WaitEnd::Abandoned | WaitEnd::RunEnded | WaitEnd::Never => "was still waiting when the run ended",
    };
    let (long, bound) = (duration(whole_ns), duration(it.bound_ns));
    format!(
        r#"{client} waited {long} for "{lock}", {held}: it asked at {from} and {until} at {to}; the bound for any wait is {bound}"#
    )
}

fn clients(ids: &[ClientId], header: &Header) -> String {
    list(&ids.iter().map(|&client| header.client(client)).collect::<Vec<_>>())
}

fn clock_clause(clock: ClockKind, ns: i128) -> String {
    match clock {
        ClockKind::Wall => utc(ns),
        ClockKind::Monotonic | ClockKind::Boot => seconds(ns),
    }
}

/// Nanoseconds since the Unix epoch as `2026-01-31 23:59:59.000 UTC`.
fn utc(ns: i128) -> String {
    const MS_PER_DAY: i128 = 86_400_000;
    let ms = (ns + 500_000).div_euclid(1_000_000);
    let (year, month, day) = civil(ms.div_euclid(MS_PER_DAY));
    let ms = ms.rem_euclid(MS_PER_DAY);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{:03} UTC", ms % 1_000)
}

/// Year, month and day of a day counted from 1970-01-01. Counts years from March, so that leap days come last
/// (Hinnant, *chrono-compatible low-level date algorithms*).
fn civil(days: i128) -> (i128, i128, i128) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i128::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_readings_are_dates_before_and_after_the_epoch() {
        let cases = [
            (0, "1970-01-01 00:00:00.000 UTC"),
            (-1_000_000, "1969-12-31 23:59:59.999 UTC"),
            (951_782_400_000_000_000, "2000-02-29 00:00:00.000 UTC"),
            (1_798_761_599_999_600_000, "2027-01-01 00:00:00.000 UTC"),
            (i64::MAX.into(), "2262-04-11 23:47:16.855 UTC"),
            (i64::MIN.into(), "1677-09-21 00:12:43.145 UTC"),
        ];
        for (ns, expected) in cases {
            assert_eq!(utc(ns), expected, "{ns} ns");
        }
    }
}
