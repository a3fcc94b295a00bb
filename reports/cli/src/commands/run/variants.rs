//! `doublehold run --all-variants`: a scenario and each of its variants from one seed, a line for each.

use doublehold_diagnosis::{Explained, explain};
use doublehold_render::ShownRun;
use doublehold_render::layout::{align_left, to_ascii, widest, wrap};
use doublehold_render::style::{Paint, Style};
use doublehold_render::{json, text};
use doublehold_scenarios::report::{Judgement, Report};
use doublehold_scenarios::{Engine, Prepared, Seed, catalog};
use doublehold_text::clean;

use super::super::{exit, kind_hints, scenario};
use super::Arguments;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::output_options::Format;

pub(super) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let (name, sets) = (&arguments.scenario, arguments.changes.pairs()?);
    let names = catalog::variants(name).map_err(|error| {
        kind_hints::other_kind(name, kind_hints::InputKind::Scenario).unwrap_or(error.into())
    })?;
    // All are read and prepared before any is run: a change that does not fit one of them is refused at once.
    let scenarios =
        names.iter().map(|name| scenario(name, &sets, arguments.engine)).collect::<Result<Vec<_>, _>>()?;
    let engine = arguments.engine.one();
    let prepared =
        scenarios.iter().map(|scenario| engine.prepare(scenario)).collect::<Result<Vec<_>, _>>()?;
    let seeds: Vec<Seed> = scenarios.iter().map(|scenario| arguments.seed_of(scenario)).collect();
    let explained: Vec<Explained> =
        prepared.iter().zip(&seeds).map(|(it, seed)| explain(it, it.run(*seed))).collect();
    let replays: Vec<String> =
        names.iter().zip(seeds).map(|(name, seed)| arguments.replay_line(name, seed)).collect();
    let runs: Vec<(ShownRun<'_>, &str)> =
        explained.iter().map(ShownRun::from).zip(replays.iter().map(String::as_str)).collect();
    output::print(&match arguments.show.format {
        Format::Json => json::runs(&runs)?,
        Format::Text => table(&runs, &arguments.show.style()),
    })?;
    Ok(explained.iter().map(|run| exit(&run.report)).max().unwrap_or(Exit::AsExpected))
}

/// A line for each run; beneath one that did not come out as expected, or in more ways than stated, how to see it.
fn table(runs: &[(ShownRun<'_>, &str)], style: &Style) -> String {
    let name = |report: &Report| clean(&report.scenario.name);
    let width = widest(runs.iter().map(|(told, _)| name(told.report)));
    let mut text = String::new();
    for (ShownRun { report, .. }, replay) in runs {
        let unstated = !text::violated_unstated(report).is_empty();
        let (judgement, paint) = match report.judgement() {
            Judgement::AsExpected if report.scenario.expect.is_empty() => ("nothing stated", Paint::Unsure),
            Judgement::AsExpected => ("as expected", Paint::Good),
            Judgement::Contradicted => ("NOT AS EXPECTED", Paint::Bad),
            Judgement::Inconclusive => ("INCONCLUSIVE", Paint::Unsure),
        };
        let first = align_left(&name(report), width + 2);
        let line =
            wrap(&format!("{judgement}: {}", text::verdicts_in_short(report)), &first, "    ", style.width);
        text.push_str(&line.replacen(judgement, &style.paint(judgement, paint), 1));
        if report.judgement() != Judgement::AsExpected || unstated {
            text.push_str(&format!("    replay: {}\n", clean(replay)));
        }
    }
    if style.unicode { text } else { to_ascii(&text) }
}
