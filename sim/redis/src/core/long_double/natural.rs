//! Whole numbers of any size, with the few operations that reading and printing a long double needs.

use std::cmp::Ordering;
use std::fmt;

/// Decimal digits that fit one division.
const CHUNK: u32 = 1_000_000_000;
const CHUNK_DIGITS: usize = 9;
/// Bits of a quotient, about: more than a mantissa has, and less than a `u128`.
const QUOTIENT_BITS: i64 = 70;

/// A whole number, its least digit first, without zeros at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Natural(Vec<u32>);

impl From<u128> for Natural {
    fn from(number: u128) -> Natural {
        let digits = (0..4).map(|index| (number >> (32 * index)) as u32).collect();
        Natural(digits).trim()
    }
}

impl Natural {
    fn trim(mut self) -> Natural {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }

    fn bits(&self) -> i64 {
        self.0.last().map_or(0, |last| 32 * self.0.len() as i64 - i64::from(last.leading_zeros()))
    }

    /// Becomes `self * factor + addend`.
    pub(super) fn multiply_and_add(&mut self, factor: u32, addend: u32) {
        let mut carry = u64::from(addend);
        for digit in &mut self.0 {
            carry += u64::from(*digit) * u64::from(factor);
            *digit = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    /// `self * 2^bits`.
    pub(super) fn shifted_up(mut self, bits: u32) -> Natural {
        let shift = bits % 32;
        if shift > 0 {
            self.multiply_and_add(1 << shift, 0);
        }
        let zeros = if self.0.is_empty() { 0 } else { (bits / 32) as usize };
        self.0.splice(0..0, std::iter::repeat_n(0, zeros));
        self
    }

    fn halve(&mut self) {
        let mut carry = 0;
        for digit in self.0.iter_mut().rev() {
            (*digit, carry) = (*digit >> 1 | carry << 31, *digit & 1);
        }
        if self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn is_at_least(&self, other: &Natural) -> bool {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev())) != Ordering::Less
    }

    /// Becomes `self - other`, which must not be more.
    fn subtract(&mut self, other: &Natural) {
        let mut borrow = false;
        for (index, digit) in self.0.iter_mut().enumerate() {
            let subtrahend = other.0.get(index).copied().unwrap_or(0);
            let (first, below) = digit.overflowing_sub(subtrahend);
            let (second, further_below) = first.overflowing_sub(u32::from(borrow));
            (*digit, borrow) = (second, below || further_below);
        }
        *self = std::mem::replace(self, Natural(Vec::new())).trim();
    }

    /// The number as `top * 2^exponent`, and whether that is a little less.
    pub(super) fn top(&self) -> (u128, bool, i32) {
        let dropped = self.0.len().saturating_sub(4);
        let top = self.0[dropped..].iter().rev().fold(0, |top, &digit| top << 32 | u128::from(digit));
        (top, self.0[..dropped].iter().any(|&digit| digit != 0), 32 * dropped as i32)
    }

    /// The quotient as `quotient * 2^exponent` with more bits than a mantissa has, and whether that is a little less.
    pub(super) fn divided_by(self, divisor: Natural) -> (u128, bool, i32) {
        let exponent = self.bits() - divisor.bits() - QUOTIENT_BITS;
        let by = |wanted: i64| u32::try_from(wanted).unwrap_or(0);
        let mut rest = self.shifted_up(by(-exponent));
        let mut step = divisor.shifted_up(by(exponent)).shifted_up(by(QUOTIENT_BITS));
        let mut quotient = 0;
        for _ in 0..=QUOTIENT_BITS {
            quotient <<= 1;
            if rest.is_at_least(&step) {
                rest.subtract(&step);
                quotient |= 1;
            }
            step.halve();
        }
        (quotient, !rest.0.is_empty(), exponent as i32)
    }
}

impl fmt::Display for Natural {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut rest, mut chunks) = (self.clone(), Vec::new());
        while !rest.0.is_empty() {
            let mut remainder = 0;
            for digit in rest.0.iter_mut().rev() {
                let dividend = remainder << 32 | u64::from(*digit);
                *digit = (dividend / u64::from(CHUNK)) as u32;
                remainder = dividend % u64::from(CHUNK);
            }
            chunks.push(remainder);
            rest = rest.trim();
        }
        write!(f, "{}", chunks.pop().unwrap_or(0))?;
        chunks.iter().rev().try_for_each(|chunk| write!(f, "{chunk:0CHUNK_DIGITS$}"))
    }
}
