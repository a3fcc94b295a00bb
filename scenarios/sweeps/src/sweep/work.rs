//! The batches of an order, run on several threads and told of in order.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use doublehold_scenarios::pool::{Crew, Foreman, Hand, run_in_order};
use doublehold_scenarios::{Engine, Searchable, Seed};

use super::batch::Batch;
use super::order::{HandOut, Order, Unit};
use super::{SweepEffort, SweepError, SweepEvent};
use crate::study::Study;

/// How many batches a thread may be ahead of the first that is not told of: enough that none waits for a slow one, and
/// few enough to be kept.
const AHEAD: usize = 8;

/// See [`super::sweep`].
pub(super) fn run_batches<E: Engine<Prepared: Searchable> + Send + Sync + 'static>(
    engine: &Arc<E>,
    study: &Arc<Study>,
    order: Order,
    effort: &SweepEffort,
    tell: impl FnMut(SweepEvent<'_>) -> ControlFlow<()>,
) -> Result<(), SweepError> {
    let mut batches = Batches { order, tell, failed: None };
    let (engine, study) = (engine.clone(), study.clone());
    // Of each thread the world of the batch before: batches of one cell come in a row.
    let last: Vec<Mutex<Last<E::Prepared>>> = (0..effort.jobs.get()).map(|_| Mutex::default()).collect();
    let work = move |hand: &Hand<'_>, unit: Unit| {
        let mut last = last[hand.number()].lock().unwrap_or_else(PoisonError::into_inner);
        let prepared = prepare_cell((&*engine, &study), unit, &mut last)?;
        Ok(batch(&study, unit, &*prepared, hand))
    };
    run_in_order(Crew { jobs: effort.jobs, ahead: AHEAD }, effort.patience, &mut batches, work)?;
    batches.failed.map_or(Ok(()), Err)
}

/// The batches of an order, of which somebody is told.
struct Batches<T> {
    order: Order,
    tell: T,
    failed: Option<SweepError>,
}

impl<T: FnMut(SweepEvent<'_>) -> ControlFlow<()>> Foreman for Batches<T> {
    type Piece = Unit;
    type Done = Result<Batch, SweepError>;

    fn next(&mut self) -> Option<Unit> {
        match self.order.hand_out() {
            HandOut::Run(unit) => Some(unit),
            HandOut::Wait | HandOut::Done => None,
        }
    }

    fn receive(&mut self, done: Result<Batch, SweepError>) -> ControlFlow<()> {
        match done {
            Ok(batch) => {
                self.order.add_batch(&batch);
                (self.tell)(SweepEvent::Batch(&batch))
            }
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn goes_on(&mut self, begun: u64) -> ControlFlow<()> {
        (self.tell)(SweepEvent::Tick(begun))
    }
}

/// The preparation of a cell, by the number of that cell.
type Last<P> = Option<(u64, Arc<P>)>;

fn prepare_cell<E: Engine>(
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
fn batch(study: &Study, unit: Unit, prepared: &impl Searchable, hand: &Hand<'_>) -> Batch {
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
        if hand.is_over() {
            break;
        }
        hand.begins(seed);
        batch.add(&match just {
            None => prepared.judge(seed),
            Some((climate, just)) => prepared.judge_among(seed, climate.draw_just(seed, just)),
        });
    }
    batch
}
