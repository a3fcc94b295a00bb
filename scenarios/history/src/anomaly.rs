//! P4 data anomaly: no serial order of the grants explains what they read and wrote, or a write is lost that its client
//! was told is committed.
//!
//! Each grant is one transaction. In a serial run every grant's reads and writes happen together, so which
//! version each read saw and which version each write made say who came before whom: the edges of a *direct
//! serialization graph* (Adya). A cycle means that no serial order exists. This is exact for histories with at
//! most one write per version; blind writes alone, one per grant, never form a cycle.
//!
//! The graph has at most one edge per read and two per write, cycles are found in linear time (Tarjan).
//! Evidence: every lost update, and one short cycle for each component of grants that has none.
//!
//! The part of a grant that was applied is its transaction, also if it was fenced off or died halfway: another may read
//! what it wrote to one object beside what was there before in another, and an order explains that. All or nothing is a
//! promise of the store's transactions; no lock can give it.
//!
//! Stricter than replacing values needs: a grant that writes an object twice with another's write in between
//! is an anomaly even if nobody read the first of them.
//!
//! A write that the resource has lost is no part of the order. Of one that its client was never told about, nobody
//! knows that it was there. Not modelled: a resource that repeats versions.
//!
//! Decision: "A partly applied grant counts as applied (P4)" (docs/decisions/locks.md).

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};

use crate::components::components;
use crate::event::{CallId, EventKind, ObjectId};
use crate::history::History;
use crate::transactions::{Transaction, transactions};
use crate::verdict::{Anomaly, Cycle, Dependency, Evidence, Findings, LostWrite, Predicate, Step, Verdict};

/// P4: the resource's data is what no serial order of the grants would have left.
pub fn data_anomaly(history: &History) -> Verdict {
    let transactions = transactions(history);
    let versions = Versions::from_transactions(&transactions);
    let graph = Graph::from_transactions(&transactions, &versions);
    let mut findings = Findings::new(Predicate::P4);
    for lost in lost_writes(history) {
        if findings.push(Evidence::LostWrite(lost)).is_break() {
            return findings.into_verdict();
        }
    }
    for component in components(&graph.successors()) {
        let mut cycles = lost_updates(&transactions, &versions, &component);
        if cycles.is_empty() {
            cycles.extend(graph.short_cycle(&component));
        }
        for cycle in cycles {
            if findings.push(Evidence::Cycle(cycle)).is_break() {
                return findings.into_verdict();
            }
        }
    }
    findings.into_verdict()
}

/// The writes that are lost although their clients were told that they are committed.
fn lost_writes(history: &History) -> impl Iterator<Item = LostWrite> {
    history.events().iter().filter_map(|event| match event.what {
        EventKind::WriteLost { client, grant, object, version, acknowledged: true } => {
            Some(LostWrite { at: event.at, client, grant, object, version })
        }
        _ => None,
    })
}

/// Who wrote each version of each object, as indices of transactions.
struct Versions(HashMap<ObjectId, BTreeMap<u64, usize>>);

impl Versions {
    fn from_transactions(transactions: &[Transaction]) -> Self {
        let mut versions: HashMap<ObjectId, BTreeMap<u64, usize>> = HashMap::new();
        for (index, transaction) in transactions.iter().enumerate() {
            for &(object, version) in &transaction.writes {
                versions.entry(object).or_default().entry(version).or_insert(index);
            }
        }
        Self(versions)
    }

    /// The last version up to this one, and who wrote it. A read of a version nobody wrote saw at least this.
    fn up_to(&self, object: ObjectId, version: u64) -> Option<(u64, usize)> {
        let (&version, &writer) = self.0.get(&object)?.range(..=version).next_back()?;
        Some((version, writer))
    }

    fn next_version(&self, object: ObjectId, version: u64) -> Option<(u64, usize)> {
        let (&version, &writer) = self.0.get(&object)?.range((Excluded(version), Unbounded)).next()?;
        Some((version, writer))
    }
}

/// Who must come before whom. Edges are grouped by the transaction they leave.
struct Graph {
    edges: Vec<Vec<(usize, Step)>>,
}

impl Graph {
    fn from_transactions(transactions: &[Transaction], versions: &Versions) -> Self {
        let mut graph = Self { edges: vec![Vec::new(); transactions.len()] };
        for (index, transaction) in transactions.iter().enumerate() {
            let mut edge = |before: usize, after: usize, dependency, object, version, then| {
                if before != after {
                    let step = step(
                        [&transactions[before], &transactions[after]],
                        dependency,
                        object,
                        version,
                        then,
                    );
                    graph.edges[before].push((after, step));
                }
            };
            for &(object, version) in &transaction.writes {
                if let Some((then, writer)) = versions.next_version(object, version) {
                    edge(index, writer, Dependency::WriteWrite, object, version, then);
                }
            }
            for &(object, read) in &transaction.reads {
                if let Some((version, writer)) = versions.up_to(object, read) {
                    edge(writer, index, Dependency::WriteRead, object, version, read);
                }
                if let Some((then, writer)) = versions.next_version(object, read) {
                    edge(index, writer, Dependency::ReadWrite, object, read, then);
                }
            }
        }
        graph
    }

    fn successors(&self) -> Vec<Vec<usize>> {
        self.edges.iter().map(|edges| edges.iter().map(|&(after, _)| after).collect()).collect()
    }

    /// A short cycle inside a strongly connected component: the shortest through one of its first members.
    fn short_cycle(&self, component: &[usize]) -> Option<Cycle> {
        // Trying every member would be quadratic, and the first few are as good to read as any.
        const STARTS: usize = 16;
        let steps = component
            .iter()
            .take(STARTS)
            .filter_map(|&start| self.cycle_through(start, component))
            .min_by_key(Vec::len)?;
        Some(Cycle { anomaly: classify(&steps), steps })
    }

    /// The shortest cycle through `start`, by breadth-first search that never leaves its component.
    fn cycle_through(&self, start: usize, component: &[usize]) -> Option<Vec<Step>> {
        let mut came_by: HashMap<usize, (usize, Step)> = HashMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(here) = queue.pop_front() {
            for &(after, step) in
                self.edges[here].iter().filter(|(after, _)| component.binary_search(after).is_ok())
            {
                if after == start {
                    return Some(way_back(&came_by, here, start, step));
                }
                came_by.entry(after).or_insert_with(|| {
                    queue.push_back(after);
                    (here, step)
                });
            }
        }
        None
    }
}

/// The steps from `start` to `here`, and then `last`.
fn way_back(came_by: &HashMap<usize, (usize, Step)>, here: usize, start: usize, last: Step) -> Vec<Step> {
    let mut steps = vec![last];
    let mut here = here;
    while here != start
        && let Some(&(from, step)) = came_by.get(&here)
    {
        steps.push(step);
        here = from;
    }
    steps.reverse();
    steps
}

/// Each read in the component that another grant's write made old before the reader overwrote that write.
fn lost_updates(transactions: &[Transaction], versions: &Versions, component: &[usize]) -> Vec<Cycle> {
    let mut cycles = Vec::new();
    for &index in component {
        let reader = &transactions[index];
        for &(object, read) in &reader.reads {
            let Some((lost, writer)) = versions.next_version(object, read) else { continue };
            let own = reader.writes.range((object, lost)..=(object, u64::MAX)).next();
            let Some(&(_, overwritten_by)) = own.filter(|_| writer != index) else { continue };
            if reader.reads.range((object, lost)..(object, overwritten_by)).next().is_some() {
                continue; // it saw the other's write before it overwrote it
            }
            let other = &transactions[writer];
            let steps = vec![
                step([reader, other], Dependency::ReadWrite, object, read, lost),
                step([other, reader], Dependency::WriteWrite, object, lost, overwritten_by),
            ];
            cycles.push(Cycle { anomaly: Anomaly::LostUpdate, steps });
        }
    }
    cycles
}

fn step(pair: [&Transaction; 2], dependency: Dependency, object: ObjectId, version: u64, then: u64) -> Step {
    let [(before, before_client), (after, after_client)]: [(CallId, _); 2] =
        pair.map(|it| (it.grant, it.client));
    Step { before, before_client, after, after_client, dependency, object, version, then }
}

fn classify(steps: &[Step]) -> Anomaly {
    let count = |kind| steps.iter().filter(|step| step.dependency == kind).count();
    match (count(Dependency::ReadWrite), count(Dependency::WriteRead), steps.len()) {
        (0, _, _) => Anomaly::InterleavedWrites,
        (2, _, 2) => Anomaly::WriteSkew,
        (1, 1, 2) => Anomaly::InconsistentRead,
        _ => Anomaly::Other,
    }
}
