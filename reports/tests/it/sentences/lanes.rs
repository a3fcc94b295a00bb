//! The picture's lanes, read back from its text: each shows what the run had, in the run's order, and nothing else.
//!
//! Events that share a column hide each other, so a lane may leave something out; it must not add anything.

use doublehold_history::{ClientId, EventKind, LockId, TrueNs};
use doublehold_render::picture::picture;
use doublehold_render::style::Style;
use doublehold_scenarios::report::{KeyEnd, Report};
use doublehold_scenarios::scenario::{HostIndex, Role};
use doublehold_sim::Record;

use crate::sentences::faults::kind_of;
use crate::sentences::seen::{Claim, Seen, between, says};
use crate::sentences::several::{of_one, plain};

/// What is wrong with the lanes of a run. Of several locks each has its own.
pub(crate) fn wrong(report: &Report, trace: &[Record]) -> Vec<String> {
    let drawn = picture(report, &Style { width: Style::MAX_WIDTH, ..Style::UNICODE });
    let locks = &report.scenario.lock.names;
    if locks.len() == 1 {
        return wrong_of_lock(report, LockId(0), &drawn, &Seen::new(report, trace), "", 0);
    }
    let width = locks.iter().map(|name| name.len() + 1).max().unwrap_or(0);
    let of_lock = |(name, lock): (&String, u32)| {
        let one = of_one(report, LockId(lock), None);
        wrong_of_lock(report, LockId(lock), &drawn, &Seen::new(&one, trace), &format!(" {name}"), width)
    };
    locks.iter().zip(0..).flat_map(of_lock).collect()
}

/// What is wrong with the lanes whose labels end like this.
fn wrong_of_lock(
    report: &Report,
    lock: LockId,
    drawn: &str,
    seen: &Seen<'_>,
    ending: &str,
    width: usize,
) -> Vec<String> {
    let hosts = &seen.report.scenario.hosts;
    let longest = hosts.iter().map(|host| host.name.len()).max().unwrap_or(0) + width;
    let margin = 3 + longest.clamp(2, if width == 0 { 12 } else { 24 });
    let rows: Vec<(String, String)> = drawn
        .lines()
        .skip(1)
        .take_while(|line| !line.starts_with("  time"))
        .map(|line| (line.chars().take(margin).collect(), line.chars().skip(margin).collect()))
        .map(|(label, lane): (String, String)| (label.trim().to_owned(), lane))
        .collect();
    let row = |label: &str| rows.iter().find(|(of, _)| of == label).map_or("", |(_, lane)| lane.as_str());
    let lane = |host: &str| row(&format!("{host}{ending}"));
    let moments = moments(drawn, margin, seen.report.ended);
    let mut wrong = Vec::new();
    for (index, host) in hosts.iter().enumerate() {
        let found = match host.role {
            Role::Node => node(seen, HostIndex(index), lane(&host.name))
                .or_else(|| node_in_time(seen, HostIndex(index), lane(&host.name), &moments)),
            // A process has no lane: its threads have.
            Role::Client if seen.report.scenario.cast().threads(HostIndex(index)).next().is_some() => None,
            Role::Client | Role::Thread(_) => client(seen, HostIndex(index), lane(&host.name), &moments),
            Role::Sentinel | Role::Resource => None,
        };
        wrong.extend(found.map(|why| format!("{}: {why}: {}", host.name, lane(&host.name))));
    }
    let below = rows.iter().skip_while(|(label, _)| label != "links").map(|(_, lane)| lane.as_str());
    let links: Vec<&str> = below.take_while(|lane| !lane.contains('┴')).collect();
    wrong.extend(link_faults(seen, &links).map(|why| format!("links: {why}: {links:?}")));
    // One row has the double holds of all locks, and its words name the lock of the first.
    let plain = plain(report, row("P1"));
    if width == 0 || plain.lock == Some(lock) {
        wrong.extend(double_hold(seen, &plain.words).map(|why| format!("P1: {why}: {}", row("P1"))));
    }
    wrong
}

/// The columns of which the picture says what time they are: ticks of the axis and times of the list, to a millisecond.
/// None where two events of the list share a tick.
fn moments(drawn: &str, margin: usize, ended: TrueNs) -> Vec<(usize, TrueNs)> {
    let axis = drawn.lines().find(|line| line.contains('┴')).unwrap_or_default();
    let columns: Vec<usize> =
        axis.chars().skip(margin).enumerate().filter(|(_, it)| *it == '┴').map(|(at, _)| at).collect();
    let time = |line: &str| {
        let mut words = line.split_whitespace().skip_while(|word| {
            !word.ends_with(['①', '②', '③', '④', '⑤', '⑥', '⑦', '⑧', '⑨', '⑩', '⑪', '⑫', '⑬', '⑭'])
        });
        let ms = words.nth(1)?.replace('.', "").parse::<u64>().ok()?;
        Some(TrueNs(ms * 1_000_000))
    };
    let list = drawn.rsplit("\n\n").next().unwrap_or_default();
    let rounded = TrueNs((ended.0 + 500_000) / 1_000_000 * 1_000_000);
    let mut times: Vec<TrueNs> = list.lines().filter_map(time).chain([TrueNs(0), rounded]).collect();
    times.sort_unstable();
    times.dedup();
    if times.len() == columns.len() { columns.into_iter().zip(times).collect() } else { Vec::new() }
}

/// At each moment that the picture dates: a key is drawn only if the node held it between the moments around, and none
/// is missing that it held all the while.
fn node_in_time(
    seen: &Seen<'_>,
    node: HostIndex,
    lane: &str,
    moments: &[(usize, TrueNs)],
) -> Option<&'static str> {
    let lane: Vec<char> = lane.chars().collect();
    let slack = 1_000_000;
    let name = |host: HostIndex| seen.report.scenario.hosts[host.0].name.chars().last().unwrap_or('?');
    for three in moments.windows(3) {
        let (from, to) = (three[0].1.0.saturating_sub(slack), three[2].1.0 + slack);
        let sign = lane.get(three[1].0).copied().unwrap_or(' ');
        let held = || {
            let keys = seen.report.keys.iter().filter(|key| key.node == node);
            keys.map(|key| (name(key.client), key.from.0, key.until.map_or(u64::MAX, |(until, _)| until.0)))
        };
        if sign.is_ascii_alphanumeric()
            && !held().any(|(who, since, until)| who == sign && since < until && since <= to && from <= until)
        {
            return Some("a key at a time at which the node did not hold it");
        }
        if sign == ' ' && held().any(|(_, since, until)| since <= from && to <= until) {
            return Some("no key at a time at which the node held one");
        }
    }
    None
}

/// Whose key a node held: the signs of the clients in the order in which the node had their keys.
fn node(seen: &Seen<'_>, node: HostIndex, lane: &str) -> Option<&'static str> {
    let held = || {
        seen.report.keys.iter().filter(|key| key.node == node && key.until.is_none_or(|end| end.0 > key.from))
    };
    let sign = |host: HostIndex| seen.report.scenario.hosts[host.0].name.chars().last().unwrap_or('?');
    let ends = |how: KeyEnd| held().any(|key| key.until.is_some_and(|(_, end)| end == how));
    let mut left = held().map(|key| sign(key.client));
    let mut drawn: Vec<char> = lane.chars().filter(char::is_ascii_alphanumeric).collect();
    let is_empty = drawn.is_empty();
    drawn.dedup();
    if drawn.into_iter().any(|sign| !left.any(|key| key == sign)) {
        return Some("a key that the node did not hold then");
    }
    if is_empty && held().next().is_some() {
        return Some("no key, and the node held one");
    }
    let lost = [KeyEnd::Forgotten, KeyEnd::Flushed, KeyEnd::Evicted];
    let over = [KeyEnd::Expired, KeyEnd::SessionEnded];
    if lane.contains('†') && !lost.into_iter().any(&ends)
        || lane.contains('┤') && !over.into_iter().any(&ends)
    {
        return Some("an end of a key that no key had");
    }
    None
}

/// What a client did: its claims, its writes, its refusals.
fn client(seen: &Seen<'_>, host: HostIndex, lane: &str, moments: &[(usize, TrueNs)]) -> Option<&'static str> {
    let who =
        (0..seen.report.scenario.clients.len() as u32).map(ClientId).find(|it| seen.host_of(*it) == host)?;
    let count = |sign: char| lane.chars().filter(|it| *it == sign).count();
    let happened = |wanted: fn(&EventKind) -> bool| {
        seen.all().filter(|(_, what)| what.client() == Some(who) && wanted(what)).count()
    };
    let claims = || seen.claims.iter().filter(|claim| claim.client == who);
    let bars = count('█') + count('▒') > 0;
    let missing = |claim: &Claim| {
        claim.to.is_none_or(|to| to > claim.from) && !is_hidden_by_its_write(seen, claim, moments)
    };
    if bars && claims().next().is_none() || !bars && claims().any(missing) {
        return Some("a claim that was not, or none where one was");
    }
    if count('▒') > 0 && happened(|what| matches!(what, EventKind::DeadlinePassed { .. })) == 0 {
        return Some("a claim past a deadline that never passed");
    }
    let late = claims().flat_map(|claim| late_writes(seen, who, claim.grant)).count();
    if count('L') > late
        || count('w') + count('L') > happened(|what| matches!(what, EventKind::WriteApplied { .. }))
    {
        return Some("a write that was not applied, or was not late");
    }
    if count('×') > happened(|what| matches!(what, EventKind::WriteRefused { .. })) {
        return Some("a write that was not refused");
    }
    if count('✗') > happened(|what| matches!(what, EventKind::WriteLost { acknowledged: true, .. })) {
        return Some("a write that was not lost");
    }
    let refused =
        |what: &EventKind| matches!(what, EventKind::Refused { .. } | EventKind::AcquireUnknown { .. });
    if count('○') > happened(refused) {
        return Some("a refusal that was none");
    }
    None
}

/// Whether a claim may be so narrow that the sign of a write of its own is all that is seen of it: the write arrived
/// while it lasted, and no two columns that the picture dates have one between them that is the claim's alone.
fn is_hidden_by_its_write(seen: &Seen<'_>, claim: &Claim, moments: &[(usize, TrueNs)]) -> bool {
    let within = |at: TrueNs| claim.from <= at && claim.to.is_none_or(|to| at <= to);
    let arrived = |(at, what): (TrueNs, &EventKind)| match what {
        EventKind::WriteApplied { grant, .. } | EventKind::WriteRefused { grant, .. } => {
            *grant == claim.grant && within(at)
        }
        _ => false,
    };
    let mut dated = moments.iter().filter(|(_, at)| within(*at)).map(|(column, _)| *column);
    let first = dated.next();
    let wide = first.zip(dated.next_back()).is_some_and(|(first, last)| last > first + 1);
    seen.all().any(arrived) && !wide
}

/// When a grant's writes were applied after a later grant.
fn late_writes(
    seen: &Seen<'_>,
    who: ClientId,
    grant: doublehold_history::CallId,
) -> impl Iterator<Item = TrueNs> {
    let own =
        seen.claims.iter().find(|claim| claim.client == who && claim.grant == grant).map(|claim| claim.from);
    let later = seen
        .claims
        .iter()
        .filter(move |claim| own.is_some_and(|own| own < claim.from))
        .map(|claim| claim.from)
        .min();
    seen.all().filter_map(move |(at, what)| match what {
        EventKind::WriteApplied { grant: of, .. }
            if *of == grant && later.is_some_and(|later| later <= at) =>
        {
            Some(at)
        }
        _ => None,
    })
}

/// The faults of links: a row for each kind that struck, and a shade or a sign in each.
fn link_faults(seen: &Seen<'_>, rows: &[&str]) -> Option<&'static str> {
    let kinds = [
        ("cut", ["cut", "cut"]),
        ("slow", ["slow", "delay"]),
        ("loss", ["lost", "lost"]),
        ("packet-delay", ["late", "longer"]),
        ("duplicate", ["repeated", "again"]),
        ("reset-connections", ["reset", "are reset"]),
    ];
    let struck = |kind| seen.faults().any(|(_, fault)| kind_of(fault) == kind && fault.from.is_some());
    let drawn: Vec<_> = kinds.iter().filter(|(kind, _)| struck(*kind)).collect();
    if drawn.len() != rows.len() {
        return Some("a row too many, or none for a kind of fault that struck");
    }
    let shows = |row: &str, words: &[&str; 2]| {
        row.contains(['┄', '▲']) && words.iter().any(|word| row.contains(word))
    };
    let all = drawn.iter().zip(rows).all(|((_, words), row)| shows(row, words));
    (!all).then_some("not the kinds that struck")
}

/// The double hold beneath the clients: there if and only if two held at once, with the names and for the time it says.
fn double_hold(seen: &Seen<'_>, lane: &str) -> Option<&'static str> {
    let end = |to: Option<TrueNs>| to.unwrap_or(seen.report.ended);
    let overlap = |a: usize, b: usize| {
        let (a, b) = (&seen.claims[a], &seen.claims[b]);
        let (from, to) = (a.from.max(b.from), end(a.to).min(end(b.to)));
        (a.client != b.client && from < to).then_some((a.client, b.client, between(from, to)))
    };
    let pairs = (0..seen.claims.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    let overlaps: Vec<_> = pairs.filter_map(|(a, b)| overlap(a, b)).collect();
    if lane.contains('▀') == overlaps.is_empty() {
        return Some("a double hold that was none, or none where one was");
    }
    let words = lane.trim_matches(['▀', ' ']);
    let so = |words: &str| {
        let (names, long) = words.split_once(" both hold: ")?;
        let (one, other) = names.split_once(" and ")?;
        let (one, other) = (seen.client(one)?, seen.client(other)?);
        let long = long.split(',').next()?;
        Some(overlaps.iter().any(|(a, b, it)| (*a, *b) == (one, other) && says(long, *it)))
    };
    // Where they fit nowhere, the row is without words.
    (!words.is_empty() && so(words) != Some(true)).then_some("other clients, or another time")
}
