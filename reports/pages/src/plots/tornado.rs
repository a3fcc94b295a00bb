//! One rate of one design, with each cause rarer and more frequent than it is taken to be: a bar for each cause, from
//! one rate to the other, and the rate as it is across all of them.
//!
//! The caller orders the causes: what matters most stands first. A bar is hollow where the cause is rarer and filled
//! where it is more frequent, which is told apart in the dark and on paper too. So a cause that lowers the rate is seen
//! as one: its hollow part is on the right.

use doublehold_render::palette::sweep::GUESS;

use super::canvas::{INK, WHITE, draw};
use super::rows::Rows;
use super::scale::{Quantity, Scale};

/// What the plot shows.
pub(crate) struct Tornado {
    /// What is counted.
    pub(crate) title: String,
    /// In what.
    pub(crate) axis: String,
    pub(crate) quantity: Quantity,
    /// From top to bottom.
    pub(crate) rows: Vec<TornadoRow>,
}

/// A cause.
pub(crate) struct TornadoRow {
    pub(crate) name: String,
    /// The rate if the cause is rarer.
    pub(crate) low: f64,
    /// The rate as it is.
    pub(crate) now: f64,
    /// The rate if the cause is more frequent.
    pub(crate) high: f64,
}

impl TornadoRow {
    /// The length from one end of the rate to the other.
    pub(crate) fn width(&self) -> f64 {
        (self.high - self.low).abs()
    }
}

/// Half of the thickness of a bar.
const HALF: f64 = 6.0;

/// Draws it.
pub(crate) fn tornado(plot: &Tornado) -> String {
    let rows = Rows::new(plot.rows.iter().map(|row| row.name.as_str()), 0.0);
    let all: Vec<f64> = plot.rows.iter().flat_map(|row| [row.low, row.now, row.high]).collect();
    let scale = Scale::fitting(&all, plot.quantity);
    let x = |rate: f64| rows.field.at(scale.place(rate), 0.0).0;
    draw(rows.size(), |canvas| {
        rows.frame(canvas, &plot.title, &scale, &plot.axis);
        for (place, row) in plot.rows.iter().enumerate() {
            let y = rows.row(canvas, place);
            for (end, fill) in [(row.low, WHITE), (row.high, GUESS)] {
                let (left, right) = (x(end.min(row.now)), x(end.max(row.now)));
                let (top, bottom) = (y - HALF, y + HALF);
                canvas.rect((left, top), (right, bottom), fill);
                let edges = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
                canvas.line(&edges, GUESS, 1.0);
            }
        }
        if let Some(row) = plot.rows.first() {
            canvas.line(&[(x(row.now), rows.field.top), (x(row.now), rows.field.bottom)], INK, 2.0);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, low: f64, now: f64, high: f64) -> TornadoRow {
        TornadoRow { name: name.to_owned(), low, now, high }
    }

    /// The edges of the rectangles of one colour, from top to bottom.
    fn bars(svg: &str, fill: &str) -> Vec<(f64, f64)> {
        let document = roxmltree::Document::parse(svg).expect("a picture is XML");
        let of = |node: roxmltree::Node<'_, '_>| {
            let number = |name: &str| node.attribute(name).and_then(|it| it.parse().ok()).unwrap_or(0.0_f64);
            (number("x"), number("x") + number("width"))
        };
        let crisp = document.descendants().filter(|node| node.has_attribute("shape-rendering"));
        crisp.filter(|node| node.attribute("fill") == Some(fill)).map(of).collect()
    }

    #[test]
    fn bars_meet_at_the_present_rate_and_a_cause_that_lowers_it_goes_the_other_way() {
        let svg = tornado(&Tornado {
            title: "a rate".to_owned(),
            axis: "times a month".to_owned(),
            quantity: Quantity::Number,
            rows: vec![row("pauses <of c1>", 0.05, 0.2, 0.9), row("checks", 0.3, 0.2, 0.0)],
        });
        assert!(svg.contains("pauses &lt;of c1&gt;") && svg.contains("times a month"), "{svg}");
        let (rarer, more) = (bars(&svg, WHITE), bars(&svg, GUESS));
        let now = rarer[0].1;
        assert!(rarer[0].0 < now && (more[0].0 - now).abs() < 0.02 && now < more[0].1, "{svg}");
        assert!(rarer[1].1 > now && more[1].0 < now, "rarer is worse: {svg}");
    }

    #[test]
    fn long_names_are_not_cut() {
        let name = "partitions between a-client-with-a-name and the-other-node, line 2";
        let rows = vec![row(name, 1e-6, 1e-4, 0.2)];
        let plot =
            |rows| Tornado { title: String::new(), axis: String::new(), quantity: Quantity::Share, rows };
        let svg = tornado(&plot(rows));
        assert!(svg.contains(name) && svg.contains(">10⁻⁴<"), "{svg}");
        assert!(!tornado(&plot(Vec::new())).contains("NaN"));
    }
}
