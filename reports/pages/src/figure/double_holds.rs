//! Double holds: bands through all lanes, and above the lanes what is said of them, on plain paper.

use doublehold_history::instant;
use doublehold_render::palette::PAPER;
use doublehold_render::picture::view::{OverlapSpan, View};

use super::colours::{Pattern, VIOLATION};
use super::lettering::{Font, clip_text, width};
use super::panel::Panel;
use super::paper::{Align, Box2, Paper};
use super::scale::Scale;

/// The height of a line of captions.
const LINE: f64 = 13.0;
/// More lines than these would be more than what they are about.
const MOST_LINES: usize = 3;
/// The gap between two captions in a line.
const APART: f64 = 10.0;

/// A double hold. Where the same claims overlap validly for the same time, that is one band.
struct Band<'v> {
    overlap: &'v OverlapSpan,
    predicates: String,
    words: String,
}

/// The words about a band, above the lanes; of those that there is no room for, only a reader who points at the band
/// is told.
pub(super) struct Caption {
    /// The beginnings of the band and of the words.
    band: f64,
    left: f64,
    /// Counted upwards from the lanes.
    line: usize,
    words: String,
}

fn bands(view: &View, scale: Scale) -> Vec<Band<'_>> {
    let overlaps = &view.lanes.overlaps;
    let key = |it: &OverlapSpan| (it.grants, it.from, it.to);
    let is_first =
        |place: usize, it: &OverlapSpan| !overlaps[..place].iter().any(|other| key(other) == key(it));
    let shown =
        overlaps.iter().enumerate().filter(|(place, it)| scale.shows(it.from, it.to) && is_first(*place, it));
    let band = |(_, overlap)| {
        let same: Vec<&OverlapSpan> = overlaps.iter().filter(|it| key(it) == key(overlap)).collect();
        let predicates: Vec<&str> = same.iter().map(|it| it.predicate.as_str()).collect();
        let said = same.last().map_or(overlap.words.as_str(), |it| it.words.as_str());
        let words = format!("{}: {said}", predicates.join(" and "));
        Band { overlap, predicates: predicates.join(" "), words }
    };
    shown.map(band).collect()
}

/// The captions of a panel, each in the lowest line that has room for it.
pub(super) fn captions(view: &View, scale: Scale) -> Vec<Caption> {
    let right = scale.right_edge();
    let mut captions: Vec<Caption> = Vec::new();
    let mut taken: Vec<(usize, f64, f64)> = Vec::new();
    for band in bands(view, scale) {
        let at = scale.inside(band.overlap.from);
        let Some(words) = clip_text(&band.words, Font::STRONG_LABEL, scale.width) else { continue };
        let wide = width(&words, Font::STRONG_LABEL);
        let left = (at + 3.0).min(right - wide).max(scale.left);
        let is_free = |line: &usize| {
            let meets = |(_, from, to): &&(usize, f64, f64)| left < to + APART && *from < left + wide + APART;
            !taken.iter().filter(|(of, ..)| of == line).any(|it| meets(&it))
        };
        if let Some(line) = (0..MOST_LINES).find(is_free) {
            taken.push((line, left, left + wide));
            captions.push(Caption { band: at, left, line, words });
        }
    }
    captions
}

/// The room that captions take above the lanes.
pub(super) fn height(captions: &[Caption]) -> f64 {
    captions.iter().map(|caption| caption.line + 1).max().unwrap_or(0) as f64 * LINE
}

/// Draws captions above lanes that begin at `top`, with a line down to the band where words stand higher.
pub(super) fn draw(paper: &mut Paper, captions: &[Caption], top: f64) {
    for caption in captions {
        let below = top - caption.line as f64 * LINE;
        let attributes = format!(r#"stroke="{VIOLATION}" stroke-width="0.8""#);
        paper.line((caption.band, below - LINE + 2.0), (caption.band, top), &attributes, "");
    }
    for Caption { left, line, words, .. } in captions {
        let below = top - *line as f64 * LINE;
        let plate = Box2 {
            x: left - 1.0,
            y: below - LINE + 1.0,
            width: width(words, Font::STRONG_LABEL) + 2.0,
            height: LINE - 2.0,
        };
        paper.rect(plate, &format!(r#"class="plate" fill="{PAPER}""#), "");
        let attributes = format!(r#"class="label" fill="{VIOLATION}" font-weight="bold""#);
        paper.text((*left, below - 4.0), Align::Start, &attributes, words);
    }
}

impl Panel<'_> {
    /// Double holds, as bands through all lanes.
    pub(super) fn double_holds(&mut self) {
        let (top, height) = (self.top(), self.bottom() - self.top());
        for Band { overlap, predicates, words } in bands(self.view, self.scale) {
            let (x, to) = (self.scale.inside(overlap.from), self.scale.inside(overlap.to));
            let area = Box2 { x, y: top, width: (to - x).max(1.0), height };
            let attributes = format!(
                r#"class="overlap" data-predicate="{predicates}" data-from="{}" data-to="{}" fill="{}" stroke="{VIOLATION}" stroke-width="0.8""#,
                overlap.from.0,
                overlap.to.0,
                Pattern::Double.fill(self.id),
            );
            let title = format!("{words}, from {} to {}", instant(overlap.from), instant(overlap.to));
            self.paper.rect(area, &attributes, &title);
        }
    }
}
