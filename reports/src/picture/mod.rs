//! The picture of a run: lanes over true time, and the events that matter numbered beneath.
//!
//! ```text
//!      ①        ②          ③  ④
//!  c1  ··██████████▒▒▒▒▒▒▒▒▒▒▒▒▒w      one lane per client: asks, holds, holds past its deadline
//!                 ░paused░░░░░░        what happened to that host
//!  c2     ············██████w█
//!  P1                 ▀▀▀▀▀▀▀▀▀        two clients hold at once
//!
//!  A   1111111111111  222222222        whose key each node holds
//!      ┴────────┴──╱╱─┴──────┴─
//!      0        2.013 s              true time
//! ```
//!
//! Pure: a report and a style in, text out. Nothing is judged here; double holds and late writes are those of the
//! report's evidence. Hosts to which nothing happens and that hold nothing are still drawn: an idle lane says so.

mod account;
mod axis;
mod canvas;
mod facts;
mod lanes;
mod legend;
mod ruler;
mod signs;
mod story;
pub mod view;

use doublehold_diagnosis::keys_in;
use doublehold_history::instant;
use doublehold_history::{History, TrueNs, Verdicts};

pub use self::account::Account;
pub(crate) use self::account::cause_words;
use self::axis::Axis;
use self::canvas::Canvas;
use self::facts::Facts;
use self::story::Story;
use self::view::Lanes;
use crate::ShownRun;
use crate::layout::{align_right, columns, to_ascii, widest, wrap};
use crate::style::{Paint, Style};

/// Draws a run: its lanes, a legend, and the numbered events.
///
/// Lines are no wider than the style's width as long as names and words are not. Where that is too narrow for lanes,
/// there is only the list.
///
/// ```
/// use doublehold_render::{picture::picture, style::Style};
/// use doublehold_scenarios::{Engine, SimEngine, catalog};
///
/// let scenario = catalog::load("lease-pause", &[])?;
/// let report = SimEngine.run(&scenario, 7);
/// let drawn = picture(&report, &Style::ASCII);
/// assert!(drawn.contains("c1 pauses for 20 s, at c1's check"));
/// # Ok::<(), doublehold_scenarios::error::ScenarioError>(())
/// ```
pub fn picture<'a>(run: impl Into<ShownRun<'a>>, style: &Style) -> String {
    draw(&Facts::from_run(run.into()), style)
}

/// As far as a history allows: the clients' lanes, a legend, and the numbered events.
pub fn picture_of_history(history: &History, verdicts: &Verdicts, style: &Style) -> String {
    draw(&Facts::from_history(history, verdicts, &keys_in(history)), style)
}

fn draw(facts: &Facts<'_>, style: &Style) -> String {
    let story = story::select(facts);
    let mut text =
        if style.width < Style::MIN_WIDTH { too_narrow(style) } else { lanes(facts, &story, style) };
    text.push('\n');
    text.push_str(&opening_sentence(facts, style));
    text.push_str(&numbered_events(facts, &story, style));
    if style.unicode { text } else { to_ascii(&text) }
}

/// Instead of lanes that nobody could read.
fn too_narrow(style: &Style) -> String {
    let needed = Style::MIN_WIDTH;
    let note = format!("no lanes: they need {needed} columns, and there are {}", style.width);
    style.paint(&wrap(&note, "  ", "  ", style.width), Paint::Dim)
}

/// The lanes with what is above and below them, and the legend.
fn lanes(facts: &Facts<'_>, story: &Story, style: &Style) -> String {
    let label_width = label_width(facts);
    // Two columns of margin and one after the label.
    let mut canvas = Canvas::new(style.width.saturating_sub(label_width + 3));
    let numbered: Vec<TrueNs> = story.events.iter().map(|event| event.at).collect();
    let lanes = Lanes::new(facts);
    let axis = Axis::new(lanes::moments(&lanes, facts), &numbered, canvas.width());
    ruler::numbers(&mut canvas, &axis, story, style);
    let used = lanes::draw(&lanes, facts, &mut canvas, &axis, story, style);
    ruler::time(&mut canvas, &axis, story, facts.run.ended, style);
    canvas.render(label_width, style) + &legend::legend(&used, facts, style)
}

/// What is left for lanes on a narrow terminal is worth more than the end of a long name.
const LABEL_MAX: usize = 12;

/// How wide the labels of the lanes are: as the longest name, within reason.
fn label_width(facts: &Facts<'_>) -> usize {
    let hosts = facts.run.hosts.iter().map(|(name, _)| columns(name));
    let clients = facts.run.clients.iter().map(|client| columns(&facts.label(*client)));
    let locks = facts.locks().map(|lock| columns(&facts.label_for("", lock))).max().unwrap_or(0);
    (hosts.chain(clients).max().unwrap_or(0) + locks)
        .clamp(columns("time"), if locks == 0 { LABEL_MAX } else { 2 * LABEL_MAX })
}

/// A sentence of a story, and when it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// When.
    pub at: TrueNs,
    /// What, without a full stop.
    pub words: String,
}

/// Every sentence that could stand under the picture of a run, in order of time; the picture has room for the most
/// important ones.
pub fn sentences<'a>(run: impl Into<ShownRun<'a>>) -> Vec<Sentence> {
    let events = story::all_events(&Facts::from_run(run.into())).into_iter();
    events.map(|event| Sentence { at: event.at, words: event.words }).collect()
}

/// The account of the first violation, in one sentence: what happened, and what it came from if that was asked
/// ([`ShownRun::causes`]). If nothing is violated, the account of a client that refused a grant that came too late.
/// `None` if the run shows neither.
pub fn account<'a>(run: impl Into<ShownRun<'a>>) -> Option<Account> {
    account::account(&Facts::from_run(run.into()))
}

/// The sentence that comes before all others.
fn opening_sentence(facts: &Facts<'_>, style: &Style) -> String {
    let Some(account) = account::account(facts) else { return String::new() };
    let lines = wrap(&account.words, &format!("  {}: ", account.label()), "       ", style.width);
    lines.lines().map(|line| style.paint(line, Paint::Strong) + "\n").chain(["\n".to_owned()]).collect()
}

/// The list of events, each with its number and its true time.
fn numbered_events(facts: &Facts<'_>, story: &Story, style: &Style) -> String {
    let times: Vec<String> = story.events.iter().map(|event| instant(event.at)).collect();
    let width = widest(&times);
    let mut text = String::new();
    for (index, (event, time)) in story.events.iter().zip(&times).enumerate() {
        let first = format!("  {} {}  ", ruler::number(index, style), align_right(time, width));
        let rest = " ".repeat(columns(&first));
        let wrapped = wrap(&event.words, &first, &rest, style.width);
        let paint = if event.rank <= story::Rank::Proof { Paint::Strong } else { Paint::Plain };
        let lines = wrapped.lines().map(|line| style.paint(line, paint) + "\n");
        text.extend(lines);
    }
    text.push_str(&style.paint(&others(facts, story), Paint::Dim));
    text
}

/// What the list leaves out, with the way to all of it; nothing if it has everything.
fn others(facts: &Facts<'_>, story: &Story) -> String {
    let left_out = left_out(story);
    if left_out.is_empty() {
        return left_out;
    }
    let where_to = if !facts.run.leases.is_empty() { "; --history FILE writes all down" } else { "" };
    format!("  … and {left_out}{where_to}\n")
}

/// `3 more events, and 2 lesser events`.
fn left_out(story: &Story) -> String {
    let events = |count: usize| if count == 1 { "event" } else { "events" };
    match (story.omitted, story.lesser) {
        (0, 0) => String::new(),
        (0, lesser) => format!("{lesser} lesser {}", events(lesser)),
        (more, 0) => format!("{more} more {}", events(more)),
        (more, lesser) => format!("{more} more {}, and {lesser} lesser {}", events(more), events(lesser)),
    }
}
