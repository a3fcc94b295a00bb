//! The cells of a grid by their numbers: designs vary fastest, and then the last axis.
//!
//! A sweep, the records of one and a report count alike, since all of them count here. A merge goes wrong where one
//! counts otherwise.

/// The designs of a study, and the number of values on each of its axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    designs: usize,
    lengths: Vec<usize>,
}

impl Grid {
    /// A grid of so many designs, with axes of these lengths.
    ///
    /// ```
    /// use doublehold_sweeps::grid::Grid;
    ///
    /// let grid = Grid::new(2, [3, 4]);
    /// assert_eq!((grid.cells(), grid.place(23)), (24, (1, vec![2, 3])));
    /// assert_eq!(grid.place(2), (0, vec![0, 1]));
    /// ```
    pub fn new(designs: usize, lengths: impl IntoIterator<Item = usize>) -> Grid {
        Grid { designs, lengths: lengths.into_iter().collect() }
    }

    /// The number of cells, or the largest number where there are more.
    pub fn cells(&self) -> u64 {
        u64::try_from(self.size()).unwrap_or(u64::MAX)
    }

    /// The number of cells.
    pub(crate) fn size(&self) -> u128 {
        let lengths = self.lengths.iter().map(|length| *length as u128);
        lengths.fold(self.designs as u128, u128::saturating_mul)
    }

    /// The design of a cell, and its value on each axis, by their numbers.
    pub fn place(&self, cell: u64) -> (usize, Vec<usize>) {
        self.place_of(cell.into())
    }

    /// As [`Grid::place`], in a grid with more cells than records can number.
    pub(crate) fn place_of(&self, cell: u128) -> (usize, Vec<usize>) {
        let designs = self.designs as u128;
        let (design, mut rest) = ((cell % designs) as usize, cell / designs);
        let mut values = vec![0; self.lengths.len()];
        for (value, length) in values.iter_mut().zip(&self.lengths).rev() {
            (*value, rest) = ((rest % *length as u128) as usize, rest / *length as u128);
        }
        (design, values)
    }

    /// The design of a cell.
    pub fn design(&self, cell: u64) -> usize {
        (cell % self.designs as u64) as usize
    }
}
