//! What the signs of a figure mean, as far as they are in it.

use doublehold_render::palette::PAPER;
use doublehold_render::picture::view::{View, WriteFate};
use doublehold_scenarios::fault::Nature;

use super::colours::{self, FAINT, INK, LANE, Pattern, VIOLATION};
use super::lettering::{Font, SMALL, width};
use super::paper::{Align, Box2, Paper};

/// How an entry's sign is drawn.
enum Sign {
    /// A bar with these as `fill` and `stroke`.
    Bar(String, &'static str),
    /// An arrow with this ink, dashed or not.
    Arrow(&'static str, bool),
    /// A short upright line.
    Tick,
    /// A ring.
    Ring,
    /// A triangle that points down.
    Triangle(&'static str),
}

/// Draws the legend between two edges, below `top`; where it ends.
pub(super) fn draw(paper: &mut Paper, view: &View, id: &str, (left, right): (f64, f64), top: f64) -> f64 {
    const SIGN: f64 = 26.0;
    const APART: f64 = 18.0;
    let (mut x, mut y) = (left, top + 12.0);
    for (sign, words) in entries(view, id) {
        let wide = SIGN + width(words, Font::LABEL);
        if x + wide > right && x > left {
            (x, y) = (left, y + 16.0);
        }
        sign.draw(paper, x, y - 4.0);
        paper.text((x + SIGN, y), Align::Start, &format!(r#"font-size="{SMALL}""#), words);
        x += wide + APART;
    }
    y + 12.0
}

fn entries(view: &View, id: &str) -> Vec<(Sign, &'static str)> {
    let lanes = &view.lanes;
    let claims = || lanes.clients.iter().flat_map(|lane| &lane.claims);
    let writes = |fate| lanes.clients.iter().flat_map(|lane| &lane.writes).any(|write| write.fate == fate);
    let struck = |natures: &[Nature]| {
        lanes.faults.iter().any(|fault| fault.lasts && natures.contains(&fault.kind.nature))
    };
    let pattern = |pattern: Pattern| Sign::Bar(pattern.fill(id), LANE);
    let held = view.messages.iter().any(|message| !message.held.is_empty() || message.arrived.is_none());
    let late = claims().any(|claim| claim.valid != [(claim.from, claim.to)]);
    let refused = lanes.clients.iter().any(|lane| !lane.refusals.is_empty());
    let entries = [
        (
            claims().next().is_some(),
            Sign::Bar(colours::client(0).to_owned(), INK),
            "believes it holds the lock",
        ),
        (
            late,
            Sign::Bar(Pattern::Overdue(0).fill(id), colours::client(0)),
            "still believes it, past its own deadline",
        ),
        (late, Sign::Tick, "its deadline passes on its own clock"),
        (refused, Sign::Ring, "is refused"),
        (writes(WriteFate::Applied), Sign::Triangle(INK), "write applied"),
        (
            writes(WriteFate::Late) || writes(WriteFate::Refused),
            Sign::Triangle(VIOLATION),
            "write late or refused",
        ),
        (
            !lanes.nodes.is_empty(),
            Sign::Bar(colours::pale(0).to_owned(), colours::client(0)),
            "the node holds that client's key",
        ),
        (
            !view.messages.is_empty(),
            Sign::Arrow(FAINT, false),
            "message, from when it is sent to when it arrives",
        ),
        (held, Sign::Arrow(VIOLATION, true), "message that was held, or has not arrived"),
        (!lanes.overlaps.is_empty(), Sign::Bar(Pattern::Double.fill(id), VIOLATION), "double hold"),
        (struck(&[Nature::Stop]), pattern(Pattern::Stop), "code stands still"),
        (struck(&[Nature::Death]), pattern(Pattern::Death), "process gone"),
        (struck(&[Nature::Link, Nature::Message]), pattern(Pattern::Link), "fault of a link"),
        (struck(&[Nature::Clock, Nature::ClockOnce]), pattern(Pattern::Clock), "clock off"),
    ];
    entries.into_iter().filter(|(is_used, ..)| *is_used).map(|(_, sign, words)| (sign, words)).collect()
}

impl Sign {
    /// Draws the sign around the middle of a line of text.
    fn draw(&self, paper: &mut Paper, x: f64, y: f64) {
        match self {
            Sign::Bar(fill, stroke) => {
                let area = Box2 { x, y: y - 5.0, width: 20.0, height: 10.0 };
                paper.rect(area, &format!(r#"fill="{fill}" stroke="{stroke}" stroke-width="0.8""#), "");
            }
            Sign::Arrow(ink, dashed) => {
                let dashes = if *dashed { r#" stroke-dasharray="4 2""# } else { "" };
                paper.line((x, y - 3.0), (x + 20.0, y + 3.0), &format!(r#"stroke="{ink}"{dashes}"#), "");
            }
            Sign::Tick => {
                let attributes = format!(r#"stroke="{INK}" stroke-width="1.4""#);
                paper.line((x + 16.0, y - 6.0), (x + 16.0, y + 6.0), &attributes, "");
            }
            Sign::Ring => {
                let attributes = format!(r#"fill="{PAPER}" stroke="{}""#, colours::client(0));
                paper.circle((x + 14.0, y), 3.0, &attributes, "");
            }
            Sign::Triangle(ink) => {
                let points =
                    [(x + 14.0, y + 4.0), (x + 10.0, y - 3.0), (x + 18.0, y - 3.0), (x + 14.0, y + 4.0)];
                paper.path(&points, &format!(r#"fill="{ink}""#), "");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use doublehold_scenarios::{Detailed, Engine, SimEngine, catalog};

    use super::*;

    /// The page draws its legend by itself, in its own inks. The words are the same.
    #[test]
    fn the_page_has_every_sign_under_the_same_words() {
        let of_page = include_str!("page/legend.js");
        let mut said = 0;
        for name in ["lease-pause/redlock", "clock-jump", "failover-before-replication", "fencing-33-34"] {
            let scenario = catalog::load(name, &[]).expect("a scenario of the catalogue");
            let (report, _, detail) = SimEngine.prepare(&scenario).expect("it runs").run_with_detail(1);
            for (_, words) in entries(&View::from_run(&report, Some(detail)), "figure") {
                assert!(of_page.contains(&format!("{words:?}")), "{words}");
                said += 1;
            }
        }
        assert!(said > 30, "{said} signs");
    }
}
