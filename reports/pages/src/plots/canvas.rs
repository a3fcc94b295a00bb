//! Shapes and text on a sheet, in the colours, dashes and markers that designs are told apart by.
//!
//! plotters counts in whole pixels, so that a sheet is drawn at twice its size and shown at half.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Pixels of the drawing for one of the page.
const FINE: f64 = 2.0;
const FONT: &str = "sans-serif";
/// How wide plots are, in pixels of the page.
pub(super) const WIDTH: f64 = 1_060.0;
/// The size of text, likewise.
pub(super) const TEXT: f64 = 13.0;

pub(super) const INK: RGBColor = RGBColor(26, 26, 26);
pub(super) const FAINT: RGBColor = RGBColor(222, 222, 222);
pub(super) const GREY: RGBColor = RGBColor(90, 90, 90);

/// Okabe and Ito's colours, without the yellow that white paper swallows. Neighbours differ in lightness too.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 0, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// Lengths of ink and of gap, in turns.
const DASHES: [&[f64]; 5] = [&[], &[9.0, 5.0], &[2.5, 4.0], &[14.0, 4.0, 3.0, 4.0], &[5.0, 3.0]];

/// How one design looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    number: usize,
}

/// The place of a text beside its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
    Centre,
    Below,
}

/// What a plot is drawn on.
pub(super) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, plotters::coord::Shift>,
}

/// A place on the sheet, in pixels of the page.
pub(super) type Spot = (f64, f64);

/// Draws a picture of so many pixels, and returns its text.
pub(super) fn draw((width, height): Spot, draw: impl FnOnce(&Canvas<'_>)) -> String {
    let mut text = String::new();
    let size = ((width * FINE) as u32, (height * FINE) as u32);
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let canvas = Canvas { area };
        canvas.rect((0.0, 0.0), (width, height), WHITE.filled());
        draw(&canvas);
        done(canvas.area.present());
    }
    // Shown at half the size that it was drawn at; and what is so anyway goes without saying.
    let text = text.replace(" opacity=\"1\"", "");
    let drawn = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
    text.replacen(&drawn, &format!("width=\"{}\" height=\"{}\"", width as u32, height as u32), 1)
}

/// Into a text nothing can fail to be drawn.
fn done<E: std::error::Error + Send + Sync>(drawn: Result<(), DrawingAreaErrorKind<E>>) {
    if let Err(error) = drawn {
        unreachable!("a drawing into memory failed: {error}");
    }
}

fn pixel((x, y): Spot) -> (i32, i32) {
    ((x * FINE).round() as i32, (y * FINE).round() as i32)
}

impl Canvas<'_> {
    pub(super) fn rect(&self, from: Spot, to: Spot, style: ShapeStyle) {
        done(self.area.draw(&Rectangle::new([pixel(from), pixel(to)], style)));
    }

    pub(super) fn line(&self, points: &[Spot], colour: RGBColor, width: f64) {
        let style = colour.stroke_width((width * FINE).round() as u32);
        done(self.area.draw(&PathElement::new(points.iter().copied().map(pixel).collect::<Vec<_>>(), style)));
    }

    /// A line as a design has it.
    pub(super) fn curve(&self, points: &[Spot], look: Look) {
        /// What has more points than this is drawn without gaps: they would be shorter than the way between two.
        const MANY: usize = 400;
        let dash = look.dash();
        if dash.is_empty() || points.len() > MANY {
            return self.line(points, look.colour(), 1.8);
        }
        for piece in dashed(points, dash) {
            self.line(&piece, look.colour(), 1.8);
        }
    }

    /// A bar that goes up, with its ends.
    pub(super) fn whisker(&self, low: Spot, high: Spot, look: Look) {
        self.line(&[low, high], look.colour(), 1.0);
        for (x, y) in [low, high] {
            self.line(&[(x - 3.0, y), (x + 3.0, y)], look.colour(), 1.0);
        }
    }

    /// A bar from left to right, with its ends.
    pub(super) fn whisker_across(&self, low: Spot, high: Spot, look: Look) {
        self.line(&[low, high], look.colour(), 1.0);
        for (x, y) in [low, high] {
            self.line(&[(x, y - 3.0), (x, y + 3.0)], look.colour(), 1.0);
        }
    }

    /// A line of dashes that is no design's.
    pub(super) fn dashes(&self, points: &[Spot], colour: RGBColor) {
        dashed(points, &[7.0, 5.0]).iter().for_each(|piece| self.line(piece, colour, 2.0));
    }

    /// What lies between two lines, so light that others show through.
    pub(super) fn band(&self, outline: &[Spot], look: Look) {
        let style = look.colour().mix(0.13).filled();
        let points: Vec<(i32, i32)> = outline.iter().copied().map(pixel).collect();
        done(self.area.draw(&Polygon::new(points, style)));
    }

    pub(super) fn text(&self, text: &str, at: Spot, side: Side) {
        self.write(text, at, side, (TEXT, INK));
    }

    pub(super) fn write(&self, text: &str, at: Spot, side: Side, (size, colour): (f64, RGBColor)) {
        let (across, down) = match side {
            Side::Left => (HPos::Right, VPos::Center),
            Side::Right => (HPos::Left, VPos::Center),
            Side::Centre => (HPos::Center, VPos::Center),
            Side::Below => (HPos::Center, VPos::Top),
        };
        let style = (FONT, size * FINE).into_font().color(&colour).pos(Pos::new(across, down));
        done(self.area.draw(&Text::new(text.to_owned(), pixel(at), style)));
    }

    /// Text that goes up.
    pub(super) fn upward(&self, text: &str, at: Spot) {
        let font = (FONT, TEXT * FINE).into_font().transform(FontTransform::Rotate270);
        let style = font.color(&INK).pos(Pos::new(HPos::Center, VPos::Center));
        done(self.area.draw(&Text::new(text.to_owned(), pixel(at), style)));
    }

    /// The sign of a design.
    pub(super) fn marker(&self, at: Spot, look: Look) {
        const R: f64 = 4.5;
        let colour = look.colour();
        let polygon = |corners: &[Spot]| {
            let points: Vec<Spot> = corners.iter().map(|(x, y)| (at.0 + x * R, at.1 + y * R)).collect();
            let filled: Vec<(i32, i32)> = points.iter().copied().map(pixel).collect();
            let fill = if look.is_hollow() { WHITE.filled() } else { colour.filled() };
            done(self.area.draw(&Polygon::new(filled, fill)));
            let closed: Vec<Spot> = points.iter().chain(points.first()).copied().collect();
            self.line(&closed, colour, 1.5);
        };
        match look.number % 5 {
            0 => {
                let fill = if look.is_hollow() { WHITE.filled() } else { colour.filled() };
                done(self.area.draw(&Circle::new(pixel(at), (R * FINE) as i32, fill)));
                let edge = colour.stroke_width((1.5 * FINE) as u32);
                done(self.area.draw(&Circle::new(pixel(at), (R * FINE) as i32, edge)));
            }
            1 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            2 => polygon(&[(0.0, -1.15), (1.05, 0.8), (-1.05, 0.8)]),
            3 => polygon(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
            _ => polygon(&[(0.0, 1.15), (1.05, -0.8), (-1.05, -0.8)]),
        }
    }
}

impl Look {
    /// The look of the design with this number.
    pub(super) fn of(number: usize) -> Look {
        Look { number }
    }

    pub(super) fn colour(self) -> RGBColor {
        COLOURS[self.number % COLOURS.len()]
    }

    fn dash(self) -> &'static [f64] {
        DASHES[self.number % DASHES.len()]
    }

    fn is_hollow(self) -> bool {
        self.number / 5 % 2 == 1
    }
}

/// A line in pieces, by lengths of ink and gap.
fn dashed(points: &[Spot], dash: &[f64]) -> Vec<Vec<Spot>> {
    let mut pieces = Vec::new();
    let (mut place, mut left) = (0, dash[0]);
    let mut piece: Vec<Spot> = points.first().copied().into_iter().collect();
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        let mut length = ((to.0 - from.0).powi(2) + (to.1 - from.1).powi(2)).sqrt();
        while length > left {
            let part = left / length;
            from = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
            length -= left;
            piece.push(from);
            if place % 2 == 0 {
                pieces.push(std::mem::take(&mut piece));
            }
            piece = vec![from];
            place += 1;
            left = dash[place % dash.len()];
        }
        left -= length;
        piece.push(to);
    }
    if place % 2 == 0 && piece.len() > 1 {
        pieces.push(piece);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dashed_line_has_as_much_ink_as_its_pattern_says() {
        let pieces = dashed(&[(0.0, 0.0), (30.0, 0.0), (30.0, 12.0)], &[9.0, 5.0]);
        let ends: Vec<(Spot, Spot)> = pieces.iter().map(|piece| (piece[0], piece[piece.len() - 1])).collect();
        assert_eq!(ends, [((0.0, 0.0), (9.0, 0.0)), ((14.0, 0.0), (23.0, 0.0)), ((28.0, 0.0), (30.0, 7.0))]);
    }

    #[test]
    fn text_stays_text_and_is_escaped() {
        let svg = draw((100.0, 50.0), |canvas| canvas.text("a <b> & \"c\"", (10.0, 10.0), Side::Right));
        assert!(svg.contains("a &lt;b&gt; &amp; &quot;c&quot;"), "{svg}");
        assert!(svg.starts_with("<svg width=\"100\" height=\"50\" viewBox=\"0 0 200 100\""), "{svg}");
    }
}
