//! How far each clock was from true time, for the clocks that were: a strip for each, under the run's panel.
//!
//! Every strip has a scale of its own: clocks that are years apart and one that is stepped by a second are both read.

use doublehold_history::instant;
use doublehold_render::picture::view::{ClockSeries, ClockStretch, View};
use doublehold_text::duration;

use super::colours::{FAINT, INK, LANE};
use super::lettering::{Font, clip_text, width};
use super::paper::{Align, Box2, Paper};
use super::scale::Scale;

/// How high a strip is, with the room above it.
const HEIGHT: f64 = 44.0;
/// What of it is the room above.
const ABOVE: f64 = 16.0;

/// One clock of one host.
struct Strip {
    label: String,
    /// Of each line, its first and last instant with the offsets there.
    lines: Vec<[(doublehold_history::TrueNs, i64); 2]>,
}

impl Strip {
    fn new(label: String, series: &ClockSeries, offsets: impl Fn(&ClockStretch) -> [i64; 2]) -> Strip {
        let line = |line: &ClockStretch| {
            let [first, last] = offsets(line);
            [(line.from, first), (line.to, last)]
        };
        Strip { label, lines: series.lines.iter().map(line).collect() }
    }

    fn is_off(&self) -> bool {
        self.lines.iter().flatten().any(|(_, offset)| *offset != 0)
    }

    /// The least and the greatest offset, and no offset.
    fn range(&self) -> (i64, i64) {
        let offsets = || self.lines.iter().flatten().map(|(_, offset)| *offset);
        (offsets().min().unwrap_or(0).min(0), offsets().max().unwrap_or(0).max(0))
    }
}

/// Draws a strip for each clock that was ever off, below `top`; where they end.
pub(super) fn draw(paper: &mut Paper, view: &View, scale: Scale, top: f64) -> f64 {
    let mut below = top;
    if view.clocks.is_empty() {
        return below;
    }
    let strips = strips(view);
    let words = if strips.is_empty() { "every clock shows true time" } else { "clock minus true time" };
    below += 6.0;
    paper.text((scale.left, below), Align::Start, &format!(r#"class="label" fill="{FAINT}""#), words);
    let mut taken = vec![text_area(scale.left, below, words)];
    for strip in &strips {
        strip.draw(paper, scale, below, &mut taken);
        below += HEIGHT;
    }
    below + 12.0
}

/// The room of a label that begins here, with some to the next one.
fn text_area(x: f64, baseline: f64, words: &str) -> Box2 {
    Box2 { x: x - 3.0, y: baseline - 9.0, width: width(words, Font::LABEL) + 6.0, height: 11.0 }
}

/// What stands beside the strips.
pub(super) fn labels(view: &View) -> Vec<String> {
    strips(view).into_iter().map(|strip| strip.label).collect()
}

/// Wall clocks; and monotonic ones where more was wrong than a wall clock set once can show.
fn strips(view: &View) -> Vec<Strip> {
    let mut strips = Vec::new();
    for series in &view.clocks {
        let name = view.hosts.get(series.host.0).map_or("", |host| host.name.as_str());
        let set = series.lines.first().map_or(0, |line| line.wall_offsets()[0]);
        let as_wall = |line: &ClockStretch| line.wall_offsets().map(|offset| offset.saturating_sub(set));
        strips.push(Strip::new(format!("{name} wall"), series, ClockStretch::wall_offsets));
        if series.lines.iter().any(|line| line.monotonic_offsets() != as_wall(line)) {
            strips.push(Strip::new(format!("{name} monotonic"), series, ClockStretch::monotonic_offsets));
        }
    }
    strips.retain(Strip::is_off);
    strips
}

impl Strip {
    fn draw(&self, paper: &mut Paper, scale: Scale, top: f64, taken: &mut Vec<Box2>) {
        let (least, greatest) = self.range();
        let (high, low) = (top + ABOVE, top + HEIGHT - 2.0);
        let span = (i128::from(greatest) - i128::from(least)).max(1) as f64;
        let y = |offset: i64| low - (i128::from(offset) - i128::from(least)) as f64 / span * (low - high);
        paper.line((scale.left, y(0)), (scale.right_edge(), y(0)), &format!(r#"stroke="{LANE}""#), "");
        if let Some(label) = clip_text(&self.label, Font::TEXT, scale.left - 14.0) {
            paper.text((scale.left - 10.0, (high + low) / 2.0 + 4.0), Align::End, "", &label);
        }
        let ink = format!(r#"stroke="{INK}" fill="none""#);
        for line in &self.lines {
            let points = line.map(|(at, offset)| (scale.x(at), y(offset)));
            let [from, to] = line.map(|(at, offset)| format!("{} at {}", format_offset(offset), instant(at)));
            let title = format!("{} minus true time: {from}, {to}", self.label);
            paper.path(&points, &format!(r#"class="clock" stroke-width="1.6" {ink}"#), &title);
        }
        for step in self.lines.windows(2) {
            let ends = [step[0][1], step[1][0]].map(|(at, offset)| (scale.x(at), y(offset)));
            paper.path(&ends, &format!(r#"class="clock-step" stroke-dasharray="2 2" {ink}"#), "");
        }
        for (at, offset) in self.labelled_offsets() {
            let words = format_offset(offset);
            let wide = width(&words, Font::LABEL);
            let x = (scale.x(at) + 3.0).min(scale.right_edge() - wide);
            let area = text_area(x, y(offset) - 3.0, &words);
            if taken.iter().all(|other| !other.meets(&area)) {
                paper.text((x, y(offset) - 3.0), Align::Start, r#"class="label""#, &words);
                taken.push(area);
            }
        }
    }

    /// The offsets that are said in words: the first of each line, and the last of all.
    fn labelled_offsets(&self) -> Vec<(doublehold_history::TrueNs, i64)> {
        let mut told: Vec<_> = self.lines.iter().map(|line| line[0]).collect();
        told.extend(
            self.lines
                .last()
                .map(|line| line[1])
                .filter(|(_, offset)| told.last().map(|it| it.1) != Some(*offset)),
        );
        told
    }
}

/// `+10 s`, `-41 ms`, `0 s`.
fn format_offset(ns: i64) -> String {
    let sign = match ns {
        0 => "",
        ..0 => "-",
        1.. => "+",
    };
    format!("{sign}{}", duration(ns.unsigned_abs()))
}
