//! The white-box rules of a run in words, for whoever asks for them.

use doublehold_scenarios::report::Report;
use doublehold_scenarios::report::white_box::{Rule, RuleVerdict, ask_all};
use doublehold_text::clean;

use crate::layout::{hanging_paragraph, to_ascii, widest, wrap};
use crate::style::Style;

/// How many things that break one rule are told.
const MAX_BREACHES: usize = 10;

/// Each rule with its verdict, and under it what breaks it.
pub fn render_rules(report: &Report, style: &Style) -> String {
    let margin = 2 + widest(Rule::ALL.map(Rule::as_str));
    let mut text = "white-box rules\n".to_owned();
    for (rule, verdict) in ask_all(report) {
        let why = match &verdict {
            RuleVerdict::Off(why) => why,
            RuleVerdict::Holds | RuleVerdict::Broken(_) => rule.meaning(),
        };
        let paragraph = format!("{}: {why}", verdict.as_str());
        text += &hanging_paragraph(&format!("  {rule}"), margin, &paragraph, style.width);
        let RuleVerdict::Broken(breaches) = verdict else { continue };
        let indent = " ".repeat(margin + 4);
        let mut line = |words: &str| text += &wrap(words, &indent, &indent, style.width);
        breaches.iter().take(MAX_BREACHES).for_each(|breach| line(&clean(&breach.words)));
        if breaches.len() > MAX_BREACHES {
            line(&format!("and {} more", breaches.len() - MAX_BREACHES));
        }
    }
    if style.unicode { text } else { to_ascii(&text) }
}
