//! What the rules know of keys that a release or an extension changed: whose call it was, and whose key.

use doublehold_history::{CallId, ClientId, EventKind, KeyOp, TrueNs};
use doublehold_scenarios::report::{KeyEnd, KeySpan};
use doublehold_scenarios::scenario::HostIndex;
use doublehold_sim::Event;
use regex_lite::Captures;

use crate::sentences::evidence::is;
use crate::sentences::seen::Seen;

/// A key that a command changed.
pub(crate) struct Touch {
    pub(crate) at: TrueNs,
    pub(crate) client: ClientId,
    pub(crate) node: HostIndex,
    pub(crate) by: CallId,
    pub(crate) held: CallId,
    pub(crate) op: KeyOp,
}

pub(crate) fn touches(seen: &Seen<'_>) -> impl Iterator<Item = Touch> {
    seen.all().filter_map(|(at, what)| match *what {
        EventKind::KeyTouched { client, node, by, held, op, .. } => {
            let node = seen.host(&seen.report.history.header().node(node))?;
            Some(Touch { at, client, node, by, held, op })
        }
        _ => None,
    })
}

fn keys<'a>(seen: &Seen<'a>, node: HostIndex, grant: CallId) -> impl Iterator<Item = &'a KeySpan> {
    seen.report.keys.iter().filter(move |key| (key.node, key.grant) == (node, grant))
}

/// Whether a node has a grant's key before an instant and after it.
pub(crate) fn is_there(seen: &Seen<'_>, node: HostIndex, grant: CallId, at: TrueNs) -> bool {
    keys(seen, node, grant).any(|key| key.from < at && key.until.is_none_or(|(until, _)| at < until))
}

/// Whether a grant's key ended on a node at an instant in this way.
fn ended(seen: &Seen<'_>, node: HostIndex, grant: CallId, at: TrueNs, how: KeyEnd) -> bool {
    keys(seen, node, grant).any(|key| key.until == Some((at, how)))
}

/// Whether an extension put another call's key in the place of a grant's.
fn replaced(seen: &Seen<'_>, touch: &Touch) -> bool {
    let mut of_call = keys(seen, touch.node, touch.by);
    ended(seen, touch.node, touch.held, touch.at, KeyEnd::Overwritten)
        && of_call.any(|key| key.from == touch.at)
}

/// Whether the call of a touch had been granted by then.
fn was_granted(seen: &Seen<'_>, touch: &Touch) -> bool {
    seen.claims.iter().any(|claim| claim.grant == touch.by && claim.from <= touch.at)
}

/// Whether a node executed a command of the client's at an instant.
fn executed(seen: &Seen<'_>, touch: &Touch) -> bool {
    let (node, client) = (seen.world(touch.node), seen.world(seen.host_of(touch.client)));
    seen.trace(touch.at).any(
        |event| matches!(event, Event::Mark { host, about: Some(about), .. } if (*host, *about) == (node, client)),
    )
}

/// Evidence: an extension found the key of another grant, and left it there or put its own in its place.
pub(crate) fn wrong_extension(seen: &Seen<'_>, it: &Captures<'_>) -> Option<bool> {
    let (who, node, holder) = (seen.client(&it["who"])?, seen.host(&it["node"])?, seen.host(&it["holder"])?);
    let (by, held) = (CallId(it["by"].parse().ok()?), CallId(it["held"].parse().ok()?));
    let touch = touches(seen).find(|touch| {
        (touch.client, touch.node, touch.op) == (who, node, KeyOp::Extend)
            && (touch.by, touch.held) == (by, held)
            && is(&it["at"], touch.at)
    });
    let Some(touch) = touch else { return Some(false) };
    let granted = seen.claims.iter().any(|claim| (claim.client, claim.grant) == (who, by));
    let whose = keys(seen, node, held).any(|key| key.client == holder);
    let changed = is_there(seen, node, held, touch.at) || replaced(seen, &touch);
    let named = (&it["call"] == "acquire call") != was_granted(seen, &touch);
    Some(granted && named && whose && changed && executed(seen, &touch) && by != held)
}

/// A release or a clean-up of one client deleted the key of another: a release if its call had been granted by then.
pub(crate) fn deletes_anothers(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    let (who, node) = (seen.client(&it["who"])?, seen.host(&it["node"])?);
    let gone =
        seen.keys(&it["holder"]).any(|key| key.node == node && key.until == Some((at, KeyEnd::Deleted)));
    let executed = seen.trace(at).any(|event| {
        matches!(event, Event::Mark { host, about: Some(about), .. }
            if *host == seen.world(node) && *about == seen.world(seen.host_of(who)))
    });
    let touch = touches(seen).find(|touch| {
        (touch.at, touch.client, touch.node, touch.op) == (at, who, node, KeyOp::Release)
            && touch.by != touch.held
    })?;
    let named = (&it["what"] == "release") == was_granted(seen, &touch);
    Some(gone && executed && named && it["who"] != it["holder"])
}

/// The key was there before and after, or an extension put its own in its place. What is not granted yet extends
/// nothing.
pub(crate) fn changes_anothers(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    let (who, node) = (seen.client(&it["who"])?, seen.host(&it["node"])?);
    let touch = touches(seen).find(|touch| {
        (touch.at, touch.client, touch.node, touch.op) == (at, who, node, KeyOp::Extend)
            && touch.by != touch.held
    })?;
    let whose = seen.keys(&it["holder"]).any(|key| (key.node, key.grant) == (node, touch.held));
    let extends = &it["what"] == "extension";
    let changed = is_there(seen, node, touch.held, at) || (extends && replaced(seen, &touch));
    Some(whose && changed && was_granted(seen, &touch) == extends && it["who"] != it["holder"])
}

/// A client's call for one grant deleted or changed the key of its other one.
pub(crate) fn touches_its_own(seen: &Seen<'_>, at: TrueNs, it: &Captures<'_>) -> Option<bool> {
    let (who, node) = (seen.client(&it["who"])?, seen.host(&it["node"])?);
    let deletes = &it["what"] != "extension" && &it["did"] == "deletes";
    let op = if deletes { KeyOp::Release } else { KeyOp::Extend };
    let touch = touches(seen).find(|touch| {
        (touch.at, touch.client, touch.node, touch.op) == (at, who, node, op) && touch.by != touch.held
    })?;
    let own = seen.keys(&it["who"]).any(|key| (key.node, key.grant) == (node, touch.held));
    let so = match op {
        KeyOp::Release => ended(seen, node, touch.held, at, KeyEnd::Deleted),
        KeyOp::Extend => is_there(seen, node, touch.held, at) || replaced(seen, &touch),
    };
    let named = (&it["which"] == "an earlier") == (touch.by < touch.held)
        && (&it["kind"] == "grant") == was_granted(seen, &touch)
        && (&it["did"] == "deletes") == deletes
        && (&it["what"] == "clean-up") == (deletes && !was_granted(seen, &touch));
    Some(own && so && named && executed(seen, &touch))
}

/// A cause: the release of one client deleted the key of another, on each of the nodes.
pub(crate) fn freed_anothers(seen: &Seen<'_>, it: &Captures<'_>) -> Option<bool> {
    let (by, nodes) = (seen.client(&it["by"])?, seen.hosts(&it["nodes"])?);
    let ungranted = it.name("none").is_some();
    let deleted = |node: &HostIndex| {
        let mut gone = seen.keys(&it["who"]).filter(|key| key.node == *node).filter_map(|key| key.until);
        gone.any(|(at, how)| {
            let mut released =
                touches(seen).filter(|touch| (touch.op, touch.node) == (KeyOp::Release, *node));
            how == KeyEnd::Deleted
                && released.any(|touch| {
                    (touch.at, touch.client) == (at, by) && ungranted != was_granted(seen, &touch)
                })
        })
    };
    let named = (&it["release"] == "plain DEL") == sends_plain_del(seen);
    Some(nodes.iter().all(deleted) && it["by"] != it["who"] && named)
}

/// A cause: the release of one call deleted the key of another grant of the same client, which claimed that one then, on
/// each of the nodes.
pub(crate) fn freed_its_own(seen: &Seen<'_>, it: &Captures<'_>) -> Option<bool> {
    let nodes = seen.hosts(&it["nodes"])?;
    let word = it.name("release").or(it.name("again")).or(it.name("none"))?;
    let so = nodes.iter().map(|node| freed_its_own_on(seen, it, *node)).collect::<Option<Vec<bool>>>()?;
    Some(so.into_iter().all(|so| so) && (word.as_str() == "plain DEL") == sends_plain_del(seen))
}

fn freed_its_own_on(seen: &Seen<'_>, it: &Captures<'_>, node: HostIndex) -> Option<bool> {
    let who = seen.client(&it["who"])?;
    let (earlier, ungranted) = (it.name("release").is_some(), it.name("none").is_some());
    let mut deleted = touches(seen).filter(|touch| {
        (touch.client, touch.node, touch.op) == (who, node, KeyOp::Release)
            && ended(seen, node, touch.held, touch.at, KeyEnd::Deleted)
    });
    Some(deleted.any(|touch| {
        let claim = |grant: CallId| seen.claims.iter().find(move |claim| claim.grant == grant);
        let of_client = |grant: CallId| claim(grant).is_some_and(|claim| claim.client == who);
        let relied =
            claim(touch.held).is_some_and(|it| it.from <= touch.at && it.to.is_none_or(|to| touch.at < to));
        // What was called before the key was set, and executed after that, was late.
        let called = seen.all().find_map(|(at, what)| match what {
            EventKind::ReleaseCalled { grant, .. } if *grant == touch.by => Some(at),
            _ => None,
        });
        let late = keys(seen, node, touch.held).any(|key| called.is_some_and(|called| called <= key.from));
        let order = if earlier { touch.by < touch.held && late } else { touch.by > touch.held };
        let meant = if ungranted { !was_granted(seen, &touch) } else { of_client(touch.by) && order };
        meant && relied && executed(seen, &touch)
    }))
}

fn sends_plain_del(seen: &Seen<'_>) -> bool {
    let release = seen.report.scenario.lock.switches.get("release");
    release.is_some_and(|release| release.to_string() == "plain-delete")
}
