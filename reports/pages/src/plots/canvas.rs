//! Shapes and text on a sheet, in the colours, dashes and markers that designs are told apart by.

use doublehold_render::palette::DESIGNS;
pub(super) use doublehold_render::palette::sweep::{GRID as FAINT, WORDS as GREY};
pub(super) use doublehold_render::palette::{INK, PAPER as WHITE};

use crate::figure::paper::{Align, Box2, Paper, number};

/// The width of a panel, in pixels of the page: two stand side by side on a screen, and one fills a telephone.
pub(super) const WIDTH: f64 = 460.0;
/// The size of text, which is the height of its line, likewise. On a telephone, which shows a panel at seven tenths,
/// the letters of the smallest text, [`SMALL`], are nine pixels high.
pub(super) const TEXT: f64 = 17.0;
/// The size of the smallest text.
pub(super) const SMALL: f64 = 16.0;
/// Heights of a line for one of its font.
const LINE: f64 = 1.24;

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
#[derive(Default)]
pub(super) struct Canvas {
    paper: Paper,
}

/// A place on the sheet, in pixels of the page.
pub(super) type Spot = (f64, f64);

/// Draws a picture of so many pixels, and returns its text.
pub(super) fn draw(size: Spot, draw: impl FnOnce(&mut Canvas)) -> String {
    let mut canvas = Canvas::default();
    draw(&mut canvas);
    canvas.paper.into_svg(size, "font-family=\"sans-serif\"", "")
}

impl Canvas {
    /// A filled rectangle between two corners, the upper left one first. Those that touch leave no gap.
    pub(super) fn rect(&mut self, from: Spot, to: Spot, colour: &str) {
        let area = Box2 { x: from.0, y: from.1, width: to.0 - from.0, height: to.1 - from.1 };
        self.paper.rect(area, &format!("fill=\"{colour}\" shape-rendering=\"crispEdges\""), "");
    }

    /// A line through points.
    pub(super) fn line(&mut self, points: &[Spot], colour: &str, width: f64) {
        let stroke = stroke(colour, width);
        match points {
            [from, to] => self.paper.line(*from, *to, &stroke, ""),
            _ => self.paper.path(points, &format!("fill=\"none\" {stroke}"), ""),
        }
    }

    /// A line as a design has it.
    pub(super) fn curve(&mut self, points: &[Spot], look: Look) {
        /// What has more points than this is drawn without gaps: they would be shorter than the way between two.
        const MANY: usize = 400;
        let dash = look.dash();
        if dash.is_empty() || points.len() > MANY {
            return self.line(points, look.colour(), 2.0);
        }
        for piece in dash_line(points, dash) {
            self.line(&piece, look.colour(), 2.0);
        }
    }

    /// A bar that goes up, with its ends.
    pub(super) fn whisker(&mut self, low: Spot, high: Spot, look: Look) {
        self.line(&[low, high], look.colour(), 1.0);
        for (x, y) in [low, high] {
            self.line(&[(x - 3.0, y), (x + 3.0, y)], look.colour(), 1.0);
        }
    }

    /// A bar from left to right, with its ends.
    pub(super) fn whisker_across(&mut self, low: Spot, high: Spot, look: Look) {
        self.line(&[low, high], look.colour(), 1.0);
        for (x, y) in [low, high] {
            self.line(&[(x, y - 3.0), (x, y + 3.0)], look.colour(), 1.0);
        }
    }

    /// A line of dashes that is no design's.
    pub(super) fn dashes(&mut self, points: &[Spot], colour: &str) {
        dash_line(points, &[7.0, 5.0]).iter().for_each(|piece| self.line(piece, colour, 2.0));
    }

    /// What lies between two lines, so light that others show through.
    pub(super) fn band(&mut self, outline: &[Spot], look: Look) {
        self.paper.path(outline, &format!("fill=\"{}\" opacity=\"0.13\"", look.colour()), "");
    }

    pub(super) fn write(&mut self, text: &str, at: Spot, side: Side, font: (f64, &str)) {
        let (align, down) = match side {
            Side::Left => (Align::End, MIDDLE),
            Side::Right => (Align::Start, MIDDLE),
            Side::Centre => (Align::Middle, MIDDLE),
            Side::Below => (Align::Middle, "0.76em"),
        };
        self.paper.text(at, align, &text_attributes(down, font), text);
    }

    /// Text that goes up.
    pub(super) fn upward(&mut self, text: &str, at: Spot) {
        let turned = format!("transform=\"rotate(270 {} {})\"", number(at.0), number(at.1));
        let attributes = format!("{} {turned}", text_attributes(MIDDLE, (TEXT, INK)));
        self.paper.text(at, Align::Middle, &attributes, text);
    }

    /// The sign of a design.
    pub(super) fn marker(&mut self, at: Spot, look: Look) {
        const R: f64 = 4.5;
        const EDGE: f64 = 1.5;
        let colour = look.colour();
        let fill = if look.is_hollow() { WHITE } else { colour };
        let attributes = format!("fill=\"{fill}\" {}", stroke(colour, EDGE));
        let corners: &[Spot] = match look.number % 5 {
            0 => return self.paper.circle(at, R, &attributes, ""),
            1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            2 => &[(0.0, -1.15), (1.05, 0.8), (-1.05, 0.8)],
            3 => &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
            _ => &[(0.0, 1.15), (1.05, -0.8), (-1.05, -0.8)],
        };
        let around = corners.iter().chain(corners.first());
        let points: Vec<Spot> = around.map(|(x, y)| (at.0 + x * R, at.1 + y * R)).collect();
        self.paper.path(&points, &attributes, "");
    }
}

/// How far below its point a text that stands beside it begins, in the font's own measure.
const MIDDLE: &str = "0.5ex";

/// The attributes of a line.
fn stroke(colour: &str, width: f64) -> String {
    format!("stroke=\"{colour}\" stroke-width=\"{width}\"")
}

/// The attributes of a text.
fn text_attributes(down: &str, (size, colour): (f64, &str)) -> String {
    format!("dy=\"{down}\" font-size=\"{}\" fill=\"{colour}\"", number(size / LINE))
}

impl Look {
    /// The look of the design with this number.
    pub(super) fn new(number: usize) -> Look {
        Look { number }
    }

    pub(super) fn colour(self) -> &'static str {
        DESIGNS[self.number % DESIGNS.len()]
    }

    fn dash(self) -> &'static [f64] {
        DASHES[self.number % DASHES.len()]
    }

    fn is_hollow(self) -> bool {
        self.number / 5 % 2 == 1
    }
}

/// A line in pieces, by lengths of ink and gap.
fn dash_line(points: &[Spot], dash: &[f64]) -> Vec<Vec<Spot>> {
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
        let pieces = dash_line(&[(0.0, 0.0), (30.0, 0.0), (30.0, 12.0)], &[9.0, 5.0]);
        let ends: Vec<(Spot, Spot)> = pieces.iter().map(|piece| (piece[0], piece[piece.len() - 1])).collect();
        assert_eq!(ends, [((0.0, 0.0), (9.0, 0.0)), ((14.0, 0.0), (23.0, 0.0)), ((28.0, 0.0), (30.0, 7.0))]);
    }

    #[test]
    fn text_stays_text_and_is_escaped() {
        let svg = draw((100.0, 50.0), |canvas| {
            canvas.write("a <b> & \"c\"", (10.0, 10.0), Side::Right, (TEXT, INK));
        });
        assert!(svg.contains("a &lt;b&gt; &amp; &quot;c&quot;"), "{svg}");
        assert!(svg.contains("viewBox=\"0 0 100 50\" width=\"100\" height=\"50\""), "{svg}");
    }
}
