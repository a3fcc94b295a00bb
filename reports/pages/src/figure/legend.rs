//! What the signs of a figure mean, as far as they are in it.

use doublehold_render::palette::PAPER;
use doublehold_render::picture::view::{View, WriteFate};
use doublehold_scenarios::fault::Nature;
use doublehold_scenarios::report::KeyEnd;

use super::colours::{self, FAINT, INK, LANE, Pattern, VIOLATION};
use super::lettering::{Font, SMALL, width};
use super::paper::{Align, Box2, Paper};

/// How an entry's sign is drawn.
enum Sign {
    /// A bar with these as `fill` and `stroke`.
    Bar(String, &'static str),
    /// An arrow with this ink, dashed or not.
    Arrow(&'static str, bool),
    /// A short upright line with this ink, as wide as this.
    Tick(&'static str, f64),
    /// The same in dots or dashes.
    Broken(&'static str, &'static str),
    /// Several that stand side by side.
    Bundle,
    /// A dotted line along a row.
    Wait,
    /// A dotted frame.
    Frame,
    /// A ring.
    Ring,
    /// A ring with this ink about a number.
    Number(&'static str),
    /// A triangle that points down.
    Triangle(&'static str),
}

/// The facts that only the drawing knows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Drawn {
    /// Messages stand upright somewhere, for want of room.
    pub(super) bundles: bool,
    /// A stretch is drawn once more.
    pub(super) zooms: bool,
}

/// Draws the legend between two edges, below `top`; where it ends.
pub(super) fn draw(
    paper: &mut Paper,
    view: &View,
    (id, drawn): (&str, Drawn),
    (left, right): (f64, f64),
    top: f64,
) -> f64 {
    const SIGN: f64 = 26.0;
    const APART: f64 = 18.0;
    let (mut x, mut y) = (left, top + 12.0);
    for (sign, words) in entries(view, id, drawn) {
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

/// Signs with their words, as far as the figure has them.
fn entries(view: &View, id: &str, drawn: Drawn) -> Vec<(Sign, &'static str)> {
    let zoomed = (drawn.zooms, Sign::Frame, "a stretch that is drawn larger below");
    let all = of_story(view)
        .into_iter()
        .chain(of_clients(view, id))
        .chain(of_keys(view))
        .chain(of_messages(view, drawn))
        .chain(of_faults(view, id));
    all.chain([zoomed]).filter(|(is_used, ..)| *is_used).map(|(_, sign, words)| (sign, words)).collect()
}

type Entry = (bool, Sign, &'static str);

fn of_story(view: &View) -> [Entry; 3] {
    let is_told = !view.story.is_empty();
    let proves = view.story.iter().any(|line| line.proves);
    [
        (is_told, Sign::Number(INK), "what happened, by its number in the list"),
        (proves, Sign::Number(VIOLATION), "the same, where it proves a violation"),
        (is_told, Sign::Broken(INK, "1 2"), "its instant, down to its lane"),
    ]
}

fn of_clients(view: &View, id: &str) -> [Entry; 8] {
    let clients = || view.lanes.clients.iter();
    let claims = || clients().flat_map(|lane| &lane.claims);
    let writes = |fate| clients().flat_map(|lane| &lane.writes).any(|write| write.fate == fate);
    let late = claims().any(|claim| claim.valid != [(claim.from, claim.to)]);
    let color = colours::client(0);
    [
        (claims().next().is_some(), Sign::Bar(color.to_owned(), INK), "believes it holds the lock"),
        (late, Sign::Bar(Pattern::Overdue(0).fill(id), color), "still believes it, past its own deadline"),
        (late, Sign::Tick(INK, 1.4), "its deadline passes on its own clock"),
        (clients().any(|lane| !lane.waits.is_empty()), Sign::Wait, "waits for the lock"),
        (clients().any(|lane| !lane.refusals.is_empty()), Sign::Ring, "is refused"),
        (writes(WriteFate::Applied), Sign::Triangle(INK), "write applied"),
        (
            writes(WriteFate::Late) || writes(WriteFate::Refused),
            Sign::Triangle(VIOLATION),
            "write late or refused",
        ),
        (writes(WriteFate::Lost), Sign::Triangle(VIOLATION), "committed write lost"),
    ]
}

fn of_keys(view: &View) -> [Entry; 5] {
    let keys = || view.lanes.nodes.iter().flat_map(|lane| &lane.keys);
    let ended = |ends: &[KeyEnd]| keys().any(|key| key.until.is_some_and(|(_, how)| ends.contains(&how)));
    let color = colours::client(0);
    [
        (
            !view.lanes.nodes.is_empty(),
            Sign::Bar(colours::pale(0).to_owned(), color),
            "the node holds that client's key",
        ),
        (ended(&[KeyEnd::Expired]), Sign::Tick(INK, 2.4), "the key expires"),
        (ended(&[KeyEnd::SessionEnded]), Sign::Tick(INK, 2.4), "the session ends"),
        (ended(&[KeyEnd::Deleted, KeyEnd::Overwritten]), Sign::Tick(FAINT, 1.2), "a command ends the key"),
        (
            ended(&[KeyEnd::Forgotten, KeyEnd::Flushed, KeyEnd::Evicted]),
            Sign::Tick(VIOLATION, 2.4),
            "the node loses the key",
        ),
    ]
}

fn of_messages(view: &View, drawn: Drawn) -> [Entry; 3] {
    let held = view.messages.iter().any(|message| !message.held.is_empty() || message.arrived.is_none());
    [
        (
            !view.messages.is_empty(),
            Sign::Arrow(FAINT, false),
            "message, from when it is sent to when it arrives",
        ),
        (drawn.bundles, Sign::Bundle, "messages that are too close to be told apart"),
        (held, Sign::Arrow(VIOLATION, true), "message that was held, or has not arrived"),
    ]
}

fn of_faults(view: &View, id: &str) -> [Entry; 6] {
    let lanes = &view.lanes;
    let struck = |natures: &[Nature]| {
        lanes.faults.iter().any(|fault| fault.lasts && natures.contains(&fault.kind.nature))
    };
    let pattern = |pattern: Pattern| Sign::Bar(pattern.fill(id), LANE);
    let double = Sign::Bar(Pattern::Double.fill(id), VIOLATION);
    [
        (!lanes.overlaps.is_empty(), double, "double hold"),
        (struck(&[Nature::Stop]), pattern(Pattern::Stop), "code stands still"),
        (struck(&[Nature::Death]), pattern(Pattern::Death), "process gone"),
        (struck(&[Nature::Link, Nature::Message]), pattern(Pattern::Link), "fault of a link"),
        (struck(&[Nature::Clock, Nature::ClockOnce]), pattern(Pattern::Clock), "clock off"),
        (
            lanes.faults.iter().any(|fault| !fault.lasts),
            Sign::Broken(VIOLATION, "3 2"),
            "a fault that strikes once",
        ),
    ]
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
            Sign::Tick(ink, wide) => {
                upright(paper, x + 16.0, y, &format!(r#"stroke="{ink}" stroke-width="{wide}""#));
            }
            Sign::Broken(ink, dashes) => {
                let attributes = format!(r#"stroke="{ink}" stroke-width="1.2" stroke-dasharray="{dashes}""#);
                upright(paper, x + 16.0, y, &attributes);
            }
            Sign::Bundle => {
                for beside in [9.0, 11.0, 14.0, 15.0, 18.0] {
                    upright(paper, x + beside, y, &format!(r#"stroke="{LANE}" stroke-width="0.9""#));
                }
            }
            Sign::Wait => {
                let ink = colours::client(0);
                let attributes = format!(r#"stroke="{ink}" stroke-width="2" stroke-dasharray="1 4""#);
                paper.line((x, y), (x + 20.0, y), &attributes, "");
            }
            Sign::Frame => {
                let area = Box2 { x: x + 6.0, y: y - 6.0, width: 14.0, height: 12.0 };
                let attributes =
                    format!(r#"fill="none" stroke="{INK}" stroke-width="0.8" stroke-dasharray="2 2""#);
                paper.rect(area, &attributes, "");
            }
            Sign::Number(ink) => {
                paper.circle((x + 14.0, y), 6.0, &format!(r#"fill="{PAPER}" stroke="{ink}""#), "");
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

fn upright(paper: &mut Paper, x: f64, y: f64, attributes: &str) {
    paper.line((x, y - 6.0), (x, y + 6.0), attributes, "");
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
            let drawn = Drawn { bundles: true, zooms: false };
            for (_, words) in entries(&View::from_run(&report, Some(detail)), "figure", drawn) {
                assert!(of_page.contains(&format!("{words:?}")), "{words}");
                said += 1;
            }
        }
        assert!(said > 45, "{said} signs");
    }
}
