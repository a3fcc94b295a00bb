//! What a lock's switches are set to, drawn from its descriptor.
//!
//! A switch may also stay as it is by default, and one that needs another is set with that one only. Numbers go up to
//! ten more than the smallest, lengths of time from an eighth of the default to four times as much (from 1 ms to 2
//! s where the default is none or zero), ratios up to a tenth. What does not go together is for a scenario's check
//! to refuse.

use std::num::NonZeroU32;
use std::time::Duration;

use doublehold_lockimpl::{Descriptor, Kind, Ratio, Switch, Switches, Value};
use proptest::prelude::*;
use proptest::sample::select;

/// How far above its smallest a number may be.
const NUMBERS: u64 = 10;
/// Lengths of time where the default says nothing, in milliseconds.
const LENGTHS: (u64, u64) = (1, 2_000);

/// Choices for the switches of a lock that runs on so many nodes.
///
/// ```
/// use doublehold::property::proptest::prelude::*;
/// use doublehold::property::switches;
///
/// let single = doublehold_lockimpl::descriptors().into_iter().find(|lock| lock.name == "single").unwrap();
/// proptest!(|(chosen in switches(&single, 1))| {
///     prop_assert!(chosen.iter().all(|(name, _)| single.switch(name).is_some()));
/// });
/// ```
pub fn switches(lock: &Descriptor, nodes: usize) -> BoxedStrategy<Switches> {
    let all = lock.switches.clone();
    let values: Vec<_> = all.iter().map(|switch| proptest::option::of(value(switch, nodes))).collect();
    let chosen = values.prop_map(move |values| {
        let mut chosen = Switches::new();
        for (switch, value) in all.iter().zip(values) {
            let is_meant = !switch.is_idle(&chosen);
            if let Some(value) = value.filter(|_| is_meant) {
                chosen.set(switch.name, value);
            } else if let Some(default) = switch.default.clone().filter(|_| is_meant) {
                chosen.set(switch.name, default);
            }
        }
        chosen
    });
    chosen.no_shrink().boxed()
}

/// What one switch may be: a word, or something of its kind.
fn value(switch: &Switch, nodes: usize) -> BoxedStrategy<Value> {
    let words: Vec<Value> = switch.words.iter().map(|word| Value::from(*word)).collect();
    let of_kind = switch.kind.map(|kind| values_of_kind(kind, switch.default.as_ref(), nodes));
    match (words.is_empty(), of_kind) {
        (true, Some(of_kind)) => of_kind,
        (false, Some(of_kind)) => prop_oneof![of_kind, select(words)].boxed(),
        (_, None) => select(words).boxed(),
    }
}

fn values_of_kind(kind: Kind, default: Option<&Value>, nodes: usize) -> BoxedStrategy<Value> {
    match kind {
        Kind::Flag => any::<bool>().prop_map(Value::from).boxed(),
        Kind::Number { least, most } => {
            let most = most.resolve(nodes).min(least.saturating_add(NUMBERS)).max(least);
            (least..=most).prop_map(Value::from).boxed()
        }
        Kind::Ratio => {
            let ratio = |thousandths| Ratio {
                numerator: thousandths,
                denominator: NonZeroU32::new(1_000).unwrap_or(NonZeroU32::MIN),
            };
            (0_u32..=100).prop_map(move |thousandths| ratio(thousandths).into()).boxed()
        }
        Kind::Interval => {
            let third = Ratio { numerator: 1, denominator: NonZeroU32::new(3).unwrap_or(NonZeroU32::MIN) };
            prop_oneof![1 => Just(third.into()), 4 => lengths(default)].boxed()
        }
        Kind::Duration => prop_oneof![1 => Just(Duration::ZERO.into()), 4 => lengths(default)].boxed(),
        Kind::PositiveDuration => lengths(default),
    }
}

/// Whole milliseconds around the default.
fn lengths(default: Option<&Value>) -> BoxedStrategy<Value> {
    let millis = match default {
        Some(Value::Duration(default)) if !default.is_zero() => {
            let millis = u64::try_from(default.as_millis()).unwrap_or(u64::MAX);
            (millis / 8).max(1)..=millis.saturating_mul(4).max(1)
        }
        _ => LENGTHS.0..=LENGTHS.1,
    };
    millis.prop_map(|millis| Duration::from_millis(millis).into()).boxed()
}
