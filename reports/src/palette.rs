//! The colours of all pictures and pages, each named after the thing it is the colour of. Nothing else writes a colour.
//!
//! The palette is Okabe and Ito's, which colour-blind readers can tell apart. Style sheets get the colours as custom
//! properties ([`properties`]), which scripts read there; terminals have colours of their own (`terminal`).
//!
//! A violation has two colours: one to paint with, and a darker one for text on paper, where the first is too pale to
//! be read. In the dark the first is kept, and the text is lighter.

/// A colour as style sheets write it, `#rrggbb`.
pub type Colour = &'static str;

const BLUE: Colour = "#0072b2";
const ORANGE: Colour = "#e69f00";
const GREEN: Colour = "#009e73";
const PINK: Colour = "#cc79a7";
const SKY: Colour = "#56b4e9";
const VERMILLION: Colour = "#d55e00";

/// Clients, in their order. Vermillion is not among them: it is the violation's.
pub const CLIENTS: [Colour; 6] = [BLUE, ORANGE, GREEN, PINK, SKY, "#b5a800"];
/// The same, mixed with white: a third of it.
pub const PALE_CLIENTS: [Colour; 6] = ["#aad0e6", "#f7deaa", "#aaddd0", "#efd3e2", "#c8e6f7", "#e6e2aa"];
/// Designs of a study, in their order: without the yellow that white paper swallows. Neighbours differ in lightness
/// too.
pub const DESIGNS: [Colour; 7] = [BLUE, VERMILLION, "#000000", GREEN, PINK, ORANGE, SKY];
/// Double holds, late writes, lost keys, as paint.
pub const VIOLATION: Colour = VERMILLION;
/// Paper.
pub const PAPER: Colour = "#ffffff";
/// Text and lines.
pub const INK: Colour = "#1a1a1a";

/// Colours of the picture of a run that are no client's.
pub mod run {
    use super::Colour;

    /// Things to be looked up.
    pub const FAINT: Colour = "#767676";
    /// Lines that hold lanes together.
    pub const LANE: Colour = "#c8c8c8";
    /// Lines of time.
    pub const GRID: Colour = "#efefef";
    /// Paper and lines of code that stands still.
    pub const STOP: [Colour; 2] = ["#e4e4e4", "#cfcfcf"];
    /// Paper and lines of a process that is gone.
    pub const DEATH: [Colour; 2] = ["#e4e4e4", "#a8a8a8"];
    /// Paper and lines of a clock that is wrong.
    pub const CLOCK: [Colour; 2] = ["#f7f3cf", "#ddd48a"];
    /// Paper and lines of a link that is cut or slow.
    pub const LINK: [Colour; 2] = [super::PAPER, "#c4c4c4"];
    /// Paper and lines of a double hold.
    pub const DOUBLE: [Colour; 2] = ["#fdeee5", "#f3b48d"];
}

/// Colours of the plots of a sweep that are no design's.
pub mod sweep {
    use super::Colour;

    /// Lines of a grid.
    pub const GRID: Colour = "#dedede";
    /// Words beside a plot.
    pub const WORDS: Colour = "#5a5a5a";
    /// Rates, from the least to the greatest: ColorBrewer's yellow, green and blue, each darker than the one before.
    pub const RATES: [Colour; 8] =
        ["#ffffd9", "#edf8b1", "#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0", "#225ea8", "#081d58"];
    /// A rate that nobody knows.
    pub const UNKNOWN: Colour = "#c8c8c8";
    /// The effects of wrong guesses on a rate.
    pub const GUESS: Colour = super::BLUE;
}

/// The custom properties of the page of a run: name, colour on white, colour in the dark.
pub const OF_RUN: [(&str, Colour, Colour); 25] = [
    ("paper", PAPER, "#16181b"),
    ("ink", INK, "#e8e8e8"),
    ("faint", "#6b6b6b", "#a0a4a8"),
    ("rule", "#d0d0d0", "#44484c"),
    ("soft", "#f4f4f4", "#202428"),
    ("mark", "#fff3c4", "#4a4010"),
    ("violation", VIOLATION, VIOLATION),
    ("violation-text", "#b84a00", "#ff9a57"),
    ("lane", run::LANE, "#44484c"),
    ("grid", run::GRID, "#24282c"),
    ("upright", "#c8c8c8", "#5a5e62"),
    ("shade", "#e6e6e6", "#2c3034"),
    ("shade-line", run::STOP[1], "#43484d"),
    ("death-line", run::DEATH[1], "#6a7076"),
    ("clock", run::CLOCK[0], "#2f2b14"),
    ("clock-line", run::CLOCK[1], "#5b5424"),
    ("hint", "#dddddd", "#2a2e33"),
    ("double", run::DOUBLE[0], "#2e1d14"),
    ("double-line", "#f0b08a", "#70462a"),
    ("client-1", CLIENTS[0], CLIENTS[0]),
    ("client-2", CLIENTS[1], CLIENTS[1]),
    ("client-3", CLIENTS[2], CLIENTS[2]),
    ("client-4", CLIENTS[3], CLIENTS[3]),
    ("client-5", CLIENTS[4], CLIENTS[4]),
    ("client-6", CLIENTS[5], CLIENTS[5]),
];

/// The custom properties of the page of a sweep: name, colour on white, colour in the dark.
pub const OF_SWEEP: [(&str, Colour, Colour); 8] = [
    ("paper", PAPER, "#16181b"),
    ("ink", INK, "#e8e8e8"),
    ("caption", "#333333", "#c8ccd0"),
    ("small", "#444444", "#b8bcc0"),
    ("rule", "#bbbbbb", "#54585c"),
    ("cell", "#dddddd", "#34383c"),
    ("code", "#f4f4f4", "#202428"),
    ("link", "#00509e", "#8cc4ff"),
];

/// Custom properties as a style sheet declares them.
pub fn properties(colours: impl IntoIterator<Item = (&'static str, Colour)>) -> String {
    let declared: Vec<String> =
        colours.into_iter().map(|(name, colour)| format!("--{name}: {colour};")).collect();
    format!(":root {{ {} }}\n", declared.join(" "))
}

/// The terminal's own sixteen colours, so that they fit the reader's theme: the parameters of its "select graphic
/// rendition" sequence.
pub(crate) mod terminal {
    /// Clients, in their order. Neither red nor magenta: those are violations and faults.
    pub(crate) const CLIENTS: [&str; 4] = ["36", "33", "32", "34"];
    /// Frame and small print.
    pub(crate) const DIM: &str = "2";
    /// Headings.
    pub(crate) const STRONG: &str = "1";
    /// A double hold, a violation, a late write.
    pub(crate) const VIOLATION: &str = "1;31";
    /// A fault.
    pub(crate) const FAULT: &str = "35";
    /// As it should be.
    pub(crate) const GOOD: &str = "32";
    /// Not decided.
    pub(crate) const UNSURE: &str = "33";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_declared_as_a_style_sheet_has_them() {
        assert_eq!(
            properties([("ink", INK), ("paper", PAPER)]),
            ":root { --ink: #1a1a1a; --paper: #ffffff; }\n"
        );
        let all = OF_RUN.iter().flat_map(|(_, light, dark)| [light, dark]);
        for colour in all.chain(OF_SWEEP.iter().flat_map(|(_, light, dark)| [light, dark])) {
            let digits = colour.strip_prefix('#').expect("a colour begins with its mark");
            assert!(digits.len() == 6 && digits.bytes().all(|it| it.is_ascii_hexdigit()), "{colour}");
        }
    }
}
