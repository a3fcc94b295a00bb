//! Pictures of `docs/failover.md`, in text: one failover along time, and bars.

use std::fmt::Write as _;

use super::measured::Moments;

/// Characters to a second.
const SCALE: f64 = 2.0;
const SECONDS: usize = 30;

/// A failover whose old master comes back, as it is drawn.
pub(super) struct Timeline<'a> {
    pub(super) name: String,
    pub(super) moments: &'a Moments,
    pub(super) first_grant_s: Option<f64>,
}

fn column(at: f64) -> usize {
    ((at * SCALE).round().max(0.0) as usize).min(SECONDS * SCALE as usize)
}

fn repeat(mark: &str, from: f64, to: f64) -> String {
    mark.repeat(column(to).saturating_sub(column(from)))
}

impl Timeline<'_> {
    fn draw(&self, page: &mut String) {
        let end = SECONDS as f64;
        let back = self.moments.back.unwrap_or(end);
        let converted = self.moments.converted.first().copied().unwrap_or(end);
        let promoted = self.moments.promoted.unwrap_or(end);
        let first = self.first_grant_s.unwrap_or(end);
        let old = format!("{}{}┤", repeat("░", 0.0, back), repeat("█", back, converted));
        let new = format!(
            "{}├{}{}",
            repeat(" ", 0.0, promoted),
            repeat("─", promoted + 0.5, first),
            repeat("█", first, end)
        );
        let both = first.max(back);
        let together = format!("{}{}", repeat(" ", 0.0, both), repeat("▀", both, converted));
        let _ = writeln!(
            page,
            "{}\n  old master   {old}\n  new master   {new}\n  two holders  {together}",
            self.name
        );
    }
}

/// Failovers of a master that stood still, one below the other.
pub(super) fn timelines(page: &mut String, timelines: &[Timeline<'_>]) {
    let ticks = (0..SECONDS / 5).map(|five| format!("{:<10}", five * 5)).collect::<String>();
    let _ = writeln!(page, "```text\nseconds        {}", ticks.trim_end());
    timelines.iter().for_each(|timeline| timeline.draw(page));
    page.push_str(
        "\n░ stands still   █ grants locks   ├ becomes master   ─ waits for the end of the last holder's key\n\
         ┤ becomes a replica   ▀ two clients hold the lock, again and again\n```\n",
    );
}

/// One bar for each name, with its length in seconds.
pub(super) fn bars(page: &mut String, bars: &[(&str, f64)]) {
    let width = bars.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    page.push_str("```text\n");
    for (name, seconds) in bars {
        let bar = "█".repeat(column(*seconds));
        let _ = writeln!(page, "{}", format!("{name:width$}  {bar} {:.1}", seconds.abs()).trim_end());
    }
    page.push_str("```\n");
}
