//! The whole figure: title, the run's panel, panels of what is small, clocks, sentences.

use doublehold_history::instant;
use doublehold_render::palette::PAPER;
use doublehold_render::picture::view::View;
use doublehold_text::duration;

use super::colours::{self, FAINT, INK, VIOLATION};
use super::lettering::{self, Font, SIZE, SMALL, wrap_text};
use super::panel::Panel;
use super::paper::{Align, Box2, Paper, number};
use super::rows::{Row, rows};
use super::scale::Scale;
use super::zoom::{ZoomPanel, find_zoom_panels};
use super::{Options, clocks, double_holds, legend};

const MARGIN: f64 = 16.0;
/// The radius of the circle about the number of a sentence.
const NUMBER: f64 = 8.0;
/// What the labels of rows take at most.
const LABELS: f64 = 150.0;

/// A figure while it is drawn, from top to bottom.
struct FigureLayout<'v> {
    view: &'v View,
    /// What all names in the markup begin with: a name must begin with a letter.
    id: String,
    width: f64,
    /// Where the next part begins.
    below: f64,
    /// The signs of it that the legend has to explain.
    drawn: legend::Drawn,
    paper: Paper,
}

/// The text of a figure.
pub(super) fn draw(view: &View, options: &Options) -> String {
    let width = f64::from(options.width.max(Options::NARROWEST));
    let id: String = options.id.chars().filter(|it| it.is_ascii_alphanumeric() || *it == '-').collect();
    let id = format!("figure-{id}");
    let zooms = find_zoom_panels(view);
    let drawn = legend::Drawn { zooms: !zooms.is_empty(), ..legend::Drawn::default() };
    let mut layout = FigureLayout { view, id, width, below: MARGIN, drawn, paper: Paper::default() };
    layout.title();
    layout.draw_run(&zooms);
    for (zoom, sign) in zooms.iter().zip('A'..) {
        layout.draw_zoom(zoom, sign);
    }
    layout.legend();
    layout.sentences();
    layout.finish()
}

impl FigureLayout<'_> {
    fn finish(self) -> String {
        let id = &self.id;
        let attributes =
            format!(r#"font-family="sans-serif" font-size="{SIZE}" fill="{INK}" id="{id}" role="img""#);
        let beneath = format!(
            "<style>#{id} .label{{font-size:{SMALL}px;paint-order:stroke;stroke:#fff;stroke-width:2.5px;\
             stroke-linejoin:round}}</style>\n{}",
            colours::definitions(id, self.view.lanes.clients.len())
        );
        self.paper.into_svg((self.width, self.below + MARGIN), &attributes, &beneath)
    }

    fn paragraph(&mut self, text: &str, indent: f64, attributes: &str) {
        let font = if attributes.contains("bold") { Font::STRONG } else { Font::TEXT };
        for line in wrap_text(text, font, self.width - 2.0 * MARGIN - indent) {
            self.below += 16.0;
            self.paper.text((MARGIN + indent, self.below), Align::Start, attributes, &line);
        }
    }

    fn title(&mut self) {
        let view = self.view;
        let title = format!("{}: {} of true time", view.title(), duration(view.ended.0));
        self.paragraph(&title, 0.0, r#"font-weight="bold""#);
        let said =
            |it: &doublehold_render::picture::view::VerdictLine| format!("{} {}", it.predicate, it.verdict);
        let verdicts: Vec<String> = view.verdicts.iter().map(said).collect();
        self.paragraph(&verdicts.join(" · "), 0.0, &format!(r#"fill="{FAINT}""#));
        self.paragraph(&view.claim, 0.0, "");
        self.below += 12.0;
    }

    /// How much of the width the labels of rows take.
    fn label_width(&self, rows: &[Row<'_>]) -> f64 {
        let labels = rows.iter().map(|row| row.label.clone()).chain(clocks::labels(self.view));
        let widest = labels.map(|label| lettering::width(&label, Font::STRONG)).fold(0.0, f64::max);
        (widest + 24.0).clamp(72.0, LABELS)
    }

    fn scale(&self, zoom: &ZoomPanel) -> Scale {
        let left = MARGIN + self.label_width(&rows(self.view, 0.0));
        Scale { from: zoom.from, to: zoom.to, left, width: self.width - MARGIN - left }
    }

    /// The whole run, with the numbers of the sentences above and the signs of the zoom panels below.
    fn draw_run(&mut self, zooms: &[ZoomPanel]) {
        let whole =
            ZoomPanel { from: doublehold_history::TrueNs(0), to: self.view.ended, words: String::new() };
        let scale = self.scale(&whole);
        let (top, bottom) = self.panel(scale);
        let mut signs = Vec::new();
        for (zoom, sign) in zooms.iter().zip('A'..) {
            let (x, end) = (scale.x(zoom.from), scale.x(zoom.to));
            let area = Box2 { x, y: top, width: (end - x).max(1.0), height: bottom - top };
            let attributes =
                format!(r#"fill="none" stroke="{INK}" stroke-width="0.8" stroke-dasharray="2 2""#);
            self.paper.rect(area, &attributes, &zoom.words);
            signs.push(((x + end) / 2.0, sign));
        }
        if !signs.is_empty() {
            let wanted: Vec<f64> = signs.iter().map(|(at, _)| *at).collect();
            let places = place_numbers(&wanted, scale.left, scale.right_edge());
            self.below += 6.0;
            for ((_, sign), at) in signs.into_iter().zip(places) {
                let attributes = r#"class="label" font-weight="bold""#;
                self.paper.text((at, self.below), Align::Middle, attributes, &sign.to_string());
            }
            self.below += 14.0;
        }
        self.below = clocks::draw(&mut self.paper, self.view, scale, self.below);
    }

    fn draw_zoom(&mut self, zoom: &ZoomPanel, sign: char) {
        let span = zoom.to.since(zoom.from);
        let title = format!(
            "{sign}: {}. {} to {}, {} wide",
            zoom.words,
            instant(zoom.from),
            instant(zoom.to),
            duration(span)
        );
        self.paragraph(&title, 0.0, r#"font-weight="bold""#);
        self.below += 2.0;
        let scale = self.scale(zoom);
        self.panel(scale);
    }

    /// The rows over a scale, with their axis, the numbers of the sentences that are in it and what is said of double
    /// holds; where the rows begin and end.
    fn panel(&mut self, scale: Scale) -> (f64, f64) {
        let captions = double_holds::captions(self.view, scale);
        let above = self.below + 24.0;
        let rows = &rows(self.view, above + double_holds::height(&captions));
        let clip = format!("{}-clip{}", self.id, number(self.below));
        let id = self.id.clone();
        let mut panel = Panel::new(self.view, &id, scale, rows);
        let (top, bottom) = (panel.top(), panel.bottom());
        panel.draw();
        self.drawn.bundles |= panel.bundles;
        let drawn = std::mem::take(&mut panel.paper).into_markup();
        panel.row_labels();
        panel.axis();
        let axis = std::mem::take(&mut panel.paper).into_markup();
        let area =
            Box2 { x: scale.left - 1.0, y: top - 1.0, width: scale.width + 2.0, height: bottom - top + 2.0 };
        self.paper.open(&format!(r#"clip-path="url(#{clip})""#));
        self.paper.raw(&format!("<clipPath id=\"{clip}\">"));
        self.paper.rect(area, "", "");
        self.paper.raw("</clipPath>\n");
        self.paper.raw(&drawn);
        self.paper.close();
        self.paper.raw(&axis);
        self.numbers(rows, scale, above);
        double_holds::draw(&mut self.paper, &captions, top);
        self.below = bottom + 30.0;
        (top, bottom)
    }

    /// The number of each sentence above its instant, with a line down to the lane that it is about. Numbers end
    /// at `top`.
    fn numbers(&mut self, rows: &[Row<'_>], scale: Scale, top: f64) {
        let lines: Vec<_> =
            self.view.story.iter().zip(1..).filter(|(line, _)| scale.shows(line.at, line.at)).collect();
        let wanted: Vec<f64> = lines.iter().map(|(line, _)| scale.x(line.at)).collect();
        let places = place_numbers(&wanted, MARGIN + NUMBER, scale.right_edge());
        for ((line, number), at) in lines.into_iter().zip(places) {
            let x = scale.x(line.at);
            let lane = rows.iter().find(|row| row.host().is_some() && row.host() == line.host);
            let ink = if line.proves { VIOLATION } else { INK };
            let down = lane.map_or(top, |row| row.middle() - 9.0);
            let attributes = format!(r#"stroke="{ink}" stroke-width="0.6""#);
            self.paper.line((at, top - 5.0), (x, top), &attributes, "");
            self.paper.line((x, top), (x, down), &format!(r#"{attributes} stroke-dasharray="1 2""#), "");
            let title = format!("{}: {}", instant(line.at), line.words);
            self.paper.circle((at, top - 13.0), NUMBER, &format!(r#"fill="{PAPER}" stroke="{ink}""#), &title);
            let attributes = format!(r#"font-size="{SMALL}" fill="{ink}""#);
            self.paper.text((at, top - 9.5), Align::Middle, &attributes, &number.to_string());
        }
    }

    /// What the signs of this figure mean.
    fn legend(&mut self) {
        let edges = (MARGIN, self.width - MARGIN);
        self.below = legend::draw(&mut self.paper, self.view, (&self.id, self.drawn), edges, self.below);
    }

    fn sentences(&mut self) {
        let view = self.view;
        if let Some(account) = &view.account {
            self.paragraph(&format!("{}: {}", account.label(), account.words), 0.0, r#"font-weight="bold""#);
            self.below += 6.0;
        }
        for (place, line) in view.story.iter().enumerate() {
            let before = self.below;
            self.paragraph(&line.words, 110.0, "");
            let attributes =
                if line.proves { format!(r#"fill="{VIOLATION}" font-weight="bold""#) } else { String::new() };
            self.paper.text(
                (MARGIN + 22.0, before + 16.0),
                Align::End,
                &attributes,
                &(place + 1).to_string(),
            );
            self.paper.text(
                (MARGIN + 98.0, before + 16.0),
                Align::End,
                &format!(r#"fill="{FAINT}""#),
                &instant(line.at),
            );
        }
        if !view.left_out.is_empty() {
            self.paragraph(&format!("… and {}", view.left_out), 110.0, &format!(r#"fill="{FAINT}""#));
        }
    }
}

/// Places for numbers that want to be at these: beside each other where they would collide, closer where they would
/// not all fit, and none beyond an edge.
fn place_numbers(wanted: &[f64], left: f64, right: f64) -> Vec<f64> {
    const APART: f64 = 18.0;
    let gaps = wanted.len().saturating_sub(1).max(1);
    let apart = APART.min((right - left) / gaps as f64);
    let mut places = wanted.to_vec();
    let mut free = right;
    for place in places.iter_mut().rev() {
        *place = place.min(free);
        free = *place - apart;
    }
    let mut free = left;
    for place in &mut places {
        *place = place.max(free);
        free = *place + apart;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_collide_stand_beside_each_other() {
        assert_eq!(place_numbers(&[30.0, 32.0, 90.0], 0.0, 100.0), [14.0, 32.0, 90.0]);
        assert_eq!(place_numbers(&[10.0, 12.0, 90.0], 0.0, 100.0), [0.0, 18.0, 90.0]);
        assert_eq!(place_numbers(&[98.0, 99.0, 100.0], 0.0, 100.0), [64.0, 82.0, 100.0]);
        assert!(place_numbers(&[], 0.0, 100.0).is_empty());
    }

    #[test]
    fn numbers_that_do_not_fit_stand_closer_and_none_is_beyond_an_edge() {
        assert_eq!(place_numbers(&[99.0; 5], 40.0, 100.0), [40.0, 55.0, 70.0, 85.0, 100.0]);
        assert_eq!(place_numbers(&[40.0; 5], 40.0, 100.0), [40.0, 55.0, 70.0, 85.0, 100.0]);
    }
}
