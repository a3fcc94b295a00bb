//! Colours of clients, and patterns. Anything that a colour says is also said by a pattern or a label, so that nothing
//! is lost in grey.

use std::fmt::Write;

use doublehold_render::palette::run::{CLOCK, DEATH, DOUBLE, LINK, STOP};
pub(super) use doublehold_render::palette::run::{FAINT, GRID, LANE};
use doublehold_render::palette::{CLIENTS, PALE_CLIENTS, PAPER};
pub(super) use doublehold_render::palette::{INK, VIOLATION};

/// The colour of the client at this place in the scenario.
pub(super) fn client(place: usize) -> &'static str {
    CLIENTS[place % CLIENTS.len()]
}

/// The same in pale, for what is not a client's own doing.
pub(super) fn pale(place: usize) -> &'static str {
    PALE_CLIENTS[place % PALE_CLIENTS.len()]
}

/// What is drawn with a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// A claim past its deadline, of the client at this place.
    Overdue(usize),
    /// Code stands still.
    Stop,
    /// A process is gone.
    Death,
    /// A clock is wrong for a while.
    Clock,
    /// A link is cut or slow.
    Link,
    /// Two clients hold.
    Double,
}

impl Pattern {
    fn name(self) -> String {
        match self {
            Pattern::Overdue(place) => format!("overdue{}", place % CLIENTS.len()),
            Pattern::Stop => "stop".to_owned(),
            Pattern::Death => "death".to_owned(),
            Pattern::Clock => "clock".to_owned(),
            Pattern::Link => "link".to_owned(),
            Pattern::Double => "double".to_owned(),
        }
    }

    /// As the value of `fill`; `id` tells the figures of one page apart.
    pub(super) fn fill(self, id: &str) -> String {
        format!("url(#{id}-{})", self.name())
    }

    fn definition(self, id: &str) -> String {
        let lines = |size: u32, path: &str, [paper, ink]: [&str; 2], wide: f64| {
            format!(
                "<pattern id=\"{id}-{}\" width=\"{size}\" height=\"{size}\" patternUnits=\"userSpaceOnUse\">\
                 <rect width=\"{size}\" height=\"{size}\" fill=\"{paper}\"/>\
                 <path d=\"{path}\" stroke=\"{ink}\" stroke-width=\"{wide}\"/></pattern>\n",
                self.name()
            )
        };
        let (up, down) = ("M-1 7L7 -1M-1 1L1 -1M5 7L7 5", "M-1 -1L7 7M5 -1L7 1M-1 5L1 7");
        match self {
            Pattern::Overdue(place) => lines(6, up, [PAPER, client(place)], 2.0),
            Pattern::Stop => lines(6, "M0 3L6 3", STOP, 1.0),
            Pattern::Death => lines(6, &format!("{up}{down}"), DEATH, 0.8),
            Pattern::Clock => lines(6, "M3 0L3 6", CLOCK, 1.0),
            Pattern::Link => lines(6, down, LINK, 0.8),
            Pattern::Double => lines(8, "M-1 9L9 -1M-1 1L1 -1M7 9L9 7", DOUBLE, 0.8),
        }
    }
}

/// All patterns, for as many clients as there are.
pub(super) fn definitions(id: &str, clients: usize) -> String {
    let others = [Pattern::Stop, Pattern::Death, Pattern::Clock, Pattern::Link, Pattern::Double];
    let overdue = (0..clients.min(CLIENTS.len())).map(Pattern::Overdue);
    let mut markup = "<defs>\n".to_owned();
    overdue.chain(others).for_each(|pattern| markup.push_str(&pattern.definition(id)));
    for (name, ink) in [("arrow", FAINT), ("held", VIOLATION)] {
        let _ignored = writeln!(
            markup,
            "<marker id=\"{id}-{name}\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\" markerWidth=\"6\" markerHeight=\"6\" \
             orient=\"auto\"><path d=\"M0 0L6 3L0 6z\" fill=\"{ink}\"/></marker>"
        );
    }
    markup + "</defs>\n"
}
