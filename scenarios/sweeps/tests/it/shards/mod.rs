//! The order of a study's batches and the shards that they belong to, against every batch of a small study written out.

pub(crate) mod model;

use std::collections::{BTreeMap, VecDeque};

use doublehold_scenarios::LeanEngine;
use doublehold_scenarios::Seed;
use doublehold_sim::Stream;
use doublehold_sweeps::study::{Study, bundled_studies};
use doublehold_sweeps::sweep::{BATCH, Batch, HandOut, Order, Shard, StudyHeader, Unit};
use model::{Model, Planned, is_enough, some_shards};

/// The order of a shard, which is asked the same about precision as the model.
fn order(model: &Model, shard: Shard) -> Order {
    let width = model.precision.map(|(_, width)| width);
    Order::from_study(&model.study, shard, move |counted| is_enough(width, counted))
}

/// What an order hands out, up to so many ahead of what it is told of.
fn handed_out(order: &mut Order, planned: &[&Planned], ahead: &mut Stream) -> Vec<Unit> {
    let (mut units, mut waiting) = (Vec::new(), VecDeque::new());
    let own: BTreeMap<_, &Batch> =
        planned.iter().map(|it| ((it.batch.cell, it.batch.stratum, it.batch.batch), &it.batch)).collect();
    loop {
        let most = 1 + ahead.below(9) as usize;
        let next = if waiting.len() < most { Some(order.hand_out()) } else { None };
        match next {
            Some(HandOut::Run(unit)) => {
                units.push(unit);
                waiting.push_back(unit);
                continue;
            }
            Some(HandOut::Done) if waiting.is_empty() => return units,
            Some(HandOut::Wait) => assert!(!waiting.is_empty(), "there is nothing to wait for"),
            _ => {}
        }
        if let Some(unit) = waiting.pop_front() {
            let told = own.get(&(unit.cell.0, unit.stratum, unit.batch));
            order.add_batch(told.unwrap_or_else(|| panic!("{unit:?} is none of its batches")));
        }
    }
}

/// That a shard has these batches, and says that it has their runs.
fn assert_shard((model, header): (&Model, &StudyHeader), shard: Shard, own: &[&Planned], ahead: &mut Stream) {
    let mut order = order(model, shard);
    let units = handed_out(&mut order, own, ahead);
    let text = &model.study.text;
    assert_eq!(units.len(), own.len(), "shard {shard:?} of {text}");
    for (unit, Planned { place, batch }) in units.iter().zip(own) {
        assert_eq!(
            (unit.place, unit.cell.0, unit.stratum),
            (*place, batch.cell, batch.stratum),
            "{shard:?} of {text}"
        );
        let of = model.of[&(batch.cell, batch.stratum)];
        assert_eq!((unit.batch, unit.runs, unit.of), (batch.batch, batch.runs, of), "{shard:?} of {text}");
        assert_eq!(Order::place_of(header, batch), *place);
        assert_eq!(header.first_seed(batch.stratum, batch.batch), Some(batch.seed));
    }
    // What a whole sweep says is rounded up in each stratum; what one with a precision says is the most.
    let cells = (0..model.cells()).filter(|cell| cell % shard.total() + 1 == shard.number()).count() as u64;
    let most = match model.precision {
        None if shard != Shard::WHOLE => own.iter().map(|it| it.batch.runs).sum(),
        _ => cells * model.most(),
    };
    assert_eq!(order.runs(), most, "shard {shard:?} of {text}");
}

#[test]
fn an_order_hands_out_every_batch_of_its_shard_as_the_study_written_out_has_them() {
    let (mut ended, mut strata, mut went_on) = (0, 0, 0);
    for seed in 0..40 {
        let model = Model::random(seed);
        let mut ahead = Stream::new(Seed(seed), "ahead");
        let planned = model.units();
        let header = StudyHeader::new(&LeanEngine, &model.study, Shard::WHOLE).expect("it can be run");
        for of in [1, 1 + ahead.below(9), [64, 100_000_000_000_000][ahead.below(2) as usize]] {
            let shards = model.shards_of(&planned, of);
            let own = |number: u64| -> Vec<&Planned> {
                planned.iter().zip(&shards).filter(|(_, shard)| **shard == number).map(|(it, _)| it).collect()
            };
            for shard in some_shards(of, &shards) {
                assert_shard((&model, &header), shard, &own(shard.number()), &mut ahead);
            }
            let runs = |number| own(number).iter().map(|it| it.batch.runs).sum::<u64>();
            let counts = || (1..=of.min(99)).map(runs);
            let apart = counts().max().unwrap_or(0) - counts().min().unwrap_or(0);
            assert!(model.precision.is_some() || apart <= BATCH, "{of} shards are {apart} runs apart");
        }
        let (made, all) = (planned.len() as u64, model.cells() * model.most().div_ceil(BATCH));
        ended += u32::from(model.precision.is_some() && made < all);
        went_on += u32::from(model.precision.is_some() && made > 4 * model.cells());
        strata += u32::from(model.strata > 1 && made > model.cells() * model.strata);
    }
    assert!(ended > 4 && went_on > 4 && strata > 3, "{ended}, {went_on} and {strata} of the studies");
}

/// Every ready study, in three shards that have all of it.
#[test]
fn three_shards_have_all_batches_of_a_ready_study() {
    for ready in bundled_studies() {
        let study = Study::load(ready.name).expect("it comes with the program");
        let units = |number, of| -> Vec<Unit> {
            let mut order = Order::from_study(&study, Shard::new(number, of).expect("a shard"), |_| false);
            let mut units = Vec::new();
            while let HandOut::Run(unit) = order.hand_out() {
                order.add_batch(&Batch { cell: unit.cell.0, runs: unit.runs, ..Batch::default() });
                units.push(unit);
            }
            units
        };
        let mut all: Vec<Unit> = (1..=3).flat_map(|number| units(number, 3)).collect();
        all.sort_unstable();
        assert_eq!(all, units(1, 1), "{}", study.name);
    }
}
