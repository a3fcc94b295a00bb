//! Threads that run batches, and the one that tells of them in order.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use doublehold_scenarios::pool::{Progress, Stuck};
use doublehold_scenarios::{Engine, Searchable, Seed};

use super::batch::Batch;
use super::order::{HandOut, Order, Unit};
use super::{SweepEffort, SweepError, SweepEvent};
use crate::study::Study;

/// How often the caller is asked whether to go on while no batch ends.
const TICK: Duration = Duration::from_millis(100);
/// How many batches may be handed out for each thread before the first of them is told of: enough that no thread waits
/// for a slow one, and few enough to be kept.
const AHEAD: usize = 8;

type Done = (Unit, Result<Batch, SweepError>);

/// See [`super::sweep`].
#[expect(clippy::disallowed_methods, reason = "threads run worlds, and none runs in one")]
pub(super) fn run<E: Engine<Prepared: Searchable> + Send + Sync + 'static>(
    engine: &Arc<E>,
    study: &Arc<Study>,
    mut order: Order,
    effort: &SweepEffort,
    mut tell: impl FnMut(SweepEvent<'_>) -> ControlFlow<()>,
) -> Result<(), SweepError> {
    let progress = Arc::new(Progress::of(effort.jobs));
    let over = Arc::new(AtomicBool::new(false));
    let (give, given) = mpsc::channel::<Unit>();
    let (give_back, given_back) = mpsc::channel::<Done>();
    let given = Arc::new(Mutex::new(given));
    let worker = |worker| {
        let (engine, study, progress, over) = (engine.clone(), study.clone(), progress.clone(), over.clone());
        let (given, give_back) = (given.clone(), give_back.clone());
        let work = move || work((&*engine, &study), (worker, &progress), &over, &given, &give_back);
        thread::Builder::new().spawn(work)
    };
    let (workers, refused): (Vec<_>, Vec<_>) = (0..effort.jobs.get()).map(worker).partition(Result::is_ok);
    drop(give_back);
    // Fewer are slower and come to the same.
    let workers: Vec<thread::JoinHandle<()>> = workers.into_iter().flatten().collect();
    if let (true, Some(Err(error))) = (workers.is_empty(), refused.into_iter().next()) {
        return Err(SweepError::Threads(error));
    }
    let result = merge(&mut order, effort, (&progress, &workers), (&give, &given_back), &mut tell);
    over.store(true, Ordering::Relaxed);
    drop(give);
    // What is under way is not waited for: it may be what does not come back.
    for worker in workers.into_iter().filter(thread::JoinHandle::is_finished) {
        worker.join().unwrap_or_else(|panic| resume_unwind(panic));
    }
    result
}

/// Hands batches out and tells of them, in order.
fn merge(
    order: &mut Order,
    effort: &SweepEffort,
    (progress, workers): (&Progress, &[thread::JoinHandle<()>]),
    (give, given_back): (&mpsc::Sender<Unit>, &mpsc::Receiver<Done>),
    tell: &mut impl FnMut(SweepEvent<'_>) -> ControlFlow<()>,
) -> Result<(), SweepError> {
    // What was handed out and not told of: in order, with what it came to.
    let mut waiting: BTreeMap<Unit, Option<Batch>> = BTreeMap::new();
    let mut quiet = progress.watch(effort.patience);
    loop {
        while waiting.len() < effort.jobs.get() * AHEAD
            && let HandOut::Run(unit) = order.hand_out()
        {
            waiting.insert(unit, None);
            // Nobody listens only if a thread has panicked, which is told of below.
            let _ = give.send(unit);
        }
        while let Some(entry) = waiting.first_entry()
            && entry.get().is_some()
        {
            let batch = entry.remove().unwrap_or_default();
            order.told(&batch);
            if tell(SweepEvent::Batch(&batch)).is_break() {
                return Ok(());
            }
        }
        if waiting.is_empty() {
            match order.hand_out() {
                HandOut::Run(unit) => {
                    waiting.insert(unit, None);
                    let _ = give.send(unit);
                }
                HandOut::Wait | HandOut::Done => return Ok(()),
            }
        }
        // What it was at never comes back; `run` hands the panic on.
        if workers.iter().any(thread::JoinHandle::is_finished) {
            return Ok(());
        }
        match given_back.recv_timeout(TICK) {
            Ok((unit, batch)) => {
                waiting.insert(unit, Some(batch?));
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {
                if let Some(seeds) = quiet.is_over(progress, TICK) {
                    return Err(Stuck { seeds, patience: effort.patience }.into());
                }
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
        }
        if tell(SweepEvent::Tick(progress.begun())).is_break() {
            return Ok(());
        }
    }
}

/// Runs batches until there are no more.
fn work<E: Engine<Prepared: Searchable>>(
    (engine, study): (&E, &Study),
    (worker, progress): (usize, &Progress),
    over: &AtomicBool,
    given: &Mutex<mpsc::Receiver<Unit>>,
    give_back: &mpsc::Sender<Done>,
) {
    // The world of the batch before: batches of one cell come in a row.
    let mut last = None;
    loop {
        let next = given.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(unit) = next else { return };
        let begins = |seed| progress.begins(worker, seed);
        let batch = prepared((engine, study), unit, &mut last)
            .map(|prepared| batch(study, unit, &*prepared, over, begins));
        progress.rests(worker);
        if over.load(Ordering::Relaxed) || give_back.send((unit, batch)).is_err() {
            return;
        }
    }
}

/// The preparation of a cell, by the number of that cell.
type Last<P> = Option<(u64, Arc<P>)>;

fn prepared<E: Engine>(
    (engine, study): (&E, &Study),
    unit: Unit,
    last: &mut Last<E::Prepared>,
) -> Result<Arc<E::Prepared>, SweepError> {
    match last {
        Some((cell, prepared)) if *cell == unit.cell.0 => Ok(prepared.clone()),
        _ => {
            let prepared = Arc::new(engine.prepare(&study.scenario(unit.cell)?)?);
            *last = Some((unit.cell.0, prepared.clone()));
            Ok(prepared)
        }
    }
}

/// Runs one batch; part of it if the sweep is over.
fn batch(
    study: &Study,
    unit: Unit,
    prepared: &impl Searchable,
    over: &AtomicBool,
    begins: impl Fn(Seed),
) -> Batch {
    let first = study.first_seed(unit);
    let mut batch = Batch {
        cell: unit.cell.0,
        stratum: unit.stratum,
        batch: unit.batch,
        seed: first.0,
        ..Batch::default()
    };
    let climate = prepared.climate();
    let stratum = study.strata.as_ref().map(|strata| {
        let stratum = strata.all().swap_remove(unit.stratum as usize);
        batch.weight = Some(strata.weight(climate, &stratum));
        batch.beyond = (unit.stratum == 0).then(|| strata.beyond(climate));
        batch.planned = Some(unit.of);
        stratum
    });
    let just = climate.zip(stratum.as_ref());
    for seed in (first.0..first.0 + unit.runs).map(Seed) {
        if over.load(Ordering::Relaxed) {
            break;
        }
        begins(seed);
        batch.add(&match just {
            None => prepared.judge(seed),
            Some((climate, just)) => prepared.judge_among(seed, climate.draw_just(seed, just)),
        });
    }
    batch
}
