//! The nodes of ZooKeeper, who watches them, and who has each lock.
//!
//! A lock is a node whose children stand in line. By the recipe its owner is the child with the lowest number.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;

use super::messages::{Answer, SessionId, WatchKind, ZooKeeperError};
use crate::service::{OwnerChange, ServiceConnection};

/// All nodes.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: BTreeMap<String, Node>,
    /// The last transaction.
    zxid: u64,
    watches: BTreeMap<(WatchKind, String), BTreeSet<ServiceConnection>>,
    /// The watches that have fired and are to be told.
    fired: Vec<(ServiceConnection, WatchKind, String)>,
    /// The parents whose children have changed.
    touched: BTreeSet<String>,
    /// The value that the owner of each lock has written.
    owners: BTreeMap<String, Vec<u8>>,
}

#[derive(Debug)]
struct Node {
    data: Vec<u8>,
    /// The session that it goes with.
    session: Option<SessionId>,
    /// The number of its next child.
    next_child: u32,
}

impl Tree {
    pub(super) fn nodes(&self) -> impl Iterator<Item = (&str, Option<SessionId>)> {
        self.nodes.iter().map(|(path, node)| (path.as_str(), node.session))
    }

    /// Makes a node, and its parents if they are missing: clients make sure of those first, as often as it takes.
    pub(super) fn create(
        &mut self,
        path: &str,
        data: Vec<u8>,
        session: Option<SessionId>,
        sequential: bool,
    ) -> Answer {
        let parent = parent(path).to_owned();
        if !parent.is_empty() && !self.nodes.contains_key(&parent) {
            self.create(&parent, Vec::new(), None, false);
        }
        let mut path = path.to_owned();
        if sequential && let Some(parent) = self.nodes.get_mut(&parent) {
            path.push_str(&format!("{:010}", parent.next_child));
            parent.next_child += 1;
        }
        if self.nodes.contains_key(&path) {
            return Answer::Refused(ZooKeeperError::NodeExists);
        }
        self.zxid += 1;
        self.nodes.insert(path.clone(), Node { data, session, next_child: 0 });
        self.note_change(&path);
        Answer::Created { path, zxid: self.zxid }
    }

    pub(super) fn delete(&mut self, path: &str) -> Answer {
        if !self.nodes.contains_key(path) {
            return Answer::Refused(ZooKeeperError::NoNode);
        }
        if self.child_names(path).next().is_some() {
            return Answer::Refused(ZooKeeperError::NotEmpty);
        }
        self.zxid += 1;
        self.nodes.remove(path);
        self.note_change(path);
        Answer::Deleted
    }

    /// Removes all nodes that go with a session.
    pub(super) fn delete_of(&mut self, session: SessionId) {
        let of = self.nodes.iter().filter(|(_, node)| node.session == Some(session));
        let paths: Vec<String> = of.map(|(path, _)| path.clone()).collect();
        for path in paths {
            self.delete(&path);
        }
    }

    pub(super) fn children(&mut self, path: &str, watcher: Option<ServiceConnection>) -> Answer {
        if !self.nodes.contains_key(path) {
            return Answer::Refused(ZooKeeperError::NoNode);
        }
        self.watch(WatchKind::Children, path, watcher);
        Answer::Children(self.child_names(path).map(str::to_owned).collect())
    }

    pub(super) fn data(&mut self, path: &str, watcher: Option<ServiceConnection>) -> Answer {
        let Some(node) = self.nodes.get(path) else { return Answer::Refused(ZooKeeperError::NoNode) };
        let answer = Answer::Data(node.data.clone());
        self.watch(WatchKind::Node, path, watcher);
        answer
    }

    pub(super) fn exists(&mut self, path: &str, watcher: Option<ServiceConnection>) -> Answer {
        self.watch(WatchKind::Node, path, watcher);
        Answer::Exists(self.nodes.contains_key(path))
    }

    pub(super) fn forget_watches(&mut self, connection: ServiceConnection) {
        self.watches.values_mut().for_each(|watchers| {
            watchers.remove(&connection);
        });
        self.watches.retain(|_, watchers| !watchers.is_empty());
    }

    pub(super) fn forget_all_watches(&mut self) {
        self.watches.clear();
    }

    /// Takes the watches that have fired since the last time.
    pub(super) fn take_fired(&mut self) -> Vec<(ServiceConnection, WatchKind, String)> {
        take(&mut self.fired)
    }

    /// Tells which locks have another owner since the last time.
    pub(super) fn take_changes(&mut self, cause: &'static str, changes: &mut Vec<OwnerChange>) {
        for lock in take(&mut self.touched) {
            let after = self.owner(&lock).map(|node| node.data.clone());
            let before = match &after {
                Some(owner) => self.owners.insert(lock.clone(), owner.clone()),
                None => self.owners.remove(&lock),
            };
            if before != after {
                let lock = lock.trim_start_matches('/').to_owned();
                changes.push(OwnerChange { lock, before, after, cause });
            }
        }
    }

    /// Returns the child with the lowest number: the ten digits at the end of its name.
    fn owner(&self, lock: &str) -> Option<&Node> {
        let first = self.child_names(lock).min_by_key(|name| sequence(name).to_owned())?;
        self.nodes.get(&format!("{lock}/{first}"))
    }

    fn watch(&mut self, kind: WatchKind, path: &str, watcher: Option<ServiceConnection>) {
        if let Some(watcher) = watcher {
            self.watches.entry((kind, path.to_owned())).or_default().insert(watcher);
        }
    }

    /// A node came or went.
    fn note_change(&mut self, path: &str) {
        let parent = parent(path);
        let node = [WatchKind::Node, WatchKind::Children].map(|kind| (kind, path.to_owned()));
        for watched in node.into_iter().chain([(WatchKind::Children, parent.to_owned())]) {
            let watchers = self.watches.remove(&watched).unwrap_or_default();
            self.fired.extend(watchers.into_iter().map(|to| (to, watched.0, watched.1.clone())));
        }
        if !parent.is_empty() {
            self.touched.insert(parent.to_owned());
        }
    }

    fn child_names(&self, path: &str) -> impl Iterator<Item = &str> {
        let prefix = format!("{path}/");
        let within = self.nodes.range(prefix.clone()..).take_while({
            let prefix = prefix.clone();
            move |(child, _)| child.starts_with(&prefix)
        });
        within.filter_map(move |(child, _)| child.get(prefix.len()..)).filter(|name| !name.contains('/'))
    }
}

/// The path of a node's parent; empty of one at the top.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The digits by which the children of a lock are in order, whatever stands before them in their names.
pub(super) fn sequence(name: &str) -> &str {
    name.get(name.len().saturating_sub(10)..).unwrap_or(name)
}
