//! The one bar that says how far a long command is, and the one line that says how fast it was.

use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::time::Duration;

use doublehold_text::{duration, several};
use indicatif::{ProgressBar, ProgressStyle};

/// A bar on standard error and words beside it, as indicatif's templates have them; nothing is drawn unless a terminal
/// is there to read it. It goes away when it is dropped.
pub(crate) fn bar(length: u64, words: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    // A bar of 30 columns leaves room for the longest of the words in 80.
    let style = ProgressStyle::with_template(&format!("{{bar:30}} {words}"));
    ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// `5,000 runs in 2.5 s, 2000 a second on 2 threads`.
pub(crate) fn speed(count: u64, noun: &str, took: Duration, jobs: NonZeroUsize) -> String {
    let rate = count as f64 / took.as_secs_f64().max(0.001);
    let took = Duration::from_millis(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    let took = duration(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    let threads = several(jobs.get() as u64, "thread");
    format!("{} in {took}, {rate:.0} a second on {threads}", several(count, noun))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speed_is_told_with_its_threads() {
        let (one, two) = (NonZeroUsize::MIN, NonZeroUsize::MIN.saturating_add(1));
        let took = Duration::from_micros(2_500_400);
        assert_eq!(speed(5_000, "run", took, two), "5,000 runs in 2.5 s, 2000 a second on 2 threads");
        let nothing = speed(0, "placement", Duration::ZERO, one);
        assert_eq!(nothing, "0 placements in 0 s, 0 a second on 1 thread");
    }

    /// A template that indicatif refuses would be replaced by its own without a word.
    #[test]
    fn the_words_of_all_commands_are_templates() {
        for words in [
            "{msg}",
            crate::commands::debate::WORDS,
            crate::commands::sweep::WORDS,
            crate::commands::verify_determinism::WORDS,
        ] {
            assert!(ProgressStyle::with_template(&format!("{{bar:30}} {words}")).is_ok(), "{words}");
        }
    }
}
