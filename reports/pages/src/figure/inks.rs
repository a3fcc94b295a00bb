//! Colours and patterns. The palette is Okabe and Ito's, which colour-blind readers can tell apart; what a colour says
//! is also said by a pattern or a label, so that nothing is lost in grey.

use std::fmt::Write;

/// Of clients, in their order. Vermillion is not among them: it is the double hold's.
const CLIENTS: [&str; 6] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#b5a800"];
/// The same, mixed with white: a third of it.
const PALE: [&str; 6] = ["#aad0e6", "#f7deaa", "#aaddd0", "#efd3e2", "#c8e6f7", "#e6e2aa"];
/// Double holds, late writes, lost keys.
pub(super) const BAD: &str = "#d55e00";
/// Text and lines.
pub(super) const INK: &str = "#1a1a1a";
/// What is there to be looked up.
pub(super) const FAINT: &str = "#767676";
/// Lines that hold lanes together.
pub(super) const RULE: &str = "#c8c8c8";

/// The colour of the client at this place in the scenario.
pub(super) fn client(place: usize) -> &'static str {
    CLIENTS[place % CLIENTS.len()]
}

/// The same in pale, for what is not a client's own doing.
pub(super) fn pale(place: usize) -> &'static str {
    PALE[place % PALE.len()]
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
        let lines = |size: u32, path: &str, paper: &str, ink: &str, wide: f64| {
            format!(
                "<pattern id=\"{id}-{}\" width=\"{size}\" height=\"{size}\" patternUnits=\"userSpaceOnUse\">\
                 <rect width=\"{size}\" height=\"{size}\" fill=\"{paper}\"/>\
                 <path d=\"{path}\" stroke=\"{ink}\" stroke-width=\"{wide}\"/></pattern>\n",
                self.name()
            )
        };
        let (up, down) = ("M-1 7L7 -1M-1 1L1 -1M5 7L7 5", "M-1 -1L7 7M5 -1L7 1M-1 5L1 7");
        match self {
            Pattern::Overdue(place) => lines(6, up, "#ffffff", client(place), 2.0),
            Pattern::Stop => lines(6, "M0 3L6 3", "#e4e4e4", "#cfcfcf", 1.0),
            Pattern::Death => lines(6, &format!("{up}{down}"), "#e4e4e4", "#a8a8a8", 0.8),
            Pattern::Clock => lines(6, "M3 0L3 6", "#f7f3cf", "#ddd48a", 1.0),
            Pattern::Link => lines(6, down, "#ffffff", "#c4c4c4", 0.8),
            Pattern::Double => lines(8, "M-1 9L9 -1M-1 1L1 -1M7 9L9 7", "#fdeee5", "#f3b48d", 0.8),
        }
    }
}

/// All patterns, for as many clients as there are.
pub(super) fn definitions(id: &str, clients: usize) -> String {
    let others = [Pattern::Stop, Pattern::Death, Pattern::Clock, Pattern::Link, Pattern::Double];
    let overdue = (0..clients.min(CLIENTS.len())).map(Pattern::Overdue);
    let mut markup = "<defs>\n".to_owned();
    overdue.chain(others).for_each(|pattern| markup.push_str(&pattern.definition(id)));
    for (name, ink) in [("arrow", FAINT), ("held", BAD)] {
        let _ignored = writeln!(
            markup,
            "<marker id=\"{id}-{name}\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\" markerWidth=\"6\" markerHeight=\"6\" \
             orient=\"auto\"><path d=\"M0 0L6 3L0 6z\" fill=\"{ink}\"/></marker>"
        );
    }
    markup + "</defs>\n"
}
