//! Which batch comes next: one order of all batches of a study, and which of them are a shard's.
//!
//! Rounds come first, and in a round every cell has some batches, so that a sweep which ends early has about as many
//! runs of each cell. Where cells may have enough before their last round, a round begins when all batches before it
//! are told, and shards are of whole cells: nobody else knows what a cell's batches came to.

use std::collections::BTreeMap;

use doublehold_history::Predicate;

use super::batch::Batch;
use super::header::StudyHeader;
use crate::study::{CellId, Study};

/// How many runs a batch has: some tenths of a second of work, and what is lost at most where a sweep is killed.
pub const BATCH: u64 = 500;
/// How many batches of a cell come in a row. A cell's world is made anew for each batch.
pub const ROW: u64 = 4;

/// A part of a sweep: the `number`-th of `of`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: u64,
    of: u64,
}

impl Shard {
    /// The only part there is.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };

    /// `None` if there is no such part.
    pub fn new(number: u64, of: u64) -> Option<Shard> {
        (1..=of).contains(&number).then_some(Shard { number, of })
    }

    /// Its number, from 1.
    pub fn number(self) -> u64 {
        self.number
    }

    /// Of how many.
    pub fn of(self) -> u64 {
        self.of
    }

    fn has(self, number: u64) -> bool {
        number % self.of == self.number - 1
    }
}

/// A batch to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit {
    /// Its place in the order of all batches of the study.
    pub place: u64,
    /// The cell.
    pub cell: CellId,
    /// The cell's stratum.
    pub stratum: u64,
    /// Which batch of that stratum, from 0.
    pub batch: u64,
    /// How many runs.
    pub runs: u64,
    /// How many runs the stratum has in all its batches.
    pub of: u64,
}

/// All batches of a study, or of a shard of it, one after another.
pub struct Order {
    cells: u64,
    strata: u64,
    /// How many runs a stratum has at most.
    runs: u64,
    /// How many a cell has at most.
    runs_of_a_cell: u64,
    /// Which strata have how many, where runs are divided.
    divided: Option<Divided>,
    shard: Shard,
    /// The place of the next batch to look at.
    next: u64,
    enough: Option<Enough>,
}

/// How many runs each stratum of a cell has: it depends on the rates of faults, which a grid can vary.
struct Divided {
    study: Study,
    /// Of the cell that was looked at last: its strata come one after another.
    last: Option<(CellId, Vec<u64>)>,
}

impl Divided {
    fn runs_of(&mut self, cell: CellId, stratum: u64) -> u64 {
        if self.last.as_ref().is_none_or(|(last, _)| *last != cell) {
            // What is wrong with a cell is told of by who runs it, so it has to be run.
            let runs =
                self.study.runs_by_stratum(cell).unwrap_or_else(|_| vec![1; self.study.parts() as usize]);
            self.last = Some((cell, runs));
        }
        self.last.as_ref().map_or(0, |(_, runs)| runs[stratum as usize])
    }
}

/// When a cell has had enough.
struct Enough {
    predicate: Predicate,
    /// Whether that is enough.
    is: Box<dyn Fn(Counted) -> bool + Send>,
    /// Of each cell of the shard: what its runs came to, and whether that was enough when its last round began.
    cells: BTreeMap<CellId, (Counted, bool)>,
    /// How many batches were handed out and not told of.
    under_way: u64,
}

/// What the runs of a cell came to, by the predicate whose rate is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// In how many it is violated.
    pub violated: u64,
    /// In how many nobody can say, which leaves the rate as open as they are many.
    pub undecided: u64,
    /// All of them.
    pub runs: u64,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOut {
    /// This batch.
    Run(Unit),
    /// What is under way has to be told of first.
    Wait,
    /// Nothing.
    Done,
}

impl Order {
    /// All batches of this shard. `is_enough` says whether what was counted tells the rate precisely enough; it is
    /// asked where the study wants a precision.
    pub fn of(study: &Study, shard: Shard, is_enough: impl Fn(Counted) -> bool + Send + 'static) -> Order {
        let enough = study.precision.map(|precision| Enough {
            predicate: precision.predicate,
            is: Box::new(is_enough),
            cells: BTreeMap::new(),
            under_way: 0,
        });
        let more = study.strata.as_ref().map_or(0, |strata| strata.by_weight);
        Order {
            cells: study.cells(),
            strata: study.parts(),
            runs: study.runs + more,
            runs_of_a_cell: study.runs_of_a_cell(),
            divided: study.strata.is_some().then(|| Divided { study: study.clone(), last: None }),
            shard,
            next: 0,
            enough,
        }
    }

    /// How many runs there are at most, in this shard; the largest number if there are more.
    pub fn runs(&self) -> u64 {
        self.cells.saturating_mul(self.runs_of_a_cell) / self.shard.of
    }

    /// Strata of all cells.
    fn parts(&self) -> u64 {
        self.cells.saturating_mul(self.strata)
    }

    /// Where in the order of its study a batch is.
    pub fn place_of(header: &StudyHeader, batch: &Batch) -> u64 {
        let values = header.axes.iter().map(|axis| axis.values.len() as u64);
        let cells = values.fold(header.designs.len() as u64, u64::saturating_mul);
        let strata = header.strata.len() as u64;
        let part = batch.cell * strata + batch.stratum;
        let in_round = cells.saturating_mul(strata).saturating_mul(ROW);
        batch.batch / ROW * in_round + part * ROW + batch.batch % ROW
    }

    /// How many runs a stratum of a cell has.
    fn runs_of(&mut self, cell: CellId, stratum: u64) -> u64 {
        self.divided.as_mut().map_or(self.runs, |divided| divided.runs_of(cell, stratum))
    }

    /// The batch to run next.
    pub fn hand_out(&mut self) -> HandOut {
        loop {
            let in_round = self.parts().saturating_mul(ROW);
            let (round, in_round) = (self.next / in_round, self.next % in_round);
            let (part, batch) = (in_round / ROW, round * ROW + in_round % ROW);
            if round * ROW * BATCH >= self.runs {
                return HandOut::Done;
            }
            if in_round == 0 && !self.may_begin_round() {
                return HandOut::Wait;
            }
            let place = self.next;
            self.next += 1;
            let (cell, stratum) = (CellId(part / self.strata), part % self.strata);
            let of = self.runs_of(cell, stratum);
            // What cannot come has one batch without a run, which says so.
            let is_one = batch * BATCH < of || batch == 0;
            if is_one && self.wants(place, cell) {
                let runs = BATCH.min(of - batch * BATCH);
                return HandOut::Run(Unit { place, cell, stratum, batch, runs, of });
            }
        }
    }

    /// Whether all is known that decides which cells go on; decides it.
    fn may_begin_round(&mut self) -> bool {
        let Some(enough) = &mut self.enough else { return true };
        if enough.under_way > 0 {
            return false;
        }
        for (counted, over) in enough.cells.values_mut() {
            *over = *over || (enough.is)(*counted);
        }
        true
    }

    fn wants(&mut self, place: u64, cell: CellId) -> bool {
        match &mut self.enough {
            None => self.shard.has(place),
            Some(enough) => {
                let wants = self.shard.has(cell.0) && !enough.cells.get(&cell).is_some_and(|(_, over)| *over);
                enough.under_way += u64::from(wants);
                wants
            }
        }
    }

    /// Takes in what a batch told. Batches are told of in their order.
    pub fn told(&mut self, batch: &Batch) {
        let Some(enough) = &mut self.enough else { return };
        enough.under_way = enough.under_way.saturating_sub(1);
        let outcome = batch.predicates.get(&enough.predicate).cloned().unwrap_or_default();
        let (counted, _) = enough.cells.entry(CellId(batch.cell)).or_default();
        counted.violated += outcome.violated;
        counted.undecided += outcome.undecided;
        counted.runs += batch.runs;
    }
}
