//! Rates over two parameters: a field of shaded cells for each design and predicate.
//!
//! Shades go from light to dark, so that they are told apart without colour; white is a rate of zero, grey is not
//! known. The thick line is where the rate leaves zero: on one side of it something was seen. Cells are as large as
//! each other, whatever their values are.

use doublehold_render::palette::sweep::{RATES as SHADES, UNKNOWN};
use doublehold_text::{end, is_small, power, share};

use super::canvas::{Canvas, GREY, INK, SMALL, Side, Spot, WHITE, WIDTH, draw};
use super::frame::Field;

/// Rates over two parameters.
pub(crate) struct Heat {
    /// The parameter across, and its values.
    pub(crate) across: (String, Vec<String>),
    /// The parameter up, and its values.
    pub(crate) up: (String, Vec<String>),
    pub(crate) fields: Vec<Shaded>,
}

/// A field of cells.
pub(crate) struct Shaded {
    pub(crate) title: String,
    /// The rate of each cell, those of the lowest row first; zero where nothing was seen.
    pub(crate) rates: Vec<Option<f64>>,
    /// A line to compare with, such as what a formula says.
    pub(crate) line: Option<Reference>,
}

/// A line to compare with.
pub(crate) struct Reference {
    /// Its places, counted in cells: the middle of the lowest cell on the left is (0, 0).
    pub(crate) places: Vec<(f64, f64)>,
}

const LEFT: f64 = 100.0;
const FIELD: f64 = 300.0;

/// Draws each field as a picture of its own, and the legend as the last one.
pub(crate) fn heat(plot: &Heat) -> Vec<String> {
    let (columns, rows) = (plot.across.1.len().max(1), plot.up.1.len().max(1));
    let shades = Shades::from_rates(plot.fields.iter().flat_map(|shaded| &shaded.rates).flatten().copied());
    let height = (rows as f64 * 32.0).clamp(64.0, FIELD);
    let field = |Shaded { title, rates, line }: &Shaded| {
        draw((WIDTH, height + 106.0), |canvas| {
            let field = Field { left: LEFT, top: 34.0, right: WIDTH - 12.0, bottom: 34.0 + height };
            let grid = Grid { field, columns, rows: plot.up.1.len().max(1) };
            field.title(canvas, title);
            grid.shade(canvas, rates, &shades);
            grid.frontier(canvas, rates);
            line.iter().for_each(|line| grid.reference(canvas, line));
            grid.axes(canvas, plot);
        })
    };
    let legend = draw((WIDTH, SHADES.len() as f64 * 24.0 + 90.0), |canvas| shades.legend(canvas));
    plot.fields.iter().map(field).chain([legend]).collect()
}

/// Cells of equal size in a field.
struct Grid {
    field: Field,
    columns: usize,
    rows: usize,
}

impl Grid {
    /// The place of a corner, counted in cells from the lower left.
    fn corner(&self, column: f64, row: f64) -> Spot {
        self.field.at(column / self.columns as f64, row / self.rows as f64)
    }

    fn width(&self) -> f64 {
        (self.field.right - self.field.left) / self.columns as f64
    }

    fn height(&self) -> f64 {
        (self.field.bottom - self.field.top) / self.rows as f64
    }

    /// Cells that look alike and stand side by side are one.
    fn shade(&self, canvas: &mut Canvas, rates: &[Option<f64>], shades: &Shades) {
        let frame = (self.corner(0.0, 0.0), self.corner(self.columns as f64, self.rows as f64));
        canvas.rect((frame.0.0, frame.1.1), (frame.1.0, frame.0.1), WHITE);
        for (row, of_row) in rates.chunks(self.columns).enumerate() {
            let mut column = 0;
            for alike in of_row.chunk_by(|one, other| shades.shade(*one) == shades.shade(*other)) {
                let (low, high) = (
                    self.corner(column as f64, row as f64),
                    self.corner((column + alike.len()) as f64, row as f64 + 1.0),
                );
                if let Some(colour) = shades.shade(alike[0]) {
                    canvas.rect((low.0, high.1), (high.0, low.1), colour);
                }
                column += alike.len();
            }
        }
        if self.width() >= 34.0 && self.height() >= 18.0 {
            self.numbers(canvas, rates, shades);
        }
    }

    fn numbers(&self, canvas: &mut Canvas, rates: &[Option<f64>], shades: &Shades) {
        for (number, rate) in rates.iter().enumerate() {
            let middle =
                self.corner((number % self.columns) as f64 + 0.5, (number / self.columns) as f64 + 0.5);
            let words = match rate {
                None => "?".to_owned(),
                Some(0.0) => "0".to_owned(),
                Some(rate) if *rate < 1e-4 => format!("{:.0e}", rate * 100.0),
                Some(rate) => end(rate * 100.0),
            };
            let ink = if shades.is_dark(*rate) { WHITE } else { INK };
            canvas.write(&words, middle, Side::Centre, (SMALL, ink));
        }
    }

    /// Where the rate leaves zero.
    fn frontier(&self, canvas: &mut Canvas, rates: &[Option<f64>]) {
        let seen = |column: usize, row: usize| {
            rates.get(row * self.columns + column).copied().flatten().map(|rate| rate > 0.0)
        };
        let differ =
            |one: Option<bool>, other: Option<bool>| one.zip(other).is_some_and(|(one, other)| one != other);
        let mut line = |from: (usize, usize), to: (usize, usize)| {
            let at = |(column, row): (usize, usize)| self.corner(column as f64, row as f64);
            canvas.line(&[at(from), at(to)], INK, 2.5);
        };
        for column in 1..self.columns {
            let is_edge = |row: usize| differ(seen(column - 1, row), seen(column, row));
            runs(self.rows, is_edge).for_each(|(from, to)| line((column, from), (column, to)));
        }
        for row in 1..self.rows {
            let is_edge = |column: usize| differ(seen(column, row - 1), seen(column, row));
            runs(self.columns, is_edge).for_each(|(from, to)| line((from, row), (to, row)));
        }
    }

    fn reference(&self, canvas: &mut Canvas, line: &Reference) {
        let spots: Vec<Spot> = line.places.iter().map(|(x, y)| self.corner(x + 0.5, y + 0.5)).collect();
        // On white, so that it is seen on the darkest cells too.
        canvas.line(&spots, WHITE, 4.0);
        canvas.dashes(&spots, INK);
    }

    fn axes(&self, canvas: &mut Canvas, plot: &Heat) {
        let Field { left, top, right, bottom } = self.field;
        canvas.line(&[(left, top), (right, top), (right, bottom), (left, bottom), (left, top)], INK, 1.0);
        let widest = plot.across.1.iter().map(|word| word.chars().count()).max().unwrap_or(1);
        let every = ((widest as f64 * 7.6 + 8.0) / self.width()).ceil().max(1.0) as usize;
        for (column, word) in plot.across.1.iter().enumerate().step_by(every) {
            let (x, y) = self.corner(column as f64 + 0.5, 0.0);
            canvas.write(word, (x, y + 6.0), Side::Below, (SMALL, INK));
        }
        let every = (19.0 / self.height()).ceil().max(1.0) as usize;
        for (row, word) in plot.up.1.iter().enumerate().step_by(every) {
            let (x, y) = self.corner(0.0, row as f64 + 0.5);
            canvas.write(word, (x - 6.0, y), Side::Left, (SMALL, INK));
        }
        let across = (f64::midpoint(left, right), bottom + 30.0);
        canvas.write(&plot.across.0, across, Side::Below, (SMALL, GREY));
        canvas.upward(&plot.up.0, (left - LEFT + 14.0, f64::midpoint(top, bottom)));
    }
}

/// From where to where something is so, in a row of so many.
fn runs(count: usize, is_so: impl Fn(usize) -> bool) -> impl Iterator<Item = (usize, usize)> {
    let places: Vec<usize> = (0..count).filter(|place| is_so(*place)).collect();
    let rows: Vec<(usize, usize)> =
        places.chunk_by(|one, next| one + 1 == *next).map(|row| (row[0], row[row.len() - 1] + 1)).collect();
    rows.into_iter()
}

/// From rates to shades: equal steps, of the rate or of its power of ten.
struct Shades {
    low: f64,
    high: f64,
    is_log: bool,
}

impl Shades {
    fn from_rates(rates: impl Iterator<Item = f64>) -> Shades {
        let (low, high) = rates
            .filter(|rate| *rate > 0.0)
            .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), rate| (low.min(rate), high.max(rate)));
        if high == 0.0 {
            return Shades { low: 0.0, high: 1.0, is_log: false };
        }
        let is_log = high / low > 30.0;
        Shades { low: if is_log { low } else { 0.0 }, high, is_log }
    }

    /// The upper end of a shade.
    fn end(&self, shade: usize) -> f64 {
        let part = (shade + 1) as f64 / SHADES.len() as f64;
        if self.is_log {
            self.low * (self.high / self.low).powf(part)
        } else {
            self.low + (self.high - self.low) * part
        }
    }

    fn number(&self, rate: f64) -> usize {
        (0..SHADES.len() - 1)
            .find(|shade| rate <= self.end(*shade) * (1.0 + 1e-9))
            .unwrap_or(SHADES.len() - 1)
    }

    /// None is white.
    fn shade(&self, rate: Option<f64>) -> Option<&'static str> {
        match rate {
            None => Some(UNKNOWN),
            Some(0.0) => None,
            Some(rate) => Some(SHADES[self.number(rate)]),
        }
    }

    fn is_dark(&self, rate: Option<f64>) -> bool {
        rate.is_some_and(|rate| rate > 0.0 && self.number(rate) >= 5)
    }

    /// The rates of a shade, in one unit for all shades.
    fn words(&self, shade: usize) -> String {
        let least = if self.low > 0.0 { self.low } else { self.end(0) };
        let rate = |rate: f64| if is_small(least) { power(rate) } else { share(rate) };
        let low = if shade == 0 { self.low } else { self.end(shade - 1) };
        if low == 0.0 {
            format!("to {}", rate(self.end(shade)))
        } else {
            format!("{} to {}", rate(low), rate(self.end(shade)))
        }
    }

    fn legend(&self, canvas: &mut Canvas) {
        let (left, mut top) = (10.0, 10.0);
        let mut row = |colour: &str, words: &str| {
            canvas.rect((left, top), (left + 22.0, top + 16.0), colour);
            let corners =
                [(left, top), (left + 22.0, top), (left + 22.0, top + 16.0), (left, top + 16.0), (left, top)];
            canvas.line(&corners, GREY, 0.5);
            canvas.write(words, (left + 30.0, top + 8.0), Side::Right, (SMALL, INK));
            top += 24.0;
        };
        for shade in (0..SHADES.len()).rev() {
            row(SHADES[shade], &self.words(shade));
        }
        row(WHITE, "not seen");
        row(UNKNOWN, "not known");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_get_darker_and_all_rates_have_one() {
        let part = |it: &str, at: usize| u8::from_str_radix(&it[at..at + 2], 16).map_or(f64::NAN, f64::from);
        let light = |it: &str| part(it, 1) * 0.299 + part(it, 3) * 0.587 + part(it, 5) * 0.114;
        assert!(SHADES.windows(2).all(|pair| light(pair[0]) > light(pair[1]) + 8.0));
        let shades = Shades::from_rates([0.0, 1e-6, 0.5].into_iter());
        assert_eq!((shades.number(1e-6), shades.number(0.5)), (0, SHADES.len() - 1));
        let shades = Shades::from_rates([0.1, 0.5].into_iter());
        assert_eq!((shades.number(0.01), shades.number(0.5)), (0, SHADES.len() - 1));
    }

    #[test]
    fn all_shades_are_told_in_one_unit() {
        let told = |rates: [f64; 2]| {
            let shades = Shades::from_rates(rates.into_iter());
            (0..SHADES.len()).map(|shade| shades.words(shade)).collect::<Vec<_>>()
        };
        for rates in [[2e-5, 0.4], [1e-5, 2e-4]] {
            assert!(told(rates).iter().all(|it| it.contains('⁻') && !it.contains('%')), "{:?}", told(rates));
        }
        assert!(told([0.01, 0.4]).iter().all(|it| it.contains('%')), "{:?}", told([0.01, 0.4]));
    }

    #[test]
    fn the_frontier_is_where_the_rate_leaves_zero() {
        let edges = [true, true, false, true];
        assert_eq!(runs(4, |place| edges[place]).collect::<Vec<_>>(), [(0, 2), (3, 4)]);
        assert_eq!(runs(0, |_| true).count(), 0);
    }
}
