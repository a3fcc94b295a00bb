//! Redis' `math.random`: drand48's generator, so that a script draws the same numbers on every machine.
//!
//! Every script starts from the same state: what one draws never depends on the ones before. (Redis 7 lets the state
//! run on from script to script.)

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const INCREMENT: u64 = 0xB;
const MASK: u64 = (1 << 48) - 1;

/// 48 bits of state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// `srand48(seed)`.
    pub(super) fn from_seed(seed: i32) -> Random {
        Random((u64::from(seed as u32) << 16) | 0x330E)
    }

    /// At least 0, below 1.
    pub(super) fn next_fraction(&mut self) -> f64 {
        self.0 = (self.0.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT)) & MASK;
        // lrand48's 31 bits, over Redis' REDIS_LRAND48_MAX.
        let bits = (self.0 >> 17) as i64;
        let limit = i64::from(i32::MAX);
        (bits % limit) as f64 / limit as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_redis() {
        // Redis 7.0.15: math.randomseed(0); math.random(), twice; math.randomseed(5); math.random().
        let mut random = Random::from_seed(0);
        assert_eq!(format!("{:.14}", random.next_fraction()), "0.17082803611217");
        assert_eq!(format!("{:.14}", random.next_fraction()), "0.74990198051087");
        assert_eq!(format!("{:.14}", Random::from_seed(5).next_fraction()), "0.52483957937213");
    }
}
